import { asCredits } from '../../../../domain/kernel/units.ts';
import { modeOf, ratedMode } from '../../../../domain/rating/rating.ts';
import { newest, rateItems } from '../../money/billingConfigs.ts';
import { post } from '../../defineRoute.ts';
import { CONFIG_REJECTIONS, doneOr } from '../../doneOrProblem.ts';
import { invalid } from '../../problems.ts';
import { billingRateItem, upsertRateRequest } from '../../wire/prices.ts';

export const setBillingRate = post('/v1/billing/rates', {
  summary: 'Change one rate; a new billing config version',
  access: 'admin',
  body: upsertRateRequest,
  reply: { status: 200, schema: billingRateItem },
  problems: ['busy'],
  handle: async ({ body, meta }, { reference }) => {
    const extraction_mode = ratedMode(body.operation, modeOf(body.extraction_mode) ?? 'standard');
    const key = { operation: body.operation, extraction_mode, billing_type: body.billing_type };
    const isOf = (rate: typeof key): boolean =>
      rate.operation === key.operation &&
      rate.extraction_mode === key.extraction_mode &&
      rate.billing_type === key.billing_type;
    if (!newest(await reference.billingConfig()).rates.some(isOf))
      throw invalid({
        loc: ['body', 'extraction_mode'],
        msg: `${body.operation} has no such mode.`,
        type: 'value_error',
      });
    const rate = { ...key, credits_per_page: asCredits(body.credits_per_page) };
    const outcome = await reference.changeBillingConfig({ type: 'SetBillingRate', data: rate, meta });
    const { state } = doneOr(outcome, CONFIG_REJECTIONS);
    const item = rateItems(state, newest(state)).find(isOf);
    if (item === undefined) throw new Error('a rate that was set is not in the billing config');
    return item;
  },
});
