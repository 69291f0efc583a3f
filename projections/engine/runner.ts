import type { EventFeed } from '../../domain/ports/eventFeed.ts';
import type { RunningSlot } from './applyBatch.ts';
import type { DecodeEvent } from './event.ts';
import type { Sql, SqlLock, Timers } from './ports.ts';
import { prepareReadModels } from './prepare.ts';
import type { WaitOptions } from './progress.ts';
import { changes, progress } from './progress.ts';
import type { Projector } from './projector.ts';
import { CheckpointMoved, dropRetired, generations, hasRegistry, promote, resume } from './registry.ts';
import type { ProjectorStatus } from './status.ts';
import { statusOfRegistry, statusOfSlots } from './status.ts';
import type { Follower } from './follow.ts';
import { follower } from './follow.ts';

/** What the runner tells about itself; the composition logs and measures it. */
export type ProjectionNotice =
  | {
      readonly kind: 'batch';
      readonly events: number;
      readonly position: bigint;
      readonly durationMs: number;
    }
  | { readonly kind: 'started'; readonly projectors: readonly string[] }
  | { readonly kind: 'promoted'; readonly name: string; readonly version: number }
  | { readonly kind: 'stopped'; readonly name: string; readonly reason: string }
  | { readonly kind: 'dropped'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

export interface RunnerTuning {
  /** Most events in one transaction. */
  readonly batchMax: number;
  /** Under load, how long to gather events before a small batch is written. */
  readonly lingerMs: number;
  readonly retryMs: number;
  readonly retryMaxMs: number;
  /** How often to ask for a lock that another process holds. */
  readonly lockMs: number;
  /** How often a silent subscription is compared with the log's head. */
  readonly watchdogMs: number;
}

export const RUNNER_TUNING: RunnerTuning = {
  batchMax: 1000,
  lingerMs: 15,
  retryMs: 100,
  retryMaxMs: 5_000,
  lockMs: 1_000,
  watchdogMs: 5_000,
};

export interface RunnerDeps {
  readonly sql: Sql;
  readonly feed: EventFeed;
  readonly projectors: readonly Projector[];
  readonly decode: DecodeEvent;
  readonly timers: Timers;
  readonly notify?: (notice: ProjectionNotice) => void;
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

export const projectionRunner = (deps: RunnerDeps): ProjectionRunner => {
  const { sql, timers, projectors } = deps;
  const tuning = { ...RUNNER_TUNING, ...deps.tuning };
  const stopping = new AbortController();
  const changed = changes();
  const names = projectors.map(({ name }) => name);
  let running: Follower | undefined;
  let loop: Promise<void> | undefined;
  let afresh = true;
  const waits = progress({ sql, timers, names, slots: () => running?.slots, changes: changed });

  const projectAlone = async (lock: SqlLock): Promise<void> => {
    const slots = await loadSlots(deps, afresh);
    afresh = false;
    deps.notify?.({ kind: 'started', projectors: names });
    const lost = new AbortController();
    void lock.lost.then(() => lost.abort());
    running = follower({
      ...deps,
      tuning,
      slots,
      isAwaited: waits.isAwaited,
      onProgress: changed.fire,
      onCaughtUp: () => promoteBuilt(deps, slots),
    });
    try {
      await running.run(AbortSignal.any([stopping.signal, lost.signal]));
    } finally {
      running = undefined;
      changed.fire();
    }
  };

  const run = async (): Promise<void> => {
    const { signal } = stopping;
    while (!signal.aborted) {
      let lock: SqlLock | undefined;
      try {
        lock = await alone(deps, tuning.lockMs, signal);
        if (lock !== undefined) await projectAlone(lock);
      } catch (error) {
        if (!(error instanceof CheckpointMoved)) deps.notify?.({ kind: 'failed', reason: messageOf(error) });
        await timers.sleep(tuning.retryMs, signal);
      } finally {
        await lock?.release().catch(() => undefined);
      }
    }
  };

  return {
    start: () => {
      loop ??= run();
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
    waitFor: waits.waitFor,
    status: async () =>
      running === undefined
        ? statusOfRegistry((await hasRegistry(sql)) ? await generations(sql) : [], projectors)
        : statusOfSlots(running.slots, running.state()),
  };
};
