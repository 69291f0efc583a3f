import type { NamedRoute, Route } from './defineRoute.ts';
import { TAGS, type Tag } from './openapi/tags.ts';
import { activateDeployment } from './routes/training/activateDeployment.route.ts';
import { addCredits } from './routes/billing/addCredits.route.ts';
import { adjustCredits } from './routes/administration/adjustCredits.route.ts';
import { cancelTrainingJob } from './routes/training/cancelTrainingJob.route.ts';
import { cancelBatch } from './routes/documents/cancelBatch.route.ts';
import { createBatch } from './routes/documents/createBatch.route.ts';
import { getBatch } from './routes/documents/getBatch.route.ts';
import { getBatchResults } from './routes/documents/getBatchResults.route.ts';
import { listBatches } from './routes/documents/listBatches.route.ts';
import { cancelOperation } from './routes/documents/cancelOperation.route.ts';
import { canonical } from './routes/documents/canonical.route.ts';
import { chargeExamples } from './routes/billing/chargeExamples.route.ts';
import { countPages } from './routes/documents/countPages.route.ts';
import { createAdminBillingConfig } from './routes/administration/createAdminBillingConfig.route.ts';
import { createApiKey } from './routes/apiKeys/createApiKey.route.ts';
import { createBillingConfig } from './routes/billing/createBillingConfig.route.ts';
import { createProviderPricing } from './routes/modelCosts/createProviderPricing.route.ts';
import { changeWebhook } from './routes/webhooks/changeWebhook.route.ts';
import { createWebhook } from './routes/webhooks/createWebhook.route.ts';
import { getWebhook } from './routes/webhooks/getWebhook.route.ts';
import { listWebhookDeliveries } from './routes/webhooks/listWebhookDeliveries.route.ts';
import { listWebhooks } from './routes/webhooks/listWebhooks.route.ts';
import { removeWebhook } from './routes/webhooks/removeWebhook.route.ts';
import { resendWebhookDelivery } from './routes/webhooks/resendWebhookDelivery.route.ts';
import { rotateWebhookSecret } from './routes/webhooks/rotateWebhookSecret.route.ts';
import { createTrainingJob } from './routes/training/createTrainingJob.route.ts';
import { deleteRateLimits } from './routes/administration/deleteRateLimits.route.ts';
import { extract } from './routes/documents/extract.route.ts';
import { flushApiKeyCache } from './routes/apiKeys/flushApiKeyCache.route.ts';
import { flushRateLimitCache } from './routes/administration/flushRateLimitCache.route.ts';
import { getAdminCreditPrices } from './routes/administration/getAdminCreditPrices.route.ts';
import { getBalance } from './routes/billing/getBalance.route.ts';
import { getBillingConfig } from './routes/billing/getBillingConfig.route.ts';
import { getBillingConfigHistory } from './routes/administration/getBillingConfigHistory.route.ts';
import { getBillingRates } from './routes/billing/getBillingRates.route.ts';
import { getCostsByDocument } from './routes/reports/getCostsByDocument.route.ts';
import { getCostsByTask } from './routes/reports/getCostsByTask.route.ts';
import { getCreditPrices } from './routes/billing/getCreditPrices.route.ts';
import { getCurrentDeployment } from './routes/training/getCurrentDeployment.route.ts';
import { getFreeTierSubsidy } from './routes/reports/getFreeTierSubsidy.route.ts';
import { getFxRate } from './routes/administration/getFxRate.route.ts';
import { getLlmCostsOfJob } from './routes/modelCosts/getLlmCostsOfJob.route.ts';
import { getMarginReport } from './routes/reports/getMarginReport.route.ts';
import { getMissingPricing } from './routes/modelCosts/getMissingPricing.route.ts';
import { PROBES, SERVICE } from './routes/operations/service.ts';
import { getOpenApi } from './routes/operations/getOpenApi.route.ts';
import { getOperation } from './routes/documents/getOperation.route.ts';
import { getPricing } from './routes/modelCosts/getPricing.route.ts';
import { getQuote } from './routes/billing/getQuote.route.ts';
import { getRateLimits } from './routes/administration/getRateLimits.route.ts';
import { getServiceState } from './routes/administration/getServiceState.route.ts';
import { getReconciliation } from './routes/reports/getReconciliation.route.ts';
import { getTenantInfo } from './routes/billing/getTenantInfo.route.ts';
import { getTrainingExamples } from './routes/training/getTrainingExamples.route.ts';
import { getTrainingJob } from './routes/training/getTrainingJob.route.ts';
import { getTrainingQuote } from './routes/billing/getTrainingQuote.route.ts';
import { getUsageDays } from './routes/billing/getUsageDays.route.ts';
import { getUsageStats } from './routes/reports/getUsageStats.route.ts';
import { listApiKeys } from './routes/apiKeys/listApiKeys.route.ts';
import { listDocuments } from './routes/documents/listDocuments.route.ts';
import { getBalanceAt } from './routes/audit/getBalanceAt.route.ts';
import { cancelAudit } from './routes/audit/cancelAudit.route.ts';
import { getAudit } from './routes/audit/getAudit.route.ts';
import { listAudits } from './routes/audit/listAudits.route.ts';
import { listSeals } from './routes/audit/listSeals.route.ts';
import { startAudit } from './routes/audit/startAudit.route.ts';
import { getConfig } from './routes/documents/configs/getConfig.route.ts';
import { listConfigs } from './routes/documents/configs/listConfigs.route.ts';
import { listArtifacts } from './routes/training/listArtifacts.route.ts';
import { listDeployments } from './routes/training/listDeployments.route.ts';
import { listTrainingJobs } from './routes/training/listTrainingJobs.route.ts';
import { listEvents } from './routes/audit/listEvents.route.ts';
import { listGrants } from './routes/billing/listGrants.route.ts';
import { listLlmCosts } from './routes/modelCosts/listLlmCosts.route.ts';
import { listProviderPricing } from './routes/modelCosts/listProviderPricing.route.ts';
import { listOperations } from './routes/documents/listOperations.route.ts';
import { listTenantLedger } from './routes/administration/listTenantLedger.route.ts';
import { listTenants } from './routes/administration/listTenants.route.ts';
import { listUsage } from './routes/billing/listUsage.route.ts';
import { logLlmCost } from './routes/modelCosts/logLlmCost.route.ts';
import { ocrToMarkdown } from './routes/documents/ocrToMarkdown.route.ts';
import { presignUpload } from './routes/documents/presignUpload.route.ts';
import { publishConfig } from './routes/documents/configs/publishConfig.route.ts';
import { publishCreditPrices } from './routes/administration/publishCreditPrices.route.ts';
import { publishFxRates } from './routes/administration/publishFxRates.route.ts';
import { putUpload } from './routes/documents/putUpload.route.ts';
import { refundCredits } from './routes/billing/refundCredits.route.ts';
import { removeUpload } from './routes/documents/removeUpload.route.ts';
import { revokeApiKey } from './routes/apiKeys/revokeApiKey.route.ts';
import { revokeConfig } from './routes/documents/configs/revokeConfig.route.ts';
import { rotateApiKey } from './routes/apiKeys/rotateApiKey.route.ts';
import { createSession } from './routes/sessions/createSession.route.ts';
import { endSession } from './routes/sessions/endSession.route.ts';
import { finishOidc } from './routes/sessions/finishOidc.route.ts';
import { getSession } from './routes/sessions/getSession.route.ts';
import { startOidc } from './routes/sessions/startOidc.route.ts';
import { useSignInLink } from './routes/sessions/useSignInLink.route.ts';
import { setBillingRate } from './routes/billing/setBillingRate.route.ts';
import { setPlan } from './routes/administration/setPlan.route.ts';
import { setPricing } from './routes/modelCosts/setPricing.route.ts';
import { setRateLimits } from './routes/administration/setRateLimits.route.ts';
import { toMarkdown } from './routes/documents/toMarkdown.route.ts';

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
