import type { Route } from '../../defineRoute.ts';
import { createBillingConfig } from '../billing/createBillingConfig.route.ts';

export const createAdminBillingConfig: Route = { ...createBillingConfig, path: '/v1/admin/billing-config' };
