import { expect } from 'chai';
import { canonicalJson, type JsonObject } from '../../../domain/kernel/json.ts';
import { eventMetadata } from '../../../domain/kernel/decider.ts';
import { plainMetadata } from '../../../domain/plainEvents.ts';

const HASH = 'a1'.repeat(32);
const metadata = {
  actor: { key_id: 'key_1', role: 'admin' },
  causation_id: 'c',
  correlation_id: 'Größe 東京',
  hash: HASH,
  hash_version: 2,
  prev_hash: null as string | null,
  recorded_at: '2026-01-31T23:59:59.999Z',
  schema_version: 1,
  tenant_id: 'acme' as string | null,
};
const TRACE = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;

const without = ({ hash: _, ...rest }: JsonObject): JsonObject => rest;

describe('metadata read from its text', () => {
  const good: Readonly<Record<string, JsonObject>> = {
    'the first of a stream': metadata,
    'a later one': { ...metadata, prev_hash: HASH, schema_version: 12 },
    'no tenant': { ...metadata, tenant_id: null },
    'a trace': { ...metadata, traceparent: TRACE },
  };
  for (const [name, value] of Object.entries(good))
    it(`says what JSON says: ${name}`, () => {
      const read = plainMetadata(canonicalJson(value));
      expect(read?.metadata).to.deep.equal(value);
      expect(JSON.stringify(read?.metadata)).to.equal(canonicalJson(value));
      expect(read?.covered).to.equal(canonicalJson(without(value)));
      expect(eventMetadata.safeParse(read?.metadata).success).to.equal(true);
    });

  const text = canonicalJson(metadata);
  const others: Readonly<Record<string, string>> = {
    'another order of members': JSON.stringify({ ...without(metadata), hash: HASH }),
    'white space': text.replace(',', ', '),
    'a member twice': text.replace('"hash_version":2', '"hash_version":2,"hash_version":2'),
    'a member more': text.replace('"tenant_id"', '"sold":1,"tenant_id"'),
    'a number in another notation': text.replace('"schema_version":1', '"schema_version":1.0'),
    'hash version 1': text.replace('"hash_version":2,', ''),
    'an escaped character': text.replace('acme', 'ac\\u006de'),
    'half of a surrogate pair': text.replace('acme', 'ac\ud800me'),
    'a role that there is not': text.replace('"admin"', '"owner"'),
    'a day that there is not': text.replace('01-31', '02-30'),
    'a time without milliseconds': text.replace('.999Z', 'Z'),
    'a hash that is none': text.replace(HASH, HASH.toUpperCase()),
    'a trace that is none': `${text.slice(0, -1)},"traceparent":"01"}`,
    'something behind it': `${text}\n`,
    'no JSON': '{',
  };
  for (const [name, other] of Object.entries(others))
    it(`leaves to JSON what is not in the form: ${name}`, () => {
      expect(plainMetadata(other)).to.equal(undefined);
    });
});
