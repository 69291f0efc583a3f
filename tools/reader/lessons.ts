import type { Document } from '../../engine/document/document.ts';
import type { Json, JsonObject } from '@quire/engine/kernel/json';
import { fieldsOf, rulesFor } from '../../engine/extraction/extract.ts';
import { schemaTree } from '../../engine/extraction/fields/fields.ts';
import { paceOf } from '../../engine/extraction/pace.ts';
import { sourceOf } from '../../engine/extraction/source.ts';
import { findTotals, isTotal } from '../../engine/extraction/singles/totals.ts';
import { isSame } from '../../engine/reader/candidates.ts';
import { FEATURES, type Candidate } from '../../engine/reader/features.ts';
import { weighed, type Weighed } from '../../engine/reader/scorer.ts';
import type { Rows } from './boosting.ts';

/** A document whose values are known, as the generator makes it. */
export interface Known {
  readonly kind: string;
  readonly document: Document;
  readonly schema: JsonObject;
  readonly truth: JsonObject;
}

/** What the scorer sees of a document, and what would be right; undefined where nothing says it. */
export interface Lesson extends Weighed {
  readonly kind: string;
  /** Of each field that was asked, the value that the document has; null: it has none. */
  readonly truths: readonly (Json | undefined)[];
}

export const valueAt = (value: JsonObject, pointer: string): Json | undefined =>
  pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<Json | undefined>(
      (at, name) =>
        at !== null && typeof at === 'object' && !Array.isArray(at) ? (at as JsonObject)[name] : undefined,
      value,
    );

/** Weighs a document for its schema; undefined for a schema that no object fills. */
export function lessonOf({ kind, document, schema, truth }: Known): Lesson | undefined {
  const tree = schemaTree(schema);
  if (tree?.kind !== 'object') return undefined;
  const fields = fieldsOf(tree);
  const source = sourceOf(
    document,
    fields.flatMap(({ phrases }) => phrases),
  );
  const totals = findTotals(fields.filter(isTotal), source);
  const found = weighed(fields, source, rulesFor(fields, { source, totals, pace: paceOf() }));
  const truths = found.asked.map(({ field }) => valueAt(truth, field.pointer) ?? null);
  return { kind, ...found, truths };
}

/** Whether a candidate says what the document has. */
export const isRight = ({ value }: Pick<Candidate, 'value'>, truth: Json | undefined): boolean =>
  truth !== undefined && truth !== null && truth !== '' && typeof truth !== 'object' && isSame(value, truth);

/** Of a field's candidates all that are right, the likeliest others, and some of the rest. */
const HARD = 12;
const REST_EVERY = 24;

const GROWTH = 1.5;

/** Rows to train on, as many as come; those of one field share their weight. */
export class RowStore {
  #values = new Float32Array(FEATURES.length * 10_000);
  readonly #labels: number[] = [];
  readonly #weights: number[] = [];
  readonly #folds: number[] = [];

  add(lesson: Lesson, fold: number): void {
    for (const [i, candidates] of lesson.candidates.entries()) {
      const truth = lesson.truths[i];
      const right = candidates.filter((one) => isRight(one, truth)).length;
      for (const [k, candidate] of candidates.entries()) {
        const label = isRight(candidate, truth);
        if (!label && k >= HARD && k % REST_EVERY !== 0) continue;
        this.#push(candidate.row, { label, fold, weight: label ? 1 / Math.sqrt(right) : 1 });
      }
    }
  }

  #push(row: Float32Array, { label, fold, weight }: { label: boolean; fold: number; weight: number }): void {
    const at = this.#labels.length * FEATURES.length;
    if (at + FEATURES.length > this.#values.length) {
      const larger = new Float32Array(FEATURES.length * Math.ceil(GROWTH * (this.#labels.length + 1)));
      larger.set(this.#values.subarray(0, at));
      this.#values = larger;
    }
    this.#values.set(row, at);
    this.#labels.push(Number(label));
    this.#weights.push(weight);
    this.#folds.push(fold);
  }

  get count(): number {
    return this.#labels.length;
  }

  /** All rows but those of a fold. */
  without(fold: number | undefined): Rows {
    const kept = this.#folds.flatMap((one, i) => (one === fold ? [] : [i]));
    const size = FEATURES.length;
    const values = new Float32Array(kept.length * size);
    for (const [k, i] of kept.entries())
      values.set(this.#values.subarray(i * size, (i + 1) * size), k * size);
    return {
      features: size,
      values,
      labels: Uint8Array.from(kept, (i) => this.#labels[i] ?? 0),
      weights: Float32Array.from(kept, (i) => this.#weights[i] ?? 0),
    };
  }
}
