import type { CommandMeta } from '../kernel/command.ts';
import { accept, type Decider } from '../kernel/decider.ts';
import { decimalOf, divideHalfEven, parseDecimal, powerOfTen } from '../kernel/rounding.ts';
import type { FxRatesEvent } from './events.ts';

/** Rates of one day by currency, 1 `base` = rate units. A later one of the same day and base replaces it. */
export interface PublishFxRates {
  readonly type: 'PublishFxRates';
  readonly data: {
    readonly date: string;
    readonly base: string;
    readonly rates: Readonly<Record<string, string>>;
    readonly source: string;
  };
  readonly meta: CommandMeta;
}

interface DayRates {
  readonly date: string;
  readonly base: string;
  readonly rates: Readonly<Record<string, string>>;
  readonly source: string;
}

export interface FxRatesState {
  /** Oldest first; of several bases of one day EUR comes last, for look-ups start from the end. */
  readonly days: readonly DayRates[];
}

/** Digits after the point of a rate that is computed from two others. */
export const CROSS_RATE_DIGITS = 18;

/** A rate as published or crossed, and the day it is of. */
export interface FxRate {
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

/** A rate of 0 is none. */
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
  for (let at = days.length - 1; at >= 0; at -= 1) {
    const one = days[at];
    if (one === undefined || one.date > day) continue;
    const rate = rateOn(one, base, quote);
    if (rate !== undefined) return { rate, rate_date: one.date, source: one.source };
  }
  return undefined;
};

type TableKey = Pick<DayRates, 'date' | 'base'>;

const isSameTable = (a: TableKey, b: TableKey): boolean => a.date === b.date && a.base === b.base;

const comesBefore = (a: TableKey, b: TableKey): boolean => {
  if (a.date !== b.date) return a.date < b.date;
  if (a.base === 'EUR' || b.base === 'EUR') return b.base === 'EUR';
  return a.base < b.base;
};

/** Rates are published by day; a correction is a further publication. */
export const fxRates: Decider<FxRatesState, PublishFxRates, FxRatesEvent, never> = {
  initialState: { days: [] },
  decide: ({ days }, { data, meta }) => {
    const known = days.find((day) => isSameTable(day, data));
    const isSame =
      known !== undefined &&
      Object.keys(known.rates).length === Object.keys(data.rates).length &&
      Object.entries(data.rates).every(([currency, rate]) => known.rates[currency] === rate);
    if (isSame) return accept();
    return accept({
      type: 'FxRatesPublished',
      data: { ...data, rates: { ...data.rates }, published_at: meta.now },
    });
  },
  evolve: ({ days }, { data }) => {
    const { date, base, rates, source } = data;
    const table = { date, base, rates, source };
    const after = days.findIndex((day) => isSameTable(day, table) || comesBefore(table, day));
    const at = after === -1 ? days.length : after;
    const replaced = at < days.length && days[at] !== undefined && isSameTable(days[at], table) ? 1 : 0;
    return { days: [...days.slice(0, at), table, ...days.slice(at + replaced)] };
  },
};
