import codePb from '@eventstore/db-client/generated/code_pb.js';
import type { Code } from '@eventstore/db-client/generated/code_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import statusPb from '@eventstore/db-client/generated/status_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import anyPb from 'google-protobuf/google/protobuf/any_pb.js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import type { StoredEvent } from './doubleLog.ts';

const { ALREADY_EXISTS, INVALID_ARGUMENT, PERMISSION_DENIED, UNKNOWN } = codePb.Code;

type Status = InstanceType<typeof statusPb.Status>;
interface Packable {
  serializeBinary(): Uint8Array;
}

const status = (code: Code, name: string, details: Packable): Status => {
  const any = new anyPb.Any();
  any.pack(details.serializeBinary(), `event_store.client.${name}`);
  return new statusPb.Status().setCode(code).setMessage(name).setDetails(any);
};

export const wrongExpectedVersion = (current: number): Status => {
  const details = new sharedPb.WrongExpectedVersion();
  if (current < 0) details.setCurrentNoStream(new emptyPb.Empty());
  else details.setCurrentStreamRevision(String(current));
  return status(ALREADY_EXISTS, 'WrongExpectedVersion', details);
};

export const maximumAppendSizeExceeded = (bytes: number): Status =>
  status(
    INVALID_ARGUMENT,
    'MaximumAppendSizeExceeded',
    new sharedPb.MaximumAppendSizeExceeded().setMaxappendsize(bytes),
  );

export const notReady = (): Status => status(UNKNOWN, 'Unknown', new sharedPb.Unknown());

export const accessDenied = (): Status =>
  status(PERMISSION_DENIED, 'AccessDenied', new sharedPb.AccessDenied());

export const streamIdentifier = (name: string) => {
  const identifier = new sharedPb.StreamIdentifier();
  identifier.setStreamName(Buffer.from(name).toString('base64'));
  return identifier;
};

type Identifier = InstanceType<typeof sharedPb.StreamIdentifier>;

export const streamName = (identifier: Identifier | undefined): string =>
  identifier === undefined ? '' : Buffer.from(identifier.getStreamName_asU8()).toString('utf8');

/** An event as `Streams/Read` sends it. */
export const readEvent = (event: StoredEvent) => {
  const record = new streamsPb.ReadResp.ReadEvent.RecordedEvent();
  record.setId(new sharedPb.UUID().setString(event.id));
  record.setStreamIdentifier(streamIdentifier(event.stream));
  record.setStreamRevision(String(event.revision));
  record.setCommitPosition(String(event.position));
  record.setPreparePosition(String(event.position));
  record.getMetadataMap().set('type', event.type);
  record.getMetadataMap().set('content-type', event.contentType);
  record.getMetadataMap().set('created', event.created);
  record.setData(event.data);
  record.setCustomMetadata(event.metadata);
  const read = new streamsPb.ReadResp.ReadEvent().setEvent(record);
  read.setCommitPosition(String(event.position));
  return new streamsPb.ReadResp().setEvent(read);
};

/** A message out of its fields: the client skips those that its own description does not have. */
const withFields = (...fields: readonly Uint8Array[]): Uint8Array => Buffer.concat(fields);

/** Numbers of protobuf, seven bits a byte. */
const varint = (value: bigint): Uint8Array => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Uint8Array.from([...bytes, Number(rest)]);
};

const [NUMBER, BYTES] = [0n, 2n];
const numberField = (field: bigint, value: bigint): Uint8Array =>
  Buffer.concat([varint((field << 3n) | NUMBER), varint(value)]);
const bytesField = (field: bigint, bytes: Uint8Array): Uint8Array =>
  Buffer.concat([varint((field << 3n) | BYTES), varint(BigInt(bytes.length)), bytes]);

/** Seconds since 1970, as `google.protobuf.Timestamp`. */
const timestamp = (field: bigint): Uint8Array =>
  bytesField(field, numberField(1n, BigInt(Math.floor(Date.now() / 1000))));
const position = (field: bigint, at: number): Uint8Array =>
  bytesField(field, Buffer.concat([numberField(1n, BigInt(at)), numberField(2n, BigInt(at))]));

/** A message whose bytes are those of a newer server. */
const sentAs = (bytes: Uint8Array): ReadResp =>
  Object.assign(new streamsPb.ReadResp(), { serializeBinary: () => bytes });

/** Numbers of the kinds of a message of `Streams/Read`. */
const [CHECKPOINT, CAUGHT_UP, FELL_BEHIND] = [3n, 8n, 9n];

/** Where a subscription stands, as a server says it. `at`: the position of the last event before the mark. */
export interface Marks {
  readonly caughtUp: (at?: number) => ReadResp;
  readonly fellBehind: (at?: number) => ReadResp;
  readonly checkpoint: (at: number) => ReadResp;
}

/** Of 23.10 and 24.10. */
export const marksOfOld: Marks = {
  caughtUp: () => new streamsPb.ReadResp().setCaughtUp(new streamsPb.ReadResp.CaughtUp()),
  fellBehind: () => new streamsPb.ReadResp().setFellBehind(new streamsPb.ReadResp.FellBehind()),
  checkpoint: (at) => {
    const place = String(at);
    const mark = new streamsPb.ReadResp.Checkpoint().setCommitPosition(place).setPreparePosition(place);
    return new streamsPb.ReadResp().setCheckpoint(mark);
  },
};

const standing = (at: number | undefined): Uint8Array =>
  at === undefined ? timestamp(1n) : withFields(timestamp(1n), position(3n, at));

/** The same with the time and the place that KurrentDB 26.0 adds (`streams.proto` of that release). */
export const marksOfNew: Marks = {
  caughtUp: (at) => sentAs(bytesField(CAUGHT_UP, standing(at))),
  fellBehind: (at) => sentAs(bytesField(FELL_BEHIND, standing(at))),
  checkpoint: (at) => {
    const place = withFields(numberField(1n, BigInt(at)), numberField(2n, BigInt(at)));
    return sentAs(bytesField(CHECKPOINT, withFields(place, timestamp(3n))));
  },
};
