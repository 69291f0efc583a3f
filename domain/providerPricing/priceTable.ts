import { atScale, decimalOf, parseDecimal, type Decimal } from '../kernel/rounding.ts';
import type { ModelPrices } from './events.ts';
import { picoOf, picoPerToken, priceFor, type PublishedPrice } from './pricing.ts';

/** A row of a price table: what a provider asks for one of its models, by this service's names. */
export interface TablePrice extends ModelPrices {
  readonly provider: string;
  readonly model_name: string;
}

const NUMBER = /^(\d+(?:\.\d+)?)(?:[eE]([+-]?\d{1,3}))?$/;
/** Of a price per million tokens: then a token costs whole pico-USD. */
const TOKEN_PRICE_DECIMALS = 6;
const PAGE_PRICE_DECIMALS = 12;

/** The digits of a JSON number, moved by `shift` places to the left of the point. undefined: no number ≥ 0. */
const shifted = (number: string, shift: number): Decimal | undefined => {
  const match = NUMBER.exec(number);
  if (match === null) return undefined;
  const { units, scale } = parseDecimal(match[1] ?? '0');
  const places = scale - Number(match[2] ?? 0) - shift;
  return places >= 0 ? { units, scale: places } : { units: units * 10n ** BigInt(-places), scale: 0 };
};

/** Two decimals at least: `2.50`, `0.075`. */
const priceText = (price: Decimal, decimals: number): string =>
  decimalOf(atScale(price, decimals), decimals).replace(new RegExp(`0{1,${String(decimals - 2)}}$`), '');

/** Of one token, as a JSON number such as `1.5e-07`: the price of a million, `0.15`; by its digits, never as float. */
export const perMillionOfToken = (number: string): string | undefined => {
  const price = shifted(number, 6);
  return price && priceText(price, TOKEN_PRICE_DECIMALS);
};

/** Of a million tokens already. */
export const perMillion = (number: string): string | undefined => {
  const price = shifted(number, 0);
  return price && priceText(price, TOKEN_PRICE_DECIMALS);
};

/** Of one page, from the price of 10^`powerOfPages` pages. */
export const perPage = (number: string, powerOfPages: 0 | 3 = 0): string | undefined => {
  const price = shifted(number, -powerOfPages);
  return price && priceText(price, PAGE_PRICE_DECIMALS);
};

const isSameRow = (a: ModelPrices, b: ModelPrices): boolean => {
  const figures = (price: ModelPrices) => {
    const input = picoPerToken(price.input_usd_per_million_tokens);
    const cached = price.cached_input_usd_per_million_tokens;
    return [
      input,
      picoPerToken(price.output_usd_per_million_tokens),
      // Cached input costs what other input does where it has no price, and a page nothing.
      cached === null ? input : picoPerToken(cached),
      picoOf(price.usd_per_page ?? '0'),
    ];
  };
  const other = figures(b);
  return figures(a).every((figure, at) => figure === other[at]);
};

export type PriceNews = 'added' | 'changed' | 'unchanged';

/** What a row says beside the provider's price in force at `at`; `2.5` and `2.50` are the same. */
export const priceNewsOf = (prices: readonly PublishedPrice[], row: TablePrice, at: string): PriceNews => {
  const { provider, model_name } = row;
  const own = prices.filter((price) => price.provider === provider && price.model_name === model_name);
  const known = priceFor(own, { provider, model_name, occurred_at: at });
  if (known === undefined) return 'added';
  return isSameRow(known, row) ? 'unchanged' : 'changed';
};

/** The first row of each provider and model. */
export const distinctRows = (rows: readonly TablePrice[]): readonly TablePrice[] => {
  const found = new Map<string, TablePrice>();
  for (const row of rows) {
    const key = `${row.provider}/${row.model_name}`;
    if (!found.has(key)) found.set(key, row);
  }
  return [...found.values()];
};
