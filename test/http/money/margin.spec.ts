import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { testApi, type TestApi } from '../support/testApi.ts';

type Report = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Micro-USD of decimal text with 6 decimals. */
const micro = (text: unknown): bigint => BigInt(String(text).replace('.', ''));

describe('the margin report over HTTP', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  const reportFrom = async (start: string) => {
    const { status, body } = await api.call('get', `/v1/admin/margin-report?start=${start}`);
    expect(status).to.equal(200);
    return body as unknown as Report;
  };

  it('has the worked example in it, to the micro-dollar', async () => {
    const tenant = `margin-${randomUUID()}`;
    const lists = await api.call('get', '/v1/admin/credit-prices');
    const before = (lists.body['entries'] as readonly { readonly currency: string }[]).map((entry) => entry);
    const entries = [
      { currency: 'USD', price_per_1000_credits: '1.00' },
      { currency: 'EUR', price_per_1000_credits: '0.92' },
    ];
    await api.call('post', '/v1/admin/credit-prices', { json: { entries } });
    const today = new Date().toISOString().slice(0, 10);
    await api.call('post', '/v1/admin/fx-rates', { json: { date: today, rates: { USD: '1.10' } } });
    const start = new Date().toISOString();
    const sale = await api.call('post', '/v1/billing/credits', {
      json: {
        tenant_id: tenant,
        provider_txn_id: tenant,
        credits: 10_870,
        currency: 'EUR',
        gross_amount_minor: 1190,
        vat_amount_minor: 190,
        provider_fee_minor: 45,
      },
    });
    expect(sale.body).to.include({ fx_rate_to_usd: '1.10', fx_rate_date: today });
    const sold = await reportFrom(start);
    expect(sold['deferred_revenue_usd']).to.equal((await reportFrom(start))['deferred_revenue_usd']);
    const config = await api.call('get', '/v1/billing/config');
    const fee = Number(config.body['examples_export_fee_credits']);
    await api.call('post', '/v1/admin/billing-config', { json: { examples_export_fee_credits: 10_870 } });
    const charge = { tenant_id: tenant, idempotency_key: 'all' };
    const charged = await api.call('post', '/v1/billing/dspy-examples-charge', { json: charge });
    expect(charged.body).to.include({ charged: true, balance_credits: 0 });
    const report = await reportFrom(start);
    expect(report['credits_burned']).to.equal(10_870);
    expect(report['unit_margin']).to.include({ revenue_usd: '10.870000' });
    expect(report['realized_margin']).to.include({
      gross_usd: '13.090000',
      vat_usd: '2.090000',
      provider_fees_usd: '0.495000',
      net_revenue_usd: '10.505000',
      refunds_usd: '0.000000',
    });
    expect(report['gap_breakdown']).to.deep.equal({
      fx_rate_usd: '0.130435',
      price_variance_usd: '-0.000435',
      provider_fee_usd: '-0.495000',
      promo_usd: '0.000000',
      unpriced_usd: '0.000000',
      refund_true_up_usd: '0.000000',
      dispute_fee_usd: '0.000000',
      rounding_usd: '0.000000',
    });
    expect(report['fx_effect_usd']).to.equal('-0.365000');
    expect(micro(sold['deferred_revenue_usd']) - micro(report['deferred_revenue_usd'])).to.equal(10_505_000n);
    await api.call('post', '/v1/admin/billing-config', { json: { examples_export_fee_credits: fee } });
    await api.call('post', '/v1/admin/credit-prices', {
      json: {
        entries: before.map(({ currency, ...entry }) => ({
          currency,
          price_per_1000_credits: (entry as Record<string, unknown>)['price_per_1000_credits'],
        })),
      },
    });
  });

  it('comes to nothing for a sale and its full refund', async () => {
    const tenant = `margin-${randomUUID()}`;
    const start = new Date().toISOString();
    await api.sell(tenant, 20_000);
    const [sale] = (await api.call('get', `/v1/billing/grants/${tenant}`)).body['items'] as readonly Record<
      string,
      unknown
    >[];
    const refund = await api.call('post', '/v1/billing/refunds', {
      json: {
        tenant_id: tenant,
        provider: sale!['provider'],
        provider_txn_id: `re-${tenant}`,
        original_provider_txn_id: sale!['provider_txn_id'],
        gross_amount_minor: sale!['gross_amount_minor'],
      },
    });
    expect(refund.status).to.equal(200);
    const report = await reportFrom(start);
    expect(report['credits_burned']).to.equal(0);
    expect(report['realized_margin']).to.include({ net_revenue_usd: '0.000000', refunds_usd: '0.000000' });
    expect(report['realized_margin']!['margin_percent']).to.equal(null);
    const usd = (report['by_currency'] as unknown as readonly Record<string, unknown>[]).find(
      ({ currency }) => currency === 'USD',
    );
    expect(usd).to.include({ sales: 1, refunds: 1 });
  });

  it('is worth what remains paid when money is refunded and the credits stay', async () => {
    const tenant = `margin-${randomUUID()}`;
    const start = new Date().toISOString();
    const before = await reportFrom(start);
    const payment = { tenant_id: tenant, provider_txn_id: tenant };
    await api.call('post', '/v1/billing/credits', { json: { ...payment, gross_amount_minor: 1000 } });
    const charge = { tenant_id: tenant, idempotency_key: 'half' };
    expect((await api.call('post', '/v1/billing/dspy-examples-charge', { json: charge })).status).to.equal(
      200,
    );
    const refund = await api.call('post', '/v1/billing/refunds', {
      json: {
        tenant_id: tenant,
        provider_txn_id: `re-${tenant}`,
        original_provider_txn_id: tenant,
        credits: 0,
        gross_amount_minor: 800,
      },
    });
    expect(refund.body).to.include({ credits: 0, balance_credits: 5_000 });
    const report = await reportFrom(start);
    expect(report['realized_margin']).to.include({ net_revenue_usd: '5.000000', refunds_usd: '-4.000000' });
    expect(micro(report['deferred_revenue_usd']) - micro(before['deferred_revenue_usd'])).to.equal(
      1_000_000n,
    );
    const rest = { tenant_id: tenant, idempotency_key: 'rest' };
    await api.call('post', '/v1/billing/dspy-examples-charge', { json: rest });
    expect((await reportFrom(start))['realized_margin']).to.include({ net_revenue_usd: '6.000000' });
  });

  it('trues up at once what was recognised before a fee was known', async () => {
    const tenant = `margin-${randomUUID()}`;
    const start = new Date().toISOString();
    const before = await reportFrom(start);
    const json = { tenant_id: tenant, provider_txn_id: tenant, gross_amount_minor: 1000 };
    await api.call('post', '/v1/billing/credits', { json });
    const charge = (idempotency_key: string) =>
      api.call('post', '/v1/billing/dspy-examples-charge', { json: { tenant_id: tenant, idempotency_key } });
    expect((await charge('half')).status).to.equal(200);
    const known = await api.call('post', '/v1/billing/credits', {
      json: { ...json, provider_fee_minor: 60 },
    });
    expect(known.body['details_added']).to.deep.equal(['provider_fee_minor']);
    const report = await reportFrom(start);
    expect(report['realized_margin']).to.include({ net_revenue_usd: '5.000000', refunds_usd: '-0.300000' });
    const deferred = micro(report['deferred_revenue_usd']) - micro(before['deferred_revenue_usd']);
    expect(deferred).to.equal(4_700_000n);
    const [usd] = (report['by_currency'] as unknown as readonly Record<string, unknown>[]).filter(
      ({ currency }) => currency === 'USD',
    );
    expect(usd).to.include({ sales: 1, gross_amount_minor: 1000, provider_fee_minor: 60 });
    await charge('rest');
    expect((await reportFrom(start))['realized_margin']).to.include({ net_revenue_usd: '9.700000' });
  });

  it('is that of the month until now when no period is given, and refuses one that ends before it starts', async () => {
    const { body } = await api.call('get', '/v1/admin/margin-report');
    expect(body['start']).to.equal(`${new Date().toISOString().slice(0, 7)}-01T00:00:00.000Z`);
    for (const query of ['start=2026-02-01&end=2026-01-01', 'start=soon'])
      expect((await api.call('get', `/v1/admin/margin-report?${query}`)).code).to.equal('validation_error');
  });
});
