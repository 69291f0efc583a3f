import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { configFrom, ConfigError } from '../../src/config.ts';
import { addressesInside, ENDLESS, harmsOf, membersTooMany, thefts, UNDOCUMENTED } from './attacks.ts';
import { expressionsOf, operationsIn } from './openapiOperations.ts';
import { startScriptedProvider, type ScriptedProvider } from '../../engine/test/support/scriptedProvider.ts';
import { answers } from '../../engine/test/support/scriptedProvider/steps.ts';
import {
  formOf,
  INVOICE,
  INVOICE_SCHEMA,
  servedOpenapi,
  type CallOptions,
  type Reply,
} from '../http/support/client.ts';
import { docx } from '../../engine/test/support/officeFiles.ts';
import { LIMITED, startApi, type TestApi } from '../http/support/testApi.ts';
import { until } from '../../engine/test/support/until.ts';

const SECRET_TEXT = 'Invoice number: V-77 of the victim';
/** Small on the wire, 300 MB once it is opened. Made before a service runs beside it. */
const bombOf = (): Buffer =>
  docx({ body: '', members: { 'word/document.xml': `<w>${' '.repeat(300_000_000)}</w>` } });

const OWN_KEY = 'sk-owasp-0123456789abcdef';

/** OWASP API Security Top 10, 2023 edition: one attack each on the running service. */
describe('OWASP API Security Top 10 (2023)', () => {
  let api: TestApi;
  let victimKey: string;
  let attackerKey: string;
  const victim = `victim-${randomUUID()}`;
  const attacker = `attacker-${randomUUID()}`;

  let bomb: Buffer;

  before(async () => {
    bomb = bombOf();
    api = await startApi({ FIELD_ENCRYPTION_KEY: randomBytes(32).toString('base64') });
    victimKey = await api.newKey(victim);
    attackerKey = await api.newKey(attacker);
    await api.sell(victim, 10_000);
    await api.sell(attacker, 10_000);
  });
  after(() => api.stop());

  const upload = async (tenant_id: string, key: string, text: string) => {
    const json = { tenant_id, file_name: 'v.txt', content_type: 'text/plain' };
    const { body } = await api.call('post', '/v1/uploads/presign', { key, json });
    const headers = { 'content-type': 'text/plain' };
    const put = await fetch(String(body['upload_url']), { method: 'PUT', headers, body: text });
    expect(put.status).to.equal(200);
    return {
      file_uri: String(body['file_uri']),
      document_id: String(body['document_id']),
      url: String(body['upload_url']),
    };
  };
  const balanceOf = async (tenant: string) =>
    (await api.call('get', `/v1/billing/balance/${tenant}`)).body['balance_credits'];

  it('API1 Broken Object Level Authorization: no object of another tenant, by any door', async () => {
    const document = await upload(victim, victimKey, SECRET_TEXT);
    const config = await api.call('post', '/v1/configs', {
      json: { tenant_id: victim, name: 'of-the-victim', schema: JSON.parse(INVOICE_SCHEMA) as object },
    });
    const config_id = String(config.body['config_id']);
    const examples = [document, await upload(victim, victimKey, SECRET_TEXT)].map(({ document_id }) => ({
      document_id,
      expected: { invoice_number: 'V-77' },
    }));
    const training = { tenant_id: victim, schema: JSON.parse(INVOICE_SCHEMA) as object, examples };
    const job = await api.call('post', '/v1/training/jobs', { key: victimKey, json: training });
    expect(job.status, job.text).to.equal(202);
    const job_id = String(job.body['job_id']);
    const { file_uri, document_id } = document;
    const jobPath = `/v1/training/jobs/${job_id}`;
    const attempts = thefts({ victim, attacker, file_uri, document_id, job_id, config_id, training });
    const unknown = ['document_not_found', 'job_not_found', 'config_not_found'];
    for (const [method, path, options, code] of attempts) {
      const reply = await api.call(method, path, { key: attackerKey, ...options });
      const what = `${method} ${path} ${JSON.stringify(options.json)}: ${reply.text}`;
      expect(reply.code, what).to.equal(code);
      expect(reply.text, what).to.not.include('V-77');
      // 404 and not 403: whether the object exists for somebody else does not show.
      if (unknown.includes(code)) expect(reply.status, what).to.equal(404);
    }
    const counted = await api.call('post', '/v1/documents/page-count', {
      key: attackerKey,
      json: { documents: [{ document_id }, { document_id: 'doc_of_nobody' }] },
    });
    const statuses = (counted.body['items'] as readonly { readonly status: string }[]).map(
      ({ status }) => status,
    );
    expect(statuses).to.deep.equal(['not_found', 'not_found']);
    const after = await api.call('get', jobPath, { key: victimKey });
    expect(after.body['status']).to.equal('queued');
    expect((await api.call('post', `${jobPath}/cancel`, { key: victimKey })).body['cancelled']).to.equal(
      true,
    );
    expect(await balanceOf(attacker)).to.equal(10_000);
  });

  it('API2 Broken Authentication: nothing but a live key in its header opens a route', async () => {
    const path = `/v1/billing/balance/${victim}`;
    const made = await api.call('post', '/v1/api-keys', { json: { tenant_id: victim } });
    const [revoked, keyId] = [String(made.body['key']), String(made.body['key_id'])];
    expect((await api.call('get', path, { key: revoked })).status).to.equal(200);
    expect((await api.call('delete', `/v1/api-keys/${keyId}`)).status).to.equal(204);
    // Long enough that it is to come when it is sent, on a busy machine too.
    const soon = new Date(Date.now() + 5_000).toISOString();
    const timed = await api.call('post', '/v1/api-keys', { json: { tenant_id: victim, expires_at: soon } });
    const expired = String(timed.body['key']);
    await until(() => Date.now() > Date.parse(soon));
    const wrong = [
      null,
      '',
      ' ',
      keyId,
      revoked,
      expired,
      victimKey.toLowerCase(),
      victimKey.slice(0, -1),
      `${victimKey}x`,
      `${victimKey},${victimKey}`,
      victimKey.replace('_t_', '_a_'),
      'x'.repeat(10_000),
      "' or 1=1 --",
    ];
    const texts = new Set<string>();
    for (const key of wrong) {
      const reply = await api.call('get', path, { key });
      expect([reply.status, reply.code], String(key)).to.deep.equal([401, 'invalid_api_key']);
      texts.add(JSON.stringify({ ...reply.body, request_id: '' }));
    }
    // One answer for all: it does not tell which keys there are or were.
    expect(texts.size).to.equal(1);
    const elsewhere: readonly CallOptions[] = [
      { key: null, headers: { authorization: `Bearer ${victimKey}` } },
      { key: null, headers: { cookie: `x-api-key=${victimKey}` } },
    ];
    for (const options of elsewhere) expect((await api.call('get', path, options)).status).to.equal(401);
    expect((await api.call('get', `${path}?api_key=${victimKey}`, { key: null })).status).to.equal(401);
    const { url } = await upload(victim, victimKey, 'mine');
    const signature = /signature=([0-9a-f]+)/.exec(url)?.[1] ?? '';
    expect(signature).to.have.length(64);
    for (const forged of ['', '00', signature.slice(0, -2), '0'.repeat(64), `${signature}00`]) {
      const to = url.slice(api.url.length).replace(signature, forged);
      const put = await api.call('put', to, {
        key: null,
        raw: 'theirs',
        headers: { 'content-type': 'text/plain' },
      });
      expect([put.status, put.code], forged).to.be.deep.oneOf([
        [403, 'tenant_mismatch'],
        [422, 'validation_error'],
      ]);
    }
  });

  it('API3 Broken Object Property Level Authorization: no member too many goes in, no secret comes out', async () => {
    for (const [path, json, member] of membersTooMany(attacker)) {
      const reply = await api.call('post', path, { json });
      expect(reply.status, `${path}: ${reply.text}`).to.equal(422);
      expect(reply.text, path).to.include(`"${member}"`).and.to.include('extra_forbidden');
    }
    const more = { tenant_id: attacker, file_name: 'a.txt', document_id: 'doc_mine', max_bytes: 1e12 };
    const presigned = await api.call('post', '/v1/uploads/presign', { key: attackerKey, json: more });
    expect(presigned.status).to.equal(422);
    const free = formOf(
      { schema: INVOICE_SCHEMA, billing_type: 'byok', credits_used: '0', tenant_id: victim },
      INVOICE,
    );
    expect((await api.call('post', '/v1/extract', { key: attackerKey, form: free })).status).to.be.within(
      403,
      422,
    );

    const llm = { provider_model: 'openai/gpt-5-mini', api_key: OWN_KEY };
    const saved = await api.call('post', '/v1/configs', {
      json: { tenant_id: attacker, schema: JSON.parse(INVOICE_SCHEMA) as object, llm },
    });
    expect(saved.status, saved.text).to.equal(200);
    expect(saved.body['llm']).to.include({ has_api_key: true, api_key_last4: 'cdef' });
    expect(saved.text).to.not.include(OWN_KEY);
    const listed = await api.call('get', `/v1/api-keys/${victim}`);
    expect(listed.text)
      .to.not.include(victimKey)
      .and.to.not.match(/"(?:key|hash|key_hash)":/);
  });

  it('API4 Unrestricted Resource Consumption: what is large, deep, compressed or often is refused', async () => {
    const tenant = `${LIMITED}${randomUUID()}`;
    const key = await api.newKey(tenant);
    const second = await api.newKey(tenant);
    const extract = (by: string, file: Blob) =>
      api.call('post', '/v1/extract', { key: by, form: formOf({ schema: INVOICE_SCHEMA }, file) });
    expect(bomb.length).to.be.lessThan(1_000_000);
    const bombed = await extract(key, new Blob([new Uint8Array(bomb)]));
    expect([bombed.status, bombed.code], bombed.text).to.deep.equal([400, 'unreadable_file']);
    expect(bombed.text).to.include('MiB when unpacked');
    expect((await extract(key, new Blob([Buffer.alloc(1_100_000)]))).code).to.equal('file_too_large');
    expect((await extract(key, new Blob(['word '.repeat(90_000)]))).code).to.equal('too_many_pages');
    const form = () => formOf({ schema: '{' }, INVOICE);
    const heavy: Reply[] = [];
    for (let n = 0; n < 24; n += 1)
      heavy.push(await api.call('post', '/v1/extract', { key: n % 2 === 0 ? key : second, form: form() }));
    const limited = heavy.filter(({ status }) => status === 429);
    // 20 at once for all keys of a tenant together; three went above.
    expect(limited.length).to.equal(7);
    for (const { headers } of limited) expect(headers.get('retry-after')).to.equal('1');
    expect((await api.call('get', `/v1/billing/usage/${tenant}?limit=100000`, { key })).status).to.equal(422);
  });

  it('API5 Broken Function Level Authorization: lesser keys reach no function of administrators', async () => {
    const service = await api.newKey('owasp-service', 'service');
    const functions = api.routes.filter(({ access }) => access === 'admin');
    expect(functions.length).to.be.greaterThan(25);
    for (const route of functions) {
      const path = route.path.replaceAll(/\{\w+\}/g, attacker);
      const json = route.body === undefined ? {} : { json: { tenant_id: attacker } };
      for (const key of [attackerKey, service]) {
        const reply = await api.call(route.method, path, { key, ...json });
        expect([reply.status, reply.code], route.operationId).to.deep.equal([403, 'admin_required']);
      }
      // The method is not what decides: another spelling of it finds nothing either.
      const disguised = { key: attackerKey, ...json, headers: { 'x-http-method-override': 'GET' } };
      expect((await api.call(route.method, path, disguised)).status, route.operationId).to.equal(403);
    }
    expect(await balanceOf(attacker)).to.equal(10_000);
  });

  it('API6 Unrestricted Access to Sensitive Business Flows: a sale pays once, a refund gives back once', async () => {
    const [one, other] = [`flow-${randomUUID()}`, `flow-${randomUUID()}`];
    await api.newKey(one);
    await api.newKey(other);
    const provider_txn_id = randomUUID();
    const sell = (tenant_id: string) =>
      api.call('post', '/v1/billing/credits', {
        json: { tenant_id, provider_txn_id, credits: 1_000, gross_amount_minor: 100 },
      });
    const sales = await Promise.all([...Array(6).keys()].map((n) => sell(n % 2 === 0 ? one : other)));
    expect(sales.filter(({ body }) => body['credited'] === true)).to.have.length(1);
    const payer = (await balanceOf(one)) === 1_000 ? one : other;
    expect([await balanceOf(one), await balanceOf(other)]).to.have.members([1_000, 0]);
    const refund = () =>
      api.call('post', '/v1/billing/refunds', {
        json: {
          tenant_id: payer,
          provider_txn_id: randomUUID(),
          original_provider_txn_id: provider_txn_id,
          credits: 1_000,
          gross_amount_minor: 100,
        },
      });
    const refunds = await Promise.all(Array.from({ length: 8 }, refund));
    expect(refunds.filter(({ status }) => status === 200)).to.have.length(1);
    expect(await balanceOf(payer)).to.equal(0);
    // The last free page is not given twice, however many ask for it at once.
    const free = `free-${randomUUID()}`;
    const key = await api.newKey(free);
    const pages = new Blob(['word '.repeat(20_000)], { type: 'text/plain' });
    const work = () =>
      api.call('post', '/v1/extract', { key, form: formOf({ schema: INVOICE_SCHEMA }, pages) });
    let isOver = false;
    const asked = Promise.all(Array.from({ length: 4 }, work)).finally(() => (isOver = true));
    // What finds no place here waits for a worker, as on a busy machine.
    await until(async () => {
      await api.operations.drain();
      return isOver;
    });
    const done = await asked;
    expect(done.filter(({ status }) => status === 200).length).to.be.at.most(1);
    expect(Number(await balanceOf(free))).to.equal(0);
  });

  describe('with a server in the private network', () => {
    let inside: Server;
    let hits = 0;
    let base: string;
    before(async () => {
      inside = createServer((_, res) => {
        hits += 1;
        res.end('{"secret":"of the metadata service"}');
      });
      await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', () => resolve()));
      base = `127.0.0.1:${String((inside.address() as AddressInfo).port)}`;
    });
    after(() => inside.close());

    it('API7 Server Side Request Forgery: no address of a caller leads into the private network', async () => {
      for (const llm_api_base of addressesInside(base)) {
        const own = { llm_provider_model: 'openai_compatible/m', llm_api_key: OWN_KEY, llm_api_base };
        const form = formOf({ schema: INVOICE_SCHEMA, ...own }, INVOICE);
        const inline = await api.call('post', '/v1/extract', { key: attackerKey, form });
        expect([inline.status, inline.code], `${llm_api_base}: ${inline.text}`).to.deep.equal([
          422,
          'unsafe_api_base',
        ]);
        const llm = { provider_model: 'openai_compatible/m', api_key: OWN_KEY, api_base: llm_api_base };
        const saved = await api.call('post', '/v1/configs', {
          json: { tenant_id: attacker, schema: {}, llm },
        });
        expect(saved.status, `${llm_api_base}: ${saved.text}`).to.be.within(400, 422);
      }
      for (const file_uri of [`http://${base}/a`, 'file:///etc/passwd', '../../events.db', 's3://bucket/a']) {
        const reply = await api.call('post', '/v1/ocr/to-markdown', {
          key: attackerKey,
          json: { tenant_id: attacker, file_uri },
        });
        expect(reply.code, file_uri).to.equal('document_not_found');
      }
      const page =
        `<html><body><img src="http://${base}/x.png"><iframe src="http://${base}/y"></iframe><p>` +
        'Total: 1</p></body></html>';
      const html = formOf({ schema: INVOICE_SCHEMA }, new Blob([page], { type: 'text/html' }), 'a.html');
      await api.call('post', '/v1/extract', { key: attackerKey, form: html });
      expect(hits).to.equal(0);
    });
  });

  it('API8 Security Misconfiguration: nothing is told, allowed or started that was not meant', async () => {
    const { headers, text, status } = await api.call('get', '/v1/billing/balance/%00', { key: victimKey });
    expect(status).to.be.within(400, 422);
    expect(text).to.not.match(/node_modules|\.[jt]s:\d+|at [A-Z]\w+ \(|postgres|pglite|select /i);
    expect([headers.get('x-powered-by'), headers.get('server')]).to.deep.equal([null, null]);
    expect(headers.get('access-control-allow-origin')).to.equal(null);
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
    expect(headers.get('cache-control')).to.equal('no-store');
    for (const method of ['options', 'trace2', 'propfind', 'purge']) {
      const reply = await fetch(`${api.url}/v1/extract`, { method });
      expect(reply.status, method).to.be.oneOf([400, 405]);
    }
    const figures = await (await fetch(`${api.url}/metrics`)).text();
    expect(figures).to.include('quire_http_requests_total');
    for (const told of [victim, attacker, victimKey, 'key_', OWN_KEY]) expect(figures).to.not.include(told);
    const health = await (await fetch(`${api.url}/health`)).text();
    for (const told of ['/tmp', 'postgres://', victim]) expect(health).to.not.include(told);
    for (const environment of [
      { ADMIN_API_KEY: 'short' },
      { FIELD_ENCRYPTION_KEY: 'c2hvcnQ=' },
      { LLM_ALLOW_PRIVATE_NETWORKS: 'true' },
      { LLM_ALLOW_PRIVATE_NETWORK: 'yes' },
    ])
      expect(() => configFrom(environment), JSON.stringify(environment)).to.throw(ConfigError);
    expect(configFrom({})).to.include({ host: '127.0.0.1', allowPrivateNetwork: false });
  });

  it('API9 Improper Inventory Management: what answers is documented, what is documented answers', async () => {
    const openapi = await servedOpenapi(api);
    const documented = operationsIn(openapi);
    const served = api.routes.map(({ method, path }) => `${method} ${path}`);
    expect(documented).to.have.members(served);
    const open = api.routes.filter(({ access }) => access === 'public').map(({ operationId }) => operationId);
    expect(open).to.have.members([
      'getHealth',
      'getLiveness',
      'getReadiness',
      'getMetrics',
      'getOpenApi',
      'getDocs',
      'getDocsAsset',
      'getProblemPage',
      'putUpload',
      // Signing in: a key, a sealed link or a provider's answer is what they ask for.
      'createSession',
      'getSession',
      'useSignInLink',
      'startOidc',
      'finishOidc',
    ]);
    for (const path of UNDOCUMENTED) {
      const reply = await fetch(`${api.url}${path}`, { headers: { 'x-api-key': attackerKey } });
      expect(reply.status, path).to.be.oneOf([403, 404, 405, 422]);
    }
    for (const pattern of expressionsOf(openapi))
      expect(pattern).to.match(/^\/(v1\/|health|metrics|docs|openapi|uploads)/);
  });

  describe('with a model provider that means harm', () => {
    let provider: ScriptedProvider;
    let inside: ScriptedProvider;
    let fed: TestApi;
    before(async () => {
      [provider, inside] = [await startScriptedProvider(), await startScriptedProvider()];
      fed = await startApi(
        { LLM_ALLOW_PRIVATE_NETWORK: 'true' },
        // Enough to read 200 MB on a busy machine; what has no end is asked for with the shorter time.
        { fast: 15_000, standard: 120_000, robust: 120_000 },
      );
    });
    after(async () => {
      await fed.stop();
      for (const one of [provider, inside]) await one.stop();
    });

    it('API10 Unsafe Consumption of APIs: what a provider answers is believed in nothing', async () => {
      const tenant = `fed-${randomUUID()}`;
      const key = await fed.newKey(tenant);
      await fed.sell(tenant, 1_000);
      const balance = async () =>
        (await fed.call('get', `/v1/billing/balance/${tenant}`)).body['balance_credits'];
      const schema = JSON.stringify({
        type: 'object',
        required: ['invoice_number'],
        additionalProperties: false,
        properties: { invoice_number: { type: 'string' } },
      });
      const ask = (mode: 'fast' | 'standard' = 'standard') => {
        const own = {
          mode,
          llm_provider_model: 'openai_compatible/m',
          llm_api_key: OWN_KEY,
          llm_api_base: provider.url,
        };
        return fed.call('post', '/v1/extract', {
          key,
          form: formOf({ schema, ...own, llm_num_retries: '0' }, INVOICE),
        });
      };
      // Whoever followed there would be answered well.
      inside.script('*', answers({ invoice_number: 'Q-1001' }));
      for (const [harm, step, told] of harmsOf(`${inside.url}/chat/completions`, OWN_KEY)) {
        provider.script('*', step);
        const reply = await ask(harm === ENDLESS ? 'fast' : 'standard');
        expect(reply.status, `${harm}: ${reply.text}`).to.be.within(400, 504);
        expect(reply.text, harm).to.include(told).and.to.not.include(OWN_KEY);
        expect(await balance(), harm).to.equal(1_000);
      }
      expect(inside.requests).to.deep.equal([]);
      expect(({} as Readonly<Record<string, unknown>>)['polluted']).to.equal(undefined);
      // Members that nobody asked for are left out.
      provider.script('*', answers({ invoice_number: 'Q-1001', is_admin: true }));
      const good = await ask();
      expect([good.status, good.body['result']], good.text).to.deep.equal([
        200,
        { invoice_number: 'Q-1001' },
      ]);
    });
  });
});
