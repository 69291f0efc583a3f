import type { Json } from '../../kernel/json.ts';
import type { Field } from './fields.ts';

/**
 * The value in the schema's JSON type; undefined when it has none. Digits that are no number stay text where a number
 * is asked for: they are told, and left out of the answer.
 */
export function coerced(field: Field, value: Json): Json | undefined {
  const { type, kind, withTime } = field;
  if (isInexact(field, value)) return value;
  if (type === 'integer') return Number.isInteger(value) ? value : undefined;
  if (type !== 'string') return typeof value === type ? value : undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return kind === 'date' && withTime ? `${text}T00:00:00Z` : text;
}

const DIGITS = /^[\d\s.,()+-]+$/;

/** Whether a number is asked for, and what stands there are digits that no number holds. */
export const isInexact = ({ type }: Field, value: Json): boolean =>
  (type === 'integer' || type === 'number') && typeof value === 'string' && DIGITS.test(value);
