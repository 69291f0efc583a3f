import { LogUnavailable } from '../../domain/ports/log.ts';
import { type RunningSlot } from './apply.ts';
import { type Arrival } from './arrivals.ts';
import { ReadModelsDiverged } from './divergence.ts';
import { type SqlTx, SqlUnavailable } from './ports.ts';
import {
  abandon,
  CheckpointMoved,
  dropRetired,
  type Generation,
  generations,
  lockRegistry,
  prepareReadModels,
  type Share,
  type Slot,
  versionPlanOf,
} from './registry.ts';
import { dropShares, isSpread, sharesFor } from './shares.ts';
import { fillBeside, flawForShares, type FillPart, type PartProgress, spreadOut } from './spreading.ts';
import { bigintOf, onlyRow, type Projector, sqlTypeOf, type Table, textOrNull } from './table.ts';
import {
  BATCH_MAX,
  type BuildDeps,
  type Swapped,
  beginningOf,
  buildGenerations,
  isTrusted,
  type OpenedSlot,
  openGenerations,
  withBuildLock,
} from './building.ts';

/**
 * A table whose new rows are not as many as the old ones were at the same position, or whose `column`
 * adds up to something else.
 */
interface TableDifference {
  readonly table: string;
  /** Left out where the count of rows differs. */
  readonly column?: string;
  readonly before: bigint;
  readonly after: bigint;
}

const wholeColumns = ({ columns }: Table): readonly string[] =>
  Object.entries(columns).flatMap(([name, column]) => (sqlTypeOf(column) === 'int8' ? [name] : []));

/** The count of rows under an empty name, and the sum of each int8 column under its own. */
const totals = async (
  tx: SqlTx,
  table: string,
  { schema, columns }: { readonly schema: string; readonly columns: readonly string[] },
): Promise<ReadonlyMap<string, bigint>> => {
  const sums = columns.map((column, at) => `, sum("${column}")::text as s${String(at)}`).join('');
  const row = onlyRow(await tx.query(`select count(*) as n${sums} from ${schema}.${table}`));
  const found = new Map([['', bigintOf(row, 'n')]]);
  for (const [at, column] of columns.entries())
    found.set(column, BigInt(textOrNull(row, `s${String(at)}`) ?? '0'));
  return found;
};

/** What differs between two generations of one version at one position: counts of rows, sums of int8. */
const differencesOf = async (
  tx: SqlTx,
  { tables }: Projector,
  [before, after]: readonly [Generation, Generation],
): Promise<readonly TableDifference[]> => {
  const differences: TableDifference[] = [];
  for (const one of tables) {
    const [table, columns] = [one.name, wholeColumns(one)];
    const old = await totals(tx, table, { schema: before.schema, columns });
    const fresh = await totals(tx, table, { schema: after.schema, columns });
    for (const [column, value] of fresh) {
      const was = old.get(column) ?? 0n;
      if (was === value) continue;
      differences.push({ table, ...(column !== '' && { column }), before: was, after: value });
    }
  }
  return differences;
};

interface RebuildDeps extends BuildDeps {
  readonly projectors: readonly Projector[];
  /** Does parts of a rebuild beside each other, if there are `shares`. */
  readonly fillPart?: FillPart | undefined;
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

/** Read models that are begun at the start of the log, though rows of them were there, and why. */
export interface BegunAnew {
  readonly names: readonly string[];
  readonly reason: string;
}

interface RebuildOptions {
  /** Read models to rebuild; all by default. */
  readonly names?: readonly string[];
  readonly batchMax?: number;
  readonly onProgress?: (progress: RebuildProgress) => void;
  /** Told of rows that an interrupted rebuild has left, and that are not gone on with. */
  readonly onBegunAnew?: (begunAnew: BegunAnew) => void;
  readonly signal?: AbortSignal;
  /** Keeps the built rows when `signal` aborts; the next rebuild continues from there. */
  readonly keep?: boolean;
  /** Begins at the start of the log even where an interrupted rebuild could be continued. */
  readonly fresh?: boolean;
  /** How many shares of the tenants are read and applied beside each other; 1 by default. */
  readonly shares?: number;
}

interface RebuiltReadModel {
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

/** A worker that did a part of a rebuild has ended without a word; what it has committed is good. */
export class PartLost extends Error {
  override readonly name = 'PartLost';
}

/** A slot of a rebuild, and where it continues. */
interface RebuildSlot extends RunningSlot {
  readonly resumedFrom: bigint | null;
  readonly begunAnew?: string | undefined;
}

/** Reports progress. Times are of this run alone, also when it continues another. */
const meter = (
  { timers }: BuildDeps,
  { onProgress }: RebuildOptions,
  { after, target }: { readonly after: bigint | null; readonly target: bigint },
) => {
  const began = timers.nowMs();
  const start = after ?? 0n;
  return ({ eventsDone, position }: PartProgress): void => {
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
  const after = beginningOf(slots);
  const told = meter(deps, options, { after, target: (await deps.feed.head()) ?? 0n });
  let eventsDone = 0;
  const onBatch = (batch: readonly Arrival[]): void => {
    eventsDone += batch.length;
    told({ eventsDone, position: batch.at(-1)?.position ?? after ?? 0n });
  };
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
    { batchMax, signal, rounds: 1, onBatch, beforeSwap },
  );
  return slots.map(({ projector: { name }, resumedFrom }, at) => ({
    name,
    version: swaps[at]?.after.version ?? 0,
    position: swaps[at]?.after.position ?? null,
    compared: false,
    differences: [],
    ...found.get(name),
    resumedFrom,
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

/**
 * The rebuild was interrupted from outside: the rows built so far are good. Rows that another process has moved on are
 * in its hands: a session that keeps others away may end.
 */
const isKept = (error: unknown, { keep = false, signal }: RebuildOptions): boolean =>
  error instanceof SqlUnavailable ||
  error instanceof LogUnavailable ||
  error instanceof PartLost ||
  error instanceof CheckpointMoved ||
  (keep && signal?.aborted === true);

/** How shares of tenants fill what is rebuilt; undefined: one goes through all of it. */
interface Spread {
  readonly workers: number;
  readonly shares: readonly Share[];
  readonly target: bigint;
  readonly fillPart: FillPart;
}

const spreadOf = async (
  { feed, fillPart }: RebuildDeps,
  projectors: readonly Projector[],
  { shares: workers = 1 }: RebuildOptions,
): Promise<Spread | undefined> => {
  const target = await feed.head();
  if (workers === 1 || fillPart === undefined || target === undefined) return undefined;
  return { workers, shares: sharesFor(workers, !projectors.every(isSpread)), target, fillPart };
};

interface Opened {
  readonly slots: readonly RebuildSlot[];
  /** Those that are filled by shares, once for each share. */
  readonly filled: readonly Generation[];
}

/** Opens what is to be rebuilt, as a whole or for shares. */
const openAll = (
  deps: RebuildDeps,
  projectors: readonly Projector[],
  { fresh, spread }: { readonly fresh: boolean; readonly spread: Spread | undefined },
): Promise<Opened> =>
  deps.sql.transaction(async (tx) => {
    await lockRegistry(tx);
    const shares = spread?.shares ?? [];
    const flawOf = (begun: Generation) => flawForShares(deps, tx, { begun, shares });
    const opened = await openGenerations(deps, tx, { projectors, state: 'rebuilding', fresh, flawOf });
    const withPlace = (slot: OpenedSlot, from: readonly Slot[]): RebuildSlot => ({
      ...slot,
      resumedFrom: beginningOf(from),
    });
    if (spread === undefined) return { slots: opened.map((slot) => withPlace(slot, [slot])), filled: [] };
    const filled = await spreadOut(tx, opened, shares);
    const slots = opened.map((slot) => {
      const own = filled.filter(({ name }) => name === slot.generation.name);
      const { projector } = slot;
      return withPlace(
        slot,
        own.length === 0 ? [slot] : own.map((generation) => ({ projector, generation })),
      );
    });
    return { slots, filled };
  });

/** Lets shares fill the slots beside each other up to the target, unless none of them can be spread. */
const filledBeside = async (
  deps: RebuildDeps,
  { slots, filled }: Opened,
  options: RebuildOptions & { readonly spread: Spread | undefined },
): Promise<readonly RebuildSlot[]> => {
  const { spread, batchMax = BATCH_MAX, signal } = options;
  if (spread === undefined || filled.length === 0) return slots;
  const { fillPart, ...parts } = spread;
  const after = beginningOf(
    slots.map((slot) => ({ ...slot, generation: { ...slot.generation, position: slot.resumedFrom } })),
  );
  const onProgress = meter(deps, options, { after, target: parts.target });
  const spreading = { ...parts, filled, batchMax, onProgress, signal };
  const joined = await fillBeside({ ...deps, fillPart }, slots, spreading);
  return joined.map((slot, at) => ({ ...slot, resumedFrom: slots[at]?.resumedFrom ?? null }));
};

/** Those that are begun anew, by their reason. */
const begunAnewIn = (slots: readonly RebuildSlot[]): readonly BegunAnew[] => {
  const reasons = [...new Set(slots.flatMap(({ begunAnew }) => begunAnew ?? []))];
  return reasons.map((reason) => ({
    reason,
    names: slots.filter(({ begunAnew }) => begunAnew === reason).map(({ projector }) => projector.name),
  }));
};

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
    const spread = await spreadOf(deps, projectors, options);
    const opened = await openAll(deps, projectors, { fresh, spread });
    slots.push(...opened.slots);
    for (const begunAnew of begunAnewIn(slots)) options.onBegunAnew?.(begunAnew);
    return await rebuildSlots(deps, await filledBeside(deps, opened, { ...options, spread }), options);
  } catch (error) {
    if (isKept(error, options)) throw error;
    for (const { generation } of slots) await abandon(sql, generation);
    if (slots.length > 0) await dropShares(sql);
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

/** After this long without progress a rebuild gives up; the next one continues from the built rows. */
const OUTAGE_MAX_MS = 10 * 60_000;
const FIRST_PAUSE_MS = 250;
const PAUSE_MAX_MS = 5_000;

interface OutageOptions extends RebuildOptions {
  /** Called at each outage, before waiting. */
  readonly onOutage?: (error: Error) => void;
}

/** A broken session's lock can outlive it for a moment: after an outage a busy lock is most likely our own. */
const isOutage = (error: unknown, outages: number): error is Error =>
  error instanceof SqlUnavailable ||
  error instanceof LogUnavailable ||
  error instanceof ReadModelsDiverged ||
  error instanceof PartLost ||
  (error instanceof RebuildBusy && outages > 0);

/**
 * A rebuild that waits while the event store or the database is unavailable, and then goes on; where the log was put
 * back to an older copy meanwhile, it begins anew.
 */
export const rebuildThroughOutages = async (
  deps: RebuildDeps,
  options: OutageOptions = {},
): Promise<readonly RebuiltReadModel[]> => {
  const { timers } = deps;
  let lastSeenMs = timers.nowMs();
  let outages = 0;
  let begun = false;
  const onProgress = (progress: RebuildProgress): void => {
    lastSeenMs = timers.nowMs();
    [outages, begun] = [0, true];
    options.onProgress?.(progress);
  };
  for (;;) {
    try {
      // Continues what this rebuild has begun.
      const fresh = options.fresh === true && !begun;
      return await rebuildReadModels(deps, { ...options, fresh, onProgress });
    } catch (error) {
      if (!isOutage(error, outages) || timers.nowMs() - lastSeenMs > OUTAGE_MAX_MS) throw error;
      options.signal?.throwIfAborted();
      options.onOutage?.(error);
      await timers.sleep(Math.min(PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** outages));
      outages += 1;
    }
  }
};
