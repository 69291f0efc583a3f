import { LogUnavailable } from '../../../domain/ports/eventStore.ts';
import type { RunningSlot } from '../apply/applyBatch.ts';
import type { Arrival } from '../feed/arrivals.ts';
import { beginningOf, type BuildDeps } from './catchUp.ts';
import { BATCH_MAX, buildGenerations, isTrusted, openGenerations, withBuildLock } from './generationBuild.ts';
import type { Swapped } from './generationBuild.ts';
import type { SqlTx } from '../ports.ts';
import { SqlUnavailable } from '../ports.ts';
import { prepareReadModels } from '../apply/prepare.ts';
import type { Projector } from '../projector.ts';
import { generations, lockRegistry } from '../registry.ts';
import { abandon, dropRetired } from './retire.ts';
import { versionPlanOf } from './versionPlan.ts';
import type { TableDifference } from './verify.ts';
import { differencesOf } from './verify.ts';

export interface RebuildDeps extends BuildDeps {
  readonly projectors: readonly Projector[];
}

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
  /** Keeps what was built when `signal` aborts; the next rebuild goes on from there. */
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

/** A slot of a rebuild, and from where it goes on. */
interface RebuildSlot extends RunningSlot {
  readonly resumedFrom: bigint | null;
}

/** Counts batches and reports progress. Times are of this run alone, also when it continues another. */
const meter = (
  { timers }: BuildDeps,
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

/** Fills all in one reading, and puts each in place by itself. */
const rebuildSlots = async (
  deps: BuildDeps,
  slots: readonly RebuildSlot[],
  options: RebuildOptions,
): Promise<readonly RebuiltReadModel[]> => {
  const { batchMax = BATCH_MAX, signal } = options;
  const stretch = { after: beginningOf(slots), target: (await deps.feed.head()) ?? 0n };
  const found = new Map<string, Pick<RebuiltReadModel, 'compared' | 'differences'>>();
  const beforeSwap = async (
    tx: SqlTx,
    { projector }: RunningSlot,
    { before, after }: Swapped,
  ): Promise<void> => {
    const isSamePlace = before.version === after.version && before.position === after.position;
    // Rows of another log differ rightly.
    const compared = isSamePlace && (await isTrusted(deps, before));
    const differences = compared ? await differencesOf(tx, projector, [before, after]) : [];
    found.set(projector.name, { compared, differences });
  };
  const swaps = await buildGenerations(
    deps,
    slots.map((slot) => [slot]),
    { batchMax, signal, rounds: 1, onBatch: meter(deps, options, stretch), beforeSwap },
  );
  return slots.map(({ projector: { name }, resumedFrom }, at) => ({
    ...{ name, version: swaps[at]?.after.version ?? 0, position: swaps[at]?.after.position ?? null },
    ...{ compared: false, differences: [], ...found.get(name), resumedFrom },
  }));
};

/** An older release puts its own version back only for read models that were named. */
const refuseDowngrade = async (tx: SqlTx, wanted: readonly Projector[], names?: readonly string[]) => {
  const { newer } = versionPlanOf(await generations(tx), { projectors: wanted });
  const found = newer.filter(({ name, known }) => known !== null && names?.includes(name) !== true);
  if (found.length === 0) return;
  const list = found.map(({ name, version, known }) => `${name} (${String(version)}, here ${String(known)})`);
  throw new NewerServes(
    `a newer release serves ${list.join(', ')}: name these read models to go back to the older version`,
  );
};

/** The rebuild was interrupted from outside: the rows built so far are good. */
const isKept = (error: unknown, { keep = false, signal }: RebuildOptions): boolean =>
  error instanceof SqlUnavailable || error instanceof LogUnavailable || (keep && signal?.aborted === true);

const rebuildLocked = async (
  deps: RebuildDeps,
  options: RebuildOptions,
): Promise<readonly RebuiltReadModel[]> => {
  const { sql } = deps;
  const { names, fresh = false } = options;
  const projectors = deps.projectors.filter(({ name }) => names?.includes(name) ?? true);
  const slots: RebuildSlot[] = [];
  try {
    await prepareReadModels(sql, deps.projectors);
    await refuseDowngrade(sql, projectors, names);
    const opened = await sql.transaction(async (tx) => {
      await lockRegistry(tx);
      return openGenerations(deps, tx, { projectors, state: 'rebuilding', fresh });
    });
    slots.push(...opened.map((slot) => ({ ...slot, resumedFrom: slot.generation.position })));
    return await rebuildSlots(deps, slots, options);
  } catch (error) {
    if (isKept(error, options)) throw error;
    for (const { generation } of slots) await abandon(sql, generation);
    await dropRetired(sql);
    throw error;
  }
};

/**
 * Builds read models from the start of the log, beside the tables that serve, and swaps them in,
 * each in one transaction. A rebuild that fails or is aborted leaves everything as it was. One that was
 * interrupted (the process or the database went away, or an abort with `keep`) is continued by the next
 * from where its rows stand, as long as the read model has the same version.
 */
export const rebuildReadModels = async (
  deps: RebuildDeps,
  options: RebuildOptions = {},
): Promise<readonly RebuiltReadModel[]> => {
  const rebuilt = await withBuildLock(deps.sql, () => rebuildLocked(deps, options));
  if (rebuilt === undefined) throw new RebuildBusy('another rebuild is running');
  return rebuilt;
};
