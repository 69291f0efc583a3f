import { crc32 } from '../kernel/crc32.ts';
import { sha256Hex } from '../kernel/digest.ts';
import type { KeyRole } from './events.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BODY_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const LETTERS = { tenant: 't', service: 's', admin: 'a' } as const satisfies Record<KeyRole, string>;
const ROLES = { t: 'tenant', s: 'service', a: 'admin' } as const satisfies Record<string, KeyRole>;

/** Random bytes that a key is made of: 256 bits for 190 bits of key leave no bias worth the name. */
export const KEY_RANDOM_BYTES = 32;

/** `value` in base 62, the last `length` digits of it. */
const base62 = (value: bigint, length: number): string => {
  let text = '';
  let rest = value;
  for (let at = 0; at < length; at += 1) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
};

const checksumOf = (head: string): string => base62(BigInt(crc32(head)), CHECKSUM_LENGTH);

/**
 * `quire_<t|s|a>_<32 base62>_<6 base62>`: a role, 190 random bits, and the CRC-32 of all before it, so
 * that a mistyped key is refused without a look-up and a leaked one is found by secret scanners.
 */
export const formatKey = (role: KeyRole, random: Uint8Array): string => {
  if (random.length < KEY_RANDOM_BYTES)
    throw new RangeError(`a key needs ${KEY_RANDOM_BYTES} random bytes, not ${random.length}`);
  const value = random.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const head = `quire_${LETTERS[role]}_${base62(value, BODY_LENGTH)}`;
  return `${head}_${checksumOf(head)}`;
};

const KEY = /^(quire_([tsa])_[0-9A-Za-z]{32})_([0-9A-Za-z]{6})$/;

/** The role that a key says it has; undefined when it is no key of ours or its checksum is wrong. */
export const parseKey = (key: string): { readonly role: KeyRole } | undefined => {
  const [, head = '', letter = '', checksum] = KEY.exec(key) ?? [];
  if (checksum === undefined || checksumOf(head) !== checksum) return undefined;
  return letter === 't' || letter === 's' || letter === 'a' ? { role: ROLES[letter] } : undefined;
};

/** What is stored in place of a key. */
export const hashKey = (key: string): string => sha256Hex(key);

/** The parts of a key that may be shown: enough to recognise it, too little to guess it. */
export const shownOf = (key: string): { readonly prefix: string; readonly last4: string } => ({
  prefix: key.slice(0, 12),
  last4: key.slice(-4),
});
