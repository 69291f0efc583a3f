import { configOf, newestConfig } from '../../../commands/reference.ts';
import { get } from '../../defineRoute.ts';
import { billingConfigHistory } from '../../wire/prices/prices.ts';

export const getBillingConfigHistory = get('/v1/admin/billing-config', {
  summary: 'The active billing config and all versions, newest first',
  description: 'What was charged when: each version with who published it and why.',
  access: 'admin',
  reply: { status: 200, schema: billingConfigHistory },
  handle: async (_request, { reference }) => {
    const state = await reference.billingConfig();
    const history = [...state.versions].reverse().map((config) => configOf(state, config));
    return { active: configOf(state, newestConfig(state)), history };
  },
});
