import type { ApiDeps } from '../../apiDeps.ts';
import { newest, rateItems } from '../../money/billingConfigs.ts';
import { defineRoute } from '../../defineRoute.ts';
import { billingRatesResponse } from '../../wire/prices.ts';

export const getBillingRates = ({ reference }: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/v1/billing/rates',
    operationId: 'getBillingRates',
    summary: 'Credits per page, by operation, mode and billing type',
    tag: 'Billing',
    access: 'any',
    bucket: 'general',
    reply: { status: 200, schema: billingRatesResponse },
    problems: [],
    handle: async () => {
      const state = await reference.billingConfig();
      const config = newest(state);
      return { version: config.version, items: rateItems(state, config) };
    },
  });
