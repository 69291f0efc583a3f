import type { FeedItem } from '../../../domain/ports/eventFeed.ts';
import { LogUnavailable } from '../../../domain/ports/eventStore.ts';
import type { KnownLog } from '../../../domain/ports/knownLog.ts';
import type { RunningSlot } from '../apply/applyBatch.ts';
import { applyCheckpointed, moveOn } from '../apply/applyBatch.ts';
import type { Arrival } from '../feed/arrivals.ts';
import { arrivalsFrom } from '../feed/arrivals.ts';
import type { DecodeEvent } from '../feed/event.ts';
import type { Sql, SqlTx, Timers } from '../ports.ts';
import type { Projector } from '../projector.ts';

export interface RebuildDeps {
  readonly sql: Sql;
  readonly feed: KnownLog;
  readonly projectors: readonly Projector[];
  readonly decode: DecodeEvent;
  readonly timers: Timers;
}

export const BATCH_MAX = 4000;

/** After so many events the database's answers get their turn. */
const BREATH = 200;

/** A part of the log: what lies after a position, up to and with another. */
export interface Stretch {
  readonly after: bigint | null;
  readonly target: bigint;
  readonly batchMax: number;
  readonly signal: AbortSignal | undefined;
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
  { feed, projectors, decode, timers }: RebuildDeps,
  { after, target, batchMax, signal }: Stretch,
): AsyncGenerator<readonly Arrival[]> {
  const toArrival = arrivalsFrom(projectors, decode);
  const done = new AbortController();
  const options = { after: after ?? undefined, signal: eitherOf(done.signal, signal) };
  let batch: Arrival[] = [];
  let isReached = false;
  try {
    for await (const item of feed.subscribe(options)) {
      const position = placeOf(item, target);
      if (item.kind !== 'caught_up' && position <= target) batch.push(toArrival(item));
      isReached = position >= target;
      if (isReached) break;
      if (batch.length % BREATH === 0) await timers.sleep(0);
      if (batch.length < batchMax) continue;
      yield batch;
      batch = [];
    }
  } finally {
    done.abort();
  }
  signal?.throwIfAborted();
  if (!isReached) throw new LogUnavailable('the subscription ended before the end of the log');
  yield [...batch, { position: target }];
};

/** Begins the next item before the one in hand is done with: here reading goes on while SQL is written. */
const oneAhead = async function* <T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  const begin = () => {
    const step = source.next();
    // Whoever awaits it hears of a failure; until then it must not end the process.
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

export interface AdvanceOptions extends Stretch {
  /** The caller's transaction; without it each batch has one of its own. */
  readonly within?: SqlTx;
  readonly onBatch?: (batch: readonly Arrival[]) => void;
}

/**
 * Two transactions at a time, each for every other slot: a generation that is being built has a checkpoint
 * of its own, and Postgres works on both while the next batch is read.
 */
const applyApart = async (
  { sql }: RebuildDeps,
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

/** Applies a stretch of the log to `slots`. Throws at the first event that cannot be applied. */
export const advance = async (
  deps: RebuildDeps,
  slots: readonly RunningSlot[],
  options: AdvanceOptions,
): Promise<void> => {
  const { after, target, within, onBatch } = options;
  if (after !== null && after >= target) return;
  for await (const batch of oneAhead(batchesUpTo(deps, options))) {
    throwUndecodable(batch);
    if (within === undefined) await applyApart(deps, slots, batch);
    else await applyCheckpointed(within, slots, batch);
    moveOn(slots, batch);
    onBatch?.(batch);
  }
};
