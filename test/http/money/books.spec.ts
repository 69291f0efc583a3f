import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { testApi, type TestApi } from '../support/testApi.ts';
import { formOf, INVOICE } from '../support/client.ts';

const SCHEMA = '{"type":"object","properties":{"invoice_number":{"type":"string"}}}';

type Item = Readonly<Record<string, unknown>>;
const itemsOf = (body: Readonly<Record<string, unknown>>, member = 'items') =>
  body[member] as readonly Item[];

describe('the books of all tenants', () => {
  let api: TestApi;
  let tenant: string;
  before(async () => {
    api = await testApi();
    tenant = `Books-${randomUUID()}`;
    await api.sell(tenant, 20_000);
    const key = await api.newKey(tenant);
    await api.call('post', '/v1/extract', { key, form: formOf({ schema: SCHEMA }, INVOICE) });
    await api.call('post', `/v1/admin/tenants/${tenant}/adjust-credits`, {
      json: { credits: 300, reason: 'gift' },
    });
    await api.call('post', '/v1/billing/dspy-examples-charge', {
      json: { tenant_id: tenant, idempotency_key: 'export' },
    });
  });

  it('list tenants, newest first, and find one by a part of its name in any case', async () => {
    const found = await api.call('get', `/v1/admin/tenants?search=${tenant.toUpperCase()}`);
    expect(found.body['total']).to.equal(1);
    expect(itemsOf(found.body)[0]).to.include({
      tenant_id: tenant,
      plan: 'paid',
      balance_credits: 15_300,
      total_credits_purchased: 20_000,
      total_credits_used: 5_000,
    });
    const all = await api.call('get', '/v1/admin/tenants?limit=1000');
    const times = itemsOf(all.body).map((item) => String(item['created_at']));
    expect(times).to.deep.equal([...times].sort().reverse());
    const none = await api.call('get', '/v1/admin/tenants?search=100%25_');
    expect(none.body['total']).to.equal(0);
  });

  it('show a ledger with the members of each kind, whose newest row ends on the balance', async () => {
    const { body } = await api.call('get', `/v1/admin/tenants/${tenant}/ledger`);
    const items = itemsOf(body);
    expect(items.map(({ kind }) => kind)).to.deep.equal(['usage', 'admin_adjustment', 'usage', 'sale']);
    expect(items[0]).to.include({
      operation: 'examples_export',
      credits_delta: -5_000,
      balance_after: 15_300,
    });
    expect(items[1]).to.include({ reason: 'gift', allow_negative: false, credits_delta: 300 });
    expect(items[2]).to.include({ operation: 'extract', credits_delta: 0, free_pages: 1 });
    expect(items[3]).to.include({ currency: 'USD', gross_amount_minor: 2000 });
    expect(items[3]?.['price_list_version']).to.be.above(0);
    expect(body['total']).to.equal(4);
  });

  it('filter a ledger by operation and day', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const path = `/v1/admin/tenants/${tenant}/ledger`;
    const extracts = await api.call('get', `${path}?operation=extract&from_date=${today}`);
    expect(extracts.body['total']).to.equal(1);
    expect((await api.call('get', `${path}?to_date=2020-01-01`)).body['total']).to.equal(0);
    expect((await api.call('get', '/v1/admin/tenants/nobody/ledger')).code).to.equal('tenant_not_found');
    for (const bad of ['limit=0', 'limit=1001', 'offset=-1', 'from_date=yesterday'])
      expect((await api.call('get', `${path}?${bad}`)).code).to.equal('validation_error');
  });

  it('are reconciled without a false alarm while credits move', async () => {
    const busy = `busy-${randomUUID()}`;
    await api.sell(busy, 50_000);
    let isOver = false;
    const trade = async () => {
      for (let n = 0; !isOver; n += 1)
        await api.call('post', `/v1/admin/tenants/${busy}/adjust-credits`, {
          json: { credits: n % 2 === 0 ? 7 : -7, reason: 'load' },
        });
    };
    const traders = Array.from({ length: 8 }, trade);
    for (let round = 0; round < 15; round += 1) {
      const { status, body } = await api.call('get', '/v1/admin/reconciliation?include_ok=true');
      expect(status).to.equal(200);
      expect(body['drifted']).to.deep.equal([]);
      expect(itemsOf(body, 'ok').length).to.equal(body['tenants_checked']);
    }
    isOver = true;
    await Promise.all(traders);
    const { body } = await api.call('get', '/v1/admin/reconciliation');
    expect(body).to.not.have.property('ok');
    expect(body['position']).to.match(/^\d+$/);
  });

  const statsOf = async (query: string) => {
    const { status, body } = await api.call('get', `/v1/admin/usage-stats?${query}`);
    expect(status, query).to.equal(200);
    return { items: itemsOf(body), totals: body['totals'] as Item };
  };

  it('group usage in each of the ten ways, to the same totals', async () => {
    const { totals } = await statsOf('');
    expect(totals['credits']).to.be.at.least(5_000);
    const day = new Date().toISOString().slice(0, 10);
    for (const [group, key] of [
      ['operation', 'examples_export'],
      ['billing_type', 'full_service'],
      ['extraction_mode', 'standard'],
      ['tenant_id', tenant],
      ['category', 'training'],
      ['trigger', 'training'],
      ['day', day],
      ['month', day.slice(0, 7)],
      ['day_category', day],
    ] as const) {
      const found = await statsOf(`group_by=${group}`);
      expect(found.totals, group).to.deep.equal(totals);
      expect(
        found.items.map((item) => item['key']),
        group,
      ).to.include(key);
    }
    const weeks = await statsOf('group_by=week');
    expect(weeks.totals).to.deep.equal(totals);
    expect(weeks.items[0]!['key']).to.match(/^\d{4}-W\d{2}$/);
    const own = (await statsOf('group_by=tenant_id')).items.find(({ key }) => key === tenant);
    expect(own).to.deep.equal({
      key: tenant,
      operations: 2,
      pages: 1,
      free_pages: 1,
      credits: 5_000,
      list_value_usd: '5.00',
    });
  });

  it('count adjustments only when asked, a gift below zero', async () => {
    const { items } = await statsOf('group_by=tenant_id&include_adjustments=true');
    expect(items.find(({ key }) => key === tenant)).to.include({ operations: 3, credits: 4_700 });
    const kinds = await statsOf('include_adjustments=true');
    expect(kinds.items.map(({ key }) => key)).to.include('admin_adjustment');
  });

  it('are exact where a range cuts a day', async () => {
    const day = new Date().toISOString().slice(0, 10);
    const whole = await statsOf(`group_by=tenant_id&from_date=${day}&to_date=${day}`);
    const half = `${day}T12:00:00.000Z`;
    const before = `${day}T11:59:59.999Z`;
    const am = await statsOf(`group_by=tenant_id&from_date=${day}&to_date=${before}`);
    const pm = await statsOf(`group_by=tenant_id&from_date=${half}&to_date=${day}`);
    for (const member of ['operations', 'pages', 'free_pages', 'credits'])
      expect(Number(am.totals[member]) + Number(pm.totals[member])).to.equal(whole.totals[member]);
    expect(whole.totals['credits']).to.be.at.least(5_000);
    expect((await statsOf('to_date=2020-01-01')).items).to.deep.equal([]);
    expect((await api.call('get', '/v1/admin/usage-stats?group_by=colour')).code).to.equal(
      'validation_error',
    );
  });
});
