import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { Browser } from './browser.ts';

const HOUR_MS = 3_600_000;
const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();

interface Made {
  readonly key: string;
  readonly key_id: string;
  readonly expires_at: string | null;
}

const made = (reply: Reply): Made => {
  expect(reply.status, reply.text).to.be.within(200, 201);
  return reply.body as unknown as Made;
};

describe('keys that are made with a key', () => {
  let api: TestApi;
  let tenant_id: string;
  before(async () => {
    api = await startApi({ TRUST_PROXY: '1' });
  });
  after(() => api.stop());
  beforeEach(() => {
    tenant_id = `maker-${randomUUID()}`;
  });

  let clients = 0;
  const create = async (json: object = {}): Promise<Made> =>
    made(await api.call('post', '/v1/api-keys', { json: { tenant_id, ...json } }));
  const sessionOf = async ({ key }: Made): Promise<Browser> => {
    const browser = new Browser(api, { 'x-forwarded-for': `192.0.2.${String((clients += 1))}` });
    await browser.signIn(key);
    return browser;
  };
  const createBy = (browser: Browser, json: object = {}): Promise<Reply> =>
    browser.call('post', '/v1/api-keys', { json: { tenant_id, ...json } });
  const works = async ({ key }: Made): Promise<boolean> =>
    (await api.call('get', `/v1/billing/balance/${tenant_id}`, { key })).status === 200;
  const revoke = (by: Pick<Browser, 'call'>, { key_id }: Made, query = ''): Promise<Reply> =>
    by.call('delete', `/v1/api-keys/${key_id}${query}`);

  it('end no later than it, and with it where no end is asked for', async () => {
    const expires_at = inHours(2);
    const browser = await sessionOf(await create({ expires_at }));
    expect(made(await createBy(browser)).expires_at).to.equal(expires_at);
    const soon = inHours(1);
    expect(made(await createBy(browser, { expires_at: soon })).expires_at).to.equal(soon);
    const late = await createBy(browser, { expires_at: inHours(3) });
    expect([late.status, late.code]).to.deep.equal([422, 'validation_error']);
    expect(late.text).to.include(expires_at);
  });

  it('do not come by one that has a budget, which would spend beside it', async () => {
    const [capped, free] = [await create(), await create()];
    const budget = {
      tenant_id,
      name: 'Capped',
      scope: { key_id: capped.key_id },
      period: 'month',
      limit_credits: 10,
    };
    await api.sell(tenant_id, 1_000);
    expect((await api.call('post', '/v1/billing/budgets', { json: budget })).status).to.equal(201);
    const browser = await sessionOf(capped);
    expect((await createBy(browser)).code).to.equal('budget_read_only');
    const rotate = (by: Pick<Browser, 'call'>, { key_id }: Made) =>
      by.call('post', '/v1/api-keys/rotate', { json: { key: key_id } });
    expect((await rotate(browser, free)).code).to.equal('budget_read_only');
    expect((await rotate(api, capped)).code).to.equal('budget_read_only');
    expect((await createBy(await sessionOf(free))).status).to.equal(201);
  });

  it('do not come by replacing one that lives longer', async () => {
    const [ending, lasting] = [await create({ expires_at: inHours(2) }), await create()];
    const browser = await sessionOf(ending);
    const json = { key: lasting.key_id };
    const reply = await browser.call('post', '/v1/api-keys/rotate', { json });
    expect([reply.status, reply.code]).to.deep.equal([422, 'validation_error']);
    expect(await works(lasting)).to.equal(true);
    const own = made(await browser.call('post', '/v1/api-keys/rotate', { json: { key: ending.key_id } }));
    expect(own.expires_at).to.equal(ending.expires_at);
  });

  it('of an admin are bound so where they are admin keys, and free where they are a tenant’s', async () => {
    const expires_at = inHours(2);
    const { key } = await create({ role: 'admin', expires_at });
    const by = (json: object) => api.call('post', '/v1/api-keys', { key, json: { tenant_id, ...json } });
    expect(made(await by({ role: 'admin' })).expires_at).to.equal(expires_at);
    expect(made(await by({ role: 'tenant' })).expires_at).to.equal(null);
  });

  it('are listed with it, and go on when it is revoked, unless they are to go with it', async () => {
    const maker = await create();
    const browser = await sessionOf(maker);
    const [first, second] = [made(await createBy(browser)), made(await createBy(browser))];
    const grandchild = made(await createBy(await sessionOf(first)));
    const other = await create();
    const listed = await browser.call('get', `/v1/api-keys/${tenant_id}`);
    const makers = (listed.body['items'] as { key_id: string; made_by: string }[]).map(
      ({ made_by }) => made_by,
    );
    expect(makers).to.deep.equal([
      'key_bootstrap',
      first.key_id,
      maker.key_id,
      maker.key_id,
      'key_bootstrap',
    ]);

    expect((await revoke(api, second)).status).to.equal(204);
    expect((await revoke(api, maker)).status).to.equal(204);
    expect([await works(maker), await works(first), await works(grandchild)]).to.deep.equal([
      false,
      true,
      true,
    ]);
    expect((await revoke(api, maker, '?made=revoke')).status).to.equal(204);
    expect([await works(first), await works(grandchild), await works(other)]).to.deep.equal([
      false,
      false,
      true,
    ]);
    expect((await revoke(api, maker, '?made=ask')).code).to.equal('validation_error');
  });
});
