import { z } from 'zod';
import { creditsOut, instantOut, plainText, tenantIdText, usdOut } from './basics.ts';

export const examplesChargeRequest = z
  .strictObject({
    tenant_id: tenantIdText,
    idempotency_key: plainText(1, 255),
    job_id: plainText(1, 128).nullish(),
    artifact_id: plainText(1, 128).nullish(),
    examples_count: z.int().min(0).nullish(),
  })
  .meta({ id: 'DspyExamplesChargeRequest' });

export const examplesChargeResponse = z
  .strictObject({
    charge_id: z.string(),
    tenant_id: z.string(),
    idempotency_key: z.string(),
    charged: z.boolean(),
    credits_charged: creditsOut,
    balance_credits: creditsOut,
    created_at: instantOut,
  })
  .meta({ id: 'DspyExamplesChargeResponse' });

export const trainingQuoteResponse = z
  .strictObject({
    tenant_id: z.string(),
    billing_type: z.string(),
    optimizer_tier: z.string(),
    total_examples: z.int(),
    max_metric_calls: z.int(),
    credits: creditsOut,
    breakdown: z.strictObject({ base: creditsOut, examples: creditsOut, metric_calls: creditsOut }),
    list_value_usd: usdOut,
    available_credits: creditsOut,
    sufficient: z.boolean(),
    plan_allows: z.boolean().meta({ description: 'False on plan `free`: a job would be refused.' }),
  })
  .meta({ id: 'TrainingQuoteResponse' });
