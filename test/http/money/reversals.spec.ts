import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

describe('POST /v1/billing/refunds/{refund_id}/reversal', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  const refunds = (json: Record<string, unknown>): Promise<Reply> =>
    api.call('post', '/v1/billing/refunds', { json });

  const reverse = (refund_id: unknown, json: unknown) =>
    api.call('post', `/v1/billing/refunds/${String(refund_id)}/reversal`, { json });
  const refunded = async (tenant_id: string) => {
    const original_provider_txn_id = randomUUID();
    const payment = { tenant_id, provider_txn_id: original_provider_txn_id };
    const sale = { ...payment, credits: 10_000, gross_amount_minor: 1_000 };
    await api.call('post', '/v1/billing/credits', { json: sale });
    const json = { tenant_id, provider_txn_id: randomUUID(), original_provider_txn_id };
    const { body } = await refunds({ ...json, gross_amount_minor: 1_000 });
    return { original_provider_txn_id, refund: body };
  };

  it('gives credits and money back to the sale, which can be refunded again', async () => {
    const { original_provider_txn_id, refund } = await refunded('reversal-1');
    const json = { provider_txn_id: randomUUID(), reason: 'dispute won' };
    const first = await reverse(refund['refund_id'], json);
    expect(first.body).to.include({
      refund_id: refund['refund_id'],
      grant_id: refund['grant_id'],
      tenant_id: 'reversal-1',
      credits: 10_000,
      gross_amount_minor: 1_000,
      balance_credits: 10_000,
      credited: true,
      reversible_credits: 0,
      reversible_amount_minor: 0,
      refundable_credits: 10_000,
      refundable_amount_minor: 1_000,
    });
    expect((await reverse(refund['refund_id'], json)).body).to.deep.equal({
      ...first.body,
      credited: false,
    });
    expect((await reverse(refund['refund_id'], { ...json, reason: 'lost' })).code).to.equal(
      'idempotency_key_reused',
    );
    const again = { tenant_id: 'reversal-1', provider_txn_id: randomUUID(), original_provider_txn_id };
    expect((await refunds({ ...again, gross_amount_minor: 1_000 })).body).to.include({ credits: 10_000 });
  });

  it('is a grant and a row of the ledger, and the sale knows what of it is refunded', async () => {
    const { refund } = await refunded('reversal-2');
    const won = await reverse(refund['refund_id'], {
      provider_txn_id: randomUUID(),
      gross_amount_minor: 250,
    });
    const { body } = await api.call('get', '/v1/billing/grants/reversal-2');
    const [reversal, , sale] = body['items'] as readonly object[];
    expect(reversal).to.include({
      kind: 'reversal',
      grant_id: won.body['reversal_id'],
      refund_id: refund['refund_id'],
      original_grant_id: refund['grant_id'],
      credits: 2_500,
      gross_amount_minor: 250,
    });
    expect(sale).to.include({ kind: 'sale', refunded_credits: 7_500, refunded_amount_minor: 750 });
    const ledger = await api.call('get', '/v1/admin/tenants/reversal-2/ledger');
    const [row] = ledger.body['items'] as readonly object[];
    expect(row).to.include({ kind: 'reversal', credits_delta: 2_500, balance_after: 2_500 });
    const balance = await api.call('get', '/v1/billing/balance/reversal-2');
    expect(balance.body).to.include({ total_credits_purchased: 2_500 });
    expect((await api.call('get', '/v1/admin/reconciliation')).body['drifted']).to.deep.equal([]);
  });

  it('refuses more than the refund, and what is no refund', async () => {
    const { refund } = await refunded('reversal-3');
    const json = { provider_txn_id: randomUUID(), gross_amount_minor: 1_001 };
    expect((await reverse(refund['refund_id'], json)).body).to.include({
      status: 422,
      code: 'reversal_exceeds_refund',
      reversible_credits: 10_000,
      reversible_amount_minor: 1_000,
    });
    for (const other of ['rfd_none', refund['grant_id']])
      expect((await reverse(other, json)).body).to.include({ status: 404, code: 'refund_not_found' });
    for (const wrong of [{}, { provider_txn_id: 'x', credits: 0 }, { ...json, tenant_id: 't' }])
      expect((await reverse(refund['refund_id'], wrong)).code).to.equal('validation_error');
  });
});
