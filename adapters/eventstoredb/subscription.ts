import { type ClientHttp2Session, connect } from 'node:http2';
import {
  type AllStreamResolvedEvent,
  type AllStreamSubscription,
  type EventStoreDBClient,
  type Filter,
  type ResolvedEvent,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import {
  isLeftOut,
  isOwn,
  type JsonObject,
  OWN_STREAMS,
  SNAPSHOT_CATEGORY,
} from '../../domain/kernel/json.ts';
import type { FeedItem, FeedOptions, RecordedEvent } from '../../domain/ports/log.ts';
import { categoryOf } from '../../domain/kernel/chain.ts';

/** Items pushed by events, taken by a loop. */
export const itemQueue = <T>() => {
  let items: T[] = [];
  let taken = 0;
  let ended = false;
  let failure: Error | undefined;
  let wake: () => void = () => undefined;

  const take = (): T | undefined => {
    const item = items[taken];
    taken += 1;
    if (taken < items.length && taken < 1024) return item;
    items = items.slice(taken);
    taken = 0;
    return item;
  };
  return {
    push: (item: T): void => {
      if (ended) return;
      items.push(item);
      wake();
    },
    /** No more items; those queued are still delivered, then the loop ends or throws. */
    end: (error?: Error): void => {
      if (ended) return;
      ended = true;
      failure = error;
      wake();
    },
    size: () => items.length - taken,
    /** The next item, undefined at the end. */
    next: async (): Promise<T | undefined> => {
      if (taken === items.length && !ended) await new Promise<void>((resolve) => (wake = resolve));
      if (taken < items.length) return take();
      if (failure !== undefined) throw failure;
      return undefined;
    },
  };
};

export type ItemQueue<T> = ReturnType<typeof itemQueue<T>>;

/** What the server resolved, as an event of ours; undefined for a link or a deleted event. */
export const recorded = (resolved: ResolvedEvent | AllStreamResolvedEvent): RecordedEvent | undefined => {
  const { event } = resolved;
  if (event === undefined) return undefined;
  const { id, type, streamId: stream, revision, data, metadata, isJson } = event;
  if (!isJson || !isObject(data)) throw new Error(`event ${id} in ${stream} is not a JSON object`);

  const position = event.position?.commit ?? resolved.commitPosition;
  if (position === undefined)
    throw new Error('the server sends no positions with events: version 22.6 or later is needed');
  return { id, type, stream, revision, position, data, metadata: isObject(metadata) ? metadata : {} };
};

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);

/**
 * What a feed leaves out: what the server wrote for itself (event types that start with `$` too), snapshots,
 * and unless they are wanted the events about the log itself.
 */
export const isSystem = (
  { event }: AllStreamResolvedEvent,
  options: { readonly own?: boolean } = {},
): boolean => event === undefined || event.type.startsWith('$') || isLeftOut(event.streamId, options);

/** `esdb://user:password@host:2113,other:2113?tls=false` → the first host, as a browser would name it. */
export const firstHostOf = (connectionString: string): string | undefined => {
  const [, hosts = '', query = ''] =
    /^[a-z+]+:\/\/(?:[^@/?]*@)?([^/?]+)\/?(?:\?(.*))?$/i.exec(connectionString) ?? [];
  const [host] = hosts.split(',');
  if (host === undefined || host === '') return undefined;
  const tls = new URLSearchParams(query.toLowerCase()).get('tls') !== 'false';
  return `${tls ? 'https' : 'http'}://${/:\d+$/.test(host) ? host : `${host}:2113`}`;
};

const dateFrom = (session: ClientHttp2Session, signal: AbortSignal): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    session.once('error', reject);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
    const asked = session.request({ ':method': 'GET', ':path': '/health/live' });
    asked.once('response', ({ date }) => resolve(date));
    asked.once('error', reject);
    asked.resume();
    asked.end();
  });

/**
 * Asks the server for the time by the header that every HTTP answer may have. undefined where it has none:
 * then nothing is known. `skewMs`: its clock minus ours; a whole second is all that it tells, so smaller ones
 * mean nothing.
 */
export const serverClock = async (
  connectionString: string,
  signal: AbortSignal,
): Promise<{ readonly skewMs: number } | undefined> => {
  const host = firstHostOf(connectionString);
  if (host === undefined) return undefined;
  const session = connect(host);
  try {
    const before = Date.now();
    const date = await dateFrom(session, signal);
    const middle = (before + Date.now()) / 2;
    const theirs = date === undefined ? NaN : Date.parse(date);
    // The header is cut to the second: on average half of one is missing.
    return Number.isNaN(theirs) ? undefined : { skewMs: Math.round(theirs + 500 - middle) };
  } finally {
    session.destroy();
  }
};

/** The server did not answer in time. The client itself has no timers. */
export class ServerSilent extends Error {
  constructor(what: string, ms: number) {
    super(`EventStoreDB did not answer ${what} within ${String(ms)} ms`);
    this.name = 'ServerSilent';
  }
}

export interface TimeLimit {
  readonly what: string;
  readonly ms: number;
}

/** Rejects with `ServerSilent` after the limit; what `promise` does later is ignored. */
export const within = async <T>(promise: Promise<T>, { what, ms }: TimeLimit): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ServerSilent(what, ms)), ms);
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    clearTimeout(timer);
  }
};

const BUFFER = 1024;
const QUEUE_FULL = 2048;
const QUEUE_LOW = 512;

interface Subscribing {
  readonly client: EventStoreDBClient;
  readonly options: FeedOptions;
  /** For the server's confirmation. */
  readonly timeoutMs: number;
  /** Aborts when the log is closed. */
  readonly closing: AbortSignal;
  readonly onConfirmed: () => void;
}

/**
 * One subscription to `$all`. It ends when its subscriber says so; an end by anybody else is thrown, also
 * a graceful one, which the client does not tell from an end that was asked for. The subscription is read by
 * events and not by its own iterator, because its marks (caught up, checkpoint) overtake events that it still
 * buffers; here each mark waits for the events sent before it.
 */
export async function* subscribeToAll(subscribing: Subscribing): AsyncGenerator<FeedItem, void, void> {
  const { closing, options } = subscribing;
  const { signal } = options;
  if (signal?.aborted === true) return;
  const queue = itemQueue<FeedItem>();
  const subscription = started(subscribing, queue);
  const abort = () => queue.end();
  const close = () => queue.end(new Error('the log was closed'));
  signal?.addEventListener('abort', abort, { once: true });
  closing.addEventListener('abort', close, { once: true });
  try {
    for (let item = await queue.next(); item !== undefined; item = await queue.next()) {
      if (aborted(signal)) return;
      yield item;
      if (subscription.isPaused() && queue.size() < QUEUE_LOW) subscription.resume();
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    closing.removeEventListener('abort', close);
    queue.end();
    void subscription.unsubscribe().catch(() => undefined);
    subscription.resume();
  }
}

const aborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;

const started = (subscribing: Subscribing, queue: ItemQueue<FeedItem>): AllStreamSubscription => {
  const { client, options, timeoutMs, onConfirmed } = subscribing;
  const { after } = options;
  const marks = orderedMarks(queue);
  const subscription = client.subscribeToAll(
    {
      fromPosition: after === undefined ? START : { commit: after, prepare: after },
      filter: filterOf(options, (position) => marks.checkpoint(subscription, position)),
    },
    { highWaterMark: BUFFER },
  );
  const silent = setTimeout(() => queue.end(new ServerSilent('a subscription', timeoutMs)), timeoutMs);
  const isWanted = wantedOf(options);

  subscription.on('confirmation', () => {
    clearTimeout(silent);
    onConfirmed();
  });
  subscription.on('caughtUp', () => marks.caughtUp(subscription));
  subscription.on('error', (error) => queue.end(error));
  const ended = () => queue.end(new Error('the subscription ended'));
  subscription.on('end', ended);
  subscription.on('close', () => {
    clearTimeout(silent);
    ended();
  });
  subscription.on('data', (resolved) => {
    try {
      const event = isSystem(resolved, options) ? undefined : recorded(resolved);
      if (event !== undefined && isWanted(event.stream)) queue.push({ kind: 'event', event });
      marks.passed(event?.position);
    } catch (error) {
      queue.end(error instanceof Error ? error : new Error(String(error)));
    }
    if (queue.size() > QUEUE_FULL) subscription.pause();
  });
  return subscription;
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
const filterOf = (
  { categories, own = false }: FeedOptions,
  onCheckpoint: (position: bigint) => void,
): Filter => {
  const checkpointReached = (_: unknown, { commit }: { readonly commit: bigint }): Promise<void> => {
    onCheckpoint(commit);
    return Promise.resolve();
  };
  const settings = { checkpointInterval: CHECKPOINT_INTERVAL, checkpointReached };
  if (categories === undefined)
    return streamNameFilter({ ...settings, regex: own ? `^(${VISIBLE}|${OWN})` : `^${VISIBLE}` });
  return streamNameFilter({ ...settings, prefixes: [...categories, ...(own ? OWN_STREAMS : [])] });
};

const CHECKPOINT_INTERVAL = 8;

interface Marks {
  readonly caughtUp: (subscription: AllStreamSubscription) => void;
  readonly checkpoint: (subscription: AllStreamSubscription, position: bigint) => void;
  /** One more event has left the subscription's buffer. */
  readonly passed: (position: bigint | undefined) => void;
}

/**
 * Checkpoints count only once live, and not the first one: several server versions send a checkpoint
 * while catching up or when going live that runs ahead of events not yet sent.
 */
const orderedMarks = (queue: ItemQueue<FeedItem>): Marks => {
  const waiting: { readonly at: number; readonly item: FeedItem }[] = [];
  let received = 0;
  let reached = -1n;
  let live = false;
  let liveCheckpoints = 0;

  const flush = () => {
    while (waiting[0] !== undefined && waiting[0].at <= received) {
      const item = waiting.shift()?.item;
      // A checkpoint often stands at the event just delivered: it says nothing new.
      if (item?.kind === 'checkpoint' && item.position <= reached) continue;
      if (item !== undefined) queue.push(item);
    }
  };
  const add = (buffered: number, item: FeedItem) => {
    waiting.push({ at: received + buffered, item });
    flush();
  };
  return {
    caughtUp: ({ readableLength }) => {
      if (!live) add(readableLength, { kind: 'caught_up' });
      live = true;
    },
    checkpoint: ({ readableLength }, position) => {
      if (!live) return;
      liveCheckpoints += 1;
      if (liveCheckpoints > 1) add(readableLength, { kind: 'checkpoint', position });
    },
    passed: (position) => {
      received += 1;
      reached = position ?? reached;
      flush();
    },
  };
};
