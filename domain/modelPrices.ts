import { z } from 'zod';
import {
  atScale,
  type Decimal,
  decimalOf,
  decimalText,
  divideHalfEven,
  instant,
  parseDecimal,
  powerOfTen,
} from './kernel/amounts.ts';
import { accept, type Command, type Decider, event, type StreamKind } from './kernel/decider.ts';

/** What a model costs. Tokens by the million, with at most 6 decimals: a token's price is whole pico-USD. */
const modelPrices = {
  input_usd_per_million_tokens: decimalText,
  output_usd_per_million_tokens: decimalText,
  /** null: cached input costs what other input does. */
  cached_input_usd_per_million_tokens: decimalText.nullable(),
  usd_per_page: decimalText.nullable(),
};

/** A provider's price for one model from `effective_from` on. Never changed: a correction is a new price. */
const providerPricePublished = event('ProviderPricePublished', {
  price_id: z.string(),
  provider: z.string(),
  model_name: z.string(),
  ...modelPrices,
  effective_from: instant,
  created_at: instant,
});

/** The price of a model by its bare name or `<provider>/<model>`, where no provider's price is known. */
const modelPriceSet = event('ModelPriceSet', {
  price_id: z.string(),
  model_name: z.string(),
  ...modelPrices,
  updated_at: instant,
});

export const providerPricingEvent = z.discriminatedUnion('type', [providerPricePublished, modelPriceSet]);

type ProviderPricingEvent = z.output<typeof providerPricingEvent>;

export const modelPriceMembers = z.strictObject(modelPrices);

export type ModelPrices = z.output<typeof modelPriceMembers>;

/** The one stream of model prices. */
export const PROVIDER_PRICING_STREAM = 'providerPricing';

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
interface ModelUsage {
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

/** A published price. `provider` null: set for a model by name, whatever its provider. */
export interface PublishedPrice extends ModelPrices {
  readonly price_id: string;
  readonly provider: string | null;
  readonly model_name: string;
  readonly effective_from: string;
  readonly created_at: string;
}

interface ModelCall {
  readonly provider: string;
  readonly model_name: string;
  readonly occurred_at: string;
}

/**
 * Of a provider's prices for a model, in the order published: the one in force at `at`, which of several
 * of one instant is the last; the earliest if none was in force yet, because a first price reaches back.
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

/** The price of a model by its name, with or without its provider: set by name, else a provider's. */
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

/** A provider's price from a time on. Append-only: each publication is a price of its own. */
type PublishProviderPrice = Command<
  'PublishProviderPrice',
  ModelPrices & {
    readonly price_id: string;
    readonly provider: string;
    readonly model_name: string;
    readonly effective_from: string;
  }
>;

/** The price of a model by name. The same price again changes nothing. */
type SetModelPrice = Command<
  'SetModelPrice',
  ModelPrices & { readonly price_id: string; readonly model_name: string }
>;

/** Many prices at once, all from one time on. Those in force then already, to the same figures, are passed over. */
type ImportProviderPrices = Command<
  'ImportProviderPrices',
  {
    readonly prices: readonly (TablePrice & { readonly price_id: string })[];
    readonly effective_from: string;
  }
>;

export type ProviderPricingCommand = PublishProviderPrice | SetModelPrice | ImportProviderPrices;

export interface ProviderPricingState {
  /** In the order published. */
  readonly prices: readonly PublishedPrice[];
}

const isSamePrices = (a: ModelPrices, b: ModelPrices): boolean =>
  a.input_usd_per_million_tokens === b.input_usd_per_million_tokens &&
  a.output_usd_per_million_tokens === b.output_usd_per_million_tokens &&
  a.cached_input_usd_per_million_tokens === b.cached_input_usd_per_million_tokens &&
  a.usd_per_page === b.usd_per_page;

const newPrices = (
  known: readonly PublishedPrice[],
  { data: { prices, effective_from }, meta }: ImportProviderPrices,
): readonly ProviderPricingEvent[] =>
  prices
    .filter((price) => priceNewsOf(known, price, effective_from) !== 'unchanged')
    .map((price) => ({
      type: 'ProviderPricePublished' as const,
      data: { ...price, effective_from, created_at: meta.now },
    }));

export type ProviderPricingKind = StreamKind<
  ProviderPricingState,
  ProviderPricingCommand,
  ProviderPricingEvent,
  never
>;

/** Model prices are published and never change. */
export const providerPricing: Decider<ProviderPricingKind> = {
  initialState: { prices: [] },
  decide: ({ prices }, command) => {
    const { now } = command.meta;
    if (command.type === 'ImportProviderPrices') return accept(...newPrices(prices, command));
    const again = prices.some(({ price_id }) => price_id === command.data.price_id);
    if (again) return accept();
    if (command.type === 'PublishProviderPrice')
      return accept({ type: 'ProviderPricePublished', data: { ...command.data, created_at: now } });
    const { data } = command;
    const set = prices.findLast(
      ({ provider, model_name }) => provider === null && model_name === data.model_name,
    );
    if (set !== undefined && isSamePrices(set, data)) return accept();
    return accept({ type: 'ModelPriceSet', data: { ...data, updated_at: now } });
  },
  evolve: ({ prices }, event) => {
    if (event.type === 'ProviderPricePublished') return { prices: [...prices, event.data] };
    const { updated_at, ...data } = event.data;
    const price = { ...data, provider: null, effective_from: updated_at, created_at: updated_at };
    return { prices: [...prices, price] };
  },
};
