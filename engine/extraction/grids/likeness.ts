import { remembered, once } from '../../kernel/once.ts';
import type { Field } from '../fields/fields.ts';
import type { LabelMatcher } from '../fields/labels.ts';
import { labelWords, wordSimilarity } from '../fields/words.ts';
import { likeWord } from '../matching/likeness.ts';
import { tellingWords } from '../matching/synonyms.ts';

/** How well headers name the members of a row. It remembers what it has computed: headers repeat. */
export type HeaderMatcher = (field: Field, header: string) => number;

/** Longer texts are sentences, not headers. */
const HEADER_CHARACTERS_MAX = 160;
/** What stands in a description counts less than a name. */
const TOLD_RUN = 0.85;
const TOLD_WORDS = 0.65;

/** Named so well by the schema's own words, no other words are asked. */
const NAMED_WELL = 0.75;
/** What is known of labels is asked for short headers without numbers only: it costs more than all else. */
const LABEL_WORDS_MAX = 4;

/** Judges headers by the schema's own words first, and by what is known of labels. */
export const headerMatcher: (labels: LabelMatcher) => HeaderMatcher = once((labels) => {
  const known = new Map<Field, Known>();
  const headers = new Map<string, Header>();
  const { numberOf, tellingTo } = tellingWords(isLikeOwn);
  const headerOf = (text: string): Header => {
    const words = headerWords(text);
    return { words, numbers: words.map(numberOf), run: words.join('') };
  };
  return (field, text) => {
    if (text === '' || text.length > HEADER_CHARACTERS_MAX) return 0;
    const header = remembered(headers, text, () => headerOf(text));
    const own = remembered(known, field, () => ({
      tells: tellingTo(ownWords(field)),
      runs: new Set(field.phrases.map((one) => one.join(''))),
      scores: new Map<Header, number>(),
    }));
    if (!header.numbers.some(own.tells) && !own.runs.has(header.run)) return 0;
    return remembered(own.scores, header, () => likeness(field, header.words, labels));
  };
});

interface Header {
  readonly words: readonly string[];
  readonly numbers: readonly number[];
  /** Its letters in one. */
  readonly run: string;
}

interface Known {
  readonly tells: (number: number) => boolean;
  readonly runs: ReadonlySet<string>;
  readonly scores: Map<Header, number>;
}

/** All words that may make a header name a field: of its names, its description, and what its concept is called. */
const ownWords = ({ phrases, about, concept }: Field): readonly string[] => [
  ...new Set([...phrases, ...about, ...(concept?.phrases ?? [])].flat()),
];

/** A header without such a word names the field not at all. */
const isLikeOwn = (own: string, word: string): boolean =>
  sameStem(own, word) > 0 || wordSimilarity(own, word) > 0;

function likeness(field: Field, words: readonly string[], labels: LabelMatcher): number {
  const named = namedBy(field, words);
  const isShort = words.length <= LABEL_WORDS_MAX && words.every((word) => !/\d/.test(word));
  return named >= NAMED_WELL || !isShort ? named : Math.max(named, labels.score(field, words));
}

/** The words of a header without its marks of footnotes: "(a)", "1)". */
export const headerWords = (header: string): readonly string[] =>
  labelWords(header.replace(/\(\p{L}?\d{0,2}\)|[*†‡¹²³]/gu, ' ')).filter(
    (word, _, all) => word.length > 1 || all.length === 1,
  );

/** 0..1: all words of the phrase stand in the header, and few others do. */
export function saidBy(phrase: readonly string[], header: readonly string[]): number {
  if (phrase.length === 0) return 0;
  const said = phrase.reduce((sum, word) => sum + bestOf(word, header), 0) / phrase.length;
  const used = header.reduce((sum, word) => sum + bestOf(word, phrase), 0) / header.length;
  return said * (0.6 + 0.4 * used);
}

/** How the schema calls something: its names, and the words of its description. */
export type Names = Pick<Field, 'phrases' | 'about'>;

/** 0..1: how well a label names what the schema calls so, by the schema's own words. */
export const namedBy = (names: Names, label: readonly string[]): number => {
  if (label.length === 0) return 0;
  if (names.phrases.some((phrase) => isSameRun(phrase, label))) return 1;
  const named = names.phrases.reduce((best, phrase) => Math.max(best, saidBy(phrase, label)), 0);
  return Math.max(named, told(names, label));
};

/** The same letters, whether written as one word or as two: "key words" and "keywords". */
const isSameRun = (a: readonly string[], b: readonly string[]): boolean =>
  a.length !== b.length && a.join('') === b.join('');

/** The header stands in the description: in one piece, or word by word. */
function told({ about }: Names, header: readonly string[]): number {
  return about.reduce((best, words) => {
    if (header.length > 1 && standsIn(header, words)) return Math.max(best, TOLD_RUN);
    const share = header.reduce((sum, word) => sum + bestOf(word, words), 0) / header.length;
    const brief = Math.min(1, (header.length + 2) / Math.max(1, words.length));
    return Math.max(best, share === 1 ? TOLD_WORDS + 0.2 * brief : TOLD_WORDS * share * brief);
  }, 0);
}

const standsIn = (run: readonly string[], words: readonly string[]): boolean =>
  words.some((_, start) => run.every((word, i) => sameStem(word, words[start + i] ?? '') >= STEM));

const bestOf = (word: string, others: readonly string[]): number =>
  others.reduce((best, other) => Math.max(best, sameStem(word, other)), 0);

/** Of words that are one, but for their endings. */
const STEM = 0.9;

/** 1: one word; less where they are spelled alike, or one shortens the other: "dept" or "dpt", "department". */
export function sameStem(a: string, b: string): number {
  const alike = likeWord(a, b);
  const short = a.length <= b.length ? a : b;
  const long = short === a ? b : a;
  if (alike >= ALIKE || isOtherEnd(short, long)) return Math.max(STEM, alike);
  return alike < CONTRACTED && isContracted(short, long) ? CONTRACTED : alike;
}

const ALIKE = 0.85;

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
