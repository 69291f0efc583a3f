import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ADMIN_KEY } from '../../support/serviceProcess.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { Browser } from './browser.ts';

describe('sessions of browsers', () => {
  let api: TestApi;
  let tenant: string;
  let key: string;
  let browser: Browser;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());
  beforeEach(async () => {
    tenant = `signed-${randomUUID()}`;
    key = await api.newKey(tenant);
    browser = new Browser(api);
  });

  const balance = (from: Browser, of = tenant) => from.call('get', `/v1/billing/balance/${of}`);

  it('are opened by a key, act as it, and say so', async () => {
    expect(await browser.session()).to.deep.equal({
      signed_in: false,
      methods: ['api_key'],
      public_url: null,
    });
    const reply = await browser.signIn(key);
    expect(reply.body).to.include({ signed_in: true, tenant_id: tenant, role: 'tenant', via: 'api_key' });
    expect(reply.text + browser.cookie).to.not.include(key);
    const [cookie = ''] = reply.headers.getSetCookie();
    expect(cookie.split('; ').slice(1)).to.have.members([
      'HttpOnly',
      'SameSite=Strict',
      'Path=/',
      'Max-Age=28800',
    ]);
    expect(await browser.session()).to.deep.equal(reply.body);
    expect((await balance(browser)).status).to.equal(200);
  });

  it('are opened by no key that is none, and not too often from one address', async () => {
    const wrong = await browser.call('post', '/v1/session', { json: { api_key: 'quire_t_nonsense' } });
    expect([wrong.status, wrong.code, browser.cookie]).to.deep.equal([401, 'invalid_api_key', '']);
    const own = await startApi();
    const codes = new Set<unknown>();
    const stranger = new Browser(own);
    for (let n = 0; n < 40; n += 1)
      codes.add((await stranger.call('post', '/v1/session', { json: { api_key: 'x' } })).code);
    await own.stop();
    expect([...codes]).to.deep.equal(['invalid_api_key', 'rate_limited']);
  });

  it('end on the service: a copy of the cookie opens nothing', async () => {
    await browser.signIn(key);
    const copy = new Browser(api);
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
    expect((await browser.call('delete', '/v1/session')).status).to.equal(204);
    expect(browser.cookie).to.equal('');
    expect((await balance(copy)).code).to.equal('session_expired');
    expect(await copy.session()).to.include({ signed_in: false });
  });

  it('end with their key: revoked, or replaced', async () => {
    await browser.signIn(key);
    expect((await api.call('delete', `/v1/api-keys/${key}`)).status).to.equal(204);
    expect([(await balance(browser)).status, (await balance(browser)).code]).to.deep.equal([
      401,
      'session_expired',
    ]);
    const other = await api.newKey(tenant);
    await browser.signIn(other);
    const json = { key: other, grace_seconds: 0 };
    expect((await api.call('post', '/v1/api-keys/rotate', { json })).status).to.equal(200);
    expect((await balance(browser)).code).to.equal('session_expired');
  });

  it('end after 8 hours', async () => {
    const own = await startApi();
    const late = new Browser(own);
    await late.signIn(ADMIN_KEY);
    own.wait(8 * 3_600_000 - 5_000);
    expect((await late.call('get', '/v1/admin/tenants')).status).to.equal(200);
    own.wait(10_000);
    expect((await late.call('get', '/v1/admin/tenants')).code).to.equal('session_expired');
    await own.stop();
  });

  it('are not made up: a cookie that is changed in one place is none', async () => {
    await browser.signIn(key);
    const [[name, sealed]] = [...browser.cookies] as [[string, string]];
    for (const at of [5, sealed.length >> 1, sealed.length - 2]) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      browser.cookies.set(name, sealed.slice(0, at) + other + sealed.slice(at + 1));
      expect((await balance(browser)).code).to.equal('session_expired');
    }
    for (const value of ['', 'x', '....', 'a'.repeat(5_000)]) {
      browser.cookies.set(name, value);
      expect((await balance(browser)).code).to.equal('session_expired');
    }
  });

  it('of one tenant see nothing of another', async () => {
    const other = `signed-${randomUUID()}`;
    await api.newKey(other);
    await browser.signIn(key);
    for (const path of ['/v1/billing/balance/', '/v1/billing/usage/', '/v1/api-keys/'])
      expect((await browser.call('get', path + other)).code, path).to.equal('tenant_mismatch');
    const json = { tenant_id: other };
    expect((await browser.call('post', '/v1/api-keys', { json })).code).to.equal('tenant_mismatch');
  });

  it('change nothing for another page, nor without their token', async () => {
    await browser.signIn(key);
    const json = { tenant_id: tenant };
    const refused: readonly Readonly<Record<string, string>>[] = [
      { 'x-csrf-token': '' },
      { 'x-csrf-token': `${browser.csrf}x` },
      { 'x-csrf-token': 'é'.repeat(browser.csrf.length) },
      { origin: 'https://elsewhere.example' },
      { origin: 'null' },
      { origin: api.url.replace(/\d+$/, '1') },
    ];
    for (const headers of refused) {
      const reply = await browser.call('post', '/v1/api-keys', { json, headers });
      expect([reply.status, reply.code], JSON.stringify(headers)).to.deep.equal([403, 'cross_site_request']);
    }
    const signOut = await browser.call('delete', '/v1/session', { headers: { 'x-csrf-token': '' } });
    expect(signOut.code).to.equal('cross_site_request');
    expect((await browser.call('post', '/v1/api-keys', { json })).status).to.equal(201);
  });

  it('are not opened by a page elsewhere', async () => {
    const headers = { origin: 'https://elsewhere.example' };
    const reply = await browser.call('post', '/v1/session', { json: { api_key: key }, headers });
    expect(reply.code).to.equal('cross_site_request');
  });

  it('give way to a key: a request with one is the key’s', async () => {
    await browser.signIn(key);
    const json = { tenant_id: 'someone' };
    const headers = { 'x-csrf-token': '' };
    const reply = await browser.call('post', '/v1/api-keys', { key: ADMIN_KEY, json, headers });
    expect(reply.status).to.equal(201);
  });

  it('stand in the events by their subject', async () => {
    await browser.signIn(key);
    const subject = String((await browser.session())['subject']);
    const made = await browser.call('post', '/v1/api-keys', { json: { tenant_id: tenant } });
    expect(made.status, made.text).to.equal(201);
    const recorded = [];
    for await (const event of api.log.read(`apiKey-${String(made.body['key_id'])}`)) recorded.push(event);
    expect(recorded[0]?.metadata['actor']).to.deep.equal({ key_id: subject, role: 'tenant' });
  });
});

describe('keys of a tenant that is signed in', () => {
  let api: TestApi;
  let tenant: string;
  let key: string;
  let browser: Browser;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());
  beforeEach(async () => {
    tenant = `keeper-${randomUUID()}`;
    key = await api.newKey(tenant);
    browser = new Browser(api);
    await browser.signIn(key);
  });

  it('are made, listed, replaced and revoked by the session, and not by the bare key', async () => {
    const json = { tenant_id: tenant, name: 'from the console' };
    const made = await browser.call('post', '/v1/api-keys', { json });
    expect(made.status, made.text).to.equal(201);
    expect(made.body).to.include({ role: 'tenant', tenant_id: tenant });
    const listed = await browser.call('get', `/v1/api-keys/${tenant}`);
    expect(listed.body['items']).to.have.length(2);
    const rotation = { key: made.body['key_id'], grace_seconds: 0 };
    const next = await browser.call('post', '/v1/api-keys/rotate', { json: rotation });
    expect(next.status, next.text).to.equal(200);
    const gone = await browser.call('delete', `/v1/api-keys/${String(next.body['key_id'])}`);
    expect(gone.status, gone.text).to.equal(204);
    for (const [method, path, body] of [
      ['post', '/v1/api-keys', json],
      ['get', `/v1/api-keys/${tenant}`, undefined],
      ['post', '/v1/api-keys/rotate', { key }],
      ['delete', `/v1/api-keys/${key}`, undefined],
    ] as const)
      expect((await api.call(method, path, { key, json: body })).code, path).to.equal('admin_required');
  });

  it('of other roles are not made', async () => {
    for (const role of ['service', 'admin']) {
      const reply = await browser.call('post', '/v1/api-keys', { json: { tenant_id: tenant, role } });
      expect([reply.status, reply.code]).to.deep.equal([403, 'admin_required']);
    }
  });

  it('of others, and those that act for others, are as if they were not there', async () => {
    const others = [
      await api.newKey(`other-${randomUUID()}`),
      await api.newKey(tenant, 'service'),
      await api.newKey(tenant, 'admin'),
      ADMIN_KEY,
      'key_bootstrap',
    ];
    for (const one of others) {
      const rotated = await browser.call('post', '/v1/api-keys/rotate', { json: { key: one } });
      expect(rotated.code).to.equal('key_not_found');
      expect((await browser.call('delete', `/v1/api-keys/${one}`)).code).to.equal('key_not_found');
    }
  });
});
