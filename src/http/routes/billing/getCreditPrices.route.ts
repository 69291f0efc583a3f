import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { priceListOf } from '../../money/priceLists.ts';
import { priceListResponse } from '../../wire/prices.ts';

export const getCreditPrices = ({ reference }: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/v1/billing/credit-prices',
    operationId: 'getCreditPrices',
    summary: 'The active price list of credits',
    tag: 'Billing',
    access: 'any',
    bucket: 'general',
    reply: { status: 200, schema: priceListResponse },
    problems: [],
    handle: async () => priceListOf(await reference.priceLists()),
  });
