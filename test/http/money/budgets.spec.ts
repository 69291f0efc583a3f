import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { nearBudgetsOf } from '../../../src/api/money/budgets.ts';
import { accountWriter } from '../../../src/writer/accountWriter.ts';
import { memoryEventStore } from '../../support/logs/memoryEventStore.ts';
import { adjustment } from '../../support/money/accountCommands.ts';
import type { Reply } from '../support/client.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

type Row = Record<string, unknown>;

const DAY_MS = 86_400_000;

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

  it('lists the latest work that each budget refused in its period, until it is changed', async () => {
    const tenant = await rich();
    const id = await made(tenant, { limit_credits: 7_000 });
    expect((await use(tenant)).status).to.equal(200);
    const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'f'];
    for (const idempotency_key of keys) {
      const json = { tenant_id: tenant, idempotency_key };
      const { code } = await api.call('post', '/v1/billing/dspy-examples-charge', { json });
      expect(code).to.equal('budget_reached');
    }
    const [shown] = await list(tenant);
    const refusals = shown?.['refusals'] as readonly Row[];
    expect(refusals.map(({ idempotency_key }) => idempotency_key)).to.deep.equal(['f', 'e', 'd', 'c', 'b']);
    expect(refusals[0]).to.deep.include({
      required_credits: 5_000,
      limit_credits: 7_000,
      used_credits: 5_000,
      held_credits: 0,
    });
    expect((await change(`${tenant}/${id}`, { limit_credits: 8_000 })).body).to.deep.include({
      refusals: [],
    });
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

  it('says when it will be used up, at the pace of the days since it was made', async () => {
    const tenant = await rich();
    await made(tenant, { period: 'total' });
    await made(tenant, { period: 'day', limit_credits: 1_000_000 });
    const ends = async () =>
      (await list(tenant)).map((one) => [one['expected_end_at_7_days'], one['expected_end_at_28_days']]);
    const never = [null, null];
    expect(await ends()).to.deep.equal([never, never]);
    for (let n = 0; n < 2; n += 1) expect((await use(tenant)).status).to.equal(200);
    const reply = await api.call('get', `/v1/billing/budgets/${tenant}`);
    // 10,000 credits within one day: 2,000 more take a fifth of one, and 990,000 more than the day has.
    const end = new Date(Date.parse(String(reply.body['as_of'])) + 86_400_000 / 5).toISOString();
    const shown = reply.body['budgets'] as readonly Row[];
    expect(shown.map((one) => one['expected_end_at_7_days'])).to.deep.equal([end, null]);
    expect(shown.map((one) => one['expected_end_at_28_days'])).to.deep.equal([end, null]);
  });

  it('is told with the balance once it is reached, or nearly so, the most used first', async () => {
    // In the last hours of a month a budget begins anew before it would be used up: somewhere the next has begun.
    const today = new Date();
    const leftMs = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1) - today.getTime();
    const time_zone = leftMs < DAY_MS / 2 ? 'Pacific/Kiritimati' : 'UTC';
    const tenant = await rich();
    const balance = async (path = 'balance'): Promise<Row> =>
      (await api.call('get', `/v1/billing/${path}/${tenant}`)).body;
    await made(tenant, { name: 'Plenty', limit_credits: 50_000, period: 'total' });
    const near = await made(tenant, { name: 'Near', limit_credits: 6_250, on_reached: 'notify', time_zone });
    const reached = await made(tenant, { name: 'Reached', limit_credits: 5_000, period: 'total' });
    expect((await balance())['budgets']).to.deep.equal({ reached: 0, near: 0, items: [] });
    expect((await use(tenant)).status).to.equal(200);
    const [, nearNow] = await list(tenant);
    const told = (await balance())['budgets'] as Row;
    expect(told).to.include({ reached: 1, near: 1 });
    const [first, second] = told['items'] as readonly Row[];
    expect(first).to.deep.include({
      budget_id: reached,
      name: 'Reached',
      scope: {},
      standing: 'reached',
      used_credits: 5_000,
      left_credits: 0,
      resets_at: null,
    });
    expect(first?.['expected_end_at_7_days']).to.be.a('string');
    expect(second).to.deep.include({
      budget_id: near,
      standing: 'near',
      on_reached: 'notify',
      left_credits: 1_250,
      resets_at: nearNow?.['resets_at'],
    });
    expect(second?.['expected_end_at_28_days']).to.be.a('string');
    expect((await balance('tenant-info'))['budgets']).to.deep.include({ reached: 1, near: 1 });
  });

  it('names the twenty most used with the balance, and counts them all', async () => {
    const tenant = await rich();
    for (let n = 0; n < 21; n += 1) await made(tenant, { name: `Nothing ${String(n)}`, limit_credits: 0 });
    const { body } = await api.call('get', `/v1/billing/balance/${tenant}`);
    const { items, ...counts } = body['budgets'] as Row;
    expect(counts).to.deep.equal({ reached: 21, near: 0 });
    expect(items).to.have.length(20);
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

describe('budgets beside a balance', () => {
  it('are those that this process knows: the log is not read for each balance', async () => {
    const store = memoryEventStore();
    const accounts = accountWriter({ store, limits: { stateMaxAgeMs: 3_600_000 } });
    await accounts.execute(adjustment('acme', 100));
    const near = () => nearBudgetsOf({ accounts }, 'acme', '2026-01-31T08:00:00.000Z');
    store.readsFail = true;
    expect(await near()).to.deep.equal({ reached: 0, near: 0, items: [] });
    accounts.forget('all');
    expect(await near(), 'the account cannot be read').to.equal(null);
    await accounts.close();
  });
});
