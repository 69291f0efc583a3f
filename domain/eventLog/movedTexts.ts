import { z } from 'zod';
import { instant } from '../kernel/amounts.ts';
import { event } from '../kernel/decider.ts';
import type { EventFeed, EventStore, FeedItem } from '../ports/log.ts';
import type { RecordedEvent } from '../kernel/recorded.ts';
import { withoutTexts } from './writtenText.ts';
import { identityOf } from './eventLog.ts';

/**
 * The texts of all events before this one are in the vault, unless they were erased: readers of such an event get
 * tokens in their place. The events themselves stay as they are.
 */
const textsMoved = event('TextsMoved', {
  /** That had a text in them. */
  events: z.int().min(0),
  texts: z.int().min(0),
  /** Texts that were left out: their document or tenant was erased. */
  erased: z.int().min(0),
  moved_at: instant,
});

export const movedTextsEvent = z.discriminatedUnion('type', [textsMoved]);

export type TextsMoved = z.output<typeof textsMoved>;

export const TEXTS_STREAM = 'texts';

type Readable = Pick<EventStore, 'read'>;

/** Events before this one are not read as they are; undefined: there is none. */
export const lastMove = async (log: Readable): Promise<RecordedEvent | undefined> => {
  for await (const one of log.read(TEXTS_STREAM, { direction: 'backwards', limit: 1 })) return one;
  return undefined;
};

/** What read models are made from: the log by its identity, and since when texts are moved out of its events. */
export const sourceOf = async (log: Readable): Promise<string | undefined> => {
  const [logId, moved] = [await identityOf(log), await lastMove(log)];
  return logId === undefined || moved === undefined ? logId : `${logId} ${moved.id}`;
};

/** A move by another process is known after so long, ms. */
const KNOWN_MS = 60_000;

/** Position of the last move, looked up now and then. */
const knownMove = (log: Readable): (() => Promise<bigint | undefined>) => {
  let found: Promise<bigint | undefined> | undefined;
  let foundAt = -Infinity;
  return () => {
    if (found !== undefined && performance.now() - foundAt < KNOWN_MS) return found;
    foundAt = performance.now();
    const looking = lastMove(log).then((one) => one?.position);
    looking.catch(() => {
      if (found === looking) found = undefined;
    });
    found = looking;
    return looking;
  };
};

/** Tells of an event, once it is asked, what of it was moved. */
const marked = (recorded: RecordedEvent, before: bigint): RecordedEvent => {
  if (recorded.position >= before) return recorded;
  let moved: ReturnType<typeof withoutTexts> | null = null;
  return Object.assign(recorded, {
    moved: () => (moved === null ? (moved = withoutTexts(recorded)) : moved),
  });
};

/** Reads what `open` gives; where texts were moved, each item as `change` makes it. */
const through = <Item>(
  open: () => AsyncIterable<Item>,
  moved: () => Promise<bigint | undefined>,
  change: (item: Item, before: bigint) => Item,
): AsyncIterable<Item> => ({
  [Symbol.asyncIterator]: () => {
    const inner = open()[Symbol.asyncIterator]();
    let before: bigint | undefined;
    const changed = async (): Promise<IteratorResult<Item, unknown>> => {
      const step = await inner.next();
      return step.done === true || before === undefined ? step : { value: change(step.value, before) };
    };
    let next = async (): Promise<IteratorResult<Item, unknown>> => {
      before = await moved();
      // Most logs have no move: then nothing stands between them and their reader.
      next = before === undefined ? () => inner.next() : changed;
      return next();
    };
    return {
      next: () => next(),
      return: async () => (await inner.return?.()) ?? { done: true, value: undefined },
    };
  },
});

/**
 * A log that is read through the last move of texts: `moved` gives readers the content of an
 * event before it. `before`: a position to take for that of the move.
 */
export const readThrough = <Log extends EventStore & EventFeed>(log: Log, before?: bigint): Log => {
  const move = before === undefined ? knownMove(log) : () => Promise.resolve(before);
  const changeItem = (item: FeedItem, at: bigint): FeedItem =>
    item.kind === 'event' ? { kind: 'event', event: marked(item.event, at) } : item;
  return {
    ...log,
    read: (stream, options) => through(() => log.read(stream, options), move, marked),
    subscribe: (options) => through(() => log.subscribe(options), move, changeItem),
    backwards: (options) => through(() => log.backwards(options), move, marked),
  };
};
