import codePb from '@eventstore/db-client/generated/code_pb.js';
import type { Code } from '@eventstore/db-client/generated/code_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import statusPb from '@eventstore/db-client/generated/status_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
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

export const accessDenied = (): Status =>
  status(PERMISSION_DENIED, 'AccessDenied', new sharedPb.AccessDenied());

export const notReady = (): Status => status(UNKNOWN, 'Unknown', new sharedPb.Unknown());

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
