import { expect } from 'chai';
import { formOf, INVOICE, INVOICE_SCHEMA, type Reply } from '../support/client.ts';
import { until } from '../../../engine/test/support/until.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { presigned, put } from '../documents/uploads.suite.ts';
import { ADMIN_KEY } from '../../support/serviceProcess.ts';
import type { Example, Examples } from '../../../src/server/openapi.ts';
import { steady } from './steady.ts';
import { payoutFile, ratesFile, vendorsFile } from './files.ts';
import { claimAndDie } from '../support/openClaim.ts';
import { shownAudit, shownSeal } from './shownAudit.ts';
import { reviewIdOf } from '../../../domain/review.ts';
import { workerOver } from '../../support/apiWorker.ts';

interface Sent {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  readonly json?: unknown;
  /** Fields of a form, beside its file. */
  readonly form?: Readonly<Record<string, string>>;
  /** Left out: the invoice. */
  readonly file?: { readonly name: string; readonly blob: Blob };
}

const TENANT = 'acme';
/** The day before, so that the age of a sale's rate is the same at each run. */
const RATE_DAY = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
const SCHEMA = JSON.parse(INVOICE_SCHEMA) as object;

const addressOf = (pattern: string, { path = {}, query = {} }: Sent): string => {
  const at = pattern.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) search.append(name, String(one));
  return search.size === 0 ? at : `${at}?${search.toString()}`;
};

const exampleOf = ({ path, query, json, form, file }: Sent, reply: Reply): Example => {
  const body = form === undefined ? json : { ...form, file: `(the bytes of ${file?.name ?? 'invoice.txt'})` };
  const isJson = reply.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    ...((path ?? query) !== undefined && { parameters: { ...path, ...query } }),
    ...(body !== undefined && { body }),
    status: reply.status,
    ...(isJson && { answer: reply.body }),
  };
};

/** One customer's and one operator's way through every operation, in an order in which each can succeed. */
export class Walk {
  readonly #api: TestApi;
  readonly examples: Record<string, Example> = {};

  constructor(api: TestApi) {
    this.#api = api;
  }

  /** Calls an operation by its name and keeps what was sent and answered. */
  async call(operationId: string, sent: Sent = {}): Promise<Reply> {
    const route = this.#api.routes.find((one) => one.operationId === operationId);
    if (route === undefined) throw new Error(`there is no operation ${operationId}`);
    // However long the walk takes, the replica is alive.
    if (operationId === 'getServiceState') await this.#api.signOfLife();
    const { json, form, file } = sent;
    const reply = await this.#api.call(route.method, addressOf(route.path, sent), {
      ...(json !== undefined && { json }),
      ...(form !== undefined && { form: formOf(form, file?.blob ?? INVOICE, file?.name) }),
    });
    expect(reply.status, `${operationId}: ${reply.text}`).to.be.below(300);
    this.examples[operationId] = exampleOf(sent, reply);
    return reply;
  }

  async upload(): Promise<ReturnType<typeof presigned>> {
    const json = { tenant_id: TENANT, file_name: 'invoice.txt', content_type: 'text/plain' };
    const target = presigned(await this.call('presignUpload', { json }));
    const sent = await put(target.url, await INVOICE.text(), target.headers);
    expect(sent.status, sent.text).to.equal(200);
    const query = Object.fromEntries(new URL(target.url).searchParams);
    this.examples['putUpload'] = {
      parameters: { document_id: target.document_id, ...query },
      status: sent.status,
    };
    return target;
  }

  /** A tenant that leaves: it has a key, and nothing else. */
  async leaver(): Promise<string> {
    await this.#api.newKey('globex');
    return 'globex';
  }

  /** An extraction that waits for the worker. Gives its ID. */
  async accepted(fields: Readonly<Record<string, string>>): Promise<string> {
    const headers = { prefer: 'respond-async' };
    const reply = await this.#api.call('post', '/v1/extract', { form: formOf(fields, INVOICE), headers });
    if (reply.status !== 202) throw new Error(reply.text);
    await this.#api.deps.reads.settleAll();
    return String(reply.body['operation_id']);
  }

  /** A run that is scored, and one that waits still. */
  async measured(json: object): Promise<{ readonly run_id: string; readonly left: string }> {
    const run_id = String((await this.call('createEvaluationRun', { json })).body['run_id']);
    const { batches, operations, evaluations, deps } = this.#api;
    await until(async () => {
      await batches.look();
      await operations.drain();
      await deps.reads.settleAll();
      return (await evaluations.look()) > 0;
    });
    await deps.reads.settleAll();
    const left = await this.#api.call('post', '/v1/evaluations/runs', { json });
    return { run_id, left: String(left.body['run_id']) };
  }

  async trained(job_id: string): Promise<Reply> {
    await this.#api.deps.reads.settleAll();
    await workerOver(this.#api).drain();
    return this.call('getTrainingJob', { path: { job_id } });
  }
}

const tenant = { path: { tenant_id: TENANT } };

const sell = async (walk: Walk): Promise<void> => {
  await walk.call('publishCreditPrices', {
    json: { entries: [{ currency: 'EUR', price_per_1000_credits: '1.00' }], note: 'Prices of 2026' },
  });
  await walk.call('getCreditPrices');
  await walk.call('getAdminCreditPrices');
  await walk.call('publishFxRates', {
    json: { date: RATE_DAY, base: 'EUR', rates: { USD: '1.1632' }, source: 'ECB' },
  });
  await walk.call('correctFxRates', {
    json: { currency: 'EUR', rate_date: RATE_DAY, fx_rate_to_usd: '1.1632', reason: 'Mistyped' },
  });
  await walk.call('importFxRates', { form: {}, file: ratesFile() });
  await walk.call('getFxRate', { query: { base: 'EUR', quote: 'USD', on: RATE_DAY } });
  await walk.call('addCredits', {
    json: {
      tenant_id: TENANT,
      provider: 'stripe',
      provider_txn_id: 'pi_3QK9',
      credits: 100_000,
      bonus_credits: 5_000,
      currency: 'EUR',
      gross_amount_minor: 11_900,
      vat_amount_minor: 1_900,
      tax_rate: '19',
      tax_country: 'DE',
      provider_fee_minor: 195,
      invoice_ref: 'R-2026-0017',
    },
  });
};

const batchOf = async (walk: Walk, file_uris: readonly string[]): Promise<void> => {
  const reply = await walk.call('createBatch', { json: { tenant_id: TENANT, file_uris, schema: SCHEMA } });
  const path = { batch_id: String(reply.body['batch_id']) };
  await walk.call('getBatch', { path });
  await walk.call('getBatchResults', { path });
  await walk.call('listBatches', { query: { tenant_id: TENANT } });
  await walk.call('cancelBatch', { path });
};

const lookAtResults = async (walk: Walk, api: TestApi): Promise<void> => {
  const operation_id = await walk.accepted({
    tenant_id: TENANT,
    schema: INVOICE_SCHEMA,
    mode: 'fast',
    review: '{"below": 1}',
  });
  await until(async () => {
    await api.operations.drain();
    return (await api.deps.operations.streams.stateOf(operation_id)).success !== null;
  });
  const path = { review_id: reviewIdOf(operation_id) };
  const listed = async () =>
    (await walk.call('listReviews', { query: { tenant_id: TENANT, status: 'open' } })).body;
  await until(async () => (await listed())['total'] === 1);
  await walk.call('getReviewFile', { path });
  await walk.call('leaseReview', { path });
  await walk.call('getReview', { path });
  await walk.call('releaseReview', { path });
  const result = { invoice_number: 'Q-1001', total: 120.05 };
  await walk.call('decideReview', { path, json: { result, note: 'The cents were hard to read.' } });
  await walk.call('reopenReview', { path });
  await walk.call('rejectReview', { path, json: { reason: 'illegible', note: 'The cents cannot be read.' } });
};

/** A set of one invoice, and a run of it. */
const measure = async (walk: Walk, document_id: string): Promise<void> => {
  const examples = [{ document_id, expected: { invoice_number: 'R-2026-0017', total: 119 } }];
  const json = { tenant_id: TENANT, name: 'Invoices of January', task_id: 'invoices', examples };
  const { body } = await walk.call('createEvaluationSet', { json });
  const set_id = String(body['set_id']);
  await walk.call('listEvaluationSets', { query: { tenant_id: TENANT } });
  await walk.call('getEvaluationSet', { path: { set_id } });
  await walk.call('getEvaluationSetExamples', { path: { set_id } });
  const { run_id, left } = await walk.measured({ tenant_id: TENANT, set_id, schema: SCHEMA });
  await walk.call('getEvaluationRun', { path: { run_id } });
  await walk.call('getEvaluationRunDocument', { path: { run_id, document_id } });
  await walk.call('getEvaluationRunFile', { path: { run_id, document_id } });
  await walk.call('listEvaluationRuns', { query: { tenant_id: TENANT, set_id } });
  await walk.call('cancelEvaluationRun', { path: { run_id: left } });
  await walk.call('removeEvaluationSet', { path: { set_id } });
};

const runIdIn = ({ meta }: Reply['body']): string =>
  String((meta as Readonly<Record<string, unknown>>)['extraction_id']);

const workOnDocuments = async (walk: Walk): Promise<void> => {
  const form = { tenant_id: TENANT, schema: INVOICE_SCHEMA, tags: '{"team":"claims"}' };
  const { body } = await walk.call('extract', { form });
  await walk.call('listRuns', { query: { tenant_id: TENANT } });
  await walk.call('getRun', { path: { run_id: runIdIn(body) } });
  await walk.call('toMarkdown', { form: { tenant_id: TENANT } });
  const classes = JSON.stringify([
    { name: 'Invoice', description: 'A bill for goods or services.' },
    { name: 'Lease' },
  ]);
  await walk.call('classify', { form: { tenant_id: TENANT, classes } });
  await walk.call('split', { form: { tenant_id: TENANT, classes } });
  await walk.call('cancelOperation', { path: { operation_id: await walk.accepted(form) } });
  await walk.call('getOperation', { path: { operation_id: await walk.accepted(form) } });
  await walk.call('listOperations', { query: { tenant_id: TENANT } });
  const { file_uri, document_id } = await walk.upload();
  await batchOf(walk, [file_uri, (await walk.upload()).file_uri]);
  await measure(walk, (await walk.upload()).document_id);
  await walk.call('countPages', { json: { documents: [{ file_uri }] } });
  await walk.call('ocrToMarkdown', { json: { tenant_id: TENANT, file_uri } });
  await walk.call('canonical', {
    json: {
      schema_version: '1.0',
      operation: 'inference.extract',
      scope: { tenant_id: TENANT },
      resource: { file_uri },
      payload: { schema: SCHEMA },
    },
  });
  await walk.call('getDocumentFile', { path: { document_id } });
  await walk.call('listDocuments', { query: { tenant_id: TENANT, limit: 1 } });
  await walk.call('getOutcomes', { query: { tenant_id: TENANT } });
  await walk.call('removeUpload', { path: { document_id } });
  await walk.call('eraseDocument', { path: { document_id: (await walk.upload()).document_id } });
  const config = await walk.call('publishConfig', {
    json: { tenant_id: TENANT, name: 'Invoices', schema: SCHEMA, mode: 'standard' },
  });
  const table = await walk.call('publishTable', {
    form: { tenant_id: TENANT, name: 'Vendors' },
    file: vendorsFile(),
  });
  const table_id = String(table.body['table_id']);
  await walk.call('listTables', { query: { tenant_id: TENANT } });
  await walk.call('getTable', { path: { table_id }, query: { limit: 1 } });
  await walk.call('removeTable', { path: { table_id } });
  await walk.call('listConfigs', { query: { tenant_id: TENANT } });
  await walk.call('getConfig', { path: { config_id: String(config.body['config_id']) } });
  await walk.call('revokeConfig', { path: { config_id: String(config.body['config_id']) } });
};

const learn = async (walk: Walk): Promise<void> => {
  const examples = [];
  for (let i = 0; i < 2; i += 1) {
    const { document_id } = await walk.upload();
    examples.push({ document_id, expected: { invoice_number: 'Q-1001', total: 120.5 } });
  }
  await walk.call('getTrainingQuote', { query: { tenant_id: TENANT, total_examples: 2 } });
  const json = { tenant_id: TENANT, name: 'Invoices', schema: SCHEMA, examples, optimizer_tier: 'light' };
  const made = await walk.call('createTrainingJob', { json });
  const job = await walk.trained(String(made.body['job_id']));
  const artifact = {
    artifact_id: String(job.body['artifact_id']),
    artifact_uri: String(job.body['artifact_uri']),
  };
  const scope = { tenant_id: TENANT, project_id: 'default' };
  await walk.call('activateDeployment', { json: { ...scope, ...artifact } });
  await walk.call('getCurrentDeployment', { query: scope });
  for (const list of ['listArtifacts', 'listDeployments', 'listTrainingJobs'])
    await walk.call(list, { query: { tenant_id: TENANT, limit: 1 } });
  const job_id = String(made.body['job_id']);
  await walk.call('chargeExamples', { json: { tenant_id: TENANT, idempotency_key: 'export-1', job_id } });
  await walk.call('getTrainingExamples', { path: { job_id } });
  const other = await walk.call('createTrainingJob', { json: { ...json, seed: 2 } });
  await walk.call('cancelTrainingJob', { path: { job_id: String(other.body['job_id']) } });
};

const lookIntoTheLog = async (walk: Walk, api: TestApi): Promise<void> => {
  await walk.call('listEvents', { query: { stream: `account-${TENANT}`, limit: 1 } });
  await walk.call('sealEventLog', { json: { retain_days: null } });
  await walk.call('listSeals');
  const { body } = await walk.call('startAudit', { json: { log_only: true } });
  const path = { audit_id: String(body['audit_id']) };
  await until(async () => (await api.deps.audits.find(path.audit_id))?.status !== 'running');
  await walk.call('cancelAudit', { path });
  await walk.call('listAudits', { query: { limit: 1 } });
  await walk.call('getAudit', { path });
  for (const name of ['sealEventLog', 'listSeals']) walk.examples[name] = shownSeal(walk.examples[name]);
  for (const name of ['cancelAudit', 'listAudits', 'getAudit'])
    walk.examples[name] = shownAudit(walk.examples[name]);
  await walk.call('getBalanceAt', { ...tenant, query: { position: '9007199254740991' } });
  await walk.call('listBalancesAt', { query: { position: '9007199254740991', limit: 1 } });
};

const modelCosts = async (walk: Walk): Promise<void> => {
  const model_name = 'gpt-4o-mini';
  const prices = { input_usd_per_million_tokens: '0.15', output_usd_per_million_tokens: '0.60' };
  await walk.call('setPricing', { json: { model_name, ...prices } });
  await walk.call('getPricing', { path: { model_name } });
  await walk.call('createProviderPricing', { json: { provider: 'openai', model_name, ...prices } });
  await walk.call('listProviderPricing');
  await walk.call('logLlmCost', {
    json: {
      tenant_id: TENANT,
      job_id: 'nightly-7',
      operation: 'extract',
      provider: 'openai',
      model_name,
      input_tokens: 1_200,
      output_tokens: 300,
    },
  });
  await walk.call('listLlmCosts', { query: { tenant_id: TENANT } });
  await walk.call('getLlmCostsOfJob', { path: { job_id: 'nightly-7' } });
  await walk.call('getMissingPricing', { query: { days: 30 } });
};

const administer = async (walk: Walk): Promise<void> => {
  await walk.call('adjustCredits', { ...tenant, json: { credits: 500, reason: 'goodwill, ticket 88' } });
  const refund = await walk.call('refundCredits', {
    json: {
      tenant_id: TENANT,
      provider: 'stripe',
      provider_txn_id: 're_3QK9',
      original_provider_txn_id: 'pi_3QK9',
      credits: 1_000,
      reason: 'not used',
    },
  });
  await walk.call('reverseRefund', {
    path: { refund_id: String(refund.body['refund_id']) },
    json: { provider_txn_id: 'rev_3QK9', credits: 200, reason: 'the refund failed in part' },
  });
  await walk.call('recordDispute', {
    json: {
      provider: 'stripe',
      provider_txn_id: 'dp_3QK9',
      original_provider_txn_id: 'pi_3QK9',
      status: 'opened',
      gross_amount_minor: 100,
      fee_minor: 1_500,
    },
  });
  await walk.call('getPayment', { path: { provider: 'stripe', provider_txn_id: 'pi_3QK9' } });
  await walk.call('setTopUp', {
    ...tenant,
    json: {
      active: true,
      threshold_credits: 2_000,
      credits: 10_000,
      currency: 'USD',
      monthly_credits_max: 50_000,
      payer: 'cus_3QK9',
      payment_method: 'pm_3QK9',
    },
  });
  await walk.call('tellTopUp', {
    ...tenant,
    json: {
      outcome: 'declined',
      provider: 'stripe',
      provider_txn_id: 'pi_3QK10',
      reason: 'insufficient_funds',
      attempted_at: '2026-01-31T08:55:00Z',
      next_attempt_at: '2026-01-31T09:55:00Z',
    },
  });
  await walk.call('getTopUp', tenant);
  const leaver = await walk.leaver();
  await walk.call('transferCredits', {
    ...tenant,
    json: { to_tenant_id: leaver, credits: 100, reason: 'merged, ticket 91' },
  });
  await walk.call('eraseTenant', { path: { tenant_id: leaver } });
  await walk.call('setPlan', { ...tenant, json: { plan: 'paid', reason: 'bought credits' } });
  const budget = await walk.call('createBudget', {
    json: {
      tenant_id: TENANT,
      name: 'Team claims',
      scope: { tag: { name: 'team', value: 'claims' } },
      period: 'month',
      time_zone: 'Europe/Berlin',
      limit_credits: 50_000,
      alert_at: [0.5, 0.8, 1],
    },
  });
  const budgetPath = { path: { tenant_id: TENANT, budget_id: String(budget.body['budget_id']) } };
  await walk.call('changeBudget', { ...budgetPath, json: { limit_credits: 60_000 } });
  await walk.call('listBudgets', tenant);
  await walk.call('removeBudget', budgetPath);
  await walk.call('setRateLimits', { ...tenant, json: { heavy: { rate_per_second: 10, burst: 40 } } });
  await walk.call('getRateLimits', tenant);
  await walk.call('deleteRateLimits', tenant);
  await walk.call('setRetention', { ...tenant, json: { days: { uploads: 7 } } });
  await walk.call('getRetention', tenant);
  const details = { legal_name: 'Acme Ltd', address: '1 High Street\nLeeds LS1 4AP', vat_id: 'GB123456789' };
  await walk.call('setBillingDetails', { ...tenant, json: details });
  await walk.call('getBillingDetails', tenant);
  await walk.call('flushRateLimitCache');
  const rate = { operation: 'extract', extraction_mode: 'standard', billing_type: 'full_service' };
  await walk.call('setBillingRate', { json: { ...rate, credits_per_page: 40 } });
  await walk.call('getBillingRates');
  await walk.call('createBillingConfig', { json: { free_pages: 50, note: 'as before' } });
  await walk.call('createAdminBillingConfig', { json: { free_pages: 50 } });
  await walk.call('getBillingConfig');
  await walk.call('getBillingConfigHistory');
};

const keys = async (walk: Walk): Promise<void> => {
  const made = await walk.call('createApiKey', { json: { tenant_id: TENANT, name: 'Website' } });
  const key = String(made.body['key_id']);
  const { body } = await walk.call('rotateApiKey', { json: { key, grace_seconds: 3600 } });
  await walk.call('listApiKeys', tenant);
  await walk.call('revokeApiKey', { path: { key: String(body['key_id']) } });
  await walk.call('flushApiKeyCache');
};

const beTold = async (walk: Walk, api: TestApi): Promise<void> => {
  const settings = {
    url: 'https://hooks.example.com/quire',
    events: ['operation.failed', 'credits.adjusted'],
  };
  const { body } = await walk.call('createWebhook', { json: { tenant_id: TENANT, ...settings } });
  const path = { webhook_id: String(body['webhook_id']) };
  const json = { ...settings, events: ['*'], low_balance_credits: 1_000 };
  await walk.call('changeWebhook', { path, json });
  const credits = { credits: 5, reason: 'A word of thanks' };
  await api.call('post', `/v1/admin/tenants/${TENANT}/adjust-credits`, { json: credits });
  await api.deps.reads.settleAll();
  const { body: list } = await walk.call('listWebhookDeliveries', { path, query: { limit: 1 } });
  const [{ delivery_id } = { delivery_id: '' }] = list['items'] as { delivery_id: string }[];
  await walk.call('resendWebhookDelivery', { path: { ...path, delivery_id } });
  await walk.call('rotateWebhookSecret', { path, json: { keep_old_seconds: 86_400 } });
  await walk.call('testWebhook', { path });
  await walk.call('getWebhook', { path });
  await walk.call('listWebhooks', { query: { tenant_id: TENANT } });
  await walk.call('removeWebhook', { path });
};

const signIn = async (walk: Walk): Promise<void> => {
  await walk.call('createSession', { json: { api_key: ADMIN_KEY } });
  await walk.call('getSession');
  await walk.call('endSession');
};

const report = async (walk: Walk, api: TestApi): Promise<void> => {
  const query = { operation: 'extract', billing_type: 'full_service', pages: 3, tenant_id: TENANT };
  await walk.call('getQuote', { query });
  await walk.call('getBalance', tenant);
  await walk.call('getTenantInfo', tenant);
  const one = { ...tenant, query: { limit: 1 } };
  for (const list of ['listGrants', 'listUsage', 'listTenantLedger']) await walk.call(list, one);
  const today = new Date().toISOString().slice(0, 10);
  await walk.call('getUsageDays', { ...tenant, query: { start: today, end: today } });
  const groups = ['day', 'tag:team'];
  await walk.call('getUsageOfTenant', {
    ...tenant,
    query: { group_by: groups, from_date: today, to_date: today },
  });
  await walk.call('listTenants', { query: { search: TENANT } });
  await walk.call('listPayments', { query: { tenant_id: TENANT, limit: 1 } });
  const open = { provider: 'stripe', provider_txn_id: 'pi_3QKB' };
  await claimAndDie(api, TENANT, open.provider_txn_id);
  await walk.call('listOpenPayments');
  api.wait(61_000);
  await walk.call('releaseOpenPayment', { json: { ...open, reason: 'Never captured, ticket 92' } });
  await walk.call('comparePayments', { form: { from: '2026-01-01', to: '2026-01-31' }, file: payoutFile() });
  await walk.call('getTaxReport', { query: { currency: 'USD' } });
  await walk.call('getDeferredRevenue', { query: { by: 'lot', limit: 1 } });
  await walk.call('getJournal', { query: { month: today.slice(0, 7), limit: 1 } });
  await walk.call('getCostsByDocument', { query: { tenant_id: TENANT, limit: 1 } });
  await walk.call('getCostsByTask', { query: { tenant_id: TENANT } });
  await walk.call('getUsageStats', { query: { group_by: 'operation' } });
  for (const whole of ['getMarginReport', 'getFreeTierSubsidy', 'getReconciliation']) await walk.call(whole);
  const month = { path: { month: '2026-01' } };
  await walk.call('closeMonth', month);
  await walk.call('listClosedMonths');
  await walk.call('getStatement', { path: { ...tenant.path, ...month.path } });
  await walk.call('listStatements', tenant);
  const { body: grants } = await api.call('get', `/v1/billing/grants/${TENANT}`);
  const sale = (grants['items'] as { kind: string; grant_id: string }[]).find(({ kind }) => kind === 'sale');
  await walk.call('getReceipt', { path: { grant_id: sale?.grant_id ?? '' } });
  await walk.call('reopenMonth', { ...month, json: { reason: 'An exchange rate was missing.' } });
  // On a busy machine read models may be an event behind.
  await api.deps.reads.settleAll();
  for (const state of ['getHealth', 'getLiveness', 'getReadiness', 'getServiceState']) await walk.call(state);
  const model = { path: { name: 'artifacts' } };
  await walk.call('pauseReadModel', model);
  await walk.call('resumeReadModel', model);
  await walk.call('retryReadModel', { ...model, json: {} });
};

/** Goes through all operations once and gives the example of each, by its name. */
const walkThrough = async (api: TestApi): Promise<Examples> => {
  const walk = new Walk(api);
  for (const part of [
    sell,
    workOnDocuments,
    learn,
    modelCosts,
    administer,
    keys,
    signIn,
    beTold,
    report,
    lookIntoTheLog,
    lookAtResults,
  ])
    await part(walk, api);
  return walk.examples;
};

/** Where the examples of the reference are kept. */
export const EXAMPLES_FILE = 'src/server/examples.json';

/** Every operation's request and answer, by a service that is started for it. */
export const examplesNow = async (): Promise<Examples> => {
  const api = await startApi({ FIELD_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') });
  try {
    return steady(await walkThrough(api)) as Examples;
  } finally {
    await api.stop();
  }
};
