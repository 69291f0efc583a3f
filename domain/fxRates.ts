import { z } from 'zod';
import {
  accept,
  type Command,
  type Decider,
  type Decision,
  event,
  reject,
  type StreamKind,
} from './kernel/decider.ts';
import {
  currencyCode,
  day,
  decimalOf,
  decimalText,
  divideHalfEven,
  instant,
  isSameDecimal,
  laterBy,
  parseDecimal,
  powerOfTen,
} from './kernel/amounts.ts';

/** Rates of one day: 1 `base` = rate units of each currency. The same day again is a correction. */
const fxRatesPublished = event('FxRatesPublished', {
  date: day,
  base: currencyCode,
  rates: z.record(currencyCode, decimalText),
  source: z.string(),
  published_at: instant,
});

export const fxRatesEvent = z.discriminatedUnion('type', [fxRatesPublished]);
type FxRatesEvent = z.output<typeof fxRatesEvent>;

/** The one stream of exchange rates. */
export const FX_RATES_STREAM = 'fxRates';

/** Rates of one day by currency, 1 `base` = rate units. A later one of the same day and base replaces it. */
export type PublishFxRates = Command<
  'PublishFxRates',
  {
    readonly date: string;
    readonly base: string;
    readonly rates: Readonly<Record<string, string>>;
    readonly source: string;
  }
>;

/** One day's rates of an import. */
export interface FxDay {
  readonly date: string;
  readonly base: string;
  readonly rates: Readonly<Record<string, string>>;
}

/**
 * Many days at once. Days that are known with the same rates are passed over; a day that is known with
 * others is a conflict, and then nothing is published, unless `supersede` says that it is a correction.
 */
type ImportFxRates = Command<
  'ImportFxRates',
  {
    readonly days: readonly FxDay[];
    readonly source: string;
    readonly supersede: boolean;
  }
>;

export type FxRatesCommand = PublishFxRates | ImportFxRates;

/** A rate that is known otherwise; null where one side has none. */
interface FxConflict {
  readonly date: string;
  readonly currency: string;
  readonly known: string | null;
  readonly given: string | null;
}

interface FxRatesRejection {
  readonly code: 'fx_rates_conflict';
  readonly conflicts: readonly FxConflict[];
}

/** A rate that is older than this on the day of a sale is marked, days. */
export const STALE_DAYS = 7;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Age of a rate on the day of a sale, days; null: the sale has no rate. */
export const rateAgeDays = (rateDate: string | null, occurredAt: string): number | null =>
  rateDate === null
    ? null
    : Math.max(0, (Date.parse(occurredAt.slice(0, 10)) - Date.parse(rateDate)) / DAY_MS);

/** Whether a sale was booked at a rate that was too old. */
export const isStaleRate = (rateDate: string | null, occurredAt: string): boolean =>
  (rateAgeDays(rateDate, occurredAt) ?? 0) > STALE_DAYS;

interface DayRates extends FxDay {
  readonly source: string;
}

export interface FxRatesState {
  /** Oldest first; of several bases of one day EUR comes last, for look-ups start from the end. */
  readonly days: readonly DayRates[];
}

/** Digits after the point of a rate that is computed from two others. */
const CROSS_RATE_DIGITS = 18;

/** A rate as published or crossed, and the day it is of. */
interface FxRate {
  readonly rate: string;
  readonly rate_date: string;
  readonly source: string;
}

const inBase = ({ base, rates }: DayRates, currency: string): string | undefined =>
  currency === base ? '1' : rates[currency];

/** units of `quote` for 1 `base` through the day's own base: q ÷ b, half-even. */
const crossed = (baseRate: string, quoteRate: string): string => {
  const [b, q] = [parseDecimal(baseRate), parseDecimal(quoteRate)];
  const numerator = q.units * powerOfTen(b.scale + CROSS_RATE_DIGITS);
  return decimalOf(divideHalfEven(numerator, b.units * powerOfTen(q.scale)), CROSS_RATE_DIGITS);
};

/** A rate of 0 is not a rate. */
const isQuoted = (rate: string | undefined): rate is string =>
  rate !== undefined && parseDecimal(rate).units > 0n;

const rateOn = (day: DayRates, base: string, quote: string): string | undefined => {
  const [baseRate, quoteRate] = [inBase(day, base), inBase(day, quote)];
  if (!isQuoted(baseRate) || !isQuoted(quoteRate)) return undefined;
  return base === day.base ? quoteRate : crossed(baseRate, quoteRate);
};

/**
 * The last known rate from 1 `base` to `quote` on or before `day` (`YYYY-MM-DD`); weekends and holidays
 * have that of the day before. undefined when none is known.
 */
export const fxRateOn = (
  { days }: FxRatesState,
  { base, quote }: { readonly base: string; readonly quote: string },
  day: string,
): FxRate | undefined => {
  if (base === quote) return { rate: '1', rate_date: day, source: 'identity' };
  const from = firstAfter(days, (one) => one.date > day) - 1;
  for (let at = from; at >= 0; at -= 1) {
    const one = days[at];
    const rate = one === undefined ? undefined : rateOn(one, base, quote);
    if (one !== undefined && rate !== undefined) return { rate, rate_date: one.date, source: one.source };
  }
  return undefined;
};

/** Index of the first day for which `isAfter` is true; such days come last. */
const firstAfter = (days: readonly DayRates[], isAfter: (day: DayRates) => boolean): number => {
  let [low, high] = [0, days.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const day = days[middle];
    if (day === undefined || isAfter(day)) high = middle;
    else low = middle + 1;
  }
  return low;
};

type TableKey = Pick<DayRates, 'date' | 'base'>;

const isSameTable = (a: TableKey, b: TableKey): boolean => a.date === b.date && a.base === b.base;

const comesBefore = (a: TableKey, b: TableKey): boolean => {
  if (a.date !== b.date) return a.date < b.date;
  if (a.base === b.base) return false;
  if (a.base === 'EUR' || b.base === 'EUR') return b.base === 'EUR';
  return a.base < b.base;
};

const knownDay = (days: readonly DayRates[], key: TableKey): DayRates | undefined => {
  const last = days[firstAfter(days, (day) => comesBefore(key, day)) - 1];
  return last !== undefined && isSameTable(last, key) ? last : undefined;
};

/** Where a day differs from the known one of its date and base; empty if it does not. */
const conflictsOf = ({ days }: FxRatesState, day: FxDay): readonly FxConflict[] => {
  const known = knownDay(days, day);
  if (known === undefined) return [];
  const currencies = [...new Set([...Object.keys(known.rates), ...Object.keys(day.rates)])].sort();
  return currencies
    .filter((currency) => !isSameDecimal(known.rates[currency], day.rates[currency]))
    .map((currency) => ({
      date: day.date,
      currency,
      known: known.rates[currency] ?? null,
      given: day.rates[currency] ?? null,
    }));
};

/** Whether a day is new, known alike, or known otherwise. */
export const newsOf = (state: FxRatesState, day: FxDay): 'added' | 'unchanged' | 'superseded' => {
  if (knownDay(state.days, day) === undefined) return 'added';
  return conflictsOf(state, day).length === 0 ? 'unchanged' : 'superseded';
};

const importRates = (
  state: FxRatesState,
  { data: { days, source, supersede }, meta }: ImportFxRates,
): Decision<FxRatesEvent, FxRatesRejection> => {
  const conflicts = supersede ? [] : days.flatMap((day) => conflictsOf(state, day));
  if (conflicts.length > 0) return reject({ code: 'fx_rates_conflict', conflicts });
  return accept(
    ...days
      .filter((day) => newsOf(state, day) !== 'unchanged')
      .map(({ date, base, rates }) => ({
        type: 'FxRatesPublished' as const,
        data: { date, base, rates: { ...rates }, source, published_at: meta.now },
      })),
  );
};

export type FxRatesKind = StreamKind<FxRatesState, FxRatesCommand, FxRatesEvent, FxRatesRejection>;

/** Rates are published by day; a correction is a further publication. */
export const fxRates: Decider<FxRatesKind> = {
  initialState: { days: [] },
  decide: (state, command) => {
    if (command.type === 'ImportFxRates') return importRates(state, command);
    const { data, meta } = command;
    if (newsOf(state, data) === 'unchanged') return accept();
    return accept({
      type: 'FxRatesPublished',
      data: { ...data, rates: { ...data.rates }, published_at: meta.now },
    });
  },
  evolve: ({ days }, { data }) => {
    const { date, base, rates, source } = data;
    const table = { date, base, rates, source };
    const at = firstAfter(days, (day) => comesBefore(table, day));
    const last = days[at - 1];
    const kept = last !== undefined && isSameTable(last, table) ? at - 1 : at;
    return { days: [...days.slice(0, kept), table, ...days.slice(at)] };
  },
};

/** A rate that moved by more than this since an earlier day is asked about: a point or a digit may be misplaced. */
const ODD_FACTOR = 5;
const ODD_DAYS = 31;

/** The first rate of a day that is far from the last one known of an earlier day, and that one. */
export const oddRate = (state: FxRatesState, { date, base, rates }: FxDay) => {
  const before = laterBy(`${date}T00:00:00.000Z`, -1);
  for (const [quote, given] of Object.entries(rates)) {
    const known = fxRateOn(state, { base, quote }, before.slice(0, 10));
    if (known === undefined || (rateAgeDays(known.rate_date, before) ?? 0) > ODD_DAYS) continue;
    const factor = Number(given) / Number(known.rate);
    if (factor > ODD_FACTOR || factor * ODD_FACTOR < 1) return { quote, known };
  }
  return undefined;
};
