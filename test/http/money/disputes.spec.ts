import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { issuesIn, type Reply } from '../support/client.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

type Row = Record<string, unknown>;

describe('POST /v1/billing/disputes', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  const disputed = (json: Row): Promise<Reply> => api.call('post', '/v1/billing/disputes', { json });
  const rows = async (path: string) => (await api.call('get', path)).body['items'] as readonly Row[];

  /** 10.00 USD for 10,000 credits, of which 5,000 may be used. */
  const sold = async (isHalfUsed = false) => {
    const tenant_id = `disputed-${randomUUID()}`;
    const payment = { provider: 'stripe', provider_txn_id: `pi-${tenant_id}` };
    const json = { tenant_id, ...payment, credits: 10_000, gross_amount_minor: 1_000 };
    expect((await api.call('post', '/v1/billing/credits', { json })).status).to.equal(200);
    const charge = { tenant_id, idempotency_key: 'half' };
    if (isHalfUsed) await api.call('post', '/v1/billing/dspy-examples-charge', { json: charge });
    const identity = { provider: 'stripe', provider_txn_id: `dp-${tenant_id}` };
    return { tenant_id, dispute: { ...identity, original_provider_txn_id: payment.provider_txn_id } };
  };

  it('takes back what is there, gives it back when it is won, and keeps the fee as a cost', async () => {
    const { tenant_id, dispute } = await sold(true);
    const start = new Date().toISOString();
    const opened = await disputed({ ...dispute, status: 'opened', fee_minor: 1_500 });
    expect(opened.body).to.include({
      tenant_id,
      status: 'opened',
      credits: 5_000,
      gross_amount_minor: 1_000,
      fee_minor: 1_500,
      balance_credits: 0,
      refundable_amount_minor: 0,
      credited: true,
    });
    const won = await disputed({ ...dispute, status: 'won' });
    expect(won.body).to.include({
      dispute_id: opened.body['dispute_id'],
      status: 'won',
      fee_minor: 1_500,
      balance_credits: 5_000,
      refundable_credits: 10_000,
      refundable_amount_minor: 1_000,
      credited: true,
    });
    const report = (await api.call('get', `/v1/admin/margin-report?start=${start}`)).body;
    expect(report['realized_margin']).to.include({ dispute_fees_usd: '15.000000', margin_usd: '-15.000000' });
    expect(report['gap_breakdown']).to.include({
      dispute_fee_usd: '-15.000000',
      refund_true_up_usd: '0.000000',
    });
    const [usd] = report['by_currency'] as readonly Row[];
    expect(usd).to.include({ dispute_fee_minor: 1_500, dispute_fee_usd: '15.000000' });
  });

  it('is in the lists of payments and grants with its state and fee, and its money adds up', async () => {
    const { tenant_id, dispute } = await sold();
    await disputed({ ...dispute, status: 'opened' });
    const path = `/v1/admin/payments?tenant_id=${tenant_id}`;
    const [row] = await rows(`${path}&kind=dispute`);
    expect(row).to.include({
      kind: 'dispute',
      credits: -10_000,
      gross_amount_minor: -1_000,
      provider_txn_id: dispute.provider_txn_id,
      dispute_fee_minor: 0,
    });
    await disputed({ ...dispute, status: 'won', fee_minor: 2_000 });
    const [reversal, now, sale] = await rows(`/v1/billing/grants/${tenant_id}`);
    expect(now).to.include({ kind: 'dispute', dispute_status: 'won', dispute_fee_minor: 2_000 });
    expect(reversal).to.include({ kind: 'reversal', credits: 10_000, refund_id: now?.['grant_id'] });
    expect(sale).to.include({ refunded_credits: 0, refunded_amount_minor: 0 });
    const [sums] = (await api.call('get', path)).body['by_currency'] as readonly Row[];
    expect(sums).to.include({ gross_amount_minor: 1_000, dispute_fee_minor: 2_000 });
  });

  it('is the same dispute when it is told again, and refuses what contradicts', async () => {
    const { dispute } = await sold();
    const first = await disputed({ ...dispute, status: 'opened', gross_amount_minor: 500 });
    expect(first.body).to.include({ credits: 5_000, credited: true });
    const again = await disputed({ ...dispute, status: 'opened', gross_amount_minor: 500 });
    expect(again.body).to.deep.equal({ ...first.body, credited: false });
    expect((await disputed({ ...dispute, status: 'lost', fee_minor: 1_500 })).body).to.include({
      status: 'lost',
      fee_minor: 1_500,
      credited: true,
    });
    expect((await disputed({ ...dispute, status: 'opened' })).body).to.include({
      status: 'lost',
      credited: false,
    });
    const contradictions: readonly (readonly [Row, string])[] = [
      [{ status: 'won' }, 'status'],
      [{ status: 'lost', gross_amount_minor: 400 }, 'gross_amount_minor'],
      [{ status: 'lost', fee_minor: 2_000 }, 'fee_minor'],
      [
        { status: 'lost', original_provider_txn_id: (await sold()).dispute.original_provider_txn_id },
        'original_provider_txn_id',
      ],
    ];
    for (const [news, member] of contradictions)
      expect((await disputed({ ...dispute, ...news })).body).to.deep.include({
        status: 422,
        code: 'idempotency_key_reused',
        members: [member],
      });
  });

  it('refuses more than the sale, what was not sold, and what it does not know', async () => {
    const { dispute } = await sold();
    expect((await disputed({ ...dispute, status: 'opened', gross_amount_minor: 1_001 })).body).to.include({
      status: 422,
      code: 'refund_exceeds_original',
      refundable_amount_minor: 1_000,
    });
    const unknown = { ...dispute, original_provider_txn_id: randomUUID(), status: 'opened' };
    expect((await disputed(unknown)).body).to.include({ status: 404, code: 'original_grant_not_found' });
    for (const wrong of [{}, { status: 'closed' }, { status: 'won', tenant_id: 't' }])
      expect(issuesIn(await disputed({ ...dispute, ...wrong }))).not.to.deep.equal([]);
  });

  it('cannot be reversed as a refund is', async () => {
    const { dispute } = await sold();
    const { body } = await disputed({ ...dispute, status: 'opened' });
    const path = `/v1/billing/refunds/${String(body['dispute_id'])}/reversal`;
    const reply = await api.call('post', path, { json: { provider_txn_id: randomUUID() } });
    expect(reply.code).to.equal('refund_not_found');
  });
});
