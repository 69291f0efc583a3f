import type { EventFeed, FeedItem } from '../../../domain/ports/eventFeed.ts';

/** What has arrived from the feed and waits to be applied. */
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
  feed: EventFeed,
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
