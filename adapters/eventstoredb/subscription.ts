import { START, streamNameFilter } from '@eventstore/db-client';
import type { AllStreamSubscription, EventStoreDBClient, Filter } from '@eventstore/db-client';
import { categoryOf } from '../../domain/kernel/batch.ts';
import { OWN_STREAMS, SNAPSHOT_CATEGORY, isOwn } from '../../domain/kernel/ownStreams.ts';
import type { FeedItem, FeedOptions } from '../../domain/ports/eventFeed.ts';
import { itemQueue } from './itemQueue.ts';
import type { ItemQueue } from './itemQueue.ts';
import { isSystem, recorded } from './recorded.ts';
import { ServerSilent } from './timeLimit.ts';

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
