import type { Route } from '../../defineRoute.ts';
import { getCreditPrices } from '../billing/getCreditPrices.route.ts';

export const getAdminCreditPrices: Route = {
  ...getCreditPrices,
  path: '/v1/admin/credit-prices',
  access: 'admin',
};
