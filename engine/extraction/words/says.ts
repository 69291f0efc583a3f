import { addTo } from '../../kernel/lists.ts';
import { memoryOf, once, remembered } from '../../kernel/once.ts';
import type { Field } from '../fields/fields.ts';
import { termsIn, weightOf, type Call, type Terms } from '../fields/terms.ts';
import { ALIKE, alike, phraseSimilarity, formAlike, tellingWords } from './alike.ts';
import {
  concepts,
  isOnlyRowConcept,
  isRowConcept,
  vocabulary,
  type Concept,
  type ValueKind,
  type Vocabulary,
} from './concepts.ts';
import { headerWords, labelWords, withoutMarks } from './labelWords.ts';
import { lexicon, type WordSet } from './lexicon.ts';

/** How well labels name fields. It remembers what it has computed, for labels repeat. */
export interface LabelMatcher {
  /** 0..1: the label says the field, less what it says another of its kind better. */
  score(field: Field, label: readonly string[]): number;
  /** 0..1: the label says the concept with this id. */
  concept(id: string, label: readonly string[]): number;
  /** 0..1: the label says any concept. */
  any(label: readonly string[]): number;
}

/** Kinds whose labels compete: a due date is no invoice date, a tax number no invoice number. */
const RIVALS: Readonly<Record<ValueKind, readonly ValueKind[]>> = {
  date: ['date'],
  number: ['number', 'percent', 'integer'],
  integer: ['number', 'percent', 'integer'],
  percent: ['number', 'percent'],
  id: ['id', 'vat_id', 'iban', 'phone', 'date', 'party', 'bic'],
  vat_id: ['vat_id', 'id'],
  party: ['party', 'id', 'address', 'date'],
  text: ['text', 'party', 'id', 'address', 'date', 'number', 'phone'],
  address: ['address', 'party'],
  iban: ['bic'],
  bic: ['iban'],
  phone: ['phone'],
  email: [],
  url: ['email'],
  currency: [],
  boolean: ['boolean'],
};
const RIVAL_WEIGHT = 0.8;

/** Words and rivals of a field, and the scores of labels for it. */
interface Known {
  readonly tells: (number: number) => boolean;
  readonly rivals: readonly Concept[];
  readonly scores: Map<string, number>;
}

/** A matcher for one document; `asked` are the names of a schema's fields, labels too. */
export function labelMatcher(asked: readonly (readonly string[])[] = []): LabelMatcher {
  const known = vocabulary();
  const byLabel = new Map<string, ReadonlyMap<string, number>>();
  const byField = new Map<Field, Known>();
  const scoresOf = (label: readonly string[]): ReadonlyMap<string, number> =>
    remembered(byLabel, label.join(' '), () => conceptScores(known, label));
  const { numberOf, tellingTo } = tellingWords((own, word) => formAlike(own, word) > 0);
  const byAny = new Map<string, number>();
  const askedLike = phrasesLike(asked);
  const compute = (field: Field, rivals: readonly Concept[], label: readonly string[]): number => {
    const scores = scoresOf(label);
    const own = bestPhrase(field.phrases, label);
    const ours = Math.max(own, field.concept === undefined ? 0 : (scores.get(field.concept.id) ?? 0));
    if (ours === 0) return 0;
    const theirs = rivals.reduce((most, { id }) => Math.max(most, scores.get(id) ?? 0), 0);
    return Math.max(0, ours - RIVAL_WEIGHT * Math.max(0, theirs - ours));
  };
  return {
    any: (label) =>
      remembered(byAny, label.join(' '), () => {
        const own = bestPhrase(askedLike(label), label);
        return [...scoresOf(label).values()].reduce((most, score) => Math.max(most, score), own);
      }),
    concept: (id, label) => scoresOf(label).get(id) ?? 0,
    score: (field, label) => {
      const ofField = remembered(byField, field, () => ({
        tells: tellingTo(namesOf(field)),
        rivals: rivalsOf(field),
        scores: new Map<string, number>(),
      }));
      if (!label.some((word) => ofField.tells(numberOf(word)))) return 0;
      return remembered(ofField.scores, label.join(' '), () => compute(field, ofField.rivals, label));
    },
  };
}

/** The phrases that have a word like one of a label's: a label says none of the others. */
function phrasesLike(
  phrases: readonly (readonly string[])[],
): (label: readonly string[]) => readonly (readonly string[])[] {
  const byWord = new Map<string, (readonly string[])[]>();
  for (const phrase of phrases)
    for (const word of new Set(phrase)) {
      addTo(byWord, word, phrase);
    }
  const known = new Map<string, readonly (readonly string[])[]>();
  const like = (word: string): readonly (readonly string[])[] =>
    remembered(known, word, () =>
      [...byWord].flatMap(([own, with_]) => (formAlike(own, word) > 0 ? with_ : [])),
    );
  return (label) => [...new Set(label.flatMap(like))];
}

/** A label without a word like one of the field's names, or of its concept's, says the field not at all. */
const namesOf = ({ phrases, concept }: Field): readonly string[] => [
  ...new Set([...phrases, ...(concept?.phrases ?? [])].flat()),
];

function conceptScores(known: Vocabulary, label: readonly string[]): ReadonlyMap<string, number> {
  const scores = new Map<string, number>();
  for (const { concept, score } of known.phrasesFor(label))
    if (score > (scores.get(concept.id) ?? 0)) scores.set(concept.id, score);
  return scores;
}

const bestPhrase = (phrases: readonly (readonly string[])[], label: readonly string[]): number =>
  phrases.reduce((best, phrase) => Math.max(best, phraseSimilarity(phrase, label)), 0);

/** In rows every other column competes, elsewhere what has values that look alike. */
function rivalsOf({ kind, concept, inRow }: Field): readonly Concept[] {
  const kinds = RIVALS[kind];
  return concepts().filter((other) => {
    if (other.id === concept?.id) return false;
    return inRow ? isRowConcept(other) : kinds.includes(other.kind) && !isOnlyRowConcept(other);
  });
}

/** The longest label that is looked at, in words. */
const LABEL_WORDS_MAX = 6;
const LABEL_CHARACTERS_MAX = 120;

/** The cost of each word of a label that is left out. */
const DROPPED = 0.05;

/** Numbers and rates in a label say nothing of what it names. */
const withoutNumbers = (text: string): string =>
  text.replace(/\S+(?:\s*%)?/g, (word) => (/\d/.test(word) ? ' ' : word));

/** The words of labels, kept for the labels met last: every field asks for the same ones. */
const split = memoryOf<readonly string[]>(20_000);
const wordsOf = (text: string): readonly string[] => split(text, () => labelWords(withoutNumbers(text)));

/** How labels are judged: for one field, and for whatever they may name. */
export interface Judged {
  readonly scoreOf: (label: readonly string[]) => number;
  readonly anyOf: (label: readonly string[]) => number;
}

/** Judges labels for one field. */
export const judgedFor = (field: Field, labels: LabelMatcher): Judged => ({
  scoreOf: (label) => labels.score(field, label),
  anyOf: (label) => labels.any(label),
});

/** A run of words that names something sure is not cut: "payable by" is no "by". */
const SAID = 0.95;

/** A word after one of these is excepted: rent "hors charges" is no charge. */
const WITHOUT = lexicon.labels.excepting;

/** Best score of any run of words that ends the label: "as agreed, invoice no." ends in "invoice no.". */
export function endingScore(text: string, { scoreOf, anyOf }: Judged): number {
  const words = wordsOf(text.slice(-LABEL_CHARACTERS_MAX)).slice(-LABEL_WORDS_MAX);
  let best = 0;
  for (let length = 1; length <= words.length; length += 1) {
    const run = words.slice(-length);
    if (WITHOUT.has(words.at(-length - 1) ?? '')) continue;
    const score = scoreOf(run) - DROPPED * (words.length - length);
    if (length > 1 && score < best && anyOf(run) >= SAID) best = score;
    else best = Math.max(best, score);
  }
  return Math.max(0, best);
}

/** The score of a whole label. */
export function wholeScore(text: string, scoreOf: (label: readonly string[]) => number): number {
  if (text.length > LABEL_CHARACTERS_MAX) return 0;
  const words = wordsOf(text);
  return words.length === 0 || words.length > LABEL_WORDS_MAX + 2 ? 0 : scoreOf(words);
}

const ACRONYM_MIN = 3;

/** A label that is one word, the first letters of a name's: "VIN" for vehicle identification number. */
const isAcronym = (words: readonly string[], [only, ...others]: readonly string[]): boolean =>
  words.length >= ACRONYM_MIN && others.length === 0 && only === words.map((word) => word.charAt(0)).join('');

const CONTEXT = 0.9;
/** Words of the schema that are not of the call excuse a word of the label so far. */
const EXCUSED = 0.7;
const SAID_WORDS_MAX = 14;

/** A word counts little if the form of the value says it: a time of day is a time. */
const IMPLIED = 0.15;

/** Words that a label has, the heading above it, and what the value's own form says. */
export interface Said {
  readonly label: readonly string[];
  readonly context: readonly string[];
  readonly implied: WordSet;
}

/** How well a label under a heading says a field, 0..1: few words of either are left over. */
export function says(said: Said, terms: Terms): number {
  if (said.label.length === 0 || said.label.length > SAID_WORDS_MAX) return 0;
  return terms.calls.reduce((most, call) => Math.max(most, call.weight * likeCall(call, terms, said)), 0);
}

function likeCall({ words }: Call, { all }: Terms, { label, context, implied }: Said): number {
  if (isAcronym(words, label)) return 1;
  const weigh = (word: string): number => (implied.has(word) ? IMPLIED : weightOf(word));
  let [own, found, told] = [0, 0, 0];
  for (const word of words) {
    const direct = best(label, (other) => alike(word, other));
    if (!implied.has(word) || words.length === 1) told += direct;
    own += weigh(word);
    found += weigh(word) * Math.max(direct, CONTEXT * best(context, (other) => alike(word, other)));
  }
  if (told === 0) return 0;
  let [labelled, excused] = [0, 0];
  for (const word of label) {
    const named = best(words, (one) => alike(one, word));
    labelled += weigh(word);
    excused += weigh(word) * Math.max(named, EXCUSED * best(all, (one) => alike(one, word)));
  }
  return (found / own) ** 0.6 * (excused / labelled) ** 0.4;
}

function best(among: Iterable<string>, like: (other: string) => number): number {
  let most = 0;
  for (const other of among) most = Math.max(most, like(other));
  return most;
}

/** How well headers name the members of a row. It remembers what it has computed: headers repeat. */
export type HeaderMatcher = (field: Field, header: string) => number;

/** Longer texts are sentences, not headers. */
const HEADER_CHARACTERS_MAX = 160;
/** Words of a description count less than a name. */
const TOLD_RUN = 0.85;
const TOLD_WORDS = 0.65;

/** From this score on the schema's own words decide alone. */
const NAMED_WELL = 0.75;
/** The lexicon is asked for short headers without numbers only: it costs more than all else. */
const HEADER_WORDS_MAX = 4;

/** Judges headers by the schema's own words first, and by what is known of labels. */
export const headerMatcher: (labels: LabelMatcher) => HeaderMatcher = once((labels) => {
  const known = new Map<Field, KnownHeaders>();
  const headers = new Map<string, Header>();
  const { numberOf, tellingTo } = tellingWords(isLikeOwn);
  const headerOf = (text: string): Header => {
    const words = headerWords(text);
    const terms = termsIn(withoutMarks(text));
    return { words, terms, numbers: words.map(numberOf), run: words.join('') };
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
    return remembered(own.scores, header, () => headerLikeness(field, header, labels));
  };
});

interface Header {
  readonly words: readonly string[];
  /** Its words that say something. */
  readonly terms: readonly string[];
  readonly numbers: readonly number[];
  /** Its letters in one. */
  readonly run: string;
}

interface KnownHeaders {
  readonly tells: (number: number) => boolean;
  readonly runs: ReadonlySet<string>;
  readonly scores: Map<Header, number>;
}

/** All words that may make a header name a field: of its names, its description, and what its concept is called. */
const ownWords = ({ phrases, about, concept }: Field): readonly string[] => [
  ...new Set([...phrases, ...about, ...(concept?.phrases ?? [])].flat()),
];

/** A header needs one such word to name the field. */
const isLikeOwn = (own: string, word: string): boolean => alike(own, word) > 0;

const NOTHING: WordSet = new Set();

function headerLikeness(field: Field, { words, terms }: Header, labels: LabelMatcher): number {
  const named = says({ label: terms, context: [], implied: NOTHING }, field.terms);
  const isShort = words.length <= HEADER_WORDS_MAX && words.every((word) => !/\d/.test(word));
  return named >= NAMED_WELL || !isShort ? named : Math.max(named, labels.score(field, words));
}

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
  words.some((_, start) => run.every((word, i) => alike(word, words[start + i] ?? '') >= ALIKE));

const bestOf = (word: string, others: readonly string[]): number =>
  others.reduce((best, other) => Math.max(best, alike(word, other)), 0);
