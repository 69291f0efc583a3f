import { type FeedItem, type KnownLog } from '../../domain/ports/log.ts';
import { applyCheckpointed, moveOn, type RunningSlot } from './apply.ts';
import {
  type AppliedBatch,
  type Arrival,
  arrivalsFrom,
  type ProjectionNotice,
  type RunnerTuning,
} from './arrivals.ts';
import { type DecodeEvent, type Sql, type SqlTx, type Timers } from './ports.ts';
import {
  abandon,
  createGeneration,
  dropRetired,
  type Generation,
  generations,
  type KnownModels,
  lockRegistry,
  promote,
  type Slot,
} from './registry.ts';
import { bigintOf, onlyRow, type Projector, READ_SCHEMA, textOf } from './table.ts';
import { sourceOf } from '../../domain/eventLog/movedTexts.ts';
import { divergenceOf, requireSameLog } from './divergence.ts';
import { dropShares, leftToOthers } from './shares.ts';

/** What building generations needs. */
export interface BuildDeps {
  readonly sql: Sql;
  readonly feed: KnownLog;
  readonly decode: DecodeEvent;
  readonly timers: Timers;
}

/** After this many events the database's answers get their turn. */
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

/** A batch while it is read. What is left to other shares makes it longer, or its statements would have few rows. */
const filling = (slots: readonly RunningSlot[], batchMax: number) => {
  const readMax = batchMax * Math.max(...slots.map(({ generation: { share } }) => share?.of ?? 1));
  let batch: Arrival[] = [];
  let wanted = 0;
  return {
    put: (arrival: Arrival): void => {
      batch.push(arrival);
      if (arrival.recorded !== undefined) wanted += 1;
    },
    isAtBreath: () => batch.length % BREATH === 0,
    isFull: () => wanted >= batchMax || batch.length >= readMax,
    take: (): readonly Arrival[] => {
      const taken = batch;
      [batch, wanted] = [[], 0];
      return taken;
    },
  };
};

/**
 * The stretch in batches: what follows the target, or the end of the log, tells that it is reached. The
 * last arrival is at the target, whether an event is there or not.
 */
const batchesUpTo = async function* (
  { feed, decode, timers }: BuildDeps,
  slots: readonly RunningSlot[],
  { after, target, batchMax, signal }: Stretch,
): AsyncGenerator<readonly Arrival[]> {
  const projectors = slots.map(({ projector }) => projector);
  const toArrival = arrivalsFrom(projectors, decode, leftToOthers(slots));
  const done = new AbortController();
  const options = { after: after ?? undefined, signal: eitherOf(done.signal, signal) };
  const batch = filling(slots, batchMax);
  try {
    for await (const item of feed.subscribe(options)) {
      const position = placeOf(item, target);
      if (item.kind !== 'caught_up' && position <= target) batch.put(toArrival(item));
      if (position >= target) break;
      if (batch.isAtBreath()) await timers.sleep(0);
      if (batch.isFull()) yield batch.take();
    }
  } finally {
    done.abort();
  }
  signal?.throwIfAborted();
  yield [...batch.take(), { position: target }];
};

/** Begins the next item before the present one is done: reading continues while SQL is written. */
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
export const beginningOf = (slots: readonly Slot[]): bigint | null =>
  slots
    .map(({ generation: { position } }) => position)
    .reduce((low, at) => (low === null || at === null ? null : at < low ? at : low));

/**
 * Brings slots up to a position of the log. Throws at the first event that cannot be applied, and ReadModelsDiverged
 * where the log was put back to an older copy meanwhile, so that other events stand where these were read.
 */
export const catchUp = async (
  deps: BuildDeps,
  slots: readonly RunningSlot[],
  { within, onBatch, ...options }: CatchUpOptions,
): Promise<void> => {
  if (slots.length === 0) return;
  const after = beginningOf(slots);
  if (after !== null && after >= options.target) return;
  for await (const batch of oneAhead(batchesUpTo(deps, slots, { ...options, after }))) {
    throwUndecodable(batch);
    await requireSameLog(deps.feed, slots);
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
export const BATCH_MAX = 4000;

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
export const isTrusted = async ({ feed }: BuildDeps, generation: Generation): Promise<boolean> =>
  (await divergenceOf(feed, [generation])) === undefined;

interface OpenOptions {
  /** `building` for a new version, `rebuilding` for the rows of a version that serves already. */
  readonly state: 'building' | 'rebuilding';
  /** Begins at the start of the log even where an interrupted build could be continued. */
  readonly fresh: boolean;
  /** Why what an interrupted build has left is of no use, by default its log; undefined: it is gone on with. */
  readonly flawOf?: (begun: Generation) => Promise<string | undefined>;
}

/** A generation that is opened, and why what was begun before is not gone on with, if anything was. */
export interface OpenedSlot extends RunningSlot {
  readonly begunAnew?: string | undefined;
}

interface Left {
  readonly begun: Generation | undefined;
  /** Why nothing that is left is gone on with. */
  readonly reason?: string | undefined;
}

/** What interrupted builds have left that can be gone on with. */
const usableOf = async (
  left: readonly Generation[],
  { version }: Projector,
  flawOf: (begun: Generation) => Promise<string | undefined>,
): Promise<Left> => {
  const [other] = left;
  const begun = left.find((one) => one.version === version);
  if (other === undefined) return { begun };
  const reason =
    begun === undefined
      ? `what was begun is of version ${String(other.version)}, and this is ${String(version)}`
      : await flawOf(begun);
  return { begun: reason === undefined ? begun : undefined, reason };
};

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
  {
    projectors,
    state,
    fresh,
    flawOf = async (begun) => (await divergenceOf(deps.feed, [begun]))?.reason,
  }: OpenOptions & { readonly projectors: readonly Projector[] },
): Promise<readonly OpenedSlot[]> => {
  const logId = (await sourceOf(deps.feed)) ?? null;
  const slots: OpenedSlot[] = [];
  for (const projector of projectors) {
    const left = (await generations(tx, projector.name)).filter(
      (one) => !one.serves && (one.state === 'rebuilding') === (state === 'rebuilding'),
    );
    const { begun, reason } = fresh ? { begun: undefined } : await usableOf(left, projector, flawOf);
    for (const one of left) if (one !== begun) await abandon(tx, one);
    const generation = begun ?? (await createGeneration(tx, projector, state));
    slots.push({ projector, generation: { ...generation, logId }, begunAnew: reason });
  }
  await dropShares(tx);
  return slots;
};

/** The old and the new read models of a switch. */
export interface Swapped {
  readonly before: Generation;
  readonly after: Generation;
}

export const servingOf = async (sql: SqlTx, { name }: Projector): Promise<Generation> => {
  const serving = (await generations(sql, name)).find(({ serves }) => serves);
  if (serving === undefined) throw new Error(`nothing serves ${name}`);
  return serving;
};

/** Goes on to the checkpoint that serves; a checkpoint of another log is no target. */
export const catchUpToServing = async (
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
      await requireSameLog(deps.feed, [trial]);
      const swapped = { before, after: trial.generation };
      await beforeSwap?.(tx, slot, swapped);
      await promote(tx, slot.projector, trial.generation);
      swaps.push(swapped);
    }
    return swaps;
  });

/**
 * Fills generations from the log, all of them in one reading, and puts them in place of those that serve: the
 * slots of one group in one transaction. Throws as `catchUp` does.
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
