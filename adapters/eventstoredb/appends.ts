import { randomUUID } from 'node:crypto';
import { convertToCommandError, type EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import type { EncodedEvent } from '../../domain/kernel/chain.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { ExpectedRevision } from '../../domain/kernel/recorded.ts';
import type { AppendResult } from '../../domain/ports/log.ts';
import {
  bigintAt,
  type Cursor,
  type Draft,
  endAt,
  fields,
  putBigint,
  putField,
  putKey,
  putNumber,
  putText,
  textAt,
} from './protobuf.ts';
import { callerOf, ServerSilent, within } from './reads.ts';

// Appends go past the client's own encoding, too: this makes JSON of data again, base64 of it, and of each event two
// messages; and past its map of all that is under way, which is one for all clients of the process
// (docs/adr/0053-one-append-of-a-stream-at-a-time.md).

/** A batch as it is sent. */
export interface Sent {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly EncodedEvent[];
  /** Of all of them. */
  readonly bytes: number;
}

/** What the server said. `position`: undefined where it did not tell it. */
type Answer =
  | { readonly kind: 'appended'; readonly revision: bigint; readonly position: bigint | undefined }
  | Exclude<AppendResult, { readonly kind: 'appended' | 'moved' }>;

/** An append by its number, and the answer to it. */
interface Told {
  readonly number: number;
  readonly answer: Answer;
}

/** Numbers are the last 48 bits of the UUIDs that appends have on their way; the others are those of this process. */
const UUIDS = randomUUID().slice(0, 24);
const NUMBER_DIGITS = 12;
const uuidOf = (number: number): string => UUIDS + number.toString(16).padStart(NUMBER_DIGITS, '0');

/** A point in time by our clock: far enough ahead that a skew between clocks does not matter. */
const DEADLINE_S = 120;

const putEntry = (to: Draft, name: string, value: string): void => {
  const end = to.at;
  putText(to, 2, value);
  putText(to, 1, name);
  putField(to, 2, end);
};

const putUuid = (to: Draft, field: number, uuid: string): void => {
  const end = to.at;
  putText(to, 2, uuid);
  putField(to, field, end);
};

const putEvent = (to: Draft, { id, type, data, metadata }: EncodedEvent): void => {
  const end = to.at;
  putText(to, 4, data);
  putText(to, 3, metadata);
  putEntry(to, 'content-type', 'application/json');
  putEntry(to, 'type', type);
  putUuid(to, 1, id);
  putField(to, 3, end);
};

const putOptions = (to: Draft, { stream, expected }: Sent): void => {
  const end = to.at;
  putNumber(to, Math.ceil(Date.now() / 1000) + DEADLINE_S);
  putKey(to, 1, 0);
  putField(to, 6, end);
  if (expected === 'no_stream') putField(to, 3, to.at);
  else {
    putBigint(to, expected);
    putKey(to, 2, 0);
  }
  const name = to.at;
  putText(to, 3, stream);
  putField(to, 1, name);
  putField(to, 2, end);
};

/** What a message has beside its texts, at most; of each event, and of the append. */
const [BESIDE_EVENT, BESIDE_APPEND] = [128, 128];

/** Numbers of fields, as `streams.proto` has them. */
export const encodeAppend = (sent: Sent, number: number): Buffer => {
  const { stream, events } = sent;
  let room = BESIDE_APPEND + 3 * stream.length + sent.bytes;
  for (const { type } of events) room += BESIDE_EVENT + 3 * type.length;
  const to = { bytes: Buffer.allocUnsafe(room), at: room };
  putNumber(to, 1);
  putKey(to, 4, 0);
  for (let at = events.length - 1; at >= 0; at -= 1) {
    const event = events[at];
    if (event !== undefined) putEvent(to, event);
  }
  putOptions(to, sent);
  putUuid(to, 1, uuidOf(number));
  return to.bytes.subarray(to.at);
};

/** Servers answer with the two halves of a UUID. */
const numberAt = (cursor: Cursor): number => {
  let number = -1;
  fields(cursor, endAt(cursor), (field) => {
    if (field === 1)
      fields(cursor, endAt(cursor), (half) => {
        if (half === 2) number = Number(BigInt.asUintN(4 * NUMBER_DIGITS, bigintAt(cursor)));
        return half === 2;
      });
    else if (field === 2) number = Number.parseInt(textAt(cursor).slice(UUIDS.length), 16);
    else return false;
    return true;
  });
  return number;
};

/** The number within a message, in the field that is wanted. */
const innerNumber = (cursor: Cursor, end: number, wanted: number): bigint | undefined => {
  let number: bigint | undefined;
  fields(cursor, end, (field) => {
    if (field !== wanted) return false;
    number = bigintAt(cursor);
    return true;
  });
  return number;
};

const successAt = (cursor: Cursor): Answer => {
  let [revision, position]: [bigint, bigint | undefined] = [0n, undefined];
  fields(cursor, endAt(cursor), (field) => {
    if (field === 1) revision = bigintAt(cursor);
    else if (field === 3) position = innerNumber(cursor, endAt(cursor), 1) ?? 0n;
    else return false;
    return true;
  });
  return { kind: 'appended', revision, position };
};

/** What is not surely a refusal leaves the outcome unknown. */
const REFUSALS: Readonly<Record<string, (cursor: Cursor, end: number) => Answer>> = {
  WrongExpectedVersion: (cursor, end) => ({
    kind: 'conflict',
    actual: innerNumber(cursor, end, 1) ?? 'no_stream',
  }),
  MaximumAppendSizeExceeded: (cursor, end) => {
    const most = innerNumber(cursor, end, 1) ?? 0n;
    const detail = `the server takes at most ${String(most)} bytes`;
    return { kind: 'rejected', reason: 'too_large', detail };
  },
  AccessDenied: () => ({ kind: 'rejected', reason: 'invalid', detail: 'access-denied' }),
  StreamDeleted: () => ({ kind: 'rejected', reason: 'invalid', detail: 'stream-deleted' }),
};

/** What a status says in detail: a message by the name of its type. */
const detailAt = (cursor: Cursor): Answer | undefined => {
  let [name, at, end] = ['', 0, 0];
  fields(cursor, endAt(cursor), (field) => {
    if (field === 1) name = textAt(cursor);
    else if (field === 2) {
      end = endAt(cursor);
      [at, cursor.at] = [cursor.at, end];
    } else return false;
    return true;
  });
  const refusal = REFUSALS[name.slice(name.lastIndexOf('.') + 1)];
  // A message without any member is left out.
  return refusal?.({ bytes: cursor.bytes, at }, end);
};

const refusalAt = (cursor: Cursor): Answer => {
  let reason = '';
  const told: { answer?: Answer | undefined } = {};
  fields(cursor, endAt(cursor), (field) => {
    if (field === 2) reason = textAt(cursor);
    else if (field === 3) told.answer = detailAt(cursor);
    else return false;
    return true;
  });
  return told.answer ?? { kind: 'unknown', reason: `EventStoreDB answered: ${reason}` };
};

/** A message of `Streams/BatchAppend` of the server. */
export const decodeTold = (bytes: Buffer): Told => {
  let [number, answer]: [number, Answer] = [-1, { kind: 'unknown', reason: 'EventStoreDB said nothing' }];
  const cursor = { bytes, at: 0 };
  fields(cursor, bytes.length, (field) => {
    if (field === 1) number = numberAt(cursor);
    else if (field === 2) answer = refusalAt(cursor);
    else if (field === 3) answer = successAt(cursor);
    else return false;
    return true;
  });
  return { number, answer };
};

/** The call that appends of a client go over: one for all, answered by their numbers. */
export interface AppendCall {
  /** Sends at once. Rejects where the call ends before the answer, or none comes within the time. */
  readonly send: (sent: Sent, ms: number) => Promise<Answer>;
  readonly isOver: () => boolean;
}

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

type Call = ClientDuplexStream<Buffer, Told>;

let numbers = 0;

const ended = (): Error => new Error('EventStoreDB ended the call for appends');

const callOver = (call: Call): AppendCall => {
  const underWay = new Map<number, Waiting>();
  let isOver = false;
  /** Takes one out. A second or a late answer finds none. */
  const taken = (number: number): Waiting | undefined => {
    const waiting = underWay.get(number);
    if (waiting === undefined) return undefined;
    underWay.delete(number);
    clearTimeout(waiting.timer);
    return waiting;
  };
  const end = (error: Error): void => {
    isOver = true;
    for (const number of underWay.keys()) taken(number)?.reject(error);
  };
  call.on('data', ({ number, answer }: Told) => taken(number)?.resolve(answer));
  call.on('error', (error) => end(convertToCommandError(error)));
  call.on('end', () => {
    isOver = true;
  });
  call.on('status', () => end(ended()));
  return {
    isOver: () => isOver,
    send: (sent, ms) =>
      new Promise((resolve, reject) => {
        if (isOver) {
          reject(ended());
          return;
        }
        numbers += 1;
        const number = numbers;
        const silent = (): void => taken(number)?.reject(new ServerSilent('an append', ms));
        underWay.set(number, { resolve, reject, timer: setTimeout(silent, ms) });
        call.write(encodeAppend(sent, number));
      }),
  };
};

const TEXT = new TextEncoder();

/** For a server that has no call for many appends: looked for again before each of them. */
const oneByOne = (client: EventStoreDBClient): AppendCall => ({
  isOver: () => true,
  send: async ({ stream, expected, events }, ms) => {
    const made = events.map(({ id, type, data, metadata }) =>
      // The client makes JSON of data again; metadata as bytes it sends as they are.
      jsonEvent({ id, type, data: JSON.parse(data) as JsonObject, metadata: TEXT.encode(metadata) }),
    );
    const appending = client.appendToStream(stream, made, {
      expectedRevision: expected === 'no_stream' ? NO_STREAM : expected,
      deadline: DEADLINE_S * 1000,
    });
    const { nextExpectedRevision, position } = await within(appending, { what: 'an append', ms });
    return { kind: 'appended', revision: nextExpectedRevision, position: position?.commit };
  },
});

const { batchAppend } = streamsGrpc.StreamsService;

const begin = async (client: EventStoreDBClient): Promise<AppendCall> => {
  const caller = callerOf(client);
  if (!(await caller.supports(batchAppend))) return oneByOne(client);
  const begun = caller.GRPCStreamCreator(streamsGrpc.StreamsClient, 'appendToStream', (grpc) => {
    const [metadata, options] = caller.callArguments({}, { deadline: Infinity });
    const asIs = (bytes: Buffer): Buffer => bytes;
    return grpc.makeBidiStreamRequest(batchAppend.path, asIs, decodeTold, metadata, options);
  });
  return callOver(await begun());
};

const calls = new WeakMap<EventStoreDBClient, AppendCall>();
const beginning = new WeakMap<EventStoreDBClient, Promise<AppendCall>>();

/** The call of a client, where it has one. */
export const appendCallOf = (client: EventStoreDBClient | undefined): AppendCall | undefined => {
  const call = client === undefined ? undefined : calls.get(client);
  return call?.isOver() === false ? call : undefined;
};

/** Begins the call, once for all that wait for it. */
export const openAppendCall = async (client: EventStoreDBClient): Promise<AppendCall> => {
  const known = appendCallOf(client);
  if (known !== undefined) return known;
  const opening = beginning.get(client) ?? begin(client).finally(() => beginning.delete(client));
  beginning.set(client, opening);
  const call = await opening;
  calls.set(client, call);
  return call;
};
