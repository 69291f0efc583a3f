import { expect } from 'chai';
import { freePort } from '../../support/freePort.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { Browser } from './browser.ts';
import { CLIENT, startProvider, type TestProvider, through } from './provider.ts';

const CALLBACK = '/v1/session/oidc/callback';

describe('signing in at an OpenID provider', () => {
  let api: TestApi;
  let provider: TestProvider;
  let browser: Browser;
  const publicUrl = 'http://quire.test';
  before(async () => {
    provider = await startProvider(publicUrl + CALLBACK);
    api = await startApi({
      PUBLIC_URL: publicUrl,
      TRUST_PROXY: '1',
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT.client_id,
      OIDC_CLIENT_SECRET: CLIENT.client_secret,
    });
  });
  after(async () => {
    await api.stop();
    await provider.stop();
  });
  beforeEach(() => {
    browser = new Browser(api, { 'x-forwarded-for': clientOf() });
    provider.claims = { tenant: 'acme', role: 'member' };
    provider.forge = undefined;
    provider.raw = undefined;
  });

  /** Another for each spec: sign-ins are limited by client. */
  let clients = 0;
  const clientOf = (): string => `192.0.2.${String((clients += 1))}`;

  const begun = async (returnTo = '/app/usage'): Promise<string> => {
    const reply = await browser.call(
      'get',
      `/v1/session/oidc/start?return_to=${encodeURIComponent(returnTo)}`,
    );
    expect(reply.status, reply.text).to.equal(302);
    const back = await through(reply.headers.get('location') ?? '', publicUrl);
    return back.slice(publicUrl.length);
  };
  const finish = async (path: string): Promise<string> => {
    const reply = await browser.call('get', path);
    expect(reply.status, reply.text).to.equal(303);
    return reply.headers.get('location') ?? '';
  };
  const refused = async (path: string, problem: string): Promise<void> => {
    expect(await finish(path)).to.equal(`/app/sign-in?problem=${problem}`);
    expect(await browser.session()).to.include({ signed_in: false });
  };

  it('opens a session of the tenant and the role that the claims name', async () => {
    expect(await finish(await begun())).to.equal('/app/usage');
    const session = await browser.session();
    expect(session).to.include({ tenant_id: 'acme', role: 'tenant', via: 'oidc', subject: 'oidc:sub-1' });
    expect(session['methods']).to.deep.equal(['api_key', 'oidc']);
  });

  it('makes an admin of who is one there', async () => {
    provider.claims = { role: 'admin' };
    await finish(await begun());
    expect(await browser.session()).to.include({ role: 'admin', subject: 'oidc:sub-1' });
    expect((await browser.call('get', '/v1/admin/tenants')).status).to.equal(200);
  });

  for (const claims of [
    {},
    { role: 'member' },
    { role: 'owner', tenant: 'a' },
    { role: 'member', tenant: '-' },
  ])
    it(`refuses the claims ${JSON.stringify(claims)}`, async () => {
      provider.claims = claims;
      await refused(await begun(), 'oidc_claims');
    });

  const FORGED: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    'another issuer': { iss: 'https://elsewhere.example' },
    'another audience': { aud: 'somebody-else' },
    'a time that is over': { exp: Math.floor(Date.now() / 1000) - 3_600 },
    'another sign-in': { nonce: 'of-another' },
  };
  for (const [what, changed] of Object.entries(FORGED))
    it(`refuses an ID token of ${what}`, async () => {
      provider.forge = (claims) => ({ ...claims, ...changed });
      await refused(await begun(), 'oidc_untrusted');
    });

  it('refuses an ID token that says a claim twice', async () => {
    provider.raw = (json) => json.replace('"role":"member"', '"role":"member","role":"admin"');
    await refused(await begun(), 'oidc_untrusted');
    provider.raw = (json) => json.replace('"sub":', '"sub":"somebody","s\\u0075b":');
    await refused(await begun(), 'oidc_untrusted');
  });

  for (const sub of ['half \ud83d', '\udc00', 'nul \0', 'line\nbreak', 'x'.repeat(256)])
    it(`refuses the subject ${JSON.stringify(sub.slice(0, 12))}`, async () => {
      provider.forge = (claims) => ({ ...claims, sub });
      await refused(await begun(), 'oidc_claims');
    });

  it('takes a subject of whatever letters', async () => {
    provider.forge = (claims) => ({ ...claims, sub: 'Zoë 💶' });
    await finish(await begun());
    expect(await browser.session()).to.include({ subject: 'oidc:Zoë 💶' });
  });

  for (const name of ['code', 'state', 'iss', 'error', 'session_state'])
    it(`refuses an answer that says ${name} twice`, async () => {
      await refused(`${await begun()}&${name}=a&${name}=b`, 'oidc_untrusted');
    });

  it('is not finished, and not begun, by who only looks', async () => {
    const path = await begun();
    const headers = { cookie: browser.cookie };
    for (const looked of [path, '/v1/session/oidc/start'])
      expect((await fetch(api.url + looked, { method: 'HEAD', headers })).status, looked).to.equal(405);
    expect(await finish(path)).to.equal('/app/usage');
  });

  it('takes a code once, also with the cookie that it was begun with', async () => {
    const path = await begun();
    const cookies = new Map(browser.cookies);
    expect(await finish(path)).to.equal('/app/usage');
    browser.cookies.clear();
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    await refused(path, 'oidc_not_begun');
    const again = await begun();
    const code = new URLSearchParams(path.split('?')[1]).get('code') ?? '';
    await refused(again.replace(/code=[^&]*/, `code=${code}`), 'oidc_untrusted');
  });

  it('refuses another state, and a browser that began nothing', async () => {
    const path = await begun();
    await refused(path.replace(/state=[^&]*/, 'state=other'), 'oidc_untrusted');
    const other = await begun();
    browser.cookies.clear();
    await refused(other, 'oidc_not_begun');
  });

  it('tells of a provider that says no', async () => {
    const state = new URLSearchParams((await begun()).split('?')[1]).get('state') ?? '';
    const iss = encodeURIComponent(provider.issuer);
    await refused(`${CALLBACK}?error=access_denied&state=${state}&iss=${iss}`, 'oidc_denied');
  });

  for (const elsewhere of [
    'https://elsewhere.example/app/',
    '//elsewhere.example/app/',
    '/app/../v1/x',
    'app',
  ])
    it(`leads to no place but its own pages: ${elsewhere}`, async () => {
      expect(await finish(await begun(elsewhere))).to.equal('/app/');
    });

  it('asks the provider of nobody who comes too often, and logs no more than a line each', async () => {
    const env = { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: CLIENT.client_id, LOG_LEVEL: 'info' };
    const own = await startApi({ ...env, OIDC_CLIENT_SECRET: CLIENT.client_secret });
    const lines: string[] = [];
    own.faults.onLog = (line) => lines.push(line);
    const asked = provider.asked;
    const codes = new Set<unknown>();
    for (let n = 0; n < 100; n += 1) {
      const stranger = new Browser(own);
      const start = await stranger.call('get', '/v1/session/oidc/start');
      const state = /state=([^&]+)/.exec(start.headers.get('location') ?? '')?.[1] ?? 'none';
      const query = `code=made-up&state=${state}&iss=${encodeURIComponent(provider.issuer)}`;
      codes.add(start.code).add((await stranger.call('get', `${CALLBACK}?${query}`)).code);
    }
    await own.stop();
    expect([...codes]).to.include('rate_limited');
    expect(provider.asked - asked).to.be.below(40);
    const told = lines.filter((line) => line.includes('nobody was signed in'));
    expect(told.length).to.be.within(1, 40);
    for (const line of told) expect(line.length).to.be.below(600);
  });

  it('says so where the provider does not answer, or where there is none', async () => {
    const env = { OIDC_ISSUER: `http://127.0.0.1:${String(await freePort())}`, OIDC_CLIENT_ID: 'x' };
    const away = await startApi({ ...env, OIDC_CLIENT_SECRET: 'y' });
    const reply = await new Browser(away).call('get', '/v1/session/oidc/start');
    await away.stop();
    expect(reply.headers.get('location')).to.equal('/app/sign-in?problem=oidc_unavailable');
  });
});
