import { laterBy } from '../../../domain/kernel/amounts.ts';
import type { QueuedKind, QueuedState, WorkTypes } from '../../../domain/leased.ts';
import { abandonWork, closeWork, type CloseDeps, type WorkMoney } from '../../commands/queue/closeWork.ts';
import type { Outcome } from '../../commands/writer/outcome.ts';
import { systemMeta } from '../../commands/writer/commandMeta.ts';
import { each, repeatedly } from '../loops.ts';
import type { HeldWork, QueueDeps } from './heartbeat.ts';
import { leaseMs } from './leaseTimes.ts';
import { leaseWatch, type LeaseWatch } from './leaseWatch.ts';
import { workAtOnce, type QueueRun, type WorkTurns } from './workAtOnce.ts';

/** What read models know of a queue. They may be late: the streams decide. */
export interface QueueLists<Name> {
  /** What waits for a worker: the piece of each tenant that waits longest, then the second of each. */
  readonly waiting: (now: string, limit: number) => Promise<readonly Name[]>;
  /** What somebody works on, the lease that ends first before the others; `mark` is the `leaseMark` of each. */
  readonly running: (limit: number) => Promise<readonly (Name & { readonly mark: string })[]>;
  /** What has not ended though its time is over. */
  readonly expired: (now: string, limit: number) => Promise<readonly Name[]>;
  /** What ended and whose money is not closed, in the order of `rank`, after one; then from the start again. */
  readonly unsettled: (
    after: string,
    limit: number,
  ) => Promise<readonly (Name & { readonly rank: string })[]>;
  /** What was never accepted and has open holds, placed before `before`. */
  readonly orphans: (before: string, limit: number) => Promise<readonly Name[]>;
}

/** How one kind of work is done. */
export interface QueueHandlers<W extends WorkTypes> {
  readonly money: WorkMoney<W>;
  /** Does work that is ours to its end: done, failed, or given up for another attempt. */
  readonly runHeld: (held: HeldWork<W>, shutdown: AbortSignal) => Promise<void>;
}

export interface QueueWorkerDeps<Name> extends QueueDeps, CloseDeps {
  readonly clock: QueueDeps['clock'];
  readonly lists: QueueLists<Name>;
  /** How often the queue is looked at, ms. */
  readonly pollMs?: number;
  /** Pieces that are done beside each other; left out: three. */
  readonly places?: number;
  /** Whose turn it is; left out: by what this worker ran. */
  readonly turns?: WorkTurns;
}

export interface QueueWorker {
  /** Does the work that waits, a few pieces beside each other, until none is left. Gives how many it ran. */
  readonly drain: () => Promise<number>;
  /** Ends what nobody else will end, and settles what was left open. Gives how many things it ended. */
  readonly reap: () => Promise<number>;
  readonly places: () => { readonly busy: number; readonly max: number };
  readonly start: () => void;
  /** Gives the running work back and waits until it is given. */
  readonly stop: () => Promise<void>;
}

const PAGE = 50;
/** Leases that are watched: those of a hundred workers. */
const WATCHED_MAX = 500;
/** How often what others left is looked for. */
const REAP_MS = 30_000;
/** A hold without its work may still be in its request's hands for so long, ms. */
const ORPHAN_AGE_MS = 10 * 60_000;

/** The state after a command that took effect; undefined when it did not, or nobody knows. */
export const stateAfter = <W extends WorkTypes>(
  { wrote }: Pick<CloseDeps, 'wrote'>,
  { tenant_id }: W['identity'],
  outcome: Outcome<QueuedKind<W>>,
): QueuedState<W> | undefined => {
  if (outcome.kind !== 'done') return undefined;
  if (outcome.position !== undefined) wrote(tenant_id, outcome.position);
  return outcome.state;
};

const claiming = <W extends WorkTypes>(
  deps: QueueWorkerDeps<W['identity']>,
  { money, runHeld }: QueueHandlers<W>,
  watch: LeaseWatch,
) => {
  const { streams, idOf } = money;
  /** What this process has watched for the whole time of the lease; null: nothing. */
  const watchedMark = async (name: W['identity']): Promise<string | null> => {
    const watched = watch.watched(idOf(name));
    if (watched === undefined) return null;
    const { lease } = await streams.stateOf(idOf(name));
    return lease !== null && watched.forMs >= lease.lease_ms ? watched.mark : null;
  };
  /** Ends work that nobody will end any more, and its money. */
  const reap = async (name: W['identity']): Promise<boolean> => {
    const data = { watched: await watchedMark(name) };
    const outcome = await streams.handle(name, { type: 'Reap', data, meta: systemMeta(deps, idOf(name)) });
    const state = stateAfter<W>(deps, name, outcome);
    return state !== undefined && closeWork(deps, money, { name, state });
  };
  /**
   * Claims a piece of work and does it. Whatever this process does not get to, the lease hands to the next worker and
   * the reaper.
   */
  const run = async (name: W['identity'], shutdown: AbortSignal): Promise<QueueRun> => {
    const id = idOf(name);
    const watched = await watchedMark(name);
    const meta = systemMeta(deps, id);
    const lease_id = deps.clock.newId('lease');
    const data = { lease_id, lease_until: laterBy(meta.now, leaseMs(0)), worker: deps.worker, watched };
    const outcome = await streams.handle(name, { type: 'Start', data, meta });
    if (outcome.kind === 'rejected' && outcome.rejection.code === 'attempts_exhausted')
      return (await reap(name)) ? 'reaped' : 'not_ours';
    const state = stateAfter<W>(deps, name, outcome);
    if (state === undefined || state.accepted === null) return 'not_ours';
    const { accepted, attempts: attempt } = state;
    await runHeld({ accepted, name, id, lease_id, attempt }, shutdown);
    return 'ran';
  };
  return { run, reap };
};

/** Takes work that waits and does it. Any number of workers may do so beside each other. */
export const queueWorker = <W extends WorkTypes>(
  deps: QueueWorkerDeps<W['identity']>,
  handlers: QueueHandlers<W>,
): QueueWorker => {
  const { pollMs = 1_000, onError, lists, clock, turns, places } = deps;
  const { money } = handlers;
  const { idOf } = money;
  const shutdown = new AbortController();
  const watch = leaseWatch(clock.monotonicMs ?? (() => performance.now()));
  const { run, reap } = claiming(deps, handlers, watch);
  let settledTo = '';

  /** What waits, and what is held by an owner that has not moved for as long as its lease. */
  const waiting = async (): Promise<readonly W['identity'][]> => {
    const running = await lists.running(WATCHED_MAX);
    watch.see(running.map((one) => ({ id: idOf(one), mark: one.mark })));
    const overdue = new Set(watch.overdue());
    return [...running.filter((one) => overdue.has(idOf(one))), ...(await lists.waiting(clock.now(), PAGE))];
  };
  const working = workAtOnce<W['identity']>({
    ...{ idOf, waiting, onError, turns, places },
    // What one piece throws is told, and leaves the others alone.
    run: (name) =>
      run(name, shutdown.signal).catch((error: unknown) => {
        onError(error);
        return 'not_ours';
      }),
    shutdown: shutdown.signal,
  });
  const settle = async (name: W['identity']): Promise<boolean> =>
    closeWork(deps, money, { name, state: await money.streams.stateOf(idOf(name)) });
  const reapOnce = async (): Promise<number> => {
    const now = clock.now();
    const reaped = await each(deps, await lists.expired(now, PAGE), reap);
    // Page by page, so that what cannot be settled now is in nobody's way.
    const open = await lists.unsettled(settledTo, PAGE);
    settledTo = open.length < PAGE ? '' : (open.at(-1)?.rank ?? '');
    const settled = await each(deps, open, settle);
    const orphans = await lists.orphans(laterBy(now, -ORPHAN_AGE_MS), PAGE);
    const released = await each(deps, orphans, (name) => abandonWork(deps, money, name));
    return reaped + settled + released;
  };
  const loops = [repeatedly(working.takeUp, pollMs, onError), repeatedly(reapOnce, REAP_MS, onError)];
  return {
    drain: async () => {
      const before = working.ran();
      await working.takeUp();
      await working.settled();
      return working.ran() - before;
    },
    reap: reapOnce,
    places: working.places,
    start: () => {
      for (const loop of loops) loop.start();
    },
    stop: async () => {
      shutdown.abort();
      await Promise.all(loops.map((loop) => loop.stop()));
      await working.settled();
    },
  };
};
