import type { EvidenceKind } from '../evidence.ts';
import type { Field } from '../fields/fields.ts';
import { isSentence } from '../form/printed.ts';
import { likeness, likeWord } from '../matching/likeness.ts';
import { termsIn, weightOf } from '../matching/terms.ts';
import forms from '../lexicon/forms.json' with { type: 'json' };
import type { Segment } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { labelIndexOf } from './labelIndex.ts';
import type { Offer } from './offer.ts';
import { impliedBy, shapeOf, type Shape } from './shapes.ts';
import { valuesAt, type Reading } from './values.ts';

/** Shapes that a value has by itself, so that it can be told from the words around it. */
const TYPED: ReadonlySet<Shape> = new Set<Shape>([
  'date', 'year', 'time', 'integer', 'number', 'percent', 'phone', 'email', 'url', 'iban', 'bic', 'vat_id', 'code',
]); // prettier-ignore
const BEFORE_CHARACTERS = 90;
const AFTER_CHARACTERS = 40;
const PROSE_SCORE = 0.9;

/** Values right beside the words that name the field, without a mark between: in a short text or a sentence. */
export function mentions(field: Field, source: Source): readonly Offer[] {
  if (!TYPED.has(shapeOf(field))) return [];
  const { form, speaking } = labelIndexOf(source);
  return speaking(field.terms)
    .filter(({ words: [first] }) => first !== undefined && !form.blanks.has(first))
    .flatMap((segment) => {
      const values = valuesIn(field, segment, source);
      return values.flatMap((value) => mentionOf(field, value, source) ?? []);
    });
}

/** A number after such a word names a part of a document: "line 37", "Form 2106", "§ 5". */
const isReference = (before: string): boolean => REFERENCE.test(before);
const REFERENCE = new RegExp(`(?:${forms.references.join('|')})[\\s.:]*$`, 'iu');

const VALUES_MAX = 12;

function valuesIn(field: Field, segment: Segment, source: Source): readonly Reading[] {
  const spot = { segment, from: 0, to: segment.text.length };
  if (shapeOf(field) !== 'code')
    return valuesAt(spot, { field, conventions: source.conventions }).slice(0, VALUES_MAX);
  return [
    ...segment.text.matchAll(
      /(?<![\p{L}\p{N}])(?:[\p{L}\p{N}]+[-/.])*[\p{L}\p{N}]*\d[\p{L}\p{N}]*(?:[-/.][\p{L}\p{N}]+)*/gu,
    ),
  ]
    .slice(0, VALUES_MAX)
    .map(({ 0: text, index }) => ({
      segment,
      from: index,
      to: index + text.length,
      value: text,
      text,
      strictness: 0.6,
    }));
}

function mentionOf(field: Field, value: Reading, source: Source): Offer | undefined {
  const { segment, from, to } = value;
  const before = segment.text.slice(0, from);
  const after = segment.text.slice(to);
  if (/:\s*$/.test(before) || isReference(before)) return undefined;
  const shape = shapeOf(field);
  const implied = impliedBy(shape);
  const isCount = shape === 'integer' || shape === 'number';
  const of = (kind: EvidenceKind, score: number): Offer | undefined =>
    score >= 0.5 ? { ...value, kind, score } : undefined;
  if (!isSentence(segment.text)) {
    const own = likeness(field.terms, { label: termsIn(before), context: [], implied });
    const counted =
      isCount && before.trim() === ''
        ? likeness(field.terms, { label: termsIn(after), context: [], implied })
        : 0;
    if (Math.max(own, counted) >= 0.5) return own >= counted ? of('inline', own) : of('count', counted);
  }
  return of('prose', PROSE_SCORE * saidAround(field, value, source));
}

/** Share of a call's words that the sentence has near the value, one of them next to it. */
function saidAround(field: Field, { segment, from, to }: Reading, { layout }: Source): number {
  const implied = impliedBy(shapeOf(field));
  const previous = layout.segments[segment.index - 1];
  const joined = previous !== undefined && Math.abs(previous.x0 - segment.x0) < 30 ? `${previous.text} ` : '';
  const before = sentenceEnd(joined + segment.text.slice(0, from)).slice(-BEFORE_CHARACTERS);
  const after = sentenceStart(segment.text.slice(to)).slice(0, AFTER_CHARACTERS);
  const near = nearest(shapeOf(field), termsIn(before), termsIn(after));
  const around = [...termsIn(before), ...termsIn(after)];
  return field.terms.calls.reduce((most, { words, weight }) => {
    if (
      !words.some(
        (word) =>
          !implied.has(word) && weightOf(word) === 1 && near.some((other) => likeWord(word, other) > 0),
      )
    )
      return most;
    let [all, hit] = [0, 0];
    for (const word of words) {
      const worth = implied.has(word) ? 0 : weightOf(word);
      all += worth;
      hit += worth * around.reduce((top, other) => Math.max(top, likeWord(word, other)), 0);
    }
    return all === 0 ? most : Math.max(most, (weight * hit) / all);
  }, 0);
}

/**
 * The words right beside a value. What follows a bare number is what it counts; an identifier follows its name.
 */
function nearest(shape: Shape, before: readonly string[], after: readonly string[]): readonly string[] {
  if (shape === 'code') return before.filter((word) => word !== 'nr').slice(-1);
  const isCount = shape === 'integer' || shape === 'number';
  return isCount && after.length > 0 ? after.slice(0, 1) : [...before.slice(-2), ...after.slice(0, 1)];
}

const sentenceEnd = (text: string): string => text.split(/[.;!?]\s+(?=\p{Lu})/u).at(-1) ?? '';
const sentenceStart = (text: string): string => text.split(/[.;!?](?:\s|$)/)[0] ?? '';
