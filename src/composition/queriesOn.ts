import {
  apiKeysByHash,
  apiKeyById,
  apiKeysOfTenant,
  liveAdminKeys,
  liveKeysMadeWith,
} from '../../projections/apiKeys.ts';
import { artifactsOfTenant } from '../../projections/artifacts.ts';
import { balanceOf, balanceRows, openHoldsOfTenant, tenants } from '../../projections/balances.ts';
import { documentsOfTenant } from '../../projections/documents.ts';
import type { SqlTx } from '../../projections/engine/ports.ts';
import { grantsOfTenant } from '../../projections/grants.ts';
import { ledgerOfTenant, usageOfTenant } from '../../projections/ledgerPages.ts';
import { rateLimitsOfTenants } from '../../projections/rateLimits.ts';
import { reconciliation } from '../../projections/reconciliation.ts';
import { costOfOperation, operationsOfTenant } from '../../projections/operations.ts';
import { batchesOfTenant, progressOfBatch } from '../../projections/batches.ts';
import { deploymentsOfTenant } from '../../projections/deployments.ts';
import { chargeOfJob, jobsOfTenant } from '../../projections/trainingJobs.ts';
import { configsOfTenant } from '../../projections/savedConfigs.ts';
import { usageDaysOfTenant, usageStats } from '../../projections/usage.ts';
import { costsByDocument, costsByTask } from '../../projections/costs.ts';
import {
  findLlmCosts,
  freeTierSubsidy,
  llmCostsOfJob,
  missingPrices,
  modelCostOfPeriod,
  providerPrices,
} from '../../projections/llmCosts.ts';
import { marginFlows } from '../../projections/margin.ts';
import {
  deliveriesOfWebhook,
  deliveryOfWebhook,
  failingSince,
  webhooksOfTenant,
} from '../../projections/webhooks.ts';
import { batchedLookup } from '../queries/batchedLookup.ts';
import type { Queries } from '../queries/queries.ts';

/** Balances are asked for more than all else together: those asked for at once share a statement. */
const balancesTogether = (sql: SqlTx): Queries['balanceOfTenant'] => {
  const rowOf = batchedLookup(balanceRows(sql));
  return async (tenantId) => {
    const row = await rowOf(tenantId);
    return row && balanceOf(row);
  };
};

/** Every request is held against its tenant's limits, so they are asked for together too. */
const limitsTogether = (sql: SqlTx): Queries['rateLimitsOfTenant'] => {
  const limitsOf = batchedLookup(rateLimitsOfTenants(sql));
  return async (tenantId) => (await limitsOf(tenantId)) ?? null;
};

/** The routes' questions, asked of the read models. */
export const queriesOn = (sql: SqlTx): Queries => ({
  balanceOfTenant: balancesTogether(sql),
  openHoldsOfTenant: openHoldsOfTenant(sql),
  grantsOfTenant: grantsOfTenant(sql),
  usageOfTenant: usageOfTenant(sql),
  ledgerOfTenant: ledgerOfTenant(sql),
  usageStats: usageStats(sql),
  usageDaysOfTenant: usageDaysOfTenant(sql),
  tenants: tenants(sql),
  reconciliation: reconciliation(sql),
  apiKeyByHash: batchedLookup(apiKeysByHash(sql)),
  apiKeyById: apiKeyById(sql),
  apiKeysOfTenant: apiKeysOfTenant(sql),
  liveAdminKeys: liveAdminKeys(sql),
  liveKeysMadeWith: liveKeysMadeWith(sql),
  rateLimitsOfTenant: limitsTogether(sql),
  llmCosts: findLlmCosts(sql),
  llmCostsOfJob: llmCostsOfJob(sql),
  marginFlows: marginFlows(sql),
  modelCostOfPeriod: modelCostOfPeriod(sql),
  freeTierSubsidy: freeTierSubsidy(sql),
  providerPrices: providerPrices(sql),
  missingPrices: missingPrices(sql),
  documentsOfTenant: documentsOfTenant(sql),
  costsByTask: costsByTask(sql),
  costsByDocument: costsByDocument(sql),
  costOfOperation: costOfOperation(sql),
  operationsOfTenant: operationsOfTenant(sql),
  progressOfBatch: progressOfBatch(sql),
  batchesOfTenant: batchesOfTenant(sql),
  chargeOfJob: chargeOfJob(sql),
  webhooksOfTenant: webhooksOfTenant(sql),
  failingSince: failingSince(sql),
  deliveriesOfWebhook: deliveriesOfWebhook(sql),
  deliveryOfWebhook: deliveryOfWebhook(sql),
  jobsOfTenant: jobsOfTenant(sql),
  deploymentsOfTenant: deploymentsOfTenant(sql),
  artifactsOfTenant: artifactsOfTenant(sql),
  configsOfTenant: configsOfTenant(sql),
});
