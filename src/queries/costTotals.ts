import { usdOfPico } from '../../domain/modelPrices.ts';
import type { CostSums } from '../../projections/llmCosts.ts';

/** Adds up sums of model calls. */
export const costTotals = (items: readonly CostSums[]) => ({
  calls: items.reduce((sum, { calls }) => sum + calls, 0),
  input_tokens: items.reduce((sum, { input_tokens }) => sum + input_tokens, 0),
  output_tokens: items.reduce((sum, { output_tokens }) => sum + output_tokens, 0),
  cost_usd: usdOfPico(items.reduce((sum, { cost_pico }) => sum + cost_pico, 0n)),
  unpriced_calls: items.reduce((sum, { unpriced_calls }) => sum + unpriced_calls, 0),
});
