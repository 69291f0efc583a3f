import { expect } from 'chai';
import fc from 'fast-check';
import { crc32 } from 'node:zlib';
import { apiKey, type ApiKeyCommand, formatKey, isWellFormedKey, keyTraces } from '../../domain/apiKey.ts';
import { meta, NOW } from '../support/money/moneyCommands.ts';
import { holds } from '../../engine/test/support/properties.ts';
import { specFor } from '../support/specFor.ts';

const { given } = specFor(apiKey);
const HOUR_LATER = '2026-01-31T09:00:00.000Z';
const YEAR_END = '2026-12-31T00:00:00.000Z';

const issue = (expires_at: string | null = null): ApiKeyCommand => ({
  type: 'IssueApiKey',
  data: {
    key_id: 'key_1',
    key_hash: 'h1',
    prefix: 'quire_t_abcd',
    last4: 'wxyz',
    tenant_id: 'acme',
    role: 'tenant',
    name: null,
    expires_at,
    replaces: null,
  },
  meta,
});
const rotate = (over: { replaced_by?: string; expires_at?: string } = {}, now = NOW): ApiKeyCommand => ({
  type: 'RotateApiKey',
  data: { replaced_by: 'key_2', expires_at: HOUR_LATER, ...over },
  meta: { ...meta, now },
});
const revoke: ApiKeyCommand = { type: 'RevokeApiKey', meta };

describe('API keys', () => {
  it('are issued once', () => {
    given()
      .when(issue())
      .then(['ApiKeyIssued', { key_id: 'key_1', key_hash: 'h1', created_at: NOW }]);
    given(issue()).when(issue()).thenNothing();
  });

  it('live on for their grace after a rotation, but never longer than before', () => {
    given(issue())
      .when(rotate())
      .then(['ApiKeyRotated', { replaced_by: 'key_2', expires_at: HOUR_LATER, key_hash: 'h1' }]);
    given(issue(HOUR_LATER))
      .when(rotate({ expires_at: YEAR_END }))
      .then(['ApiKeyRotated', { expires_at: HOUR_LATER }]);
    expect(given(issue(), rotate()).state().key?.expires_at).to.equal(HOUR_LATER);
  });

  it('are rotated once: a repeat is nothing, another key is refused', () => {
    given(issue(), rotate()).when(rotate()).thenNothing();
    given(issue(), rotate())
      .when(rotate({ replaced_by: 'key_3' }))
      .thenRejected({ code: 'key_not_found' });
  });

  it('cannot be rotated when they are not live, or never were', () => {
    given().when(rotate()).thenRejected({ code: 'key_not_found' });
    given(issue(), revoke).when(rotate()).thenRejected({ code: 'key_not_found' });
    given(issue(HOUR_LATER)).when(rotate({}, HOUR_LATER)).thenRejected({ code: 'key_not_found' });
  });

  it('are revoked once, also after a rotation', () => {
    given(issue())
      .when(revoke)
      .then(['ApiKeyRevoked', { key_id: 'key_1', key_hash: 'h1', revoked_at: NOW }]);
    given(issue(), rotate()).when(revoke).then(['ApiKeyRevoked']);
    given(issue(), revoke).when(revoke).thenNothing();
    given().when(revoke).thenRejected({ code: 'key_not_found' });
  });
});

const bytes = fc.uint8Array({ minLength: 64, maxLength: 64 });

describe('the text of an API key', () => {
  const key = formatKey(
    'admin',
    Uint8Array.from({ length: 64 }, (_, at) => at),
  );

  it('says its role, and ends in the CRC-32 of all before it', () => {
    expect(key).to.match(/^quire_a_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/);
    const [head, checksum] = [key.slice(0, -7), key.slice(-6)];
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    expect(Array.from(checksum).reduce((sum, digit) => sum * 62 + alphabet.indexOf(digit), 0)).to.equal(
      crc32(head),
    );
  });

  it('shows too little of itself to be guessed', () => {
    const { key_hash, prefix, last4 } = keyTraces(key);
    expect(key_hash).to.match(/^[0-9a-f]{64}$/);
    expect([prefix.length, last4.length]).to.deep.equal([12, 4]);
  });

  it('needs enough random bytes', () => {
    expect(() => formatKey('tenant', new Uint8Array(31))).to.throw(RangeError);
  });

  holds(
    'is well formed, and is not with any one character changed',
    fc.property(
      fc.constantFrom('tenant', 'service', 'seller', 'admin'),
      bytes,
      fc.nat(),
      (role, random, place) => {
        fc.pre(random.filter((byte) => byte < 248).length >= 32);
        const made = formatKey(role, random);
        expect(isWellFormedKey(made)).to.equal(true);
        const at = place % made.length;
        const changed = made.slice(0, at) + (made[at] === 'x' ? 'y' : 'x') + made.slice(at + 1);
        expect(isWellFormedKey(changed)).to.equal(false);
        expect(isWellFormedKey(`${made} `) || isWellFormedKey(made.slice(0, -1))).to.equal(false);
      },
    ),
    0.5,
  );
});
