import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { issuesIn, type Reply } from '../support/client.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

type Row = Record<string, unknown>;

describe('POST /v1/admin/tenants/{tenant_id}/transfer-credits', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  const transfer = (tenant: string, json: Row, key: string = randomUUID()): Promise<Reply> =>
    api.call('post', `/v1/admin/tenants/${tenant}/transfer-credits`, {
      json,
      headers: { 'idempotency-key': key },
    });
  const rows = async (path: string) => (await api.call('get', path)).body['items'] as readonly Row[];
  const balance = async (tenant: string) => (await api.call('get', `/v1/billing/balance/${tenant}`)).body;
  const report = async (start: string) =>
    (await api.call('get', `/v1/admin/margin-report?start=${start}`)).body;
  const refund = (tenant_id: string, json: Row): Promise<Reply> =>
    api.call('post', '/v1/billing/refunds', { json: { tenant_id, provider_txn_id: randomUUID(), ...json } });
  /** Uses 5,000 credits. */
  const use = (tenant_id: string, idempotency_key: string) =>
    api.call('post', '/v1/billing/dspy-examples-charge', { json: { tenant_id, idempotency_key } });

  /** A tenant that bought 20,000 credits for 20.00, and one without credits that it is merged into. */
  const merging = async () => {
    const [from, to] = [`merged-${randomUUID()}`, `into-${randomUUID()}`];
    const payment = `pi-${from}`;
    const json = { tenant_id: from, provider_txn_id: payment, credits: 20_000, gross_amount_minor: 2_000 };
    expect((await api.call('post', '/v1/billing/credits', { json })).status).to.equal(200);
    await api.call('post', `/v1/admin/tenants/${to}/set-plan`, { json: { plan: 'paid' } });
    return { from, to, payment };
  };

  it('moves credits once, as rows of both ledgers, and neither was bought nor used', async () => {
    const { from, to } = await merging();
    const key = randomUUID();
    const json = { to_tenant_id: to, credits: 12_000, reason: 'merged' };
    const first = await transfer(from, json, key);
    expect(first.body).to.include({
      tenant_id: from,
      to_tenant_id: to,
      credits: 12_000,
      credited: true,
      balance_credits: 8_000,
      to_balance_credits: 12_000,
    });
    await api.forgetReplays();
    expect((await transfer(from, json, key)).body).to.deep.equal({ ...first.body, credited: false });
    expect((await transfer(from, { ...json, credits: 1 }, key)).code).to.equal('idempotency_key_reused');
    const [out] = await rows(`/v1/admin/tenants/${from}/ledger`);
    expect(out).to.include({
      kind: 'transfer_out',
      credits_delta: -12_000,
      balance_after: 8_000,
      other_tenant_id: to,
    });
    const [arrived] = await rows(`/v1/admin/tenants/${to}/ledger`);
    expect(arrived).to.include({ kind: 'transfer_in', credits_delta: 12_000, other_tenant_id: from });
    expect(await balance(from)).to.include({
      total_credits_purchased: 20_000,
      total_credits_adjusted: -12_000,
    });
    expect(await balance(to)).to.include({ total_credits_purchased: 0, total_credits_adjusted: 12_000 });
    expect((await api.call('get', '/v1/admin/reconciliation')).body['drifted']).to.deep.equal([]);
    for (const tenant of [from, to]) {
      const [day] = (await rows(`/v1/billing/usage-days/${tenant}`)).slice(-1);
      expect(day?.['balance_credits']).to.equal((await balance(tenant))['balance_credits']);
    }
  });

  it('takes the price along: nothing is recognised by it, and use is revenue, not promotion', async () => {
    const { from, to } = await merging();
    const start = new Date().toISOString();
    const before = await report(start);
    await transfer(from, { to_tenant_id: to, all: true, reason: 'merged' });
    const moved = await report(start);
    expect(moved['realized_margin']).to.deep.equal(before['realized_margin']);
    expect(moved['deferred_revenue_usd']).to.equal(before['deferred_revenue_usd']);
    await use(to, 'merged');
    const used = await report(start);
    expect(used['realized_margin']).to.include({ net_revenue_usd: '5.000000', refunds_usd: '0.000000' });
    expect(used['gap_breakdown']).to.include({ promo_usd: '0.000000', refund_true_up_usd: '0.000000' });
  });

  it('lets a refund of the payment bring its credits back, and recognises as if they had stayed', async () => {
    const { from, to, payment } = await merging();
    const start = new Date().toISOString();
    await transfer(from, { to_tenant_id: to, all: true, reason: 'merged' });
    await use(to, 'merged');
    const all = { original_provider_txn_id: payment, gross_amount_minor: 2_000 };
    const refused = await refund(from, all);
    expect(refused.body).to.include({ code: 'insufficient_balance', max_refundable_credits: 15_000 });
    const done = await refund(from, { ...all, credits: 15_000 });
    expect(done.body).to.include({ credits: 15_000, balance_credits: 0, refundable_amount_minor: 0 });
    expect(await balance(to)).to.include({ balance_credits: 0 });
    expect((await report(start))['realized_margin']).to.include({
      net_revenue_usd: '5.000000',
      refunds_usd: '-5.000000',
    });
  });

  it('lets a dispute of the payment take what is left of its credits, wherever they are', async () => {
    const { from, to, payment } = await merging();
    await transfer(from, { to_tenant_id: to, credits: 15_000, reason: 'merged' });
    await use(to, 'merged');
    const dispute = { provider: 'manual', provider_txn_id: `dp-${from}`, original_provider_txn_id: payment };
    const reply = await api.call('post', '/v1/billing/disputes', { json: { ...dispute, status: 'opened' } });
    expect(reply.body).to.include({ tenant_id: from, credits: 15_000, balance_credits: 0 });
    expect(await balance(to)).to.include({ balance_credits: 0 });
  });

  it('refuses more than is there, an unknown receiver, the tenant itself, and unclear amounts', async () => {
    const { from, to } = await merging();
    const json = { to_tenant_id: to, reason: 'merged' };
    expect((await transfer(from, { ...json, credits: 20_001 })).body).to.include({
      status: 409,
      code: 'insufficient_balance',
      available_credits: 20_000,
    });
    const nobody = { ...json, to_tenant_id: `no-${randomUUID()}`, all: true };
    expect((await transfer(from, nobody)).body).to.include({ status: 404, code: 'tenant_not_found' });
    for (const wrong of [{}, { credits: 1, all: true }, { credits: 0 }, { credits: 1, to_tenant_id: from }])
      expect(issuesIn(await transfer(from, { ...json, ...wrong }))).not.to.deep.equal([]);
    expect(await balance(from)).to.include({ balance_credits: 20_000 });
  });
});
