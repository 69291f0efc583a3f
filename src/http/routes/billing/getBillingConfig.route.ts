import type { ApiDeps } from '../../apiDeps.ts';
import { configResponse, newest } from '../../money/billingConfigs.ts';
import { defineRoute } from '../../defineRoute.ts';
import { billingConfigResponse } from '../../wire/prices.ts';

export const getBillingConfig = ({ reference }: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/v1/billing/config',
    operationId: 'getBillingConfig',
    summary: 'The active billing config',
    tag: 'Billing',
    access: 'admin',
    bucket: 'general',
    reply: { status: 200, schema: billingConfigResponse },
    problems: [],
    handle: async () => {
      const state = await reference.billingConfig();
      return configResponse(state, newest(state));
    },
  });
