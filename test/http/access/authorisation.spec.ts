import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Browser } from '../sessions/browser.ts';
import { testApi, type TestApi } from '../support/testApi.ts';
import { EXPECTED, inputOf, KINDS, pathOf, TENANT, type Kind } from './verdicts.ts';

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
      seller: await api.newKey('matrix-seller', 'seller'),
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

  it('lets a seller do what verdicts say, and tells it so everywhere else', async () => {
    const reply = await api.call('get', '/v1/billing/balance/matrix', { key: keys.seller });
    expect(reply).to.include({ status: 403, code: 'admin_required' });
    expect(reply.body['detail']).to.match(
      /^A seller key records sales, refunds, their reversals and disputes/,
    );
    const open = Object.keys(EXPECTED).filter((id) => EXPECTED[id]![KINDS.indexOf('seller')] === 'pass');
    const withKey = open.filter((id) => EXPECTED[id]![0] !== 'pass');
    expect(withKey).to.have.members([
      'addCredits',
      'refundCredits',
      'recordDispute',
      'reverseRefund',
      'getCreditPrices',
      'getPayment',
      'getTopUp',
      'tellTopUp',
    ]);
  });

  it('signs no seller in', async () => {
    const json = { api_key: keys.seller };
    expect(await api.call('post', '/v1/session', { key: null, json })).to.include({
      status: 403,
      code: 'admin_required',
    });
  });

  it('refuses another tenant before it looks anything up', async () => {
    const reply = await api.call('get', '/v1/billing/balance/nobody-at-all', { key: keys.tenant });
    expect(reply.code).to.equal('tenant_mismatch');
  });
});

/** A tenant’s session keeps the keys, configs and tables of its tenant; the bare key does not. */
const KEEPING: readonly string[] = [
  'createApiKey',
  'listApiKeys',
  'revokeApiKey',
  'rotateApiKey',
  'publishConfig',
  'revokeConfig',
  'publishTable',
  'removeTable',
];

describe('authorisation: every route × sessions', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  for (const role of ['tenant', 'admin'] as const)
    it(`says to a session what it says to its key: ${role}`, async () => {
      const key = await api.newKey(TENANT, role);
      const browser = new Browser(api);
      await browser.signIn(key);
      for (const route of api.routes) {
        const asking = new Browser(api);
        for (const [name, value] of browser.cookies) asking.cookies.set(name, value);
        asking.csrf = browser.csrf;
        if (route.operationId === 'endSession') await asking.signIn(key);
        const options = { ...inputOf(route), headers: { 'idempotency-key': randomUUID() } };
        const reply = await asking.call(route.method, pathOf(route), options);
        const refused = [401, 403].includes(reply.status) ? reply.code : 'pass';
        const byKey = EXPECTED[route.operationId]![KINDS.indexOf(role)];
        const expected = KEEPING.includes(route.operationId) ? 'pass' : byKey;
        expect(refused, `${route.operationId}: ${String(reply.status)} ${reply.text.slice(0, 200)}`).to.equal(
          expected,
        );
      }
    });
});
