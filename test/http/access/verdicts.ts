import type { Route } from '../../../src/server/routes.ts';
import { formOf } from '../support/client.ts';

/** Every kind of key that a request can come with. */
export const KINDS = [
  'none',
  'bad',
  'unknown',
  'revoked',
  'other tenant',
  'tenant',
  'service',
  'seller',
  'admin',
] as const;
export type Kind = (typeof KINDS)[number];

/** `pass`: access is not refused, whatever else is wrong with the request. */
export type Verdict = 'pass' | 'invalid_api_key' | 'admin_required' | 'tenant_mismatch';

export const TENANT = 'matrix';

/** What each route says to each kind; a route that is not here fails the spec. */
const PUBLIC = ['pass', 'pass', 'pass', 'pass', 'pass', 'pass', 'pass', 'pass', 'pass'] as const;
const no = 'invalid_api_key';
const low = 'admin_required';
const ADMIN = [no, no, no, no, low, low, low, low, 'pass'] as const;
/** What a seller key is for. */
const MONEY = [no, no, no, no, low, low, low, 'pass', 'pass'] as const;
const SERVICE = [no, no, no, no, low, low, 'pass', low, 'pass'] as const;
const OWN = [no, no, no, no, 'tenant_mismatch', 'pass', 'tenant_mismatch', low, 'pass'] as const;
const WORK = [no, no, no, no, 'tenant_mismatch', 'pass', 'pass', low, 'pass'] as const;
const ANY = [no, no, no, no, 'pass', 'pass', 'pass', low, 'pass'] as const;
/** Of the reads of any key: the only one that a sale needs. */
const ANY_OR_SELLER = [no, no, no, no, 'pass', 'pass', 'pass', 'pass', 'pass'] as const;

/** The signature of the URL is the authority: no key opens it. */
const SIGNED = Array.from({ length: KINDS.length }, () => 'tenant_mismatch' as const);

export const EXPECTED: Readonly<Record<string, readonly Verdict[]>> = {
  getHealth: PUBLIC,
  getLiveness: PUBLIC,
  getReadiness: PUBLIC,
  getMetrics: PUBLIC,
  getOpenApi: PUBLIC,
  getDocs: PUBLIC,
  getDocsAsset: PUBLIC,
  getProblemPage: PUBLIC,
  createSession: PUBLIC,
  endSession: ANY,
  finishOidc: PUBLIC,
  getSession: PUBLIC,
  startOidc: PUBLIC,
  useSignInLink: PUBLIC,
  createApiKey: ADMIN,
  listApiKeys: ADMIN,
  revokeApiKey: ADMIN,
  rotateApiKey: ADMIN,
  flushApiKeyCache: ADMIN,
  addCredits: MONEY,
  refundCredits: MONEY,
  recordDispute: MONEY,
  reverseRefund: MONEY,
  getPayment: MONEY,
  adjustCredits: ADMIN,
  transferCredits: ADMIN,
  eraseTenant: ADMIN,
  setPlan: ADMIN,
  setBillingRate: ADMIN,
  getBillingConfig: ADMIN,
  createBillingConfig: ADMIN,
  createAdminBillingConfig: ADMIN,
  getBillingConfigHistory: ADMIN,
  getAdminCreditPrices: ADMIN,
  publishCreditPrices: ADMIN,
  getRetention: ADMIN,
  setRetention: ADMIN,
  getRateLimits: ADMIN,
  setRateLimits: ADMIN,
  deleteRateLimits: ADMIN,
  flushRateLimitCache: ADMIN,
  getFxRate: ADMIN,
  getMarginReport: ADMIN,
  listClosedMonths: ADMIN,
  closeMonth: ADMIN,
  reopenMonth: ADMIN,
  listLlmCosts: ADMIN,
  getLlmCostsOfJob: ADMIN,
  createProviderPricing: ADMIN,
  listProviderPricing: ADMIN,
  getMissingPricing: ADMIN,
  getFreeTierSubsidy: ADMIN,
  getCostsByTask: ADMIN,
  getCostsByDocument: ADMIN,
  logLlmCost: SERVICE,
  setPricing: SERVICE,
  getPricing: ANY,
  getReconciliation: ADMIN,
  getServiceState: ADMIN,
  pauseReadModel: ADMIN,
  importFxRates: ADMIN,
  releaseOpenPayment: ADMIN,
  sealEventLog: ADMIN,
  resumeReadModel: ADMIN,
  retryReadModel: ADMIN,
  getUsageStats: ADMIN,
  listPayments: ADMIN,
  listOpenPayments: ADMIN,
  comparePayments: ADMIN,
  getTaxReport: ADMIN,
  getDeferredRevenue: ADMIN,
  getJournal: ADMIN,
  listTenants: ADMIN,
  listTenantLedger: OWN,
  publishFxRates: ADMIN,
  correctFxRates: ADMIN,
  listEvents: ADMIN,
  getConfig: ANY,
  getTable: ANY,
  listConfigs: OWN,
  listTables: OWN,
  listArtifacts: OWN,
  listDeployments: OWN,
  listTrainingJobs: OWN,
  startAudit: ADMIN,
  getAudit: ADMIN,
  listAudits: ADMIN,
  cancelAudit: ADMIN,
  listSeals: ADMIN,
  getBalanceAt: OWN,
  listBalancesAt: ADMIN,
  changeBudget: OWN,
  createBudget: OWN,
  listBudgets: OWN,
  removeBudget: OWN,
  listStatements: OWN,
  getStatement: OWN,
  getReceipt: ANY,
  getBillingDetails: ADMIN,
  setBillingDetails: ADMIN,
  getBalance: OWN,
  chargeExamples: OWN,
  getTrainingQuote: OWN,
  getTenantInfo: OWN,
  listUsage: OWN,
  getUsageDays: OWN,
  getUsageOfTenant: OWN,
  listGrants: OWN,
  getQuote: OWN,
  getBillingRates: ANY,
  getTopUp: [no, no, no, no, 'tenant_mismatch', 'pass', 'tenant_mismatch', 'pass', 'pass'],
  setTopUp: OWN,
  tellTopUp: MONEY,
  getCreditPrices: ANY_OR_SELLER,
  extract: WORK,
  toMarkdown: WORK,
  classify: WORK,
  split: WORK,
  ocrToMarkdown: WORK,
  canonical: WORK,
  publishConfig: ADMIN,
  revokeConfig: ADMIN,
  publishTable: ADMIN,
  removeTable: ADMIN,
  createTrainingJob: OWN,
  getTrainingJob: ANY,
  cancelTrainingJob: ANY,
  getTrainingExamples: ANY,
  getOperation: ANY,
  getRun: ANY,
  listRuns: WORK,
  getDocumentFile: ANY,
  cancelOperation: ANY,
  listOperations: WORK,
  listReviews: WORK,
  getReview: ANY,
  getReviewFile: ANY,
  leaseReview: ANY,
  releaseReview: ANY,
  decideReview: ANY,
  rejectReview: ANY,
  reopenReview: ANY,
  createEvaluationSet: WORK,
  listEvaluationSets: WORK,
  getEvaluationSet: ANY,
  getEvaluationSetExamples: ANY,
  removeEvaluationSet: ANY,
  createEvaluationRun: WORK,
  listEvaluationRuns: WORK,
  getEvaluationRun: ANY,
  getEvaluationRunDocument: ANY,
  getEvaluationRunFile: ANY,
  cancelEvaluationRun: ANY,
  createWebhook: WORK,
  listWebhooks: WORK,
  getWebhook: ANY,
  changeWebhook: ANY,
  removeWebhook: ANY,
  rotateWebhookSecret: ANY,
  listWebhookDeliveries: ANY,
  resendWebhookDelivery: ANY,
  testWebhook: ANY,
  createBatch: WORK,
  getBatch: ANY,
  getBatchResults: ANY,
  cancelBatch: ANY,
  listBatches: WORK,
  activateDeployment: OWN,
  getCurrentDeployment: OWN,
  presignUpload: WORK,
  listDocuments: WORK,
  getOutcomes: WORK,
  countPages: ANY,
  putUpload: SIGNED,
  removeUpload: ANY,
  eraseDocument: ANY,
};

const SAMPLES: Readonly<Record<string, string>> = {
  tenant_id: TENANT,
  key: 'key_of_nobody',
  asset: 'start.js',
  month: '2026-01',
  code: 'busy',
};

/** The route’s address with made-up values. */
export const pathOf = (route: Route): string => {
  // Whose data are erased loses its keys: nobody's.
  const samples = route.path.endsWith('/data') ? { ...SAMPLES, tenant_id: 'nobody-at-all' } : SAMPLES;
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => samples[name] ?? 'sample');
  return route.tenant === 'query' ? `${path}?tenant_id=${TENANT}` : path;
};

/** Enough of a request for its access to be decided; it may be wrong in any other way. */
export const inputOf = (route: Route) => {
  if (route.upload === true)
    return { form: formOf({ tenant_id: TENANT }, new Blob(['x'], { type: 'text/plain' })) };
  if (route.bytes !== undefined) return { raw: 'x' };
  if (route.body === undefined) return {};
  if (route.tenant === 'scope') return { json: { scope: { tenant_id: TENANT }, not_a_member: 1 } };
  return { json: route.tenant === 'body' ? { tenant_id: TENANT, not_a_member: 1 } : { not_a_member: 1 } };
};
