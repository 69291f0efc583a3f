import { BACKWARDS, END, FORWARDS, NO_STREAM, START, jsonEvent } from '@eventstore/db-client';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { encodeBatch } from '../../domain/kernel/batch.ts';
import type { Batch } from '../../domain/kernel/batch.ts';
import type { BackwardsOptions, EventFeed } from '../../domain/ports/eventFeed.ts';
import {
  LogUnavailable,
  type AppendResult,
  type EventStore,
  type ReadOptions,
  type RecordedEvent,
} from '../../domain/ports/eventStore.ts';
import type { SnapshotStore } from '../../domain/ports/snapshotStore.ts';
import { appendConnection, connection } from './connection.ts';
import type { Connection } from './connection.ts';
import { detailOf, isStreamNotFound, outcomeOf } from './outcome.ts';
import { reading } from './reading.ts';
import { isSystem, recorded } from './recorded.ts';
import { snapshotsIn } from './snapshots.ts';
import { subscribeToAll } from './subscription.ts';
import { within } from './timeLimit.ts';

const APPEND_TIMEOUT_MS = 2500;
const READ_TIMEOUT_MS = 10_000;
/** Sent as a point in time by our clock: far enough ahead that a skew between clocks does not matter. */
const SERVER_DEADLINE_MS = 120_000;

export interface EventStoreDbOptions {
  /** `esdb://host:port?tls=false`; credentials, if any, stand in it. */
  readonly connectionString: string;
  readonly appendTimeoutMs?: number;
  /** For the next event of a read, and for the confirmation of a subscription. */
  readonly readTimeoutMs?: number;
}

/** The log in EventStoreDB. */
export type EventStoreDb = EventStore & EventFeed & { readonly snapshots: SnapshotStore };

interface Store {
  readonly appends: Connection;
  readonly reads: Connection;
  readonly appendTimeoutMs: number;
  readonly readTimeoutMs: number;
}

/** Nothing is dialled before the first call. Throws on a connection string that makes no sense. */
export const openEventStoreDb = (options: EventStoreDbOptions): EventStoreDb => {
  const { connectionString, appendTimeoutMs = APPEND_TIMEOUT_MS, readTimeoutMs = READ_TIMEOUT_MS } = options;
  const reads = connection(connectionString);
  reads.client();
  const store = { appends: appendConnection(connectionString), reads, appendTimeoutMs, readTimeoutMs };
  const closing = new AbortController();

  return {
    snapshots: snapshotsIn({
      read: (stream, readOptions) => read(store, stream, readOptions),
      client: store.appends.client,
      timeoutMs: appendTimeoutMs,
      deadlineMs: SERVER_DEADLINE_MS,
    }),
    epoch: () => epochOf(store),
    append: (...[stream, expected, events, epoch]) => append(store, { stream, expected, events }, epoch),
    read: (stream, readOptions = {}) => read(store, stream, readOptions),
    subscribe: (subscribed) => {
      const subscribing = { options: subscribed, timeoutMs: readTimeoutMs, closing: closing.signal };
      return counted(reads, (client) =>
        subscribeToAll({ ...subscribing, client, onConfirmed: () => reads.succeeded(client) }),
      );
    },
    backwards: (options) => readBackwards(store, options),
    head: () => head(store),
    end: () => end(store),
    close: async () => {
      closing.abort();
      await Promise.all([store.appends.close(), reads.close()]);
    },
  };
};

/** Either connection: over one the state was read that the other writes on. */
const epochOf = ({ appends, reads }: Store): number => appends.epoch() + reads.epoch();

const append = async (store: Store, batch: Batch, epoch?: number): Promise<AppendResult> => {
  const encoded = encodeBatch(batch);
  if (encoded.kind === 'rejected') return encoded;
  const { stream, expected, events } = batch;
  const { appends, appendTimeoutMs: ms } = store;
  const client = appends.client();
  try {
    const client = await within(appends.ready(), { what: 'the connection for appends', ms });
    if (epoch !== undefined && epoch !== epochOf(store)) return { kind: 'moved' };
    const written = await within(
      client.appendToStream(
        stream,
        events.map(({ id, type, data, metadata }) => jsonEvent({ id, type, data, metadata })),
        { expectedRevision: expected === 'no_stream' ? NO_STREAM : expected, deadline: SERVER_DEADLINE_MS },
      ),
      { what: 'an append', ms },
    );
    appends.succeeded(client);
    const revision = written.nextExpectedRevision;
    const position = written.position?.commit ?? (await positionAt(store, stream, revision));
    return { kind: 'appended', revision, position };
  } catch (error) {
    const outcome = outcomeOf(error);
    if (outcome.kind === 'unknown') appends.failed(client);
    else appends.succeeded(client);
    return outcome;
  }
};

/** A repeated append may be answered without a position; the event itself has it. */
const positionAt = async (store: Store, stream: string, revision: bigint): Promise<bigint> => {
  for await (const event of read(store, stream, { from: revision, limit: 1 })) return event.position;
  throw new Error(`${stream} has no revision ${String(revision)}`);
};

async function* read(
  { reads, readTimeoutMs }: Store,
  stream: string,
  { from, direction = 'forwards', limit = Infinity }: ReadOptions,
): AsyncGenerator<RecordedEvent, void, void> {
  if (limit <= 0) return;
  const forwards = direction === 'forwards';
  const items = counted(reads, (client) =>
    reading(
      client.readStream(stream, {
        direction: forwards ? FORWARDS : BACKWARDS,
        fromRevision: from ?? (forwards ? START : END),
        maxCount: Math.min(limit, Number.MAX_SAFE_INTEGER),
      }),
      { what: `a read of ${stream}`, ms: readTimeoutMs },
    ),
  );
  for await (const resolved of items) {
    const event = recorded(resolved);
    if (event !== undefined) yield event;
  }
}

/** Tells the connection how a read went. A stream of which the server says that it is not there is empty. */
async function* counted<T>(
  reads: Connection,
  open: (client: EventStoreDBClient) => AsyncIterable<T>,
): AsyncGenerator<T, void, void> {
  const client = reads.client();
  try {
    yield* open(client);
  } catch (error) {
    if (!isStreamNotFound(error)) {
      reads.failed(client);
      throw new LogUnavailable(`EventStoreDB cannot be read: ${detailOf(error)}`, { cause: error });
    }
  }
  reads.succeeded(client);
}

const end = async ({ reads, readTimeoutMs }: Store): Promise<bigint | undefined> => {
  const last = counted(reads, (client) =>
    reading(client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }), {
      what: 'a read of $all',
      ms: readTimeoutMs,
    }),
  );
  for await (const { commitPosition, event } of last) return event?.position.commit ?? commitPosition;
  return undefined;
};

/** All of `$all` from its end, without what the server has written for itself. */
async function* readBackwards(
  { reads, readTimeoutMs }: Store,
  { before, signal }: BackwardsOptions,
): AsyncGenerator<RecordedEvent, void, void> {
  const fromPosition = before === undefined ? END : { commit: before, prepare: before };
  const items = counted(reads, (client) =>
    reading(client.readAll({ direction: BACKWARDS, fromPosition, maxCount: Number.MAX_SAFE_INTEGER }), {
      what: 'a read of $all',
      ms: readTimeoutMs,
    }),
  );
  for await (const resolved of items) {
    if (signal?.aborted === true) return;
    const event = isSystem(resolved, { own: true }) ? undefined : recorded(resolved);
    if (event !== undefined && (before === undefined || event.position < before)) yield event;
  }
}

const HEAD_PAGE = 32;
const HEAD_PAGE_MAX = 8192;

/** Backwards from the end of `$all`, over what the server has written for itself. */
const head = async ({ reads, readTimeoutMs }: Store): Promise<bigint | undefined> => {
  let from: bigint | undefined;
  for (let maxCount = HEAD_PAGE; ; maxCount = Math.min(maxCount * 4, HEAD_PAGE_MAX)) {
    const fromPosition = from === undefined ? END : { commit: from, prepare: from };
    const page = counted(reads, (client) =>
      reading(client.readAll({ direction: BACKWARDS, fromPosition, maxCount }), {
        what: 'a read of $all',
        ms: readTimeoutMs,
      }),
    );
    let seen = 0;
    for await (const resolved of page) {
      if (!isSystem(resolved)) return recorded(resolved)?.position;
      seen += 1;
      from = resolved.commitPosition;
    }
    if (seen < maxCount) return undefined;
  }
};
