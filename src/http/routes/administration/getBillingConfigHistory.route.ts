import type { ApiDeps } from '../../apiDeps.ts';
import { configResponse, newest } from '../../money/billingConfigs.ts';
import { defineRoute } from '../../defineRoute.ts';
import { billingConfigHistory } from '../../wire/prices.ts';

export const getBillingConfigHistory = ({ reference }: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/v1/admin/billing-config',
    operationId: 'getBillingConfigHistory',
    summary: 'The active billing config and all versions, newest first',
    tag: 'Administration',
    access: 'admin',
    bucket: 'general',
    reply: { status: 200, schema: billingConfigHistory },
    problems: [],
    handle: async () => {
      const state = await reference.billingConfig();
      const history = [...state.versions].reverse().map((config) => configResponse(state, config));
      return { active: configResponse(state, newest(state)), history };
    },
  });
