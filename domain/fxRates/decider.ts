import { List, Map as ImmutableMap } from 'immutable';
import type { CommandMeta } from '../kernel/command.ts';
import { minorUnitDigits } from '../kernel/currencies.ts';
import { accept, reject, type Decider, type Decision } from '../kernel/decider.ts';
import { parseDecimal } from '../kernel/rounding.ts';
import type { FxRatesEvent } from './events.ts';

/** Rates of one day and base as published last: 1 `base` = rate units of each currency. */
export interface FxTable {
  readonly base: string;
  readonly rates: Readonly<Record<string, string>>;
  readonly source: string;
}

/** The tables of each day, one a base; `days` in ascending order. */
export interface FxRatesState {
  readonly days: List<string>;
  readonly tables: ImmutableMap<string, readonly FxTable[]>;
}

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

export interface FxRatesRejection {
  readonly code: 'invalid_fx_rates';
  /** The currency at fault; null when it is not one currency. */
  readonly currency: string | null;
  readonly reason: 'no_rates' | 'unknown_currency' | 'base_among_rates' | 'invalid_rate';
}

type FxDecision = Decision<FxRatesEvent, FxRatesRejection>;

/** The same rates again are a repeat; others for the same day and base are a correction. */
const decide = (state: FxRatesState, { data, meta }: PublishFxRates): FxDecision => {
  const invalid = firstInvalid(data);
  if (invalid !== undefined) return reject({ code: 'invalid_fx_rates', ...invalid });
  const published = state.tables.get(data.date, []).find(({ base }) => base === data.base);
  if (published !== undefined && sameRates(published.rates, data.rates)) return accept<FxRatesEvent>();
  return accept<FxRatesEvent>({
    type: 'FxRatesPublished',
    data: { ...data, rates: { ...data.rates }, published_at: meta.now },
  });
};

const firstInvalid = ({
  base,
  rates,
}: PublishFxRates['data']): Omit<FxRatesRejection, 'code'> | undefined => {
  const entries = Object.entries(rates);
  if (entries.length === 0) return { currency: null, reason: 'no_rates' };
  if (minorUnitDigits(base) === undefined) return { currency: base, reason: 'unknown_currency' };
  for (const [currency, rate] of entries) {
    if (currency === base) return { currency, reason: 'base_among_rates' };
    if (!/^[A-Z]{3}$/.test(currency)) return { currency, reason: 'unknown_currency' };
    if (!isRate(rate)) return { currency, reason: 'invalid_rate' };
  }
  return undefined;
};

const isRate = (text: string): boolean =>
  /^\d{1,18}(\.\d{1,18})?$/.test(text) && parseDecimal(text).numerator > 0n;

const sameRates = (a: FxTable['rates'], b: FxTable['rates']): boolean =>
  Object.keys(a).length === Object.keys(b).length &&
  Object.entries(a).every(([currency, rate]) => b[currency] === rate);

const evolve = ({ days, tables }: FxRatesState, { data }: FxRatesEvent): FxRatesState => {
  const { date, base, rates, source } = data;
  const others = tables.get(date, []).filter((table) => table.base !== base);
  return {
    days: tables.has(date) ? days : days.insert(indexAfter(days, date), date),
    tables: tables.set(date, [...others, { base, rates, source }]),
  };
};

/** How many of the ascending days lie on or before one; by halving, since there are decades of days. */
export const indexAfter = (days: List<string>, day: string): number => {
  let low = 0;
  let high = days.size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (days.get(middle, '') <= day) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** The one stream of exchange rates. */
export const fxRates: Decider<FxRatesState, PublishFxRates, FxRatesEvent, FxRatesRejection> = {
  initialState: { days: List(), tables: ImmutableMap() },
  decide,
  evolve,
};
