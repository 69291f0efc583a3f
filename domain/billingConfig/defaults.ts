import { asCredits } from '../kernel/units.ts';
import type { BillingRate, BillingTerms } from './events.ts';

const rate = (
  operation: BillingRate['operation'],
  extraction_mode: BillingRate['extraction_mode'],
  [fullService, byok]: readonly [number, number],
): readonly BillingRate[] => [
  { operation, extraction_mode, billing_type: 'full_service', credits_per_page: asCredits(fullService) },
  { operation, extraction_mode, billing_type: 'byok', credits_per_page: asCredits(byok) },
];

/** Credits a page of a fresh installation, full service and with the caller's own key. */
export const DEFAULT_RATES: readonly BillingRate[] = [
  ...rate('extract', 'fast', [10, 2]),
  ...rate('extract', 'standard', [40, 5]),
  ...rate('extract', 'robust', [80, 10]),
  ...rate('to_markdown', 'default', [40, 5]),
  ...rate('to_markdown', 'fast', [10, 2]),
];

/** Terms of a fresh installation. */
export const DEFAULT_TERMS: BillingTerms = {
  free_pages: 50,
  examples_export_fee_credits: asCredits(5_000),
  training: {
    base_credits: { light: asCredits(2_000), medium: asCredits(6_000), heavy: asCredits(18_000) },
    credits_per_example: asCredits(20),
    credits_per_metric_call: asCredits(10),
  },
  hold_ttl_seconds: 900,
};
