import type { FxDay } from '../../domain/fxRates/rates.ts';

/** A currency code and its rate as the file has it. */
export type RateCell = readonly [currency: string, rate: string];

const CURRENCY = /^[A-Z]{3}$/;
const RATE = /^\d{1,18}(\.\d{1,18})?$/;

const isDay = (text: string): boolean => {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
};

const checked = ([currency, rate]: RateCell, place: string): RateCell => {
  if (!CURRENCY.test(currency)) throw new Error(`${place}: "${currency}" is not a currency code`);
  if (!RATE.test(rate) || !/[1-9]/.test(rate))
    throw new Error(`${place}: "${rate}" is not a rate of ${currency}`);
  return [currency, rate];
};

/** A day's rates to EUR; `N/A` means none. Throws with `place` when something does not fit. */
export const dayOf = (date: string | undefined, cells: readonly RateCell[], place: string): FxDay => {
  if (date === undefined || !isDay(date)) throw new Error(`${place}: there is no date`);
  const quoted = cells.filter(([, rate]) => rate !== 'N/A').map((cell) => checked(cell, place));
  if (quoted.length === 0) throw new Error(`${place}: ${date} has no rates`);
  return { date, base: 'EUR', rates: Object.fromEntries(quoted) };
};
