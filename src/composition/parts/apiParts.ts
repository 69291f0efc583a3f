import { claimantOf } from '../../commands/paymentClaims.ts';
import { convertDocument } from '../../commands/convert.ts';
import { extractByFields, extractDocument } from '../../commands/extract.ts';
import { refundCredits, sellCredits } from '../../commands/sales.ts';
import type { ApiDeps } from '../../http/apiDeps.ts';
import { pipelineCommands } from './pipelineParts.ts';
import { receiverPolicy, webhooksOf } from './webhookParts.ts';
import { resolve, type Container } from '../token.ts';
import * as t from '../tokens.ts';
import { sessionsOf } from './sessionParts.ts';
import { batchCommands } from './batchParts.ts';
import { operationCommands } from './operationParts.ts';
import { serviceStateOf } from './serviceStateParts.ts';
import { uploadCommands } from './uploadParts.ts';
import { workDeps } from './workParts.ts';

/** Everything that the routes call. */
export const apiDeps = (from: Container, randomBytes: (count: number) => Uint8Array): ApiDeps => {
  const parts = resolve(from, t.PARTS);
  const registry = resolve(from, t.REGISTRY);
  const work = workDeps(from);
  const uploadParts = uploadCommands(from, work);
  const pipelines = pipelineCommands(
    { ...work, documents: resolve(from, t.DOCUMENTS) },
    uploadParts,
    resolve(from, t.SECRET_BOX),
  );
  const savedConfigs = resolve(from, t.SAVED_CONFIGS);
  const sales = {
    reference: resolve(from, t.REFERENCE),
    clock: work.clock,
    payments: resolve(from, t.PAYMENTS),
    claimantOf: claimantOf(parts.log),
  };
  return {
    accounts: resolve(from, t.ACCOUNTS),
    sellCredits: sellCredits(sales),
    refundCredits: refundCredits(sales),
    reference: sales.reference,
    apiKeys: resolve(from, t.API_KEYS),
    keys: resolve(from, t.AUTHENTICATOR),
    sessions: sessionsOf(from),
    hasBootstrapAdmin: resolve(from, t.CONFIG).adminApiKey !== undefined,
    baseUrl: parts.baseUrl,
    queries: resolve(from, t.QUERIES),
    reads: resolve(from, t.READS),
    log: parts.log,
    audits: resolve(from, t.AUDITS),
    logId: () => resolve(from, t.LOG_WATCH).logId(),
    llmCosts: resolve(from, t.LLM_COSTS),
    savedConfigs,
    checkBase: work.checkBase,
    rateLimits: resolve(from, t.RATE_LIMITS),
    limits: resolve(from, t.TENANT_LIMITS),
    extract: extractByFields({ ...pipelines, savedConfigs, extract: extractDocument(work) }),
    convert: convertDocument(work),
    operations: operationCommands(from, work),
    batches: batchCommands(from, work),
    ...uploadParts,
    pipelines,
    webhooks: webhooksOf(from, randomBytes),
    webhookPolicy: receiverPolicy(from),
    health: resolve(from, t.HEALTH),
    serviceState: serviceStateOf(from),
    ready: resolve(from, t.READINESS).report,
    metrics: { contentType: registry.contentType, text: () => registry.metrics() },
    clock: resolve(from, t.CLOCK),
    randomBytes,
  };
};
