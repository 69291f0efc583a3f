import type { EventStoreDBClient } from '@eventstore/db-client';
import { isLeftOut, isOwn, OWN_STREAMS, SNAPSHOT_CATEGORY } from '../../domain/kernel/json.ts';
import type { FeedItem, FeedOptions } from '../../domain/ports/log.ts';
import { categoryOf } from '../../domain/kernel/chain.ts';
import { LeaderElsewhere } from './leader.ts';
import {
  type Arrived,
  type Filter,
  messagesOf,
  openRead,
  type Reading,
  recorded,
  type Served,
} from './reads.ts';

/**
 * What a feed leaves out: what the server wrote for itself (event types that start with `$` too), snapshots,
 * and unless they are wanted the events about the log itself.
 */
export const isSystem = (event: Arrived | undefined, options: { readonly own?: boolean } = {}): boolean =>
  event === undefined || event.type.startsWith('$') || isLeftOut(event.stream, options);

interface Subscribing {
  readonly client: EventStoreDBClient;
  readonly options: FeedOptions;
  /** For the server's confirmation. */
  readonly timeoutMs: number;
  /** Aborts when the log is closed, or when another node than this one is the leader. */
  readonly closing: AbortSignal;
  readonly onConfirmed: () => void;
}

/**
 * One subscription to `$all`. It ends when its subscriber says so; an end by anybody else is thrown, also
 * a graceful one.
 */
export async function* subscribeToAll(subscribing: Subscribing): AsyncGenerator<FeedItem, void, void> {
  const { client, options, timeoutMs: ms, onConfirmed } = subscribing;
  const { signal, after } = options;
  if (isAborted(signal)) return;
  const limit = { what: 'a subscription', ms };
  const reading = await openRead(client, { place: after, follow: filterOf(options) }, limit);
  const release = stopped(reading, subscribing);
  const itemOf = itemsFor(options);
  let isConfirmed = false;
  try {
    const messages = messagesOf(
      () => Promise.resolve(reading),
      () => (isConfirmed ? undefined : limit),
    );
    for await (const one of messages) {
      if (isAborted(signal)) return;
      isConfirmed ||= one.kind === 'confirmed';
      if (one.kind === 'confirmed') onConfirmed();
      const item = itemOf(one);
      if (item !== undefined) yield item;
    }
    if (!isAborted(signal)) throw new Error('the subscription ended');
  } finally {
    release();
  }
}

const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;

/** Ends the wait of a reading when its subscriber or the log says so. Gives what undoes it. */
const stopped = (reading: Reading, { options: { signal }, closing }: Subscribing): (() => void) => {
  const abort = () => reading.stop();
  const close = () => {
    const reason: unknown = closing.reason;
    reading.stop(reason instanceof LeaderElsewhere ? reason : new Error('the log was closed'));
  };
  signal?.addEventListener('abort', abort, { once: true });
  closing.addEventListener('abort', close, { once: true });
  if (isAborted(signal)) abort();
  if (closing.aborted) close();
  return () => {
    signal?.removeEventListener('abort', abort);
    closing.removeEventListener('abort', close);
  };
};

/**
 * What a message is to the subscriber; undefined: nothing. Checkpoints count only once live, and not the first one:
 * several server versions send a checkpoint while catching up or when going live that runs ahead of events not yet
 * sent. One often stands at the event just delivered: it says nothing new.
 */
const itemsFor = (options: FeedOptions): ((one: Served) => FeedItem | undefined) => {
  const isWanted = wantedOf(options);
  let [reached, isLive, liveCheckpoints] = [-1n, false, 0];
  const eventItem = (arrived: Arrived | undefined): FeedItem | undefined => {
    if (arrived === undefined) return undefined;
    reached = arrived.position;
    const event = isSystem(arrived, options) || !isWanted(arrived.stream) ? undefined : recorded(arrived);
    return event && { kind: 'event', event };
  };
  return (one) => {
    if (one.kind === 'event') return eventItem(one.event);
    if (one.kind === 'caught_up') {
      const wasLive = isLive;
      isLive = true;
      return wasLive ? undefined : { kind: 'caught_up' };
    }
    if (one.kind !== 'checkpoint' || !isLive) return undefined;
    liveCheckpoints += 1;
    return liveCheckpoints > 1 && one.position > reached ? one : undefined;
  };
};

const wantedOf = ({ categories }: FeedOptions): ((stream: string) => boolean) => {
  if (categories === undefined) return () => true;
  const wanted = new Set(categories);
  // An event about the log that is not asked for was left out already.
  return (stream) => isOwn(stream) || wanted.has(categoryOf(stream));
};

const OWN = OWN_STREAMS.map((stream) => `\\${stream}$`).join('|');
/** .NET and JavaScript read it alike. */
const VISIBLE = `(?!${SNAPSHOT_CATEGORY}(-|$))[^$]`;

/**
 * The server filters by prefix: quick, but `account` also lets `accountX-1` through, which is sorted
 * out here. A checkpoint comes every 32 × interval events that the server looked at.
 */
const filterOf = ({ categories, own = false }: FeedOptions): Filter =>
  categories === undefined
    ? { checkpointInterval: CHECKPOINT_INTERVAL, regex: own ? `^(${VISIBLE}|${OWN})` : `^${VISIBLE}` }
    : { checkpointInterval: CHECKPOINT_INTERVAL, prefixes: [...categories, ...(own ? OWN_STREAMS : [])] };

const CHECKPOINT_INTERVAL = 8;
