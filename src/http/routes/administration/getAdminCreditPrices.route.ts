import { get } from '../../defineRoute.ts';
import { priceListOf } from '../../money/priceLists.ts';
import { priceListResponse } from '../../wire/prices.ts';

export const getAdminCreditPrices = get('/v1/admin/credit-prices', {
  summary: 'The active price list of credits',
  access: 'admin',
  reply: { status: 200, schema: priceListResponse },
  handle: async (_request, { reference }) => priceListOf(await reference.priceLists()),
});
