import { fairShares, type FairShares } from '@quire/engine/kernel/fairShares';
import { laterBy } from '../../domain/kernel/amounts.ts';
import type { Clock } from '../../domain/ports/log.ts';
import { hasEnded, type QueuedKind, type QueuedState, type WorkTypes } from '../../domain/leased.ts';
import {
  abandonWork,
  type CloseDeps,
  closeWork,
  type QueueStreams,
  type WorkMoney,
} from '../commands/queue.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import { heavySlots } from '../commands/slots.ts';
import type { Outcome } from '../writer/decideBatch.ts';

/** Ends items one by one; one that throws is reported, without effect on the others. Gives how many ended. */
export const each = async <Item>(
  { onError }: { readonly onError: (error: unknown) => void },
  items: readonly Item[],
  end: (item: Item) => Promise<boolean>,
): Promise<number> => {
  let ended = 0;
  for (const item of items) {
    try {
      if (await end(item)) ended += 1;
    } catch (error) {
      onError(error);
    }
  }
  return ended;
};

/** Calls `work` again and again, one call at a time, `everyMs` after the last has ended. */
export const repeatedly = (
  work: () => Promise<unknown>,
  everyMs: number,
  onError: (error: unknown) => void,
) => {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();
  let stopped = true;
  const round = () => {
    running = work()
      .catch(onError)
      .finally(() => {
        if (!stopped) timer = setTimeout(round, everyMs);
      });
  };
  return {
    start: () => {
      if (!stopped) return;
      stopped = false;
      round();
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
};

/**
 * The shortest lease, and the share of the time worked so far that a later one may have. A worker that
 * takes work over has to live as long as its lease: workers that die within a minute, in turns, still do.
 */
const LEASE_MIN_MS = 30_000;
const LEASE_SHARE = 0.3;

/** A worker stops by itself after so long, ms. */
const RUN_MS_MAX = 6 * 3_600_000;

/**
 * Milliseconds that a lease is given for: longer for work that goes on longer, so that hours of it are a
 * few dozen events, and a worker that dies early is missed early.
 */
export const leaseMs = (elapsedMs: number): number => Math.max(LEASE_MIN_MS, elapsedMs * LEASE_SHARE);

/** How much further the work must be to be written down before the lease needs it: a twentieth. */
const PROGRESS_STEPS = 20;

/** How far work is: pages read, or calls of a metric. */
interface Standing {
  readonly done: number;
  readonly of: number;
}

const stepOf = ({ done, of }: Standing): number => (of === 0 ? 0 : Math.floor((PROGRESS_STEPS * done) / of));

/** Whether a renewal is due: half of the lease is over, or the work is a step further. */
const isRenewalDue = (
  lease: { readonly renewed_at: number; readonly until: number; readonly now: number },
  written: Standing,
  reached: Standing,
): boolean => lease.now >= (lease.renewed_at + lease.until) / 2 || stepOf(reached) > stepOf(written);

/** Pause before another attempt, ms, times the attempts so far. */
const RETRY_MS = 10_000;

/** From when on work that was given up may be claimed again: a shutdown costs it no time. */
export const retryAt = (now: string, reason: 'failed' | 'shutdown', attempt: number): string =>
  laterBy(now, reason === 'shutdown' ? 0 : RETRY_MS * attempt);

/** Why an owner has to stop. */
export type StopReason = 'lost' | 'shutdown' | 'timed_out';

/** Dependencies of a worker of any queue. */
export interface QueueDeps {
  readonly clock: Clock;
  /** Names this worker in the log. */
  readonly worker: string;
  /** How often an owner looks whether it still owns its work, ms. */
  readonly tickMs: number;
  readonly onError: (error: unknown) => void;
}

/** A piece of work that this worker owns. */
export interface HeldWork<W extends WorkTypes> {
  readonly accepted: W['accepted'];
  readonly name: W['identity'];
  /** Of its stream; also what its commands are correlated by. */
  readonly id: string;
  readonly lease_id: string;
  /** From 1. */
  readonly attempt: number;
}

/** How far the work is: as a share, and as its events say it. */
interface Reaching<W extends WorkTypes> {
  readonly standing: () => Standing;
  readonly reached: () => W['reached'];
}

interface Heartbeat {
  /** Its reason is a `StopReason`. */
  readonly signal: AbortSignal;
  /** Why the owner has to stop; undefined while it need not. */
  readonly stopped: () => StopReason | undefined;
  readonly stop: () => Promise<void>;
}

/** Keeps a lease while the work goes on; aborts when it was lost, the work ended elsewhere, or takes too long. */
export const heartbeat = <W extends WorkTypes>(
  deps: Pick<QueueDeps, 'clock' | 'tickMs'> & { readonly streams: QueueStreams<W> },
  { name, id, lease_id }: HeldWork<W>,
  { standing, reached, shutdown }: Reaching<W> & { readonly shutdown: AbortSignal },
): Heartbeat => {
  const { streams } = deps;
  const { monotonicMs = () => performance.now() } = deps.clock;
  const started = monotonicMs();
  const stopping = new AbortController();
  const abort = (reason: StopReason): void => {
    if (!stopping.signal.aborted) stopping.abort(reason);
  };
  let written = { ...standing(), done: 0 };
  let [renewed_at, until] = [started, started + leaseMs(0)];

  const renew = async (now: number): Promise<void> => {
    const reaching = standing();
    const meta = systemMeta(deps, id);
    const lastsMs = leaseMs(now - started);
    const data = { ...reached(), lease_id, lease_until: laterBy(meta.now, lastsMs) };
    const outcome = await streams.handle(name, { type: 'Progress', data, meta });
    if (outcome.kind === 'rejected') abort('lost');
    if (outcome.kind !== 'done') return;
    written = reaching;
    [renewed_at, until] = [now, now + lastsMs];
  };
  const tick = async (): Promise<void> => {
    const now = monotonicMs();
    if (now - started > RUN_MS_MAX) abort('timed_out');
    const state = await streams.stateOf(id);
    if (hasEnded(state) || state.lease?.lease_id !== lease_id) abort('lost');
    else if (isRenewalDue({ renewed_at, until, now }, written, standing())) await renew(now);
  };

  let beating: Promise<void> | undefined;
  const timer = setInterval(() => {
    if (stopping.signal.aborted) return;
    // A log that is away for a moment is asked again; whether the lease held, the last append decides.
    beating ??= tick()
      .catch(() => undefined)
      .finally(() => (beating = undefined));
  }, deps.tickMs);
  // Its work keeps a process alive, not the lease.
  timer.unref();
  const onShutdown = () => abort('shutdown');
  shutdown.addEventListener('abort', onShutdown);
  if (shutdown.aborted) onShutdown();

  return {
    signal: stopping.signal,
    stopped: () => (stopping.signal.aborted ? (stopping.signal.reason as StopReason) : undefined),
    stop: async () => {
      clearInterval(timer);
      shutdown.removeEventListener('abort', onShutdown);
      await beating;
    },
  };
};

/** A lease as a read model tells it: `mark` changes with each claim and renewal. */
interface SeenLease {
  readonly id: string;
  readonly mark: string;
}

/** A lease that did not change while it was watched, and for how long that was, ms. */
interface WatchedLease {
  readonly mark: string;
  readonly forMs: number;
}

/** Watches what others have by this process's own monotonic clock: other machines' clocks decide nothing. */
interface LeaseWatch {
  /** Takes note of all leases that are held now. */
  readonly see: (leases: readonly SeenLease[]) => void;
  /** Those that have stood still for as long as the shortest lease. */
  readonly overdue: () => readonly string[];
  /** undefined for one that is not watched. */
  readonly watched: (id: string) => WatchedLease | undefined;
}

const leaseWatch = (monotonicMs: () => number): LeaseWatch => {
  let seen = new Map<string, { readonly mark: string; readonly since: number }>();
  const forMs = (since: number): number => monotonicMs() - since;
  return {
    see: (leases) => {
      const since = monotonicMs();
      const next: typeof seen = new Map();
      for (const { id, mark } of leases) {
        const before = seen.get(id);
        next.set(id, before?.mark === mark ? before : { mark, since });
      }
      seen = next;
    },
    overdue: () => [...seen].filter(([, { since }]) => forMs(since) >= LEASE_MIN_MS).map(([id]) => id),
    watched: (id) => {
      const one = seen.get(id);
      return one && { mark: one.mark, forMs: forMs(one.since) };
    },
  };
};

const watchOf = ({ clock }: Pick<QueueDeps, 'clock'>): LeaseWatch =>
  leaseWatch(clock.monotonicMs ?? (() => performance.now()));

/** `ran`: it was this worker's, whatever became of it. */
type QueueRun = 'ran' | 'not_ours' | 'reaped';

interface OwnedWork {
  readonly tenant_id: string;
}

/** Pieces that a worker does at once; one place is kept free for a tenant that has none running. */
const PLACES = 3;

/** Tells of CPU time that processes used for a tenant. `listen` gives what ends the listening. */
export interface WorkTurns {
  readonly listen: (charged: (tenantId: string, cpuMs: number) => void) => () => void;
}

interface WorkAtOnceDeps<Name> {
  readonly idOf: (name: Name) => string;
  /** Work without a worker. May be late. */
  readonly waiting: () => Promise<readonly Name[]>;
  /** Throws nothing. */
  readonly run: (name: Name) => Promise<QueueRun>;
  readonly onError: (error: unknown) => void;
  readonly shutdown: AbortSignal;
  /** Left out: `PLACES`. */
  readonly places?: number | undefined;
  /** Left out: a tenant pays for the time that its work ran. */
  readonly turns: WorkTurns | undefined;
}

interface WorkAtOnce {
  /** Begins every piece that may begin now. The place of a piece that ends is filled at once. */
  readonly takeUp: () => Promise<void>;
  /** Until nothing runs and nothing may begin. */
  readonly settled: () => Promise<void>;
  /** How many were this worker's. */
  readonly ran: () => number;
  readonly places: () => { readonly busy: number; readonly max: number };
}

/** Puts waiting work in line, removes work that no longer waits, and keeps the order of tenants. */
const inLine = <Name extends OwnedWork>(line: FairShares<string>, idOf: (name: Name) => string) => {
  const known = new Map<string, Name>();
  return {
    refresh: (waiting: readonly Name[]): void => {
      const ids = new Set(waiting.map(idOf));
      for (const [id, { tenant_id }] of known)
        if (!ids.has(id)) {
          line.remove(tenant_id, id);
          known.delete(id);
        }
      for (const name of waiting) {
        const id = idOf(name);
        const isNew = !known.has(id);
        known.set(id, name);
        if (isNew) line.add(name.tenant_id, id, performance.now());
      }
    },
    /** Every piece in line, in the order of its turn, until each was offered once; `take` says whether it goes. */
    offer: (take: (name: Name) => boolean): void => {
      const refused: string[] = [];
      for (let id = line.next(); id !== undefined; id = line.next()) {
        const name = known.get(id);
        if (name !== undefined && take(name)) known.delete(id);
        else refused.push(id);
      }
      for (const id of refused.reverse()) {
        const name = known.get(id);
        if (name !== undefined) line.putBack(name.tenant_id, id);
      }
    },
  };
};

/**
 * Does work of several tenants at once: a tenant alone gets all places but one, and another gets a place
 * immediately. The tenant with the least CPU time goes next, as for the processes that read documents:
 * work of an hour counts as much as many pieces of a minute.
 */
export const workAtOnce = <Name extends OwnedWork>(deps: WorkAtOnceDeps<Name>): WorkAtOnce => {
  const { idOf, turns } = deps;
  const slots = heavySlots(deps.places ?? PLACES);
  const shares = fairShares<string>();
  const line = inLine<Name>(shares, idOf);
  const running = new Map<string, Promise<void>>();
  /** Work that was another's: not asked for again before the next look at the queue. */
  const passed = new Set<string>();
  const charge = (tenantId: string, ms: number): void => shares.charge(tenantId, ms, performance.now());
  const deafen = turns?.listen(charge);
  deps.shutdown.addEventListener('abort', () => deafen?.(), { once: true });
  let ran = 0;
  let taking: Promise<void> | undefined;

  const done = async (name: Name, free: () => void): Promise<void> => {
    const began = performance.now();
    const result = await deps.run(name);
    free();
    if (turns === undefined) charge(name.tenant_id, performance.now() - began);
    shares.end(name.tenant_id, performance.now());
    running.delete(idOf(name));
    if (result === 'not_ours') passed.add(idOf(name));
    else ran += 1;
    void fill().catch(deps.onError);
  };
  const fillOnce = async (): Promise<void> => {
    const waiting = await deps.waiting();
    line.refresh(waiting.filter((name) => !running.has(idOf(name)) && !passed.has(idOf(name))));
    line.offer((name) => {
      if (deps.shutdown.aborted) return false;
      const free = slots.take(name.tenant_id);
      if (free !== undefined) running.set(idOf(name), done(name, free));
      return free !== undefined;
    });
  };
  const fill = (): Promise<void> => {
    if (deps.shutdown.aborted) return Promise.resolve();
    return (taking ??= fillOnce().finally(() => (taking = undefined)));
  };
  return {
    takeUp: () => {
      passed.clear();
      return fill();
    },
    settled: async () => {
      for (let begun = taking; running.size > 0 || begun !== undefined; begun = taking) {
        await begun?.catch(() => undefined);
        if (running.size > 0) await Promise.race(running.values());
      }
    },
    ran: () => ran,
    places: () => ({ busy: slots.inUse(), max: slots.max }),
  };
};

/** What read models know of a queue. They may be late: the streams decide. */
export interface QueueLists<Name> {
  /** What waits for a worker: the piece of each tenant that waits longest, then the second of each. */
  readonly waiting: (now: string, limit: number) => Promise<readonly Name[]>;
  /** What somebody works on, the lease that ends first before the others; `mark` is the `leaseMark` of each. */
  readonly running: (limit: number) => Promise<readonly (Name & { readonly mark: string })[]>;
  /** Work past its time that has not ended. */
  readonly expired: (now: string, limit: number) => Promise<readonly Name[]>;
  /** What ended and whose money is not closed, in the order of `rank`, after one; then from the start again. */
  readonly unsettled: (
    after: string,
    limit: number,
  ) => Promise<readonly (Name & { readonly rank: string })[]>;
  /** Work that was never accepted and has open holds, placed before `before`. */
  readonly orphans: (before: string, limit: number) => Promise<readonly Name[]>;
}

/** How one kind of work is done. */
interface QueueHandlers<W extends WorkTypes> {
  readonly money: WorkMoney<W>;
  /** Does work that is ours to its end: done, failed, or given up for another attempt. */
  readonly runHeld: (held: HeldWork<W>, shutdown: AbortSignal) => Promise<void>;
}

export interface QueueWorkerDeps<Name> extends QueueDeps, CloseDeps {
  readonly clock: QueueDeps['clock'];
  readonly lists: QueueLists<Name>;
  /** How often the queue is looked at, ms. */
  readonly pollMs?: number;
  /** Pieces that are done at once; left out: three. */
  readonly places?: number;
  /** Whose turn it is; left out: by what this worker ran. */
  readonly turns?: WorkTurns;
}

export interface QueueWorker {
  /** Does the waiting work, a few pieces at once, until none is left. Gives how many it ran. */
  readonly drain: () => Promise<number>;
  /** Ends work that no other process will end, and settles open work. Gives how many things it ended. */
  readonly reap: () => Promise<number>;
  readonly places: () => { readonly busy: number; readonly max: number };
  readonly start: () => void;
  /** Gives the running work back and waits until it is given. */
  readonly stop: () => Promise<void>;
}

const PAGE = 50;
/** Leases that are watched, those of a hundred workers, and orphans. */
const WATCHED_MAX = 500;
/** How often what others left is looked for. */
const REAP_MS = 30_000;
/** A hold without its work may still be in its request's hands for so long, ms. */
const ORPHAN_AGE_MS = 10 * 60_000;
/** And for so long since this process saw it first: the clock by which it was placed may be far behind, ms. */
const ORPHAN_WATCHED_MS = 60_000;

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
  /** The lease that this process has watched for its whole time; null: none. */
  const watchedMark = async (name: W['identity']): Promise<string | null> => {
    const watched = watch.watched(idOf(name));
    if (watched === undefined) return null;
    const { lease } = await streams.stateOf(idOf(name));
    return lease !== null && watched.forMs >= lease.lease_ms ? watched.mark : null;
  };
  /** Ends work that no worker will end, and its money. */
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

/** Ends what no other process will end, a page of each kind at a time, and gives how many things it ended. */
const reaping = <W extends WorkTypes>(
  deps: QueueWorkerDeps<W['identity']>,
  money: WorkMoney<W>,
  reap: (name: W['identity']) => Promise<boolean>,
): QueueWorker['reap'] => {
  const { lists, clock } = deps;
  const { idOf } = money;
  const watch = watchOf(deps);
  let settledTo = '';
  const settle = async (name: W['identity']): Promise<boolean> =>
    closeWork(deps, money, { name, state: await money.streams.stateOf(idOf(name)) });
  /** What was held for and never accepted, and no request is at any more. */
  const left = async (now: string): Promise<readonly W['identity'][]> => {
    const orphans = await lists.orphans(laterBy(now, -ORPHAN_AGE_MS), WATCHED_MAX);
    watch.see(orphans.map((name) => ({ id: idOf(name), mark: '' })));
    return orphans.filter((name) => (watch.watched(idOf(name))?.forMs ?? 0) >= ORPHAN_WATCHED_MS);
  };
  return async (): Promise<number> => {
    const now = clock.now();
    const reaped = await each(deps, await lists.expired(now, PAGE), reap);
    // Page by page, so that work that cannot be settled now does not delay other work.
    const open = await lists.unsettled(settledTo, PAGE);
    settledTo = open.length < PAGE ? '' : (open.at(-1)?.rank ?? '');
    const settled = await each(deps, open, settle);
    const orphans = await each(deps, await left(now), (name) => abandonWork(deps, money, name));
    return reaped + settled + orphans;
  };
};

/** Takes waiting work and does it. Any number of workers may do so at once. */
export const queueWorker = <W extends WorkTypes>(
  deps: QueueWorkerDeps<W['identity']>,
  handlers: QueueHandlers<W>,
): QueueWorker => {
  const { pollMs = 1_000, onError, lists, clock, turns, places } = deps;
  const { money } = handlers;
  const { idOf } = money;
  const shutdown = new AbortController();
  const watch = watchOf(deps);
  const { run, reap } = claiming(deps, handlers, watch);
  const reapOnce = reaping(deps, money, reap);

  /** What waits, and what is held by an owner that has not moved for as long as its lease. */
  const waiting = async (): Promise<readonly W['identity'][]> => {
    const running = await lists.running(WATCHED_MAX);
    watch.see(running.map((one) => ({ id: idOf(one), mark: one.mark })));
    const overdue = new Set(watch.overdue());
    return [...running.filter((one) => overdue.has(idOf(one))), ...(await lists.waiting(clock.now(), PAGE))];
  };
  const working = workAtOnce<W['identity']>({
    idOf,
    waiting,
    onError,
    turns,
    places,
    // An error of one piece is reported, without effect on the others.
    run: (name) =>
      run(name, shutdown.signal).catch((error: unknown) => {
        onError(error);
        return 'not_ours';
      }),
    shutdown: shutdown.signal,
  });
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
