import type { BillingType } from '../account/words.ts';
import type { BillingTerms } from '../billingConfig/events.ts';
import { asCredits, type Credits } from '../kernel/units.ts';

type OptimizerTier = keyof BillingTerms['training']['base_credits'];

/** Metric calls of a tier when the caller names no limit. */
const TIER_METRIC_CALLS: Readonly<Record<OptimizerTier, number>> = {
  light: 60,
  medium: 180,
  heavy: 540,
};

interface TrainingWork {
  readonly billing_type: BillingType;
  readonly optimizer_tier: OptimizerTier;
  readonly total_examples: number;
  readonly max_metric_calls: number | null;
}

interface TrainingPrice {
  readonly max_metric_calls: number;
  readonly credits: Credits;
  readonly breakdown: { readonly base: Credits; readonly examples: Credits; readonly metric_calls: Credits };
}

/** Credits of a training job = base + examples + metric calls; with the caller's own key no metric calls. */
export const priceTraining = ({ training }: BillingTerms, work: TrainingWork): TrainingPrice => {
  const max_metric_calls = work.max_metric_calls ?? TIER_METRIC_CALLS[work.optimizer_tier];
  const calls = work.billing_type === 'byok' ? 0 : max_metric_calls;
  const base = training.base_credits[work.optimizer_tier];
  const examples = asCredits(work.total_examples * training.credits_per_example);
  const metric_calls = asCredits(calls * training.credits_per_metric_call);
  const breakdown = { base, examples, metric_calls };
  return { max_metric_calls, credits: asCredits(base + examples + metric_calls), breakdown };
};
