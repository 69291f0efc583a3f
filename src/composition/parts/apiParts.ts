import { claimantOf } from '../../commands/paymentClaims.ts';
import { convertDocument } from '../../commands/convert.ts';
import { extractByFields, extractDocument } from '../../commands/extract.ts';
import { refundCredits, sellCredits } from '../../commands/sales.ts';
import type { ApiDeps } from '../../http/apiDeps.ts';
import { pipelineCommands } from './pipelineParts.ts';
import { receiverPolicy, webhooksOf } from './webhookParts.ts';
import type { Context } from '../context.ts';
import { sessionsOf } from './sessionParts.ts';
import { batchCommands } from './batchParts.ts';
import { operationCommands } from './operationParts.ts';
import { serviceStateOf } from './serviceStateParts.ts';
import { uploadCommands } from './uploadParts.ts';
import { workDeps } from './workParts.ts';

/** Everything that the routes call. */
export const apiDeps = (from: Context, randomBytes: (count: number) => Uint8Array): ApiDeps => {
  const parts = from.parts;
  const registry = from.registry;
  const work = workDeps(from);
  const uploadParts = uploadCommands(from, work);
  const pipelines = pipelineCommands({ ...work, documents: from.documents }, uploadParts, from.secretBox);
  const savedConfigs = from.savedConfigs;
  const sales = {
    reference: from.reference,
    clock: work.clock,
    payments: from.payments,
    claimantOf: claimantOf(parts.log),
  };
  return {
    accounts: from.accounts,
    sellCredits: sellCredits(sales),
    refundCredits: refundCredits(sales),
    reference: sales.reference,
    apiKeys: from.apiKeys,
    keys: from.authenticator,
    sessions: sessionsOf(from),
    hasBootstrapAdmin: from.config.adminApiKey !== undefined,
    baseUrl: parts.baseUrl,
    queries: from.queries,
    reads: from.reads,
    log: parts.log,
    audits: from.audits,
    logId: () => from.logWatch.logId(),
    llmCosts: from.llmCosts,
    savedConfigs,
    checkBase: work.checkBase,
    rateLimits: from.rateLimits,
    limits: from.tenantLimits,
    extract: extractByFields({ ...pipelines, savedConfigs, extract: extractDocument(work) }),
    convert: convertDocument(work),
    operations: operationCommands(from, work),
    batches: batchCommands(from, work),
    ...uploadParts,
    pipelines,
    webhooks: webhooksOf(from, randomBytes),
    webhookPolicy: receiverPolicy(from),
    health: from.health,
    serviceState: serviceStateOf(from),
    ready: from.readiness.report,
    metrics: { contentType: registry.contentType, text: () => registry.metrics() },
    clock: from.clock,
    randomBytes,
  };
};
