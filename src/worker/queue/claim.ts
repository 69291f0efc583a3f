import { laterBy } from '../../../domain/kernel/instant.ts';
import type { Leased } from '../../../domain/queue/lease.ts';
import { systemMeta } from '../../commands/writer/commandMeta.ts';
import type { HeldLease } from './heartbeat.ts';
import { leaseMs } from './leaseTimes.ts';
import { stateAfter, type OwnedWork, type QueuedWork, type QueueDeps } from './queuedWork.ts';

/** `ran`: it was this worker's, whatever became of it. */
export type QueueRun = 'ran' | 'not_ours' | 'reaped';

/** Ends a piece of work that nobody will end any more, and what is open of its money. */
export const reapWork = async <Name extends OwnedWork, State extends Leased>(
  deps: Pick<QueueDeps, 'clock' | 'wrote'>,
  work: Pick<QueuedWork<Name, State>, 'idOf' | 'reap'>,
  { name, close }: { readonly name: Name; readonly close: (state: State) => Promise<boolean> },
): Promise<boolean> => {
  const state = stateAfter(deps, name, await work.reap(name, systemMeta(deps, work.idOf(name))));
  return state === undefined ? false : close(state);
};

interface Doing<Name, State> {
  /** Does the work of a lease to its end. */
  readonly runHeld: (held: HeldLease<Name>, state: State) => Promise<void>;
  /** Ends the money of work that ended. False: the reaper has to ask again. */
  readonly close: (state: State) => Promise<boolean>;
}

/**
 * Claims a piece of work and does it to its end: done, failed, or given up for another attempt. Whatever this
 * process does not get to, the lease hands to the next worker and the reaper.
 */
export const runClaimed = async <Name extends OwnedWork, State extends Leased>(
  deps: Pick<QueueDeps, 'clock' | 'worker' | 'wrote'>,
  work: QueuedWork<Name, State>,
  { name, runHeld, close }: Doing<Name, State> & { readonly name: Name },
): Promise<QueueRun> => {
  const meta = systemMeta(deps, work.idOf(name));
  const lease_id = deps.clock.newId('lease');
  const lease = { lease_id, lease_until: laterBy(meta.now, leaseMs(0)), worker: deps.worker };
  const outcome = await work.start(name, lease, meta);
  if (outcome.kind === 'rejected' && outcome.rejection.code === 'attempts_exhausted')
    return (await reapWork(deps, work, { name, close })) ? 'reaped' : 'not_ours';
  const state = stateAfter(deps, name, outcome);
  if (state === undefined) return 'not_ours';
  await runHeld({ name, lease_id, attempt: state.attempts, started_at: meta.now }, state);
  return 'ran';
};
