import type { FeedItem } from '../../../domain/ports/eventFeed.ts';
import type { KnownLog } from '../../../domain/ports/knownLog.ts';
import type { RunningSlot } from '../apply/applyBatch.ts';
import { applyCheckpointed, moveOn } from '../apply/applyBatch.ts';
import type { Arrival } from '../feed/arrivals.ts';
import { arrivalsFrom } from '../feed/arrivals.ts';
import type { DecodeEvent } from '../feed/event.ts';
import type { Sql, SqlTx, Timers } from '../ports.ts';
import type { Slot } from '../apply/prepare.ts';
import type { Projector } from '../projector.ts';

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
export interface Stretch {
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
export const beginningOf = (slots: readonly Slot[]): bigint | null =>
  slots
    .map(({ generation: { position } }) => position)
    .reduce((low, at) => (low === null || at === null ? null : at < low ? at : low));

/** Brings slots up to a position of the log. Throws at the first event that cannot be applied. */
export const catchUp = async (
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
