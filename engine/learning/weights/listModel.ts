import type { Json } from '../../kernel/json.ts';
import type { Field } from '../../extraction/fields/fields.ts';
import { isEmpty } from '../scoring/agreement.ts';
import { saysAll } from './leafModel.ts';
import type { Prepared, Seen } from '../prepared.ts';
import { textOfSpot } from './spots.ts';

/** Labels that name a list of plain values. */
export type ListModel = readonly string[];

export interface ListLesson {
  readonly document: Prepared;
  readonly expected: Json | undefined;
}

const DOCUMENTS_MIN = 2;
const LABELS_MAX = 6;

/** Learns the labels beside texts that say all expected values; undefined where there are none. */
export function learnList(lessons: readonly ListLesson[]): ListModel | undefined {
  const votes = new Map<string, number>();
  for (const { document, expected } of lessons) {
    const label = labelOf(document, expected);
    if (label !== undefined) votes.set(label, (votes.get(label) ?? 0) + 1);
  }
  const labels = [...votes]
    .filter(([, count]) => count >= DOCUMENTS_MIN)
    .sort(([a, one], [b, two]) => two - one || (a < b ? -1 : 1))
    .map(([label]) => label);
  return labels.length === 0 ? undefined : labels.slice(0, LABELS_MAX);
}

/** The label of the shortest text that says all of the values. */
function labelOf(document: Prepared, expected: Json | undefined): string | undefined {
  if (!Array.isArray(expected) || isEmpty(expected)) return undefined;
  const values = expected as readonly Json[];
  const saying = document
    .texts()
    .map((seen) => ({ seen, text: textOfSpot(seen.spot, ' ') }))
    .filter(({ seen, text }) => seen.labels.length > 0 && saysAll(text, values));
  const shortest = saying.reduce<{ seen: Seen; text: string } | undefined>(
    (best, one) => (best === undefined || one.text.length < best.text.length ? one : best),
    undefined,
  );
  return shortest?.seen.labels[0];
}

/** The field of a list with the labels that it has. */
export const listBy = (labels: ListModel, field: Field): Field => ({
  ...field,
  phrases: [...field.phrases, ...labels.map((label) => label.split(' '))],
});
