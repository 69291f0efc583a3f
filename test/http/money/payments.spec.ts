import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { testApi, type TestApi } from '../support/testApi.ts';

type Item = Readonly<Record<string, unknown>>;

describe('the payments of all tenants', () => {
  let api: TestApi;
  const provider = `Acquirer-${randomUUID()}`;
  const [one, other] = [`Pay-${randomUUID()}`, `Pay-${randomUUID()}`];
  const itemsOf = (body: Item, member = 'items') => body[member] as readonly Item[];
  const ask = async (query: string) => {
    const reply = await api.call('get', `/v1/admin/payments?${query}`);
    expect(reply.status, reply.text).to.equal(200);
    return reply.body;
  };
  const post = async (path: string, json: object) => {
    const reply = await api.call('post', path, { json });
    expect(reply.status, reply.text).to.equal(200);
    return reply.body;
  };
  const tax = async () => {
    const { body } = await api.call('get', '/v1/admin/tax-report?currency=USD');
    const sums = { sales: 0, refunds: 0, gross_amount_minor: 0, vat_amount_minor: 0, net_amount_minor: 0 };
    const all = { ...sums, provider_fee_minor: 0, refunds_vat_minor: 0, refunds_fee_minor: 0 };
    for (const item of itemsOf(body))
      for (const name of Object.keys(all) as (keyof typeof all)[]) all[name] += Number(item[name]);
    return all;
  };
  let beforeSales: Awaited<ReturnType<typeof tax>>;

  before(async () => {
    api = await testApi();
    beforeSales = await tax();
    for (const [tenant_id, count] of [
      [one, 3],
      [other, 2],
    ] as const)
      for (let n = 0; n < count; n += 1)
        await post('/v1/billing/credits', {
          tenant_id,
          provider,
          provider_txn_id: `${tenant_id}-${n}`,
          gross_amount_minor: 1190,
          vat_amount_minor: 190,
          provider_fee_minor: 45,
          invoice_ref: `INV-${n}`,
        });
    await post('/v1/billing/refunds', {
      tenant_id: one,
      provider,
      provider_txn_id: `back-${one}`,
      original_provider_txn_id: `${one}-0`,
      gross_amount_minor: 595,
      provider_fee_minor: 20,
    });
  });

  it('are one list with the sums of each currency, in which refunds are negative', async () => {
    const body = await ask(`provider=${provider.toUpperCase()}`);
    const items = itemsOf(body);
    expect(items.map(({ tenant_id }) => tenant_id)).to.deep.equal([one, other, other, one, one, one]);
    expect(items[0]).to.include({ kind: 'refund', gross_amount_minor: -595, provider_fee_minor: -20 });
    expect(items[0]?.['vat_amount_minor']).to.equal(-95);
    expect(items[0]?.['original_grant_id']).to.equal(items[5]?.['grant_id']);
    expect(items[5]).to.include({ kind: 'sale', gross_amount_minor: 1190, net_amount_minor: 1000 });
    expect(items[5]).to.include({ provider_txn_id: `${one}-0`, invoice_ref: 'INV-0' });
    expect(body['by_currency']).to.deep.equal([
      {
        currency: 'USD',
        payments: 6,
        without_amount: 0,
        gross_amount_minor: 5 * 1190 - 595,
        vat_amount_minor: 5 * 190 - 95,
        provider_fee_minor: 5 * 45 - 20,
        net_amount_minor: 5 * 1000 - 500,
        dispute_fee_minor: 0,
      },
    ]);
  });

  it('are found by tenant, kind, currency and time of booking', async () => {
    const count = async (query: string) => Number((await ask(`provider=${provider}&${query}`))['total']);
    expect(await count(`tenant_id=${other}`)).to.equal(2);
    expect(await count('kind=refund')).to.equal(1);
    expect(await count('kind=sale&currency=USD')).to.equal(5);
    expect(await count('currency=EUR')).to.equal(0);
    const [, middle] = itemsOf(await ask(`provider=${provider}&tenant_id=${other}`));
    const at = String(middle?.['created_at']);
    const [until, since] = [await count(`to=${at}`), await count(`from=${at}`)];
    expect(until + since).to.be.above(6);
    expect(await count('to=2020-01-01')).to.equal(0);
    const wrong = await api.call('get', '/v1/admin/payments?from=2026-02-01&to=2026-01-01');
    expect(wrong.status).to.equal(422);
    const unknown = await api.call('get', '/v1/admin/payments?tenant_id=nobody-here');
    expect(unknown.code).to.equal('tenant_not_found');
  });

  it('are walked by cursor, and come as CSV that adds up to the sums', async () => {
    const seen: unknown[] = [];
    let cursor = '';
    do {
      const page = await ask(`provider=${provider}&limit=4${cursor}`);
      seen.push(...itemsOf(page).map(({ grant_id }) => grant_id));
      const next = page['next_cursor'] as string | null;
      cursor = next === null ? '' : `&cursor=${next}`;
    } while (cursor !== '');
    expect(new Set(seen).size).to.equal(6);
    const csv = await api.call('get', `/v1/admin/payments?provider=${provider}`, {
      headers: { accept: 'text/csv' },
    });
    const [names = [], ...rows] = csv.text
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(','));
    const gross = rows.reduce((sum, row) => sum + Number(row[names.indexOf('gross_amount_minor')]), 0);
    expect(gross).to.equal(5 * 1190 - 595);
  });

  it('are found by their name at the provider, with whose they are and what became of them', async () => {
    const named = async (id: string) => {
      const path = `/v1/billing/payments/${encodeURIComponent(provider.toUpperCase())}/${encodeURIComponent(id)}`;
      return api.call('get', path);
    };
    const sale = await named(`${one}-0`);
    expect(sale.body).to.include({ kind: 'sale', tenant_id: one, original_grant_id: null, credits: 10_000 });
    expect(sale.body).to.include({ gross_amount_minor: 1190, provider_fee_minor: 45, dispute_status: null });
    expect(sale.body).to.include({ refunded_credits: 5000, refunded_amount_minor: 595 });
    const refund = await named(`back-${one}`);
    expect(refund.body).to.include({
      kind: 'refund',
      original_grant_id: sale.body['grant_id'],
      credits: 5000,
    });
    expect(refund.body).to.include({ tenant_id: one, gross_amount_minor: 595, provider_fee_minor: 20 });
    expect(await named('nobody’s')).to.include({ status: 404, code: 'payment_not_found' });
  });

  it('make the tax report: VAT and fees of sales less those of refunds', async () => {
    const after = await tax();
    const moved = Object.fromEntries(
      Object.entries(after).map(([name, sum]) => [name, sum - beforeSales[name as keyof typeof beforeSales]]),
    );
    expect(moved).to.deep.equal({
      sales: 5,
      refunds: 1,
      gross_amount_minor: 5 * 1190 - 595,
      vat_amount_minor: 5 * 190 - 95,
      net_amount_minor: 4500,
      provider_fee_minor: 205,
      refunds_vat_minor: 95,
      refunds_fee_minor: 20,
    });
    const { body } = await api.call('get', '/v1/admin/tax-report?to=2020-01-01');
    expect(body['items']).to.deep.equal([]);
  });

  it('have the reversal of a refund as money that came back, in the tax report too', async () => {
    const [refund] = itemsOf(await ask(`provider=${provider}&kind=refund`));
    const given = await tax();
    const path = `/v1/billing/refunds/${String(refund?.['grant_id'])}/reversal`;
    await post(path, { provider_txn_id: `again-${one}` });
    const [reversal] = itemsOf(await ask(`provider=${provider}&kind=reversal`));
    expect(reversal).to.include({ gross_amount_minor: 595, vat_amount_minor: 95 });
    const now = await tax();
    expect(now.vat_amount_minor - given.vat_amount_minor).to.equal(95);
    expect(now.refunds).to.equal(given.refunds);
  });

  it('are found by the payout that has them, and taxed by the rate of their sale', async () => {
    const tenant_id = `Pay-${randomUUID()}`;
    const identity = { tenant_id, provider, provider_txn_id: tenant_id };
    const payout_id = `po-${tenant_id}`;
    await post('/v1/billing/credits', {
      ...identity,
      gross_amount_minor: 1190,
      vat_amount_minor: 190,
      payout_id,
      tax_rate: '17',
      tax_country: 'LU',
    });
    await post('/v1/billing/refunds', {
      tenant_id,
      provider,
      provider_txn_id: `back-${tenant_id}`,
      original_provider_txn_id: tenant_id,
      gross_amount_minor: 595,
    });
    const found = itemsOf(await ask(`payout_id=${payout_id}`));
    expect(found.map(({ kind, tax_rate, tax_country }) => [kind, tax_rate, tax_country])).to.deep.equal([
      ['sale', '17', 'LU'],
    ]);
    const { body } = await api.call('get', '/v1/admin/tax-report?currency=USD');
    const taxed = itemsOf(body).filter(({ tax_country }) => tax_country === 'LU');
    expect(taxed).to.have.length(1);
    expect(taxed[0]).to.include({ tax_rate: '17', sales: 1, refunds: 1, vat_amount_minor: 95 });
  });
});
