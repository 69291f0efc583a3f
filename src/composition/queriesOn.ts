import {
  apiKeyByHash,
  apiKeyById,
  apiKeysOfTenant,
  liveAdminKeys,
} from '../../projections/apiKeys/apiKeys.queries.ts';
import { balanceOfTenant, openHoldsOfTenant, tenants } from '../../projections/balances/balances.queries.ts';
import type { SqlTx } from '../../projections/engine/ports.ts';
import { grantsOfTenant } from '../../projections/grants/grants.queries.ts';
import { ledgerOfTenant, usageOfTenant } from '../../projections/ledger/ledger.queries.ts';
import { rateLimitsOfTenant } from '../../projections/rateLimits/rateLimits.queries.ts';
import { reconciliation } from '../../projections/reconciliation/reconciliation.queries.ts';
import { usageStats } from '../../projections/usage/usage.queries.ts';
import type { Queries } from '../http/queries.ts';

/** The routes' questions, asked of the read models. */
export const queriesOn = (sql: SqlTx): Queries => ({
  balanceOfTenant: balanceOfTenant(sql),
  openHoldsOfTenant: openHoldsOfTenant(sql),
  grantsOfTenant: grantsOfTenant(sql),
  usageOfTenant: usageOfTenant(sql),
  ledgerOfTenant: ledgerOfTenant(sql),
  usageStats: usageStats(sql),
  tenants: tenants(sql),
  reconciliation: reconciliation(sql),
  apiKeyByHash: apiKeyByHash(sql),
  apiKeyById: apiKeyById(sql),
  apiKeysOfTenant: apiKeysOfTenant(sql),
  liveAdminKeys: liveAdminKeys(sql),
  rateLimitsOfTenant: rateLimitsOfTenant(sql),
});
