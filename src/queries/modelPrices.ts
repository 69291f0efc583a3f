import { type ModelPrices, priceFor, type PublishedPrice } from '../../domain/modelPrices.ts';

/** Prices that were left out are null from here on. */
export const pricesWithNulls = (body: {
  readonly input_usd_per_million_tokens: string;
  readonly output_usd_per_million_tokens: string;
  readonly cached_input_usd_per_million_tokens?: string | null | undefined;
  readonly usd_per_page?: string | null | undefined;
}): ModelPrices => ({
  input_usd_per_million_tokens: body.input_usd_per_million_tokens,
  output_usd_per_million_tokens: body.output_usd_per_million_tokens,
  cached_input_usd_per_million_tokens: body.cached_input_usd_per_million_tokens ?? null,
  usd_per_page: body.usd_per_page ?? null,
});

/** IDs of the prices in force at `now`, one for each provider and model; `prices` in the order published. */
export const currentPrices = (prices: readonly PublishedPrice[], now: string): ReadonlySet<string> => {
  const current = new Set<string>();
  for (const { provider, model_name } of prices) {
    if (provider === null) continue;
    const price = priceFor(prices, { provider, model_name, occurred_at: now });
    if (price !== undefined) current.add(price.price_id);
  }
  return current;
};

const pricesOf = (price: ModelPrices): ModelPrices => ({
  input_usd_per_million_tokens: price.input_usd_per_million_tokens,
  output_usd_per_million_tokens: price.output_usd_per_million_tokens,
  cached_input_usd_per_million_tokens: price.cached_input_usd_per_million_tokens,
  usd_per_page: price.usd_per_page,
});

/** An item of `ProviderPricingResponse`. */
export const providerPriceItem = (price: PublishedPrice, current: ReadonlySet<string>) => ({
  id: price.price_id,
  provider: price.provider ?? '',
  model_name: price.model_name,
  ...pricesOf(price),
  effective_from: price.effective_from,
  current: current.has(price.price_id),
  created_at: price.created_at,
});

/** `PricingResponse` of a model as it was asked for. */
export const pricingAnswer = (model_name: string, price: PublishedPrice) => {
  const named = model_name.includes('/') ? (model_name.split('/', 1)[0] ?? null) : null;
  return {
    model_name,
    provider: price.provider ?? named,
    ...pricesOf(price),
    source: price.provider === null ? ('model_pricing' as const) : ('provider_pricing' as const),
    updated_at: price.created_at,
  };
};
