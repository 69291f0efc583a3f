import type { Json } from '../../kernel/json.ts';
import type { SchemaNode } from '../fields/fields.ts';
import type { Cite } from './rowValues.ts';

interface Filling {
  readonly cite: Cite;
  /** Less sure findings will be left out. */
  readonly sure: number;
}

/** More than any shape has values. */
const WHOLE = 1e6;

/**
 * Of several shapes of one place the value of that which is filled best: it lacks nothing it requires, if one does,
 * and has the most sure values, names of a map among them; of equals the first. The others cite nothing.
 */
export function filledBest(
  ways: readonly SchemaNode[],
  { cite, sure }: Filling,
  valueOf: (way: SchemaNode, cite: Cite) => Json | undefined,
): Json | undefined {
  let best:
    | { readonly value: Json; readonly rank: number; readonly cites: readonly Parameters<Cite>[] }
    | undefined;
  for (const way of ways) {
    const cites: Parameters<Cite>[] = [];
    const value = valueOf(way, (...said) => cites.push(said));
    if (value === undefined) continue;
    const certain = cites.filter(([, { confidence }, inexact]) => confidence >= sure && !inexact).length;
    const rank = certain + namesIn(way, value) + (certain > 0 && isWhole(way, value) ? WHOLE : 0);
    if (best === undefined || rank > best.rank) best = { value, rank, cites };
  }
  if (best === undefined) return undefined;
  for (const said of best.cites) cite(...said);
  return best.value;
}

/** A map's names are found in the document, too. */
const namesIn = (way: SchemaNode, value: Json): number =>
  way.kind === 'map' && typeof value === 'object' && value !== null ? Object.keys(value).length : 0;

const isWhole = (way: SchemaNode, value: Json): boolean =>
  way.kind !== 'object' ||
  [...way.required].every(
    (name) => typeof value === 'object' && value !== null && Object.hasOwn(value, name),
  );
