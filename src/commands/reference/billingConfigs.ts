import type { BillingConfigKind, TermsChange } from '../../../domain/billingConfig.ts';
import type { BillingType } from '../../../domain/account/messages.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import { modeOf, ratedMode, rateOf, type RatedOperation } from '../../../domain/rating.ts';
import { activeConfig } from '../../queries/published.ts';
import { misfit } from '../work/workProblem.ts';
import type { Outcome } from '../writer/outcome.ts';
import type { ReferenceData } from './referenceData.ts';

interface CreditsByTier {
  readonly light?: number | undefined;
  readonly medium?: number | undefined;
  readonly heavy?: number | undefined;
}

/** A version to publish; what is left out carries over. */
export interface ConfigChange {
  readonly free_pages?: number | undefined;
  readonly examples_export_fee_credits?: number | undefined;
  readonly training?:
    | {
        readonly base_credits?: CreditsByTier | undefined;
        readonly credits_per_example?: number | undefined;
        readonly credits_per_metric_call?: number | undefined;
      }
    | undefined;
  readonly hold_ttl_seconds?: number | undefined;
  readonly note?: string | null | undefined;
}

const wanted = (credits: number | undefined) => (credits === undefined ? undefined : asCredits(credits));

const trainingOf = ({
  base_credits: base,
  ...training
}: NonNullable<ConfigChange['training']>): TermsChange['training'] => ({
  base_credits: base && {
    light: wanted(base.light),
    medium: wanted(base.medium),
    heavy: wanted(base.heavy),
  },
  credits_per_example: wanted(training.credits_per_example),
  credits_per_metric_call: wanted(training.credits_per_metric_call),
});

/** Publishes a version: only what the caller named, for what carries over is decided on the log's state. */
export const publishBillingConfig = (
  reference: ReferenceData,
  { note, ...change }: ConfigChange,
  meta: CommandMeta,
): Promise<Outcome<BillingConfigKind>> => {
  const terms: TermsChange = {
    free_pages: change.free_pages,
    examples_export_fee_credits: wanted(change.examples_export_fee_credits),
    training: change.training && trainingOf(change.training),
    hold_ttl_seconds: change.hold_ttl_seconds,
  };
  return reference.changeBillingConfig({
    type: 'PublishBillingConfig',
    data: { terms, note: note ?? null },
    meta,
  });
};

/** A rate to set; `extraction_mode` as callers spell it. */
export interface RateChange {
  readonly operation: RatedOperation;
  readonly extraction_mode: string;
  readonly billing_type: BillingType;
  readonly credits_per_page: number;
}

/** Changes one rate of those that there are. */
export const setRate = async (
  reference: ReferenceData,
  { operation, billing_type, ...change }: RateChange,
  meta: CommandMeta,
) => {
  const extraction_mode = ratedMode(operation, modeOf(change.extraction_mode) ?? 'standard');
  const key = { operation, extraction_mode, billing_type };
  if (rateOf(await activeConfig(reference), key) === undefined)
    return misfit(['body', 'extraction_mode'], `${operation} has no such mode.`);
  const data = { ...key, credits_per_page: asCredits(change.credits_per_page) };
  const outcome = await reference.changeBillingConfig({ type: 'SetBillingRate', data, meta });
  return { kind: 'tried' as const, outcome, key };
};
