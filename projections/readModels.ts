import { apiKeysProjector } from './apiKeys/apiKeys.projector.ts';
import { artifactsProjector } from './artifacts/artifacts.projector.ts';
import { balancesProjector } from './balances/balances.projector.ts';
import { batchesProjector } from './batches/batches.projector.ts';
import { billingConfigsProjector } from './billingConfigs/billingConfigs.projector.ts';
import { deploymentsProjector } from './deployments/deployments.projector.ts';
import { documentsProjector } from './documents/documents.projector.ts';
import type { Projector } from './engine/projector.ts';
import { grantsProjector } from './grants/grants.projector.ts';
import { ledgerProjector } from './ledger/ledger.projector.ts';
import { llmCostsProjector } from './llmCosts/llmCosts.projector.ts';
import { marginProjector } from './margin/margin.projector.ts';
import { openClaimsProjector } from './openClaims/openClaims.projector.ts';
import { operationsProjector } from './operations/operations.projector.ts';
import { priceListsProjector } from './priceLists/priceLists.projector.ts';
import { rateLimitsProjector } from './rateLimits/rateLimits.projector.ts';
import { savedConfigsProjector } from './savedConfigs/savedConfigs.projector.ts';
import { trainingJobsProjector } from './trainingJobs/trainingJobs.projector.ts';
import { usageProjector } from './usage/usage.projector.ts';
import { usageEventsProjector } from './usageEvents/usageEvents.projector.ts';
import { webhooksProjector } from './webhooks/webhooks.projector.ts';

/** All read models of the service. */
export const READ_MODELS: readonly Projector[] = [
  balancesProjector,
  ledgerProjector,
  grantsProjector,
  priceListsProjector,
  billingConfigsProjector,
  apiKeysProjector,
  documentsProjector,
  usageEventsProjector,
  openClaimsProjector,
  rateLimitsProjector,
  usageProjector,
  llmCostsProjector,
  marginProjector,
  trainingJobsProjector,
  operationsProjector,
  batchesProjector,
  artifactsProjector,
  deploymentsProjector,
  webhooksProjector,
  savedConfigsProjector,
];

/**
 * Names of read models that a release has dropped. A name that is neither here nor above belongs to a newer
 * release, and a process that finds it served stands aside.
 */
export const DROPPED_READ_MODELS: readonly string[] = [];
