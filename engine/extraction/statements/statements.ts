import { inSegment, type Candidate } from '../candidates.ts';
import { folded } from '../../kernel/text.ts';
import { headerWords } from '../words/labelWords.ts';
import type { Row, Segment } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { monthOf } from '../values/dates.ts';
import { lexicon, values } from '../words/lexicon.ts';

/** What the head of a column says of the time that its numbers are of; no months: of a day. */
interface Period {
  readonly months: number | undefined;
  /** 1 to 12. */
  readonly month: number | undefined;
  readonly day: number | undefined;
  readonly year: number | undefined;
}

const NO_PERIOD: Period = { months: undefined, month: undefined, day: undefined, year: undefined };

const YEAR = /(?<!\d)((?:19|20)\d{2})(?!\d)/;
/** Where both name a month, the first counts. */
const DAYS = [
  /(?<!\p{L})(?<month>\p{L}{3,12})\.?\s(?<day>\d{1,2})(?!\d)/u,
  /(?<!\d)(?<day>\d{1,2})\.?\s(?<month>\p{L}{3,})/u,
];
const LENGTHS = Object.entries(values.period_months).sort(([a], [b]) => b.length - a.length);

/** What a text says of a period: "Six Months Ended December 31, 2024", or a part of it. */
function periodIn(text: string): Period {
  const plain = folded(text).replace(/\s+/g, ' ');
  const months = LENGTHS.find(([words]) => plain.includes(words))?.[1];
  const year = YEAR.exec(text)?.[1];
  return { months, ...dayIn(plain), year: year === undefined ? undefined : Number(year) };
}

/** The day of a year that a text names: "December 31", "31. Dezember". */
function dayIn(plain: string): Pick<Period, 'month' | 'day'> {
  const named = DAYS.map((form) => form.exec(plain)?.groups ?? {}).find(
    ({ month = '' }) => monthOf(month) > 0,
  );
  return { month: named && monthOf(named['month'] ?? ''), day: named && Number(named['day']) };
}

const saysPeriod = ({ months, month, year }: Period): boolean =>
  months !== undefined || month !== undefined || year !== undefined;

/** What both say; of what both say, the first. */
const joinedPeriod = (one: Period, other: Period): Period => ({
  months: one.months ?? other.months,
  month: one.month ?? other.month,
  day: one.day ?? other.day,
  year: one.year ?? other.year,
});

/** The month that a fiscal year ends in: that before the longest period began, for it runs from the year's start. */
export function fiscalEnd(periods: readonly Period[]): number {
  const longest = periods
    .filter(({ months, month }) => months !== undefined && month !== undefined)
    .reduce<Period | undefined>(
      (most, one) => ((one.months ?? 0) > (most?.months ?? 0) ? one : most),
      undefined,
    );
  const { months = 12, month = 12 } = longest ?? {};
  return ((month - months + 23) % 12) + 1;
}

/**
 * The name of a period in years that end with a month: FY2025, FY2025 Q2, FY2025 H1, FY2025 YTD. undefined where the
 * year or the month is not told.
 */
export function fiscalName({ months, month, year }: Period, endsWith: number): string | undefined {
  if (year === undefined) return undefined;
  if (month === undefined) return (months ?? 12) === 12 ? `FY${String(year)}` : undefined;
  const into = ((month - endsWith + 11) % 12) + 1;
  const part = PARTS.get(months ?? (into === 12 ? 12 : 3)) ?? quarter;
  return `FY${String(month > endsWith ? year + 1 : year)}${part(into)}`;
}

const quarter = (into: number): string => ` Q${String(Math.ceil(into / 3))}`;

/** What is said of a part of a year, by the month of the year that it ends in. */
type PartName = (into: number) => string;

/** By their lengths in months; other parts are quarters. */
const PARTS: ReadonlyMap<number, PartName> = new Map<number, PartName>([
  [6, (into) => (into > 6 ? ' H2' : ' H1')],
  [9, () => ' YTD'],
  [12, () => ''],
]);

/** The last day, as ISO 8601 has it; undefined where a part of it is not told. */
export const lastDay = ({ year, month, day }: Period): string | undefined =>
  year === undefined || month === undefined || day === undefined
    ? undefined
    : `${String(year)}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;

/** A column of numbers, with what its head says of their time. */
interface Column {
  readonly period: Period;
  /** What says it. */
  readonly heads: readonly Segment[];
}

/** A line of a statement: what it is called, and its numbers by column. */
interface Line {
  readonly label: string;
  readonly at: Segment;
  /** The words of the label, and those before what is told after a comma, or behind "total". */
  readonly words: readonly (readonly string[])[];
  readonly cells: ReadonlyMap<Column, Candidate>;
  readonly isPercent: boolean;
}

/** A fact that is said of all numbers of a statement, and what says it. */
interface Said<T> {
  readonly value: T;
  readonly segment: Segment;
}

/** Lines of numbers under heads of periods. */
export interface Statement {
  readonly title: string;
  readonly columns: readonly Column[];
  readonly lines: readonly Line[];
  readonly scale: Said<number> | undefined;
  readonly currency: Said<string> | undefined;
}

/** Lines above the first number that may head the columns or name the statement. */
const HEAD_ROWS_MAX = 9;
/** Lines without numbers between those with them. */
const PLAIN_ROWS_MAX = 3;
const LINES_MIN = 2;
/** Points between the right edges of one column: brackets and marks stand out of it. */
const EDGE = 14;

const KNOWN = new WeakMap<Source, readonly Statement[]>();

/** The statements of a document in reading order; made once. */
export function statementsOf(source: Source): readonly Statement[] {
  const known =
    KNOWN.get(source) ?? stretches(source.layout.rows).flatMap((rows) => statementOf(rows, source));
  KNOWN.set(source, known);
  return known;
}

const NUMBER = /^[$€£¥]?\s?[-–—(]?\s?[$€£]?\s?\d[\d.,\s]*\)?\s?%?\)?$|^[-–—]$/;
const MARK = /^(?:[$€£¥%)]|[A-Z]{3}|\([a-z]\))$/;

const isNumber = ({ text }: Segment): boolean => NUMBER.test(text);

/** A label, and numbers or marks only right of it. */
const isLine = ({ segments: [label, ...cells] }: Row): boolean =>
  label !== undefined &&
  /\p{L}{2}/u.test(label.text) &&
  cells.some((cell) => isNumber(cell) && /\d/.test(cell.text)) &&
  cells.every((cell) => isNumber(cell) || MARK.test(cell.text));

interface Stretch {
  readonly head: readonly Row[];
  readonly body: readonly Row[];
}

/** Lines of numbers of one page that little stands between, with the lines above them. */
function stretches(rows: readonly Row[]): readonly Stretch[] {
  const found: { head: readonly Row[]; body: Row[]; last: number }[] = [];
  for (const [at, row] of rows.entries()) {
    if (!isLine(row)) continue;
    const open = found.at(-1);
    const between = open === undefined ? [] : rows.slice(open.last + 1, at);
    const isNext =
      open?.body[0]?.page === row.page && between.length <= PLAIN_ROWS_MAX && !between.some(headsColumns);
    if (isNext) open.body.push(row);
    else found.push({ head: headAbove(rows, at), body: [row], last: at });
    const current = found.at(-1);
    if (current !== undefined) current.last = at;
  }
  return found.filter(({ body }) => body.length >= LINES_MIN);
}

/** Two texts or more that say periods. */
const headsColumns = ({ segments }: Row): boolean =>
  segments.filter(({ text }) => saysPeriod(periodIn(text)) && text.length < 60).length > 1;

function headAbove(rows: readonly Row[], at: number): readonly Row[] {
  const head: Row[] = [];
  for (let i = at - 1; i >= 0 && head.length < HEAD_ROWS_MAX; i -= 1) {
    const row = rows[i];
    if (row === undefined || row.page !== rows[at]?.page || isLine(row)) break;
    head.unshift(row);
  }
  return head;
}

function statementOf({ head, body }: Stretch, source: Source): readonly Statement[] {
  const cells = body.flatMap(({ segments }) => segments.slice(1).filter(isNumber));
  const places = placesOf(cells);
  const heads = headsOf(head, Math.min(...cells.map(({ x0 }) => x0)));
  const columns = places.map((edge) => columnAt(edge, heads));
  if (columns.every(({ period }) => !saysPeriod(period))) return [];
  const about = head.flatMap(({ segments }) => segments);
  return [
    {
      title: about.map(({ text }) => text).join(' '),
      columns,
      lines: body.flatMap((row) => lineOf(row, { places, columns }, source)),
      scale: firstSaid([...about].reverse(), scaleIn),
      currency: firstSaid([...about, ...body.flatMap(({ segments }) => segments)], currencyIn),
    },
  ];
}

/** The right edges of columns, from left to right. */
function placesOf(cells: readonly Segment[]): readonly number[] {
  const places: number[] = [];
  for (const { x1 } of [...cells].sort((a, b) => a.x1 - b.x1)) {
    const last = places.at(-1);
    if (last === undefined || x1 - last > EDGE) places.push(x1);
  }
  return places;
}

/** The lines that head columns: texts right of the labels that say periods. */
const headsOf = (head: readonly Row[], from: number): readonly (readonly Segment[])[] =>
  head
    .map(({ segments }) => segments.filter(({ x1, text }) => x1 > from - EDGE && text.length < 60))
    .map((segments) => segments.filter(({ text }) => saysPeriod(periodIn(text))))
    .filter((segments) => segments.length > 0);

const middle = ({ x0, x1 }: Segment): number => (x0 + x1) / 2;

/** Half of the width of a number of a few digits: what heads a column stands over its middle. */
const HALF_NUMBER = 10;

function columnAt(edge: number, heads: readonly (readonly Segment[])[]): Column {
  const own = heads.flatMap((segments) => {
    const off = segments.map((segment) => Math.abs(middle(segment) - (edge - HALF_NUMBER)));
    return segments[off.indexOf(Math.min(...off))] ?? [];
  });
  const period = own.reduceRight((joined, { text }) => joinedPeriod(joined, periodIn(text)), NO_PERIOD);
  return { period, heads: own };
}

function lineOf(
  { segments: [label, ...cells] }: Row,
  { places, columns }: { readonly places: readonly number[]; readonly columns: readonly Column[] },
  { conventions }: Source,
): readonly Line[] {
  if (label === undefined) return [];
  const found = new Map<Column, Candidate>();
  for (const cell of cells.filter(isNumber)) {
    const at = places.findLastIndex((edge) => cell.x1 >= edge - 1);
    const number = inSegment(cell, conventions).find(({ kind }) => kind === 'number' || kind === 'percent');
    const column = columns[at];
    if (column !== undefined && number !== undefined) found.set(column, number);
  }
  const isPercent = cells.some(({ text }) => text.includes('%'));
  return [{ label: label.text, at: label, words: wordsOf(label.text), cells: found, isPercent }];
}

function wordsOf(label: string): readonly (readonly string[])[] {
  const plain = label.replace(/\([^()]{0,80}\)/g, ' ').replace(/\s+/g, ' ');
  const [first = ''] = plain.split(/,|\bnet of\b/);
  return [...new Set([plain, first, withoutTotal(first)])].map(headerWords);
}

/** "Total current assets" are all current assets: who asks for these may leave the word out. */
const withoutTotal = (label: string): string => {
  const [word = '', ...others] = label.trim().split(' ');
  return others.length > 0 && lexicon.figures.total.has(folded(word)) ? others.join(' ') : label;
};

function firstSaid<T>(
  segments: readonly Segment[],
  read: (text: string) => T | undefined,
): Said<T> | undefined {
  for (const segment of segments) {
    const value = read(segment.text);
    if (value !== undefined) return { value, segment };
  }
  return undefined;
}

const SCALES = Object.entries(values.scales);
const SYMBOLS = Object.entries(values.currency_symbols).filter(([symbol]) => !/^\p{L}+\.?$/u.test(symbol));

/** "(In millions, except per share amounts)". */
function scaleIn(text: string): number | undefined {
  const words = folded(text).match(/\p{L}+/gu) ?? [];
  if (words.length > 12) return undefined;
  return SCALES.find(([name]) => words.some((word) => word === name || word === `${name}s`))?.[1];
}

function currencyIn(text: string): string | undefined {
  const code = /(?<!\p{L})(?:USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK)(?!\p{L})/u.exec(text)?.[0];
  return code ?? SYMBOLS.find(([symbol]) => text.includes(symbol))?.[1];
}
