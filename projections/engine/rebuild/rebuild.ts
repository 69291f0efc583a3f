import { identityOf } from '../../../domain/eventLog/identity.ts';
import { LogUnavailable } from '../../../domain/ports/eventStore.ts';
import type { RunningSlot } from '../apply/applyBatch.ts';
import { advance, BATCH_MAX } from './replay.ts';
import type { Arrival } from '../feed/arrivals.ts';
import type { SqlTx } from '../ports.ts';
import { SqlUnavailable } from '../ports.ts';
import type { RebuildDeps } from './replay.ts';
import { prepareReadModels } from '../apply/prepare.ts';
import type { Projector } from '../projector.ts';
import type { Generation } from '../registry.ts';
import { createGeneration, generations, lockRegistry } from '../registry.ts';
import { abandon, dropRetired } from './retire.ts';
import type { Swapped } from '../apply/swap.ts';
import { beginningOf, followServing, isTrusted, lockServing, swapIn } from '../apply/swap.ts';
import { standingOf } from './standing.ts';
import type { TableDifference } from './verify.ts';
import { differencesOf } from './verify.ts';

export interface RebuildProgress {
  readonly eventsDone: number;
  readonly position: bigint;
  /** Where the log ended when the rebuild began. */
  readonly target: bigint;
  readonly eventsPerSecond: number;
  /** Seconds left at the pace so far; null until there is one. */
  readonly secondsLeft: number | null;
  /** Part of the log that is done, 0 to 1. */
  readonly share: number;
}

export interface RebuildOptions {
  /** Read models to rebuild; all by default. */
  readonly names?: readonly string[];
  readonly batchMax?: number;
  readonly onProgress?: (progress: RebuildProgress) => void;
  readonly signal?: AbortSignal;
  /** Keeps what was built when `signal` aborts, for the next rebuild to go on from. */
  readonly keep?: boolean;
  /** Begins at the start of the log even where an interrupted rebuild could be continued. */
  readonly fresh?: boolean;
}

export interface RebuiltReadModel {
  readonly name: string;
  readonly version: number;
  readonly position: bigint | null;
  /** False where old and new rows stood at different positions or versions and were not compared. */
  readonly compared: boolean;
  /** What was wrong with the old rows; the new ones are from the log and serve now. */
  readonly differences: readonly TableDifference[];
  /** Position from which an interrupted rebuild was continued; null when it began at the start. */
  readonly resumedFrom: bigint | null;
}

/** Another rebuild is running, here or in another process. */
export class RebuildBusy extends Error {
  override readonly name = 'RebuildBusy';
}

/** A newer release serves the read models, and the rebuild did not name them. */
export class NewerServes extends Error {
  override readonly name = 'NewerServes';
}

/** The advisory lock of the one rebuild at a time. */
export const REBUILD_LOCK = 0x72627569n;

/** A slot of a rebuild, and from where it goes on. */
interface RebuildSlot extends RunningSlot {
  readonly resumedFrom: bigint | null;
}

/**
 * Puts a rebuilt generation in place of the one that serves: locks the old checkpoint, so that a runner
 * cannot move it meanwhile, goes on to the same position, compares and swaps, all in one transaction. The
 * runner then finds its checkpoint gone and continues with the new generation.
 */
const swap = (deps: RebuildDeps, slot: RebuildSlot): Promise<RebuiltReadModel> =>
  deps.sql.transaction(async (tx) => {
    const { projector, resumedFrom } = slot;
    let compared = false;
    let differences: readonly TableDifference[] = [];
    await lockServing(tx, [projector.name]);
    const compare = async ({ before, after: next }: Swapped): Promise<void> => {
      // Rows of another log differ as they should.
      const isSameLog = await isTrusted(deps, before);
      compared = isSameLog && before.version === next.version && before.position === next.position;
      if (compared) differences = await differencesOf(tx, projector, [before, next]);
    };
    const { after } = await swapIn(deps, tx, { slot, compare });
    const { name, version, position } = after;
    return { name, version, position, compared, differences, resumedFrom };
  });

/** Counts batches, and tells of them. Times are of this run: a continued rebuild begins where it left off. */
const meter = (
  { timers }: RebuildDeps,
  { onProgress }: RebuildOptions,
  { after, target }: { readonly after: bigint | null; readonly target: bigint },
) => {
  const began = timers.nowMs();
  const start = after ?? 0n;
  let eventsDone = 0;
  return (batch: readonly Arrival[]): void => {
    eventsDone += batch.length;
    const position = batch.at(-1)?.position ?? start;
    const seconds = Math.max(timers.nowMs() - began, 1) / 1000;
    const [done, left] = [Number(position - start), Number(target - position)];
    const secondsLeft = done <= 0 ? null : (seconds * Math.max(left, 0)) / done;
    const share = target === 0n ? 1 : Math.min(Number(position) / Number(target), 1);
    onProgress?.({ eventsDone, position, target, eventsPerSecond: eventsDone / seconds, secondsLeft, share });
  };
};

const build = async (
  deps: RebuildDeps,
  slots: readonly RebuildSlot[],
  options: RebuildOptions,
): Promise<readonly RebuiltReadModel[]> => {
  const { sql, feed } = deps;
  const { batchMax = BATCH_MAX, signal } = options;
  const target = await feed.head();
  if (target !== undefined && slots.length > 0) {
    const stretch = { after: beginningOf(slots), target };
    const onBatch = meter(deps, options, stretch);
    await advance(deps, slots, { ...stretch, batchMax, signal, onBatch });
  }
  const rebuilt: RebuiltReadModel[] = [];
  for (const slot of slots) {
    await followServing(deps, slot, options);
    signal?.throwIfAborted();
    rebuilt.push(await swap(deps, slot));
  }
  await dropRetired(sql);
  return rebuilt;
};

/** What an interrupted rebuild has left of this version and this log. */
const usableOf = async (
  deps: RebuildDeps,
  { version }: Projector,
  left: readonly Generation[],
): Promise<Generation | undefined> => {
  const found = left.find((one) => one.version === version && one.position !== null);
  return found !== undefined && (await isTrusted(deps, found)) ? found : undefined;
};

/** A generation for each: the one that an interrupted rebuild has left, or a new one. */
const openSlots = async (
  deps: RebuildDeps,
  tx: SqlTx,
  { wanted, fresh }: { readonly wanted: readonly Projector[]; readonly fresh: boolean },
): Promise<readonly RebuildSlot[]> => {
  await lockRegistry(tx);
  const logId = (await identityOf(deps.feed)) ?? null;
  const slots: RebuildSlot[] = [];
  for (const projector of wanted) {
    const left = (await generations(tx, projector.name)).filter(({ state }) => state === 'rebuilding');
    const usable = fresh ? undefined : await usableOf(deps, projector, left);
    for (const generation of left) if (generation !== usable) await abandon(tx, generation);
    const generation = usable ?? (await createGeneration(tx, projector, 'rebuilding'));
    slots.push({ projector, generation: { ...generation, logId }, resumedFrom: generation.position });
  }
  return slots;
};

/** An older release puts its own version back only where it was told to by name. */
const refuseDowngrade = async (tx: SqlTx, wanted: readonly Projector[], names?: readonly string[]) => {
  const { newer } = standingOf(await generations(tx), { projectors: wanted });
  const found = newer.filter(({ name, known }) => known !== null && names?.includes(name) !== true);
  if (found.length === 0) return;
  const list = found.map(({ name, version, known }) => `${name} (${String(version)}, here ${String(known)})`);
  throw new NewerServes(
    `a newer release serves ${list.join(', ')}: name these read models to go back to the older version`,
  );
};

/** Interrupted from outside, not failed: what was built is good. */
const isKept = (error: unknown, { keep = false, signal }: RebuildOptions): boolean =>
  error instanceof SqlUnavailable || error instanceof LogUnavailable || (keep && signal?.aborted === true);

/**
 * Builds read models anew from the start of the log, beside the tables that serve, and swaps them in,
 * each in one transaction. A rebuild that fails or is aborted leaves everything as it was. One that was
 * interrupted (the process or the database went away, or an abort with `keep`) is continued by the next
 * from where its rows stand, as long as the read model has the same version.
 */
export const rebuildReadModels = async (
  deps: RebuildDeps,
  options: RebuildOptions = {},
): Promise<readonly RebuiltReadModel[]> => {
  const { sql, projectors } = deps;
  const lock = await sql.tryLock(REBUILD_LOCK);
  if (lock === undefined) throw new RebuildBusy('another rebuild is running');
  const wanted = projectors.filter(({ name }) => options.names?.includes(name) ?? true);
  const slots: RebuildSlot[] = [];
  try {
    await prepareReadModels(sql, projectors);
    await refuseDowngrade(sql, wanted, options.names);
    const fresh = options.fresh ?? false;
    slots.push(...(await sql.transaction((tx) => openSlots(deps, tx, { wanted, fresh }))));
    return await build({ ...deps, projectors: wanted }, slots, options);
  } catch (error) {
    if (isKept(error, options)) throw error;
    for (const { generation } of slots) await abandon(sql, generation);
    await dropRetired(sql);
    throw error;
  } finally {
    await lock.release();
  }
};
