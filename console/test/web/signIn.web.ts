import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { CLIENT, startProvider, type TestProvider } from '../../../test/http/sessions/provider.ts';
import { freePort } from '../../../test/support/freePort.ts';
import { ADMIN_KEY } from '../../../test/support/serviceProcess.ts';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

/** Another site than the provider's 127.0.0.1: cookies are kept and sent as they are between strangers. */
const HOST = 'localhost';

const ORGANISATION = 'Sign in with your organisation';

describe('signing in at the provider of an organisation', () => {
  let world: World;
  let provider: TestProvider;
  let url: string;
  before(async () => {
    const port = String(await freePort());
    url = `http://${HOST}:${port}`;
    provider = await startProvider(`${url}/v1/session/oidc/callback`);
    world = await startWorld({
      PORT: port,
      PUBLIC_URL: url,
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT.client_id,
      OIDC_CLIENT_SECRET: CLIENT.client_secret,
    });
    await world.tenant('acme');
    await world.tenant('other');
  });
  after(async () => {
    await world.close();
    await provider.stop();
  });
  beforeEach(() => {
    provider.claims = { tenant: 'acme', role: 'member' };
    provider.forge = undefined;
    provider.denies = false;
  });

  const open = (path: string): Promise<Page> => world.open(path, { key: undefined, host: HOST });
  const way = (page: Page) => page.getByRole('link', { name: ORGANISATION });
  const enter = (page: Page): Promise<void> => way(page).click();
  const isAt = async (page: Page, path: string): Promise<void> => {
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(page.url()).to.equal(`${url}/app${path}`);
  };
  const cookieOf = async (page: Page): Promise<string> => {
    const cookies = await page.context().cookies();
    return cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  };
  /** As the same session does in another window: this one is not told. */
  const endElsewhere = async (page: Page): Promise<void> => {
    const cookie = await cookieOf(page);
    const session = await fetch(`${url}/v1/session`, { headers: { cookie } });
    const { csrf_token } = (await session.json()) as { csrf_token: string };
    const headers = { cookie, origin: url, 'x-csrf-token': csrf_token };
    const ended = await fetch(`${url}/v1/session`, { method: 'DELETE', headers });
    expect(ended.status).to.equal(204);
  };

  it('leads a member to what was asked for, in the own tenant and no other', async () => {
    const page = await open('/usage?tab=quote');
    await enter(page);
    await isAt(page, '/usage?tab=quote');
    await page.getByRole('tab', { name: 'Quote', selected: true }).waitFor();
    await page.getByRole('banner').getByText('acme', { exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'Finance' }).count()).to.equal(0);
    expect(faults(page)).to.deep.equal([]);
  });

  it('shows an admin the pages of operators', async () => {
    provider.claims = { role: 'admin' };
    const page = await open('/finance?tab=prices');
    await enter(page);
    await isAt(page, '/finance?tab=prices');
    await page.getByText(/^Active: version/).waitFor();
    expect(faults(page)).to.deep.equal([]);
  });

  it('says why it failed, and leads to what was asked for at the next try', async () => {
    const page = await open('/keys');
    provider.denies = true;
    await enter(page);
    await page.getByRole('alert').getByText('Your organisation did not let you in').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    provider.denies = false;
    provider.claims = { role: 'member' };
    await enter(page);
    await page.getByRole('alert').getByText('does not say for which tenant').waitFor();
    provider.claims = { tenant: 'acme', role: 'member' };
    provider.forge = (claims) => ({ ...claims, nonce: 'of-another' });
    await enter(page);
    await page.getByRole('alert').getByText('could not be trusted').waitFor();
    await page.goto(`${url}/v1/session/oidc/callback?code=any&state=any`);
    await page.getByRole('alert').getByText('begun in another window').waitFor();
    provider.forge = undefined;
    await enter(page);
    await isAt(page, '/keys');
    expect(faults(page)).to.deep.equal([]);
  });

  it('is over after signing out, for a copy of its cookie too', async () => {
    const page = await open('/usage');
    await enter(page);
    await isAt(page, '/usage');
    const cookie = await cookieOf(page);
    const read = () => fetch(`${url}/v1/billing/balance/acme`, { headers: { cookie } });
    expect((await read()).status).to.equal(200);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await way(page).waitFor();
    const answer = await read();
    expect([answer.status, ((await answer.json()) as { code: string }).code]).to.deep.equal([
      401,
      'session_expired',
    ]);
    await page.goto(`${url}/app/usage`);
    await way(page).waitFor();
    expect(faults(page)).to.deep.equal([]);
  });

  it('asks again in a window of its own when the session has ended, and nothing typed is lost', async () => {
    const page = await open('/keys');
    await enter(page);
    await isAt(page, '/keys');
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name').fill('typed before');
    await endElsewhere(page);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const asks = page.getByRole('dialog', { name: 'Sign in to Quire' });
    await asks.waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    provider.claims = { role: 'member' };
    const opened = page.waitForEvent('popup');
    await asks.getByRole('button', { name: ORGANISATION }).click();
    const refused = await opened;
    await refused.getByRole('alert').getByText('does not say for which tenant').waitFor();
    provider.claims = { tenant: 'acme', role: 'member' };
    const closed = refused.waitForEvent('close');
    await enter(refused);
    await closed;
    await asks.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByLabel('typed before', { exact: true }).waitFor();
    expect(faults(page)).to.deep.equal([]);
  });

  it('leads back to the same place after its end, and shows another customer nothing of the first', async () => {
    const page = await open('/usage');
    await enter(page);
    await isAt(page, '/usage');
    await endElsewhere(page);
    await page.goto(`${url}/app/usage?tab=grants`);
    await enter(page);
    await isAt(page, '/usage?tab=grants');
    // what is still being read would ask already
    await page.waitForLoadState('networkidle');
    await endElsewhere(page);
    await page.getByRole('tab', { name: 'Quote' }).click();
    const asks = page.getByRole('dialog', { name: 'Sign in to Quire' });
    await asks.waitFor();
    provider.claims = { tenant: 'other', role: 'member' };
    const opened = page.waitForEvent('popup');
    await asks.getByRole('button', { name: ORGANISATION }).click();
    await opened;
    await page.getByRole('banner').getByText('other', { exact: true }).waitFor();
    expect(await asks.count()).to.equal(0);
    expect(faults(page)).to.deep.equal([]);
  });
});

describe('signing in over plain http', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());

  const typeKey = async (page: Page): Promise<void> => {
    await page.getByLabel('API key').fill(ADMIN_KEY);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  const says = (page: Page, text: string) => page.getByRole('alert').filter({ hasText: text }).waitFor();

  for (const host of ['127.0.0.1', 'localhost'])
    it(`works on this machine, with a cookie that every browser takes: ${host}`, async () => {
      const page = await world.open('/keys', { key: undefined, host });
      await typeKey(page);
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      const [cookie] = await page.context().cookies();
      expect(cookie).to.include({ name: 'quire_session', secure: false, httpOnly: true });
      expect(faults(page)).to.deep.equal([]);
    });

  it('says what is missing on another machine, and asks for no key', async () => {
    const page = await world.open('/keys', { key: undefined, host: 'quire.test' });
    await says(page, 'PUBLIC_URL');
    expect(await page.getByLabel('API key').count()).to.equal(0);
    expect(await axeFindings(page)).to.deep.equal([]);
  });

  it('works there where the operator says that it is wanted', async () => {
    const port = new URL(world.url).port;
    await world.stop();
    await world.startAgain({ PUBLIC_URL: `http://quire.test:${port}` });
    const page = await world.open('/keys', { key: undefined, host: 'quire.test' });
    await typeKey(page);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  });

  it('leads to the address by https where that is another one', async () => {
    await world.stop();
    await world.startAgain({ PUBLIC_URL: 'https://quire.example' });
    const page = await world.open('/keys', { key: undefined, host: 'quire.test' });
    await says(page, 'keep no session');
    const way = page.getByRole('link', { name: 'https://quire.example' });
    expect(await way.getAttribute('href')).to.equal('https://quire.example');
    expect(await page.getByLabel('API key').count()).to.equal(0);
  });
});
