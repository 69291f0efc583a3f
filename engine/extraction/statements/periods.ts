import { folded } from '../fields/words.ts';
import lexicon from '../lexicon/statements.json' with { type: 'json' };
import { monthOf } from '../values/dates.ts';

/** What the head of a column says of the time that its numbers are of; no months: of a day. */
export interface Period {
  readonly months: number | undefined;
  /** 1 to 12. */
  readonly month: number | undefined;
  readonly day: number | undefined;
  readonly year: number | undefined;
}

export const NO_PERIOD: Period = { months: undefined, month: undefined, day: undefined, year: undefined };

const YEAR = /(?<!\d)((?:19|20)\d{2})(?!\d)/;
/** Where both name a month, the first counts. */
const DAYS = [
  /(?<!\p{L})(?<month>\p{L}{3,12})\.?\s(?<day>\d{1,2})(?!\d)/u,
  /(?<!\d)(?<day>\d{1,2})\.?\s(?<month>\p{L}{3,})/u,
];
const LENGTHS = Object.entries(lexicon.months).sort(([a], [b]) => b.length - a.length);

/** What a text says of a period: "Six Months Ended December 31, 2024", or a part of it. */
export function periodIn(text: string): Period {
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

export const saysPeriod = ({ months, month, year }: Period): boolean =>
  months !== undefined || month !== undefined || year !== undefined;

/** What both say; of what both say, the first. */
export const joinedPeriod = (one: Period, other: Period): Period => ({
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
