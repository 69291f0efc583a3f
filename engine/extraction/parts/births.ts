import { oneOf } from '../../kernel/text.ts';
import type { Field } from '../fields/fields.ts';
import parts from '../lexicon/parts.json' with { type: 'json' };
import { paragraphsOf } from '../places/paragraphs.ts';
import type { Segment } from '../places/layout.ts';
import type { Draft } from '../singles/offer.ts';
import { shapeOf } from '../singles/shapes.ts';
import type { Source } from '../source.ts';
import { datesIn, type DateShape } from '../values/dates.ts';

const BORN = new RegExp(`(?<!\\p{L})${oneOf(parts.born)}:?\\s(?:${oneOf(parts.before_day)}\\s)?$`, 'iu');
const PLACE_AFTER =
  /^,?\s(?:à|in|at|a|en|em|te|v|zu)\s(\p{Lu}[\p{L}'’-]{1,30}(?:[\s-](?:\p{Ll}{2,4}\s)?\p{Lu}[\p{L}'’-]{1,30}){0,3})/u;
const BIRTH = new Set(parts.birth);
const PLACE = new Set(parts.place);

interface Birth {
  readonly segment: Segment;
  readonly date: DateShape;
}

const KNOWN = new WeakMap<Source, readonly Birth[]>();

/** Day and place of a birth as sentences say them: "né le 14 février 1988 à Quimper". */
export function birthOffers(field: Field, source: Source): readonly Draft[] {
  const { name } = field.terms;
  if (!name.some((word) => BIRTH.has(word))) return [];
  const shape = shapeOf(field);
  const births = KNOWN.get(source) ?? birthsIn(source);
  KNOWN.set(source, births);
  if (shape === 'date') return births.map(dayOf);
  return shape === 'text' && name.some((word) => PLACE.has(word)) ? births.flatMap(placeOf) : [];
}

const BIRTHS_MAX = 20;
const BEFORE = 24;

function birthsIn({ layout, conventions }: Source): readonly Birth[] {
  const births: Birth[] = [];
  for (const segment of paragraphsOf(layout).all) {
    if (births.length >= BIRTHS_MAX) break;
    if (!/\d{2}/.test(segment.text)) continue;
    const dates = datesIn(segment.text, conventions.dayFirst);
    const born = dates.filter(({ from }) => BORN.test(segment.text.slice(Math.max(0, from - BEFORE), from)));
    births.push(...born.map((date) => ({ segment, date })));
  }
  return births;
}

const SCORE = 0.97;

const dayOf = ({ segment, date: { from, to, text, iso } }: Birth): Draft => ({
  segment,
  from,
  to,
  text,
  value: iso,
  strictness: 1,
  kind: 'apposed',
  score: SCORE,
});

function placeOf({ segment, date }: Birth): readonly Draft[] {
  const match = PLACE_AFTER.exec(segment.text.slice(date.to, date.to + 80));
  const place = match?.[1];
  if (match === null || place === undefined) return [];
  const to = date.to + match[0].length;
  const from = to - place.length;
  return [{ segment, from, to, text: place, value: place, strictness: 0.8, kind: 'apposed', score: SCORE }];
}
