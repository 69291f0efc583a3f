import type { MemoryLog } from '../logs/memoryLog.ts';
import type { Random } from '../../../engine/test/support/random.ts';

const at = (random: Random) =>
  new Date(Date.UTC(2026, 0, random.between(1, 9), random.between(0, 23))).toISOString();

/** Appends a random call of a model, or a price, or a tenant's own limits. */
export const oneCost = (log: MemoryLog, random: Random, n: number): void => {
  const [provider, model_name] = [random.pick(['openai', 'mistral']), random.pick(['small', 'large'])];
  const tenant_id = random.pick(['t0', 't1']);
  const cost_usd = random.next() < 0.7 ? `0.00${String(random.between(1, 999))}` : null;
  log.append(`llmCost-${tenant_id}`, 'LlmCostLogged', {
    cost_id: `llm_${String(n)}`,
    tenant_id,
    entry_id: null,
    fingerprint: String(n),
    job_id: `job_${String(n % 7)}`,
    operation: 'extract',
    provider,
    model_name,
    input_tokens: random.between(0, 5_000),
    output_tokens: random.between(0, 900),
    cached_input_tokens: 0,
    pages: n % 3 === 0 ? null : 2,
    cost_usd,
    cost_source: cost_usd === null ? null : 'reported',
    document_id: null,
    task_id: null,
    billing_type: random.pick(['full_service', 'byok']),
    free_tier: n % 5 === 0,
    occurred_at: at(random),
    created_at: '2026-01-31T08:00:00.000Z',
  });
  if (n % 4 !== 0) return;
  const prices = {
    price_id: `ppr_${String(n)}`,
    model_name,
    input_usd_per_million_tokens: '0.15',
    output_usd_per_million_tokens: '0.6',
    cached_input_usd_per_million_tokens: null,
    usd_per_page: null,
  };
  const created_at = '2026-01-31T08:00:00.000Z';
  if (n % 8 === 0) log.append('providerPricing', 'ModelPriceSet', { ...prices, updated_at: created_at });
  else
    log.append('providerPricing', 'ProviderPricePublished', {
      ...prices,
      provider,
      effective_from: at(random),
      created_at,
    });
  const limits = { tenant_id, heavy: { rate_per_second: n + 1, burst: n + 2 }, general: null };
  if (n % 12 === 0)
    log.append(`rateLimits-${tenant_id}`, 'RateLimitsReset', {
      tenant_id,
      reset_at: created_at,
      reset_by: 'key_1',
    });
  else
    log.append(`rateLimits-${tenant_id}`, 'RateLimitsOverridden', {
      ...limits,
      updated_at: created_at,
      updated_by: 'key_1',
    });
};
