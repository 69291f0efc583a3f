import type { EventFeed, FeedItem } from '../../domain/ports/log.ts';
import { contentOf, type RecordedEvent } from '../../domain/kernel/recorded.ts';
import type { DecodeEvent, ProjectedEvent, Timers } from './ports.ts';
import type { Projector } from './table.ts';
import {
  type Witness,
  witnessFromJson,
  witnessOf,
  type WitnessText,
  witnessToJson,
} from '../../domain/kernel/witness.ts';

/** Which event was recorded, and what is recorded about it. */
export type Delivered = Pick<RecordedEvent, 'id' | 'type' | 'stream' | 'revision' | 'position' | 'metadata'>;

/** A position that was reached, and the event there if a projector wants it. */
export interface Arrival {
  readonly position: bigint;
  readonly recorded?: Delivered;
  /** The event there, whether a projector wants it or not. */
  readonly delivered?: Delivered;
  readonly event?: ProjectedEvent;
  /** Why the event could not be decoded. */
  readonly undecodable?: string;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Decodes each event once for all projectors; of events that none wants, or that `isLeft` says are left to others,
 * only the position is kept.
 */
export const arrivalsFrom = (
  projectors: readonly Projector[],
  decode: DecodeEvent,
  isLeft: (recorded: Delivered) => boolean = () => false,
) => {
  const wanted = new Set<string>(projectors.flatMap(({ eventTypes }) => eventTypes));
  return (item: Extract<FeedItem, { position: bigint } | { event: unknown }>): Arrival => {
    if (item.kind === 'checkpoint') return { position: item.position };
    const recorded = item.event;
    const { position } = recorded;
    if (!wanted.has(recorded.type) || isLeft(recorded)) return { position, delivered: recorded };
    try {
      const { type, data } = decode(recorded);
      const { id, stream, revision } = recorded;
      const { metadata } = contentOf(recorded);
      // The decoder pairs each type with its data; spread over a union, TypeScript forgets that. The event as it
      // was read is let go: its text and the data as they were parsed would be as large again, for a whole batch.
      const event = { id, stream, revision, position, type, data, metadata } as ProjectedEvent;
      return { position, recorded: event, delivered: event, event };
    } catch (error) {
      return { position, recorded, delivered: recorded, undecodable: messageOf(error) };
    }
  };
};

/** A projector, and the position up to which it has applied everything. */
interface Reader {
  readonly projector: Projector;
  readonly position: bigint | null;
}

/** What each reader has yet to apply of some arrivals, which are in the order of the log. */
export const arrivalsForEach = (
  readers: readonly Reader[],
  arrivals: readonly Arrival[],
): readonly (readonly Arrival[])[] => {
  const [first] = arrivals;
  const wanted = new Map<string, { readonly into: Arrival[]; readonly after: bigint | null }[]>();
  const results = readers.map(({ projector, position }) => {
    const into: Arrival[] = [];
    const areAllNew = position === null || (first !== undefined && first.position > position);
    for (const type of projector.eventTypes) {
      const takers = wanted.get(type) ?? [];
      takers.push({ into, after: areAllNew ? null : position });
      wanted.set(type, takers);
    }
    return into;
  });
  for (const arrival of arrivals) {
    const takers = arrival.recorded === undefined ? undefined : wanted.get(arrival.recorded.type);
    if (takers === undefined) continue;
    for (const { into, after } of takers) if (after === null || arrival.position > after) into.push(arrival);
  }
  return results;
};

export const eventsOf = (arrivals: readonly Arrival[]): readonly ProjectedEvent[] => {
  const events: ProjectedEvent[] = [];
  for (const { event } of arrivals) if (event !== undefined) events.push(event);
  return events;
};

/** The first event after a position, null for the log's start; undefined when none arrived. */
export const firstRecorded = (arrivals: readonly Arrival[], after: bigint | null): Delivered | undefined =>
  arrivals.find(({ position, recorded }) => recorded !== undefined && (after === null || position > after))
    ?.recorded;

/** Events from the feed that wait to be applied. */
export interface FeedQueue {
  readonly length: () => number;
  /** Resolves when something waits to be taken, or the subscription has ended. */
  readonly filled: () => Promise<void>;
  /** Items in order, at most `max`; waits for the first. Empty: the subscription has ended. */
  readonly take: (max: number) => Promise<readonly FeedItem[]>;
  /** How many items have arrived in all. */
  readonly arrived: () => number;
  /** The item that has waited longest. */
  readonly first: () => FeedItem | undefined;
}

interface Gate {
  readonly wait: () => Promise<void>;
  readonly open: () => void;
}

const gate = (): Gate => {
  let open: () => void = () => undefined;
  let waiting: Promise<void> | undefined;
  return {
    wait: () => (waiting ??= new Promise((resolve) => (open = resolve))),
    open: () => {
      waiting = undefined;
      open();
    },
  };
};

interface FeedQueueOptions {
  readonly after: bigint | null;
  readonly limit: number;
  readonly signal: AbortSignal;
  /** Called at each arrival, with the number of items that wait. */
  readonly onArrived?: (waiting: number) => void;
}

/**
 * Reads a subscription ahead of its consumer, up to `limit` items, so that what arrives during one
 * batch is the next. `take` throws the subscription's error after the last item before it.
 */
export const feedQueue = (
  feed: Pick<EventFeed, 'subscribe'>,
  { after, limit, signal, onArrived }: FeedQueueOptions,
): FeedQueue => {
  let items: FeedItem[] = [];
  let arrived = 0;
  let ended = false;
  let failure: unknown;
  const filled = gate();
  const emptied = gate();

  const read = async () => {
    for await (const item of feed.subscribe({ after: after ?? undefined, signal })) {
      items.push(item);
      arrived += 1;
      if (items.length === 1) filled.open();
      onArrived?.(items.length);
      if (items.length >= limit) await emptied.wait();
      if (signal.aborted) return;
    }
  };
  read()
    .catch((error: unknown) => (failure = error))
    .finally(() => {
      ended = true;
      filled.open();
    });
  signal.addEventListener('abort', () => emptied.open(), { once: true });

  const untilFilled = async () => {
    while (items.length === 0 && !ended) await filled.wait();
  };

  return {
    length: () => items.length,
    filled: untilFilled,
    arrived: () => arrived,
    first: () => items[0],
    take: async (max) => {
      await untilFilled();
      if (items.length === 0 && failure !== undefined) throw failure as Error;
      const taken = items.slice(0, max);
      items = items.slice(max);
      emptied.open();
      return taken;
    },
  };
};

/** A batch that was committed. */
export interface AppliedBatch {
  readonly arrivals: readonly Arrival[];
  readonly durationMs: number;
}

/** Reports of the runner; the composition logs and measures them. */
export type ProjectionNotice =
  | {
      readonly kind: 'batch';
      readonly events: number;
      readonly position: bigint;
      readonly durationMs: number;
    }
  | { readonly kind: 'started'; readonly projectors: readonly string[] }
  | { readonly kind: 'promoted'; readonly name: string; readonly version: number }
  | { readonly kind: 'stopped'; readonly name: string; readonly reason: string }
  /** A read model leaves the events of a tenant from now on. `parked_again`: it was tried again, in vain. */
  | {
      readonly kind: 'parked' | 'parked_again';
      readonly name: string;
      readonly tenant_id: string;
      readonly reason: string;
    }
  /** The rows of a tenant were made anew, and its events are applied again. */
  | { readonly kind: 'unparked'; readonly name: string; readonly tenant_id: string }
  /** A newer release serves the read models: this process stands aside. */
  | { readonly kind: 'aside'; readonly reason: string }
  /** The lease holder made no progress for `stillMs`; its session was ended. */
  | { readonly kind: 'evicted'; readonly stillMs: number }
  /** Events of types that only a newer release knows were passed over. */
  | { readonly kind: 'unknown_types'; readonly events: number; readonly types: readonly string[] }
  /** The read models are of another log than the one that is there. `rebuilding`: a rebuild begins now. */
  | {
      readonly kind: 'diverged';
      readonly reason: string;
      readonly names: readonly string[];
      readonly rebuilding: boolean;
    }
  /** Diverged read models were rebuilt from the log that is there. */
  | { readonly kind: 'rebuilt'; readonly names: readonly string[] }
  | { readonly kind: 'dropped'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

export interface RunnerTuning {
  /** Most events in one transaction. */
  readonly batchMax: number;
  /** Pause after a batch, as a multiple of the time it took; 0: none. A caller that waits ends it. */
  readonly pauseFactor: number;
  /** The longest pause. */
  readonly pauseMaxMs: number;
  readonly retryMs: number;
  readonly retryMaxMs: number;
  /** How often to ask for the lease while another process holds it. */
  readonly lockMs: number;
  /** How often to check the registry for other versions. */
  readonly lookMs: number;
  /** How often a silent subscription is compared with the log's head. */
  readonly watchdogMs: number;
  /** How often checkpoints are compared with the log while subscribed. */
  readonly compareMs: number;
  /**
   * After how long without progress, while the log goes on, the lease holder counts as frozen. At least three
   * times `watchdogMs`: a healthy holder notices a silent feed within that.
   */
  readonly frozenMs: number;
}

export const RUNNER_TUNING: RunnerTuning = {
  batchMax: 4000,
  pauseFactor: 2,
  pauseMaxMs: 250,
  retryMs: 100,
  retryMaxMs: 5_000,
  lockMs: 1_000,
  lookMs: 1_000,
  watchdogMs: 5_000,
  compareMs: 10_000,
  frozenMs: 15_000,
};

interface Watched {
  readonly timers: Timers;
  readonly everyMs: number;
  /** How many items the subscription has delivered. */
  readonly arrived: () => number;
  readonly isBusy: () => boolean;
  /** The lowest checkpoint: null for the log's start, undefined when nothing runs. */
  readonly reached: () => bigint | null | undefined;
  readonly head: () => Promise<bigint | undefined>;
}

const isBehind = async ({ head, reached }: Watched): Promise<boolean> => {
  const [end, at] = [await head().catch(() => undefined), reached()];
  return end !== undefined && at !== undefined && (at === null || at < end);
};

/**
 * Aborts `dropped` when nothing has arrived between two looks although the log's head is further:
 * silence alone may mean that there is nothing to deliver. Ends when `dropped` is aborted.
 */
export const abortWhenSilent = async (dropped: AbortController, watched: Watched): Promise<void> => {
  const { timers, everyMs, arrived, isBusy } = watched;
  let suspectAt: number | undefined;
  while (!dropped.signal.aborted) {
    const before = arrived();
    await timers.sleep(everyMs, dropped.signal);
    const isQuiet = arrived() === before && !isBusy();
    const isSuspect = isQuiet && (await isBehind(watched));
    if (isSuspect && suspectAt === before) dropped.abort();
    suspectAt = isSuspect ? before : undefined;
  }
};

/**
 * The last event that was delivered up to a checkpoint. null: none was. undefined: not known, for a release
 * without witnesses moved the checkpoint.
 */
export type LastDelivered = Witness | null | undefined;

/** The last event among arrivals, of any type; undefined if there are only checkpoints. */
export const lastDelivered = (arrivals: readonly Arrival[]): Witness | undefined => {
  const last = arrivals.findLast(({ delivered }) => delivered !== undefined)?.delivered;
  return last && witnessOf(last);
};

/** The text that is stored beside a checkpoint. It names that checkpoint and is void beside any other. */
export const textOfWitness = (at: bigint, witness: LastDelivered): string | null =>
  witness === undefined
    ? null
    : JSON.stringify({ at: at.toString(), event: witness && witnessToJson(witness) });

interface Kept {
  readonly at: string;
  readonly event: WitnessText | null;
}

export const witnessAt = (position: bigint | null, text: string | null): LastDelivered => {
  if (position === null) return null;
  if (text === null) return undefined;
  const { at, event } = JSON.parse(text) as Kept;
  if (BigInt(at) !== position) return undefined;
  return event && witnessFromJson(event);
};
