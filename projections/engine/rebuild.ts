import type { RunningSlot } from './applyBatch.ts';
import { advance, BATCH_MAX } from './replay.ts';
import type { Arrival } from './arrivals.ts';
import { bigintOf, bigintOrNull, onlyRow } from './columns.ts';
import type { SqlTx } from './ports.ts';
import type { RebuildDeps } from './replay.ts';
import { prepareReadModels } from './prepare.ts';
import type { Projector } from './projector.ts';
import type { Generation } from './registry.ts';
import { abandon, createGeneration, dropRetired, generations, lockRegistry, promote } from './registry.ts';

export interface RebuildProgress {
  readonly eventsDone: number;
  readonly position: bigint;
  /** Where the log ended when the rebuild began. */
  readonly target: bigint;
  readonly eventsPerSecond: number;
}

export interface RebuildOptions {
  /** Read models to rebuild; all by default. */
  readonly names?: readonly string[];
  readonly batchMax?: number;
  readonly onProgress?: (progress: RebuildProgress) => void;
  readonly signal?: AbortSignal;
}

/** A table whose new rows are not as many as the old ones were at the same position. */
export interface RowCountDifference {
  readonly table: string;
  readonly before: bigint;
  readonly after: bigint;
}

export interface RebuiltReadModel {
  readonly name: string;
  readonly version: number;
  readonly position: bigint | null;
  /** False where old and new rows stood at different positions or versions and were not compared. */
  readonly compared: boolean;
  /** What was wrong with the old rows; the new ones are from the log and serve now. */
  readonly differences: readonly RowCountDifference[];
}

/** Another rebuild is running, here or in another process. */
export class RebuildBusy extends Error {
  override readonly name = 'RebuildBusy';
}

/** The advisory lock of the one rebuild at a time. */
export const REBUILD_LOCK = 0x72627569n;
const rowCount = async (tx: SqlTx, schema: string, table: string): Promise<bigint> =>
  bigintOf(onlyRow(await tx.query(`select count(*) as n from ${schema}.${table}`)), 'n');

const differencesOf = async (
  tx: SqlTx,
  { tables }: Projector,
  [before, after]: readonly [Generation, Generation],
): Promise<readonly RowCountDifference[]> => {
  const differences: RowCountDifference[] = [];
  for (const { name } of tables) {
    const [old, fresh] = [await rowCount(tx, before.schema, name), await rowCount(tx, after.schema, name)];
    if (old !== fresh) differences.push({ table: name, before: old, after: fresh });
  }
  return differences;
};

/**
 * Puts a rebuilt generation in place of the one that serves. It locks the old checkpoint, so that a
 * runner cannot move it meanwhile, goes on to the same position, compares and swaps: all in one
 * transaction. The runner then finds its checkpoint gone and continues with the new generation.
 */
const swap = async (deps: RebuildDeps, slot: RunningSlot): Promise<RebuiltReadModel> => {
  const { projector } = slot;
  return deps.sql.transaction(async (tx) => {
    const before = slot.generation;
    await tx.query('select 1 from projections.registry where name = $1 and serves for update', [
      projector.name,
    ]);
    const serving = (await generations(tx, projector.name)).find(({ serves }) => serves);
    if (serving === undefined) throw new Error(`nothing serves ${projector.name}`);
    const trial: RunningSlot = { projector, generation: before };
    if (serving.position !== null) {
      const { position: target } = serving;
      const stretch = { after: before.position, target, batchMax: BATCH_MAX, signal: undefined };
      await advance(deps, [trial], { ...stretch, within: tx });
    }
    const { generation } = trial;
    const compared = serving.version === generation.version && serving.position === generation.position;
    const differences = compared ? await differencesOf(tx, projector, [serving, generation]) : [];
    await promote(tx, projector, generation);
    const { name, version, position } = generation;
    return { name, version, position, compared, differences };
  });
};

/** Brings a slot up to the checkpoint that serves, so that little is left to do while that is locked. */
const followServing = async (
  deps: RebuildDeps,
  slot: RunningSlot,
  options: RebuildOptions,
): Promise<void> => {
  const [row] = await deps.sql.query('select position from projections.registry where name = $1 and serves', [
    slot.projector.name,
  ]);
  const target = row === undefined ? null : bigintOrNull(row, 'position');
  if (target === null) return;
  const { batchMax = BATCH_MAX, signal } = options;
  await advance(deps, [slot], { after: slot.generation.position, target, batchMax, signal });
};

const build = async (
  deps: RebuildDeps,
  slots: readonly RunningSlot[],
  options: RebuildOptions,
): Promise<readonly RebuiltReadModel[]> => {
  const { sql, feed, timers } = deps;
  const { batchMax = BATCH_MAX, onProgress, signal } = options;
  const target = await feed.head();
  const began = timers.nowMs();
  let eventsDone = 0;
  const onBatch = (batch: readonly Arrival[]) => {
    eventsDone += batch.length;
    const position = batch.at(-1)?.position ?? 0n;
    const seconds = Math.max(timers.nowMs() - began, 1) / 1000;
    onProgress?.({ eventsDone, position, target: target ?? 0n, eventsPerSecond: eventsDone / seconds });
  };
  if (target !== undefined) await advance(deps, slots, { after: null, target, batchMax, signal, onBatch });
  const rebuilt: RebuiltReadModel[] = [];
  for (const slot of slots) {
    await followServing(deps, slot, options);
    rebuilt.push(await swap(deps, slot));
  }
  await dropRetired(sql);
  return rebuilt;
};

const freshSlots = async (tx: SqlTx, projectors: readonly Projector[]): Promise<readonly RunningSlot[]> => {
  await lockRegistry(tx);
  const slots: RunningSlot[] = [];
  for (const projector of projectors) {
    slots.push({ projector, generation: await createGeneration(tx, projector, 'rebuilding') });
  }
  return slots;
};

/**
 * Builds read models anew from the start of the log, beside the tables that serve, and swaps them in,
 * each in one transaction. A rebuild that fails or is aborted leaves everything as it was.
 */
export const rebuildReadModels = async (
  deps: RebuildDeps,
  options: RebuildOptions = {},
): Promise<readonly RebuiltReadModel[]> => {
  const { sql, projectors } = deps;
  const lock = await sql.tryLock(REBUILD_LOCK);
  if (lock === undefined) throw new RebuildBusy('another rebuild is running');
  const wanted = projectors.filter(({ name }) => options.names?.includes(name) ?? true);
  const slots: RunningSlot[] = [];
  try {
    await prepareReadModels(sql, projectors);
    const leftovers = (await generations(sql)).filter(({ state }) => state === 'rebuilding');
    for (const generation of leftovers) await abandon(sql, generation);
    slots.push(...(await sql.transaction((tx) => freshSlots(tx, wanted))));
    return await build({ ...deps, projectors: wanted }, slots, options);
  } catch (error) {
    for (const { generation } of slots) await abandon(sql, generation);
    await dropRetired(sql);
    throw error;
  } finally {
    await lock.release();
  }
};
