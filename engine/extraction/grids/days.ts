import { once } from '../../kernel/once.ts';
import { calendarDay, monthOf } from '../values/dates.ts';
import type { Source } from '../source.ts';

/** A day without its year, alone in its cell: "04.08.", "12/28", "28 Dec", "Dec 28". "4.08" is a number. */
const NUMERIC = /^(\d{1,2})(?:[/-](?=\d{1,2}$)|\.(?=\d{1,2}\.$))(\d{1,2})\.?$/;
const DAY_MONTH = /^(\d{1,2})\.?[\s-]?(\p{L}{3,12})\.?$/u;
const MONTH_DAY = /^(\p{L}{3,12})\.?[\s-](\d{1,2})$/u;

interface DayOfYear {
  readonly month: number;
  readonly day: number;
}

/** The day that a text is, without its year; undefined for any other text. */
const dayOfYear = (text: string, isDayFirst: boolean): DayOfYear | undefined =>
  daysIn(text, isDayFirst).find(isOfCalendar);

/** What a text may mean, the likeliest first. */
function daysIn(text: string, isDayFirst: boolean): readonly DayOfYear[] {
  const [, first, second] = NUMERIC.exec(text) ?? [];
  const [, day, name] = DAY_MONTH.exec(text) ?? [];
  const [, month, last] = MONTH_DAY.exec(text) ?? [];
  const numbers = [Number(first), Number(second)] as const;
  const [here, there] = isDayFirst ? numbers : ([numbers[1], numbers[0]] as const);
  return [
    { day: here, month: there },
    { day: there, month: here },
    { day: Number(day), month: monthOf(name) },
    { day: Number(last), month: monthOf(month) },
  ];
}

/** A leap year has all days. */
const isOfCalendar = ({ month, day }: DayOfYear): boolean =>
  Number.isInteger(month + day) && calendarDay(2000, month, day) !== undefined;

/** Whether a text is a day, with its year or without. */
export const isDay = (text: string): boolean =>
  dayOfYear(text.trim(), true) !== undefined || /^\d{1,4}[./-]\d{1,2}[./-]\d{2,4}$/.test(text.trim());

/** Days of the document that years are taken from. */
interface Told {
  /** The two ends of a period, milliseconds. */
  readonly period: readonly [number, number] | undefined;
  readonly days: readonly number[];
}

const DAY_MS = 86_400_000;
/** No statement is of a longer time. */
const PERIOD_MAX = 400 * DAY_MS;
/** What lies this far after a day that the document names is as likely as what lies before it. */
const SOON = 31 * DAY_MS;
/** Later days are so much less likely: a document is printed after what it tells. */
const LATER = 3;
const DAYS_MAX = 200;

/** A period stands in one line above the rows, or below them. */
const toldBy = once(({ candidates }: Source): Told => {
  const found = (candidates.get('date') ?? [])
    .filter(({ strictness }) => strictness === 1)
    .slice(0, DAYS_MAX)
    .map(({ value, segment }) => ({
      at: typeof value === 'string' ? Date.parse(value) : Number.NaN,
      row: segment.row,
    }));
  for (const [i, { at, row }] of found.entries()) {
    const next = found[i + 1];
    if (next?.row === row && next.at > at && next.at - at <= PERIOD_MAX && found[i + 2]?.row !== row)
      return { period: [at, next.at], days: found.map((one) => one.at) };
  }
  return { period: undefined, days: found.map(({ at }) => at) };
});

/**
 * The whole day that a cell means which leaves the year out, as ISO 8601: the year is that of the period that the
 * document names ("28 Dec 2024 - 10 Jan 2025": 30 Dec is of the first), else of the nearest day. undefined for other
 * texts, and where no day is told.
 */
export function dayInPeriod(text: string, source: Source): string | undefined {
  const day = dayOfYear(text.trim(), source.conventions.dayFirst);
  if (day === undefined) return undefined;
  const { period, days } = toldBy(source);
  const years = new Set(days.flatMap((at) => [-1, 0, 1].map((step) => new Date(at).getUTCFullYear() + step)));
  let best: { readonly iso: string; readonly cost: number } | undefined;
  for (const year of years) {
    const iso = calendarDay(year, day.month, day.day);
    if (iso === undefined) continue;
    const cost = costOf(Date.parse(iso), period ?? days);
    if (best === undefined || cost < best.cost) best = { iso, cost };
  }
  return best?.iso;
}

function costOf(at: number, told: readonly number[]): number {
  const [first, last] = [Math.min(...told), Math.max(...told)];
  if (at >= first && at <= last && last - first <= PERIOD_MAX) return 0;
  return Math.min(...told.map((one) => (at > one + SOON ? LATER * (at - one) : Math.abs(at - one))));
}
