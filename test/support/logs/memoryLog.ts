import { isHidden, isLeftOut, type JsonObject } from '../../../domain/kernel/json.ts';
import { type FeedItem, type FeedOptions, type KnownLog, LogUnavailable } from '../../../domain/ports/log.ts';
import type { RecordedEvent } from '../../../domain/kernel/recorded.ts';

/** A log in memory, with faults to switch on. Positions have gaps, as a shared log's have. */
export interface MemoryLog extends KnownLog {
  /** Takes the last events away, as an older copy of the log has them; and all subscriptions with them. */
  readonly goBack: (to: number) => void;
  readonly append: (stream: string, type: string, data: JsonObject) => RecordedEvent;
  readonly events: () => readonly RecordedEvent[];
  /** Ends every open subscription by an error. */
  readonly drop: (error?: Error) => void;
  /** Open subscriptions deliver nothing any more; new ones do. */
  readonly silence: () => void;
  /** A position that no event has: something was filtered out. */
  readonly skip: () => bigint;
  readonly subscriptions: () => number;
  /** Deliver events again from this many before the position asked for. */
  redeliver: number;
}

interface Reader {
  readonly wake: () => void;
  fault: Error | undefined;
  silent: boolean;
}

/** When all events of such a log were recorded. */
export const RECORDED_AT = '2026-01-31T08:00:00.000Z';

/** `given`: what it begins with. */
export const memoryLog = (given: readonly RecordedEvent[] = []): MemoryLog => {
  const events: RecordedEvent[] = [...given];
  const revisions = new Map(given.map(({ stream, revision }) => [stream, revision]));
  const readers = new Set<Reader>();
  let last = given.at(-1)?.position ?? 0n;
  let head = given.findLast(({ stream }) => !isHidden(stream))?.position;
  let opened = 0;

  const nextPosition = () => (last += 3n);

  const read = async function* (options: FeedOptions): AsyncGenerator<FeedItem> {
    const { after, signal } = options;
    opened += 1;
    let wake: () => void = () => undefined;
    const reader: Reader = { wake: () => wake(), fault: undefined, silent: false };
    readers.add(reader);
    const delivered = events.filter(({ position }) => after !== undefined && position <= after).length;
    let at = Math.max(delivered - log.redeliver, 0);
    let caughtUp = false;
    const onAbort = () => reader.wake();
    signal?.addEventListener('abort', onAbort);
    const isOver = () => {
      if (reader.fault !== undefined) throw reader.fault;
      return signal?.aborted === true;
    };
    try {
      while (!isOver()) {
        while (events[at] !== undefined && isLeftOut(events[at]!.stream, options)) at += 1;
        const event = reader.silent ? undefined : events[at];
        if (event !== undefined) {
          at += 1;
          yield { kind: 'event', event };
        } else if (!caughtUp) {
          caughtUp = true;
          yield { kind: 'caught_up' };
        } else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      readers.delete(reader);
      signal?.removeEventListener('abort', onAbort);
    }
  };

  const log: MemoryLog = {
    redeliver: 0,
    subscribe: read,
    // eslint-disable-next-line @typescript-eslint/require-await -- the port is asynchronous
    backwards: async function* ({ before }) {
      for (const event of [...events].reverse())
        if ((before === undefined || event.position < before) && !isLeftOut(event.stream, { own: true }))
          yield event;
    },
    head: () => Promise.resolve(head),
    end: () => Promise.resolve(last === 0n ? undefined : last),
    // eslint-disable-next-line @typescript-eslint/require-await -- the port is asynchronous
    read: async function* (stream, { from = 0n, direction = 'forwards', limit = Infinity } = {}) {
      const found = events.filter((event) => event.stream === stream && event.revision >= from);
      yield* (direction === 'forwards' ? found : found.reverse()).slice(0, limit);
    },
    goBack: (to) => {
      events.splice(to);
      revisions.clear();
      for (const { stream, revision } of events) revisions.set(stream, revision);
      last = events.at(-1)?.position ?? 0n;
      head = events.findLast(({ stream }) => !isHidden(stream))?.position;
      log.drop();
    },
    events: () => events,
    subscriptions: () => opened,
    skip: () => (head = nextPosition()),
    append: (stream, type, data) => {
      const revision = (revisions.get(stream) ?? -1n) + 1n;
      revisions.set(stream, revision);
      const position = nextPosition();
      if (!isHidden(stream)) head = position;
      const id = `00000000-0000-4000-8000-${String(position).padStart(12, '0')}`;
      const metadata = {
        schema_version: 1,
        recorded_at: RECORDED_AT,
        actor: { key_id: 'key_1', role: 'admin' },
        hash: `hash of ${id} ${JSON.stringify(data)}`,
      };
      const event: RecordedEvent = { id, type, data, metadata, stream, revision, position };
      events.push(event);
      for (const reader of readers) reader.wake();
      return event;
    },
    drop: (error = new LogUnavailable('the subscription was dropped')) => {
      for (const reader of readers) {
        reader.fault = error;
        reader.wake();
      }
    },
    silence: () => {
      for (const reader of readers) reader.silent = true;
    },
  };
  return log;
};
