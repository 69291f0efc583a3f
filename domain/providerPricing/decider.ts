import type { Command } from '../kernel/command.ts';
import { accept, type Decider, type StreamKind } from '../kernel/decider.ts';
import type { ModelPrices, ProviderPricingEvent } from './events.ts';
import { priceNewsOf, type TablePrice } from './priceTable.ts';
import type { PublishedPrice } from './pricing.ts';

/** A provider's price from a time on. Append-only: each publication is a price of its own. */
export type PublishProviderPrice = Command<
  'PublishProviderPrice',
  ModelPrices & {
    readonly price_id: string;
    readonly provider: string;
    readonly model_name: string;
    readonly effective_from: string;
  }
>;

/** The price of a model by name. The same price again changes nothing. */
export type SetModelPrice = Command<
  'SetModelPrice',
  ModelPrices & { readonly price_id: string; readonly model_name: string }
>;

/** Many prices at once, all from one time on. Those in force then already, to the same figures, are passed over. */
export type ImportProviderPrices = Command<
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
