import { balanceRows } from './balanceRows.ts';
import { batchRows } from './batchRows.ts';
import type { ExpectedModel } from './expectedRows.ts';
import { grantRows, openClaimRows } from './grantRows.ts';
import { ledgerRows } from './ledgerRows.ts';
import { llmCostRows } from './llmCostRows.ts';
import {
  apiKeyRows,
  billingConfigRows,
  priceListRows,
  rateLimitRows,
  savedConfigRows,
} from './referenceRows.ts';
import { marginRows } from './marginRows.ts';
import { operationRows } from './operationRows.ts';
import { artifactRows, deploymentRows, trainingJobRows } from './pipelineRows.ts';
import { usageRows } from './usageRows.ts';
import { webhookRows } from './webhookRows.ts';
import { documentRows, usageEventRows } from './workRows.ts';

/** What the auditor expects of each read model. */
export const EXPECTED_MODELS: readonly ExpectedModel[] = [
  balanceRows,
  ledgerRows,
  grantRows,
  priceListRows,
  billingConfigRows,
  apiKeyRows,
  documentRows,
  usageEventRows,
  openClaimRows,
  rateLimitRows,
  usageRows,
  llmCostRows,
  marginRows,
  trainingJobRows,
  operationRows,
  batchRows,
  artifactRows,
  deploymentRows,
  webhookRows,
  savedConfigRows,
];
