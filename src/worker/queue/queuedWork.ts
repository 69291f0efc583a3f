import type { CommandMeta } from '../../../domain/kernel/command.ts';
import type { Leased } from '../../../domain/queue/lease.ts';
import type { Clock } from '../../../domain/ports/clock.ts';
import type { NotNow } from '../../commands/writer/outcome.ts';

/** What became of a command, as the queue has to know it. */
export type QueueOutcome<State> =
  | { readonly kind: 'done'; readonly state: State; readonly position: bigint | undefined }
  | { readonly kind: 'rejected'; readonly rejection: { readonly code: string } }
  | NotNow;

/** A new lease, as the event that claims work names it. */
export interface NewLease {
  readonly lease_id: string;
  readonly lease_until: string;
  readonly worker: string;
}

/** One kind of work whose streams are its queue. `Name` says which piece it is, and whose. */
export interface QueuedWork<Name extends OwnedWork, State extends Leased> {
  /** Of its stream; also what its commands are correlated by. */
  readonly idOf: (name: Name) => string;
  readonly stateOf: (id: string) => Promise<State>;
  readonly hasEnded: (state: State) => boolean;
  readonly start: (name: Name, lease: NewLease, meta: CommandMeta) => Promise<QueueOutcome<State>>;
  readonly reap: (name: Name, meta: CommandMeta) => Promise<QueueOutcome<State>>;
}

export interface OwnedWork {
  readonly tenant_id: string;
}

/** What a worker of any queue stands on. */
export interface QueueDeps {
  readonly clock: Clock;
  /** Names this worker in the log. */
  readonly worker: string;
  /** How often an owner looks whether it still owns its work, ms. */
  readonly tickMs: number;
  /** Notes where a tenant's reads must have got to, to see this. */
  readonly wrote: (tenantId: string, position: bigint) => void;
  readonly onError: (error: unknown) => void;
}

/** The state after a command that took effect; undefined when it did not, or nobody knows. */
export const stateAfter = <State>(
  { wrote }: Pick<QueueDeps, 'wrote'>,
  { tenant_id }: OwnedWork,
  outcome: QueueOutcome<State>,
): State | undefined => {
  if (outcome.kind !== 'done') return undefined;
  if (outcome.position !== undefined) wrote(tenant_id, outcome.position);
  return outcome.state;
};
