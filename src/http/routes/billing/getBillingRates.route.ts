import { newest, rateItems } from '../../money/billingConfigs.ts';
import { get } from '../../defineRoute.ts';
import { billingRatesResponse } from '../../wire/prices.ts';

export const getBillingRates = get('/v1/billing/rates', {
  summary: 'Credits per page, by operation, mode and billing type',
  access: 'any',
  reply: { status: 200, schema: billingRatesResponse },
  handle: async (_request, { reference }) => {
    const state = await reference.billingConfig();
    const config = newest(state);
    return { version: config.version, items: rateItems(state, config) };
  },
});
