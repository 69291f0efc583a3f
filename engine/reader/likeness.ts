import type { Asked } from './asked.ts';
import type { LabelBook } from './labelBook.ts';
import { harmonic, weightOf, wordLikeness } from './words.ts';
import { remembered } from '../kernel/once.ts';
import { addTo } from '../kernel/lists.ts';

/** How a label says a field: name both ways, name alone, all its words, a phrase of its description, the lexicon. */
export const SIDES = ['both', 'name', 'all', 'phrase', 'lexicon'] as const;
export const SIDE_COUNT = SIDES.length;

/** Of one field to every label. */
export interface Likeness {
  /** Five shares, 0..1, a label, in the order of `SIDES`. */
  readonly shares: Float32Array;
  /** The labels that say anything of the field: all shares of the others are 0. */
  readonly labels: readonly number[];
}

/** A label's score as a whole, 0..1. */
export const scoreAt = ({ shares }: Likeness, label: number): number => {
  const at = label * SIDE_COUNT;
  const [both, all] = [shares[at] ?? 0, shares[at + 2] ?? 0];
  return Math.max(both, 0.95 * (shares[at + 4] ?? 0), 0.85 * (shares[at + 3] ?? 0), 0.6 * all);
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
  const saidIn: number[][] = book.words.map(() => []);
  for (const [number, label] of book.labels.entries())
    for (const word of new Set(label)) saidIn[word]?.push(number);
  const weigh = weighing(rowOf, book);
  return fields.map((asked) => likenessOf(asked, { book, weights, weigh, numbers, saidIn }));
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
  /** The labels that each word stands in. */
  readonly saidIn: readonly (readonly number[])[];
}

/** Only labels that share a word with the field, or one that is like it, are weighed. */
function likenessOf(asked: Asked, { book, weights, weigh, numbers, saidIn }: Book): Likeness {
  const [name, all] = [weigh(asked.name), weigh(asked.all)];
  const phrases = asked.phrases.map(weigh);
  const known = knownPhrases(asked, numbers);
  const shares = new Float32Array(book.labels.length * SIDE_COUNT);
  const tells = (_: unknown, word: number): boolean =>
    known.has(word) || [all, ...phrases].some(({ best }) => (best[word] ?? 0) > 0);
  const labels = [...new Set(saidIn.filter(tells).flat())];
  for (const number of labels) {
    const label = book.labels[number] ?? [];
    const said = share(label, weights);
    const at = number * SIDE_COUNT;
    shares[at + 4] = byLexicon(label, said, { known, weights });
    const told = share(label, weights, all.best) / said;
    if (told > 0) {
      const own = covered(name, label);
      shares[at] = harmonic(own, share(label, weights, name.best) / said);
      shares[at + 1] = own;
      shares[at + 2] = told;
    }
    for (const phrase of phrases) {
      const back = share(label, weights, phrase.best) / said;
      if (back > 0) shares[at + 3] = Math.max(shares[at + 3] ?? 0, harmonic(covered(phrase, label), back));
    }
  }
  return { shares, labels };
}

/** What the words of a label weigh, each as much as it is like the best. */
function share(label: readonly number[], weights: Float32Array, best?: Float32Array): number {
  let sum = 0;
  for (const word of label) sum += (weights[word] ?? 0) * (best === undefined ? 1 : (best[word] ?? 0));
  return sum;
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
