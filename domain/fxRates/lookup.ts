import { formatHalfEven, over, parseDecimal, trimZeros } from '../kernel/rounding.ts';
import { indexAfter, type FxRatesState, type FxTable } from './decider.ts';

export interface FxQuery {
  readonly base: string;
  readonly quote: string;
  /** UTC day. */
  readonly on: string;
}

/** 1 `base` = `rate` units of `quote`, by the table of `rate_date`. */
export interface FxRate {
  readonly rate: string;
  readonly rate_date: string;
  readonly source: string;
}

/** Decimals of a rate that is computed: enough for 12 significant digits of any pair of currencies. */
export const CROSS_RATE_DECIMALS = 18;

/**
 * The last rate on or before a day, so a Sunday has Friday's. A rate of the table's own base is given as
 * published; any other goes through that base (EUR in the ECB's tables): the quotient of two published
 * rates, rounded half-even. undefined when no table up to that day has both currencies.
 */
export const fxRateOn = (state: FxRatesState, query: FxQuery): FxRate | undefined => {
  if (query.base === query.quote) return { rate: '1', rate_date: query.on, source: 'identity' };
  for (let at = indexAfter(state.days, query.on) - 1; at >= 0; at -= 1) {
    const rate_date = state.days.get(at, '');
    for (const table of inOrder(state.tables.get(rate_date, []))) {
      const rate = rateIn(table, query);
      if (rate !== undefined) return { rate, rate_date, source: table.source };
    }
  }
  return undefined;
};

/** EUR first, then by name: which table answers does not depend on which was published last. */
const inOrder = (tables: readonly FxTable[]): readonly FxTable[] =>
  tables.length < 2
    ? tables
    : [...tables].sort((a, b) => (a.base === 'EUR' ? -1 : b.base === 'EUR' ? 1 : a.base < b.base ? -1 : 1));

const rateIn = ({ base: center, rates }: FxTable, { base, quote }: FxQuery): string | undefined => {
  const ofBase = base === center ? '1' : rates[base];
  const ofQuote = quote === center ? '1' : rates[quote];
  if (ofBase === undefined || ofQuote === undefined) return undefined;
  if (base === center) return ofQuote;
  const exact = over(parseDecimal(ofQuote), parseDecimal(ofBase));
  return trimZeros(formatHalfEven(exact, CROSS_RATE_DECIMALS));
};
