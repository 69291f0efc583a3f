import { picoOf, picoPerToken } from '../../domain/providerPricing/pricing.ts';
import { inserting, jsonText, upserting } from '../engine/apply/bulk.ts';
import type { ProjectedEventOf } from '../engine/feed/event.ts';
import { only, tenantOf } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { costDays } from './costDays.ts';
import { freeOperations, llmCostDays, llmCosts, modelPrices } from './llmCosts.schema.ts';

const log = inserting(llmCosts);
const addDays = upserting(llmCostDays);
const publish = inserting(modelPrices);
const free = inserting(freeOperations);

const callOf = ({ data, position }: ProjectedEventOf<'LlmCostLogged'>) => ({
  ...data,
  position,
  cost_pico: data.cost_usd === null ? null : picoOf(data.cost_usd),
});

type Priced = ProjectedEventOf<'ProviderPricePublished' | 'ModelPriceSet'>;

const priceOf = ({ type, data, position }: Priced) => {
  const cached = data.cached_input_usd_per_million_tokens;
  return {
    price_id: data.price_id,
    position,
    provider: type === 'ModelPriceSet' ? null : data.provider,
    model_name: data.model_name,
    input_pico: picoPerToken(data.input_usd_per_million_tokens),
    output_pico: picoPerToken(data.output_usd_per_million_tokens),
    cached_input_pico: cached === null ? null : picoPerToken(cached),
    page_pico: data.usd_per_page === null ? null : picoOf(data.usd_per_page),
    prices: jsonText({
      input_usd_per_million_tokens: data.input_usd_per_million_tokens,
      output_usd_per_million_tokens: data.output_usd_per_million_tokens,
      cached_input_usd_per_million_tokens: cached,
      usd_per_page: data.usd_per_page,
    }),
    effective_from: type === 'ModelPriceSet' ? data.updated_at : data.effective_from,
    created_at: type === 'ModelPriceSet' ? data.updated_at : data.created_at,
  };
};

/** What models cost: calls, prices, and the operations whose pages were free in part or whole. */
export const llmCostsProjector: Projector = {
  name: 'llm_costs',
  version: 1,
  eventTypes: ['LlmCostLogged', 'ProviderPricePublished', 'ModelPriceSet', 'CreditsBurned'],
  tables: [llmCosts, llmCostDays, modelPrices, freeOperations],
  apply: async (tx, { schema, events }) => {
    const logged = only(events, 'LlmCostLogged').map(callOf);
    const freed = only(events, 'CreditsBurned').filter(({ data }) => data.free_pages > 0);
    await log(tx, schema, logged);
    await addDays(tx, schema, costDays(logged));
    await publish(tx, schema, only(events, 'ProviderPricePublished', 'ModelPriceSet').map(priceOf));
    await free(
      tx,
      schema,
      freed.map((event) => ({ ...event.data, tenant_id: tenantOf(event) })),
    );
  },
};
