import type { EventStoreDBClient } from '@eventstore/db-client';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import type { CallOptions, ClientReadableStream, Metadata } from '@grpc/grpc-js';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { bigintAt, type Cursor, endAt, fields, textAt } from './protobuf.ts';

// Reads go past the client's own streams: these turn each message into an object of objects, parse all of its JSON,
// and hand it through two more streams, for twice the time (docs/adr/0053-one-append-of-a-stream-at-a-time.md).

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

/** An event as it came, its JSON not yet parsed: most of what a feed leaves out is told by its stream and type. */
export interface Arrived {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly isJson: boolean;
  readonly data: string;
  readonly metadata: string;
}

/** A message of the server. `event`: undefined for one that is gone. `position`: of the place in the whole log. */
export type Served =
  | { readonly kind: 'event'; readonly event: Arrived | undefined; readonly position: bigint | undefined }
  | { readonly kind: 'checkpoint'; readonly position: bigint }
  | { readonly kind: 'confirmed' | 'not_found' | 'caught_up' | 'other' };

/** The event with its JSON; undefined for one that is gone. Throws on one that is no JSON object. */
export const recorded = (arrived: Arrived | undefined): RecordedEvent | undefined => {
  if (arrived === undefined) return undefined;
  const { id, type, stream, revision, position } = arrived;
  const data = arrived.isJson ? objectOf(arrived.data) : undefined;
  if (data === undefined) throw new Error(`event ${id} in ${stream} is not a JSON object`);
  return { id, type, stream, revision, position, data, metadata: objectOf(arrived.metadata) ?? {} };
};

const objectOf = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
};

/** The text within a message that has one: a stream's name in its identifier, an ID in its UUID. */
const innerText = (cursor: Cursor, wanted: number): string => {
  let text = '';
  fields(cursor, endAt(cursor), (field) => {
    if (field !== wanted) return false;
    text = textAt(cursor);
    return true;
  });
  return text;
};

type Draft = { -readonly [name in keyof Arrived]: Arrived[name] };

/** An entry of the server's own metadata: of interest are the type, and whether it is JSON. */
const readEntry = (cursor: Cursor, to: Draft): void => {
  const entry = ['', ''];
  fields(cursor, endAt(cursor), (field) => {
    entry[field - 1] = textAt(cursor);
    return true;
  });
  if (entry[0] === 'type') to.type = entry[1] ?? '';
  if (entry[0] === 'content-type') to.isJson = entry[1] === 'application/json';
};

/** Numbers of fields, as `streams.proto` has them. */
const readers: Readonly<Record<number, (cursor: Cursor, to: Draft) => void>> = {
  1: (cursor, to) => void (to.id = innerText(cursor, 2)),
  2: (cursor, to) => void (to.stream = innerText(cursor, 3)),
  3: (cursor, to) => void (to.revision = bigintAt(cursor)),
  5: (cursor, to) => void (to.position = bigintAt(cursor)),
  6: readEntry,
  7: (cursor, to) => void (to.metadata = textAt(cursor)),
  8: (cursor, to) => void (to.data = textAt(cursor)),
};

const arrivedAt = (cursor: Cursor): Arrived => {
  const made: Draft = {
    id: '',
    type: '',
    stream: '',
    revision: 0n,
    position: 0n,
    isJson: false,
    data: '',
    metadata: '',
  };
  fields(cursor, endAt(cursor), (field) => {
    const read = readers[field];
    read?.(cursor, made);
    return read !== undefined;
  });
  return made;
};

const eventAt = (cursor: Cursor): Served => {
  let [event, position]: [Arrived | undefined, bigint | undefined] = [undefined, undefined];
  fields(cursor, endAt(cursor), (field) => {
    if (field === 1) event = arrivedAt(cursor);
    else if (field === 3) position = bigintAt(cursor);
    else return false;
    return true;
  });
  return { kind: 'event', event, position };
};

const checkpointAt = (cursor: Cursor): Served => {
  let position = 0n;
  fields(cursor, endAt(cursor), (field) => {
    if (field !== 1) return false;
    position = bigintAt(cursor);
    return true;
  });
  return { kind: 'checkpoint', position };
};

const MARKS: Readonly<Record<number, 'confirmed' | 'not_found' | 'caught_up'>> = {
  2: 'confirmed',
  4: 'not_found',
  8: 'caught_up',
};

/** A message of `Streams/Read`, whose content is its only field that we know. */
export const decodeServed = (bytes: Buffer): Served => {
  let served: Served = { kind: 'other' };
  const cursor = { bytes, at: 0 };
  fields(cursor, bytes.length, (field) => {
    if (field === 1) served = eventAt(cursor);
    else if (field === 3) served = checkpointAt(cursor);
    else {
      const mark = MARKS[field];
      if (mark !== undefined) served = { kind: mark };
      return false;
    }
    return true;
  });
  return served;
};

/** Where a read begins, and in which direction. `place`: of the stream, or of the whole log. */
export interface Asked {
  /** undefined: the whole log. */
  readonly stream?: string;
  /** undefined: the first (forwards) or the last (backwards). */
  readonly place?: bigint | undefined;
  readonly isBackwards?: boolean;
  readonly limit?: number;
  /** A subscription, which goes on with what comes, to streams that match. */
  readonly follow?: Filter;
}

/** `regex`: as .NET reads it; else one of the prefixes. */
export type Filter = ({ readonly regex: string } | { readonly prefixes: readonly string[] }) & {
  /** In units of 32 events that the server looks at. */
  readonly checkpointInterval: number;
};

const { Options } = streamsPb.ReadReq;
const nothing = () => new sharedPb.Empty();

const streamOptions = ({ stream = '', place, isBackwards }: Asked) => {
  const identifier = new sharedPb.StreamIdentifier().setStreamName(new TextEncoder().encode(stream));
  const options = new Options.StreamOptions().setStreamIdentifier(identifier);
  if (place !== undefined) return options.setRevision(String(place));
  return isBackwards === true ? options.setEnd(nothing()) : options.setStart(nothing());
};

const allOptions = ({ place, isBackwards }: Asked) => {
  const options = new Options.AllOptions();
  if (place === undefined)
    return isBackwards === true ? options.setEnd(nothing()) : options.setStart(nothing());
  const position = new Options.Position().setCommitPosition(String(place)).setPreparePosition(String(place));
  return options.setPosition(position);
};

const filterOptions = (filter: Filter) => {
  const expression = new Options.FilterOptions.Expression();
  if ('regex' in filter) expression.setRegex(filter.regex);
  else expression.setPrefixList([...filter.prefixes]);
  const options = new Options.FilterOptions().setStreamIdentifier(expression).setCount(nothing());
  return options.setCheckpointintervalmultiplier(filter.checkpointInterval);
};

const requestOf = (asked: Asked): ReadReq => {
  const { stream, isBackwards, limit = Infinity, follow } = asked;
  const options = new Options().setUuidOption(new Options.UUIDOption().setString(nothing()));
  if (stream === undefined) options.setAll(allOptions(asked));
  else options.setStream(streamOptions(asked));
  options.setReadDirection(isBackwards === true ? 1 : 0);
  if (follow === undefined)
    options.setNoFilter(nothing()).setCount(String(Math.min(limit, Number.MAX_SAFE_INTEGER)));
  else options.setFilter(filterOptions(follow)).setSubscription(new Options.SubscriptionOptions());
  return new streamsPb.ReadReq().setOptions(options);
};

type Call = ClientReadableStream<Served>;

/** What the client keeps for those that extend it: its connection, its user, and what its `dispose` ends. */
interface Caller {
  readonly GRPCStreamCreator: <Of>(
    client: typeof StreamsClient,
    name: string,
    begin: (grpc: StreamsClient) => Of,
  ) => () => Promise<Of>;
  readonly callArguments: (of: object, options: CallOptions) => [Metadata, CallOptions];
  readonly supports: (method: { readonly path: string }) => Promise<boolean>;
}

export const callerOf = (client: EventStoreDBClient): Caller => client as unknown as Caller;

const begin = (client: EventStoreDBClient, asked: Asked): Promise<Call> => {
  const caller = callerOf(client);
  const { path, requestSerialize } = streamsGrpc.StreamsService.read;
  return caller.GRPCStreamCreator(streamsGrpc.StreamsClient, 'read', (grpc) => {
    // A follower may be seconds behind. It refuses such a read, and the client goes to the leader that it names.
    const [metadata, options] = caller.callArguments({ requiresLeader: true }, { deadline: Infinity });
    const request = requestOf(asked);
    const call = grpc.makeServerStreamRequest(
      path,
      requestSerialize,
      decodeServed,
      request,
      metadata,
      options,
    );
    // An error may come when nobody looks: after the end, or by a cancellation.
    return call.on('error', () => undefined);
  })();
};

/** The status of a call that the server itself has ended, and all of whose messages have arrived. */
const OK = 0;

/** The server's side of a read, message by message. */
export interface Reading {
  /** Arrived events; undefined: nothing more for now. */
  readonly take: () => Served | undefined;
  /**
   * Waits for more, no longer than the limit. False when the server says that it has ended, or after `stop`; throws
   * when it ended otherwise.
   */
  readonly more: (limit?: TimeLimit) => Promise<boolean>;
  /** Ends the wait: by an error, where one is given. */
  readonly stop: (error?: Error) => void;
  /** Has to be called once: leaving a read does not end it by itself. */
  readonly leave: () => void;
}

const readingOf = (call: Call): Reading => {
  const readable: { readonly read: () => Served | null } = call;
  let failure: Error | undefined;
  let isOver = false;
  let wake: () => void = () => undefined;
  const look = () => wake();
  call.on('readable', look);
  call.on('error', (error) => {
    failure ??= error;
    wake();
  });
  call.on('status', ({ code }: { readonly code: number }) => {
    isOver ||= code === OK;
    wake();
  });
  return {
    take: () => readable.read() ?? undefined,
    more: async (limit) => {
      while (call.readableLength === 0) {
        if (failure !== undefined) throw failure;
        if (isOver) return false;
        const woken = new Promise<void>((resolve) => (wake = resolve));
        await (limit === undefined ? woken : within(woken, limit));
      }
      return true;
    },
    stop: (error) => {
      if (error === undefined) isOver = true;
      else failure ??= error;
      wake();
    },
    leave: () => {
      // A call that has ended, but whose last messages were not read, reports no end: the client would keep it.
      call.off('readable', look);
      call.resume();
      setImmediate(() => call.cancel());
    },
  };
};

/** Begins a read. Answers after the limit are ignored. */
export const openRead = async (
  client: EventStoreDBClient,
  asked: Asked,
  limit: TimeLimit,
): Promise<Reading> => {
  const opening = begin(client, asked).then(readingOf);
  try {
    return await within(opening, limit);
  } catch (error) {
    void opening.then(({ leave }) => leave()).catch(() => undefined);
    throw error;
  }
};

/** The messages of a read, which is left at the end. `limit`: for the next of them. */
export async function* messagesOf(
  open: () => Promise<Reading>,
  limit: () => TimeLimit | undefined,
): AsyncGenerator<Served, void, void> {
  const reading = await open();
  try {
    while (await reading.more(limit()))
      for (let one = reading.take(); one !== undefined; one = reading.take()) yield one;
  } finally {
    reading.leave();
  }
}

/** A read, of which each message is waited for no longer than the limit. Throws where the server did not end it. */
export const served = (client: EventStoreDBClient, asked: Asked, limit: TimeLimit) =>
  messagesOf(
    () => openRead(client, asked, limit),
    () => limit,
  );
