import { sha256 } from '../kernel/chain.ts';

/** Digits of Crockford’s base 32. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ID_CHARACTERS = 26;

/** Twenty-six characters as an ID made by the clock has, from a digest. */
export const digestText = (text: string): string =>
  [
    ...sha256(text)
      .slice(0, 2 * ID_CHARACTERS)
      .matchAll(/../g),
  ]
    .map(([pair]) => ALPHABET.charAt(Number.parseInt(pair, 16) % ALPHABET.length))
    .join('');
