import type { NamedRoute, Route } from '../server/routes.ts';
import { type Tag, TAGS } from '../server/openapi.ts';
import { activateDeployment, getCurrentDeployment, listArtifacts, listDeployments } from './deployments.ts';
import { addCredits, adjustCredits, listGrants, refundCredits } from './credits.ts';
import {
  cancelTrainingJob,
  chargeExamples,
  createTrainingJob,
  getTrainingExamples,
  getTrainingJob,
  listTrainingJobs,
} from './training.ts';
import { cancelBatch, createBatch, getBatch, getBatchResults, listBatches } from './batches.ts';
import { cancelOperation, getOperation, listOperations } from './operations.ts';
import { canonical } from './canonical.ts';
import { countPages, listDocuments, presignUpload, putUpload, removeUpload } from './documents.ts';
import {
  createAdminBillingConfig,
  createBillingConfig,
  getBillingConfig,
  getBillingConfigHistory,
  getBillingRates,
  getQuote,
  getTrainingQuote,
  setBillingRate,
} from './billingConfig.ts';
import { createApiKey, flushApiKeyCache, listApiKeys, revokeApiKey, rotateApiKey } from './apiKeys.ts';
import {
  createProviderPricing,
  getLlmCostsOfJob,
  getMissingPricing,
  getPricing,
  listLlmCosts,
  listProviderPricing,
  logLlmCost,
  setPricing,
} from './modelCosts.ts';
import {
  changeWebhook,
  createWebhook,
  getWebhook,
  listWebhookDeliveries,
  listWebhooks,
  removeWebhook,
  resendWebhookDelivery,
  rotateWebhookSecret,
} from './webhooks.ts';
import { deleteRateLimits, flushRateLimitCache, getRateLimits, setRateLimits } from './rateLimits.ts';
import { extract, ocrToMarkdown, toMarkdown } from './work.ts';
import {
  getAdminCreditPrices,
  getCreditPrices,
  getFxRate,
  publishCreditPrices,
  publishFxRates,
} from './prices.ts';
import {
  getBalance,
  getReconciliation,
  getTenantInfo,
  getUsageDays,
  listTenantLedger,
  listTenants,
  listUsage,
  setPlan,
} from './accounts.ts';
import {
  getCostsByDocument,
  getCostsByTask,
  getFreeTierSubsidy,
  getMarginReport,
  getUsageStats,
} from './reports.ts';
import { getOpenApi, getServiceState, PROBES, SERVICE } from './service.ts';
import {
  cancelAudit,
  getAudit,
  getBalanceAt,
  listAudits,
  listEvents,
  listSeals,
  startAudit,
} from './audits.ts';
import { getConfig, listConfigs, publishConfig, revokeConfig } from './configs.ts';
import { createSession, endSession, finishOidc, getSession, startOidc, useSignInLink } from './sessions.ts';

/** Every route of the interface, by its part of it. */
const ROUTES: Readonly<Record<Tag, Readonly<Record<string, Route>>>> = {
  Documents: {
    canonical,
    countPages,
    extract,
    getConfig,
    listConfigs,
    ocrToMarkdown,
    publishConfig,
    revokeConfig,
    toMarkdown,
  },
  Uploads: {
    listDocuments,
    presignUpload,
    putUpload,
    removeUpload,
  },
  Operations: {
    cancelBatch,
    cancelOperation,
    createBatch,
    getBatch,
    getBatchResults,
    getOperation,
    listBatches,
    listOperations,
  },
  Webhooks: {
    changeWebhook,
    createWebhook,
    getWebhook,
    listWebhookDeliveries,
    listWebhooks,
    removeWebhook,
    resendWebhookDelivery,
    rotateWebhookSecret,
  },
  Billing: {
    addCredits,
    chargeExamples,
    createBillingConfig,
    getBalance,
    getBillingConfig,
    getBillingRates,
    getCreditPrices,
    getQuote,
    getTenantInfo,
    getTrainingQuote,
    getUsageDays,
    listGrants,
    listUsage,
    refundCredits,
    setBillingRate,
  },
  Pipelines: {
    activateDeployment,
    cancelTrainingJob,
    createTrainingJob,
    getCurrentDeployment,
    getTrainingExamples,
    getTrainingJob,
    listArtifacts,
    listDeployments,
    listTrainingJobs,
  },
  Sessions: {
    createSession,
    endSession,
    finishOidc,
    getSession,
    startOidc,
    useSignInLink,
  },
  Administration: {
    adjustCredits,
    createAdminBillingConfig,
    createApiKey,
    createProviderPricing,
    deleteRateLimits,
    flushApiKeyCache,
    flushRateLimitCache,
    getAdminCreditPrices,
    getBillingConfigHistory,
    getFxRate,
    getRateLimits,
    getServiceState,
    listApiKeys,
    listProviderPricing,
    listTenantLedger,
    listTenants,
    publishCreditPrices,
    publishFxRates,
    revokeApiKey,
    rotateApiKey,
    setPlan,
    setPricing,
    setRateLimits,
  },
  Reports: {
    getCostsByDocument,
    getCostsByTask,
    getFreeTierSubsidy,
    getLlmCostsOfJob,
    getMarginReport,
    getMissingPricing,
    getPricing,
    getReconciliation,
    getUsageStats,
    listLlmCosts,
    logLlmCost,
  },
  Audit: {
    cancelAudit,
    getAudit,
    getBalanceAt,
    listAudits,
    listEvents,
    listSeals,
    startAudit,
  },
  Service: SERVICE,
};

const named = (tag: Tag, routes: Readonly<Record<string, Route>>): readonly NamedRoute[] =>
  Object.entries(routes).map(([operationId, route]) => ({ ...route, operationId, tag }));

const ALL = TAGS.flatMap(({ name }) => named(name, ROUTES[name])).sort((a, b) =>
  a.operationId < b.operationId ? -1 : 1,
);

/** The table of all routes: what the server, the reference and the specs read. */
export const apiRoutes: readonly NamedRoute[] = [
  ...ALL,
  ...named('Service', { getOpenApi: getOpenApi(() => apiRoutes) }),
];

/** Health and metrics alone: what a process without the role `api` answers. */
export const operationRoutes: readonly NamedRoute[] = named('Service', {
  ...PROBES,
});
