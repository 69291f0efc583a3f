import type { ApiDeps } from './apiDeps.ts';
import type { Route } from './defineRoute.ts';
import { activateDeployment } from './routes/activateDeployment.route.ts';
import { addCredits } from './routes/addCredits.route.ts';
import { adjustCredits } from './routes/adjustCredits.route.ts';
import { cancelTrainingJob } from './routes/cancelTrainingJob.route.ts';
import { canonical } from './routes/canonical.route.ts';
import { chargeExamples } from './routes/chargeExamples.route.ts';
import { countPages } from './routes/countPages.route.ts';
import { createAdminBillingConfig } from './routes/createAdminBillingConfig.route.ts';
import { createApiKey } from './routes/createApiKey.route.ts';
import { createBillingConfig } from './routes/createBillingConfig.route.ts';
import { createProviderPricing } from './routes/createProviderPricing.route.ts';
import { createTrainingJob } from './routes/createTrainingJob.route.ts';
import { deleteRateLimits } from './routes/deleteRateLimits.route.ts';
import { extract } from './routes/extract.route.ts';
import { flushApiKeyCache } from './routes/flushApiKeyCache.route.ts';
import { flushRateLimitCache } from './routes/flushRateLimitCache.route.ts';
import { getAdminCreditPrices } from './routes/getAdminCreditPrices.route.ts';
import { getBalance } from './routes/getBalance.route.ts';
import { getBillingConfig } from './routes/getBillingConfig.route.ts';
import { getBillingConfigHistory } from './routes/getBillingConfigHistory.route.ts';
import { getBillingRates } from './routes/getBillingRates.route.ts';
import { getCostsByDocument } from './routes/getCostsByDocument.route.ts';
import { getCostsByTask } from './routes/getCostsByTask.route.ts';
import { getCreditPrices } from './routes/getCreditPrices.route.ts';
import { getCurrentDeployment } from './routes/getCurrentDeployment.route.ts';
import { getDocs } from './routes/getDocs.route.ts';
import { getDocsAsset } from './routes/getDocsAsset.route.ts';
import { getFreeTierSubsidy } from './routes/getFreeTierSubsidy.route.ts';
import { getFxRate } from './routes/getFxRate.route.ts';
import { getHealth } from './routes/getHealth.route.ts';
import { getLlmCostsOfJob } from './routes/getLlmCostsOfJob.route.ts';
import { getLiveness } from './routes/getLiveness.route.ts';
import { getMarginReport } from './routes/getMarginReport.route.ts';
import { getMetrics } from './routes/getMetrics.route.ts';
import { getMissingPricing } from './routes/getMissingPricing.route.ts';
import { getOpenApi } from './routes/getOpenApi.route.ts';
import { getPricing } from './routes/getPricing.route.ts';
import { getProblemPage } from './routes/getProblemPage.route.ts';
import { getQuote } from './routes/getQuote.route.ts';
import { getRateLimits } from './routes/getRateLimits.route.ts';
import { getReadiness } from './routes/getReadiness.route.ts';
import { getReconciliation } from './routes/getReconciliation.route.ts';
import { getTenantInfo } from './routes/getTenantInfo.route.ts';
import { getTrainingExamples } from './routes/getTrainingExamples.route.ts';
import { getTrainingJob } from './routes/getTrainingJob.route.ts';
import { getTrainingQuote } from './routes/getTrainingQuote.route.ts';
import { getUsageStats } from './routes/getUsageStats.route.ts';
import { listApiKeys } from './routes/listApiKeys.route.ts';
import { listDocuments } from './routes/listDocuments.route.ts';
import { listGrants } from './routes/listGrants.route.ts';
import { listLlmCosts } from './routes/listLlmCosts.route.ts';
import { listProviderPricing } from './routes/listProviderPricing.route.ts';
import { listTenantLedger } from './routes/listTenantLedger.route.ts';
import { listTenants } from './routes/listTenants.route.ts';
import { listUsage } from './routes/listUsage.route.ts';
import { logLlmCost } from './routes/logLlmCost.route.ts';
import { ocrToMarkdown } from './routes/ocrToMarkdown.route.ts';
import { presignUpload } from './routes/presignUpload.route.ts';
import { publishConfig } from './routes/publishConfig.route.ts';
import { publishCreditPrices } from './routes/publishCreditPrices.route.ts';
import { publishFxRates } from './routes/publishFxRates.route.ts';
import { putUpload } from './routes/putUpload.route.ts';
import { refundCredits } from './routes/refundCredits.route.ts';
import { removeUpload } from './routes/removeUpload.route.ts';
import { revokeApiKey } from './routes/revokeApiKey.route.ts';
import { revokeConfig } from './routes/revokeConfig.route.ts';
import { rotateApiKey } from './routes/rotateApiKey.route.ts';
import { setBillingRate } from './routes/setBillingRate.route.ts';
import { setPlan } from './routes/setPlan.route.ts';
import { setPricing } from './routes/setPricing.route.ts';
import { setRateLimits } from './routes/setRateLimits.route.ts';
import { toMarkdown } from './routes/toMarkdown.route.ts';

/** Every route of the interface, with what it calls to be given. */
const ROUTES: readonly ((deps: ApiDeps) => Route)[] = [
  activateDeployment,
  addCredits,
  adjustCredits,
  cancelTrainingJob,
  canonical,
  chargeExamples,
  countPages,
  createAdminBillingConfig,
  createApiKey,
  createBillingConfig,
  createProviderPricing,
  createTrainingJob,
  deleteRateLimits,
  extract,
  flushApiKeyCache,
  flushRateLimitCache,
  getAdminCreditPrices,
  getBalance,
  getBillingConfig,
  getBillingConfigHistory,
  getBillingRates,
  getCostsByDocument,
  getCostsByTask,
  getCreditPrices,
  getCurrentDeployment,
  getFreeTierSubsidy,
  getFxRate,
  getHealth,
  getLiveness,
  getReadiness,
  getLlmCostsOfJob,
  getMarginReport,
  getMetrics,
  getMissingPricing,
  getPricing,
  getQuote,
  getRateLimits,
  getReconciliation,
  getTenantInfo,
  getTrainingExamples,
  getTrainingJob,
  getTrainingQuote,
  getUsageStats,
  listApiKeys,
  listDocuments,
  listGrants,
  listLlmCosts,
  listProviderPricing,
  listTenantLedger,
  listTenants,
  listUsage,
  logLlmCost,
  ocrToMarkdown,
  presignUpload,
  publishConfig,
  publishCreditPrices,
  publishFxRates,
  putUpload,
  refundCredits,
  removeUpload,
  revokeApiKey,
  revokeConfig,
  rotateApiKey,
  setBillingRate,
  setPlan,
  setPricing,
  setRateLimits,
  toMarkdown,
  getDocs,
  getDocsAsset,
  getProblemPage,
];

/** The table of all routes: what the server, the reference and the specs read. */
export const apiRoutes = (deps: ApiDeps): readonly Route[] => {
  const routes = ROUTES.map((route) => route(deps));
  return [...routes, getOpenApi(routes)];
};

/** Health and metrics alone: what a process without the role `api` answers. */
export const operationRoutes = (deps: ApiDeps): readonly Route[] =>
  [getHealth, getLiveness, getReadiness, getMetrics].map((route) => route(deps));
