import { ownMember, type Json } from '../../kernel/json.ts';
import { values } from '../words/lexicon.ts';
import type { Field } from './fields.ts';

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

/** What a finding says of a field: its value, or its text where the schema wants that as it is printed. */
export const saidIn = (
  { asPrinted }: Field,
  { value, text }: { readonly value: Json; readonly text: string },
): Json => (asPrinted === true && typeof value === 'string' && ISO_DAY.test(value) ? text : value);

const ISO_DAY = /^\d{4}-\d{2}-\d{2}$/u;

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

/** A text as a format of JSON Schema wants it; undefined where it is none. Formats not named here take any text. */
const inFormat = (format: string | undefined, text: string): string | undefined => {
  const fit = format === undefined ? undefined : FITS.get(format);
  return fit === undefined ? text : fit(text.trim());
};

type Fit = (text: string) => string | undefined;

const matching =
  (shape: RegExp): Fit =>
  (text) =>
    shape.test(text) ? text : undefined;

const TIME = /^(\d{1,2})[:.h]([0-5]\d)(?::([0-5]\d))?\s?(.*)$/iu;
const HALF = /^([ap])\.?m\.?$/iu;
const ZONE = /^(?:Z|[+-]\d{2}:\d{2})$/u;
const NOON = 12;

/** RFC 3339, section 5.6: a time of day without a zone is told as UTC, as days are. */
function timeOf(text: string): string | undefined {
  const [, hours, minutes = '', seconds = '00', rest = ''] = TIME.exec(text) ?? [];
  const hour = hourOf(Number(hours), HALF.exec(rest)?.[1]);
  const zone = HALF.test(rest) || rest === '' ? 'Z' : rest;
  return hour <= 23 && ZONE.test(zone)
    ? `${String(hour).padStart(2, '0')}:${minutes}:${seconds}${zone}`
    : undefined;
}

/** Of 24; `half` of a day: `a` or `p`. */
function hourOf(hours: number, half: string | undefined): number {
  if (half === undefined) return hours;
  return (hours % NOON) + (half.toLowerCase() === 'p' ? NOON : 0);
}

const DURATION = /^P(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?$/u;
const SPOKEN = /\(?\b(\d{1,4})\)?\s?(year|month|week|day|hour|minute|second|jahr|monat|woche|tag|stunde)/iu;
const UNITS: Readonly<Record<string, string>> = values.duration_units;
const OF_TIME: ReadonlySet<string> = new Set(values.time_units);

/** ISO 8601: "P2Y" as it stands, or for "two (2) years". */
function durationOf(text: string): string | undefined {
  if (DURATION.test(text)) return text;
  const [, count = '', said = ''] = SPOKEN.exec(text) ?? [];
  const unit = ownMember(UNITS, said.toLowerCase());
  return unit === undefined ? undefined : `P${OF_TIME.has(said.toLowerCase()) ? 'T' : ''}${count}${unit}`;
}

const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|1?\d?\d)`;

const DAY = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/u;
const dayOf = matching(DAY);
/** The moment as it stands, or the day's beginning. */
const momentOf: Fit = (text) => (DAY.test(text) ? `${text}T00:00:00Z` : momentAsIs(text));
const momentAsIs = matching(/^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/iu);

/** Addresses of the web are printed without their scheme. */
const addressOf: Fit = (text) => {
  if (/\s/u.test(text)) return undefined;
  if (/^[a-z][a-z\d+.-]*:./iu.test(text)) return text;
  return /^[a-z\d-]+(?:\.[a-z\d-]+)+(?:\/|$)/iu.test(text) ? `https://${text}` : undefined;
};

const mailOf: Fit = (text) => /[^\s<>;,()]{1,64}@[^\s<>;,()@]{1,253}/u.exec(text)?.[0];

const FITS: ReadonlyMap<string, Fit> = new Map<string, Fit>([
  ['date', dayOf],
  ['date-time', momentOf],
  ['email', mailOf],
  ['uri', addressOf],
  ['url', addressOf],
  ['time', timeOf],
  ['duration', durationOf],
  ['uuid', matching(/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/iu)],
  ['ipv4', matching(new RegExp(String.raw`^(?:${OCTET}\.){3}${OCTET}$`, 'u'))],
  ['ipv6', matching(/^(?=.*:.*:)[\da-f:]{2,39}$/iu)],
  [
    'hostname',
    matching(/^(?=.{1,253}$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/iu),
  ],
]);
