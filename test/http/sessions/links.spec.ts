import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { tempFolder } from '../../../engine/test/support/tempFolder.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { Browser } from './browser.ts';

/** What a link leads to: the console, or its sign-in page. */
const follow = async (browser: Browser, link: string): Promise<string | null> => {
  const { pathname, search } = new URL(link);
  const reply = await browser.call('get', pathname + search);
  expect(reply.status, reply.text).to.equal(303);
  return reply.headers.get('location');
};

const INSIDE = '/app/';
const USED = '/app/sign-in?problem=link_used';

describe('sign-in links', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  it('sign an admin in, once', async () => {
    const link = await api.deps.sessions.newLink(undefined);
    const [first, second] = [new Browser(api), new Browser(api)];
    expect(await follow(first, link)).to.equal(INSIDE);
    expect(await first.session()).to.include({ signed_in: true, role: 'admin', via: 'link' });
    expect((await first.call('get', '/v1/admin/tenants')).status).to.equal(200);
    expect(await follow(second, link)).to.equal(USED);
    expect(await second.session()).to.include({ signed_in: false });
  });

  it('open one session when they are followed by many at once', async () => {
    const link = await api.deps.sessions.newLink(undefined);
    const browsers = Array.from({ length: 8 }, () => new Browser(api));
    const places = await Promise.all(browsers.map((browser) => follow(browser, link)));
    expect(places.filter((place) => place === INSIDE)).to.have.length(1);
    expect(places.filter((place) => place === USED)).to.have.length(7);
    expect(browsers.filter(({ cookie }) => cookie !== '')).to.have.length(1);
  });

  it('are left unused by who only looks', async () => {
    const link = await api.deps.sessions.newLink(undefined);
    const { pathname, search } = new URL(link);
    const looked = await fetch(api.url + pathname + search, { method: 'HEAD', redirect: 'manual' });
    expect([looked.status, looked.headers.get('allow'), looked.headers.getSetCookie()]).to.deep.equal([
      405,
      'GET',
      [],
    ]);
    expect(await follow(new Browser(api), link)).to.equal(INSIDE);
  });

  it('end with the key that they stand for, and so does what they opened', async () => {
    const key = await api.newKey(`linked-${randomUUID()}`, 'admin');
    const [link, late] = [await api.deps.sessions.newLink(key), await api.deps.sessions.newLink(key)];
    const browser = new Browser(api);
    expect(await follow(browser, link)).to.equal(INSIDE);
    expect((await api.call('delete', `/v1/api-keys/${key}`)).status).to.equal(204);
    expect((await browser.call('get', '/v1/admin/tenants')).code).to.equal('session_expired');
    const { pathname, search } = new URL(late);
    expect((await new Browser(api).call('get', pathname + search)).code).to.equal('invalid_api_key');
  });

  it('are none when they are made up, or sealed for something else', async () => {
    const browser = new Browser(api);
    await follow(browser, await api.deps.sessions.newLink(undefined));
    const [sealed] = browser.cookies.values();
    for (const token of ['x', '....', sealed!])
      expect(await follow(new Browser(api), `${api.url}/v1/session/link?token=${token}`)).to.equal(USED);
  });

  it('lead nowhere after 15 minutes', async () => {
    const link = await api.deps.sessions.newLink(undefined);
    api.wait(15 * 60_000 + 1_000);
    expect(await follow(new Browser(api), link)).to.equal(USED);
  });
});

describe('cookies of sessions', () => {
  const folder = tempFolder();
  after(() => folder.remove());

  it('have the prefix of one host, and https alone, where browsers come by https', async () => {
    const api = await startApi({ PUBLIC_URL: 'https://quire.example' });
    const browser = new Browser(api);
    const headers = { origin: 'https://quire.example' };
    const json = { api_key: await api.newKey('hosted') };
    const reply = await browser.call('post', '/v1/session', { json, headers });
    const [cookie = ''] = reply.headers.getSetCookie();
    expect(cookie).to.match(/^__Host-quire_session=/);
    expect(cookie.split('; ').slice(1)).to.include.members(['Secure', 'Path=/', 'HttpOnly']);
    expect((await browser.call('get', '/v1/billing/balance/hosted')).status).to.equal(200);
    const [[name, sealed]] = [...browser.cookies] as [[string, string]];
    browser.cookies.clear();
    browser.cookies.set(name.replace('__Host-', ''), sealed);
    expect((await browser.call('get', '/v1/billing/balance/hosted')).code).to.equal('invalid_api_key');
    await api.stop();
  });

  it('are good after the service was started again; those of ended sessions are not', async () => {
    const first = await startApi({ DATA_DIR: folder.path });
    const key = await first.newKey('returning');
    const [kept, ended] = [new Browser(first), new Browser(first)];
    await kept.signIn(key);
    await ended.signIn(key);
    const copy = new Map(ended.cookies);
    expect((await ended.call('delete', '/v1/session')).status).to.equal(204);
    await first.stop();
    const second = await startApi({ DATA_DIR: folder.path });
    const [again, copied] = [new Browser(second), new Browser(second)];
    for (const [name, value] of kept.cookies) again.cookies.set(name, value);
    for (const [name, value] of copy) copied.cookies.set(name, value);
    expect(await again.session()).to.include({ signed_in: true, tenant_id: 'returning' });
    expect((await again.call('get', '/v1/billing/balance/returning')).status).to.equal(200);
    expect((await copied.call('get', '/v1/billing/balance/returning')).code).to.equal('session_expired');
    await second.stop();
  });
});
