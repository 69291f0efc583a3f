import { identityOf } from '../../../domain/eventLog/identity.ts';
import type { RunningSlot } from '../apply/applyBatch.ts';
import { SqlUnavailable } from '../ports.ts';
import type { Sql, SqlTx } from '../ports.ts';
import type { Slot } from '../apply/prepare.ts';
import { prepareReadModels } from '../apply/prepare.ts';
import { REBUILD_LOCK } from './rebuild.ts';
import type { Generation } from '../registry.ts';
import {
  CheckpointMoved,
  createGeneration,
  generations,
  lockRegistry,
  markStopped,
  resume,
} from '../registry.ts';
import { abandon, dropRetired, leftBehind } from './retire.ts';
import { advance } from './replay.ts';
import type { RebuildDeps } from './replay.ts';
import type { KnownModels } from './standing.ts';
import { standingOf, stoppedBuild } from './standing.ts';
import { beginningOf, followServing, isTrusted, lockServing, swapIn } from '../apply/swap.ts';

export interface BuildDeps extends RebuildDeps, KnownModels {}

export interface BuildOptions {
  readonly batchMax: number;
  readonly signal: AbortSignal;
  /** Generations that had stopped try again: the program may have been repaired. */
  readonly afresh: boolean;
}

/** What became of what was due. */
export interface Built {
  readonly promoted: readonly Slot[];
  readonly stopped: readonly { readonly slot: Slot; readonly reason: string }[];
}

const NOTHING: Built = { promoted: [], stopped: [] };

/** Longer than a batch takes, shorter than anybody waits: how often a build closes up before the swap. */
const CLOSING_ROUNDS = 3;

const dueNow = async (sql: SqlTx, known: KnownModels): Promise<readonly Slot[]> =>
  standingOf(await generations(sql), known).due;

/**
 * The generation to fill, beside the one that serves: one that was begun, or a new one. A read model that is
 * new altogether has an empty one that serves; it stays empty, for a position in it would tell an older
 * process to stand aside, and ours to follow the log from there for all.
 */
const generationFor = async (deps: BuildDeps, tx: SqlTx, { projector }: Slot): Promise<Generation> => {
  const beside = (await generations(tx, projector.name)).filter(
    ({ serves, state }) => !serves && state !== 'rebuilding',
  );
  for (const other of beside) if (other.version < projector.version) await abandon(tx, other);
  const begun = beside.find(({ version }) => version === projector.version);
  if (begun === undefined || (await isTrusted(deps, begun)))
    return begun ?? createGeneration(tx, projector, 'building');
  await abandon(tx, begun);
  return createGeneration(tx, projector, 'building');
};

const openBuilds = (deps: BuildDeps, afresh: boolean): Promise<readonly RunningSlot[]> =>
  deps.sql.transaction(async (tx) => {
    await lockRegistry(tx);
    const logId = (await identityOf(deps.feed)) ?? null;
    const slots: RunningSlot[] = [];
    for (const slot of await dueNow(tx, deps)) {
      const generation = await generationFor(deps, tx, slot);
      const isStopped = generation.state === 'stopped';
      if (isStopped && !afresh) continue;
      if (isStopped) await resume(tx, generation);
      slots.push({
        projector: slot.projector,
        generation: { ...generation, logId, state: 'building', reason: null },
      });
    }
    return slots;
  });

/** Throws CheckpointMoved when a release that is newer still has come meanwhile. */
const swapAll = (deps: BuildDeps, slots: readonly RunningSlot[]): Promise<void> =>
  deps.sql.transaction(async (tx) => {
    await lockRegistry(tx);
    await lockServing(
      tx,
      slots.map(({ projector }) => projector.name),
    );
    const due = await dueNow(tx, deps);
    for (const slot of slots) {
      if (!due.some(({ projector }) => projector.name === slot.projector.name))
        throw new CheckpointMoved(`${slot.projector.name} is not to be built any more`);
      await swapIn({ ...deps, projectors: [slot.projector] }, tx, { slot });
    }
  });

const buildTogether = async (
  deps: BuildDeps,
  slots: readonly RunningSlot[],
  { batchMax, signal }: BuildOptions,
): Promise<void> => {
  const own = { ...deps, projectors: slots.map(({ projector }) => projector) };
  for (let round = 0; round < CLOSING_ROUNDS; round += 1) {
    const target = await deps.feed.head();
    if (target === undefined) break;
    await advance(own, slots, { after: beginningOf(slots), target, batchMax, signal });
  }
  for (const slot of slots)
    await followServing({ ...deps, projectors: [slot.projector] }, slot, { batchMax, signal });
  signal.throwIfAborted();
  await swapAll(deps, slots);
};

const isForTheRunner = (error: unknown, signal: AbortSignal): boolean =>
  signal.aborted || error instanceof CheckpointMoved || error instanceof SqlUnavailable;

/** Each by itself, after they failed together: one that cannot be built stops, and keeps no other. */
const buildApart = async (deps: BuildDeps, options: BuildOptions): Promise<Built> => {
  const promoted: Slot[] = [];
  const stopped: { slot: Slot; reason: string }[] = [];
  for (const slot of await openBuilds(deps, options.afresh)) {
    try {
      await buildTogether(deps, [slot], options);
      promoted.push(slot);
    } catch (error) {
      if (isForTheRunner(error, options.signal)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      const position = slot.generation.position ?? 0n;
      await markStopped(deps.sql, slot.generation, { position, eventId: '', reason });
      stopped.push({ slot, reason });
    }
  }
  return { promoted, stopped };
};

const build = async (deps: BuildDeps, options: BuildOptions): Promise<Built> => {
  const slots = await openBuilds(deps, options.afresh);
  if (slots.length === 0) return NOTHING;
  try {
    await buildTogether(deps, slots, options);
    return { promoted: slots, stopped: [] };
  } catch (error) {
    if (isForTheRunner(error, options.signal)) throw error;
  }
  return buildApart(deps, options);
};

/** Newer versions that somebody began and left, an upgrade that was taken back: their tables only take room. */
const dropLeftBehind = async (sql: Sql, followed: readonly Slot[]): Promise<void> => {
  let left = 0;
  for (const { projector } of followed) {
    const found = await leftBehind(sql, projector.name, projector.version);
    for (const generation of found) await abandon(sql, generation);
    left += found.length;
  }
  if (left > 0) await dropRetired(sql);
};

/**
 * Builds the read models that serve in an older version than this process knows, beside the old tables,
 * and puts them in their place, all in one transaction. It needs no projector lock: an older process goes
 * on keeping the old tables up meanwhile. Does nothing while another process builds or rebuilds. A build
 * that was interrupted goes on from its checkpoint. Throws what the runner should wait out.
 */
export const buildDue = async (deps: BuildDeps, options: BuildOptions): Promise<Built> => {
  const { sql } = deps;
  if (options.afresh) await prepareReadModels(sql, deps.projectors);
  const all = await generations(sql);
  const { due, followed, newer } = standingOf(all, deps);
  if (due.length === 0 && newer.length === 0 && options.afresh) await dropLeftBehind(sql, followed);
  // What has stopped waits for a rebuild or a restart: a lock taken for it would only keep the rebuild off.
  const isTried = ({ projector }: Slot) => options.afresh || stoppedBuild(all, projector) === undefined;
  if (!due.some(isTried)) return NOTHING;
  const lock = await sql.tryLock(REBUILD_LOCK);
  if (lock === undefined) return NOTHING;
  try {
    const built = await build(deps, options);
    await dropRetired(sql);
    return built;
  } finally {
    await lock.release().catch(() => undefined);
  }
};
