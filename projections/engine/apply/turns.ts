import type { KnownLog } from '../../../domain/ports/knownLog.ts';
import type { RunningSlot } from './applyBatch.ts';
import { compared } from '../feed/compare.ts';
import { divergenceOf, ReadModelsDiverged, type Divergence } from '../feed/divergence.ts';
import type { FollowDeps, Follower } from '../feed/follow.ts';
import { follower } from '../feed/follow.ts';
import { frozenHolders } from '../rebuild/frozen.ts';
import type { DecodeEvent } from '../feed/event.ts';
import type { AppliedBatch, ProjectionNotice, RunnerTuning } from '../feed/notices.ts';
import type { Sql, SqlLock, Timers } from '../ports.ts';
import type { Slot } from './prepare.ts';
import { prepareReadModels } from './prepare.ts';
import { rebuildReadModels } from '../rebuild/rebuild.ts';
import {
  CheckpointMoved,
  generations,
  hasRegistry,
  keepsWitnesses,
  lockRegistry,
  resume,
} from '../registry.ts';
import { dropRetired } from '../rebuild/retire.ts';
import type { KnownModels, NewerModel, Standing } from '../rebuild/standing.ts';
import { standingOf } from '../rebuild/standing.ts';

/** The advisory lock of the one process that projects. */
export const PROJECTOR_LOCK = 0x71756972n;

export interface RunnerDeps extends KnownModels {
  readonly sql: Sql;
  readonly feed: KnownLog;
  readonly decode: DecodeEvent;
  /** False for an event type of a newer release. All are known by default. */
  readonly isKnownType?: (type: string) => boolean;
  readonly timers: Timers;
  readonly notify?: (notice: ProjectionNotice) => void;
  /** Told of the events of each batch that was committed; for traces. */
  readonly onApplied?: (applied: AppliedBatch) => void;
  readonly tuning?: Partial<RunnerTuning>;
  /** What becomes of read models that are of another log: made anew at once, or left to a person. */
  readonly diverged?: 'rebuild' | 'leave';
}

export interface TurnDeps extends RunnerDeps {
  readonly tuning: RunnerTuning;
}

export interface Turns {
  readonly running: () => Follower | undefined;
  /** Which newer read models this process leaves the projecting to; null while it does not. */
  readonly aside: () => string | null;
  /** Projects, as often as this process holds the lock, until it is aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const reasonOf = (newer: readonly NewerModel[]): string =>
  `a newer release serves ${newer
    .map(
      ({ name, version, known }) =>
        `${name} ${String(version)} (here ${known === null ? 'unknown' : String(known)})`,
    )
    .join(', ')}`;

const standingNow = async (deps: RunnerDeps): Promise<Standing | undefined> =>
  (await hasRegistry(deps.sql)) ? standingOf(await generations(deps.sql), deps) : undefined;

interface Waiting {
  readonly aside: () => string | null;
  readonly lock: (signal: AbortSignal) => Promise<SqlLock | undefined>;
}

/** Waits for the lock. A process of an older release than the one that serves does not ask for it. */
const waiting = (deps: TurnDeps): Waiting => {
  const { sql, timers, tuning, notify } = deps;
  const endFrozen = frozenHolders(deps, PROJECTOR_LOCK);
  let said = '';

  const isAside = async (): Promise<boolean> => {
    const { newer = [] } = (await standingNow(deps)) ?? {};
    const reason = newer.length === 0 ? '' : reasonOf(newer);
    if (reason !== '' && reason !== said) notify?.({ kind: 'aside', reason });
    said = reason;
    return reason !== '';
  };

  const lockAlone = async (signal: AbortSignal): Promise<SqlLock | undefined> => {
    while (!signal.aborted) {
      const lock = (await isAside()) ? undefined : await sql.tryLock(PROJECTOR_LOCK);
      if (lock !== undefined) return lock;
      if (said === '') await endFrozen();
      await timers.sleep(tuning.lockMs, signal);
    }
    return undefined;
  };
  return { aside: () => (said === '' ? null : said), lock: lockAlone };
};

/** Slots to run: those that had stopped try again if `afresh`, for the defect may be repaired by now. */
const loadSlots = async (deps: TurnDeps, afresh: boolean): Promise<readonly RunningSlot[]> => {
  const { sql, projectors } = deps;
  await prepareReadModels(sql, projectors);
  if (!(await keepsWitnesses(sql))) await sql.transaction(lockRegistry);
  const standing = standingOf(await generations(sql), deps);
  if (standing.newer.length > 0) throw new CheckpointMoved(reasonOf(standing.newer));
  const slots: RunningSlot[] = [...standing.followed];
  await dropRetired(sql);
  for (const slot of slots) {
    const { generation } = slot;
    if (generation.state !== 'stopped' || !afresh) continue;
    await resume(sql, generation);
    slot.generation = { ...generation, state: 'live', reason: null };
  }
  return slots;
};

const keysOf = (slots: readonly Slot[]): string =>
  slots
    .map(({ generation: { name, generation } }) => `${name}:${String(generation)}`)
    .sort()
    .join();

/**
 * Resolves when this process should take stock: a build or a rebuild has put another generation in the
 * place of one that it follows, or a newer release has begun to serve. Never resolves after `signal`.
 */
const outdated = async (
  deps: TurnDeps,
  slots: readonly RunningSlot[],
  signal: AbortSignal,
): Promise<void> => {
  const { timers, tuning } = deps;
  const own = keysOf(slots);
  for (;;) {
    await timers.sleep(tuning.lookMs, signal);
    if (signal.aborted) return new Promise(() => undefined);
    const now = await standingNow(deps).catch(() => undefined);
    if (now !== undefined && (now.newer.length > 0 || keysOf(now.followed) !== own)) return;
  }
};

/** Resolves when the log is not the one any more that the slots are of. Never resolves after `signal`. */
const replaced = async (deps: TurnDeps, slots: readonly Slot[], signal: AbortSignal): Promise<void> => {
  const { timers, tuning, feed } = deps;
  for (;;) {
    await timers.sleep(tuning.compareMs, signal);
    if (signal.aborted) return new Promise(() => undefined);
    const generations = slots.map(({ generation }) => generation);
    if ((await divergenceOf(feed, generations).catch(() => undefined)) !== undefined) return;
  }
};

/** Tells of a divergence, and makes the read models anew where that is wanted; else a person has to. */
const mending = (deps: TurnDeps) => {
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

export const turns = (deps: TurnDeps, waits: Pick<FollowDeps, 'isAwaited' | 'onProgress'>): Turns => {
  const { timers, tuning, notify } = deps;
  const alone = waiting(deps);
  const mend = mending(deps);
  let running: Follower | undefined;
  let afresh = true;

  const projectAlone = async (lock: SqlLock, signal: AbortSignal): Promise<void> => {
    const slots = await loadSlots(deps, afresh);
    await compared(deps.feed, slots);
    afresh = false;
    const lost = new AbortController();
    void lock.lost.then(() => lost.abort());
    running = follower({ ...deps, ...waits, slots });
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

  const turn = async (signal: AbortSignal): Promise<void> => {
    const lock = await alone.lock(signal);
    if (lock === undefined) return;
    try {
      await projectAlone(lock, signal);
    } catch (error) {
      if (!(error instanceof ReadModelsDiverged)) throw error;
      await mend(error.divergence, signal);
    } finally {
      await lock.release().catch(() => undefined);
    }
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    let delayMs = tuning.retryMs;
    while (!signal.aborted) {
      const began = timers.nowMs();
      try {
        await turn(signal);
        delayMs = tuning.retryMs;
      } catch (error) {
        if (!(error instanceof CheckpointMoved)) notify?.({ kind: 'failed', reason: messageOf(error) });
        // What fails again and again, on a full disk say, is tried less and less often.
        const ran = timers.nowMs() - began > tuning.retryMaxMs;
        delayMs = ran ? tuning.retryMs : Math.min(delayMs * 2, tuning.retryMaxMs);
        await timers.sleep(delayMs, signal);
      }
    }
  };
  return { running: () => running, aside: alone.aside, run };
};
