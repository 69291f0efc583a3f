import { newestConfig, ratesSince } from '../../../commands/reference.ts';
import { get } from '../../defineRoute.ts';
import { billingRatesResponse } from '../../wire/prices/prices.ts';

export const getBillingRates = get('/v1/billing/rates', {
  summary: 'Credits per page, by operation, mode and billing type',
  description: 'What a page costs now, for each kind of work.',
  access: 'any',
  reply: { status: 200, schema: billingRatesResponse },
  handle: async (_request, { reference }) => {
    const state = await reference.billingConfig();
    const config = newestConfig(state);
    return { version: config.version, items: ratesSince(state, config) };
  },
});
