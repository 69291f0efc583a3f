import { type FeedItem, type KnownLog, LogUnavailable } from '../../domain/ports/log.ts';
import { applyCheckpointed, moveOn, type RunningSlot } from './apply.ts';
import {
  type AppliedBatch,
  type Arrival,
  arrivalsFrom,
  type ProjectionNotice,
  type RunnerTuning,
} from './arrivals.ts';
import { type DecodeEvent, type Sql, type SqlTx, SqlUnavailable, type Timers } from './ports.ts';
import {
  abandon,
  createGeneration,
  dropRetired,
  type Generation,
  generations,
  type KnownModels,
  lockRegistry,
  prepareReadModels,
  promote,
  type Slot,
  versionPlanOf,
} from './registry.ts';
import {
  bigintOf,
  onlyRow,
  type Projector,
  READ_SCHEMA,
  sqlTypeOf,
  type Table,
  textOf,
  textOrNull,
} from './table.ts';
import { identityOf } from '../../domain/eventLog/eventLog.ts';
import { divergenceOf } from './divergence.ts';

/** What building generations needs. */
export interface BuildDeps {
  readonly sql: Sql;
  readonly feed: KnownLog;
  readonly decode: DecodeEvent;
  readonly timers: Timers;
}

/** After so many events the database's answers get their turn. */
const BREATH = 200;

/** A part of the log: what lies after a position, up to and with another. */
interface Stretch {
  readonly after: bigint | null;
  readonly target: bigint;
  readonly batchMax: number;
  readonly signal?: AbortSignal | undefined;
}

const eitherOf = (own: AbortSignal, callers: AbortSignal | undefined): AbortSignal =>
  callers === undefined ? own : AbortSignal.any([callers, own]);

/** How far an item says that the log was read; its end is the target. */
const placeOf = (item: FeedItem, target: bigint): bigint => {
  if (item.kind === 'caught_up') return target;
  return item.kind === 'event' ? item.event.position : item.position;
};

/**
 * The stretch in batches: what follows the target, or the end of the log, tells that it is reached. The
 * last arrival is at the target, whether an event is there or not.
 */
const batchesUpTo = async function* (
  { feed, decode, timers }: BuildDeps,
  projectors: readonly Projector[],
  { after, target, batchMax, signal }: Stretch,
): AsyncGenerator<readonly Arrival[]> {
  const toArrival = arrivalsFrom(projectors, decode);
  const done = new AbortController();
  const options = { after: after ?? undefined, signal: eitherOf(done.signal, signal) };
  let batch: Arrival[] = [];
  try {
    for await (const item of feed.subscribe(options)) {
      const position = placeOf(item, target);
      if (item.kind !== 'caught_up' && position <= target) batch.push(toArrival(item));
      if (position >= target) break;
      if (batch.length % BREATH === 0) await timers.sleep(0);
      if (batch.length < batchMax) continue;
      yield batch;
      batch = [];
    }
  } finally {
    done.abort();
  }
  signal?.throwIfAborted();
  yield [...batch, { position: target }];
};

/** Begins the next item before the one in hand is done with: here reading goes on while SQL is written. */
const oneAhead = async function* <T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  const begin = () => {
    const step = source.next();
    // Its reader hears of a failure; until it awaits the step, the failure must not end the process.
    step.catch(() => undefined);
    return step;
  };
  let next = begin();
  try {
    for (;;) {
      const step = await next;
      if (step.done === true) return;
      next = begin();
      yield step.value;
    }
  } finally {
    await source.return(undefined);
  }
};

const throwUndecodable = (batch: readonly Arrival[]): void => {
  for (const { position, undecodable } of batch) {
    if (undecodable !== undefined) throw new Error(`event at position ${String(position)}: ${undecodable}`);
  }
};

interface CatchUpOptions extends Omit<Stretch, 'after'> {
  /** The caller's transaction; without it each batch has one of its own. */
  readonly within?: SqlTx;
  readonly onBatch?: (batch: readonly Arrival[]) => void;
}

/**
 * Two transactions at a time, each for every other slot: a generation that is being built has a checkpoint
 * of its own, and Postgres works on both while the next batch is read.
 */
const applyApart = async (
  { sql }: BuildDeps,
  slots: readonly RunningSlot[],
  batch: readonly Arrival[],
): Promise<void> => {
  const halves = [0, 1]
    .map((half) => slots.filter((_, at) => at % 2 === half))
    .filter(({ length }) => length > 0);
  const results = await Promise.allSettled(
    halves.map((half) => sql.transaction((tx) => applyCheckpointed(tx, half, batch))),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
};

/** Where reading has to begin for all slots: the lowest position, or null for the start of the log. */
const beginningOf = (slots: readonly Slot[]): bigint | null =>
  slots
    .map(({ generation: { position } }) => position)
    .reduce((low, at) => (low === null || at === null ? null : at < low ? at : low));

/** Brings slots up to a position of the log. Throws at the first event that cannot be applied. */
const catchUp = async (
  deps: BuildDeps,
  slots: readonly RunningSlot[],
  { within, onBatch, ...options }: CatchUpOptions,
): Promise<void> => {
  if (slots.length === 0) return;
  const after = beginningOf(slots);
  if (after !== null && after >= options.target) return;
  const projectors = slots.map(({ projector }) => projector);
  for await (const batch of oneAhead(batchesUpTo(deps, projectors, { ...options, after }))) {
    throwUndecodable(batch);
    if (within === undefined) await applyApart(deps, slots, batch);
    else await applyCheckpointed(within, slots, batch);
    moveOn(slots, batch);
    onBatch?.(batch);
  }
};

/** One table's size and a digest of its rows in the order of their key. */
interface TableDump {
  readonly table: string;
  readonly rows: bigint;
  readonly digest: string;
}

/** Digests of all tables of a read model: equal dumps mean equal rows. By default the ones that serve. */
export const dumpReadModel = async (
  sql: SqlTx,
  { tables }: Projector,
  schema: string = READ_SCHEMA,
): Promise<readonly TableDump[]> => {
  const dumps: TableDump[] = [];
  for (const { name, key } of tables) {
    const order = key.map((column) => `to_jsonb(t.${column})::text collate "C"`).join(', ');
    const row = onlyRow(
      await sql.query(
        `select count(*) as rows, md5(coalesce(string_agg(md5(to_jsonb(t)::text), '' order by ${order}), ''))
           as digest from ${schema}.${name} t`,
      ),
    );
    dumps.push({ table: name, rows: bigintOf(row, 'rows'), digest: textOf(row, 'digest') });
  }
  return dumps;
};

/** The advisory lock of the one build at a time. */
export const BUILD_LOCK = 0x72627569n;
const BATCH_MAX = 4000;

/** Does `work` and drops what it retired, while no other process builds; undefined when one does. */
export const withBuildLock = async <T>(sql: Sql, work: () => Promise<T>): Promise<T | undefined> => {
  const lock = await sql.tryLock(BUILD_LOCK);
  if (lock === undefined) return undefined;
  try {
    const done = await work();
    await dropRetired(sql);
    return done;
  } finally {
    await lock.release().catch(() => undefined);
  }
};

/** Whether a checkpoint is of the log that is there: one that is not says nothing about how far to go. */
const isTrusted = async ({ feed }: BuildDeps, generation: Generation): Promise<boolean> =>
  (await divergenceOf(feed, [generation])) === undefined;

interface OpenOptions {
  /** `building` for a new version, `rebuilding` for the rows of a version that serves already. */
  readonly state: 'building' | 'rebuilding';
  /** Begins at the start of the log even where an interrupted build could be continued. */
  readonly fresh: boolean;
}

/**
 * A generation for each read model, beside the one that serves: the one that an interrupted build of the same
 * version and log has left, or a new one. Call it in a transaction that holds `lockRegistry`.
 *
 * A read model that is new altogether has an empty generation that serves. It stays empty: a position in it
 * would tell an older process to stand aside, and ours to follow the log from there.
 */
export const openGenerations = async (
  deps: BuildDeps,
  tx: SqlTx,
  { projectors, state, fresh }: OpenOptions & { readonly projectors: readonly Projector[] },
): Promise<readonly RunningSlot[]> => {
  const logId = (await identityOf(deps.feed)) ?? null;
  const slots: RunningSlot[] = [];
  for (const projector of projectors) {
    const left = (await generations(tx, projector.name)).filter(
      (one) => !one.serves && (one.state === 'rebuilding') === (state === 'rebuilding'),
    );
    const begun = fresh ? undefined : left.find(({ version }) => version === projector.version);
    const usable = begun !== undefined && (await isTrusted(deps, begun)) ? begun : undefined;
    for (const one of left) if (one !== usable) await abandon(tx, one);
    const generation = usable ?? (await createGeneration(tx, projector, state));
    slots.push({ projector, generation: { ...generation, logId } });
  }
  return slots;
};

/** What was put in place of what. */
interface Swapped {
  readonly before: Generation;
  readonly after: Generation;
}

const servingOf = async (sql: SqlTx, { name }: Projector): Promise<Generation> => {
  const serving = (await generations(sql, name)).find(({ serves }) => serves);
  if (serving === undefined) throw new Error(`nothing serves ${name}`);
  return serving;
};

/** Goes on to the checkpoint that serves; a checkpoint of another log is no target. */
const catchUpToServing = async (
  deps: BuildDeps,
  slot: RunningSlot,
  options: { readonly batchMax: number; readonly signal?: AbortSignal | undefined; readonly within?: SqlTx },
): Promise<Generation> => {
  const serving = await servingOf(options.within ?? deps.sql, slot.projector);
  const { position: target } = serving;
  if (target !== null && (await isTrusted(deps, serving)))
    await catchUp(deps, [slot], { ...options, target });
  return serving;
};

interface BuildOptions {
  readonly batchMax: number;
  readonly signal?: AbortSignal | undefined;
  /** How often to go on to the head that the log has by then, before the last steps to the one that serves. */
  readonly rounds: number;
  readonly onBatch?: (batch: readonly Arrival[]) => void;
  /** Looks at a swap before it is made, in its transaction; throws to prevent it. */
  readonly beforeSwap?: (tx: SqlTx, slot: RunningSlot, swapped: Swapped) => Promise<void>;
}

/**
 * Puts generations in place of those that serve, in one transaction: it locks the old checkpoints, so that no
 * runner moves them meanwhile, goes on to the same positions, and points the views. A runner then finds its
 * checkpoint gone and continues with the new generation.
 */
const swapAll = (
  deps: BuildDeps,
  slots: readonly RunningSlot[],
  beforeSwap: BuildOptions['beforeSwap'],
): Promise<readonly Swapped[]> =>
  deps.sql.transaction(async (tx) => {
    await lockRegistry(tx);
    await tx.query(
      `select 1 from projections.registry where name = any($1::text[]) and serves order by name for update`,
      [slots.map(({ projector }) => projector.name)],
    );
    const swaps: Swapped[] = [];
    for (const slot of slots) {
      // A copy: what the slot remembers must hold when the transaction fails and is tried again.
      const trial = { ...slot };
      const before = await catchUpToServing(deps, trial, { batchMax: BATCH_MAX, within: tx });
      const swapped = { before, after: trial.generation };
      await beforeSwap?.(tx, slot, swapped);
      await promote(tx, slot.projector, trial.generation);
      swaps.push(swapped);
    }
    return swaps;
  });

/**
 * Fills generations from the log, all of them in one reading, and puts them in place of those that serve: the
 * slots of one group in one transaction. Throws at the first event that cannot be applied.
 */
export const buildGenerations = async (
  deps: BuildDeps,
  groups: readonly (readonly RunningSlot[])[],
  { rounds, beforeSwap, ...options }: BuildOptions,
): Promise<readonly Swapped[]> => {
  const { batchMax, signal } = options;
  for (let round = 0; round < rounds; round += 1) {
    const target = await deps.feed.head();
    if (target !== undefined) await catchUp(deps, groups.flat(), { ...options, target });
  }
  const swaps: Swapped[] = [];
  for (const group of groups) {
    // Little is left to do then while the old checkpoints are locked.
    for (const slot of group) await catchUpToServing(deps, slot, { batchMax, signal });
    signal?.throwIfAborted();
    swaps.push(...(await swapAll(deps, group, beforeSwap)));
  }
  return swaps;
};

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

interface RebuildOptions {
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

/** After this long without progress a rebuild gives up; the next one goes on from what was built. */
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
  (error instanceof RebuildBusy && outages > 0);

/** A rebuild that waits while the event store or the database is unavailable, and then goes on. */
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
      // What this rebuild has begun, it continues.
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

/** What keeps the read models of one release up with a log. */
export interface RunnerDeps extends KnownModels {
  readonly sql: Sql;
  readonly feed: KnownLog;
  readonly decode: DecodeEvent;
  /** False for an event type of a newer release. All are known by default. */
  readonly isKnownType?: (type: string) => boolean;
  readonly timers: Timers;
  readonly notify?: (notice: ProjectionNotice) => void;
  /** Called after each committed batch; for traces. */
  readonly onApplied?: (applied: AppliedBatch) => void;
  readonly tuning?: Partial<RunnerTuning>;
  /** Read models of another log are rebuilt at once, or left to a person. */
  readonly diverged?: 'rebuild' | 'leave';
}

/** With every pause and limit decided. */
export interface TunedDeps extends RunnerDeps {
  readonly tuning: RunnerTuning;
}
