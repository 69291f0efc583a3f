import { z } from 'zod';
import { billingType, extractionMode } from '../account/words.ts';
import { event } from '../kernel/event.ts';
import { creditsFromZero, instant, pages } from '../kernel/units.ts';

/** Credits a page for one operation, mode and billing type. */
export const billingRate = z.strictObject({
  operation: z.enum(['extract', 'to_markdown']),
  extraction_mode: extractionMode,
  billing_type: billingType,
  credits_per_page: creditsFromZero,
});
export type BillingRate = z.output<typeof billingRate>;

const byTier = z.strictObject({ light: creditsFromZero, medium: creditsFromZero, heavy: creditsFromZero });

/** Everything that a bill depends on but the rates. */
export const billingTerms = z.strictObject({
  free_pages: pages,
  examples_export_fee_credits: creditsFromZero,
  training: z.strictObject({
    base_credits: byTier,
    credits_per_example: creditsFromZero,
    credits_per_metric_call: creditsFromZero,
  }),
  hold_ttl_seconds: z.number().int().min(60).max(86_400),
});
export type BillingTerms = z.output<typeof billingTerms>;

/** A whole new version: terms and all rates. */
const billingConfigPublished = event('BillingConfigPublished', {
  version: z.number().int().min(1),
  terms: billingTerms,
  rates: z.array(billingRate),
  note: z.string().nullable(),
  created_at: instant,
  created_by: z.string(),
});

/** One rate changed: a new version too; all else carries over. */
const billingRateSet = event('BillingRateSet', {
  version: z.number().int().min(1),
  rate: billingRate,
  created_at: instant,
  created_by: z.string(),
});

export const billingConfigEvent = z.discriminatedUnion('type', [billingConfigPublished, billingRateSet]);
export type BillingConfigEvent = z.output<typeof billingConfigEvent>;

/** The one stream of billing configs. */
export const BILLING_CONFIG_STREAM = 'billingConfig';
