import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { EventFeed, FeedItem, FeedOptions } from '../../../domain/ports/log.ts';
import type { NewEvent, RecordedEvent } from '../../../domain/kernel/recorded.ts';

const DEADLINE_MS = 60_000;

/** An event with a new ID. */
export const newEvent = (data: JsonObject = { n: 1 }): NewEvent => ({
  id: randomUUID(),
  type: 'SomethingHappened',
  data,
  metadata: { schema_version: 1, by: 'contract' },
});

export const batchOf = (size: number): readonly NewEvent[] =>
  Array.from({ length: size }, (_, n) => newEvent({ n }));

export const idsOf = (events: readonly NewEvent[]): readonly string[] => events.map(({ id }) => id);

export const taken = async <T>(items: AsyncIterable<T>): Promise<readonly T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};

export const eventsOf = (items: readonly FeedItem[]): readonly RecordedEvent[] =>
  items.flatMap((item) => (item.kind === 'event' ? [item.event] : []));

interface Until {
  readonly done: (items: readonly FeedItem[]) => boolean;
  readonly onItem?: (item: FeedItem) => void;
}

const follow = async (feed: EventFeed, options: FeedOptions, { done, onItem }: Until) => {
  const controller = new AbortController();
  const deadline = setTimeout(() => controller.abort(), DEADLINE_MS);
  const items: FeedItem[] = [];
  let reached = options.after ?? -1n;
  for await (const item of feed.subscribe({ ...options, signal: controller.signal })) {
    items.push(item);
    if (item.kind !== 'caught_up') {
      const position = item.kind === 'event' ? item.event.position : item.position;
      expect(position > reached, `${String(position)} comes after ${String(reached)}`).to.equal(true);
      reached = position;
    }
    onItem?.(item);
    if (done(items)) break;
  }
  clearTimeout(deadline);
  expect(done(items), `all was delivered within the deadline, got ${items.length} items`).to.equal(true);
  return items;
};

/** What the feed delivers up to and including the first item of a kind; positions must rise. */
export const until = (feed: EventFeed, options: FeedOptions, kind: FeedItem['kind']) =>
  follow(feed, options, { done: (items) => items.at(-1)?.kind === kind });

/** What the feed delivers up to a number of events; positions must rise. */
export const everything = (
  feed: EventFeed,
  options: FeedOptions,
  { events, onCaughtUp }: { readonly events: number; readonly onCaughtUp?: () => void },
) => {
  let count = 0;
  const onItem = (item: FeedItem) => {
    if (item.kind === 'event') count += 1;
    if (item.kind === 'caught_up') onCaughtUp?.();
  };
  return follow(feed, options, { done: () => count >= events, onItem });
};
