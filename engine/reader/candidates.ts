import type { Json } from '../kernel/json.ts';
import { choiceIn } from '../extraction/texts.ts';
import { isPartOfText } from '../extraction/singles/values.ts';
import type { Asked } from './asked.ts';
import type { Span } from './spans.ts';

const COUNTS: readonly string[] = 'zero one two three four five six seven eight nine ten eleven twelve'.split(
  ' ',
);
const TENS: Readonly<Record<string, number>> = {
  eighteen: 18,
  twenty: 20,
  thirty: 30,
  sixty: 60,
  ninety: 90,
};

/** The count of a duration: "three (3) years" is 3. */
function countOf(text: string): number | undefined {
  const digits = /\d+/.exec(text)?.[0];
  if (digits !== undefined) return Number(digits);
  const word = text.toLowerCase().split(/[\s(-]/)[0] ?? '';
  const count = COUNTS.indexOf(word);
  return count < 0 ? TENS[word] : count;
}

function numberOf({ field: { type } }: Asked, span: Span): Json | undefined {
  const { kind, value, text, segment } = span;
  if (kind === 'duration') return countOf(text);
  if ((kind !== 'number' && kind !== 'percent') || isPartOfText(segment.text, span)) return undefined;
  return typeof value === 'number' && (type === 'number' || Number.isInteger(value)) ? value : undefined;
}

const CHOICE_MAX = 80;

/** Kinds whose values are not as they are written. */
const READ: ReadonlySet<Span['kind']> = new Set(['number', 'percent', 'date']);

/** The value of a span for a field; undefined where it cannot be one. */
export function valueFor(asked: Asked, span: Span): Json | undefined {
  const { kind, value, text } = span;
  switch (asked.form) {
    case 'number':
      return numberOf(asked, span);
    case 'date':
      return kind === 'date' ? value : undefined;
    case 'choice':
      return text.length > CHOICE_MAX ? undefined : choiceIn(asked.field, text);
    case 'string':
      return READ.has(kind) || typeof value !== 'string' ? text : value;
  }
}

/** A value as text. */
export const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

const squeezed = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '').toUpperCase();
const NEAR = 0.005;

/** Whether two values are the same but for case, spaces and marks. */
export function isSame(one: Json, other: Json): boolean {
  if (typeof one === 'number' && typeof other === 'number') return Math.abs(one - other) <= NEAR;
  return squeezed(textOf(one)) === squeezed(textOf(other));
}

/** Whether one text is a part of the other. */
export const isPartly = (one: Json, other: Json): boolean =>
  typeof one === 'string' && typeof other === 'string' && (one.includes(other) || other.includes(one));
