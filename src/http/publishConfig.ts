import type { TermsChange } from '../../domain/billingConfig/decider.ts';
import type { BillingTerms } from '../../domain/billingConfig/events.ts';
import type { CommandMeta } from '../../domain/kernel/command.ts';
import { asCredits } from '../../domain/kernel/units.ts';
import type { ApiDeps } from './apiDeps.ts';
import { configResponse, newest } from './billingConfigs.ts';
import { doneOr } from './doneOrProblem.ts';
import type { BillingConfigCreateRequest } from './wire/prices.ts';

const credits = (wanted: number | undefined, now: number) => asCredits(wanted ?? now);

const trainingOf = (
  training: NonNullable<BillingConfigCreateRequest['training']>,
  now: BillingTerms['training'],
): BillingTerms['training'] => ({
  base_credits: {
    light: credits(training.base_credits?.light, now.base_credits.light),
    medium: credits(training.base_credits?.medium, now.base_credits.medium),
    heavy: credits(training.base_credits?.heavy, now.base_credits.heavy),
  },
  credits_per_example: credits(training.credits_per_example, now.credits_per_example),
  credits_per_metric_call: credits(training.credits_per_metric_call, now.credits_per_metric_call),
});

const termsOf = (body: BillingConfigCreateRequest, now: BillingTerms): TermsChange => ({
  ...(body.free_pages !== undefined && { free_pages: body.free_pages }),
  ...(body.examples_export_fee_credits !== undefined && {
    examples_export_fee_credits: asCredits(body.examples_export_fee_credits),
  }),
  ...(body.training !== undefined && { training: trainingOf(body.training, now.training) }),
  ...(body.hold_ttl_seconds !== undefined && { hold_ttl_seconds: body.hold_ttl_seconds }),
});

/** Publishes a new version of the billing config; what is left out carries over. */
export const publishConfig = async (
  { reference }: Pick<ApiDeps, 'reference'>,
  body: BillingConfigCreateRequest,
  meta: CommandMeta,
) => {
  const { terms } = newest(await reference.billingConfig());
  const data = { terms: termsOf(body, terms), note: body.note ?? null };
  const outcome = await reference.changeBillingConfig({ type: 'PublishBillingConfig', data, meta });
  const { state } = doneOr(outcome, {});
  return configResponse(state, newest(state));
};
