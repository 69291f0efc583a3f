import type { Field } from '../fields/fields.ts';
import { remembered } from '../fields/labels.ts';
import { weightOf } from '../matching/terms.ts';
import parts from '../lexicon/parts.json' with { type: 'json' };
import { paragraphsOf } from '../places/paragraphs.ts';
import type { Draft } from '../singles/offer.ts';
import { impliedBy, shapeOf, type Shape } from '../singles/shapes.ts';
import { valuesAt } from '../singles/values.ts';
import type { Source } from '../source.ts';

const SHAPES: ReadonlySet<Shape> = new Set<Shape>(['time', 'phone']);
const TEXTS_MAX = 4000;
const KNOWN = new WeakMap<Source, Map<Shape, readonly Draft[]>>();

/** A field that asks for nothing but a shape has the one value of the document that has it. */
export function aloneOffers(field: Field, source: Source): readonly Draft[] {
  const shape = shapeOf(field);
  const implied = impliedBy(shape);
  if (!SHAPES.has(shape) || !asksOnlyShape(field, implied)) return [];
  const known = KNOWN.get(source) ?? new Map<Shape, readonly Draft[]>();
  KNOWN.set(source, known);
  return remembered(known, shape, () => onlyOne(field, source));
}

/** Of one time alone it is the beginning that is told. */
const asksOnlyShape = ({ terms: { name } }: Field, implied: ReadonlySet<string>): boolean =>
  name.every((word) => implied.has(word) || weightOf(word) < 1 || (STARTS.has(word) && implied.has('time')));
const STARTS = new Set(parts.start);

function onlyOne(field: Field, source: Source): readonly Draft[] {
  const found: Draft[] = [];
  for (const segment of paragraphsOf(source.layout).all.slice(0, TEXTS_MAX)) {
    if (!/\d/.test(segment.text)) continue;
    const spot = { segment, from: 0, to: segment.text.length };
    for (const value of valuesAt(spot, { field, conventions: source.conventions }))
      if (!goesOnFrom(segment.text.slice(0, value.from)))
        found.push({ ...value, kind: 'alone', score: 0.97 });
    if (new Set(found.map(({ value }) => JSON.stringify(value))).size > 1) return [];
  }
  return found.slice(0, 1);
}

/** Digits before it make it a part of a longer number. */
const goesOnFrom = (before: string): boolean => /\d\s?$/.test(before);
