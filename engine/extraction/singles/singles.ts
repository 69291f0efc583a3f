import { calibratedOffer } from '../calibration.ts';
import type { Field } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';
import { wordsIn } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { chosen, type Contender } from './choose.ts';
import type { Offer } from './offer.ts';
import { offersFor } from './offers.ts';
import { shapeOf, type Shape } from './shapes.ts';
import { isNoValue } from './vetoes.ts';

/** What the rules of a concept say of a field. */
export type ByRules = (field: Field) => Finding | undefined;

/**
 * The values of a schema's single fields: what labels and sentences offer by the schema's own words, beside
 * what the rules of known concepts find; the surer of both, and no words twice.
 */
export function singlesOf(fields: readonly Field[], source: Source, byRules: ByRules): ReadonlyMap<string, Finding> {
  return chosen(fields.map((field) => contenderOf(field, source, byRules)));
}

function contenderOf(field: Field, source: Source, byRules: ByRules): Contender {
  const ruled = byRules(field);
  const rule = ruled === undefined || isNoValue(field, ruled, source) ? undefined : ruled;
  const offers = offersFor(field, source).map((offer) => findingFor(field, offer));
  const agreeing = offers.find(({ value }) => rule !== undefined && isSame(value, rule.value));
  if (rule === undefined) return { field, findings: offers };
  if (agreeing === undefined) return { field, findings: [rule, ...offers] };
  const confidence = Math.max(rule.confidence, agreeing.confidence);
  const others = offers.filter((one) => one !== agreeing);
  return { field, findings: [{ ...rule, confidence }, ...others] };
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function findingFor(field: Field, { segment, from, to, value, text, kind, score, strictness }: Offer): Finding {
  const words = wordsIn(segment, from, to);
  const read = words.reduce((least, { confidence }) => Math.min(least, confidence), 1);
  const confidence = Math.round(1000 * read * calibratedOffer(kind, FREE.has(shapeOf(field)), score)) / 1000;
  return { value, text, page: segment.page, words, confidence, kind };
}

/** Shapes that nearly any text has. */
const FREE: ReadonlySet<Shape> = new Set<Shape>(['text', 'name']);
