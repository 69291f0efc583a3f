import { nameWords, stemOf } from '../extraction/words/labelWords.ts';
import { oneLetterOff, areSynonyms } from '../extraction/words/alike.ts';
import { memoryOf } from '../kernel/once.ts';
import { lexicon } from '../extraction/words/lexicon.ts';

const known = memoryOf<readonly string[]>(20_000);

/** The words of a text as labels and fields are compared: folded, unified, without endings; no numbers. */
export const wordsOf = (text: string): readonly string[] => known(text, stemsIn);

const stemsIn = (text: string): readonly string[] =>
  nameWords(text)
    .filter((word) => !/^\d/.test(word))
    .map(stemOf);

const GENERIC = new Set(lexicon.reader.generic.words.map(stemOf));

/** How much a word says, 0..1. */
export const weightOf = (word: string): number => {
  if (GENERIC.has(word)) return 0.5;
  return word.length <= 1 ? 0.3 : 1;
};

const ALIKE = 0.85;
const STEMMED = 0.7;
const PART = 0.6;

/** "Inv" for invoice. */
const isShortened = (short: string, long: string): boolean =>
  short.length >= 3 && long.length <= 12 && long.startsWith(short);

/** Another word for the same thing. */
const SYNONYM = 0.8;

/** How far two words say the same, 0..1: equal, another word for it, or spelled alike. */
export const wordLikeness = (a: string, b: string): number => {
  const spelled = spelledLike(a, b);
  return spelled < SYNONYM && areSynonyms(a, b) ? SYNONYM : spelled;
};

/** Equal, one letter off, one a part of the other, or begun alike. */
function spelledLike(a: string, b: string): number {
  if (a === b) return 1;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short.length < 5) return isShortened(short, long) ? PART : 0;
  if (oneLetterOff(short, long)) return ALIKE;
  if (long.startsWith(short)) return long.length - short.length <= 4 ? ALIKE : PART;
  return long.endsWith(short) ? PART : begunAlike(short, long);
}

function begunAlike(short: string, long: string): number {
  let common = 0;
  while (common < short.length && short[common] === long[common]) common += 1;
  return common >= 6 || (common >= 5 && common >= short.length - 3) ? STEMMED : 0;
}

/** Harmonic mean of two shares. */
export const harmonic = (a: number, b: number): number => (a + b === 0 ? 0 : (2 * a * b) / (a + b));
