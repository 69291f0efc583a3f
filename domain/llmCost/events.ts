import { z } from 'zod';
import { billingType } from '../account/words.ts';
import { event } from '../kernel/event.ts';
import { decimalText, instant, pages, tenantId } from '../kernel/units.ts';

const tokens = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** What one call of a model provider used. `job_id` is the operation that it was made for. */
export const llmCostLogged = event('LlmCostLogged', {
  cost_id: z.string(),
  tenant_id: tenantId,
  /** The caller's own ID of the entry: the same one again changes nothing. */
  entry_id: z.string().nullable(),
  fingerprint: z.string(),
  job_id: z.string(),
  operation: z.string(),
  provider: z.string(),
  model_name: z.string(),
  input_tokens: tokens,
  output_tokens: tokens,
  /** Part of `input_tokens`. */
  cached_input_tokens: tokens,
  pages: pages.nullable(),
  /** As reported, or computed by the price in force; null while no price is known. */
  cost_usd: decimalText.nullable(),
  cost_source: z.enum(['reported', 'computed']).nullable(),
  document_id: z.string().nullable(),
  task_id: z.string().nullable(),
  billing_type: billingType,
  /** True where the whole operation was free for the tenant. */
  free_tier: z.boolean(),
  occurred_at: instant,
  created_at: instant,
});

export const llmCostEvent = z.discriminatedUnion('type', [llmCostLogged]);
export type LlmCostEvent = z.output<typeof llmCostEvent>;

export const llmCostStream = (tenant: string): string => `llmCost-${tenant}`;
