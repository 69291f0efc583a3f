import { covers, freePagesLeft, pageCost } from './account/holds.ts';
import { type AccountState, availableIn } from './account/state.ts';
import type { BillingType, Category, ExtractionMode, RatedOperation } from './account/messages.ts';
import { type BillingConfig, type BillingTerms, isSameRate, type RateKey } from './billingConfig.ts';
import { asCredits, type Credits, listValueUsd } from './kernel/amounts.ts';

/** `balanced` is an old name of `standard`; anything that is no mode is undefined. */
export const modeOf = (word: string): ExtractionMode | undefined => {
  const mode = word === 'balanced' ? 'standard' : word;
  return mode === 'fast' || mode === 'standard' || mode === 'robust' || mode === 'default' ? mode : undefined;
};

/** The mode that an operation is rated by: extraction alone knows `standard`; the others say `default` for it. */
export const ratedMode = (operation: RatedOperation, mode: ExtractionMode): ExtractionMode =>
  operation !== 'extract' && mode === 'standard' ? 'default' : mode;

/**
 * Credits a page; undefined where the config has no such rate. Work that may wait costs what other work costs where
 * the config has no rate for it.
 */
export const rateOf = ({ rates }: Pick<BillingConfig, 'rates'>, key: RateKey): Credits | undefined => {
  const atOnce = {
    ...key,
    extraction_mode: ratedMode(key.operation, key.extraction_mode),
    completion_window: undefined,
  };
  const waiting = { ...atOnce, completion_window: key.completion_window };
  const found =
    rates.find((rate) => isSameRate(rate, waiting)) ?? rates.find((rate) => isSameRate(rate, atOnce));
  return found?.credits_per_page;
};

/**
 * The rates of an extraction, known before it: what a model is not asked for the embedded engine reads, so work whose
 * models are asked only for what is doubtful has full-service rates, whoever has the key.
 */
export const billedAs = (own: BillingType, modelsFor: 'all' | 'doubtful' = 'all'): BillingType =>
  modelsFor === 'doubtful' ? 'full_service' : own;

/** How reports group an operation. */
export const categoryOf = (operation: RatedOperation): Category =>
  operation === 'extract' ? 'extraction' : 'ocr';

/** What some pages would cost a tenant now; the bill that follows agrees to the credit. */
interface Quote {
  readonly pages: number;
  readonly free_pages_applied: number;
  readonly billable_pages: number;
  readonly credits_per_page: Credits;
  readonly credits: Credits;
  readonly list_value_usd: string;
  readonly available_credits: Credits;
  readonly sufficient: boolean;
  readonly billing_config_version: number;
}

/** Quotes with the formula of the hold: free pages first, then pages × rate. */
export const quote = (
  state: AccountState,
  config: BillingConfig,
  work: { pages: number; rate: Credits },
): Quote => {
  const { free_pages, credits } = pageCost(
    work.pages,
    freePagesLeft(state, config.terms.free_pages),
    work.rate,
  );
  const available_credits = availableIn(state);
  return {
    pages: work.pages,
    free_pages_applied: free_pages,
    billable_pages: work.pages - free_pages,
    credits_per_page: work.rate,
    credits,
    list_value_usd: listValueUsd(credits),
    available_credits,
    sufficient: covers(available_credits, credits),
    billing_config_version: config.version,
  };
};

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
