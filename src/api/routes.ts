import type { NamedRoute, Route } from '../server/routes.ts';
import { type Tag, TAGS } from '../server/openapi.ts';
import {
  activateDeployment,
  getCurrentDeployment,
  listArtifacts,
  listDeployments,
  type DeploymentsDeps,
} from './deployments.ts';
import { getPayment, recordDispute, reverseRefund, type ReversalsDeps } from './money/reversals.ts';
import { addCredits, adjustCredits, listGrants, refundCredits, type CreditsDeps } from './money/credits.ts';
import {
  cancelTrainingJob,
  chargeExamples,
  createTrainingJob,
  getTrainingExamples,
  getTrainingJob,
  listTrainingJobs,
  type TrainingDeps,
} from './training.ts';
import {
  cancelBatch,
  createBatch,
  getBatch,
  getBatchResults,
  listBatches,
  type BatchesDeps,
} from './batches.ts';
import { cancelOperation, getOperation, listOperations, type OperationsDeps } from './operations.ts';
import { canonical, type CanonicalDeps } from './canonical.ts';
import {
  countPages,
  getDocumentFile,
  listDocuments,
  getOutcomes,
  presignUpload,
  putUpload,
  eraseDocument,
  eraseTenant,
  removeUpload,
  type DocumentsDeps,
} from './documents.ts';
import {
  closeMonth,
  getReconciliation,
  listClosedMonths,
  reopenMonth,
  type BooksDeps,
} from './money/books.ts';
import {
  createAdminBillingConfig,
  createBillingConfig,
  getBillingConfig,
  getBillingConfigHistory,
  getBillingRates,
  getQuote,
  getTrainingQuote,
  setBillingRate,
  type BillingConfigDeps,
} from './money/billingConfig.ts';
import { changeBudget, createBudget, listBudgets, removeBudget, type BudgetsDeps } from './money/budgets.ts';
import { getBillingDetails, setBillingDetails, type BillingDetailsDeps } from './money/billingDetails.ts';
import { getTopUp, setTopUp, tellTopUp, type TopUpDeps } from './money/topUp.ts';
import { getReceipt, type ReceiptsDeps } from './money/receipts.ts';
import { getStatement, listStatements, type StatementsDeps } from './money/statements.ts';
import {
  createApiKey,
  flushApiKeyCache,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
  type ApiKeysDeps,
} from './apiKeys.ts';
import {
  createProviderPricing,
  getLlmCostsOfJob,
  getMissingPricing,
  getPricing,
  listLlmCosts,
  listProviderPricing,
  logLlmCost,
  setPricing,
  type ModelCostsDeps,
} from './money/modelCosts.ts';
import {
  changeWebhook,
  createWebhook,
  getWebhook,
  listWebhookDeliveries,
  listWebhooks,
  removeWebhook,
  resendWebhookDelivery,
  rotateWebhookSecret,
  testWebhook,
  type WebhooksDeps,
} from './webhooks.ts';
import {
  decideReview,
  getReview,
  getReviewFile,
  leaseReview,
  listReviews,
  releaseReview,
  rejectReview,
  reopenReview,
  type ReviewsDeps,
} from './reviews.ts';
import {
  deleteRateLimits,
  flushRateLimitCache,
  getRateLimits,
  setRateLimits,
  type RateLimitsDeps,
} from './rateLimits.ts';
import { getRetention, setRetention, type RetentionDeps } from './retention.ts';
import { classify, split, type SortingDeps } from './sorting.ts';
import { extract, ocrToMarkdown, toMarkdown } from './work.ts';
import {
  getAdminCreditPrices,
  getCreditPrices,
  getFxRate,
  publishCreditPrices,
  correctFxRates,
  importFxRates,
  publishFxRates,
  type PricesDeps,
} from './money/prices.ts';
import {
  getBalance,
  getTenantInfo,
  getUsageDays,
  listTenantLedger,
  listUsage,
  type AccountsDeps,
} from './money/accounts.ts';
import { getUsageOfTenant, type UsageStatsDeps } from './money/usageStats.ts';
import {
  getCostsByDocument,
  getCostsByTask,
  getFreeTierSubsidy,
  getMarginReport,
  getUsageStats,
  type ReportsDeps,
} from './money/reports.ts';
import { getDeferredRevenue, getJournal, type JournalDeps } from './money/journal.ts';
import { listTenants, setPlan, type TenantsDeps, transferCredits } from './tenants.ts';
import { comparePayments, getTaxReport, listPayments, type PaymentsDeps } from './money/payments.ts';
import { pauseReadModel, type ReadModelDeps, resumeReadModel, retryReadModel } from './readModels.ts';
import { listOpenPayments, type OpenPaymentsDeps, releaseOpenPayment } from './money/openPayments.ts';
import { getOpenApi, getServiceState, PROBES, SERVICE, type ServiceDeps } from './service.ts';
import {
  cancelAudit,
  getAudit,
  getBalanceAt,
  listBalancesAt,
  listAudits,
  listEvents,
  listSeals,
  sealEventLog,
  startAudit,
  type AuditsDeps,
} from './audits.ts';
import {
  cancelEvaluationRun,
  createEvaluationRun,
  getEvaluationRun,
  getEvaluationRunDocument,
  getEvaluationRunFile,
  listEvaluationRuns,
  type EvaluationsDeps,
} from './evaluations.ts';
import {
  createEvaluationSet,
  getEvaluationSet,
  getEvaluationSetExamples,
  listEvaluationSets,
  removeEvaluationSet,
  type EvaluationSetsDeps,
} from './evaluationSets.ts';
import { getRun, listRuns, type RunsDeps } from './runs.ts';
import { getTable, listTables, publishTable, removeTable, type TablesDeps } from './masterTables.ts';
import { getConfig, listConfigs, publishConfig, revokeConfig, type ConfigsDeps } from './configs.ts';
import {
  createSession,
  endSession,
  finishOidc,
  getSession,
  startOidc,
  useSignInLink,
  type SessionsDeps,
} from './sessions.ts';

/** What all routes need. */
export type ApiDeps = AccountsDeps &
  UsageStatsDeps &
  ApiKeysDeps &
  AuditsDeps &
  BatchesDeps &
  BillingConfigDeps &
  BillingDetailsDeps &
  BooksDeps &
  BudgetsDeps &
  CanonicalDeps &
  ConfigsDeps &
  TablesDeps &
  CreditsDeps &
  ReversalsDeps &
  TopUpDeps &
  DeploymentsDeps &
  DocumentsDeps &
  EvaluationsDeps &
  EvaluationSetsDeps &
  JournalDeps &
  ModelCostsDeps &
  OperationsDeps &
  PaymentsDeps &
  OpenPaymentsDeps &
  PricesDeps &
  RateLimitsDeps &
  RetentionDeps &
  ReceiptsDeps &
  ReportsDeps &
  ReviewsDeps &
  RunsDeps &
  ServiceDeps &
  ReadModelDeps &
  SessionsDeps &
  StatementsDeps &
  TenantsDeps &
  TrainingDeps &
  WebhooksDeps &
  SortingDeps;

/** Every route of the interface, by its part of it. */
const ROUTES: Readonly<Record<Tag, Readonly<Record<string, Route<ApiDeps>>>>> = {
  Documents: {
    canonical,
    classify,
    countPages,
    extract,
    getConfig,
    listConfigs,
    ocrToMarkdown,
    publishConfig,
    revokeConfig,
    getTable,
    listTables,
    publishTable,
    removeTable,
    split,
    toMarkdown,
  },
  Uploads: {
    getDocumentFile,
    listDocuments,
    getOutcomes,
    presignUpload,
    putUpload,
    eraseDocument,
    removeUpload,
  },
  Operations: {
    cancelBatch,
    cancelOperation,
    createBatch,
    getBatch,
    getBatchResults,
    getOperation,
    getRun,
    listBatches,
    listOperations,
    listRuns,
  },
  Reviews: {
    decideReview,
    getReview,
    getReviewFile,
    leaseReview,
    listReviews,
    releaseReview,
    rejectReview,
    reopenReview,
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
    testWebhook,
  },
  Billing: {
    addCredits,
    changeBudget,
    createBudget,
    listBudgets,
    removeBudget,
    chargeExamples,
    createBillingConfig,
    getBalance,
    getBillingConfig,
    getBillingRates,
    getCreditPrices,
    getQuote,
    getPayment,
    getReceipt,
    getStatement,
    getTenantInfo,
    getTopUp,
    getTrainingQuote,
    getUsageDays,
    getUsageOfTenant,
    listGrants,
    listStatements,
    listUsage,
    refundCredits,
    recordDispute,
    reverseRefund,
    setBillingRate,
    setTopUp,
    tellTopUp,
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
  Evaluations: {
    cancelEvaluationRun,
    createEvaluationRun,
    createEvaluationSet,
    getEvaluationRun,
    getEvaluationRunDocument,
    getEvaluationRunFile,
    getEvaluationSet,
    getEvaluationSetExamples,
    listEvaluationRuns,
    listEvaluationSets,
    removeEvaluationSet,
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
    transferCredits,
    createAdminBillingConfig,
    createApiKey,
    createProviderPricing,
    deleteRateLimits,
    eraseTenant,
    flushApiKeyCache,
    flushRateLimitCache,
    getAdminCreditPrices,
    getBillingConfigHistory,
    getBillingDetails,
    getFxRate,
    getRateLimits,
    getRetention,
    getServiceState,
    pauseReadModel,
    resumeReadModel,
    retryReadModel,
    listApiKeys,
    listProviderPricing,
    listTenantLedger,
    listTenants,
    publishCreditPrices,
    correctFxRates,
    importFxRates,
    publishFxRates,
    revokeApiKey,
    rotateApiKey,
    setBillingDetails,
    setPlan,
    setPricing,
    setRateLimits,
    setRetention,
  },
  Reports: {
    closeMonth,
    comparePayments,
    getCostsByDocument,
    getCostsByTask,
    getDeferredRevenue,
    getFreeTierSubsidy,
    getJournal,
    getLlmCostsOfJob,
    getMarginReport,
    getMissingPricing,
    getPricing,
    getReconciliation,
    getTaxReport,
    getUsageStats,
    listClosedMonths,
    listLlmCosts,
    releaseOpenPayment,
    listOpenPayments,
    listPayments,
    logLlmCost,
    reopenMonth,
  },
  Audit: {
    cancelAudit,
    getAudit,
    getBalanceAt,
    listBalancesAt,
    listAudits,
    listEvents,
    sealEventLog,
    listSeals,
    startAudit,
  },
  Service: SERVICE,
};

const named = (tag: Tag, routes: Readonly<Record<string, Route<ApiDeps>>>): readonly NamedRoute<ApiDeps>[] =>
  Object.entries(routes).map(([operationId, route]) => ({ ...route, operationId, tag }));

const ALL = TAGS.flatMap(({ name }) => named(name, ROUTES[name])).sort((a, b) =>
  a.operationId < b.operationId ? -1 : 1,
);

/** The table of all routes: what the server, the reference and the specs read. */
export const apiRoutes: readonly NamedRoute<ApiDeps>[] = [
  ...ALL,
  ...named('Service', { getOpenApi: getOpenApi(() => apiRoutes) }),
];

/** Health and metrics alone: what a process without the role `api` answers. */
export const operationRoutes: readonly NamedRoute<ApiDeps>[] = named('Service', {
  ...PROBES,
});
