/**
 * Calls `c` with `cost`: their own, or what the price in force makes of them, in pico-USD; null while there
 * is no price. The order of prices is that of `priceFor` (domain/providerPricing/pricing.ts).
 */
export const PRICED_CALLS = `
  select c.*, coalesce(c.cost_pico, p.cost) as cost
  from read.llm_costs c left join lateral (
    select (c.input_tokens - c.cached_input_tokens)::numeric * p.input_pico
      + c.cached_input_tokens::numeric * coalesce(p.cached_input_pico, p.input_pico)
      + c.output_tokens::numeric * p.output_pico
      + coalesce(c.pages, 0)::numeric * coalesce(p.page_pico, 0) as cost
    from read.model_prices p
    where c.cost_pico is null and (
      (p.provider = c.provider and p.model_name = c.model_name)
      or (p.provider is null and p.model_name in (c.provider || '/' || c.model_name, c.model_name)))
    order by (p.provider is not null) desc,
      (p.model_name = c.provider || '/' || c.model_name) desc,
      (p.provider is not null and p.effective_from <= c.occurred_at) desc,
      case when p.provider is not null and p.effective_from <= c.occurred_at then p.effective_from end
        desc nulls last,
      case when p.provider is not null then p.effective_from end nulls last,
      p.position desc
    limit 1
  ) p on true`;
