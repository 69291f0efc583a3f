import { expect } from 'chai';
import fc from 'fast-check';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { decodeServed, recorded } from '../../adapters/eventstoredb/reads.ts';
import { marksOfNew, marksOfOld, readEvent } from '../support/esdbDouble/messages.ts';

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
