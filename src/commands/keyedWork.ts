import {
  type AcceptedOperation,
  operation,
  operationEvent,
  operationIdFor,
  type OperationKind,
  operationStream,
  workIdOfOperation,
} from '../../domain/operation.ts';
import { isAbandoned, workIdFor } from '../../domain/leased.ts';
import { usageEnd, type UsageState } from '../../domain/workEvents.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import type { Clock, EventStore } from '../../domain/ports/log.ts';
import { streamsOf } from '../writer/commandHandler.ts';
import type { UsageLog } from './usageLog.ts';
import { namedWork } from './queue.ts';
import { erasedWork, reused, type WorkProblem } from './workProblem.ts';

/** How long an Idempotency-Key names its work, ms: as long as a replay is promised. */
export const KEPT_MS = 24 * 3_600_000;

/** What the streams of operations have in common. */
export const operationRules = {
  decider: operation,
  codec: eventCodec(operationEvent),
  streamOf: operationStream,
};

/** The kinds of work that a key can name, by their names in URLs. */
const KINDS = {
  extract: { kind: 'extract', idPrefix: 'ext' },
  'to-markdown': { kind: 'to_markdown', idPrefix: 'cnv' },
} as const;

export type KeyedEndpoint = keyof typeof KINDS;

export interface KeyedDeps {
  readonly store: EventStore;
  readonly usage: Pick<UsageLog, 'stateOf' | 'isErased'>;
  readonly clock: Pick<Clock, 'now'>;
}

interface Key {
  readonly tenant_id: string;
  readonly idempotency_key: string;
}

/** The work that a key names, as the log has it: an operation, work whose caller waited, or nothing yet. */
export interface NamedWork {
  /** Of the operation that it is, or would be. */
  readonly operation_id: string;
  /** null: it is no operation. */
  readonly accepted: AcceptedOperation | null;
  /** Of the extraction or conversion that it is. */
  readonly work_id: string;
  readonly usage: UsageState;
}

/**
 * The work that a key names, by whichever route it was asked for and whether its caller waited: the IDs of work and
 * operation have one suffix, so the account refuses a second hold for either. A day after its end, after it failed
 * under a caller who waited, or after its request was given up, the key names the next generation.
 */
export const workNamedBy = async (deps: KeyedDeps, key: Key, endpoint: KeyedEndpoint): Promise<NamedWork> => {
  const { kind, idPrefix } = KINDS[endpoint];
  const operations = streamsOf<OperationKind>(operationRules, deps.store);
  const [former, found] = await Promise.all([
    formerWork(deps, key, endpoint),
    namedWork({
      idOf: (generation) => operationIdFor({ ...key, endpoint, generation }),
      stateOf: async (id) => {
        const work = { operation: kind, operation_id: workIdOfOperation(id, idPrefix) };
        const [queued, usage] = await Promise.all([operations.stateOf(id), deps.usage.stateOf(work)]);
        return { queued, usage };
      },
      read: ({ queued, usage }) => ({
        since: queued.accepted?.accepted_at ?? usageEnd(usage)?.at ?? null,
        isClosed: isAbandoned(queued) || (queued.accepted === null && usage.end?.happened === 'Failed'),
      }),
      keptMs: KEPT_MS,
      now: deps.clock.now(),
    }),
  ]);
  const { id: operation_id, state } = found;
  const { accepted } = state.queued;
  const work_id = workIdOfOperation(operation_id, idPrefix);
  return { operation_id, accepted, work_id, usage: state.usage, ...former };
};

/** Work whose caller waited, by an ID of its own: earlier releases gave it one. undefined: the key names none. */
const formerWork = async (
  { usage, clock }: KeyedDeps,
  key: Key,
  endpoint: KeyedEndpoint,
): Promise<Pick<NamedWork, 'work_id' | 'usage'> | undefined> => {
  const { kind, idPrefix } = KINDS[endpoint];
  const idOf = (generation: number) => workIdFor(idPrefix, { ...key, kind, generation });
  const stateOf = (operation_id: string) => usage.stateOf({ operation: kind, operation_id });
  const first = await stateOf(idOf(0));
  if (first.requested === null) return undefined;
  const { id: work_id, state } = await namedWork({
    ...{ idOf, stateOf, keptMs: KEPT_MS, now: clock.now() },
    read: (one) => ({ since: usageEnd(one)?.at ?? null, isClosed: one.end?.happened === 'Failed' }),
  });
  return state.requested === null ? undefined : { work_id, usage: state };
};

/**
 * Why the work that a key names is not answered to a request; undefined: it is, or there is none. Only the log says
 * so: kept answers and stored results may be lost or erased.
 */
export const refusalOf = async (
  { usage }: Pick<KeyedDeps, 'usage'>,
  { accepted, usage: { requested } }: Pick<NamedWork, 'accepted' | 'usage'>,
  fingerprint: string,
): Promise<WorkProblem | undefined> => {
  const known = accepted ?? requested;
  if (known === null) return undefined;
  if (known.fingerprint !== undefined && known.fingerprint !== fingerprint) return reused();
  return (await usage.isErased(known.document_id)) ? erasedWork() : undefined;
};
