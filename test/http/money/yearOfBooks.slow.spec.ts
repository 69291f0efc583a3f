import { expect } from 'chai';
import { monthAfter } from '../../../domain/books.ts';
import { laterBy } from '../../../domain/kernel/amounts.ts';
import { seededRandom } from '../../../engine/test/support/random.ts';
import { runAudit } from '../../../src/audit/runAudit.ts';
import { startApi, type TestApi } from '../support/testApi.ts';

type Body = Readonly<Record<string, unknown>>;
type Items = readonly Body[];

const seed = Number(process.env['SEED'] ?? 2026);
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const MONTHS = 12;
const TENANTS = ['Aldine', 'Bodoni', 'Caslon'] as const;
/** Credits for a unit of money, and what a unit of it is worth at the beginning. */
const CURRENCIES = {
  USD: { price: '1.00', rate: '1.1000', minor: 100 },
  EUR: { price: '0.92', rate: '1', minor: 92 },
  GBP: { price: '0.80', rate: '0.8600', minor: 80 },
  CHF: { price: '0.90', rate: '0.9400', minor: 90 },
} as const;
type Currency = keyof typeof CURRENCIES;

const following = (month: string): string => monthAfter(month).slice(0, 7);
const endOf = (month: string): string => laterBy(`${following(month)}-01T00:00:00.000Z`, -1);
const micro = (text: unknown): bigint => BigInt(String(text).replace('.', ''));
const sumOf = (items: Items, name: string): bigint =>
  items.reduce((sum, item) => sum + micro(item[name]), 0n);

/** Three tenants for a year: what they pay, use, give back and dispute, and months that are closed behind them. */
const trading = (api: TestApi) => {
  const random = seededRandom(seed);
  const refused = new Map<string, number>();
  let made = 0;
  const now = () => api.deps.clock.now();
  const post = async (path: string, json: object, headers: Readonly<Record<string, string>> = {}) => {
    const reply = await api.call('post', path, { json, headers });
    expect([200, 201, 403, 409, 422], `${path} ${reply.text}`).to.include(reply.status);
    if (reply.status > 201) refused.set(String(reply.code), (refused.get(String(reply.code)) ?? 0) + 1);
    return reply;
  };
  const idOf = (what: string) => `${what}_${String((made += 1))}`;
  const chance = (share: number): boolean => random.next() < share;
  const sales: { tenant_id: string; provider_txn_id: string; gross: number; json: Body; told: boolean }[] =
    [];
  const disputes: { original: string; txn: string }[] = [];

  const rates = async (late: boolean) => {
    const wobble = (rate: string) => (Number(rate) * (0.95 + random.next() / 10)).toFixed(4);
    const { EUR: _, CHF, ...others } = CURRENCIES;
    const known = { ...others, ...(!late && { CHF }) };
    const json = {
      date: now().slice(0, 10),
      source: 'ECB',
      rates: Object.fromEntries(Object.entries(known).map(([name, { rate }]) => [name, wobble(rate)])),
      confirmed: true,
    };
    await post('/v1/admin/fx-rates', json);
  };

  const sell = async (tenant_id: string) => {
    const currency = random.pick(Object.keys(CURRENCIES) as Currency[]);
    const thousands = 5 + Math.floor(random.next() * 40);
    const listed = CURRENCIES[currency].minor * thousands;
    const discount = chance(0.2) ? Math.floor(listed / 10) : 0;
    const gross = listed - discount;
    const provider_txn_id = idOf('pi');
    const json = {
      tenant_id,
      provider: 'stripe',
      provider_txn_id,
      currency,
      gross_amount_minor: gross,
      credits: thousands * 1_000,
      ...(discount > 0 && { discount_minor: discount, discount_code: 'TENTH' }),
      ...(chance(0.2) && { bonus_credits: 500 }),
      ...(chance(0.5) && { provider_fee_minor: 30 + Math.floor(gross / 40) }),
    };
    const reply = await post('/v1/billing/credits', json);
    if (reply.status === 200) sales.push({ tenant_id, provider_txn_id, gross, json, told: false });
  };

  /** A fee or a tax that is known later, perhaps after the month was closed. */
  const tell = async () => {
    const sale = sales.find(({ told }) => !told);
    if (sale === undefined) return;
    sale.told = true;
    const fee = 'provider_fee_minor' in sale.json ? {} : { provider_fee_minor: 25 };
    const tax = { vat_amount_minor: Math.floor(sale.gross / 6), tax_rate: '19', tax_country: 'DE' };
    await post('/v1/billing/credits', { ...sale.json, ...fee, ...tax });
  };

  const refund = async () => {
    const { tenant_id, provider_txn_id, gross } = random.pick(sales);
    const half = { gross_amount_minor: Math.max(1, Math.floor(gross / 3)) };
    const how = chance(0.4) ? { ...half, credits: 0 } : half;
    const reply = await post('/v1/billing/refunds', {
      tenant_id,
      provider: 'stripe',
      provider_txn_id: idOf('re'),
      ...how,
      original_provider_txn_id: provider_txn_id,
    });
    if (reply.status !== 200 || !chance(0.3)) return;
    const refundId = String(reply.body['refund_id']);
    await post(`/v1/billing/refunds/${refundId}/reversal`, { provider_txn_id: idOf('rv') });
  };

  const dispute = async () => {
    const { provider_txn_id } = random.pick(sales);
    const txn = idOf('dp');
    const of = { provider: 'stripe', provider_txn_id: txn, original_provider_txn_id: provider_txn_id };
    const reply = await post('/v1/billing/disputes', { ...of, status: 'opened', fee_minor: 150 });
    if (reply.status === 200) disputes.push({ original: provider_txn_id, txn });
  };
  const settle = async () => {
    const found = disputes.shift();
    if (found === undefined) return;
    await post('/v1/billing/disputes', {
      provider: 'stripe',
      provider_txn_id: found.txn,
      original_provider_txn_id: found.original,
      status: chance(0.5) ? 'won' : 'lost',
    });
  };

  const transfer = async () => {
    const from = random.between(0, 2);
    const to = (from + random.between(1, 2)) % 3;
    await post(
      `/v1/admin/tenants/${TENANTS[from]!}/transfer-credits`,
      { to_tenant_id: TENANTS[to]!, credits: 1_000 + Math.floor(random.next() * 4_000), reason: 'merged' },
      { 'Idempotency-Key': idOf('move') },
    );
  };

  const use = (tenant_id: string) =>
    post('/v1/billing/dspy-examples-charge', { tenant_id, idempotency_key: idOf('use') });
  const give = (tenant_id: string) =>
    post(`/v1/admin/tenants/${tenant_id}/adjust-credits`, {
      credits: chance(0.8) ? 700 : -300,
      reason: 'goodwill',
    });

  const act = async (): Promise<void> => {
    const tenant = random.pick([...TENANTS]);
    const r = random.next();
    if (r < 0.25) await sell(tenant);
    else if (r < 0.55) await use(tenant);
    else if (r < 0.65) await give(tenant);
    else if (r < 0.75) await tell();
    else if (sales.length === 0) await sell(tenant);
    else if (r < 0.87) await refund();
    else if (r < 0.92) await dispute();
    else if (r < 0.95) await settle();
    else await transfer();
  };
  return { now, act, rates, post, sell, refused, random };
};

describe('a year of three tenants in four currencies', () => {
  let api: TestApi;
  const closed: string[] = [];
  const statements = new Map<string, string>();
  let refused: ReadonlyMap<string, number> = new Map();

  const get = async (path: string): Promise<Body> => {
    const reply = await api.call('get', path);
    expect(reply.status, `${path} ${reply.text}`).to.equal(200);
    return reply.body;
  };
  /** Every item of a list, by its cursor. */
  const all = async (path: string): Promise<Items> => {
    const items: Body[] = [];
    let cursor = '';
    do {
      const page = await get(`${path}&limit=500${cursor}`);
      items.push(...(page['items'] as Items));
      const next = page['next_cursor'] as string | null;
      cursor = next === null ? '' : `&cursor=${next}`;
    } while (cursor !== '');
    return items;
  };
  const marginOf = (month: string) =>
    get(`/v1/admin/margin-report?start=${month}-01&end=${endOf(month).slice(0, 10)}`);
  const statementOf = async (tenant: string, month: string) =>
    (await api.call('get', `/v1/billing/statements/${tenant}/${month}`)).body;

  before(async function () {
    this.timeout(240_000);
    console.log(`        SEED=${String(seed)}`);
    api = await startApi();
    const year = trading(api);
    refused = year.refused;
    await year.post('/v1/admin/credit-prices', {
      entries: Object.entries(CURRENCIES).map(([currency, { price }]) => ({
        currency,
        price_per_1000_credits: price,
      })),
    });
    let month = year.now().slice(0, 7);
    await year.rates(true);
    for (const tenant of TENANTS) {
      await year.sell(tenant);
      await year.post(`/v1/admin/tenants/${tenant}/set-plan`, { plan: 'paid' });
    }
    for (let n = 0; n < MONTHS; n += 1) {
      for (let action = 0; action < 14; action += 1) {
        if (action % 7 === 3) await year.rates(year.random.next() < 0.3);
        await year.act();
        api.wait(Math.floor(year.random.next() * 2 * DAY_MS));
      }
      const overAt = Date.parse(`${following(month)}-01T00:00:00.000Z`);
      if (Date.parse(year.now()) < overAt) api.wait(overAt + 3 * MINUTE_MS - Date.parse(year.now()));
      const reply = await api.call('post', `/v1/admin/books/months/${month}/close`);
      expect(reply.status, reply.text).to.equal(200);
      closed.push(month);
      for (const tenant of TENANTS)
        statements.set(`${tenant} ${month}`, JSON.stringify(await statementOf(tenant, month)));
      // A clock that is seven minutes back, and work that comes by it.
      api.wait(-7 * MINUTE_MS);
      for (let action = 0; action < 3; action += 1) await year.act();
      api.wait(7 * MINUTE_MS);
      month = following(month);
    }
  });
  after(() => api.stop());

  it('has everything that can happen', async () => {
    const kinds = new Set((await all('/v1/admin/payments?bom=false')).map(({ kind }) => kind));
    expect([...kinds]).to.include.members(['sale', 'refund', 'reversal', 'correction', 'dispute']);
    const ledger = await all('/v1/admin/tenants/Aldine/ledger?bom=false');
    const moved = new Set(ledger.map(({ kind }) => kind));
    expect([...moved]).to.include.members(['sale', 'admin_adjustment', 'usage']);
    expect([...refused.values()].reduce((sum, count) => sum + count, 0)).to.be.lessThan(80);
  });

  it('has a journal of each month that sums to zero, entry by entry', async () => {
    for (const month of closed) {
      const lines = await all(`/v1/admin/journal?month=${month}`);
      const entries = new Map<string, Body[]>();
      for (const line of lines) {
        const { booked_on, tenant_id, kind, position } = line;
        const name = [booked_on, tenant_id, kind, position].join(' ');
        entries.set(name, [...(entries.get(name) ?? []), line]);
      }
      for (const [name, entry] of entries)
        expect(sumOf(entry, 'debit_usd'), name).to.equal(sumOf(entry, 'credit_usd'));
      const { accounts } = await get(`/v1/admin/journal?month=${month}`);
      expect(sumOf(accounts as Items, 'debit_usd')).to.equal(sumOf(accounts as Items, 'credit_usd'));
    }
  });

  it('has deferred revenue that is nowhere below zero on any day, and adds up to the margin report', async () => {
    const first = Date.parse(`${closed[0]!}-01T00:00:00.000Z`);
    const last = Date.parse(endOf(closed.at(-1)!));
    for (let at = first; at <= last; at += DAY_MS) {
      const on = new Date(at).toISOString().slice(0, 10);
      const lots = await all(`/v1/admin/deferred-revenue?on=${on}&by=lot`);
      for (const lot of lots)
        expect(micro(lot['deferred_usd']) >= 0n, `${on} ${JSON.stringify(lot)}`).to.equal(true);
      const month = on.slice(0, 7);
      if (on !== endOf(month).slice(0, 10)) continue;
      const report = await marginOf(month);
      expect(sumOf(lots, 'deferred_usd'), on).to.equal(micro(report['deferred_revenue_usd']));
    }
  }).timeout(120_000);

  it('has statements that end where the next one begins, and never change', async () => {
    for (const tenant of TENANTS) {
      let opening: unknown;
      for (const month of closed) {
        const statement = await statementOf(tenant, month);
        expect(JSON.stringify(statement), `${tenant} ${month}`).to.equal(
          statements.get(`${tenant} ${month}`),
        );
        if (opening !== undefined) expect(statement['opening_balance_credits']).to.equal(opening);
        opening = statement['closing_balance_credits'];
      }
      const at = await get(`/v1/admin/tenants/${tenant}/balance-at?at=${endOf(closed.at(-1)!)}`);
      expect(opening).to.equal(at['balance_credits']);
    }
  });

  it('has the same sums as CSV as in its reports', async () => {
    for (const month of closed.slice(-3)) {
      const csv = await api.call('get', `/v1/admin/journal?month=${month}`, {
        headers: { accept: 'text/csv' },
      });
      const [names = [], ...rows] = csv.text
        .trimEnd()
        .split('\r\n')
        .map((line) => line.split(','));
      const lines = rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])) as Body);
      const { accounts } = await get(`/v1/admin/journal?month=${month}`);
      for (const account of accounts as Items) {
        const own = lines.filter((line) => line['account'] === account['account']);
        const net = sumOf(own, 'debit_usd') - sumOf(own, 'credit_usd');
        expect(net, String(account['account'])).to.equal(
          micro(account['debit_usd']) - micro(account['credit_usd']),
        );
      }
    }
  });

  it('leaves the audit nothing to say', async () => {
    const { report } = await runAudit({ feed: api.log, dense: true });
    expect(report.findings).to.deep.equal([]);
    expect(report.notes.join(' ')).to.include('came after it was closed');
  });
});
