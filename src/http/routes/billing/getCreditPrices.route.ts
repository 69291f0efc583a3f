import { get } from '../../defineRoute.ts';
import { priceListOf } from '../../../commands/reference.ts';
import { priceListResponse } from '../../wire/prices/prices.ts';

export const getCreditPrices = get('/v1/billing/credit-prices', {
  summary: 'The active price list of credits',
  description:
    'What a credit costs in each currency: the list that sales are checked against, with its version.',
  access: 'any',
  reply: { status: 200, schema: priceListResponse },
  handle: async (_request, { reference }) => priceListOf(await reference.priceLists()),
});
