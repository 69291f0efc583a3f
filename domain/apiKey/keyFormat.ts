import { sha256 } from '../kernel/chain.ts';
import type { KeyRole } from './events.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
/** Bytes at or above this would make the first characters of the alphabet likelier. */
const FAIR_BYTES = 248;

const LETTERS: Readonly<Record<KeyRole, string>> = { tenant: 't', service: 's', admin: 'a' };

const KEY = /^quire_[tsa]_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/;

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
 * `quire_<t|s|a>_<32 base62>_<6 base62 CRC-32>`. `random` are at least 64 random bytes. Throws RangeError
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

/** What is stored of a key, and what people see of it. */
export const keyTraces = (key: string): { key_hash: string; prefix: string; last4: string } => ({
  key_hash: sha256(key),
  prefix: key.slice(0, 12),
  last4: key.slice(-4),
});
