import { z } from 'zod';
import { billingType } from '../../../../domain/account/messages.ts';
import { creditsOut, instantOut, logIdOut, occurredIn, plainText, tenantIdText, usdOut } from '../basics.ts';

const tokensIn = z.int().min(0).max(1_000_000_000_000);
const name = plainText(1, 200);

/** At most 6 decimals, so that the price of one token is a whole number of pico-USD. */
const perMillion = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,6})?$/, 'A decimal as text with at most 6 decimals.')
  .meta({ description: 'US dollars per million tokens, decimal text.' });
const fine = z
  .string()
  .regex(/^\d{1,6}(\.\d{1,12})?$/, 'A decimal as text with at most 12 decimals.')
  .meta({ description: 'US dollars, decimal text.' });

export const llmCostRequest = z
  .strictObject({
    tenant_id: tenantIdText,
    job_id: name,
    operation: plainText(1, 64),
    provider: plainText(1, 64),
    model_name: name,
    input_tokens: tokensIn,
    output_tokens: tokensIn,
    cached_input_tokens: tokensIn.default(0).meta({ description: 'Part of `input_tokens`.' }),
    pages: z.int().min(0).max(1_000_000).nullish(),
    cost_usd: fine.nullish().meta({ description: 'Computed from the price in force when left out.' }),
    document_id: name.nullish(),
    task_id: name.nullish(),
    billing_type: billingType.default('full_service'),
    free_tier: z.boolean().default(false),
    entry_id: plainText(1, 255).nullish().meta({ description: 'Makes the entry count once, for ever.' }),
    occurred_at: occurredIn.nullish(),
  })
  .refine(({ input_tokens, cached_input_tokens }) => cached_input_tokens <= input_tokens, {
    error: 'Must not be more than input_tokens.',
    path: ['cached_input_tokens'],
  })
  .meta({ id: 'LlmCostLogRequest' });
export type LlmCostRequest = z.output<typeof llmCostRequest>;

export const llmCostLogged = z
  .strictObject({
    id: z.string(),
    cost_usd: usdOut.nullable(),
    priced: z.boolean().meta({ description: 'False while no price of the model is known.' }),
    created_at: instantOut,
  })
  .meta({ id: 'LlmCostLoggedResponse' });

const sums = {
  calls: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost_usd: usdOut,
  unpriced_calls: z.int(),
};
const totals = z.strictObject(sums).meta({ id: 'LlmCostTotals' });

export const llmCostAggregate = z
  .strictObject({
    group_by: z.string(),
    items: z.array(z.strictObject({ key: z.string(), ...sums }).meta({ id: 'LlmCostGroup' })),
    totals,
  })
  .meta({ id: 'LlmCostAggregateResponse' });

export const llmCostLog = z
  .strictObject({
    job_id: z.string(),
    items: z.array(
      z
        .strictObject({
          id: z.string(),
          tenant_id: z.string(),
          job_id: z.string(),
          operation: z.string(),
          provider: z.string(),
          model_name: z.string(),
          input_tokens: z.int(),
          output_tokens: z.int(),
          cached_input_tokens: z.int(),
          pages: z.int().nullable(),
          cost_usd: usdOut.nullable(),
          document_id: z.string().nullable(),
          task_id: z.string().nullable(),
          billing_type: billingType,
          free_tier: z.boolean(),
          occurred_at: instantOut,
          created_at: instantOut,
        })
        .meta({ id: 'LlmCostItem' }),
    ),
    totals,
  })
  .meta({ id: 'LlmCostLogResponse' });

const pricesIn = {
  input_usd_per_million_tokens: perMillion,
  output_usd_per_million_tokens: perMillion,
  cached_input_usd_per_million_tokens: perMillion.nullish(),
  usd_per_page: fine.nullish(),
};
const pricesOut = {
  input_usd_per_million_tokens: usdOut,
  output_usd_per_million_tokens: usdOut,
  cached_input_usd_per_million_tokens: usdOut.nullable(),
  usd_per_page: usdOut.nullable(),
};

export const providerPricingRequest = z
  .strictObject({
    provider: plainText(1, 64),
    model_name: name,
    ...pricesIn,
    effective_from: occurredIn.nullish().meta({ description: 'Now when it is left out.' }),
  })
  .meta({ id: 'CreateProviderPricingRequest' });

export const providerPricingItem = z
  .strictObject({
    id: z.string(),
    provider: z.string(),
    model_name: z.string(),
    ...pricesOut,
    effective_from: instantOut,
    current: z.boolean(),
    created_at: instantOut,
  })
  .meta({ id: 'ProviderPricingItem' });

export const providerPricingList = z
  .strictObject({ current: z.array(providerPricingItem), history: z.array(providerPricingItem) })
  .meta({ id: 'ProviderPricingResponse' });

export const pricingRequest = z
  .strictObject({ model_name: name, ...pricesIn })
  .meta({ id: 'PricingUpsertRequest' });

export const pricingResponse = z
  .strictObject({
    model_name: z.string(),
    provider: z.string().nullable(),
    ...pricesOut,
    source: z.enum(['model_pricing', 'provider_pricing']),
    updated_at: instantOut,
  })
  .meta({ id: 'PricingResponse' });

export const missingPricingResponse = z
  .strictObject({
    days: z.int(),
    items: z.array(
      z
        .strictObject({
          provider: z.string(),
          model_name: z.string(),
          calls: z.int(),
          input_tokens: z.int(),
          output_tokens: z.int(),
          first_seen_at: instantOut,
          last_seen_at: instantOut,
        })
        .meta({ id: 'MissingPricingItem' }),
    ),
  })
  .meta({ id: 'MissingPricingResponse' });

const work = {
  operations: z.int(),
  pages: z.int(),
  credits: creditsOut,
  list_value_usd: usdOut,
  llm_cost_usd: usdOut,
  margin_usd: usdOut.meta({ description: 'List value − model cost.' }),
};

export const costByTask = z
  .strictObject({
    log_id: logIdOut,
    tenant_id: z.string(),
    items: z.array(z.strictObject({ task_id: z.string(), ...work }).meta({ id: 'TaskCost' })),
    totals: z.strictObject(work).meta({ id: 'TaskCostTotals' }),
  })
  .meta({ id: 'CostByTaskResponse' });

const documentCost = z
  .strictObject({
    document_id: z.string(),
    tenant_id: z.string(),
    task_id: z.string(),
    file_name: z.string().nullable(),
    ...work,
    last_used_at: instantOut,
  })
  .meta({ id: 'DocumentCost' });

export const costByDocument = z
  .strictObject({
    log_id: logIdOut,
    items: z.array(documentCost),
    ...{ total: z.int(), limit: z.int(), offset: z.int() },
  })
  .meta({ id: 'CostByDocumentResponse' });

const subsidy = { operations: z.int(), pages: z.int(), tenants: z.int(), llm_cost_usd: usdOut };

export const subsidyResponse = z
  .strictObject({
    log_id: logIdOut,
    from_date: instantOut.nullable(),
    to_date: instantOut.nullable(),
    items: z.array(z.strictObject({ day: z.iso.date(), ...subsidy }).meta({ id: 'SubsidyDay' })),
    totals: z
      .strictObject({ operations: z.int(), pages: z.int(), llm_cost_usd: usdOut })
      .meta({ id: 'SubsidyTotals' }),
  })
  .meta({ id: 'FreeTierSubsidyResponse' });
