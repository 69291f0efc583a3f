import { apiKeysProjector } from './apiKeys.ts';
import { artifactsProjector } from './artifacts.ts';
import { balancesProjector } from './balances.ts';
import { batchesProjector } from './batches.ts';
import { billingConfigsProjector } from './billingConfigs.ts';
import { deploymentsProjector } from './deployments.ts';
import { documentsProjector } from './documents.ts';
import type { Projector } from './engine/table.ts';
import { evaluationsProjector } from './evaluations.ts';
import { grantsProjector } from './grants.ts';
import { ledgerProjector } from './ledger.ts';
import { llmCostsProjector } from './llmCosts.ts';
import { marginProjector } from './margin.ts';
import { masterTablesProjector } from './rules/masterTables.ts';
import { openClaimsProjector } from './openClaims.ts';
import { operationsProjector } from './operations.ts';
import { paymentsProjector } from './paymentLines.ts';
import { priceListsProjector } from './billingConfigs.ts';
import { rateLimitsProjector } from './rateLimits.ts';
import { reviewsProjector } from './reviews.ts';
import { runsProjector } from './runs.ts';
import { savedConfigsProjector } from './savedConfigs.ts';
import { trainingJobsProjector } from './trainingJobs.ts';
import { usageProjector } from './usage.ts';
import { usageEventsProjector } from './usageEvents.ts';
import { usageStatsProjector } from './usageStats.ts';
import { webhooksProjector } from './webhooks.ts';

/** All read models of the service. */
export const READ_MODELS: readonly Projector[] = [
  balancesProjector,
  ledgerProjector,
  grantsProjector,
  paymentsProjector,
  priceListsProjector,
  billingConfigsProjector,
  apiKeysProjector,
  documentsProjector,
  usageEventsProjector,
  runsProjector,
  openClaimsProjector,
  rateLimitsProjector,
  usageProjector,
  usageStatsProjector,
  llmCostsProjector,
  marginProjector,
  trainingJobsProjector,
  operationsProjector,
  batchesProjector,
  evaluationsProjector,
  artifactsProjector,
  deploymentsProjector,
  webhooksProjector,
  savedConfigsProjector,
  masterTablesProjector,
  reviewsProjector,
];

/**
 * Names of read models that a release has dropped. A name that is neither here nor above belongs to a newer
 * release, and a process that finds it served stands aside.
 */
export const DROPPED_READ_MODELS: readonly string[] = [];
