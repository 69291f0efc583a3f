import { memoryOf, remembered } from '../../kernel/once.ts';
import { tellingWords } from '../matching/synonyms.ts';
import type { Field } from './fields.ts';
import { concepts, type Concept, type ValueKind, isOnlyRowConcept, isRowConcept } from './lexicon.ts';
import { vocabulary, type Vocabulary } from './vocabulary.ts';
import { labelWords, phraseSimilarity, wordSimilarity } from './words.ts';
import { addTo } from '../../kernel/lists.ts';

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

/** What is known of a field. */
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
  const { numberOf, tellingTo } = tellingWords((own, word) => wordSimilarity(own, word) > 0);
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

/** Of many phrases those that have a word like one of a label's: the others are not said by it. */
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
      [...byWord].flatMap(([own, with_]) => (wordSimilarity(own, word) > 0 ? with_ : [])),
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

/** Each word of a label that is left out costs so much. */
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

/** What a whole run of words says is not said of its end: "payable by" is no "by". */
const SAID = 0.95;

/** What such a word stands before is left out: rent "hors charges" is no charge. */
const WITHOUT: ReadonlySet<string> = new Set(
  'without excluding excl ohne exkl hors sin senza zonder bez sem'.split(' '),
);

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
