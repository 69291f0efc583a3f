import type { Field } from './fields.ts';
import { CONCEPTS, type Concept, type ValueKind } from './lexicon.ts';
import { labelWords, phraseSimilarity } from './words.ts';

/** How well labels name fields. It remembers what it has computed, for labels repeat. */
export interface LabelMatcher {
  /** 0..1: the label says the field, less what it says another of its kind better. */
  score(field: Field, label: readonly string[]): number;
  /** 0..1: the label says the concept. */
  concept(concept: Concept, label: readonly string[]): number;
}

/** Kinds whose labels compete: a due date is no invoice date, a tax number no invoice number. */
const RIVALS: Readonly<Partial<Record<ValueKind, readonly ValueKind[]>>> = {
  date: ['date'],
  number: ['number', 'percent'],
  integer: ['number', 'percent', 'integer'],
  percent: ['number', 'percent'],
  id: ['id', 'vat_id', 'iban', 'phone', 'date'],
  vat_id: ['vat_id', 'id'],
  party: ['party'],
};
const RIVAL_WEIGHT = 0.8;
/** These mean the same place as a row's and a document's member; they do not compete across. */
const OF_ROWS = new Set(['line_total', 'unit_price', 'quantity', 'line_number', 'unit', 'description']);

/** A matcher for one document. */
export function labelMatcher(): LabelMatcher {
  const byLabel = new Map<string, ReadonlyMap<string, number>>();
  const byField = new Map<Field, { rivals: readonly Concept[]; scores: Map<string, number> }>();
  const scoresOf = (label: readonly string[]): ReadonlyMap<string, number> =>
    remembered(
      byLabel,
      label.join(' '),
      () => new Map(CONCEPTS.map((concept) => [concept.id, bestPhrase(concept.phrases, label)])),
    );
  const compute = (field: Field, rivals: readonly Concept[], label: readonly string[]): number => {
    const scores = scoresOf(label);
    const own = bestPhrase(field.phrases, label);
    const ours = Math.max(own, field.concept === undefined ? 0 : (scores.get(field.concept.id) ?? 0));
    const theirs = rivals.reduce((most, { id }) => Math.max(most, scores.get(id) ?? 0), 0);
    return Math.max(0, ours - RIVAL_WEIGHT * Math.max(0, theirs - ours));
  };
  return {
    concept: (concept, label) => scoresOf(label).get(concept.id) ?? 0,
    score: (field, label) => {
      const ofField = remembered(byField, field, () => ({
        rivals: rivalsOf(field),
        scores: new Map<string, number>(),
      }));
      return remembered(ofField.scores, label.join(' '), () => compute(field, ofField.rivals, label));
    },
  };
}

/** The value of a key, computed when it is asked for first. */
function remembered<K, V>(known: Map<K, V>, key: K, compute: () => V): V {
  const earlier = known.get(key);
  if (earlier !== undefined) return earlier;
  const value = compute();
  known.set(key, value);
  return value;
}

const bestPhrase = (phrases: readonly (readonly string[])[], label: readonly string[]): number =>
  phrases.reduce((best, phrase) => Math.max(best, phraseSimilarity(phrase, label)), 0);

function rivalsOf({ kind, concept }: Field): readonly Concept[] {
  const kinds = RIVALS[kind] ?? [];
  const inRow = concept !== undefined && OF_ROWS.has(concept.id);
  return CONCEPTS.filter(
    (other) => other.id !== concept?.id && kinds.includes(other.kind) && OF_ROWS.has(other.id) === inRow,
  );
}

/** The longest label that is looked at, in words. */
const LABEL_WORDS_MAX = 6;

/** Best score of any run of words that ends the label: "as agreed, invoice no." ends in "invoice no.". */
export function endingScore(text: string, scoreOf: (label: readonly string[]) => number): number {
  const words = labelWords(text.replace(/\S*\d\S*/g, ' ')).slice(-LABEL_WORDS_MAX);
  let best = 0;
  for (let length = 1; length <= words.length; length += 1)
    best = Math.max(best, scoreOf(words.slice(-length)) - 0.02 * (words.length - length));
  return best;
}

/** The score of a whole label. */
export function wholeScore(text: string, scoreOf: (label: readonly string[]) => number): number {
  const words = labelWords(text.replace(/\S*\d\S*/g, ' '));
  return words.length === 0 || words.length > LABEL_WORDS_MAX + 2 ? 0 : scoreOf(words);
}
