import { folded } from '../../kernel/text.ts';
import { values } from '../words/lexicon.ts';

export interface DateShape {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** `YYYY-MM-DD`. */
  readonly iso: string;
}

/** The first letters of months, folded, in many languages; where several fit, the longest says which it is. */
const MONTHS = values.months
  .flatMap((starts, index) => starts.map((start) => ({ start: folded(start), month: index + 1 })))
  .sort((a, b) => b.start.length - a.start.length);

const NUMERIC = /(?<![\p{L}\p{N}./-])(\d{1,4})\s?([./-])\s?(\d{1,2})\s?\2\s?(\d{2,4})(?![\p{N}]|[./-]\d)/gu;
const DAY_MONTH = new RegExp(
  String.raw`(?<![\p{N}.])(\d{1,2})(?:st|nd|rd|th|er|º|ª|\.)?\s?(?:de |of |day of )?[-\s]?` +
    String.raw`([\p{L}]{3,14})\.?,?\s?(?:de |del )?[-\s]?(\d{4}|\d{2}(?!\d))(?!\d)`,
  'gu',
);
const MONTH_DAY = /(?<!\p{L})(\p{L}{3,14})\.?\s(\d{1,2})(?:st|nd|rd|th)?\s?,?\s(\d{4})(?!\d)/gu;

/** The year first: `2025. január 12.`, `2025年1月12日`, `2025년 1월 12일`. */
const YEAR_FIRST = new RegExp(
  String.raw`(?<![\p{L}\p{N}.])(\d{4})(?:(?:\s?m)?\.\s(\p{L}{3,14})\s|\s?[年년]\s?(\d{1,2})\s?[月월]\s?)` +
    String.raw`(\d{1,2})(?:\s?d?\.|\s?[日일])?(?!\p{N})`,
  'gu',
);

/** Two dates with a dash between them and no space: `05/28/20-06/03/20`. */
const JOINED =
  /(?<![\p{L}\p{N}./-])(\d{1,2}([./])\d{1,2}\2\d{2,4})-(\d{1,2}\2\d{1,2}\2\d{2,4})(?![\p{N}]|[./-]\d)/gu;

function joinedDates(text: string, dayFirst: boolean): readonly DateShape[] {
  return [...text.matchAll(JOINED)].flatMap(({ index, 1: first = '', 3: last = '' }) =>
    [first, last].flatMap((date, i) => {
      const [match] = date.matchAll(NUMERIC);
      const iso = match === undefined ? undefined : numericDate(match, dayFirst);
      const from = index + i * (first.length + 1);
      return iso === undefined ? [] : [{ text: date, from, to: from + date.length, iso }];
    }),
  );
}

/** All dates in a text as ISO days. What is no day of the calendar is no date. */
export function datesIn(text: string, dayFirst: boolean): readonly DateShape[] {
  const found: DateShape[] = [...joinedDates(text, dayFirst)];
  const add = (match: RegExpExecArray, iso: string | undefined): void => {
    const [whole] = match;
    const to = match.index + whole.length;
    if (iso === undefined || found.some((other) => match.index < other.to && other.from < to)) return;
    found.push({ text: whole.trim(), from: match.index, to, iso });
  };
  for (const match of text.matchAll(NUMERIC)) add(match, numericDate(match, dayFirst));
  for (const match of text.matchAll(DAY_MONTH))
    add(match, calendarDay(yearOf(match[3]), monthOf(match[2]), Number(match[1])));
  for (const match of text.matchAll(MONTH_DAY))
    add(match, calendarDay(yearOf(match[3]), monthOf(match[1]), Number(match[2])));
  for (const match of text.matchAll(YEAR_FIRST)) {
    const month = match[2] === undefined ? Number(match[3]) : monthOf(match[2]);
    add(match, calendarDay(Number(match[1]), month, Number(match[4])));
  }
  return found.sort((a, b) => a.from - b.from);
}

/** Eight digits that are a day, the year first or last: `25122031`, `20311225`. Only a label tells. */
export function compactDatesIn(text: string): readonly DateShape[] {
  return [...text.matchAll(/(?<![\p{L}\p{N}./-])\d{8}(?![\p{L}\p{N}./-])/gu)].flatMap((match) => {
    const [digits] = match;
    const part = (from: number, to: number): number => Number(digits.slice(from, to));
    const iso = /^(?:19|20)\d{2}(?:0[1-9]|1[0-2])/.test(digits)
      ? calendarDay(part(0, 4), part(4, 6), part(6, 8))
      : /(?:19|20)\d{2}$/.test(digits)
        ? calendarDay(part(4, 8), part(2, 4), part(0, 2))
        : undefined;
    return iso === undefined ? [] : [{ text: digits, from: match.index, to: match.index + 8, iso }];
  });
}

function numericDate(match: RegExpExecArray, dayFirst: boolean): string | undefined {
  const [a = '', b = '', c = ''] = [match[1], match[3], match[4]];
  if (a.length === 4) return c.length <= 2 ? calendarDay(Number(a), Number(b), Number(c)) : undefined;
  if (a.length > 2 || c.length === 3) return undefined;
  const days = [calendarDay(yearOf(c), Number(b), Number(a)), calendarDay(yearOf(c), Number(a), Number(b))];
  return (dayFirst ? days : days.reverse()).find((day) => day !== undefined);
}

/** Two digits: 00 to 49 are of this century. A rule without a clock, so that results never change. */
export function yearOf(text = ''): number {
  const year = Number(text);
  if (text.length > 2) return year;
  return year < 50 ? 2000 + year : 1900 + year;
}

export function monthOf(text = ''): number {
  const word = folded(text);
  return MONTHS.find(({ start }) => word.startsWith(start))?.month ?? 0;
}

export function calendarDay(year: number, month: number, day: number): string | undefined {
  if (year < 1800 || year > 2199 || month < 1 || month > 12 || day < 1) return undefined;
  if (day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return undefined;
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

const US_STATE =
  '(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|' +
  'V[AT]|W[AIVY])';
/** What is written so in the United States alone: town with state and ZIP, telephone, law, zone of time. */
const US_SIGNS: readonly RegExp[] = [
  new RegExp(String.raw`, ${US_STATE},? \d{5}(?:-\d{4})?\b`),
  /(?<![\d+])(?:\(\d{3}\) ?|1-\d{3}-)\d{3}-\d{4}(?!\d)/,
  /\b[Ss]tate of (?!Israel|Kuwait|Qatar|Libya|Palestine)[A-Z]/,
  /\d\s?[ap]\.?m\.? [ECMP][SD]T\b/i,
];
const TERM = new RegExp(
  String.raw`(?<![\p{L}\p{N}.,])(\d{1,3})[- ]?` +
    String.raw`(days?|months?|mo\.|years?|Tagen?|Monaten?|jours|mois|días|meses|giorni|mesi)(?!\p{L})`,
  'iu',
);

/** Dates and terms of a long document are enough to tell. */
const DATES_MAX = 16;
const TERMS_MAX = 6;

/**
 * Whether dates put the day first, decided once for a document. A part above 12 says so; else days of one
 * month; else a term that the document names and that lies between two of its dates in one order only; else it is
 * assumed but for documents of the United States.
 */
export function voteDayFirst(texts: Iterable<string>): boolean {
  const seen: Seen = { votes: 0, signs: 0, dates: [], terms: [] };
  for (const text of texts) look(text, seen);
  if (seen.votes !== 0) return seen.votes > 0;
  const votes = monthVotes(seen) || termVotes(seen);
  return votes === 0 ? seen.signs === 0 : votes > 0;
}

interface Seen {
  votes: number;
  signs: number;
  readonly dates: RegExpExecArray[];
  readonly terms: Term[];
}

interface Term {
  readonly count: number;
  readonly isDays: boolean;
}

function look(text: string, seen: Seen): void {
  if (US_SIGNS.some((sign) => sign.test(text))) seen.signs += 1;
  for (const match of text.matchAll(NUMERIC)) lookAt(match, seen);
  const [, count, unit = ''] = TERM.exec(text) ?? [];
  if (count !== undefined && seen.terms.length < TERMS_MAX)
    seen.terms.push(termOf(Number(count), unit.toLowerCase()));
}

function lookAt(match: RegExpExecArray, seen: Seen): void {
  const [, a = '', , b = ''] = match;
  if (a.length > 2) return;
  seen.votes += Number(Number(a) > 12) - Number(Number(b) > 12);
  if (seen.dates.length < DATES_MAX) seen.dates.push(match);
}

const termOf = (count: number, unit: string): Term =>
  /^(?:d|tag|j|g)/.test(unit)
    ? { count, isDays: true }
    : { count: /^y/.test(unit) ? 12 * count : count, isDays: false };

/** Pairs of dates that lie a term apart, day first less those month first. */
function termVotes({ dates, terms }: Seen): number {
  const apart = (dayFirst: boolean): number => {
    const days = dates.flatMap((match) => dayOf(match, dayFirst) ?? []);
    return days.reduce(
      (sum, from) => sum + days.filter((to) => terms.some((term) => isApart(from, to, term))).length,
      0,
    );
  };
  return apart(true) - apart(false);
}

/** So many different parts beside one that stays are days of a month. */
const DAYS_OF_MONTH = 4;

/**
 * Where one part of all dates is the same and the other is many, the many are days: what is done in a week has one
 * month. Parts that are as far from each other each time are months: a payment is due on the same day of each.
 */
function monthVotes({ dates }: Seen): number {
  const [first, second] = [1, 3].map((at) => [...new Set(dates.map((match) => Number(match[at])))]);
  const areDays = (many: readonly number[] = [], one: readonly number[] = []): boolean =>
    one.length === 1 && many.length >= DAYS_OF_MONTH && !isEven([...many].sort((a, b) => a - b));
  return Number(areDays(first, second)) - Number(areDays(second, first));
}

const isEven = (values: readonly number[]): boolean =>
  new Set(values.slice(1).map((value, at) => value - (values[at] ?? 0))).size === 1;

const DAY_MS = 86_400_000;
/** A term of a month may end on the day itself, the day before or the day after. */
const DAYS_OFF = 1;

function isApart(from: Date, to: Date, { count, isDays }: Term): boolean {
  const end = new Date(from);
  if (isDays) end.setUTCDate(end.getUTCDate() + count);
  else end.setUTCMonth(end.getUTCMonth() + count);
  return to > from && Math.abs(end.getTime() - to.getTime()) <= DAYS_OFF * DAY_MS;
}

function dayOf([, a = '', , b = '', c = '']: RegExpExecArray, dayFirst: boolean): Date | undefined {
  const [day, month] = dayFirst ? [Number(a), Number(b)] : [Number(b), Number(a)];
  const iso = c.length === 3 ? undefined : calendarDay(yearOf(c), month, day);
  return iso === undefined ? undefined : new Date(iso);
}
