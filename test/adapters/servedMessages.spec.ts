import { expect } from 'chai';
import fc from 'fast-check';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import statusPb from '@eventstore/db-client/generated/status_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { decodeTold, encodeAppend } from '../../adapters/eventstoredb/appends.ts';
import { decodeServed, recorded } from '../../adapters/eventstoredb/reads.ts';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import {
  accessDenied,
  marksOfNew,
  marksOfOld,
  maximumAppendSizeExceeded,
  notReady,
  readEvent,
  streamName,
  wrongExpectedVersion,
} from '../support/esdbDouble/messages.ts';

const bytesOf = (message: { readonly serializeBinary: () => Uint8Array }): Buffer =>
  Buffer.from(message.serializeBinary());

/** All that a server counts in 64 bits, with the edges of what a double holds. */
const place = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.constantFrom(0n, 127n, 128n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n - 1n),
);
const text = fc.string({ unit: 'grapheme' });
const json = fc.dictionary(text, fc.jsonValue());

const event = fc.record({
  id: fc.uuid(),
  type: text,
  stream: text,
  revision: place,
  position: place,
  data: json,
  metadata: json,
});

interface Written {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly data: object;
  readonly metadata: object;
}

const plain = { contentType: 'application/json', created: '17000000000000000', revision: 0, position: 0 };

/** An event as the server sends it, by the stubs that the client brings. */
const sent = ({ id, type, stream, revision, position, data, metadata }: Written) => {
  const [bytes, more] = [data, metadata].map((value) => Buffer.from(JSON.stringify(value)));
  const message = readEvent({ ...plain, id, type, stream, data: bytes!, metadata: more! });
  const of = message.getEvent();
  of?.getEvent()?.setStreamRevision(String(revision)).setCommitPosition(String(position));
  of?.setCommitPosition(String(position));
  return message;
};

describe('a message of a read of EventStoreDB', () => {
  it('is the event that the server wrote, to the last digit', () => {
    fc.assert(
      fc.property(event, (written) => {
        const { data, metadata, ...rest } = written;
        const served = decodeServed(bytesOf(sent(written)));
        if (served.kind !== 'event') throw new Error(served.kind);
        expect(served.position).to.equal(written.position);
        const [kept, more] = [data, metadata].map((value): unknown => JSON.parse(JSON.stringify(value)));
        expect(recorded(served.event)).to.deep.equal({ ...rest, data: kept, metadata: more });
      }),
    );
  });

  it('is known whatever a newer server adds to it', () => {
    for (const { caughtUp, checkpoint, fellBehind } of [marksOfOld, marksOfNew]) {
      expect(decodeServed(bytesOf(caughtUp(7)))).to.deep.equal({ kind: 'caught_up' });
      expect(decodeServed(bytesOf(fellBehind(7)))).to.deep.equal({ kind: 'other' });
      expect(decodeServed(bytesOf(checkpoint(7)))).to.deep.equal({ kind: 'checkpoint', position: 7n });
    }
  });

  it('says that a stream is not there, and that an event is gone', () => {
    const { ReadResp } = streamsPb;
    const missing = new ReadResp().setStreamNotFound(new ReadResp.StreamNotFound());
    expect(decodeServed(bytesOf(missing))).to.deep.equal({ kind: 'not_found' });
    const gone = decodeServed(bytesOf(new ReadResp().setEvent(new ReadResp.ReadEvent())));
    expect(gone).to.deep.equal({ kind: 'event', event: undefined, position: undefined });
    expect(recorded(undefined)).to.equal(undefined);
  });

  it('is refused where an event is no JSON object, and read without metadata that are none', () => {
    const of = (data: string, metadata = '{}', contentType = plain.contentType) => {
      const bytes = { data: Buffer.from(data), metadata: Buffer.from(metadata) };
      const served = decodeServed(
        bytesOf(readEvent({ ...plain, ...bytes, contentType, id: 'i', type: 't', stream: 's' })),
      );
      return served.kind === 'event' ? recorded(served.event) : undefined;
    };
    for (const data of ['', '{', '[]', '1', 'null'])
      expect(() => of(data), data).to.throw('is not a JSON object');
    expect(() => of('{}', '{}', 'application/octet-stream')).to.throw('is not a JSON object');
    for (const metadata of ['', '{', '[]']) expect(of('{}', metadata)?.metadata).to.deep.equal({});
  });
});

describe('an append to EventStoreDB', () => {
  const written = fc.record({ id: fc.uuid(), type: text, data: json, metadata: json });
  const batch = fc.record({
    stream: text,
    expected: fc.oneof(fc.constant('no_stream' as const), place),
    events: fc.array(
      written.map(({ data, metadata, ...rest }) => ({
        ...rest,
        data: JSON.stringify(data),
        metadata: JSON.stringify(metadata),
        hash: '',
      })),
      { minLength: 1, maxLength: 5 },
    ),
  });
  const utf8 = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
  const wellFormed = (value: string): string => Buffer.from(value).toString();

  it('is for the server what it would be by the stubs that the client brings', () => {
    fc.assert(
      fc.property(batch, fc.nat(), ({ stream, expected, events }, number) => {
        const bytes = events.reduce((sum, { data, metadata }) => sum + Buffer.byteLength(data + metadata), 0);
        const message = streamsPb.BatchAppendReq.deserializeBinary(
          encodeAppend({ stream, expected, events, bytes }, number),
        );
        const options = message.getOptions();
        expect(message.getIsFinal()).to.equal(true);
        expect(streamName(options?.getStreamIdentifier())).to.equal(wellFormed(stream));
        expect(options?.hasNoStream()).to.equal(expected === 'no_stream');
        if (expected !== 'no_stream') expect(options?.getStreamPosition()).to.equal(String(expected));
        expect(options?.getDeadline()?.toDate()).to.be.greaterThan(new Date());
        const sentEvents = message.getProposedMessagesList().map((event) => ({
          id: event.getId()?.getString(),
          type: event.getMetadataMap().get('type'),
          contentType: event.getMetadataMap().get('content-type'),
          data: utf8(event.getData_asU8()),
          metadata: utf8(event.getCustomMetadata_asU8()),
        }));
        expect(sentEvents).to.deep.equal(
          events.map(({ id, type, data, metadata }) => ({
            id,
            type: wellFormed(type),
            contentType: 'application/json',
            data: wellFormed(data),
            metadata: wellFormed(metadata),
          })),
        );
      }),
    );
  });

  const { BatchAppendResp, BatchAppendReq } = streamsPb;
  /** The UUID that the append of a number is sent with, as text and as servers write it. */
  const answersTo = (number: number) => {
    const sentAs = encodeAppend({ stream: 's', expected: 'no_stream', events: [], bytes: 0 }, number);
    const uuid = BatchAppendReq.deserializeBinary(sentAs).getCorrelationId()?.getString() ?? '';
    const half = (from: number, to: number) =>
      BigInt.asIntN(64, BigInt(`0x${uuid.replaceAll('-', '').slice(from, to)}`)).toString();
    const structured = new sharedPb.UUID.Structured();
    structured.setMostSignificantBits(half(0, 16)).setLeastSignificantBits(half(16, 32));
    return [new sharedPb.UUID().setString(uuid), new sharedPb.UUID().setStructured(structured)];
  };

  it('is known again by its number in the answer, with its revision and position to the last digit', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 47 }), place, fc.option(place), (number, revision, position) => {
        for (const id of answersTo(number)) {
          const success = new BatchAppendResp.Success().setCurrentRevision(String(revision));
          const at = String(position);
          if (position === null) success.setNoPosition(new emptyPb.Empty());
          else
            success.setPosition(
              new sharedPb.AllStreamPosition().setCommitPosition(at).setPreparePosition(at),
            );
          const message = new BatchAppendResp().setCorrelationId(id).setSuccess(success);
          const answer = { kind: 'appended', revision, position: position ?? undefined };
          expect(decodeTold(bytesOf(message))).to.deep.equal({ number, answer });
        }
      }),
    );
  });

  it('was refused, or has an outcome that nobody knows, as the server says', () => {
    const answered = (status: InstanceType<typeof statusPb.Status>) => {
      const message = new BatchAppendResp().setCorrelationId(answersTo(7)[0]).setError(status);
      return decodeTold(bytesOf(message)).answer;
    };
    expect(answered(wrongExpectedVersion(5))).to.deep.equal({ kind: 'conflict', actual: 5n });
    expect(answered(wrongExpectedVersion(0))).to.deep.equal({ kind: 'conflict', actual: 0n });
    expect(answered(wrongExpectedVersion(-1))).to.deep.equal({ kind: 'conflict', actual: 'no_stream' });
    expect(answered(maximumAppendSizeExceeded(9))).to.include({ kind: 'rejected', reason: 'too_large' });
    expect(answered(accessDenied())).to.include({ kind: 'rejected', reason: 'invalid' });
    expect(answered(notReady()).kind).to.equal('unknown');
    expect(answered(new statusPb.Status().setMessage('busy')).kind).to.equal('unknown');
  });
});
