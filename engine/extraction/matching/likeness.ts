import { wordSimilarity } from '../fields/words.ts';
import { areSynonyms } from './synonyms.ts';
import { weightOf, type Call, type Terms } from './terms.ts';

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
/** As much as a word says that is a part of another. */
const PART = 0.3;

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

const ACRONYM_MIN = 3;

/** A label that is one word, the first letters of a name's: "VIN" for vehicle identification number. */
const isAcronym = (words: readonly string[], [only, ...others]: readonly string[]): boolean =>
  words.length >= ACRONYM_MIN && others.length === 0 && only === words.map((word) => word.charAt(0)).join('');

const CONTEXT = 0.9;
/** Words of the schema that are not of the call excuse a word of the label so far. */
const EXCUSED = 0.7;
const LABEL_WORDS_MAX = 14;

/** What the form of a value shows need not be said: a time of day is a time. */
const IMPLIED = 0.15;

/** Words that a label has, the heading above it, and what the value's own form says. */
export interface Said {
  readonly label: readonly string[];
  readonly context: readonly string[];
  readonly implied: ReadonlySet<string>;
}

/** How well a label under a heading says a field, 0..1: few words of either are left over. */
export function likeness(terms: Terms, said: Said): number {
  if (said.label.length === 0 || said.label.length > LABEL_WORDS_MAX) return 0;
  return terms.calls.reduce((most, call) => Math.max(most, call.weight * likeCall(call, terms, said)), 0);
}

function likeCall({ words }: Call, { all }: Terms, { label, context, implied }: Said): number {
  if (isAcronym(words, label)) return 1;
  const weigh = (word: string): number => (implied.has(word) ? IMPLIED : weightOf(word));
  let [own, found, told] = [0, 0, 0];
  for (const word of words) {
    const direct = best(label, (other) => likeWord(word, other));
    if (!implied.has(word) || words.length === 1) told += direct;
    own += weigh(word);
    found += weigh(word) * Math.max(direct, CONTEXT * best(context, (other) => likeWord(word, other)));
  }
  if (told === 0) return 0;
  let [labelled, excused] = [0, 0];
  for (const word of label) {
    const named = best(words, (one) => likeWord(one, word));
    labelled += weigh(word);
    excused += weigh(word) * Math.max(named, EXCUSED * best(all, (one) => likeWord(one, word)));
  }
  return (found / own) ** 0.6 * (excused / labelled) ** 0.4;
}

function best(among: Iterable<string>, like: (other: string) => number): number {
  let most = 0;
  for (const other of among) most = Math.max(most, like(other));
  return most;
}
