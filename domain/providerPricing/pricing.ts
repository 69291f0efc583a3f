import { atScale, decimalOf, divideHalfEven, parseDecimal, powerOfTen } from '../kernel/rounding.ts';
import type { ModelPrices } from './events.ts';

/** Costs are whole pico-USD (10⁻¹² USD) inside: a price per million tokens with 6 decimals is exact a token. */
const PICO_SCALE = 12;
const PER_MILLION_SCALE = 6;

/** Decimal text of USD in pico-USD; at most 12 decimals, more are rounded half-even. */
export const picoOf = (usd: string): bigint => atScale(parseDecimal(usd), PICO_SCALE);

/** A price per million tokens in pico-USD a token; at most 6 decimals, more are rounded half-even. */
export const picoPerToken = (usdPerMillion: string): bigint =>
  atScale(parseDecimal(usdPerMillion), PER_MILLION_SCALE);

/** Whole micro-USD of pico-USD, half-even. */
export const microOfPico = (pico: bigint): bigint => divideHalfEven(pico, powerOfTen(6));

/** What one call used. `cached_input_tokens` are part of `input_tokens`. */
export interface ModelUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_input_tokens: number;
  readonly pages: number | null;
}

/**
 * Cost of a call in pico-USD, exact: (input − cached) × input price + cached × cached price + output ×
 * output price + pages × page price. Cached input costs what other input does where it has no price.
 */
export const modelCost = (prices: ModelPrices, usage: ModelUsage): bigint => {
  const input = picoPerToken(prices.input_usd_per_million_tokens);
  const cached = prices.cached_input_usd_per_million_tokens;
  const cachedPrice = cached === null ? input : picoPerToken(cached);
  const pagePrice = prices.usd_per_page === null ? 0n : picoOf(prices.usd_per_page);
  return (
    BigInt(usage.input_tokens - usage.cached_input_tokens) * input +
    BigInt(usage.cached_input_tokens) * cachedPrice +
    BigInt(usage.output_tokens) * picoPerToken(prices.output_usd_per_million_tokens) +
    BigInt(usage.pages ?? 0) * pagePrice
  );
};

/** A published price. `provider` null: set for a model by name, for whoever provides it. */
export interface PublishedPrice extends ModelPrices {
  readonly price_id: string;
  readonly provider: string | null;
  readonly model_name: string;
  readonly effective_from: string;
  readonly created_at: string;
}

export interface ModelCall {
  readonly provider: string;
  readonly model_name: string;
  readonly occurred_at: string;
}

/**
 * Of a provider's prices for a model, in the order published: the one in force at `at`, which of several
 * of one instant is the last; the earliest when none was in force yet, for a first price reaches back.
 */
const inForce = (prices: readonly PublishedPrice[], at: string): PublishedPrice | undefined => {
  let best: PublishedPrice | undefined;
  let first: PublishedPrice | undefined;
  for (const price of prices) {
    if (first === undefined || price.effective_from < first.effective_from) first = price;
    else if (price.effective_from === first.effective_from) first = price;
    if (price.effective_from > at) continue;
    if (best === undefined || price.effective_from >= best.effective_from) best = price;
  }
  return best ?? first;
};

/** The provider's price for the model at that time; without one, the last that was set by name. */
export const priceFor = (
  prices: readonly PublishedPrice[],
  { provider, model_name, occurred_at }: ModelCall,
): PublishedPrice | undefined => {
  const own = prices.filter((price) => price.provider === provider && price.model_name === model_name);
  const named = (name: string) =>
    prices.findLast((price) => price.provider === null && price.model_name === name);
  return inForce(own, occurred_at) ?? named(`${provider}/${model_name}`) ?? named(model_name);
};

/** What is known of a model by its name, with or without its provider: set by name, else a provider's. */
export const priceNamed = (
  prices: readonly PublishedPrice[],
  name: string,
  at: string,
): PublishedPrice | undefined => {
  const set = prices.findLast((price) => price.provider === null && price.model_name === name);
  if (set !== undefined) return set;
  const ofName = prices.filter(
    (price) =>
      price.provider !== null && [price.model_name, `${price.provider}/${price.model_name}`].includes(name),
  );
  const bare = name.slice(name.indexOf('/') + 1);
  const setBare = prices.findLast((price) => price.provider === null && price.model_name === bare);
  return inForce(ofName, at) ?? setBare;
};

/** Exact decimal text of pico-USD, with two decimals at least. */
export const usdOfPico = (pico: bigint): string => decimalOf(pico, PICO_SCALE).replace(/0{1,10}$/, '');
