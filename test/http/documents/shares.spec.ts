import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { workerOver } from '../../support/apiWorker.ts';
import {
  startScriptedProvider,
  type ScriptedProvider,
} from '../../../engine/test/support/scriptedProvider.ts';
import { formOf, INVOICE, type Reply } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { presigned, put } from './uploads.suite.ts';
import { Browser } from '../sessions/browser.ts';
import { reviewIdOf } from '../../../domain/review.ts';
import { until } from '../../../engine/test/support/until.ts';

const SCHEMA = { type: 'object', properties: { total: { type: 'number' } } };

/** Routes that never start work in a child, whatever they are sent. A route is here or in the table below. */
const WITHOUT_CHILDREN = [
  'getHealth',
  'getLiveness',
  'getReadiness',
  'getMetrics',
  'getOpenApi',
  'getDocs',
  'getDocsAsset',
  'getProblemPage',
  'createApiKey',
  'listApiKeys',
  'revokeApiKey',
  'rotateApiKey',
  'flushApiKeyCache',
  'addCredits',
  'refundCredits',
  'recordDispute',
  'reverseRefund',
  'correctFxRates',
  'listPayments',
  'listOpenPayments',
  'comparePayments',
  'listClosedMonths',
  'closeMonth',
  'reopenMonth',
  'getTaxReport',
  'getDeferredRevenue',
  'getJournal',
  'adjustCredits',
  'changeBudget',
  'createBudget',
  'listBudgets',
  'removeBudget',
  'transferCredits',
  'eraseTenant',
  'setPlan',
  'setBillingRate',
  'getBillingConfig',
  'createBillingConfig',
  'createAdminBillingConfig',
  'getBillingConfigHistory',
  'getAdminCreditPrices',
  'publishCreditPrices',
  'getRateLimits',
  'setRateLimits',
  'deleteRateLimits',
  'flushRateLimitCache',
  'getRetention',
  'setRetention',
  'getBillingDetails',
  'setBillingDetails',
  'getStatement',
  'listStatements',
  'getReceipt',
  'getPayment',
  'getTopUp',
  'setTopUp',
  'tellTopUp',
  'getFxRate',
  'getMarginReport',
  'listLlmCosts',
  'getLlmCostsOfJob',
  'createProviderPricing',
  'listProviderPricing',
  'getMissingPricing',
  'getFreeTierSubsidy',
  'getCostsByTask',
  'getCostsByDocument',
  'logLlmCost',
  'setPricing',
  'getPricing',
  'getReconciliation',
  'getUsageStats',
  'getServiceState',
  'pauseReadModel',
  'importFxRates',
  'sealEventLog',
  'releaseOpenPayment',
  'resumeReadModel',
  'retryReadModel',
  'getUsageDays',
  'getUsageOfTenant',
  'listTenants',
  'listTenantLedger',
  'publishFxRates',
  'getBalance',
  'chargeExamples',
  'getTrainingQuote',
  'getTenantInfo',
  'listUsage',
  'listGrants',
  'getQuote',
  'getBillingRates',
  'getCreditPrices',
  'publishConfig',
  'revokeConfig',
  'removeTable',
  'listTables',
  'getTable',
  'getTrainingJob',
  'cancelTrainingJob',
  'activateDeployment',
  'getCurrentDeployment',
  'presignUpload',
  'listDocuments',
  'putUpload',
  'getOutcomes',
  'eraseDocument',
  'removeUpload',
  'getOperation',
  'getRun',
  'listRuns',
  'getDocumentFile',
  'listOperations',
  'cancelOperation',
  'createWebhook',
  'listWebhooks',
  'getWebhook',
  'changeWebhook',
  'removeWebhook',
  'rotateWebhookSecret',
  'listWebhookDeliveries',
  'resendWebhookDelivery',
  'testWebhook',
  'createSession',
  'endSession',
  'finishOidc',
  'startOidc',
  'listReviews',
  'getReview',
  'getReviewFile',
  'leaseReview',
  'releaseReview',
  'reopenReview',
  'rejectReview',
  'createBatch',
  'getBatch',
  'getBatchResults',
  'cancelBatch',
  'listBatches',
  'startAudit',
  'getAudit',
  'listAudits',
  'cancelAudit',
  'listEvents',
  'listSeals',
  'getBalanceAt',
  'listBalancesAt',
  'createEvaluationRun',
  'getEvaluationRun',
  'listEvaluationRuns',
  'cancelEvaluationRun',
  'getEvaluationRunDocument',
  'getEvaluationRunFile',
  'getEvaluationSet',
  'listEvaluationSets',
  'removeEvaluationSet',
  'getEvaluationSetExamples',
  'getConfig',
  'listConfigs',
  'listArtifacts',
  'listDeployments',
  'listTrainingJobs',
];

describe('work in children is charged to the tenant that asked for it', () => {
  let api: TestApi;
  let provider: ScriptedProvider;
  let tenant: string;
  let key: string;
  let shares: Set<string>;
  before(async () => {
    provider = await startScriptedProvider();
    api = await startApi({ LLM_ALLOW_PRIVATE_NETWORK: 'true' });
    api.faults.onWork = (share) => shares.add(share);
  });
  after(async () => {
    await api.stop();
    await provider.stop();
  });
  beforeEach(async () => {
    shares = new Set();
    tenant = `share-${randomUUID()}`;
    key = await api.newKey(tenant);
    await api.sell(tenant, 40_000);
  });

  const uploaded = async () => {
    const json = { tenant_id: tenant, file_name: 'a.txt', content_type: 'text/plain' };
    const upload = presigned(await api.call('post', '/v1/uploads/presign', { key, json }));
    expect((await put(upload.url, 'Total: 12.50 EUR', upload.headers)).status).to.equal(200);
    return upload;
  };
  const post = (path: string, json: object, as = key) => api.call('post', path, { key: as, json });
  const form = (path: string, fields: Readonly<Record<string, string>>) =>
    api.call('post', path, { key, form: formOf({ tenant_id: tenant, ...fields }, INVOICE) });
  const jobAsked = async () => {
    const documents = [await uploaded(), await uploaded()];
    const examples = documents.map(({ document_id }) => ({ document_id, expected: { total: 12.5 } }));
    return { tenant_id: tenant, schema: SCHEMA, examples };
  };
  const canonical = (operation: string, resource: object, payload: object) =>
    post('/v1/canonical', {
      schema_version: '1.0',
      operation,
      scope: { tenant_id: tenant },
      resource,
      payload,
    });
  const ownModel = () => ({
    llm_provider_model: 'openai_compatible/m',
    llm_api_key: 'sk-own',
    llm_api_base: provider.url,
  });

  /** A result that somebody has to look at. */
  const needed = async () => {
    const fields = {
      tenant_id: tenant,
      schema: JSON.stringify(SCHEMA),
      mode: 'fast',
      review: '{"sample": 1}',
    };
    const headers = { prefer: 'respond-async' };
    const sent = await api.call('post', '/v1/extract', { key, form: formOf(fields, INVOICE), headers });
    const id = String(sent.body['operation_id']);
    await until(async () => {
      await api.operations.drain();
      return (await api.deps.operations.streams.stateOf(id)).success !== null;
    });
    return reviewIdOf(id);
  };

  /** Each way in which a route starts work in a child. */
  const WITH_CHILDREN: readonly (readonly [string, string, () => Promise<Reply>])[] = [
    ['extract', 'by the local engine', () => form('/v1/extract', { schema: JSON.stringify(SCHEMA) })],
    [
      'extract',
      'by a model',
      () => {
        provider.script('sk-own', { do: 'answer', with: { total: 1 } });
        return form('/v1/extract', { schema: JSON.stringify(SCHEMA), ...ownModel() });
      },
    ] as const,
    [
      'getSession',
      'of somebody who opened the console',
      async () => {
        const browser = new Browser(api);
        await browser.signIn(key);
        return browser.call('get', '/v1/session');
      },
    ] as const,
    [
      'useSignInLink',
      'before the console is there',
      async () => {
        const { pathname, search } = new URL(await api.deps.sessions.newLink(key));
        const browser = new Browser(api);
        expect((await browser.call('get', `${pathname}${search}`)).status).to.equal(303);
        expect([...shares]).to.deep.equal([tenant]);
        return browser.call('get', '/v1/session');
      },
    ] as const,
    ['toMarkdown', 'of a form', () => form('/v1/to-markdown', {})],
    ['classify', 'of a form', () => form('/v1/classify', { classes: '[{"name":"Invoice"}]' })],
    [
      'publishTable',
      'by an admin',
      () => api.call('post', '/v1/tables', { form: formOf({ tenant_id: tenant }, INVOICE) }),
    ] as const,
    ['split', 'of a form', () => form('/v1/split', {})],
    [
      'ocrToMarkdown',
      'of an upload',
      async () => post('/v1/ocr/to-markdown', { tenant_id: tenant, file_uri: (await uploaded()).file_uri }),
    ] as const,
    [
      'canonical',
      'inference.extract',
      async () =>
        canonical('inference.extract', { file_uri: (await uploaded()).file_uri }, { schema: SCHEMA }),
    ] as const,
    [
      'canonical',
      'inference.to_markdown',
      async () => canonical('inference.to_markdown', { file_uri: (await uploaded()).file_uri }, {}),
    ] as const,
    [
      'canonical',
      'training.create',
      async () => {
        const { schema, examples } = await jobAsked();
        return canonical('training.create', {}, { schema, examples });
      },
    ] as const,
    [
      'countPages',
      'of an upload',
      async () =>
        post('/v1/documents/page-count', { documents: [{ document_id: (await uploaded()).document_id }] }),
    ] as const,
    [
      'decideReview',
      'against a schema',
      async () => {
        const review_id = await needed();
        shares.clear();
        return post(`/v1/reviews/${review_id}/decision`, { result: { total: 12 } });
      },
    ] as const,
    [
      'createEvaluationSet',
      'with examples',
      async () => {
        const { tenant_id, examples } = await jobAsked();
        return post('/v1/evaluations/sets', { tenant_id, examples });
      },
    ] as const,
    ['createTrainingJob', 'with examples', async () => post('/v1/training/jobs', await jobAsked())],
    [
      'getTrainingExamples',
      'of a job that ended',
      async () => {
        const job_id = String((await post('/v1/training/jobs', await jobAsked())).body['job_id']);
        await api.deps.reads.settleAll();
        await workerOver(api).drain();
        const charge = { tenant_id: tenant, idempotency_key: job_id, job_id };
        await api.call('post', '/v1/billing/dspy-examples-charge', { key, json: charge });
        shares.clear();
        return api.call('get', `/v1/training/jobs/${job_id}/examples`, { key });
      },
    ] as const,
  ];

  it('on every route: each is known to start such work, or not to', () => {
    const known = new Set([...WITHOUT_CHILDREN, ...WITH_CHILDREN.map(([operationId]) => operationId)]);
    expect(api.routes.map(({ operationId }) => operationId)).to.have.members([...known]);
  });

  for (const [operationId, how, call] of WITH_CHILDREN)
    it(`${operationId}, ${how}`, async () => {
      const reply = await call();
      expect(reply.status, reply.text).to.be.below(300);
      expect([...shares]).to.deep.equal([tenant]);
    });

  it('countPages by a service key: to the tenant of the document', async () => {
    const { document_id } = await uploaded();
    const service = await api.newKey('share-service', 'service');
    const json = { documents: [{ document_id }] };
    expect((await post('/v1/documents/page-count', json, service)).status).to.equal(200);
    expect([...shares]).to.deep.equal([tenant]);
  });

  it('no other route starts any', async () => {
    const bodies = { tenant_id: tenant, schema: SCHEMA, schema_version: '1.0' };
    for (const { operationId, method, path, bytes } of api.routes) {
      if (!WITHOUT_CHILDREN.includes(operationId) || bytes !== undefined) continue;
      const at = `${path.replaceAll(/\{tenant_id\}/g, tenant).replaceAll(/\{\w+\}/g, 'x')}?tenant_id=${tenant}`;
      await api.call(method, at, method === 'get' || method === 'delete' ? {} : { json: bodies });
    }
    expect([...shares]).to.deep.equal([]);
  });
});
