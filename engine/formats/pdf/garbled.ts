import type { InkedWord } from './pdfWords.ts';

/** Of a text layer's characters this share may be unreadable. */
const ODD_MAX = 0.15;
/** Fewer letters and digits than this share are no text of people. */
const LETTERS_MIN = 0.5;
/** Shorter texts are too little to tell by. */
const CHARACTERS_MIN = 8;
/** Of the words, this share may be such as no language has. */
const UNSPEAKABLE_MAX = 0.5;

/**
 * Whether a page's letters mean nothing, for its fonts do not say which they are: private or unmapped
 * signs, hardly any letters, words that no language has, or letters in other shares than any language has them.
 */
export function isGarbled(words: readonly Pick<InkedWord, 'text'>[]): boolean {
  const text = words.map((word) => word.text).join('');
  if (share(text, /[\ufffd\ue000-\uf8ff\u0000-\u001f]/gu) > ODD_MAX) return true;
  // Lines of one sign lead the eye or are to be filled in: they say nothing of the letters.
  const said = words
    .filter((word) => !/^(.)\1*$/u.test(word.text))
    .map((word) => word.text.replace(/([._-])\1+/g, '$1'));
  const plain = said.join('');
  if (plain.length < CHARACTERS_MIN) return false;
  return share(plain, /[\p{L}\p{M}\p{N}]/gu) < LETTERS_MIN || isUnspeakable(said) || hasStrangeShares(said);
}

const share = (text: string, of: RegExp): number => (text.match(of)?.length ?? 0) / Math.max(1, text.length);

/** Three times the same letter, as no European language writes. Of other scripts nothing is known. */
function isUnspeakable(texts: readonly string[]): boolean {
  const words = texts.flatMap((text) => text.match(/[a-z]{3,}/gi) ?? []);
  const odd = words.filter((word) => /([a-z])\1\1/i.test(word) && !/^(?:www|iii|xxx)/i.test(word));
  return words.length > 1 && odd.length > UNSPEAKABLE_MAX * words.length;
}

/** How often European languages in Latin letters write a to z, accents aside: per cent, the mean of several. */
const USUAL = [
  9, 1.3, 3.3, 4.5, 14, 1.4, 1.8, 2.5, 7.5, 0.4, 0.9, 4.5, 2.8,
  8, 6, 2.4, 0.5, 6.8, 7, 7, 4, 1.2, 0.8, 0.3, 0.7, 0.6,
]; // prettier-ignore
/**
 * The least likeness (cosine) to these shares. Texts of a few lines have 0.84 to 0.92 in Czech, Dutch, English,
 * Finnish, Hungarian, Polish and Turkish, 0.76 in Indonesian and Vietnamese; with letters exchanged at random 0.5.
 */
const LIKENESS_MIN = 0.65;
/** Fewer letters than this show no shares. */
const SHARES_FROM = 200;

/** Whether each letter stands for another one, as in fonts that say the wrong ones: told by the small words. */
function hasStrangeShares(texts: readonly string[]): boolean {
  const counts = USUAL.map(() => 0);
  let all = 0;
  for (const text of texts)
    for (const word of text
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .match(/[a-z]{3,}/g) ?? []) {
      all += word.length;
      for (const letter of word) {
        const place = letter.charCodeAt(0) - 97;
        counts[place] = (counts[place] ?? 0) + 1;
      }
    }
  return all >= SHARES_FROM && likeness(counts, USUAL) < LIKENESS_MIN;
}

function likeness(a: readonly number[], b: readonly number[]): number {
  const product = (x: readonly number[], y: readonly number[]): number =>
    x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
  return product(a, b) / Math.sqrt(Math.max(1, product(a, a) * product(b, b)));
}
