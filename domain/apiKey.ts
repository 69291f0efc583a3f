import { z } from 'zod';
import {
  accept,
  type BareCommand,
  type Command,
  type Decider,
  event,
  reject,
  type StreamKind,
} from './kernel/decider.ts';
import { instant, tenantId } from './kernel/amounts.ts';
import { sha256 } from './kernel/chain.ts';
import { tagged } from './kernel/tags.ts';

/** `seller`: tells of payments, of any tenant, and does nothing else. */
export const keyRole = z.enum(['tenant', 'service', 'seller', 'admin']);

export type KeyRole = z.output<typeof keyRole>;

const identity = {
  key_id: z.string(),
  /** SHA-256 of the whole key, hex. The key itself is never stored. */
  key_hash: z.string(),
  /** First characters, for people. */
  prefix: z.string(),
  last4: z.string(),
  tenant_id: tenantId,
  role: keyRole,
  name: z.string().nullable(),
  expires_at: instant.nullable(),
};

const apiKeyIssued = event('ApiKeyIssued', {
  ...identity,
  created_at: instant,
  replaces: z.string().nullable(),
  ...tagged,
});

/** Another key takes over; this one stops at `expires_at`. */
const apiKeyRotated = event('ApiKeyRotated', {
  key_id: z.string(),
  key_hash: z.string(),
  replaced_by: z.string(),
  expires_at: instant,
  rotated_at: instant,
});

const apiKeyRevoked = event('ApiKeyRevoked', {
  key_id: z.string(),
  key_hash: z.string(),
  revoked_at: instant,
});

export const apiKeyEvent = z.discriminatedUnion('type', [apiKeyIssued, apiKeyRotated, apiKeyRevoked]);

type ApiKeyEvent = z.output<typeof apiKeyEvent>;

/** `replaces`: the key that this one takes over from. */
export type IssueApiKey = Command<
  'IssueApiKey',
  Omit<Extract<ApiKeyEvent, { readonly type: 'ApiKeyIssued' }>['data'], 'created_at'>
>;

/** Another key takes over; this one stops at `expires_at`, or earlier if it was to. */
type RotateApiKey = Command<'RotateApiKey', { readonly replaced_by: string; readonly expires_at: string }>;

type RevokeApiKey = BareCommand<'RevokeApiKey'>;

export type ApiKeyCommand = IssueApiKey | RotateApiKey | RevokeApiKey;

interface ApiKeyRejection {
  readonly code: 'key_not_found';
}

export interface ApiKeyState {
  readonly key: IssueApiKey['data'] | null;
  readonly revoked: boolean;
  readonly rotated: boolean;
  /** The key that took over; null before a rotation. */
  readonly replaced_by: string | null;
}

/** Opens anything at `now`: issued, neither revoked nor expired. */
const isLive = ({ key, revoked }: ApiKeyState, now: string): boolean =>
  key !== null && !revoked && (key.expires_at === null || Date.parse(now) < Date.parse(key.expires_at));

const earlier = (a: string | null, b: string): string => (a !== null && a < b ? a : b);

export type ApiKeyKind = StreamKind<ApiKeyState, ApiKeyCommand, ApiKeyEvent, ApiKeyRejection>;

/** A key is issued once, rotated at most once, and stays revoked. */
export const apiKey: Decider<ApiKeyKind> = {
  initialState: { key: null, revoked: false, rotated: false, replaced_by: null },
  decide: (state, command) => {
    const { key, revoked } = state;
    const { now } = command.meta;
    if (command.type === 'IssueApiKey')
      return key === null
        ? accept({ type: 'ApiKeyIssued', data: { ...command.data, created_at: now } })
        : accept();
    if (key === null) return reject({ code: 'key_not_found' });
    const { key_id, key_hash } = key;
    if (command.type === 'RevokeApiKey')
      return revoked
        ? accept()
        : accept({ type: 'ApiKeyRevoked', data: { key_id, key_hash, revoked_at: now } });
    const { replaced_by } = command.data;
    if (state.replaced_by === replaced_by) return accept();
    if (state.rotated || !isLive(state, now)) return reject({ code: 'key_not_found' });
    const expires_at = earlier(key.expires_at, command.data.expires_at);
    return accept({
      type: 'ApiKeyRotated',
      data: { key_id, key_hash, replaced_by, expires_at, rotated_at: now },
    });
  },
  evolve: (state, event) => {
    switch (event.type) {
      case 'ApiKeyIssued':
        return { ...state, key: event.data };
      case 'ApiKeyRotated':
        return {
          ...state,
          rotated: true,
          replaced_by: event.data.replaced_by,
          key: state.key === null ? null : { ...state.key, expires_at: event.data.expires_at },
        };
      case 'ApiKeyRevoked':
        return { ...state, revoked: true };
    }
  },
};

export const apiKeyStream = (keyId: string): string => `apiKey-${keyId}`;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const SECRET_LENGTH = 32;

const CHECKSUM_LENGTH = 6;

/** Bytes at or above this would make the first characters of the alphabet likelier. */
const FAIR_BYTES = 248;

const LETTERS: Readonly<Record<KeyRole, string>> = { tenant: 't', service: 's', seller: 'p', admin: 'a' };

const KEY = /^quire_[tspa]_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/;

/** CRC-32 (ISO 3309, as in zlib), for typing errors, not for secrecy. */
const crc32 = (text: string): number => {
  let crc = 0xffffffff;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
};

const checksumOf = (text: string): string => {
  let rest = crc32(text);
  let digits = '';
  for (let n = 0; n < CHECKSUM_LENGTH; n += 1) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
};

/**
 * `quire_<t|s|p|a>_<32 base62>_<6 base62 CRC-32>`. `random` are at least 64 random bytes. Throws RangeError
 * when too few of them are usable (chance below 10^−40 with 64).
 */
export const formatKey = (role: KeyRole, random: Uint8Array): string => {
  const secret = [...random]
    .filter((byte) => byte < FAIR_BYTES)
    .slice(0, SECRET_LENGTH)
    .map((byte) => BASE62.charAt(byte % 62))
    .join('');
  if (secret.length < SECRET_LENGTH) throw new RangeError('too few random bytes for a key');
  const body = `quire_${LETTERS[role]}_${secret}`;
  return `${body}_${checksumOf(body)}`;
};

/** True for text that is a key by its form and checksum: anything else is refused without a look-up. */
export const isWellFormedKey = (key: string): boolean => {
  const cut = key.lastIndexOf('_');
  return KEY.test(key) && checksumOf(key.slice(0, cut)) === key.slice(cut + 1);
};

/** The stored form of a key, and what people see of it. */
export const keyTraces = (key: string): { key_hash: string; prefix: string; last4: string } => ({
  key_hash: sha256(key),
  prefix: key.slice(0, 12),
  last4: key.slice(-4),
});
