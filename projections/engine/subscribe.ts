import {
  abortWhenSilent,
  type Arrival,
  arrivalsFrom,
  type Delivered,
  type FeedQueue,
  feedQueue,
  firstRecorded,
  messageOf,
} from './arrivals.ts';
import type { FeedItem } from '../../domain/ports/log.ts';
import { applyArrivals, batchPacing, type Pacing, type RunningSlot } from './apply.ts';
import { ReadModelsDiverged, requireSameLog } from './divergence.ts';
import type { TunedDeps } from './building.ts';
import { SqlUnavailable } from './ports.ts';
import {
  CheckpointMoved,
  type Generation,
  type KnownModels,
  stoppedBuild,
  type VersionPlan,
  versionPlanOf,
} from './registry.ts';

export interface SubscriberDeps extends TunedDeps {
  readonly slots: readonly RunningSlot[];
  readonly isAwaited: () => boolean;
  readonly onProgress: () => void;
}

export interface Subscriber {
  readonly slots: readonly RunningSlot[];
  readonly state: () => SubscriberState;
  /** A caller waits: events that have arrived are applied without delay. */
  readonly wake: () => void;
  /** Follows the log until `signal` aborts; subscribes again after drops. Throws when another process took over. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

interface Subscription {
  readonly queue: FeedQueue;
  /** The log's head before subscribing: all up to it was delivered once the feed has caught up. */
  readonly head: bigint | undefined;
  readonly signal: AbortSignal;
}

/** What changes while a subscriber runs. */
interface Progress {
  caughtUp: boolean;
  readonly pacing: Pacing;
  applying: readonly Arrival[];
  queue: FeedQueue | undefined;
  /** Events that arrived since a slot stopped, by name. */
  readonly missed: Map<string, number>;
  /** The first event that a stopped slot did not apply, by name. */
  readonly stoppedAt: Map<string, Delivered>;
}

const runs = ({ generation: { state } }: RunningSlot): boolean => state !== 'stopped';

/** The lowest checkpoint, null for the log's start; undefined when nothing runs. */
const startOf = (slots: readonly RunningSlot[]): bigint | null | undefined => {
  const positions = slots.filter(runs).map(({ generation: { position } }) => position);
  if (positions.length === 0) return undefined;
  return positions.reduce((low, at) => (low === null || at === null ? null : at < low ? at : low));
};

/** The oldest event that is not applied: of the batch in hand, else of the queue. */
const oldestOf = ({ applying, queue }: Progress): Delivered | undefined => {
  const next = queue?.first();
  return firstRecorded(applying, null) ?? (next?.kind === 'event' ? next.event : undefined);
};

/** Applies batches and keeps count of them. */
const batches = (deps: SubscriberDeps, progress: Progress) => {
  const { slots, timers, notify } = deps;

  const noteStopped = (before: ReadonlySet<RunningSlot>, arrivals: readonly Arrival[]) => {
    for (const slot of slots) {
      if (runs(slot)) continue;
      const { name } = slot.projector;
      const types: readonly string[] = slot.projector.eventTypes;
      const wanted = arrivals.filter(
        ({ recorded }) => recorded !== undefined && types.includes(recorded.type),
      );
      progress.missed.set(name, (progress.missed.get(name) ?? 0) + wanted.length);
      const first = firstRecorded(wanted, slot.generation.position);
      if (first !== undefined && !progress.stoppedAt.has(name)) progress.stoppedAt.set(name, first);
      if (before.has(slot)) notify?.({ kind: 'stopped', name, reason: slot.generation.reason ?? '' });
    }
  };

  return async (arrivals: readonly Arrival[]): Promise<void> => {
    const position = arrivals.at(-1)?.position;
    if (position === undefined) return;
    const began = timers.nowMs();
    const before = new Set(slots.filter(runs));
    progress.applying = arrivals;
    await applyArrivals(deps, slots, arrivals);
    progress.applying = [];
    noteStopped(before, arrivals);
    const durationMs = timers.nowMs() - began;
    progress.pacing.afterBatch(durationMs);
    deps.onProgress();
    deps.onApplied?.({ arrivals, durationMs });
    notify?.({ kind: 'batch', events: arrivals.length, position, durationMs });
  };
};

/** Reports events of types that only a newer release knows; no projector here uses them. */
const tellUnknown = ({ isKnownType, notify }: SubscriberDeps, items: readonly FeedItem[]): void => {
  if (isKnownType === undefined) return;
  const types = items.flatMap((item) =>
    item.kind === 'event' && !isKnownType(item.event.type) ? [item.event.type] : [],
  );
  if (types.length > 0) notify?.({ kind: 'unknown_types', events: types.length, types: [...new Set(types)] });
};

/** Follows one subscription until it ends, by itself or through its signal. */
const consuming = (deps: SubscriberDeps, progress: Progress) => {
  const { slots } = deps;
  const toArrival = arrivalsFrom(
    slots.map(({ projector }) => projector),
    deps.decode,
  );
  const apply = batches(deps, progress);

  const becomeLive = async (head: bigint | undefined): Promise<void> => {
    if (head !== undefined) await apply([{ position: head }]);
    progress.caughtUp = true;
    deps.onProgress();
    // The head was read before the subscription began: the log may have been put back between the two.
    await requireSameLog(deps.feed, slots);
  };

  return async (subscription: Subscription): Promise<void> => {
    let isCompared = false;
    while (!subscription.signal.aborted && slots.some(runs)) {
      await progress.pacing.beforeBatch(subscription.queue, subscription.signal);
      const items = await subscription.queue.take(deps.tuning.batchMax);
      if (items.length === 0) return;
      // Now, and not before it subscribed: a subscription does not outlive its log.
      if (!isCompared) await requireSameLog(deps.feed, slots);
      isCompared = true;
      tellUnknown(deps, items);
      await apply(items.flatMap((item) => (item.kind === 'caught_up' ? [] : [toArrival(item)])));
      if (items.some(({ kind }) => kind === 'caught_up')) await becomeLive(subscription.head);
    }
  };
};

const isForTheRunner = (error: unknown): boolean =>
  error instanceof CheckpointMoved || error instanceof SqlUnavailable || error instanceof ReadModelsDiverged;

/** Subscribes after a position and consumes, until the subscription ends or falls silent. */
const subscribing = (deps: SubscriberDeps, progress: Progress) => {
  const { slots, timers, tuning, feed } = deps;
  const consume = consuming(deps, progress);

  const subscribeOnce = async (after: bigint | null, outer: AbortSignal): Promise<void> => {
    const dropped = new AbortController();
    const signal = AbortSignal.any([outer, dropped.signal]);
    const head = await feed.head();
    const { onArrived } = progress.pacing;
    const queue = feedQueue(feed, { after, limit: tuning.batchMax * 2, signal, onArrived });
    progress.queue = queue;
    const watching = abortWhenSilent(dropped, {
      timers,
      everyMs: tuning.watchdogMs,
      arrived: () => queue.arrived(),
      isBusy: () => queue.length() > 0 || progress.applying.length > 0,
      reached: () => startOf(slots),
      head: () => feed.head(),
    });
    try {
      await consume({ queue, head, signal });
    } finally {
      dropped.abort();
      await watching;
      progress.queue = undefined;
      progress.caughtUp = false;
      progress.applying = [];
    }
  };

  /** Subscribes, and reports a subscription that ended by itself. Throws what only the runner can handle. */
  return async (after: bigint | null, signal: AbortSignal): Promise<void> => {
    let reason = 'the subscription ended';
    try {
      await subscribeOnce(after, signal);
    } catch (error) {
      if (isForTheRunner(error)) throw error;
      reason = messageOf(error);
    }
    if (!signal.aborted) deps.notify?.({ kind: 'dropped', reason });
  };
};

export const subscriber = (deps: SubscriberDeps): Subscriber => {
  const { slots, timers, tuning } = deps;
  const progress: Progress = {
    caughtUp: false,
    pacing: batchPacing(deps),
    applying: [],
    queue: undefined,
    missed: new Map(),
    stoppedAt: new Map(),
  };
  const subscribe = subscribing(deps, progress);

  const run = async (signal: AbortSignal): Promise<void> => {
    let delayMs = tuning.retryMs;
    while (!signal.aborted) {
      const after = startOf(slots);
      if (after === undefined) {
        // Everything has stopped: keep the lease and report it until a restart.
        await timers.sleep(tuning.retryMaxMs, signal);
        continue;
      }
      const began = timers.nowMs();
      await subscribe(after, signal);
      const wasUp = timers.nowMs() - began > tuning.retryMaxMs;
      delayMs = wasUp ? tuning.retryMs : Math.min(delayMs * 2, tuning.retryMaxMs);
      await timers.sleep(delayMs, signal);
    }
  };

  return {
    slots,
    state: () => ({
      caughtUp: progress.caughtUp,
      waiting: (progress.queue?.length() ?? 0) + progress.applying.length,
      missed: progress.missed,
      oldest: oldestOf(progress),
      stoppedAt: progress.stoppedAt,
    }),
    wake: progress.pacing.wake,
    run,
  };
};

/** How far one read model is. */
export interface ProjectorStatus {
  readonly name: string;
  readonly version: number;
  readonly position: bigint | null;
  /** `stopped` also where a new version could not be built; the rows of the last one serve meanwhile. */
  readonly state: 'live' | 'catching_up' | 'stopped' | 'paused' | 'building';
  /** Why it stopped: the event's type, ID, position and stream, and the error. */
  readonly reason: string | null;
  /** Events that have arrived and are not applied yet; left out when this process does not know. */
  readonly lag_events?: number;
  /** When the oldest event was recorded that waits to be applied; left out when none is known. */
  readonly waiting_since?: string;
}

/** The subscriber's state beside the slots. */
interface SubscriberState {
  readonly caughtUp: boolean;
  readonly waiting: number;
  /** Events that arrived since a slot stopped, by name. */
  readonly missed: ReadonlyMap<string, number>;
  /** The oldest event that waits to be applied by the running slots. */
  readonly oldest: Delivered | undefined;
  /** The event that stopped a slot, by name. */
  readonly stoppedAt: ReadonlyMap<string, Delivered>;
}

const stateOf = ({ state, isPaused }: Generation, caughtUp: boolean): ProjectorStatus['state'] => {
  if (isPaused) return 'paused';
  if (state === 'stopped') return 'stopped';
  if (state === 'building') return 'building';
  return caughtUp ? 'live' : 'catching_up';
};

const recordedAt = (event: Delivered | undefined): string | undefined => {
  const at = event?.metadata['recorded_at'];
  return typeof at === 'string' ? at : undefined;
};

export const statusOfSlots = (
  slots: readonly RunningSlot[],
  { caughtUp, waiting, missed, oldest, stoppedAt }: SubscriberState,
): readonly ProjectorStatus[] =>
  slots.map(({ generation }) => {
    const { name, version, position, reason } = generation;
    const lag = waiting + (missed.get(name) ?? 0);
    const since = recordedAt(generation.state === 'stopped' ? stoppedAt.get(name) : oldest);
    return {
      name,
      version,
      position,
      state: stateOf(generation, caughtUp),
      reason,
      ...(caughtUp ? { lag_events: lag } : {}),
      ...(since === undefined ? {} : { waiting_since: since }),
    };
  });

const asideOf = (name: string, { newer }: VersionPlan): string | null => {
  const model = newer.find((one) => one.name === name);
  if (model === undefined) return null;
  return (
    `a newer release serves version ${String(model.version)}: this process, which knows ` +
    `${String(model.known)}, stands aside`
  );
};

/** As the registry has it: `building` where what serves is older than this process knows. */
export const statusOfRegistry = (
  all: readonly Generation[],
  known: KnownModels,
): readonly ProjectorStatus[] => {
  const plan = versionPlanOf(all, known);
  return known.projectors.flatMap((projector) => {
    const generation = all.find(({ name, serves }) => serves && name === projector.name);
    if (generation === undefined) return [];
    const { name, version, position } = generation;
    const isOld = generation.state === 'live' && version < projector.version;
    const isDue = plan.due.some((slot) => slot.projector === projector);
    const shown = (isDue ? stoppedBuild(all, projector) : undefined) ?? generation;
    const state = isOld && shown === generation ? 'building' : stateOf(shown, !isDue);
    return [{ name, version, position, state, reason: shown.reason ?? asideOf(name, plan) }];
  });
};
