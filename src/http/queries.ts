import type * as apiKeys from '../../projections/apiKeys/apiKeys.queries.ts';
import type * as balances from '../../projections/balances/balances.queries.ts';
import type { SqlTx } from '../../projections/engine/ports.ts';
import type { grantsOfTenant } from '../../projections/grants/grants.queries.ts';
import type * as ledger from '../../projections/ledger/ledger.queries.ts';
import type { reconciliation } from '../../projections/reconciliation/reconciliation.queries.ts';
import type { usageStats } from '../../projections/usage/usage.queries.ts';
import type { rateLimitsOfTenant } from '../../projections/rateLimits/rateLimits.queries.ts';

/** A query of a read model once it has a database to ask. */
type On<Query extends (sql: SqlTx) => unknown> = ReturnType<Query>;

/** What the routes ask of the read models. They throw when the database cannot be reached. */
export interface Queries {
  readonly balanceOfTenant: On<typeof balances.balanceOfTenant>;
  readonly openHoldsOfTenant: On<typeof balances.openHoldsOfTenant>;
  readonly grantsOfTenant: On<typeof grantsOfTenant>;
  readonly usageOfTenant: On<typeof ledger.usageOfTenant>;
  readonly ledgerOfTenant: On<typeof ledger.ledgerOfTenant>;
  readonly usageStats: On<typeof usageStats>;
  readonly tenants: On<typeof balances.tenants>;
  readonly reconciliation: On<typeof reconciliation>;
  readonly apiKeyByHash: On<typeof apiKeys.apiKeyByHash>;
  readonly apiKeyById: On<typeof apiKeys.apiKeyById>;
  readonly apiKeysOfTenant: On<typeof apiKeys.apiKeysOfTenant>;
  readonly liveAdminKeys: On<typeof apiKeys.liveAdminKeys>;
  readonly rateLimitsOfTenant: On<typeof rateLimitsOfTenant>;
}
