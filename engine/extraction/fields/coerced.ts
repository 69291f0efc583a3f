import type { Json } from '../../kernel/json.ts';
import type { Field } from './fields.ts';
import { inFormat } from './formats.ts';

/** A field as it is read, by each of its types in the schema's order. */
export const readings = ({ others = [], ...field }: Field): readonly Field[] => [field, ...others];

/**
 * The value in the first of the schema's types, among its choices and in its format; undefined when it has none.
 * Digits that are no number stay text where a number is asked for: they are told, and left out of the answer.
 */
export function coerced(field: Field, value: Json): Json | undefined {
  if (isInexact(field, value)) return value;
  for (const one of readings(field)) {
    const typed = asType(one, value);
    if (typed !== undefined && isAllowed(one, typed)) return typed;
  }
  return undefined;
}

function asType({ type, format }: Field, value: Json): Json | undefined {
  if (type === 'integer') return Number.isInteger(value) ? value : undefined;
  if (type !== 'string') return typeof value === type ? value : undefined;
  return inFormat(format, typeof value === 'string' ? value : JSON.stringify(value));
}

const isAllowed = ({ allowed }: Field, value: Json): boolean =>
  allowed === undefined || allowed.includes(value);

const DIGITS = /^[\d\s.,()+-]+$/;

/** Whether a number is asked for, and nothing else, and what stands there are digits that no number holds. */
export const isInexact = (field: Field, value: Json): boolean =>
  typeof value === 'string' &&
  DIGITS.test(value) &&
  readings(field).every(({ type }) => type === 'integer' || type === 'number');
