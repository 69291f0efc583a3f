import {
  apiKeysByHash,
  apiKeyById,
  apiKeysOfTenant,
  liveAdminKeys,
  liveKeysMadeWith,
} from '../../projections/apiKeys/apiKeys.queries.ts';
import { artifactsOfTenant } from '../../projections/artifacts/artifacts.queries.ts';
import {
  balanceOf,
  balanceRows,
  openHoldsOfTenant,
  tenants,
} from '../../projections/balances/balances.queries.ts';
import { documentsOfTenant } from '../../projections/documents/documents.queries.ts';
import type { SqlTx } from '../../projections/engine/ports.ts';
import { grantsOfTenant } from '../../projections/grants/grants.queries.ts';
import { ledgerOfTenant, usageOfTenant } from '../../projections/ledger/ledger.queries.ts';
import { rateLimitsOfTenants } from '../../projections/rateLimits/rateLimits.queries.ts';
import { reconciliation } from '../../projections/reconciliation/reconciliation.queries.ts';
import { costOfOperation, operationsOfTenant } from '../../projections/operations/operations.queries.ts';
import { batchesOfTenant, progressOfBatch } from '../../projections/batches/batches.queries.ts';
import { deploymentsOfTenant } from '../../projections/deployments/deployments.queries.ts';
import { chargeOfJob, jobsOfTenant } from '../../projections/trainingJobs/trainingJobs.queries.ts';
import { configsOfTenant } from '../../projections/savedConfigs/savedConfigs.queries.ts';
import { usageStats } from '../../projections/usage/usage.queries.ts';
import { usageDaysOfTenant } from '../../projections/usage/usageDays.queries.ts';
import { costsByDocument, costsByTask } from '../../projections/costs/costs.queries.ts';
import { freeTierSubsidy, modelCostOfPeriod } from '../../projections/llmCosts/freeShare.queries.ts';
import { findLlmCosts, llmCostsOfJob } from '../../projections/llmCosts/llmCosts.queries.ts';
import { marginFlows } from '../../projections/margin/margin.queries.ts';
import { missingPrices, providerPrices } from '../../projections/llmCosts/prices.queries.ts';
import {
  deliveriesOfWebhook,
  deliveryOfWebhook,
  failingSince,
  webhooksOfTenant,
} from '../../projections/webhooks/webhooks.queries.ts';
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
