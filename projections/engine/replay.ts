import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventFeed, FeedItem } from '../../domain/ports/eventFeed.ts';
import type { RunningSlot } from './applyBatch.ts';
import { applyCheckpointed } from './applyBatch.ts';
import type { Arrival } from './arrivals.ts';
import { arrivalsFrom } from './arrivals.ts';
import type { DecodeEvent } from './event.ts';
import type { Sql, SqlTx, Timers } from './ports.ts';
import type { Projector } from './projector.ts';

export interface RebuildDeps {
  readonly sql: Sql;
  readonly feed: EventFeed;
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

/** Items until the target is reached: what follows it, or the end of the log, tells that it is. */
const itemsUpTo = async function* (feed: EventFeed, { after, target, signal }: Stretch) {
  const done = new AbortController();
  const until = signal === undefined ? done.signal : AbortSignal.any([signal, done.signal]);
  try {
    for await (const item of feed.subscribe({ after: after ?? undefined, signal: until })) {
      if (item.kind === 'caught_up') return;
      const position = item.kind === 'event' ? item.event.position : item.position;
      if (position <= target) yield item;
      if (position >= target) return;
    }
  } finally {
    done.abort();
  }
  signal?.throwIfAborted();
  throw new Error('the subscription ended before the end of the log');
};

/** The stretch in batches. The last arrival is at its target, whether an event is there or not. */
const batchesUpTo = async function* (
  { feed, projectors, decode }: RebuildDeps,
  stretch: Stretch,
): AsyncGenerator<readonly Arrival[]> {
  const toArrival = arrivalsFrom(projectors, decode);
  let batch: Arrival[] = [];
  const items: AsyncIterable<Exclude<FeedItem, { kind: 'caught_up' }>> = itemsUpTo(feed, stretch);
  for await (const item of items) {
    batch.push(toArrival(item));
    if (batch.length % BREATH === 0) await nextTurn();
    if (batch.length < stretch.batchMax) continue;
    yield batch;
    batch = [];
  }
  yield [...batch, { position: stretch.target }];
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

const isBehind = ({ generation: { position: at } }: RunningSlot, position: bigint | null): boolean =>
  at === null || (position !== null && at < position);

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
    if (within === undefined) await deps.sql.transaction((tx) => applyCheckpointed(tx, slots, batch));
    else await applyCheckpointed(within, slots, batch);
    const position = batch.at(-1)?.position ?? null;
    for (const slot of slots)
      if (isBehind(slot, position)) slot.generation = { ...slot.generation, position };
    onBatch?.(batch);
  }
};
