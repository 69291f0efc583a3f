import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Route } from '../../../src/http/defineRoute.ts';
import { formOf } from '../support/client.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

/** Every kind of key that a request can come with. */
const KINDS = ['none', 'bad', 'unknown', 'revoked', 'other tenant', 'tenant', 'service', 'admin'] as const;
type Kind = (typeof KINDS)[number];

/** `pass`: access is not refused, whatever else is wrong with the request. */
type Verdict = 'pass' | 'invalid_api_key' | 'admin_required' | 'tenant_mismatch';

const TENANT = 'matrix';

/** What each route says to each kind; a route that is not here fails the spec. */
const PUBLIC = ['pass', 'pass', 'pass', 'pass', 'pass', 'pass', 'pass', 'pass'] as const;
const no = 'invalid_api_key';
const ADMIN = [no, no, no, no, 'admin_required', 'admin_required', 'admin_required', 'pass'] as const;
const SERVICE = [no, no, no, no, 'admin_required', 'admin_required', 'pass', 'pass'] as const;
const OWN = [no, no, no, no, 'tenant_mismatch', 'pass', 'tenant_mismatch', 'pass'] as const;
const WORK = [no, no, no, no, 'tenant_mismatch', 'pass', 'pass', 'pass'] as const;
const ANY = [no, no, no, no, 'pass', 'pass', 'pass', 'pass'] as const;

/** The signature of the URL is the authority: no key opens it. */
const SIGNED = Array.from({ length: KINDS.length }, () => 'tenant_mismatch' as const);

const EXPECTED: Readonly<Record<string, readonly Verdict[]>> = {
  getHealth: PUBLIC,
  getLiveness: PUBLIC,
  getReadiness: PUBLIC,
  getMetrics: PUBLIC,
  getOpenApi: PUBLIC,
  getDocs: PUBLIC,
  getDocsAsset: PUBLIC,
  getProblemPage: PUBLIC,
  createApiKey: ADMIN,
  listApiKeys: ADMIN,
  revokeApiKey: ADMIN,
  rotateApiKey: ADMIN,
  flushApiKeyCache: ADMIN,
  addCredits: ADMIN,
  refundCredits: ADMIN,
  adjustCredits: ADMIN,
  setPlan: ADMIN,
  setBillingRate: ADMIN,
  getBillingConfig: ADMIN,
  createBillingConfig: ADMIN,
  createAdminBillingConfig: ADMIN,
  getBillingConfigHistory: ADMIN,
  getAdminCreditPrices: ADMIN,
  publishCreditPrices: ADMIN,
  getRateLimits: ADMIN,
  setRateLimits: ADMIN,
  deleteRateLimits: ADMIN,
  flushRateLimitCache: ADMIN,
  getFxRate: ADMIN,
  getMarginReport: ADMIN,
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
  getUsageStats: ADMIN,
  listTenants: ADMIN,
  listTenantLedger: ADMIN,
  publishFxRates: ADMIN,
  getBalance: OWN,
  chargeExamples: OWN,
  getTrainingQuote: OWN,
  getTenantInfo: OWN,
  listUsage: OWN,
  listGrants: OWN,
  getQuote: OWN,
  getBillingRates: ANY,
  getCreditPrices: ANY,
  extract: WORK,
  toMarkdown: WORK,
  ocrToMarkdown: WORK,
  canonical: WORK,
  publishConfig: ADMIN,
  revokeConfig: ADMIN,
  createTrainingJob: OWN,
  getTrainingJob: ANY,
  cancelTrainingJob: ANY,
  getTrainingExamples: ANY,
  getOperation: ANY,
  cancelOperation: ANY,
  listOperations: WORK,
  createBatch: WORK,
  getBatch: ANY,
  getBatchResults: ANY,
  cancelBatch: ANY,
  listBatches: WORK,
  activateDeployment: OWN,
  getCurrentDeployment: OWN,
  presignUpload: WORK,
  listDocuments: WORK,
  countPages: ANY,
  putUpload: SIGNED,
  removeUpload: ANY,
};

const SAMPLES: Readonly<Record<string, string>> = {
  tenant_id: TENANT,
  key: 'key_of_nobody',
  asset: 'start.js',
  code: 'busy',
};

const pathOf = (route: Route): string => {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => SAMPLES[name] ?? 'sample');
  return route.tenant === 'query' ? `${path}?tenant_id=${TENANT}` : path;
};

/** Enough of a request for its access to be decided; it may be wrong in any other way. */
const inputOf = (route: Route) => {
  if (route.upload === true)
    return { form: formOf({ tenant_id: TENANT }, new Blob(['x'], { type: 'text/plain' })) };
  if (route.bytes !== undefined) return { raw: 'x' };
  if (route.body === undefined) return {};
  if (route.tenant === 'scope') return { json: { scope: { tenant_id: TENANT }, not_a_member: 1 } };
  return { json: route.tenant === 'body' ? { tenant_id: TENANT, not_a_member: 1 } : { not_a_member: 1 } };
};

describe('authorisation: every route × every kind of key', () => {
  let api: TestApi;
  let keys: Readonly<Record<Kind, string | null>>;

  before(async () => {
    api = await testApi();
    const revoked = await api.newKey(TENANT);
    const tenant = await api.newKey(TENANT);
    expect((await api.call('delete', `/v1/api-keys/${revoked}`)).status).to.equal(204);
    keys = {
      none: null,
      bad: `${tenant.slice(0, -1)}${tenant.endsWith('0') ? '1' : '0'}`,
      unknown: 'quire_t_no-such-key-at-all-in-here-anywhere_000000',
      revoked,
      'other tenant': await api.newKey('matrix-other'),
      tenant,
      service: await api.newKey('matrix-service', 'service'),
      admin: await api.newKey('matrix-admin', 'admin'),
    };
  });

  it('knows what to expect of every route', () => {
    expect(api.routes.map(({ operationId }) => operationId)).to.have.members(Object.keys(EXPECTED));
  });

  it('has operation IDs and paths once each', () => {
    const ids = api.routes.map(({ operationId }) => operationId);
    const places = api.routes.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(new Set(places).size).to.equal(places.length);
  });

  for (const [operationId, verdicts] of Object.entries(EXPECTED)) {
    it(operationId, async () => {
      const route = api.routes.find((one) => one.operationId === operationId)!;
      for (const [at, kind] of KINDS.entries()) {
        const options = { key: keys[kind], ...inputOf(route), headers: { 'idempotency-key': randomUUID() } };
        const reply = await api.call(route.method, pathOf(route), options);
        const refused = [401, 403].includes(reply.status) ? reply.code : 'pass';
        expect(refused, `${kind}: ${String(reply.status)} ${reply.text.slice(0, 200)}`).to.equal(
          verdicts[at],
        );
      }
    });
  }

  it('gives one answer for all keys that are not valid', async () => {
    const answers = await Promise.all(
      (['none', 'bad', 'unknown', 'revoked'] as const).map(async (kind) => {
        const reply = await api.call('get', '/v1/billing/rates', { key: keys[kind] });
        const { request_id: _, ...body } = reply.body;
        return JSON.stringify([reply.status, body, reply.headers.get('www-authenticate')]);
      }),
    );
    expect(new Set(answers).size).to.equal(1);
  });

  it('refuses another tenant before it looks anything up', async () => {
    const reply = await api.call('get', '/v1/billing/balance/nobody-at-all', { key: keys.tenant });
    expect(reply.code).to.equal('tenant_mismatch');
  });
});
