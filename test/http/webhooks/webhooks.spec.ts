import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { startApi, type TestApi } from '../support/testApi.ts';
import { dataOf, startReceiver, status, type Receiver } from './receiver.ts';
import { toldTenant, WEBHOOK_ENV } from './toldTenant.ts';

describe('webhooks', () => {
  let api: TestApi;
  let receiver: Receiver;
  before(async () => {
    api = await startApi(WEBHOOK_ENV);
  });
  after(() => api.stop());
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.stop());

  const newTenant = async (settings: object = {}) => {
    const tenant = await toldTenant(api, receiver.url, settings);
    const moved = async (credits: number) => {
      await tenant.adjust(credits);
      return tenant.sent();
    };
    return { ...tenant, moved };
  };

  const types = () => receiver.received.map(({ payload }) => payload['type']);

  it('tell what happened, signed as Standard Webhooks says', async () => {
    const { tenant_id, secret, moved, deliveries } = await newTenant();
    expect(await moved(500)).to.equal(1);
    const [message] = receiver.received;
    const verified = new Webhook(secret).verify(message!.body, message!.headers) as Record<string, unknown>;
    expect(verified).to.deep.include({ type: 'credits.adjusted', version: '1', tenant_id });
    expect(dataOf(message!)).to.deep.include({ credits: 500, balance_credits: 500 });
    expect(() => new Webhook(secret).verify(`${message!.body} `, message!.headers)).to.throw();
    const [row] = await deliveries();
    expect(row).to.deep.include({ delivery_id: message!.id, status: 'delivered', attempts: 1 });
    expect(row).to.deep.include({ response_status: 204, error: null, next_attempt_at: null });
    expect(row!['payload']).to.deep.equal(message!.payload);
  });

  it('tell of nothing that happened before, of other tenants, or that was not asked for', async () => {
    const { moved } = await newTenant({ events: ['credits.granted'] });
    const other = await newTenant({ events: ['credits.adjusted'] });
    await moved(100);
    expect(receiver.received).to.have.lengthOf(0);
    await other.moved(100);
    expect(receiver.received).to.have.lengthOf(1);
  });

  it('tell of sales, refunds and keys', async () => {
    const { tenant_id, sent } = await newTenant();
    const sold = await api.sell(tenant_id, 1000);
    expect(sold.status, sold.text).to.equal(200);
    const made = await api.call('post', '/v1/api-keys', { json: { tenant_id, role: 'tenant' } });
    await api.call('delete', `/v1/api-keys/${String(made.body['key_id'])}`);
    await sent();
    expect(types()).to.have.members(['credits.granted', 'key.created', 'key.revoked']);
    const revoked = receiver.received.find(({ payload }) => payload['type'] === 'key.revoked');
    expect(dataOf(revoked!)).to.deep.equal({ key_id: made.body['key_id'] });
  });

  it('tell once for each time that a balance comes down below the threshold, or to nothing', async () => {
    const { moved } = await newTenant({
      events: ['balance.low', 'balance.exhausted'],
      low_balance_credits: 100,
    });
    for (const credits of [150, -20, -50, -10, 100, -120, -60, -10, 500, -600]) await moved(credits);
    expect(
      receiver.received.map(({ payload }) => [
        payload['type'],
        dataOf({ payload } as never)['balance_credits'],
      ]),
    ).to.deep.equal([
      ['balance.low', 80],
      ['balance.low', 50],
      ['balance.exhausted', -10],
      ['balance.low', -120],
      ['balance.exhausted', -120],
    ]);
  });

  it('tell once of each level of a budget, when it will be reached, and of work that does not fit it', async () => {
    const { tenant_id, moved, sent } = await newTenant({ events: ['budget.alert', 'budget.reached'] });
    await api.call('post', `/v1/admin/tenants/${tenant_id}/set-plan`, { json: { plan: 'paid' } });
    await moved(100_000);
    const json = {
      tenant_id,
      name: 'n',
      scope: {},
      period: 'total',
      limit_credits: 12_000,
      alert_at: [0.5, 0.8],
    };
    const made = await api.call('post', '/v1/billing/budgets', { json });
    const budget_id = String(made.body['budget_id']);
    for (const idempotency_key of ['a', 'b', 'c', 'c'])
      await api.call('post', '/v1/billing/dspy-examples-charge', { json: { tenant_id, idempotency_key } });
    await sent();
    const refused = dataOf(receiver.received.find(({ payload }) => payload['type'] === 'budget.reached')!)[
      'operation_id'
    ];
    const budget = {
      budget_id,
      period_start: null,
      limit_credits: 12_000,
      held_credits: 0,
      used_credits: 10_000,
    };
    // 10,000 credits were used on the first day: 2,000 more take a fifth of one.
    const { payload: told } = receiver.received.find(({ payload }) => payload['type'] === 'budget.alert')!;
    const end = new Date(Date.parse(String(told['timestamp'])) + 86_400_000 / 5).toISOString();
    const ends = { expected_end_at_7_days: end, expected_end_at_28_days: end };
    expect(
      receiver.received.map((message) => [message.payload['type'], dataOf(message)]),
    ).to.have.deep.members([
      ['budget.alert', { ...budget, level: 0.5, ...ends }],
      ['budget.alert', { ...budget, level: 0.8, ...ends }],
      ['budget.reached', { ...budget, required_credits: 5_000, resets_at: null, operation_id: refused }],
    ]);
  });

  it('tell once of a balance that falls below several levels at once, and for how many days it lasts', async () => {
    const { tenant_id, moved, sent, call } = await newTenant({
      events: ['balance.low'],
      low_balance_at: [100, 6_000, 1_000],
    });
    expect((await call('get')).body).to.deep.include({
      low_balance_credits: null,
      low_balance_at: [100, 6_000, 1_000],
    });
    await api.sell(tenant_id, 12_000);
    const charge = (idempotency_key: string) =>
      api.call('post', '/v1/billing/dspy-examples-charge', { json: { tenant_id, idempotency_key } });
    for (const key of ['a', 'b']) expect((await charge(key)).status).to.equal(200);
    await moved(-1_950);
    await sent();
    expect(receiver.received.map((one) => dataOf(one))).to.deep.equal([
      // 10,000 credits were used today, the only day with any: 2,000 last for 1.4 days, or for 5.6.
      { balance_credits: 2_000, low_balance_credits: 6_000, days_left_at_7_days: 1, days_left_at_28_days: 5 },
      { balance_credits: 50, low_balance_credits: 100, days_left_at_7_days: 0, days_left_at_28_days: 0 },
    ]);
    const { body } = await api.call('get', `/v1/billing/balance/${tenant_id}`);
    expect(body).to.include({ days_left_at_7_days: 0, days_left_at_28_days: 0 });
  });

  it('that are tested get one message, whatever they ask for, and no other webhook does', async () => {
    const { tenant_id, key, secret, webhook_id, sent, call, deliveries } = await newTenant({
      events: ['credits.granted'],
    });
    const other = { tenant_id, url: `${receiver.url}/other`, events: ['*'] };
    expect((await api.call('post', '/v1/webhooks', { key, json: other })).status).to.equal(201);
    const tested = await call('post', '/test');
    expect([tested.status, tested.body['event'], tested.body['status']], tested.text).to.deep.equal([
      202,
      'webhook.test',
      'pending',
    ]);
    expect(await sent()).to.equal(1);
    const [message] = receiver.received;
    const verified = new Webhook(secret).verify(message!.body, message!.headers) as Record<string, unknown>;
    expect(verified).to.deep.include({ type: 'webhook.test', tenant_id, data: { webhook_id } });
    expect(message!.id).to.equal(tested.body['delivery_id']);
    const [row] = await deliveries('?event=webhook.test');
    expect(row).to.deep.include({ delivery_id: message!.id, status: 'delivered', attempts: 1 });
  });

  it('that are tested again do not wait for a test that is stuck, and a repeat is another test', async () => {
    const { call, sent } = await newTenant();
    receiver.answerWith(status(500));
    const answers = await Promise.all([call('post', '/test'), call('post', '/test')]);
    expect(answers.map((answer) => answer.status)).to.deep.equal([202, 202]);
    expect(await sent()).to.equal(2);
    receiver.answerWith(status(200));
    await call('post', '/test');
    expect(await sent()).to.equal(1);
    expect(new Set(receiver.received.map(({ id }) => id)).size).to.equal(3);
  });

  it('that are disabled are not tested, and nobody asks for tests', async () => {
    const { call, sent } = await newTenant();
    const settings = { url: receiver.url, events: ['*'] };
    await call('put', '', { ...settings, enabled: false });
    const refused = await call('post', '/test');
    expect([refused.status, refused.code], refused.text).to.deep.equal([409, 'webhook_disabled']);
    expect(await sent()).to.equal(0);
    const asked = await call('put', '', { ...settings, events: ['webhook.test'] });
    expect([asked.status, asked.code]).to.deep.equal([422, 'validation_error']);
  });

  it('are tried again with pauses that grow, under the same ID, until the receiver takes them', async () => {
    const { moved, sent, deliveries, call } = await newTenant();
    receiver.answerWith(status(500));
    await moved(1);
    expect(await sent(), 'not before its pause is over').to.equal(0);
    const [row] = await deliveries('?status=pending');
    expect(row).to.deep.include({ status: 'pending', attempts: 1, response_status: 500, error: 'status' });
    const pause = Date.parse(String(row!['next_attempt_at'])) - Date.parse(String(row!['last_attempt_at']));
    expect(pause).to.be.within(5_000, 6_000);
    expect((await call('get')).body['failing_since']).to.equal(row!['last_attempt_at']);
    api.wait(6_000);
    await sent();
    api.wait(25_000);
    receiver.answerWith(status(200));
    await sent();
    expect(receiver.received).to.have.lengthOf(3);
    expect(new Set(receiver.received.map(({ id }) => id)).size).to.equal(1);
    expect(new Set(receiver.received.map(({ body }) => body)).size).to.equal(1);
    expect((await call('get')).body['failing_since']).to.equal(null);
    expect(await deliveries('?status=delivered&event=credits.adjusted')).to.have.lengthOf(1);
  });
});
