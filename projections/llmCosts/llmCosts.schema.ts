import type { ReadTable } from '../engine/projector.ts';

const callTables = (schema: string): string => `
  create table ${schema}.llm_costs (
    cost_id text collate "C" primary key,
    position int8 not null,
    tenant_id text collate "C" not null,
    job_id text collate "C" not null,
    operation text not null,
    provider text not null,
    model_name text not null,
    input_tokens int8 not null,
    output_tokens int8 not null,
    cached_input_tokens int8 not null,
    pages int8,
    cost_pico numeric,
    cost_source text,
    document_id text collate "C",
    task_id text,
    billing_type text not null,
    free_tier boolean not null,
    occurred_at text collate "C" not null,
    created_at text not null
  );
  create index on ${schema}.llm_costs (job_id);
  create index on ${schema}.llm_costs (tenant_id, occurred_at);
  create index on ${schema}.llm_costs (document_id) where document_id is not null;
  create index on ${schema}.llm_costs (occurred_at);
  create index on ${schema}.llm_costs (occurred_at) where cost_pico is null;
  create table ${schema}.llm_cost_days (
    day text collate "C" not null,
    tenant_id text collate "C" not null,
    operation text collate "C" not null,
    provider text collate "C" not null,
    model_name text collate "C" not null,
    billing_type text collate "C" not null,
    free_tier boolean not null,
    calls int8 not null,
    input_tokens int8 not null,
    output_tokens int8 not null,
    cost_pico numeric not null,
    primary key (day, tenant_id, operation, provider, model_name, billing_type, free_tier)
  ) with (fillfactor = 50)`;

const priceTables = (schema: string): string => `
  create table ${schema}.model_prices (
    price_id text collate "C" primary key,
    position int8 not null,
    provider text,
    model_name text not null,
    input_pico int8 not null,
    output_pico int8 not null,
    cached_input_pico int8,
    page_pico int8,
    prices jsonb not null,
    effective_from text collate "C" not null,
    created_at text not null
  );
  create table ${schema}.free_operations (
    tenant_id text collate "C" not null,
    operation_id text collate "C" not null,
    pages int8 not null,
    free_pages int8 not null,
    created_at text collate "C" not null,
    primary key (tenant_id, operation_id)
  )`;

/**
 * Calls of models and their costs in pico-USD (10⁻¹² USD). A call without a cost in its event (`cost_pico`
 * null) is priced when it is read, by `model_prices`. `llm_cost_days` sums up the others. The model cost of
 * an operation in `free_operations` is the platform's own for the share of its free pages.
 */
export const llmCostsDdl = (schema: string): string => `${callTables(schema)};${priceTables(schema)}`;

export const llmCostsTables: readonly ReadTable[] = [
  { name: 'llm_costs', key: ['cost_id'] },
  {
    name: 'llm_cost_days',
    key: ['day', 'tenant_id', 'operation', 'provider', 'model_name', 'billing_type', 'free_tier'],
  },
  { name: 'model_prices', key: ['price_id'] },
  { name: 'free_operations', key: ['tenant_id', 'operation_id'] },
];
