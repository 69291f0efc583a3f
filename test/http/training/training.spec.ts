import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { testApi, type TestApi } from '../support/testApi.ts';

const PATH = '/v1/billing/dspy-examples-charge';

describe('the charge for an export of examples', () => {
  let api: TestApi;
  let tenant: string;
  before(async () => {
    api = await testApi();
  });
  beforeEach(() => {
    tenant = `examples-${randomUUID()}`;
  });
  const charge = (idempotency_key: string, more: object = {}) =>
    api.call('post', PATH, { json: { tenant_id: tenant, idempotency_key, ...more } });
  const balance = async () =>
    (await api.call('get', `/v1/billing/balance/${tenant}`)).body['balance_credits'];

  it('takes the flat fee once for a key, for ever', async () => {
    await api.sell(tenant, 20_000);
    const first = await charge('export-1', { examples_count: 12 });
    expect(first.body).to.include({ charged: true, credits_charged: 5_000, balance_credits: 15_000 });
    await api.forgetReplays();
    const again = await charge('export-1', { examples_count: 12 });
    expect(again.body).to.include({ charged: false, charge_id: first.body['charge_id'] });
    expect(again.body).to.include({ credits_charged: 5_000, balance_credits: 15_000 });
    expect(await balance()).to.equal(15_000);
  });

  it('takes it once when it is asked for fifty times at once', async () => {
    await api.sell(tenant, 20_000);
    const replies = await Promise.all(Array.from({ length: 50 }, () => charge('export-1')));
    expect(replies.filter(({ body }) => body['charged'] === true)).to.have.length(1);
    expect(replies.every(({ status }) => status === 200)).to.equal(true);
    expect(await balance()).to.equal(15_000);
  });

  it('refuses a key that belongs to another export', async () => {
    await api.sell(tenant, 20_000);
    await charge('export-1', { examples_count: 2 });
    for (const other of [{ examples_count: 3 }, {}])
      expect((await charge('export-1', other)).code).to.equal('idempotency_key_reused');
    expect(await balance()).to.equal(15_000);
  });

  it('needs a paid plan first, then enough credits; a refusal binds nothing', async () => {
    await api.newKey(tenant);
    const free = await charge('export-1');
    expect([free.status, free.code]).to.deep.equal([403, 'plan_required']);
    expect(free.body).to.include({ plan: 'free', required_plan: 'paid' });
    await api.sell(tenant, 4_000);
    const poor = await charge('export-1');
    expect([poor.status, poor.code]).to.deep.equal([403, 'insufficient_credits']);
    expect(poor.body).to.include({ required_credits: 5_000, available_credits: 4_000 });
    await api.sell(tenant, 1_000);
    expect((await charge('export-1')).body).to.include({ charged: true, balance_credits: 0 });
  });

  it('knows one framework', async () => {
    const reply = await api.call('post', '/v1/billing/other-examples-charge', { json: {} });
    expect([reply.status, reply.code]).to.deep.equal([404, 'not_found']);
  });

  it('refuses keys of bad length and unknown members', async () => {
    for (const json of [
      { tenant_id: tenant, idempotency_key: '' },
      { tenant_id: tenant, idempotency_key: 'x'.repeat(256) },
      { tenant_id: tenant },
      { tenant_id: tenant, idempotency_key: 'x', fee: 1 },
    ])
      expect((await api.call('post', PATH, { json })).code).to.equal('validation_error');
  });
});

describe('the quote of a training job', () => {
  let api: TestApi;
  const tenant = `training-${randomUUID()}`;
  before(async () => {
    api = await testApi();
    await api.sell(tenant, 3_000);
  });
  const quote = (query: string) => api.call('get', `/v1/billing/training-quote?tenant_id=${tenant}${query}`);

  it('is base, examples and metric calls of the tier', async () => {
    const { body } = await quote('&optimizer_tier=light&total_examples=10');
    expect(body).to.deep.include({
      credits: 2_800,
      max_metric_calls: 60,
      breakdown: { base: 2_000, examples: 200, metric_calls: 600 },
      list_value_usd: '2.80',
      available_credits: 3_000,
      sufficient: true,
      plan_allows: true,
    });
    const heavy = await quote('&optimizer_tier=heavy&max_metric_calls=7');
    expect(heavy.body).to.deep.include({ credits: 18_070, sufficient: false });
  });

  it('leaves the metric calls out with the own key', async () => {
    const { body } = await quote('&billing_type=byok&total_examples=1');
    expect(body).to.deep.include({
      credits: 2_020,
      breakdown: { base: 2_000, examples: 20, metric_calls: 0 },
    });
  });

  it('says that the free plan does not include it, and knows no strangers', async () => {
    const free = `training-${randomUUID()}`;
    await api.newKey(free);
    const { body } = await api.call('get', `/v1/billing/training-quote?tenant_id=${free}`);
    expect(body).to.include({ plan_allows: false, sufficient: false });
    expect((await api.call('get', '/v1/billing/training-quote?tenant_id=nobody')).code).to.equal(
      'tenant_not_found',
    );
    for (const bad of ['&total_examples=-1', '&optimizer_tier=huge', '&max_metric_calls=1e9'])
      expect((await quote(bad)).code).to.equal('validation_error');
  });
});
