import type { EventFeed, FeedItem } from '../../domain/ports/eventFeed.ts';
import type { RunningSlot } from './applyBatch.ts';
import { applyArrivals } from './applyBatch.ts';
import type { Arrival } from './arrivals.ts';
import { arrivalsFrom } from './arrivals.ts';
import type { DecodeEvent } from './event.ts';
import type { FeedQueue } from './feedQueue.ts';
import { feedQueue } from './feedQueue.ts';
import type { Sql, Timers } from './ports.ts';
import { SqlUnavailable } from './ports.ts';
import { CheckpointMoved } from './registry.ts';
import type { ProjectionNotice, RunnerTuning } from './runner.ts';
import type { FollowState } from './status.ts';

export interface FollowDeps {
  readonly sql: Sql;
  readonly feed: EventFeed;
  readonly timers: Timers;
  readonly decode: DecodeEvent;
  readonly tuning: RunnerTuning;
  readonly slots: readonly RunningSlot[];
  readonly notify?: (notice: ProjectionNotice) => void;
  readonly isAwaited: () => boolean;
  readonly onProgress: () => void;
  readonly onCaughtUp: () => Promise<void>;
}

export interface Follower {
  readonly slots: readonly RunningSlot[];
  readonly state: () => FollowState;
  /** Follows the log until `signal` aborts; subscribes again after drops. Throws when others took over. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

interface Subscription {
  readonly queue: FeedQueue;
  /** The log's head before subscribing: all up to it was delivered once the feed has caught up. */
  readonly head: bigint | undefined;
  readonly signal: AbortSignal;
}

/** A batch of fewer events than this, right after one with as many, waits for more. */
const BUSY_EVENTS = 50;

const runs = ({ generation: { state } }: RunningSlot): boolean => state !== 'stopped';

/** The lowest checkpoint, null for the log's start; undefined when nothing runs. */
const startOf = (slots: readonly RunningSlot[]): bigint | null | undefined => {
  const positions = slots.filter(runs).map(({ generation: { position } }) => position);
  if (positions.length === 0) return undefined;
  return positions.reduce((low, at) => (low === null || at === null ? null : at < low ? at : low));
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const follower = (deps: FollowDeps): Follower => {
  const { slots, timers, tuning, feed } = deps;
  const toArrival = arrivalsFrom(
    slots.map(({ projector }) => projector),
    deps.decode,
  );
  const missed = new Map<string, number>();
  let caughtUp = false;
  let lastBatch = 0;
  let applying = 0;
  let queue: FeedQueue | undefined;

  const noteStopped = (before: ReadonlySet<RunningSlot>, arrivals: readonly Arrival[]) => {
    for (const slot of slots) {
      if (runs(slot)) continue;
      const { name } = slot.projector;
      const types: readonly string[] = slot.projector.eventTypes;
      const count = arrivals.filter(
        ({ recorded }) => recorded !== undefined && types.includes(recorded.type),
      );
      missed.set(name, (missed.get(name) ?? 0) + count.length);
      if (before.has(slot)) deps.notify?.({ kind: 'stopped', name, reason: slot.generation.reason ?? '' });
    }
  };

  const apply = async (arrivals: readonly Arrival[]): Promise<void> => {
    const position = arrivals.at(-1)?.position;
    if (position === undefined) return;
    const began = timers.nowMs();
    const before = new Set(slots.filter(runs));
    applying = arrivals.length;
    await applyArrivals(deps, slots, arrivals);
    applying = 0;
    lastBatch = arrivals.length;
    noteStopped(before, arrivals);
    deps.onProgress();
    deps.notify?.({ kind: 'batch', events: arrivals.length, position, durationMs: timers.nowMs() - began });
  };

  const takeBatch = async ({ queue: from, signal }: Subscription): Promise<readonly FeedItem[]> => {
    const items = await from.take(tuning.batchMax);
    const isSmall = items.length > 0 && items.length < BUSY_EVENTS && from.length() === 0;
    if (!isSmall || lastBatch < BUSY_EVENTS || deps.isAwaited()) return items;
    await timers.sleep(tuning.lingerMs, signal);
    return from.length() === 0 ? items : [...items, ...(await from.take(tuning.batchMax - items.length))];
  };

  const becomeLive = async (head: bigint | undefined): Promise<void> => {
    if (head !== undefined) await apply([{ position: head }]);
    caughtUp = true;
    await deps.onCaughtUp();
    deps.onProgress();
  };

  const consume = async (subscription: Subscription): Promise<void> => {
    for (;;) {
      const items = await takeBatch(subscription);
      if (items.length === 0) return;
      await apply(items.flatMap((item) => (item.kind === 'caught_up' ? [] : [toArrival(item)])));
      if (items.some(({ kind }) => kind === 'caught_up')) await becomeLive(subscription.head);
      if (subscription.signal.aborted || !slots.some(runs)) return;
    }
  };

  /** Aborts a subscription that has been silent while the log grew, twice in a row. */
  const watch = async (from: FeedQueue, dropped: AbortController): Promise<void> => {
    let silentSince: number | undefined;
    while (!dropped.signal.aborted) {
      const arrived = from.arrived();
      await timers.sleep(tuning.watchdogMs, dropped.signal);
      if (from.arrived() !== arrived || from.length() > 0 || applying > 0) {
        silentSince = undefined;
        continue;
      }
      const head = await feed.head().catch(() => undefined);
      const at = startOf(slots);
      const isBehind = head !== undefined && at !== undefined && (at === null || at < head);
      if (isBehind && silentSince === arrived) dropped.abort();
      silentSince = isBehind ? arrived : undefined;
    }
  };

  const subscribeOnce = async (after: bigint | null, outer: AbortSignal): Promise<void> => {
    const dropped = new AbortController();
    const signal = AbortSignal.any([outer, dropped.signal]);
    const head = await feed.head();
    queue = feedQueue(feed, { after, limit: tuning.batchMax * 2, signal });
    const watching = watch(queue, dropped);
    try {
      await consume({ queue, head, signal });
    } finally {
      dropped.abort();
      await watching;
      queue = undefined;
      caughtUp = false;
    }
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    let delayMs = tuning.retryMs;
    while (!signal.aborted) {
      const after = startOf(slots);
      if (after === undefined) return timers.sleep(2 ** 30, signal);
      const began = timers.nowMs();
      let reason = 'the subscription ended';
      try {
        await subscribeOnce(after, signal);
      } catch (error) {
        if (error instanceof CheckpointMoved || error instanceof SqlUnavailable) throw error;
        reason = messageOf(error);
      }
      if (signal.aborted) return;
      deps.notify?.({ kind: 'dropped', reason });
      const wasUp = timers.nowMs() - began > tuning.retryMaxMs;
      delayMs = wasUp ? tuning.retryMs : Math.min(delayMs * 2, tuning.retryMaxMs);
      await timers.sleep(delayMs, signal);
    }
  };

  return {
    slots,
    state: () => ({ caughtUp, waiting: (queue?.length() ?? 0) + applying, missed }),
    run,
  };
};
