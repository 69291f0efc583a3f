import { folded } from '../fields/words.ts';
import months from '../lexicon/months.json' with { type: 'json' };

export interface DateShape {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** `YYYY-MM-DD`. */
  readonly iso: string;
}

/** By their first letters, folded: English, German, French, Spanish, Italian, Dutch, Portuguese, Czech. */
const MONTHS: readonly (readonly string[])[] = months;

export const NUMERIC =
  /(?<![\p{L}\p{N}./-])(\d{1,4})\s?([./-])\s?(\d{1,2})\s?\2\s?(\d{2,4})(?![\p{N}]|[./-]\d)/gu;
const DAY_MONTH = new RegExp(
  String.raw`(?<![\p{N}.])(\d{1,2})(?:st|nd|rd|th|er|º|ª|\.)?\s?(?:de |of |day of )?[-\s]?` +
    String.raw`([\p{L}]{3,10})\.?,?\s?(?:de |del )?[-\s]?(\d{4}|\d{2}(?!\d))(?!\d)`,
  'gu',
);
const MONTH_DAY = /(?<!\p{L})(\p{L}{3,10})\.?\s(\d{1,2})(?:st|nd|rd|th)?\s?,?\s(\d{4})(?!\d)/gu;

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
  return MONTHS.findIndex((starts) => starts.some((start) => word.startsWith(start))) + 1;
}

export function calendarDay(year: number, month: number, day: number): string | undefined {
  if (year < 1800 || year > 2199 || month < 1 || month > 12 || day < 1) return undefined;
  if (day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return undefined;
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}
