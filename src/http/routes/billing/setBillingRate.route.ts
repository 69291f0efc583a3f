import { isSameRate, newestConfig, ratesSince, setRate } from '../../../commands/reference.ts';
import { post } from '../../defineRoute.ts';
import { CONFIG_REJECTIONS, workFailure } from '../../doneOrProblem.ts';
import { billingRateItem, upsertRateRequest } from '../../wire/prices/prices.ts';

export const setBillingRate = post('/v1/billing/rates', {
  summary: 'Change one rate; a new billing config version',
  description: 'All other rates stay. The answer is the new version.',
  access: 'admin',
  body: upsertRateRequest,
  reply: { status: 200, schema: billingRateItem },
  problems: ['busy'],
  handle: async ({ body, meta, doneOr }, { reference }) => {
    const set = await setRate(reference, body, meta);
    if (set.kind === 'problem') throw workFailure(set);
    const { state } = doneOr(set.outcome, CONFIG_REJECTIONS);
    const item = ratesSince(state, newestConfig(state)).find((rate) => isSameRate(rate, set.key));
    if (item === undefined) throw new Error('a rate that was set is not in the billing config');
    return item;
  },
});
