import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { PROBLEMS, WIRE_CODES } from '../../src/problemTable.ts';
import { issuesIn } from './support/client.ts';
import { testApi, type TestApi } from './support/testApi.ts';

const PAGES = fileURLToPath(new URL('../../../docs/problems/', import.meta.url));

describe('problem answers', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  it('have a page for every code, and none for what is no code', () => {
    for (const code of WIRE_CODES) expect(existsSync(`${PAGES}${code}.md`), code).to.equal(true);
    expect(readdirSync(PAGES).map((name) => name.replace('.md', ''))).to.have.members([...WIRE_CODES]);
  });

  it('name a page that the service serves', async () => {
    const { body, headers } = await api.call('get', '/v1/nothing');
    expect(body).to.include({ type: '/docs/problems/not_found', status: 404, code: 'not_found' });
    expect(headers.get('content-type')).to.equal('application/problem+json');
    const page = await fetch(`${api.url}${String(body['type'])}`);
    expect(await page.text()).to.include(PROBLEMS.not_found.title);
  });

  it('have a page that a browser shows: HTML without script, and markdown for others', async () => {
    for (const code of WIRE_CODES) {
      const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
      const page = await api.call('get', `/docs/problems/${code}`, { headers: { accept } });
      expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(page.headers.get('content-security-policy')).to.include("default-src 'none'");
      expect(page.text).to.include('<h1>').and.not.include('.md"');
    }
    const { headers } = await api.call('get', '/docs/problems/busy');
    expect(headers.get('content-type')).to.equal('text/markdown; charset=utf-8');
    expect(headers.get('vary')).to.equal('Accept');
  });

  it('carry the request ID of the caller if it is sane, else one of ours', async () => {
    const sane = await api.call('get', '/v1/nothing', { headers: { 'x-request-id': 'order-77:retry.2' } });
    expect(sane.headers.get('x-request-id')).to.equal('order-77:retry.2');
    expect(sane.body['request_id']).to.equal('order-77:retry.2');
    const strange = await api.call('get', '/v1/nothing', { headers: { 'x-request-id': 'a b<script>' } });
    expect(strange.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
  });

  it('say what is wrong with a request in a sentence, and list all of it', async () => {
    const { body, headers } = await api.call('post', '/v1/billing/credits', {
      json: { credits: 'many', x: 1 },
    });
    expect(headers.get('content-type')).to.equal('application/problem+json');
    expect(body['detail'])
      .to.be.a('string')
      .that.matches(/^body\.tenant_id: Required\. .*more .*"errors"/);
    expect(body['errors']).to.deep.include({
      loc: ['body', 'x'],
      msg: 'Unknown member.',
      type: 'extra_forbidden',
    });
    const { body: one } = await api.call('get', '/v1/admin/margin-report?start=x&end=2031-01-01');
    expect(one['detail'])
      .to.be.a('string')
      .that.matches(/^query\.start: /)
      .and.not.matches(/errors/);
    expect(one['errors']).to.have.length(1);
  });

  it('say 405 with the methods that a path takes', async () => {
    const reply = await api.call('put', '/v1/billing/rates');
    expect(reply.code).to.equal('method_not_allowed');
    expect(reply.headers.get('allow')).to.equal('GET, HEAD, POST');
    const rotate = await api.call('put', '/v1/api-keys/rotate');
    expect(rotate.headers.get('allow')?.split(', ')).to.have.members(['POST', 'GET', 'HEAD', 'DELETE']);
  });

  it('say 404 for a path in another case, and for a path outside', async () => {
    expect((await api.call('get', '/V1/billing/rates')).code).to.equal('not_found');
    expect((await api.call('get', '/v2/billing/rates')).code).to.equal('not_found');
  });

  it('refuse a path with a broken encoding', async () => {
    expect((await api.call('get', '/v1/billing/balance/%E0%A4%A')).code).to.equal('validation_error');
  });

  describe('of a JSON body', () => {
    const post = (raw: string | Uint8Array, contentType = 'application/json') =>
      api.call('post', '/v1/billing/refunds', { raw, headers: { 'content-type': contentType } });

    for (const [what, raw] of [
      ['nothing', ''],
      ['half an object', '{"a":'],
      ['NaN', '{"credits": NaN}'],
      ['a trailing comma', '{"a": 1,}'],
      ['a NUL in a text', '{"tenant_id": "a\\u0000b"}'],
      ['half a surrogate pair', '{"reason": "\\ud800"}'],
    ] as const)
      it(`refuse ${what} as malformed`, async () => {
        expect((await post(raw)).code).to.equal('malformed_json');
      });

    it('refuse bytes that are not UTF-8', async () => {
      const bytes = Buffer.concat([Buffer.from('{"reason":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
      expect((await post(bytes)).code).to.equal('malformed_json');
    });

    it('take both halves of a surrogate pair, escaped', async () => {
      const reply = await post('{"tenant_id": "t", "reason": "\\ud83d\\ude00"}');
      expect(issuesIn(reply).some((issue) => issue.includes('reason'))).to.equal(false);
    });

    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=utf-16',
    ])
      it(`refuse ${type}`, async () => {
        expect((await post('{}', type)).code).to.equal('unsupported_media_type');
      });

    it('refuse a compressed body', async () => {
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      const reply = await api.call('post', '/v1/billing/refunds', { raw: 'x', headers });
      expect(reply.code).to.equal('unsupported_media_type');
    });

    it('take a JSON media type with a charset', async () => {
      expect((await post('{}', 'application/json; charset="UTF-8"')).code).to.equal('validation_error');
    });

    it('refuse a body of more than a megabyte, and go on with the connection', async () => {
      const reply = await post(`{"reason":"${'x'.repeat(1_200_000)}"}`);
      expect(reply.code).to.equal('body_too_large');
      expect(reply.body['max_bytes']).to.equal(1_048_576);
    });

    for (const [what, piece] of [
      ['numbers', '1'],
      ['empty lists', '[]'],
      ['members', '"a":1'],
    ] as const)
      it(`refuse a body of 50,000 ${what}, before it is parsed`, async () => {
        const pieces = Array.from({ length: 50_000 }, () => piece).join();
        const reply = await post(`{"reason":[${piece.includes(':') ? `{${pieces}}` : pieces}]}`);
        expect([reply.status, reply.code]).to.deep.equal([413, 'body_too_large']);
        expect(reply.body['max_values']).to.equal(50_000);
      });

    for (const [what, value] of [
      ['an array', []],
      ['a text', 'x'],
      ['null', null],
    ] as const)
      it(`refuse ${what} in place of an object`, async () => {
        expect(issuesIn(await api.call('post', '/v1/billing/refunds', { json: value }))).to.have.lengthOf(1);
      });

    it('refuse members that do not exist, and name them', async () => {
      const json = { tenant_id: 'acme', provider_txn_id: 'x', credit: 5 };
      const issues = issuesIn(await api.call('post', '/v1/billing/credits', { json }));
      expect(issues).to.include('body.credit extra_forbidden');
    });

    it('refuse __proto__ as any other unknown member', async () => {
      const reply = await post('{"__proto__": {"tenant_id": "x"}}');
      expect(issuesIn(reply)).to.include('body.__proto__ extra_forbidden');
    });

    it('say which members are missing', async () => {
      const issues = issuesIn(await api.call('post', '/v1/billing/refunds', { json: {} }));
      expect(issues).to.include.members(['body.tenant_id missing', 'body.provider_txn_id missing']);
    });

    for (const credits of [1e21, '5', 2 ** 53, 1.5, -1, 0, true, [5]])
      it(`refuse credits ${JSON.stringify(credits)}`, async () => {
        const json = { tenant_id: 'acme', provider_txn_id: 'x', credits, gross_amount_minor: 100 };
        const reply = await api.call('post', '/v1/billing/credits', { json });
        expect(issuesIn(reply).every((issue) => issue.startsWith('body.credits'))).to.equal(true);
      });

    it('refuse a number too large for a float', async () => {
      const reply = await post(
        '{"tenant_id":"acme","provider_txn_id":"x","original_provider_txn_id":"y","credits":1e999}',
      );
      expect(reply.code).to.equal('malformed_json');
    });
  });

  describe('of a query', () => {
    const usage = (query: string) => api.call('get', `/v1/billing/usage/query-reader?${query}`);
    before(() => api.newKey('query-reader'));

    for (const query of [
      'limit=0',
      'limit=1001',
      'offset=-1',
      'limit=1e2',
      'limit=',
      'limit=abc',
      'limit=5&limit=6',
      'limit=9007199254740993',
      'include_adjustments=yes',
      'start=yesterday',
      'start=2026-02-30',
      'end=2026-13-01',
    ])
      it(`refuse ${query}`, async () => {
        const name = query.split('=', 1)[0] ?? '';
        expect(issuesIn(await usage(query)).join()).to.include(`query.${name}`);
      });

    for (const query of [
      'limit=1',
      'limit=1000',
      'offset=0',
      'offset=9007199254740991',
      'start=2026-01-01&end=2026-01-31',
      'start=2026-01-01T00:00:00%2B02:00',
    ])
      it(`take ${query}`, async () => {
        expect((await usage(query)).status).to.equal(200);
      });
  });

  it('answer 503 while shutting down, but for health, metrics and the reference', async () => {
    api.faults.draining = true;
    try {
      const reply = await api.call('get', '/v1/billing/rates');
      expect(reply.code).to.equal('shutting_down');
      expect(reply.headers.get('retry-after')).to.equal('1');
      expect((await api.call('get', '/health')).status).to.equal(200);
      expect((await api.call('get', '/metrics')).status).to.equal(200);
    } finally {
      api.faults.draining = false;
    }
  });

  it('are safe to show in a browser', async () => {
    const { headers } = await api.call('get', '/v1/nothing');
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
    expect(headers.get('content-security-policy')).to.include("default-src 'none'");
    expect(headers.get('x-powered-by')).to.equal(null);
  });
});
