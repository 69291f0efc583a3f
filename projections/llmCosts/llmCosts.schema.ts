import { table } from '../engine/table.ts';

/**
 * Calls of models and their costs in pico-USD (10⁻¹² USD). A call without a cost in its event (`cost_pico`
 * null) is priced when it is read, by `model_prices`.
 */
export const llmCosts = table({
  name: 'llm_costs',
  key: ['cost_id'],
  columns: {
    cost_id: 'sorted',
    position: 'position',
    tenant_id: 'sorted',
    job_id: 'sorted',
    operation: 'text',
    provider: 'text',
    model_name: 'text',
    input_tokens: 'int8',
    output_tokens: 'int8',
    cached_input_tokens: 'int8',
    pages: 'int8?',
    cost_pico: 'numeric?',
    cost_source: 'text?',
    document_id: 'sorted?',
    task_id: 'text?',
    billing_type: 'text',
    free_tier: 'boolean',
    occurred_at: 'sorted',
    created_at: 'text',
  },
  indexes: [
    '(job_id)',
    '(tenant_id, occurred_at)',
    '(document_id) where document_id is not null',
    '(occurred_at)',
    '(occurred_at) where cost_pico is null',
  ],
});

/** Sums of the calls that have a cost. */
export const llmCostDays = table({
  name: 'llm_cost_days',
  key: ['day', 'tenant_id', 'operation', 'provider', 'model_name', 'billing_type', 'free_tier'],
  columns: {
    day: 'sorted',
    tenant_id: 'sorted',
    operation: 'sorted',
    provider: 'sorted',
    model_name: 'sorted',
    billing_type: 'sorted',
    free_tier: 'boolean',
    calls: 'int8 add',
    input_tokens: 'int8 add',
    output_tokens: 'int8 add',
    cost_pico: 'numeric add',
  },
  fillfactor: 50,
});

/** Prices of models, each in force from `effective_from` on. */
export const modelPrices = table({
  name: 'model_prices',
  key: ['price_id'],
  columns: {
    price_id: 'sorted',
    position: 'position',
    provider: 'text?',
    model_name: 'text',
    input_pico: 'int8',
    output_pico: 'int8',
    cached_input_pico: 'int8?',
    page_pico: 'int8?',
    prices: 'jsonb',
    effective_from: 'sorted',
    created_at: 'text',
  },
});

/** Operations with free pages: the platform pays the model cost of those pages itself. */
export const freeOperations = table({
  name: 'free_operations',
  key: ['tenant_id', 'operation_id'],
  columns: {
    tenant_id: 'sorted',
    operation_id: 'sorted',
    pages: 'int8',
    free_pages: 'int8',
    created_at: 'sorted',
  },
});
