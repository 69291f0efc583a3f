import type { EvidenceKind } from '../finding.ts';
import type { Field } from '../fields/fields.ts';
import { isSentence } from '../form/printed.ts';
import { says } from '../words/says.ts';
import { spelledAlike } from '../words/alike.ts';
import { termsIn, weightOf } from '../fields/terms.ts';
import type { Segment } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { labelIndexOf } from './labelIndex.ts';
import { type Draft, isPartOfText, isReference, valuesAt, type ValueReading } from './values.ts';
import { unitAfter, unitNamed } from '../values/numbers.ts';
import { datesIn } from '../values/dates.ts';
import { impliedBy, isShare, shapeOf, type Shape } from './shapes.ts';
import type { WordSet } from '../words/lexicon.ts';

/** Shapes that a value has by itself, so that it can be told from the words around it. */
const TYPED: ReadonlySet<Shape> = new Set<Shape>([
  'date', 'year', 'time', 'integer', 'number', 'percent', 'phone', 'email', 'url', 'iban', 'bic', 'vat_id', 'code',
]); // prettier-ignore
const BEFORE_CHARACTERS = 90;
const AFTER_CHARACTERS = 40;
const PROSE_SCORE = 0.9;

/** Values right beside the words that name the field, without a mark between: in a short text or a sentence. */
export function mentions(field: Field, source: Source): readonly Draft[] {
  if (!TYPED.has(shapeOf(field)) && !isPlainText(field)) return [];
  return labelIndexOf(source)
    .speaking(field.terms)
    .flatMap((segment) => valuesIn(field, segment, source))
    .flatMap((value) => mentionOf(field, value, source) ?? []);
}

/** A text that no concept says more of may be an identifier; right behind the field's own name it is told as one. */
const isPlainText = (field: Field): boolean =>
  shapeOf(field) === 'text' && field.kind === 'text' && field.choices.length === 0;

const VALUES_MAX = 24;
/** Letters before three digits belong to a code, unless they say that it is one: "CCA 418227", "No 418227". */
const CODES = new RegExp(
  String.raw`(?<![\p{L}\p{N}])(?:(?!(?:N[OR]|NUM|ID|REF|KEY|CODE|PIN|TEL)\s)\p{Lu}{2,4}\s(?=\d{3}))?` +
    String.raw`(?:[\p{L}\p{N}]+[-/.])*[\p{L}\p{N}]*\d[\p{L}\p{N}]*(?:[-/.][\p{L}\p{N}]+)*`,
  'gu',
);

function valuesIn(field: Field, segment: Segment, source: Source): readonly ValueReading[] {
  const spot = { segment, from: 0, to: segment.text.length };
  if (shapeOf(field) !== 'code' && !isPlainText(field))
    return valuesAt(spot, { field, conventions: source.conventions }).slice(0, VALUES_MAX);
  return [...segment.text.matchAll(CODES)].slice(0, VALUES_MAX).map(({ 0: text, index }) => ({
    segment,
    from: index,
    to: index + text.length,
    value: text,
    text,
    strictness: 0.6,
  }));
}

function mentionOf(field: Field, value: ValueReading, source: Source): Draft | undefined {
  const { segment, from, to } = value;
  const before = segment.text.slice(0, from);
  const after = segment.text.slice(to);
  if (/:\s*$/.test(before) || isReference(before)) return undefined;
  const shape = shapeOf(field);
  if (shape === 'text') return codeBehindName(field, value);
  const implied = impliedBy(shape);
  const isCount = shape === 'integer' || shape === 'number';
  const of = (kind: EvidenceKind, score: number): Draft | undefined =>
    score >= 0.5 ? { ...value, kind, score } : undefined;
  if (!isSentence(segment.text)) {
    const own = says({ label: termsIn(before), context: [], implied }, field.terms);
    const counted =
      isCount && before.trim() === ''
        ? says({ label: termsIn(after), context: [], implied }, field.terms)
        : 0;
    if (Math.max(own, counted) >= 0.5) return own >= counted ? of('inline', own) : of('count', counted);
  }
  return of('prose', PROSE_SCORE * saidAround(field, value, source));
}

const NAME_CHARACTERS = 40;
const SAYS_NAME = 0.9;

/** "Resolution DM-2031-001", "Route 418": a code of three signs or more behind all words of the field's name. */
function codeBehindName(field: Field, value: ValueReading): Draft | undefined {
  const { segment, from, text } = value;
  const { name } = field.terms;
  const before = segment.text.slice(Math.max(0, from - NAME_CHARACTERS), from);
  const label = termsIn(before.split(/[.,;:()]\s/).at(-1) ?? '')
    .filter((word) => word !== 'nr')
    .slice(-name.length);
  const score = says(
    { label, context: [], implied: new Set() },
    { ...field.terms, calls: [{ words: name, weight: 1 }] },
  );
  if (text.length < CODE_MIN || score < SAYS_NAME || isInDate(segment.text, from) || isMeasure(value))
    return undefined;
  return { ...value, kind: 'inline', score };
}
const CODE_MIN = 3;
/** A share, or a decimal in brackets, measures something. */
const isMeasure = ({ segment, from, to, text }: ValueReading): boolean =>
  /^\s?%/.test(segment.text.slice(to)) ||
  (/^\d+[.,]\d+$/.test(text) && isPartOfText(segment.text, { from, to }));
const isInDate = (text: string, at: number): boolean =>
  datesIn(text, true).some(({ from, to }) => from <= at && at < to);

/** Share of a call's words that the sentence has near the value, one of them next to it. */
function saidAround(field: Field, { segment, from, to }: ValueReading, { layout }: Source): number {
  const shape = shapeOf(field);
  const implied =
    isShare(field) && isPercent(segment.text.slice(from, to + 12)) ? impliedBy('percent') : impliedBy(shape);
  const previous = layout.segments[segment.index - 1];
  const joined = previous !== undefined && Math.abs(previous.x0 - segment.x0) < 30 ? `${previous.text} ` : '';
  const before = termsIn(sentenceEnd(joined + segment.text.slice(0, from)).slice(-BEFORE_CHARACTERS));
  const after = termsIn(sentenceStart(segment.text.slice(to)).slice(0, AFTER_CHARACTERS));
  const isAsked = inUnit(field, segment.text.slice(from, to).includes('%') ? '%' : segment.text.slice(to));
  const isMeasured = isAsked !== undefined || isAmount(segment.text, { from, to });
  const near =
    isAsked === true ? [...before.slice(-WIDER), ...after] : nearest({ shape, isMeasured }, before, after);
  const wide = shape === 'date' ? before.slice(-WIDER) : [];
  const around = [...before, ...after];
  const share = field.terms.calls.reduce((most, { words, weight }) => {
    const telling = words.filter((word) => !implied.has(word) && weightOf(word) === 1);
    const said = (word: string, among: readonly string[]): boolean =>
      among.some((other) => spelledAlike(word, other) > 0);
    const isNear =
      telling.some((word) => said(word, near)) || telling.filter((word) => said(word, wide)).length > 1;
    return isNear ? Math.max(most, weight * shareSaid(words, implied, around)) : most;
  }, 0);
  return isAsked === false ? OTHER_UNIT * share : share;
}

const isPercent = (text: string): boolean => /%|per\s?cent|procent|prozent/iu.test(text);

const WIDER = 6;
/** Beside a number in another unit, or in none, than the field's name asks for. */
const OTHER_UNIT = 0.6;

/** How much of a call's words stand around the value. */
function shareSaid(words: readonly string[], implied: WordSet, around: readonly string[]): number {
  const areUnits = words.every(isUnit);
  let [all, hit] = [0, 0];
  for (const word of words) {
    const worth = implied.has(word) || (isUnit(word) && !areUnits) ? 0 : weightOf(word);
    all += worth;
    hit += worth * around.reduce((top, other) => Math.max(top, spelledAlike(word, other)), 0);
  }
  return all === 0 ? 0 : hit / all;
}

const isUnit = (word: string): boolean => unitNamed(word) !== undefined;

/** Whether a number stands in the unit that the field's name ends in; undefined of a name without one. */
function inUnit({ type, terms: { name, unit } }: Field, after: string): boolean | undefined {
  const asked =
    type === 'number' || type === 'integer' ? unitNamed(name.find(isUnit) ?? unit ?? '') : undefined;
  return asked === undefined ? undefined : unitAfter(after) === asked;
}

/** A number with decimals, a currency or a percent sign counts nothing. */
function isAmount(text: string, { from, to }: { readonly from: number; readonly to: number }): boolean {
  const number = text.slice(from, to);
  return (
    /[.,]\d{1,2}(?!\d)/.test(number) ||
    /[%€$£]/.test(number) ||
    /[€$£]\s?$/.test(text.slice(Math.max(0, from - 2), from)) ||
    /^\s?(?:[%€$£]|per\s?cent|percent|procent|Prozent|por ciento|v\.\s?H\.|euros?|EUR|USD|GBP|CHF|Kč)/iu.test(
      text.slice(to, to + 12),
    )
  );
}

/**
 * The words right beside a value. What follows a bare number is what it counts; an identifier follows its name.
 */
function nearest(
  { shape, isMeasured }: { readonly shape: Shape; readonly isMeasured: boolean },
  before: readonly string[],
  after: readonly string[],
): readonly string[] {
  if (shape === 'code') return before.filter((word) => word !== 'nr').slice(-1);
  const isCount = !isMeasured && (shape === 'integer' || shape === 'number');
  if (isCount && after.length > 0) return after.slice(0, 1);
  const words = before.filter((word) => /\p{L}/u.test(word));
  return [...(isMeasured ? words : before).slice(-2), ...after.slice(0, 1)];
}

const sentenceEnd = (text: string): string => text.split(/[.;!?]\s+(?=\p{Lu})/u).at(-1) ?? '';
const sentenceStart = (text: string): string => text.split(/[.;!?](?:\s|$)/)[0] ?? '';
