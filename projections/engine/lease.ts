import type { Sql, SqlLock } from './ports.ts';
import { rebuildReadModels } from './rebuild.ts';
import { type RunnerDeps, type TunedDeps } from './building.ts';
import {
  CheckpointMoved,
  dropRetired,
  generations,
  hasRegistry,
  hasAllColumns,
  lockRegistry,
  type NewerModel,
  prepareReadModels,
  resume,
  type Slot,
  type VersionPlan,
  versionPlanOf,
} from './registry.ts';
import { messageOf } from './arrivals.ts';
import type { RunningSlot } from './apply.ts';
import { parkedIn } from './parking.ts';
import { type Divergence, divergenceOf, ReadModelsDiverged, requireSameLog } from './divergence.ts';
import { type Subscriber, subscriber, type SubscriberDeps } from './subscribe.ts';

/** A holder that made no progress while there were events to apply. */
interface Suspect {
  readonly holder: string;
  readonly position: bigint | null;
  readonly sinceMs: number;
}

/** The furthest checkpoint that can move; a stopped one says nothing about its process. */
const furthest = async (sql: Sql): Promise<bigint | null | undefined> => {
  if (!(await hasRegistry(sql))) return undefined;
  const moving = (await generations(sql)).filter(({ serves, state }) => serves && state === 'live');
  if (moving.length === 0) return undefined;
  return moving.reduce<bigint | null>(
    (far, { position }) => (position !== null && (far === null || position > far) ? position : far),
    null,
  );
};

/**
 * Ends the session of a process that holds the lease `key` but makes no progress: it is frozen, or its machine is
 * gone. Call it whenever the lease is refused. Evicting a healthy process by mistake is safe: only one of two can
 * move a checkpoint, and it asks for the lease again.
 */
const frozenHolderEviction = (deps: TunedDeps, key: bigint): (() => Promise<void>) => {
  const { sql, feed, timers, tuning, notify } = deps;
  const { holders } = sql;
  let suspect: Suspect | undefined;

  const observed = async (): Promise<Suspect | undefined> => {
    const [holder, position, head] = await Promise.all([holders?.of(key), furthest(sql), feed.head()]);
    if (holder === undefined || position === undefined || head === undefined) return undefined;
    if (position !== null && position >= head) return undefined;
    if (suspect?.holder === holder && suspect.position === position) return suspect;
    return { holder, position, sinceMs: timers.nowMs() };
  };

  return async () => {
    if (holders === undefined) return;
    suspect = await observed().catch(() => undefined);
    if (suspect === undefined) return;
    const stillMs = timers.nowMs() - suspect.sinceMs;
    if (stillMs < tuning.frozenMs) return;
    if (await holders.end(key, suspect.holder)) notify?.({ kind: 'evicted', stillMs });
    suspect = undefined;
  };
};

/** The advisory lock that one process holds at a time: the one that projects. */
export const PROJECTOR_LEASE = 0x71756972n;

interface LeasedProjection {
  readonly running: () => Subscriber | undefined;
  /** Why this process stands aside for a newer release; null while it does not. */
  readonly aside: () => string | null;
  /** Projects whenever this process holds the lease, until `signal` aborts. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

const reasonOf = (newer: readonly NewerModel[]): string =>
  `a newer release serves ${newer
    .map(
      ({ name, version, known }) =>
        `${name} ${String(version)} (here ${known === null ? 'unknown' : String(known)})`,
    )
    .join(', ')}`;

const versionPlanNow = async (deps: RunnerDeps): Promise<VersionPlan | undefined> =>
  (await hasRegistry(deps.sql)) ? versionPlanOf(await generations(deps.sql), deps) : undefined;

interface LeaseQueue {
  readonly aside: () => string | null;
  readonly acquire: (signal: AbortSignal) => Promise<SqlLock | undefined>;
}

/** Waits for the lease. A process of an older release than the one that serves does not ask for it. */
const leaseQueue = (deps: TunedDeps): LeaseQueue => {
  const { sql, timers, tuning, notify } = deps;
  const evictFrozen = frozenHolderEviction(deps, PROJECTOR_LEASE);
  let said = '';

  const isAside = async (): Promise<boolean> => {
    const { newer = [] } = (await versionPlanNow(deps)) ?? {};
    const reason = newer.length === 0 ? '' : reasonOf(newer);
    if (reason !== '' && reason !== said) notify?.({ kind: 'aside', reason });
    said = reason;
    return reason !== '';
  };

  const acquire = async (signal: AbortSignal): Promise<SqlLock | undefined> => {
    while (!signal.aborted) {
      const lock = (await isAside()) ? undefined : await sql.tryLock(PROJECTOR_LEASE);
      if (lock !== undefined) return lock;
      if (said === '') await evictFrozen();
      await timers.sleep(tuning.lockMs, signal);
    }
    return undefined;
  };
  return { aside: () => (said === '' ? null : said), acquire };
};

/** The slots to run. Stopped ones try again if `afresh`: the defect may be repaired by now. */
const loadSlots = async (deps: TunedDeps, afresh: boolean): Promise<readonly RunningSlot[]> => {
  const { sql, projectors } = deps;
  await prepareReadModels(sql, projectors);
  if (!(await hasAllColumns(sql))) await sql.transaction(lockRegistry);
  const { newer, followed } = versionPlanOf(await generations(sql), deps);
  if (newer.length > 0) throw new CheckpointMoved(reasonOf(newer));
  const slots: RunningSlot[] = [];
  for (const slot of followed) slots.push({ ...slot, parked: await parkedIn(sql, slot.generation) });
  await dropRetired(sql);
  for (const slot of slots) {
    const { generation } = slot;
    if (generation.state !== 'stopped' || generation.isPaused || !afresh) continue;
    await resume(sql, generation);
    slot.generation = { ...generation, state: 'live', reason: null };
  }
  return slots;
};

const keysOf = (slots: readonly Slot[]): string =>
  slots
    .map(({ generation: { name, generation, parks, isPaused } }) =>
      [name, String(generation), String(parks), String(isPaused)].join(':'),
    )
    .sort()
    .join();

/**
 * Resolves when the slots are out of date: a build has replaced a generation that this process follows, somebody
 * has paused one or ended the parking of a tenant, or a newer release has begun to serve. Never resolves after
 * `signal`.
 */
const outdated = async (
  deps: TunedDeps,
  slots: readonly RunningSlot[],
  signal: AbortSignal,
): Promise<void> => {
  const { timers, tuning } = deps;
  for (;;) {
    await timers.sleep(tuning.lookMs, signal);
    if (signal.aborted) return new Promise(() => undefined);
    const now = await versionPlanNow(deps).catch(() => undefined);
    if (now !== undefined && (now.newer.length > 0 || keysOf(now.followed) !== keysOf(slots))) return;
  }
};

/** Resolves when the log was replaced by another one than the slots are of. Never resolves after `signal`. */
const replaced = async (deps: TunedDeps, slots: readonly Slot[], signal: AbortSignal): Promise<void> => {
  const { timers, tuning, feed } = deps;
  for (;;) {
    await timers.sleep(tuning.compareMs, signal);
    if (signal.aborted) return new Promise(() => undefined);
    const generations = slots.map(({ generation }) => generation);
    if ((await divergenceOf(feed, generations).catch(() => undefined)) !== undefined) return;
  }
};

/** Reports a divergence, and rebuilds the read models where that is configured; otherwise a person has to. */
const divergenceRepair = (deps: TunedDeps) => {
  const { timers, tuning, notify, diverged: wanted = 'leave' } = deps;
  let said = '';

  return async ({ names, reason }: Divergence, signal: AbortSignal): Promise<void> => {
    const rebuilding = wanted === 'rebuild';
    if (reason !== said) notify?.({ kind: 'diverged', reason, names, rebuilding });
    said = reason;
    if (!rebuilding) {
      await timers.sleep(tuning.lookMs, signal);
      return;
    }
    await rebuildReadModels(deps, { names, fresh: true, signal });
    said = '';
    notify?.({ kind: 'rebuilt', names });
  };
};

/** Follows the log while this process holds the lease. */
export const leasedProjection = (
  deps: TunedDeps,
  waits: Pick<SubscriberDeps, 'isAwaited' | 'onProgress'>,
): LeasedProjection => {
  const { timers, tuning, notify } = deps;
  const queue = leaseQueue(deps);
  const repair = divergenceRepair(deps);
  let running: Subscriber | undefined;
  let afresh = true;

  const project = async (lease: SqlLock, signal: AbortSignal): Promise<void> => {
    const slots = await loadSlots(deps, afresh);
    await requireSameLog(deps.feed, slots);
    afresh = false;
    const lost = new AbortController();
    void lease.lost.then(() => lost.abort());
    running = subscriber({ ...deps, ...waits, slots });
    notify?.({ kind: 'started', projectors: slots.map(({ projector }) => projector.name) });
    const ended = new AbortController();
    void outdated(deps, slots, ended.signal).then(() => lost.abort());
    void replaced(deps, slots, ended.signal).then(() => lost.abort());
    try {
      await running.run(AbortSignal.any([signal, lost.signal]));
    } finally {
      ended.abort();
      running = undefined;
      waits.onProgress();
    }
  };

  const holdLease = async (signal: AbortSignal): Promise<void> => {
    const lease = await queue.acquire(signal);
    if (lease === undefined) return;
    try {
      await project(lease, signal);
    } catch (error) {
      if (!(error instanceof ReadModelsDiverged)) throw error;
      await repair(error.divergence, signal);
    } finally {
      await lease.release().catch(() => undefined);
    }
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    let delayMs = tuning.retryMs;
    while (!signal.aborted) {
      const began = timers.nowMs();
      try {
        await holdLease(signal);
        delayMs = tuning.retryMs;
      } catch (error) {
        if (!(error instanceof CheckpointMoved)) notify?.({ kind: 'failed', reason: messageOf(error) });
        // A lasting failure, such as a full disk, is retried less and less often.
        const ran = timers.nowMs() - began > tuning.retryMaxMs;
        delayMs = ran ? tuning.retryMs : Math.min(delayMs * 2, tuning.retryMaxMs);
        await timers.sleep(delayMs, signal);
      }
    }
  };
  return { running: () => running, aside: queue.aside, run };
};
