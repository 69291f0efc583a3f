import { z } from 'zod';
import { event } from '../kernel/event.ts';
import { decimalText, instant } from '../kernel/units.ts';

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
export type ProviderPricingEvent = z.output<typeof providerPricingEvent>;
export const modelPriceMembers = z.strictObject(modelPrices);
export type ModelPrices = z.output<typeof modelPriceMembers>;

/** The one stream of model prices. */
export const PROVIDER_PRICING_STREAM = 'providerPricing';
