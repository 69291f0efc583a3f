import { memoryOf, remembered } from '../../kernel/once.ts';
import { rings } from './lexicon.ts';

/** Words that are one but for their ends, one letter or the way they are shortened. */
export const ALIKE = 0.85;
/** Another word for the same thing says a little less than the word itself. */
const SYNONYM = 0.8;
/** A few consonants say a word less surely. */
const CONTRACTED = 0.7;

/** How far a label's word says a field's word, 0..1: by its letters, or as another word for the same thing. */
export const alike = (own: string, other: string): number => {
  const spelled = spelledAlike(own, other);
  return spelled < SYNONYM && areSynonyms(own, other) ? SYNONYM : spelled;
};

/** The same by letters alone: in sentences other words for a thing stand for too much else. */
export function spelledAlike(own: string, other: string): number {
  if (own === other) return 1;
  const [short, long] = own.length <= other.length ? [own, other] : [other, own];
  const isAlike = formAlike(own, other) >= ALIKE || hasStem(short, long) || isShorter(own, other);
  const most = isAlike ? ALIKE : isContracted(short, long) ? CONTRACTED : 0;
  return most > 0 && (/\d/.test(own) || /\d/.test(other)) ? 0 : most;
}

const isShorter = (own: string, other: string): boolean => isShortened(own, other) || isPlural(own, other);

/**
 * How far a label's word is a form of a concept's, 0..1: equal, one letter off, or one the end or start of the other. A
 * concept has its own synonyms, and its words are compared without stems: a registrar is no registration.
 */
export function formAlike(own: string, other: string): number {
  if (own === other) return 1;
  const [short, long] = own.length < other.length ? [own, other] : [other, own];
  if (short.length < PART_MIN) return 0;
  if (!long.endsWith(short) && !long.startsWith(short)) return oneLetterOff(short, long) ? ALIKE : 0;
  const isNear = short === own || long.length - short.length <= MISSING_MAX;
  return isNear && isHeadOf(short, long) ? ALIKE : PART;
}

const isHeadOf = (short: string, long: string): boolean =>
  long.endsWith(short) || short.length * 2 >= long.length;

/** As much as a word says that is a part of another. */
const PART = 0.3;
const PART_MIN = 5;
/** A compound says its head ("Nettobetrag": Betrag); a head says it if so few letters are missing. */
const MISSING_MAX = 3;

const LETTERS_MIN = 6;

/** Two words that differ in one letter, or of which one has one more. */
export function oneLetterOff(short: string, long: string): boolean {
  if (short.length < LETTERS_MIN || long.length - short.length > 1) return false;
  const at = commonStart(short, long);
  return short.slice(short.length === long.length ? at + 1 : at) === long.slice(at + 1);
}

const STEM_MIN = 5;
const STEM_SHARE = 0.55;

/** Words of one stem begin alike: "ouverte" and "ouverture", "expires" and "expiration". */
function hasStem(short: string, long: string): boolean {
  const common = commonStart(short, long);
  return common >= STEM_MIN && common >= STEM_SHARE * long.length;
}

const SHORT_MIN = 3;
const SHORT_MAX = 5;

/** A label may shorten a word to its first letters: "Rev." for revision. */
const isShortened = (own: string, other: string): boolean =>
  other.length >= SHORT_MIN && other.length <= SHORT_MAX && own.startsWith(other);

const PLURAL_MIN = 4;

/** Short words in the plural: "flow" and "flows". */
const isPlural = (own: string, other: string): boolean =>
  own.length >= PLURAL_MIN &&
  other.length === own.length + 1 &&
  other.startsWith(own) &&
  /[ens]$/.test(other);

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

function commonStart(a: string, b: string): number {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i += 1;
  return i;
}

/**
 * How well a label says a phrase, 0..1 = matched words / (words of the phrase + a part of the label's
 * others). Order does not count: "total net" is "net total".
 */
export function phraseSimilarity(phrase: readonly string[], label: readonly string[]): number {
  if (phrase.length === 0 || label.length === 0) return 0;
  let matched = 0;
  for (const word of phrase) {
    const best = label.reduce((most, other) => Math.max(most, formAlike(word, other)), 0);
    if (best === 0 && phrase.length <= 2) return 0;
    matched += best;
  }
  const extra = Math.max(0, label.length - phrase.length);
  return matched / (phrase.length + 0.4 * extra);
}

/** The rings of words that may stand for each other in forms and registers, by each of their words. */
const RINGS = new Map<string, Set<number>>();
for (const [ring, words] of rings().entries())
  for (const word of words) RINGS.set(word, (RINGS.get(word) ?? new Set()).add(ring));

/** Endings of plurals and cases that a ring's words may have. */
const ENDINGS = ['', 's', 'n', 'e', 'es', 'en', 'er'];
/** Endings of Slavic cases, after a stem that is long enough to be sure. */
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

/** The words name the same thing in forms, in one language or in two: "tenant", "occupant", "Mieter". */
export function areSynonyms(one: string, other: string): boolean {
  const own = ringsOf(one);
  if (own.size === 0) return false;
  const theirs = ringsOf(other);
  for (const ring of own) if (theirs.has(ring)) return true;
  return false;
}

/** Words that are like one of a field's own: each pair of words is judged once. */
export interface TellingWords {
  readonly numberOf: (word: string) => number;
  /** Whether the word with a number is like one of these own words. */
  readonly tellingTo: (own: readonly string[]) => (number: number) => boolean;
}

const [UNKNOWN, NO, YES] = [0, 1, 2];
const FIRST_SIZE = 1024;

/** Remembers the verdict of `judge` on each number in a byte; a verdict must not change. */
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

/** `judge` compares an own word with another. Make one for each document: it keeps its words. */
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
