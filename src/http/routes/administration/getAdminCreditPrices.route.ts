import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { priceListOf } from '../../money/priceLists.ts';
import { priceListResponse } from '../../wire/prices.ts';

export const getAdminCreditPrices = ({ reference }: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/v1/admin/credit-prices',
    operationId: 'getAdminCreditPrices',
    summary: 'The active price list of credits',
    tag: 'Administration',
    access: 'admin',
    bucket: 'general',
    reply: { status: 200, schema: priceListResponse },
    problems: [],
    handle: async () => priceListOf(await reference.priceLists()),
  });
