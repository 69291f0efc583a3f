import type { BillingRate, BillingTerms } from './events.ts';

/** Most pages of a document that a caller waits for. */
export const DOCUMENT_PAGES_MAX = 100;
/** Most pages of a document that is an operation. */
export const OPERATION_PAGES_MAX = 2_000;

/** So many examples or metric calls are far beyond any job; their price is exact all the same. */
export const TRAINING_COUNT_MAX = 1_000_000_000;

/** Whose product with the most that can be asked for passes 2^53 − 1: no bill could say it exactly. */
export type BeyondExact = readonly (string | number)[];

/** Where rates or terms are beyond what can be billed; undefined: all are within it. */
export const beyondExact = (
  { training }: BillingTerms,
  rates: readonly BillingRate[],
): BeyondExact | undefined => {
  const isExact = (...amounts: readonly number[]) =>
    Number.isSafeInteger(amounts.reduce((sum, amount) => sum + amount, 0));
  if (!rates.every(({ credits_per_page }) => isExact(OPERATION_PAGES_MAX * credits_per_page)))
    return ['credits_per_page'];
  const examples = TRAINING_COUNT_MAX * training.credits_per_example;
  if (!isExact(examples)) return ['training', 'credits_per_example'];
  const calls = TRAINING_COUNT_MAX * training.credits_per_metric_call;
  if (!isExact(calls)) return ['training', 'credits_per_metric_call'];
  const base = Math.max(...Object.values(training.base_credits));
  return isExact(base, examples, calls) ? undefined : ['training'];
};
