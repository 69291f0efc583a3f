import { memoryOf, remembered } from '../../kernel/once.ts';
import { rings } from './lexicon.ts';

/**
 * How far a label's word says a phrase's, 0..1: equal, one letter off, or one the end or start of the other.
 * A compound says its head ("Nettobetrag": Betrag); a head alone hardly says a compound.
 */
export function wordSimilarity(phraseWord: string, labelWord: string): number {
  if (phraseWord === labelWord) return 1;
  return labelWord.length > phraseWord.length
    ? partLikeness(phraseWord, labelWord, true)
    : partLikeness(labelWord, phraseWord, false);
}

function partLikeness(short: string, long: string, isCompound: boolean): number {
  if (short.length < 5) return 0;
  if (!long.endsWith(short) && !long.startsWith(short)) return oneLetterOff(short, long) ? ALIKE : 0;
  const isNear = isCompound || long.length - short.length <= 3;
  return isNear && isHeadOf(short, long) ? ALIKE : PART;
}

const isHeadOf = (short: string, long: string): boolean =>
  long.endsWith(short) || short.length * 2 >= long.length;

const ALIKE = 0.85;
const PART = 0.3;

/** Two words of six letters and more that differ in one, or of which one has one more. */
export function oneLetterOff(short: string, long: string): boolean {
  if (short.length < 6 || long.length - short.length > 1) return false;
  let i = 0;
  while (i < short.length && short[i] === long[i]) i += 1;
  const sameLength = short.length === long.length;
  return short.slice(sameLength ? i + 1 : i) === long.slice(i + 1);
}

/**
 * How well a label says a phrase, 0..1 = matched words / (words of the phrase + a part of the label's
 * others). Order does not count: "total net" is "net total".
 */
export function phraseSimilarity(phrase: readonly string[], label: readonly string[]): number {
  if (phrase.length === 0 || label.length === 0) return 0;
  let matched = 0;
  for (const word of phrase) {
    const best = label.reduce((most, other) => Math.max(most, wordSimilarity(word, other)), 0);
    if (best === 0 && phrase.length <= 2) return 0;
    matched += best;
  }
  const extra = Math.max(0, label.length - phrase.length);
  return matched / (phrase.length + 0.4 * extra);
}

/** Words of one stem begin alike: "ouverte" and "ouverture", "expires" and "expiration". */
const STEM_MIN = 5;
const STEM_SHARE = 0.55;
const STEMMED = 0.85;
/** "Rev." for revision: a label may shorten a word to its first letters. */
const SHORTENED = 0.85;
const SHORT_MIN = 3;
const SHORT_MAX = 5;
/** Short words of one stem: "flow" and "flows". */
const PLURAL_MIN = 4;
/** Another word for the same thing says a little less than the word itself. */
const SYNONYM = 0.8;
/** How far a label's word says a field's word, 0..1: by its letters, or as another word for the same thing. */
export const likeWord = (own: string, other: string): number => {
  const spelled = spelledLike(own, other);
  return spelled < SYNONYM && areSynonyms(own, other) ? SYNONYM : spelled;
};

/** By its letters alone: in sentences other words for a thing stand for too much else. */
export function spelledLike(own: string, other: string): number {
  if (own === other) return 1;
  const alike = wordSimilarity(own, other);
  const most = alike >= SHORTENED ? alike : begunLike(own, other) || (alike > PART ? alike : 0);
  return most > 0 && (/\d/.test(own) || /\d/.test(other)) ? 0 : most;
}

/** Words that begin alike: of one stem, shortened, or a short one in the plural; 0 where they are none of these. */
function begunLike(own: string, other: string): number {
  const common = commonStart(own, other);
  if (common >= STEM_MIN && common >= STEM_SHARE * Math.max(own.length, other.length)) return STEMMED;
  if (common === other.length && isShort(other)) return SHORTENED;
  const isPlural = common >= PLURAL_MIN && common === own.length && /^[ens]$/.test(other.slice(common));
  return isPlural ? STEMMED : 0;
}

const isShort = ({ length }: string): boolean => length >= SHORT_MIN && length <= SHORT_MAX;

function commonStart(a: string, b: string): number {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i += 1;
  return i;
}

/** Of words that are one, but for their endings. */
export const STEM = 0.9;

/** 1: one word; less where they are spelled alike, or one shortens the other: "dept" or "dpt", "department". */
export function sameStem(a: string, b: string): number {
  const alike = likeWord(a, b);
  const short = a.length <= b.length ? a : b;
  const long = short === a ? b : a;
  if (alike >= ALIKE || isOtherEnd(short, long)) return Math.max(STEM, alike);
  return alike < CONTRACTED && isContracted(short, long) ? CONTRACTED : alike;
}

/** Of two heads of five letters the last differs: "party" and "parti". */
const isOtherEnd = (short: string, long: string): boolean =>
  short.length === 5 && long.length === 5 && long.startsWith(short.slice(0, 4));
const CONTRACTED = 0.7;
/** A few letters without a vowel, in the order of a longer word that begins and ends alike: "wt" for weight. */
function isContracted(short: string, long: string): boolean {
  if (short.charAt(0) !== long.charAt(0) || short.at(-1) !== long.at(-1)) return false;
  if (long.length < short.length + 2 || !/^[^aeiou\P{L}]{2,4}$/u.test(short)) return false;
  let at = 0;
  for (const letter of short) {
    at = long.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** The rings of words that may stand for each other in forms and registers, by each of their words. */
const RINGS = new Map<string, Set<number>>();
for (const [ring, words] of rings().entries())
  for (const word of words) RINGS.set(word, (RINGS.get(word) ?? new Set()).add(ring));

/** Endings of plurals and cases that a ring's words may have. */
const ENDINGS = ['', 's', 'n', 'e', 'es', 'en', 'er'];
/** Those of Slavic cases, after a stem of which enough is left to be sure. */
const CASES = ['u', 'a', 'y', 'i', 'em', 'ow', 'ie', 'ho', 'ego'];
const CASE_STEM_MIN = 5;

/** The rings of the words that were asked for last: every field asks for the words of the same labels. */
const known = memoryOf<ReadonlySet<number>>(50_000);
const NONE: ReadonlySet<number> = new Set();

const ringsOf = (word: string): ReadonlySet<number> => known(word, ringsFor);

const ringsFor = (word: string): ReadonlySet<number> =>
  ringsWithout(word, ENDINGS, 0) ?? ringsWithout(word, CASES, CASE_STEM_MIN) ?? NONE;

function ringsWithout(
  word: string,
  endings: readonly string[],
  least: number,
): ReadonlySet<number> | undefined {
  for (const ending of endings) {
    const stem = word.slice(0, word.length - ending.length);
    const known = word.endsWith(ending) && stem.length >= least ? RINGS.get(stem) : undefined;
    if (known !== undefined) return known;
  }
  return undefined;
}

/** Words that name the same thing in forms, in one language or in two: "tenant", "occupant", "Mieter". */
export function areSynonyms(one: string, other: string): boolean {
  const own = ringsOf(one);
  if (own.size === 0) return false;
  const theirs = ringsOf(other);
  for (const ring of own) if (theirs.has(ring)) return true;
  return false;
}

/** Which words tell anything, asked of many words by many: each pair of words is judged once. */
export interface TellingWords {
  readonly numberOf: (word: string) => number;
  /** Whether the word of a number tells anything to who has these words of his own. */
  readonly tellingTo: (own: readonly string[]) => (number: number) => boolean;
}

const [UNKNOWN, NO, YES] = [0, 1, 2];
const FIRST_SIZE = 1024;

/** Remembers in a byte each what `judge` says of the word of a number; what it says must not change. */
function bytesOf(judge: (number: number) => boolean): (number: number) => boolean {
  let said = new Uint8Array(FIRST_SIZE);
  return (number) => {
    if (number >= said.length) {
      const grown = new Uint8Array(2 * number);
      grown.set(said);
      said = grown;
    }
    if (said[number] === UNKNOWN) said[number] = judge(number) ? YES : NO;
    return said[number] === YES;
  };
}

/** `judge` holds a word of one's own against another. Make one for each document, for it keeps its words. */
export function tellingWords(judge: (own: string, word: string) => boolean): TellingWords {
  const [numbers, words] = [new Map<string, number>(), [] as string[]];
  const byOwn = new Map<string, (number: number) => boolean>();
  const told = (own: string): ((number: number) => boolean) =>
    remembered(byOwn, own, () => bytesOf((number) => judge(own, words[number] ?? '')));
  return {
    numberOf: (word) => remembered(numbers, word, () => words.push(word) - 1),
    tellingTo: (own) => {
      const each = own.map(told);
      return bytesOf((number) => each.some((tells) => tells(number)));
    },
  };
}
