import { configOf, newestConfig } from '../../../commands/reference.ts';
import { get } from '../../defineRoute.ts';
import { billingConfigResponse } from '../../wire/prices/prices.ts';

export const getBillingConfig = get('/v1/billing/config', {
  summary: 'The active billing config',
  description: 'What pages, trainings and exports cost now, and how many pages are free.',
  access: 'admin',
  reply: { status: 200, schema: billingConfigResponse },
  handle: async (_request, { reference }) => {
    const state = await reference.billingConfig();
    return configOf(state, newestConfig(state));
  },
});
