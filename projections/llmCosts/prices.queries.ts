import { modelPriceMembers } from '../../domain/providerPricing/events.ts';
import { rowReader } from '../engine/apply/columns.ts';
import { listing } from '../engine/query.ts';
import { pick } from '../engine/table.ts';
import { llmCosts, modelPrices } from './llmCosts.schema.ts';

const readPrice = rowReader(
  pick(modelPrices.columns, 'price_id', 'provider', 'model_name', 'prices', 'effective_from', 'created_at'),
);

/** All prices that providers' models ever had, newest first. */
export const providerPrices = listing(
  'select * from read.model_prices where provider is not null order by position desc',
  () => [],
  (row) => {
    const { prices, ...price } = readPrice(row);
    return { ...price, ...modelPriceMembers.parse(prices) };
  },
);

/** Models with calls since `since` for which no provider's price was ever published, busiest first. */
export const missingPrices = listing(
  `select c.provider, c.model_name, count(*) as calls, sum(c.input_tokens)::int8 as input_tokens,
     sum(c.output_tokens)::int8 as output_tokens, min(c.occurred_at) as first_seen_at,
     max(c.occurred_at) as last_seen_at
   from read.llm_costs c
   where c.occurred_at >= $1 and not exists (select 1 from read.model_prices p
     where p.provider = c.provider and p.model_name = c.model_name)
   group by c.provider, c.model_name order by calls desc, c.provider, c.model_name`,
  (since: string) => [since],
  rowReader({
    ...pick(llmCosts.columns, 'provider', 'model_name', 'input_tokens', 'output_tokens'),
    calls: 'int8',
    first_seen_at: 'text',
    last_seen_at: 'text',
  }),
);
