import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

type Row = Record<string, unknown>;

describe('/v1/billing/budgets', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  /** A tenant that bought 100,000 credits. */
  const rich = async (): Promise<string> => {
    const tenant_id = `budget-${randomUUID()}`;
    const json = {
      tenant_id,
      provider_txn_id: `pi-${tenant_id}`,
      credits: 100_000,
      gross_amount_minor: 10_000,
    };
    expect((await api.call('post', '/v1/billing/credits', { json })).status).to.equal(200);
    return tenant_id;
  };
  const create = (tenant_id: string, json: Row = {}, options: Row = {}): Promise<Reply> =>
    api.call('post', '/v1/billing/budgets', {
      json: { tenant_id, name: 'Claims', scope: {}, period: 'month', limit_credits: 12_000, ...json },
      ...options,
    });
  const made = async (tenant_id: string, json: Row = {}): Promise<string> => {
    const reply = await create(tenant_id, json);
    expect(reply.status, reply.text).to.equal(201);
    return String(reply.body['budget_id']);
  };
  const change = (path: string, json: Row, key?: string): Promise<Reply> =>
    api.call('patch', `/v1/billing/budgets/${path}`, { json, ...(key !== undefined && { key }) });
  const list = async (tenant: string, key?: string): Promise<readonly Row[]> => {
    const reply = await api.call('get', `/v1/billing/budgets/${tenant}`, key === undefined ? {} : { key });
    expect(reply.status, reply.text).to.equal(200);
    return reply.body['budgets'] as readonly Row[];
  };
  /** Uses 5,000 credits. */
  const use = (tenant_id: string, key?: string): Promise<Reply> =>
    api.call('post', '/v1/billing/dspy-examples-charge', {
      json: { tenant_id, idempotency_key: randomUUID() },
      ...(key !== undefined && { key }),
    });

  it('refuses what does not fit, says why and when it may, and charges nothing', async () => {
    const tenant = await rich();
    const budget_id = await made(tenant, { time_zone: 'Europe/Berlin' });
    for (let n = 0; n < 2; n += 1) expect((await use(tenant)).status).to.equal(200);
    const refused = await use(tenant);
    expect(refused.status).to.equal(403);
    const [shown] = await list(tenant);
    expect(refused.body).to.include({
      code: 'budget_reached',
      budget_id,
      limit_credits: 12_000,
      used_credits: 10_000,
      held_credits: 0,
      required_credits: 5_000,
      resets_at: shown?.['resets_at'],
    });
    expect(shown).to.deep.include({
      budget_id,
      name: 'Claims',
      used_credits: 10_000,
      left_credits: 2_000,
      alerted: [0.8],
      parent: null,
    });
    const { body } = await api.call('get', `/v1/billing/balance/${tenant}`);
    expect(body).to.include({ balance_credits: 90_000 });
  });

  it('lets more pass once it is raised, and everything once it is removed', async () => {
    const tenant = await rich();
    const id = await made(tenant, { limit_credits: 4_999 });
    expect((await use(tenant)).code).to.equal('budget_reached');
    expect((await change(`${tenant}/${id}`, { limit_credits: 5_000, name: 'More' })).body).to.include({
      limit_credits: 5_000,
      name: 'More',
      used_credits: 0,
    });
    expect((await use(tenant)).status).to.equal(200);
    expect((await use(tenant)).code).to.equal('budget_reached');
    const path = `/v1/billing/budgets/${tenant}/${id}`;
    expect((await api.call('delete', path)).status).to.equal(204);
    expect((await api.call('delete', path)).code).to.equal('budget_not_found');
    expect((await change(`${tenant}/${id}`, {})).code).to.equal('budget_not_found');
    expect((await use(tenant)).status).to.equal(200);
  });

  it('counts the work of its key alone, and shows the tenant’s limit beside it', async () => {
    const tenant = await rich();
    const issued = await api.call('post', '/v1/api-keys', { json: { tenant_id: tenant, role: 'tenant' } });
    const [key, key_id] = [String(issued.body['key']), issued.body['key_id']];
    const parent = await made(tenant, { limit_credits: 20_000 });
    const own = await made(tenant, { scope: { key_id }, limit_credits: 5_000 });
    expect((await use(tenant)).status).to.equal(200);
    expect((await use(tenant, key)).status).to.equal(200);
    expect((await use(tenant, key)).body).to.include({ code: 'budget_reached', budget_id: own });
    const shown = await list(tenant, key);
    expect(shown.find(({ budget_id }) => budget_id === own)).to.deep.include({
      used_credits: 5_000,
      parent: { budget_id: parent, limit_credits: 20_000 },
    });
    // Its owner may raise it so far, and do nothing else.
    expect((await change(`${tenant}/${own}`, { limit_credits: 20_001 }, key)).body).to.include({
      code: 'budget_read_only',
      parent_limit_credits: 20_000,
    });
    expect((await change(`${tenant}/${parent}`, { limit_credits: 30_000 }, key)).code).to.equal(
      'budget_read_only',
    );
    expect((await create(tenant, {}, { key })).code).to.equal('budget_read_only');
    const path = `/v1/billing/budgets/${tenant}/${own}`;
    expect((await api.call('delete', path, { key })).code).to.equal('budget_read_only');
    expect((await change(`${tenant}/${own}`, { limit_credits: 10_000 }, key)).status).to.equal(200);
    expect((await use(tenant, key)).status).to.equal(200);
  });

  it('is managed by a key of the tenant that has no budget of its own', async () => {
    const tenant = await rich();
    const key = await api.newKey(tenant);
    const reply = await create(tenant, { scope: { project_id: 'claims' } }, { key });
    expect(reply.status, reply.text).to.equal(201);
    expect((await list(tenant, key)).map(({ scope }) => scope)).to.deep.equal([{ project_id: 'claims' }]);
  });

  it('has a thousand levels in all its budgets, which one work may reach', async () => {
    const tenant = await rich();
    const alert_at = Array.from({ length: 20 }, (_, n) => (n + 1) / 20);
    const json = { limit_credits: 1, on_reached: 'notify', alert_at };
    for (let n = 0; n < 50; n += 1) await made(tenant, json);
    expect((await create(tenant, { ...json, alert_at: [1] })).code).to.equal('too_many_budgets');
    expect((await use(tenant)).status).to.equal(200);
    const shown = await list(tenant);
    expect(shown.map(({ alerted }) => (alerted as readonly number[]).length)).to.deep.equal(
      Array.from({ length: 50 }, () => 20),
    );
    const [one] = shown;
    expect((await change(`${tenant}/${String(one?.['budget_id'])}`, { alert_at: [1] })).status).to.equal(200);
  });

  it('makes one budget of a request that is sent twice', async () => {
    const tenant = await rich();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await create(tenant, {}, { headers });
    expect((await create(tenant, {}, { headers })).body).to.deep.equal(first.body);
    expect(await list(tenant)).to.have.length(1);
  });

  it('says what it cannot be', async () => {
    const tenant = await rich();
    for (const wrong of [
      { scope: { key_id: 'a', project_id: 'b' } },
      { scope: { tag: { name: 'Not a name', value: 'x' } } },
      { period: 'year' },
      { time_zone: 'Europe/Berln' },
      { limit_credits: -1 },
      { alert_at: [0] },
      { alert_at: [0.12345] },
    ])
      expect((await create(tenant, wrong)).code, JSON.stringify(wrong)).to.equal('validation_error');
    expect((await create('nobody-at-all')).code).to.equal('tenant_not_found');
    expect((await api.call('get', '/v1/billing/budgets/nobody-at-all')).code).to.equal('tenant_not_found');
  });
});
