import { get } from '../../defineRoute.ts';
import { priceListOf } from '../../../queries/published.ts';
import { priceListResponse } from '../../wire/prices.ts';

export const getCreditPrices = get('/v1/billing/credit-prices', {
  summary: 'The active price list of credits',
  access: 'any',
  reply: { status: 200, schema: priceListResponse },
  handle: async (_request, { reference }) => priceListOf(await reference.priceLists()),
});
