import { expect } from 'chai';
import fc from 'fast-check';
import type { AccountEvent } from '../../../domain/account/messages.ts';
import { canonicalJson, CHAIN_START, verifyChain } from '../../../domain/kernel/chain.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import { holds } from '../../../engine/test/support/properties.ts';
import { accountCodec } from '../../../src/writer/accountWriter.ts';
import { encodeEvents } from '../../../src/writer/append.ts';
import { metaOf, NOW } from '../../support/money/accountCommands.ts';

const opened: AccountEvent = { type: 'AccountOpened', data: { tenant_id: 't', created_at: NOW } };
const adjusted = (reason: string): AccountEvent => ({
  type: 'CreditsAdjusted',
  data: {
    adjustment_id: 'adj_1',
    idempotency_key: null,
    fingerprint: 'adjust 5',
    credits: asCredits(5),
    reason,
    allow_negative: false,
    created_at: NOW,
    balance_after: asCredits(5),
  },
});

const encoding = { stream: 'account-t', tenantId: 't', codec: accountCodec };
const encoded = (events: readonly AccountEvent[], meta = metaOf()) =>
  encodeEvents(encoding, { events, meta }, CHAIN_START).events;

const objectIn = (text: string) => JSON.parse(text) as JsonObject;

/** The events as a log gives them that stored their text. */
const readBack = (events: ReturnType<typeof encoded>) =>
  events.map(({ id, type, text }, at) => ({
    id,
    type,
    stream: 'account-t',
    revision: BigInt(at),
    position: BigInt(at),
    data: objectIn(text?.data ?? ''),
    metadata: objectIn(text?.metadata ?? ''),
  }));

describe('encoding events', () => {
  it('makes the text once: what is stored is what was hashed, in canonical order', () => {
    const events = encoded([opened, adjusted('a gift')]);
    for (const { data, metadata, text } of events) {
      expect(text?.data).to.equal(canonicalJson(data));
      expect(text?.metadata).to.equal(canonicalJson(metadata));
      expect(text?.bytes).to.equal(Buffer.byteLength(canonicalJson(data) + canonicalJson(metadata)));
    }
    expect(verifyChain(readBack(events))).to.equal(null);
  });

  it('leaves the text to the log where it has to be escaped, with the same chain', () => {
    const events = encoded([opened, adjusted('a "gift"')]);
    expect(events.map(({ text }) => text === undefined)).to.deep.equal([false, true]);
    const recorded = events.map((event, at) => ({
      ...event,
      stream: 'account-t',
      revision: BigInt(at),
      position: 0n,
    }));
    expect(verifyChain(recorded)).to.equal(null);
  });

  holds(
    'chains what it stores, whatever a caller calls itself',
    fc.property(fc.oneof(fc.string(), fc.constant('"hash_version":')), (correlation_id) => {
      const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
      const events = encoded([opened, adjusted('x')], { ...metaOf(), correlation_id, traceparent });
      const recorded = events.map((event, at) => ({
        ...event,
        data: event.text === undefined ? event.data : objectIn(event.text.data),
        metadata: event.text === undefined ? event.metadata : objectIn(event.text.metadata),
        stream: 'account-t',
        revision: BigInt(at),
        position: 0n,
      }));
      expect(verifyChain(recorded)).to.equal(null);
      expect(recorded[0]?.metadata['correlation_id']).to.equal(correlation_id);
    }),
  );
});
