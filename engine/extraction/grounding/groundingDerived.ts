import { asObject, isList, memberPointer, type Json, type JsonObject } from '../../kernel/json.ts';
import { monthOf, yearOf } from '../values/dates.ts';
import type { Layout } from '../places/layout.ts';
import type { Leaf } from './groundingLeaves.ts';
import { occurrenceIn, type Occurrence } from './groundingSearch.ts';
import { addTo } from '../../kernel/lists.ts';

const DERIVED = 0.85;
const MONTH_READ = 0.95;

/** What a document says of months and of financial periods, beside its days. */
export interface Calendar {
  /** By `YYYY-MM`. */
  readonly months: ReadonlyMap<string, readonly Occurrence[]>;
  /** By their names, `FY2025 Q2`, those that its dates make out. */
  readonly periods: ReadonlyMap<string, Occurrence>;
}

const MONTH_YEAR = /(?<!\p{L})(\p{L}{3,10})\.?,?\s(?:\d{1,2},?\s)?(\d{4})(?!\d)/gu;
const NUMERIC_MONTH = /(?<![\d./-])(\d{1,2})\s?[./-]\s?((?:19|20)\d{2})(?![\d./-])/g;
const YEAR_MONTH = /(?<![\d./-])((?:19|20)\d{2})[-/](\d{1,2})(?![\d./-])/g;

/** Months and periods of a document, whose days are known. */
export function calendarOf(layout: Layout, days: Iterable<string>): Calendar {
  const months = new Map<string, Occurrence[]>();
  for (const segment of layout.segments)
    for (const { key, from, to } of monthsIn(segment.text)) {
      addTo(months, key, occurrenceIn(segment, { from, to }, MONTH_READ));
    }
  return { months, periods: periodsOf(layout, days) };
}

interface MonthShape {
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

function monthsIn(text: string): readonly MonthShape[] {
  const found = (pattern: RegExp, year: number, month: number): readonly MonthShape[] =>
    [...text.matchAll(pattern)].flatMap((match) => {
      const name = match[month] ?? '';
      const key = monthKey(yearOf(match[year]), /^\d/.test(name) ? Number(name) : monthOf(name));
      return key === undefined ? [] : [{ key, from: match.index, to: match.index + match[0].length }];
    });
  return [...found(MONTH_YEAR, 2, 1), ...found(NUMERIC_MONTH, 2, 1), ...found(YEAR_MONTH, 1, 2)];
}

const monthKey = (year: number, month: number): string | undefined =>
  month < 1 || month > 12 ? undefined : `${year}-${String(month).padStart(2, '0')}`;

/** The months that a text says, if it is nothing but a month. */
export const monthsSaid = (text: string): readonly string[] =>
  text.length > 20
    ? []
    : monthsIn(text.trim()).flatMap(({ key, from, to }) => (to - from === text.trim().length ? [key] : []));

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):\d{2}.*)?$/;

/**
 * Where the month or year stands of which a day is the first or the last: a field for days has them so. A time of
 * a day may be midnight of the next one elsewhere.
 */
export function roundedDays(
  value: string,
  { months }: Calendar,
  numbers: ReadonlyMap<number, readonly Occurrence[]>,
): readonly Occurrence[] {
  const at = dayOf(value);
  if (at === undefined) return [];
  const both = [at, new Date(at.getTime() + DAY_MS)];
  if (!both.some((day) => day.getUTCDate() === 1)) return [];
  const isYears = both.some((day) => day.toISOString().slice(5, 10) === '01-01');
  const found = months.get(at.toISOString().slice(0, 7));
  return (found ?? (isYears ? numbers.get(at.getUTCFullYear()) : undefined) ?? []).map(derived);
}

const DAY_MS = 86_400_000;
/** From this hour on a time may be of the next day. */
const TURN_HOUR = 10;

/** The day that a value says, or the next one where its time is late. */
const dayOf = (value: string): Date | undefined => {
  const [, year, month, day, hour] = ISO.exec(value) ?? [];
  const turned = Number(hour ?? 0) >= TURN_HOUR ? 1 : 0;
  const at = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day) + turned));
  return Number.isNaN(at.getTime()) ? undefined : at;
};

const derived = (one: Occurrence): Occurrence => ({
  ...one,
  exactness: Math.min(one.exactness, DERIVED),
  grade: 'derived',
});

const PERIOD_END =
  /(months|weeks|quarter|period|year)\s+end(?:ed|ing)\s+(?:on\s+)?(\p{L}{3,10})\.?\s(\d{1,2})(?!\d)/giu;
const YEAR_END = 'year';
/** Companies end their periods some days around the end of a month. */
const AROUND_DAYS = 7;
const YEAR_MONTHS = 12;

/** The month at whose end about a day is, counted from year 0. */
const monthEndAt = (year: number, month: number, day: number): number =>
  YEAR_MONTHS * year + month - (day <= AROUND_DAYS ? 1 : 0);

/**
 * Where periods are made out: quarters, halves and years that end on days of which the document says that periods
 * end. Years are a company's own, by the month in which it says that one ends. Tables compare with the year before.
 */
function periodsOf({ segments }: Layout, days: Iterable<string>): ReadonlyMap<string, Occurrence> {
  const ends = segments.flatMap((segment) =>
    [...segment.text.matchAll(PERIOD_END)].map((match) => ({
      what: match[1]?.toLowerCase(),
      month: monthEndAt(1, monthOf(match[2]), Number(match[3])) % YEAR_MONTHS,
      occurrence: occurrenceIn(segment, { from: match.index, to: match.index + match[0].length }, DERIVED),
    })),
  );
  const last = ends.find(({ what }) => what === YEAR_END)?.month ?? 0;
  const counted = [...days].map((day) => {
    const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
    return monthEndAt(year, month, date);
  });
  const lastOf = (month: number): number => Math.max(...counted.filter((one) => one % YEAR_MONTHS === month));
  const periods = new Map<string, Occurrence>();
  const made = ends.flatMap(({ month, occurrence }) =>
    counted
      .filter((one) => one % YEAR_MONTHS === month)
      .flatMap((at) => (at === lastOf(month) ? [at, at - YEAR_MONTHS] : [at]))
      .flatMap((end) => periodsEnding(end, last).map((name) => ({ name, occurrence }))),
  );
  for (const { name, occurrence } of made)
    if (!periods.has(name)) periods.set(name, { ...occurrence, grade: 'derived' });
  return periods;
}

/** Names of the periods that end with a month, where years end with the month `last` (0: December). */
function periodsEnding(end: number, last: number): readonly string[] {
  const year = Math.ceil((end - last) / YEAR_MONTHS) - (last === 0 ? 1 : 0);
  const into = ((end - last - 1 + YEAR_MONTHS) % YEAR_MONTHS) + 1;
  if (into === YEAR_MONTHS) return ['', 'Q4', 'YTD'].map((part) => `${year} ${part}`);
  if (into % 3 !== 0) return [];
  return [`Q${into / 3}`, ...(into === 6 ? ['H1'] : []), `${into}M`, 'YTD'].map((part) => `${year} ${part}`);
}

const NAMED_PERIOD = [
  /^(?:FY|CY)?\s?(?<year>(?:19|20)\d{2})[\s/-]*(?<part>Q[1-4]|H[12]|YTD|[369]M|)$/i,
  /^(?<part>Q[1-4]|H[12]|YTD|[369]M|)[\s/-]*(?:FY|CY)?\s?(?<year>(?:19|20)\d{2})$/i,
];

/** Where the dates stand by which a named period is made out: `FY2025 Q2`, `H1 2024`. */
export function namedPeriod(value: string, { periods }: Calendar): readonly Occurrence[] {
  for (const pattern of NAMED_PERIOD) {
    const { year, part = '' } = pattern.exec(value.trim())?.groups ?? {};
    const found = year === undefined ? undefined : periods.get(`${year} ${part.toUpperCase()}`);
    if (found !== undefined) return [found];
  }
  return [];
}

const NOTHING_SAID =
  /^(?:n\s?[/.]?\s?a\.?|none|not (?:applicable|available|stated|specified|disclosed)|unknown|-+|—|–)$/i;

/** Whether a value says in words that the document says nothing. */
export const saysNothing = ({ value }: Leaf): boolean =>
  typeof value === 'string' && NOTHING_SAID.test(value.trim());

/**
 * JSON Pointers of numbers that follow from the rest of an answer: the place of an item in its list, the length of
 * a list beside it, the sum of a column of one; and from the document, the number of its pages.
 */
export function computedPaths(value: JsonObject, pages: number): ReadonlySet<string> {
  const found = new Set<string>();
  visit(value, '', found);
  for (const [key, member] of Object.entries(value))
    if (member === pages && /page/i.test(key)) found.add(memberPointer('', key));
  return found;
}

function visit(value: Json, path: string, found: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  if (isList(value)) {
    addPlaces(value, path, found);
    for (const [at, item] of value.entries()) visit(item, memberPointer(path, at), found);
    return;
  }
  const lists = Object.values<Json>(value).filter(isList);
  const sums = new Set(lists.flatMap((list) => [list.length, ...sumsOf(list)]));
  for (const [key, member] of Object.entries<Json>(value)) {
    const at = memberPointer(path, key);
    if (typeof member === 'number' && sums.has(rounded(member))) found.add(at);
    visit(member, at, found);
  }
}

const rounded = (value: number): number => Number(value.toFixed(4));

interface Counted {
  readonly at: number;
  readonly value: number;
}

/** The numbers of a list of objects, by the members that they are of. */
function numbersByMember(list: readonly Json[]): ReadonlyMap<string, readonly Counted[]> {
  const numbers = new Map<string, Counted[]>();
  for (const [at, item] of list.entries())
    for (const [key, value] of Object.entries(asObject(item) ?? {}))
      if (typeof value === 'number') addTo(numbers, key, { at, value });
  return numbers;
}

/** The sums of the columns of a list with two rows or more. */
const sumsOf = (list: readonly Json[]): readonly number[] =>
  [...numbersByMember(list).values()].flatMap((all) =>
    all.length >= 2 ? [rounded(all.reduce((sum, { value }) => sum + value, 0))] : [],
  );

/** A member that counts the items of a list: nearly all of them rise, mostly by one. */
function addPlaces(list: readonly Json[], path: string, found: Set<string>): void {
  for (const [key, all] of numbersByMember(list)) {
    const members = all.filter(({ value }) => Number.isInteger(value));
    const isNamed = /index|number|^no$|position|order|rank|seq/i.test(key);
    const counted = isRun(members)
      ? members.filter((_, index) => isInRun(members, index))
      : members.filter(({ at, value }) => isNamed && (value === at || value === at + 1));
    for (const { at } of counted) found.add(memberPointer(`${path}/${at}`, key));
  }
}

/** Items of which a member counts them, whatever its name. */
const RUN_MIN = 3;

function isRun(members: readonly Counted[]): boolean {
  const steps = members.filter(({ value }, at) => value === (members[at - 1]?.value ?? value - 1) + 1);
  return members.length >= RUN_MIN && steps.length * 2 > members.length;
}

function isInRun(members: readonly Counted[], index: number): boolean {
  const value = members[index]?.value ?? 0;
  const before = members[index - 1]?.value ?? -1;
  const after = members[index + 1]?.value ?? Infinity;
  return (before < value && value < after) || value === before + 1 || value === after - 1;
}
