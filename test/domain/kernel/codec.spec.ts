import { expect } from 'chai';
import { z } from 'zod';
import { eventCodec, UndecodableEvent } from '../../../domain/kernel/codec.ts';
import { event } from '../../../domain/kernel/decider.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { RecordedEvent } from '../../../domain/kernel/recorded.ts';

/** Version 3 of a page count. Version 1 said `count` as text, version 2 as a number. */
const pagesCounted = event('PagesCounted', { pages: z.number().int(), counted_by: z.string() });
const other = event('Other', {});
const codec = eventCodec(z.discriminatedUnion('type', [pagesCounted, other]), {
  PagesCounted: [
    ({ count }) => ({ count: Number(count) }),
    ({ count, ...rest }) => {
      if (typeof count !== 'number') throw new TypeError('no count');
      return { ...rest, pages: count, counted_by: 'unknown' };
    },
  ],
});

const recorded = (schema_version: unknown, data: JsonObject, type = 'PagesCounted'): RecordedEvent => ({
  id: '6f1d8c1e-7b8a-4c0f-9d3e-51f0a2c4b697',
  type,
  data,
  metadata: { schema_version } as JsonObject,
  stream: 'document-doc_1',
  revision: 4n,
  position: 17n,
});

describe('reading stored events', () => {
  it('lifts every old version step by step, and leaves the stored event as it is', () => {
    const first = recorded(1, { count: '3' });
    const current = { type: 'PagesCounted', data: { pages: 3, counted_by: 'unknown' } };
    expect(codec.decode(first)).to.deep.equal(current);
    expect(first.data).to.deep.equal({ count: '3' });
    expect(codec.decode(recorded(2, { count: 3 }))).to.deep.equal(current);
    expect(codec.decode(recorded(3, current.data))).to.deep.equal(current);
  });

  it('writes the latest version of each type', () => {
    expect([codec.versionOf('PagesCounted'), codec.versionOf('Other')]).to.deep.equal([3, 1]);
  });

  for (const [what, poison] of [
    ['an unknown type', recorded(1, {}, 'Nonsense')],
    ['a version from the future', recorded(4, { pages: 3, counted_by: 'x' })],
    ['no version', recorded(undefined, { pages: 3, counted_by: 'x' })],
    ['a version that is none', recorded(1.5, { count: '3' })],
    ['a member missing', recorded(3, { pages: 3 })],
    ['a member too many', recorded(3, { pages: 3, counted_by: 'x', secret: 1 })],
    ['a member of another type', recorded(3, { pages: '3', counted_by: 'x' })],
    ['data that an upcaster cannot lift', recorded(2, { count: 'many' })],
  ] as const)
    it(`names stream and revision of an event with ${what}`, () => {
      expect(() => codec.decode(poison))
        .to.throw(UndecodableEvent, 'document-doc_1')
        .that.includes({ stream: 'document-doc_1', revision: 4n });
    });
});
