import type { EventFeed } from '../../domain/ports/eventFeed.ts';
import type { RunningSlot } from './applyBatch.ts';
import type { DecodeEvent } from './event.ts';
import type { AppliedBatch, ProjectionNotice, RunnerTuning } from './notices.ts';
import { RUNNER_TUNING } from './notices.ts';
import type { Sql, SqlLock, Timers } from './ports.ts';
import { prepareReadModels } from './prepare.ts';
import type { WaitOptions } from './progress.ts';
import { changes, progress } from './progress.ts';
import type { Projector } from './projector.ts';
import { CheckpointMoved, dropRetired, generations, hasRegistry, promote, resume } from './registry.ts';
import type { ProjectorStatus } from './status.ts';
import { statusOfRegistry, statusOfSlots } from './status.ts';
import type { FollowDeps, Follower } from './follow.ts';
import { follower } from './follow.ts';

export interface RunnerDeps {
  readonly sql: Sql;
  readonly feed: EventFeed;
  readonly projectors: readonly Projector[];
  readonly decode: DecodeEvent;
  readonly timers: Timers;
  readonly notify?: (notice: ProjectionNotice) => void;
  /** Told of the events of each batch that was committed; for traces. */
  readonly onApplied?: (applied: AppliedBatch) => void;
  readonly tuning?: Partial<RunnerTuning>;
}

/** Keeps the read models up with the log, as long as no other process does. */
export interface ProjectionRunner {
  start(): void;
  /** Finishes the batch in hand and lets another process take over. */
  stop(): Promise<void>;
  /**
   * True when the read models named (all by default) have committed `position`; false after
   * `timeoutMs`, or at once when one of them has stopped or is being built and will not get there.
   */
  waitFor(position: bigint, options: WaitOptions): Promise<boolean>;
  status(): Promise<readonly ProjectorStatus[]>;
  /** Whether this process is the one that projects now. */
  isProjecting(): boolean;
}

/** The advisory lock of the one process that projects. */
export const PROJECTOR_LOCK = 0x71756972n;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const alone = async (
  { sql, timers }: RunnerDeps,
  lockMs: number,
  signal: AbortSignal,
): Promise<SqlLock | undefined> => {
  while (!signal.aborted) {
    const lock = await sql.tryLock(PROJECTOR_LOCK);
    if (lock !== undefined) return lock;
    await timers.sleep(lockMs, signal);
  }
  return undefined;
};

/** Slots to run: those that had stopped try again if `afresh`, for the defect may be repaired by now. */
const loadSlots = async (
  { sql, projectors }: RunnerDeps,
  afresh: boolean,
): Promise<readonly RunningSlot[]> => {
  const slots: RunningSlot[] = [...(await prepareReadModels(sql, projectors))];
  await dropRetired(sql);
  for (const slot of slots) {
    const { generation } = slot;
    if (generation.state !== 'stopped' || !afresh) continue;
    await resume(sql, generation);
    slot.generation = { ...generation, state: generation.serves ? 'live' : 'building', reason: null };
  }
  return slots;
};

/** Generations of a new version serve once they have caught up. */
const promoteBuilt = async (deps: RunnerDeps, slots: readonly RunningSlot[]): Promise<void> => {
  for (const slot of slots) {
    const { projector, generation } = slot;
    if (generation.state !== 'building') continue;
    await deps.sql.transaction((tx) => promote(tx, projector, generation));
    slot.generation = { ...generation, state: 'live', serves: true };
    deps.notify?.({ kind: 'promoted', name: projector.name, version: projector.version });
    await dropRetired(deps.sql);
  }
};

const statusFromRegistry = async ({ sql, projectors }: RunnerDeps): Promise<readonly ProjectorStatus[]> =>
  statusOfRegistry((await hasRegistry(sql)) ? await generations(sql) : [], projectors);

/**
 * Resolves when a rebuild has put another generation in the place of one that had stopped. Those that
 * run notice by their checkpoint; one that has stopped moves none. Never resolves after `signal`.
 */
const replaced = async (
  { sql, timers }: RunnerDeps,
  slots: readonly RunningSlot[],
  { everyMs, signal }: { readonly everyMs: number; readonly signal: AbortSignal },
): Promise<void> => {
  for (;;) {
    await timers.sleep(everyMs, signal);
    if (signal.aborted) return new Promise(() => undefined);
    const stopped = slots.filter(({ generation: { state } }) => state === 'stopped');
    if (stopped.length === 0) continue;
    const now = await generations(sql).catch(() => undefined);
    const isGone = ({ generation: { name, generation } }: RunningSlot) =>
      !now?.some((one) => one.name === name && one.generation === generation);
    if (now !== undefined && stopped.some(isGone)) return;
  }
};

interface Turns {
  readonly running: () => Follower | undefined;
  /** Projects, as often as this process holds the lock, until it is aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

const turns = (deps: RunnerDeps, waits: Pick<FollowDeps, 'isAwaited' | 'onProgress'>): Turns => {
  const { timers, projectors, notify } = deps;
  const tuning = { ...RUNNER_TUNING, ...deps.tuning };
  let running: Follower | undefined;
  let afresh = true;

  const projectAlone = async (lock: SqlLock, signal: AbortSignal): Promise<void> => {
    const slots = await loadSlots(deps, afresh);
    afresh = false;
    const lost = new AbortController();
    void lock.lost.then(() => lost.abort());
    running = follower({ ...deps, ...waits, tuning, slots, onCaughtUp: () => promoteBuilt(deps, slots) });
    notify?.({ kind: 'started', projectors: projectors.map(({ name }) => name) });
    const until = AbortSignal.any([signal, lost.signal]);
    const ended = new AbortController();
    void replaced(deps, slots, { everyMs: tuning.lockMs, signal: ended.signal })
      .then(() => lost.abort())
      .catch(() => undefined);
    try {
      await running.run(until);
    } finally {
      ended.abort();
      running = undefined;
      waits.onProgress();
    }
  };

  const turn = async (signal: AbortSignal): Promise<void> => {
    const lock = await alone(deps, tuning.lockMs, signal);
    if (lock === undefined) return;
    try {
      await projectAlone(lock, signal);
    } finally {
      await lock.release().catch(() => undefined);
    }
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        await turn(signal);
      } catch (error) {
        if (!(error instanceof CheckpointMoved)) notify?.({ kind: 'failed', reason: messageOf(error) });
        await timers.sleep(tuning.retryMs, signal);
      }
    }
  };
  return { running: () => running, run };
};

export const projectionRunner = (deps: RunnerDeps): ProjectionRunner => {
  const { sql, timers, projectors } = deps;
  const stopping = new AbortController();
  const changed = changes();
  const names = projectors.map(({ name }) => name);
  let loop: Promise<void> | undefined;
  const waits = progress({ sql, timers, names, slots: () => running()?.slots, changes: changed });
  const { running, run } = turns(deps, {
    isAwaited: () => waits.isAwaited(),
    onProgress: () => changed.fire(),
  });

  return {
    start: () => {
      loop ??= run(stopping.signal);
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
    waitFor: waits.waitFor,
    isProjecting: () => running() !== undefined,
    status: () => {
      const follow = running();
      if (follow === undefined) return statusFromRegistry(deps);
      return Promise.resolve(statusOfSlots(follow.slots, follow.state()));
    },
  };
};
