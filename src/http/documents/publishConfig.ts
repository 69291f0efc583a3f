import type { TermsChange } from '../../../domain/billingConfig/decider.ts';
import type { CommandMeta } from '../../../domain/kernel/command.ts';
import { asCredits } from '../../../domain/kernel/units.ts';
import type { ApiDeps } from '../apiDeps.ts';
import { configResponse, newest } from '../money/billingConfigs.ts';
import { CONFIG_REJECTIONS, doneOr } from '../doneOrProblem.ts';
import type { BillingConfigCreateRequest } from '../wire/prices.ts';

const wanted = (credits: number | undefined) => (credits === undefined ? undefined : asCredits(credits));

const trainingOf = ({
  base_credits: base,
  ...training
}: NonNullable<BillingConfigCreateRequest['training']>): TermsChange['training'] => ({
  base_credits: base && {
    light: wanted(base.light),
    medium: wanted(base.medium),
    heavy: wanted(base.heavy),
  },
  credits_per_example: wanted(training.credits_per_example),
  credits_per_metric_call: wanted(training.credits_per_metric_call),
});

/** Only what the caller named: what carries over is decided on the state that the log has then. */
const termsOf = (body: BillingConfigCreateRequest): TermsChange => ({
  free_pages: body.free_pages,
  examples_export_fee_credits: wanted(body.examples_export_fee_credits),
  training: body.training && trainingOf(body.training),
  hold_ttl_seconds: body.hold_ttl_seconds,
});

/** Publishes a new version of the billing config; what is left out carries over. */
export const publishConfig = async (
  { reference }: Pick<ApiDeps, 'reference'>,
  body: BillingConfigCreateRequest,
  meta: CommandMeta,
) => {
  const data = { terms: termsOf(body), note: body.note ?? null };
  const outcome = await reference.changeBillingConfig({ type: 'PublishBillingConfig', data, meta });
  const { state } = doneOr(outcome, CONFIG_REJECTIONS);
  return configResponse(state, newest(state));
};
