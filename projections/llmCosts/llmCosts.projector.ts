import { picoOf, picoPerToken } from '../../domain/providerPricing/pricing.ts';
import { bulk, jsonText } from '../engine/apply/bulk.ts';
import type { ProjectedEventOf } from '../engine/feed/event.ts';
import { only, tenantOf } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { costDays } from './costDays.ts';
import { llmCostsDdl, llmCostsTables } from './llmCosts.schema.ts';

const calls = bulk({
  cost_id: 'text',
  position: 'int8',
  tenant_id: 'text',
  job_id: 'text',
  operation: 'text',
  provider: 'text',
  model_name: 'text',
  input_tokens: 'int8',
  output_tokens: 'int8',
  cached_input_tokens: 'int8',
  pages: 'int8',
  cost_pico: 'numeric',
  cost_source: 'text',
  document_id: 'text',
  task_id: 'text',
  billing_type: 'text',
  free_tier: 'boolean',
  occurred_at: 'text',
  created_at: 'text',
});
const days = bulk({
  day: 'text',
  tenant_id: 'text',
  operation: 'text',
  provider: 'text',
  model_name: 'text',
  billing_type: 'text',
  free_tier: 'boolean',
  calls: 'int8',
  input_tokens: 'int8',
  output_tokens: 'int8',
  cost_pico: 'numeric',
});
const prices = bulk({
  price_id: 'text',
  position: 'int8',
  provider: 'text',
  model_name: 'text',
  input_pico: 'int8',
  output_pico: 'int8',
  cached_input_pico: 'int8',
  page_pico: 'int8',
  prices: 'jsonb',
  effective_from: 'text',
  created_at: 'text',
});
const free = bulk({
  tenant_id: 'text',
  operation_id: 'text',
  pages: 'int8',
  free_pages: 'int8',
  created_at: 'text',
});

const insert = (schema: string, table: string, { names, source }: Pick<typeof calls, 'names' | 'source'>) =>
  `insert into ${schema}.${table} (${names}) select ${names} from ${source()}`;

const ADD_DAYS = (schema: string) => `
  insert into ${schema}.llm_cost_days as d (${days.names}) select ${days.names} from ${days.source()}
  on conflict (day, tenant_id, operation, provider, model_name, billing_type, free_tier) do update set
    calls = d.calls + excluded.calls,
    input_tokens = d.input_tokens + excluded.input_tokens,
    output_tokens = d.output_tokens + excluded.output_tokens,
    cost_pico = d.cost_pico + excluded.cost_pico`;

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
  tables: llmCostsTables,
  ddl: llmCostsDdl,
  apply: async (tx, { schema, events }) => {
    const logged = only(events, 'LlmCostLogged').map(callOf);
    const published = only(events, 'ProviderPricePublished', 'ModelPriceSet').map(priceOf);
    const freed = only(events, 'CreditsBurned').filter(({ data }) => data.free_pages > 0);
    if (logged.length > 0) {
      await tx.query(insert(schema, 'llm_costs', calls), calls.values(logged));
      const sums = costDays(logged);
      if (sums.length > 0) await tx.query(ADD_DAYS(schema), days.values(sums));
    }
    if (published.length > 0)
      await tx.query(insert(schema, 'model_prices', prices), prices.values(published));
    if (freed.length > 0) {
      const rows = freed.map((event) => ({ ...event.data, tenant_id: tenantOf(event) }));
      await tx.query(insert(schema, 'free_operations', free), free.values(rows));
    }
  },
};
