import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { testApi, type TestApi } from '../support/testApi.ts';

type Item = Readonly<Record<string, unknown>>;

/** Micro-USD of decimal text with 6 decimals. */
const micro = (text: unknown): bigint => BigInt(String(text).replace('.', ''));

const sumOf = (items: readonly Item[], name: string): bigint =>
  items.reduce((sum, item) => sum + micro(item[name]), 0n);

describe('the journal and deferred revenue over HTTP', () => {
  let api: TestApi;
  const tenant = `books-${randomUUID()}`;
  const given = `gift-${randomUUID()}`;
  const today = new Date().toISOString().slice(0, 10);
  const month = today.slice(0, 7);
  const itemsOf = (body: Item) => body['items'] as readonly Item[];
  const ask = async (path: string) => {
    const reply = await api.call('get', path);
    expect(reply.status, reply.text).to.equal(200);
    return reply.body;
  };
  const post = async (path: string, json: object) => {
    const reply = await api.call('post', path, { json });
    expect(reply.status, reply.text).to.be.oneOf([200, 201]);
    return reply.body;
  };
  /** All lines of the month, by pages of two entries. */
  const allLines = async (): Promise<readonly Item[]> => {
    const lines: Item[] = [];
    let cursor = '';
    do {
      const page = await ask(`/v1/admin/journal?month=${month}&limit=2${cursor}`);
      lines.push(...itemsOf(page));
      const next = page['next_cursor'] as string | null;
      cursor = next === null ? '' : `&cursor=${next}`;
    } while (cursor !== '');
    return lines;
  };

  before(async () => {
    api = await testApi();
    await post('/v1/billing/credits', {
      tenant_id: tenant,
      provider: 'Stripe',
      provider_txn_id: tenant,
      gross_amount_minor: 1190,
      vat_amount_minor: 190,
      provider_fee_minor: 45,
    });
    await post('/v1/billing/refunds', {
      tenant_id: tenant,
      provider: 'Stripe',
      provider_txn_id: `back-${tenant}`,
      original_provider_txn_id: tenant,
      gross_amount_minor: 119,
    });
    await post('/v1/billing/dspy-examples-charge', { tenant_id: tenant, idempotency_key: 'one' });
    await post(`/v1/admin/tenants/${given}/adjust-credits`, { credits: 700, reason: 'welcome' });
  });

  it('enters a sale, its refund and the use of the day, each in balance', async () => {
    const own = (await allLines()).filter(({ tenant_id }) => tenant_id === tenant);
    const entries = new Map<string, Item[]>();
    for (const line of own) {
      const key = `${String(line['kind'])} ${String(line['position'])}`;
      entries.set(key, [...(entries.get(key) ?? []), line]);
    }
    expect([...entries.keys()].map((key) => key.split(' ')[0])).to.deep.equal(['sale', 'refund', 'use']);
    for (const lines of entries.values())
      expect(sumOf(lines, 'debit_usd')).to.equal(sumOf(lines, 'credit_usd'));
    const [sale = [], refund = [], use = []] = [...entries.values()];
    expect(sale.map(({ account, debit_usd, credit_usd }) => [account, debit_usd, credit_usd])).to.deep.equal([
      ['1460', '11.450000', '0.000000'],
      ['3900', '0.000000', '9.550000'],
      ['3806', '0.000000', '1.900000'],
    ]);
    expect(sale[0]).to.include({ stream: `account-${tenant}`, reference: tenant, booked_on: today });
    expect(refund.map(({ account }) => account)).to.include.members(['1460', '3806']);
    expect(use.map(({ account }) => account)).to.deep.equal(['3900', '4400', '6855']);
  });

  it('has the balances of all accounts, which are the margin report of the month', async () => {
    const page = await ask(`/v1/admin/journal?month=${month}&limit=1`);
    const accounts = page['accounts'] as readonly Item[];
    const balance = (code: string): bigint => {
      const found = accounts.find(({ account }) => account === code);
      return found === undefined ? 0n : micro(found['debit_usd']) - micro(found['credit_usd']);
    };
    const lines = await allLines();
    for (const { account } of accounts) {
      const own = lines.filter((line) => line['account'] === account);
      expect(balance(String(account)), String(account)).to.equal(
        sumOf(own, 'debit_usd') - sumOf(own, 'credit_usd'),
      );
    }
    const margin = await ask(`/v1/admin/margin-report?start=${month}-01`);
    const realized = margin['realized_margin'] as Item;
    expect(balance('6855')).to.equal(micro(realized['provider_fees_usd']));
    expect(-balance('4400') - balance('4720') - balance('4830') - balance('6880') - balance('6855')).to.equal(
      micro(realized['net_revenue_usd']) + micro(realized['refunds_usd']),
    );
  });

  it('defers by tenant, currency and lot what the margin report defers, and given credits at nothing', async () => {
    const margin = await ask(`/v1/admin/margin-report?start=${month}-01`);
    for (const by of ['tenant', 'currency', 'lot']) {
      const items: Item[] = [];
      let [cursor, totals]: [string, Item | undefined] = ['', undefined];
      do {
        const page = await ask(`/v1/admin/deferred-revenue?on=${today}&by=${by}&limit=3${cursor}`);
        totals ??= page['totals'] as Item;
        items.push(...itemsOf(page));
        const next = page['next_cursor'] as string | null;
        cursor = next === null ? '' : `&cursor=${next}`;
      } while (cursor !== '');
      expect(sumOf(items, 'deferred_usd'), by).to.equal(micro(margin['deferred_revenue_usd']));
      expect(sumOf(items, 'deferred_usd'), by).to.equal(micro(totals['deferred_usd']));
      expect(items.every(({ deferred_usd }) => micro(deferred_usd) >= 0n)).to.equal(true);
      if (by === 'currency') continue;
      const gift = items.find(({ tenant_id }) => tenant_id === given);
      expect(gift).to.include({ kind: 'given', credits_left: 700, deferred_usd: '0.000000', currency: null });
      const own = items.find(({ tenant_id }) => tenant_id === tenant);
      expect(micro(own?.['paid_usd'])).to.equal(
        micro(own?.['recognised_usd']) + micro(own?.['deferred_usd']),
      );
    }
    const before = await ask('/v1/admin/deferred-revenue?on=2020-01-01');
    expect(before['totals']).to.include({ credits_left: 0, deferred_usd: '0.000000' });
  });

  it('is sorted with what has no currency or lot last, in both directions', async () => {
    for (const sort of ['currency', '-currency']) {
      const items = itemsOf(await ask(`/v1/admin/deferred-revenue?by=lot&sort=${sort}&limit=1000`));
      const kinds = items.map(({ currency }) => currency === null);
      expect(kinds).to.include(true).and.to.include(false);
      expect(kinds).to.deep.equal(kinds.toSorted((a, b) => Number(a) - Number(b)));
    }
  });

  it('skips as many entries or rows as offset says', async () => {
    const lines = await allLines();
    const second = itemsOf(await ask(`/v1/admin/journal?month=${month}&limit=1&offset=1`));
    expect(
      lines.slice(itemsOf(await ask(`/v1/admin/journal?month=${month}&limit=1`)).length),
    ).to.include.deep.members(second);
    const rows = itemsOf(await ask('/v1/admin/deferred-revenue?limit=3'));
    expect(itemsOf(await ask('/v1/admin/deferred-revenue?limit=1&offset=2'))).to.deep.equal(rows.slice(2));
  });

  it('comes as CSV with a row for each line, and in the layouts of other programs in cents that balance', async () => {
    const csv = async (layout: string, accept = 'text/csv') =>
      (await api.call('get', `/v1/admin/journal?month=${month}&layout=${layout}`, { headers: { accept } }))
        .text;
    const generic = (await csv('generic')).trimEnd().split('\r\n');
    expect(generic).to.have.length((await allLines()).length + 1);
    const quick = (await csv('quickbooks', 'application/json')).trimEnd().split('\r\n').slice(1);
    const cents = (text = '') => BigInt(text === '' ? 0 : text.replace('.', ''));
    const byNumber = new Map<string, bigint>();
    for (const row of quick) {
      const [number = '', , , debit, credit] = row.split(',');
      byNumber.set(number, (byNumber.get(number) ?? 0n) + cents(debit) - cents(credit));
    }
    expect(byNumber.size).to.be.greaterThan(2);
    expect([...byNumber.values()].every((sum) => sum === 0n)).to.equal(true);
    const datev = (await csv('datev')).trimEnd().split('\r\n');
    expect(datev[0]).to.match(/^\uFEFF?"EXTF";700;21;"Buchungsstapel";13;\d{17};/);
    expect(datev[0]?.split(';')).to.have.length(31);
    for (const row of datev.slice(1)) expect(row.split(';')).to.have.length(125);
    const sale = datev.find((row) => row.includes(`"sale ${tenant}"`.slice(0, 40)));
    expect(sale).to.match(/^9,55;"S";"USD";;;"";1460;3900;/);
    const xero = (await csv('xero')).trimEnd().split('\r\n');
    expect(xero[0]).to.match(/^\*Narration,\*Date,Description,\*AccountCode,\*TaxRate,\*Amount/);
    expect(xero.length).to.equal(quick.length + 1);
  });

  it('lists balances that nobody has used for some days', async () => {
    const [idle, busy] = [`dormant-${randomUUID()}`, `dormant-${randomUUID()}`];
    for (const tenant_id of [idle, busy])
      await post('/v1/billing/credits', { tenant_id, provider_txn_id: tenant_id, gross_amount_minor: 1000 });
    await post('/v1/billing/dspy-examples-charge', { tenant_id: busy, idempotency_key: 'one' });
    const path = '/v1/admin/tenants?search=dormant-&unused_days=';
    expect((await ask(`${path}30`))['total']).to.equal(0);
    expect((await api.call('get', `${path}0`)).status).to.equal(422);
    const [used] = itemsOf(await ask(`/v1/admin/tenants?search=${busy}`));
    expect(used?.['last_used_at']).to.match(/^\d{4}-/);
    const dormantAfter = async (days: number) => {
      const now = new Date(Date.parse(String(used?.['last_used_at'])) + days * 86_400_000).toISOString();
      const asked = { limit: 10, offset: 0, search: 'dormant-', unused_days: 30, now };
      return (await api.deps.queries.tenants(asked)).items.map(({ tenant_id }) => tenant_id);
    };
    expect(await dormantAfter(29)).to.deep.equal([]);
    expect(await dormantAfter(30)).to.have.members([idle, busy]);
    // Nothing is left that could be used.
    await post(`/v1/admin/tenants/${idle}/adjust-credits`, {
      credits: -10_000,
      reason: 'closed',
      allow_negative: true,
    });
    await ask(`/v1/billing/balance/${idle}`);
    expect(await dormantAfter(31)).to.deep.equal([busy]);
  });

  it('refuses a month that is none, and one that a tenant asks for', async () => {
    expect((await api.call('get', '/v1/admin/journal?month=2026-13')).status).to.equal(422);
    expect((await api.call('get', '/v1/admin/journal')).status).to.equal(422);
    expect((await api.call('get', '/v1/admin/deferred-revenue?by=project')).status).to.equal(422);
  });
});
