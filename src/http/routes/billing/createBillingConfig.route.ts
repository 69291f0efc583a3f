import { post } from '../../defineRoute.ts';
import { configOf, newestConfig, publishBillingConfig } from '../../../commands/reference.ts';
import { CONFIG_REJECTIONS } from '../../doneOrProblem.ts';
import { billingConfigCreateRequest, billingConfigResponse } from '../../wire/prices/prices.ts';

export const createBillingConfig = post('/v1/billing/config', {
  summary: 'Publish a billing config version',
  description:
    'Rates, free pages and training costs from now on. ' +
    'Every publication is a new version; usage keeps the version that it was billed by.',
  access: 'admin',
  body: billingConfigCreateRequest,
  reply: { status: 201, schema: billingConfigResponse },
  problems: ['busy'],
  handle: async ({ body, meta, doneOr }, { reference }) => {
    const { state } = doneOr(await publishBillingConfig(reference, body, meta), CONFIG_REJECTIONS);
    return configOf(state, newestConfig(state));
  },
});
