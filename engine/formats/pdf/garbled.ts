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
  const all = countsOf(words.map(({ text }) => text));
  if (all.odd > ODD_MAX * all.characters) return true;
  // Lines of one sign lead the eye or are to be filled in: they say nothing of the letters.
  const texts = words.filter(({ text }) => !isOneSign(text)).map(({ text }) => withoutLeaders(text));
  const { characters, letters } = countsOf(texts);
  if (characters < CHARACTERS_MIN) return false;
  return letters < LETTERS_MIN * characters || isUnspeakable(texts) || hasStrangeShares(texts);
}

const isOneSign = (text: string): boolean => {
  // Most words end otherwise than they begin; a sign of two units begins and ends with another one.
  const code = text.charCodeAt(0);
  if (code < 0xd800 && code !== text.charCodeAt(text.length - 1)) return false;
  const [first = ''] = text;
  return text !== '' && text.endsWith(first) && text === first.repeat(text.length / first.length);
};

/** The dots and lines that lead the eye from one text to another, each as one. */
const withoutLeaders = (text: string): string =>
  text.includes('..') || text.includes('__') || text.includes('--')
    ? text.replace(/([._-])\1+/g, '$1')
    : text;

interface Counts {
  characters: number;
  /** Private, unmapped and control signs. */
  odd: number;
  /** Letters, their marks, and digits. */
  letters: number;
}

/** Code by code: every page of a document is counted. */
function countsOf(texts: readonly string[]): Counts {
  const counts = { characters: 0, odd: 0, letters: 0 };
  for (const text of texts) {
    counts.characters += text.length;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.codePointAt(at) ?? 0;
      if (code > 0xffff) at += 1;
      if (isOdd(code)) counts.odd += 1;
      if (isLetter(code)) counts.letters += 1;
    }
  }
  return counts;
}

const isOdd = (code: number): boolean => code < 0x20 || code === 0xfffd || (code >= 0xe000 && code <= 0xf8ff);

const isLetter = (code: number): boolean =>
  code < 0x80 ? isPlainLetter(code) : LETTER.test(String.fromCodePoint(code));

const LETTER = /[\p{L}\p{M}\p{N}]/u;

/** Digits, and letters in both cases. */
const isPlainLetter = (code: number): boolean =>
  (code >= 48 && code <= 57) || ((code | 32) >= 97 && (code | 32) <= 122);

/** Three times the same letter, as no European language writes. Of other scripts nothing is known. */
function isUnspeakable(texts: readonly string[]): boolean {
  let [words, odd] = [0, 0];
  if (!texts.some(hasTriple)) return false;
  for (const text of texts)
    for (const word of text.match(/[a-z]{3,}/gi) ?? []) {
      words += 1;
      if (/([a-z])\1\1/i.test(word) && !/^(?:www|iii|xxx)/i.test(word)) odd += 1;
    }
  return words > 1 && odd > UNSPEAKABLE_MAX * words;
}

/** Whether a letter of a to z stands three times in a row, in whichever case: few texts have one. */
function hasTriple(text: string): boolean {
  let [before, times] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charCodeAt(at) | 32;
    times = letter === before ? times + 1 : 1;
    before = letter;
    if (times === 3 && letter >= 97 && letter <= 122) return true;
  }
  return false;
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
  for (const text of texts) all += countLetters(withoutAccents(text), counts);
  return all >= SHARES_FROM && likeness(counts, USUAL) < LIKENESS_MIN;
}

/** Fewer small letters in a row are no word. */
const WORD_LETTERS = 3;

/** Adds the letters of a text's words, runs of a to z, to the counts of each letter; gives how many there are. */
function countLetters(text: string, counts: number[]): number {
  let all = 0;
  let from = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 97 && code <= 122) continue;
    if (at - from >= WORD_LETTERS) {
      all += at - from;
      for (let i = from; i < at; i += 1) {
        const place = text.charCodeAt(i) - 97;
        counts[place] = (counts[place] ?? 0) + 1;
      }
    }
    from = at + 1;
  }
  return all;
}

const withoutAccents = (text: string): string =>
  /^[\u0020-\u007e]*$/.test(text) ? text : text.normalize('NFD').replace(/\p{M}/gu, '');

function likeness(a: readonly number[], b: readonly number[]): number {
  const product = (x: readonly number[], y: readonly number[]): number =>
    x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
  return product(a, b) / Math.sqrt(Math.max(1, product(a, a) * product(b, b)));
}
