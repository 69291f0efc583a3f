import type { Asked } from './asked.ts';
import type { LabelBook } from './labelBook.ts';
import { harmonic, weightOf, wordLikeness } from './words.ts';
import { remembered } from '../kernel/once.ts';
import { addTo } from '../kernel/lists.ts';

/** How a label says a field: name both ways, name alone, all its words, a phrase of its description, the lexicon. */
export const SIDES = ['both', 'name', 'all', 'phrase', 'lexicon'] as const;
export const SIDE_COUNT = SIDES.length;

/** Of one field to every label: five shares, 0..1, a label, in the order of `SIDES`. */
export type Likeness = Float32Array;

/** A label's score as a whole, 0..1. */
export const scoreAt = (likeness: Likeness, label: number): number => {
  const at = label * SIDE_COUNT;
  const [both = 0, , all = 0, phrase = 0, lexicon = 0] = likeness.subarray(at, at + SIDE_COUNT);
  return Math.max(both, 0.95 * lexicon, 0.85 * phrase, 0.6 * all);
};

interface Weighted {
  /** A field's words as shares, 0..1, of each word of the document. */
  readonly rows: readonly Float32Array[];
  readonly weights: readonly number[];
  readonly total: number;
  /** The best of the rows for each word of the document. */
  readonly best: Float32Array;
}

/** The likeness of fields to all labels of a document; each pair of words is compared once. */
export function likenessesOf(fields: readonly Asked[], book: LabelBook): readonly Likeness[] {
  const rows = new Map<string, Float32Array>();
  const rowOf = (word: string): Float32Array =>
    remembered(rows, word, () => Float32Array.from(book.words, (other) => wordLikeness(word, other)));
  const numbers = new Map(book.words.map((word, i) => [word, i]));
  const weights = Float32Array.from(book.words, weightOf);
  return fields.map((asked) => likenessOf(asked, { book, weights, weigh: weighing(rowOf, book), numbers }));
}

const weighing =
  (rowOf: (word: string) => Float32Array, book: LabelBook) =>
  (words: readonly string[]): Weighted => {
    const rows = words.map(rowOf);
    const weights = words.map(weightOf);
    const best = new Float32Array(book.words.length);
    for (const row of rows)
      for (let i = 0; i < row.length; i += 1) best[i] = Math.max(best[i] ?? 0, row[i] ?? 0);
    return { rows, weights, total: weights.reduce((sum, weight) => sum + weight, 0), best };
  };

interface Book {
  readonly book: LabelBook;
  readonly weights: Float32Array;
  readonly weigh: (words: readonly string[]) => Weighted;
  readonly numbers: ReadonlyMap<string, number>;
}

function likenessOf(asked: Asked, { book, weights, weigh, numbers }: Book): Likeness {
  const [name, all] = [weigh(asked.name), weigh(asked.all)];
  const phrases = asked.phrases.map(weigh);
  const known = knownPhrases(asked, numbers);
  const likeness = new Float32Array(book.labels.length * SIDE_COUNT);
  for (const [number, label] of book.labels.entries()) {
    const said = label.reduce((sum, word) => sum + (weights[word] ?? 0), 0);
    if (said === 0) continue;
    const at = number * SIDE_COUNT;
    likeness[at + 4] = byLexicon(label, said, { known, weights });
    const share = (best: Float32Array): number =>
      label.reduce((sum, word) => sum + (weights[word] ?? 0) * (best[word] ?? 0), 0) / said;
    const told = share(all.best);
    if (told > 0) {
      const own = covered(name, label);
      likeness[at] = harmonic(own, share(name.best));
      likeness[at + 1] = own;
      likeness[at + 2] = told;
    }
    for (const phrase of phrases) {
      const back = share(phrase.best);
      if (back > 0)
        likeness[at + 3] = Math.max(likeness[at + 3] ?? 0, harmonic(covered(phrase, label), back));
    }
  }
  return likeness;
}

/** Share of a phrase that a label says. */
function covered({ rows, weights, total }: Weighted, label: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < rows.length; i += 1) {
    const row = rows[i];
    let best = 0;
    for (const word of label) best = Math.max(best, row?.[word] ?? 0);
    sum += (weights[i] ?? 0) * best;
  }
  return total === 0 ? 0 : sum / total;
}

interface Phrase {
  readonly words: readonly number[];
  readonly weight: number;
}

interface Known {
  /** Phrases of the lexicon that are all in the document's words, by their words. */
  readonly known: ReadonlyMap<number, readonly Phrase[]>;
  readonly weights: Float32Array;
}

function knownPhrases(
  { known }: Asked,
  numbers: ReadonlyMap<string, number>,
): ReadonlyMap<number, readonly Phrase[]> {
  const byWord = new Map<number, Phrase[]>();
  for (const phrase of known) {
    const words = phrase.flatMap((word) => numbers.get(word) ?? []);
    if (words.length * 2 <= phrase.length) continue;
    const one = { words, weight: phrase.reduce((sum, word) => sum + weightOf(word), 0) };
    for (const word of new Set(words)) addTo(byWord, word, one);
  }
  return byWord;
}

function byLexicon(label: readonly number[], said: number, { known, weights }: Known): number {
  let most = 0;
  if (known.size === 0) return most;
  for (const word of label) {
    for (const phrase of known.get(word) ?? []) {
      const shared = phrase.words.reduce(
        (sum, one) => sum + (label.includes(one) ? (weights[one] ?? 0) : 0),
        0,
      );
      if (shared * 2 > phrase.weight) most = Math.max(most, harmonic(shared / phrase.weight, shared / said));
    }
  }
  return most;
}
