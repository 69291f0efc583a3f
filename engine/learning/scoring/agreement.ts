import type { Json } from '../../kernel/json.ts';
import { datesIn } from '../../extraction/values/dates.ts';

/** Amounts agree within half a cent and what floating point adds. */
const NUMBER_TOLERANCE = 0.005 + 1e-9;

/** Letters and digits alone, in upper case: what texts are compared by. */
export const squeezed = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toUpperCase();

/** Whether nothing is said: null, an empty text, an empty list. */
export const isEmpty = (value: Json | undefined): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

const isoDay = (text: string): string | undefined =>
  /^\d{4}-\d{2}-\d{2}/.exec(text)?.[0] ?? datesIn(text, true)[0]?.iso;

/**
 * Whether a value is the expected one: numbers within half a cent, days as days, texts by their letters and
 * digits. The same rules as those by which results are scored.
 */
export function sameValue(expected: Json, value: Json | undefined): boolean {
  if (value === undefined || isEmpty(value)) return false;
  if (typeof expected === 'number' || typeof value === 'number')
    return Math.abs(Number(expected) - Number(value)) <= NUMBER_TOLERANCE;
  if (typeof expected !== 'string' || typeof value !== 'string') return expected === value;
  if (squeezed(expected) === squeezed(value)) return true;
  const day = /^\d{4}-\d{2}-\d{2}/.exec(value)?.[0];
  return day !== undefined && isoDay(expected) === day;
}
