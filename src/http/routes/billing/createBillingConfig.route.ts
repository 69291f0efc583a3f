import { post } from '../../defineRoute.ts';
import { publishConfig } from '../../documents/publishConfig.ts';
import { billingConfigCreateRequest, billingConfigResponse } from '../../wire/prices.ts';

export const createBillingConfig = post('/v1/billing/config', {
  summary: 'Publish a billing config version',
  access: 'admin',
  body: billingConfigCreateRequest,
  reply: { status: 201, schema: billingConfigResponse },
  problems: ['busy'],
  handle: ({ body, meta }, deps) => publishConfig(deps, body, meta),
});
