import type { RateLimitOverride } from '../../domain/rateLimits.ts';
import type * as apiKeys from '../../projections/apiKeys.ts';
import type { artifactsOfTenant } from '../../projections/artifacts.ts';
import type * as batches from '../../projections/batches.ts';
import type * as balances from '../../projections/balances.ts';
import type { documentsOfTenant } from '../../projections/documents.ts';
import type { SqlTx } from '../../projections/engine/ports.ts';
import type { grantsOfTenant } from '../../projections/grants.ts';
import type * as ledger from '../../projections/ledgerPages.ts';
import type { reconciliation } from '../../projections/reconciliation.ts';
import type { configsOfTenant } from '../../projections/savedConfigs.ts';
import type { usageDaysOfTenant, usageStats } from '../../projections/usage.ts';
import type * as llm from '../../projections/llmCosts.ts';
import type * as freeShare from '../../projections/llmCosts.ts';
import type * as prices from '../../projections/llmCosts.ts';
import type * as costs from '../../projections/costs.ts';
import type { marginFlows } from '../../projections/margin.ts';
import type * as operations from '../../projections/operations.ts';
import type { deploymentsOfTenant } from '../../projections/deployments.ts';
import type { chargeOfJob, jobsOfTenant } from '../../projections/trainingJobs.ts';
import type * as webhooks from '../../projections/webhooks.ts';

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
  readonly usageDaysOfTenant: On<typeof usageDaysOfTenant>;
  readonly tenants: On<typeof balances.tenants>;
  readonly reconciliation: On<typeof reconciliation>;
  readonly apiKeyByHash: (keyHash: string) => Promise<apiKeys.ApiKeyRow | undefined>;
  readonly apiKeyById: On<typeof apiKeys.apiKeyById>;
  readonly apiKeysOfTenant: On<typeof apiKeys.apiKeysOfTenant>;
  readonly liveAdminKeys: On<typeof apiKeys.liveAdminKeys>;
  readonly liveKeysMadeWith: On<typeof apiKeys.liveKeysMadeWith>;
  /** null where the tenant has the defaults. */
  readonly rateLimitsOfTenant: (tenantId: string) => Promise<RateLimitOverride | null>;
  readonly llmCosts: On<typeof llm.findLlmCosts>;
  readonly llmCostsOfJob: On<typeof llm.llmCostsOfJob>;
  readonly marginFlows: On<typeof marginFlows>;
  readonly modelCostOfPeriod: On<typeof freeShare.modelCostOfPeriod>;
  readonly freeTierSubsidy: On<typeof freeShare.freeTierSubsidy>;
  readonly providerPrices: On<typeof prices.providerPrices>;
  readonly missingPrices: On<typeof prices.missingPrices>;
  readonly documentsOfTenant: On<typeof documentsOfTenant>;
  readonly costsByTask: On<typeof costs.costsByTask>;
  readonly costsByDocument: On<typeof costs.costsByDocument>;
  readonly costOfOperation: On<typeof operations.costOfOperation>;
  readonly operationsOfTenant: On<typeof operations.operationsOfTenant>;
  readonly progressOfBatch: On<typeof batches.progressOfBatch>;
  readonly batchesOfTenant: On<typeof batches.batchesOfTenant>;
  readonly chargeOfJob: On<typeof chargeOfJob>;
  readonly webhooksOfTenant: On<typeof webhooks.webhooksOfTenant>;
  readonly failingSince: On<typeof webhooks.failingSince>;
  readonly deliveriesOfWebhook: On<typeof webhooks.deliveriesOfWebhook>;
  readonly deliveryOfWebhook: On<typeof webhooks.deliveryOfWebhook>;
  readonly jobsOfTenant: On<typeof jobsOfTenant>;
  readonly deploymentsOfTenant: On<typeof deploymentsOfTenant>;
  readonly artifactsOfTenant: On<typeof artifactsOfTenant>;
  readonly configsOfTenant: On<typeof configsOfTenant>;
}
