import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { BOOKS_STREAM, books, booksEvent, type BooksKind, monthAfter } from '../../../domain/books.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import { laterBy } from '../../../domain/kernel/amounts.ts';
import { balancesAt } from '../../../src/audit/accounts.ts';
import { runAudit } from '../../../src/audit/runAudit.ts';
import { commandHandler } from '../../../src/writer/commandHandler.ts';
import { startApi, type TestApi } from '../support/testApi.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

type Body = Readonly<Record<string, unknown>>;

/** The month after one, and the month's days. */
const following = (month: string): string => monthAfter(month).slice(0, 7);
const daysOf = (month: string): string =>
  `start=${month}-01&end=${laterBy(`${following(month)}-01T00:00:00.000Z`, -1).slice(0, 10)}`;

describe('a closed month', () => {
  let api: TestApi;
  /** The month in which each spec begins. */
  let month: string;

  const now = () => api.deps.clock.now();
  const reportOf = async (of: string): Promise<Body> =>
    (await api.call('get', `/v1/admin/margin-report?${daysOf(of)}`)).body;
  const close = (of: string) => api.call('post', `/v1/admin/books/months/${of}/close`);
  const reopen = (of: string, json: Body) =>
    api.call('post', `/v1/admin/books/months/${of}/reopen`, { json });
  const adjust = (tenant: string, credits: number) =>
    api.call('post', `/v1/admin/tenants/${tenant}/adjust-credits`, { json: { credits, reason: 'gift' } });
  /** Puts the clock to some minutes after the month's end. */
  const toTheEnd = (minutes = 3): void =>
    api.wait(Date.parse(`${following(month)}-01T00:00:00.000Z`) + minutes * MINUTE_MS - Date.parse(now()));
  const audited = async () => (await runAudit({ feed: api.log, dense: true })).report;

  before(async () => {
    api = await startApi();
  });
  beforeEach(() => {
    month = now().slice(0, 7);
  });
  after(() => api.stop());

  it('stays as it is when a clock is seven minutes back and a sale enters it', async () => {
    await api.sell('early', 5_000);
    toTheEnd();
    const closed = await close(month);
    expect(closed.status).to.equal(200);
    expect(closed.body).to.include({ month, status: 'closed' });
    const before = await reportOf(month);
    expect(before['by_currency']).to.have.length(1);
    expect(before['closing']).to.deep.equal(closed.body['closing']);

    api.wait(-7 * MINUTE_MS);
    expect(now().slice(0, 7)).to.equal(month);
    expect((await api.sell('late', 1_000)).status).to.equal(200);
    await adjust('later', 2_000);
    expect(await reportOf(month)).to.deep.equal(before);

    const open = await reportOf(following(month));
    expect(open['corrections']).to.include({ events: 1 });
    expect(open['by_currency']).to.have.nested.property('[0].sales', 1);
    expect(open['by_currency']).to.have.nested.property('[0].gross_amount_minor', 100);
    const grants = (await api.call('get', '/v1/billing/grants/late')).body['items'] as readonly Body[];
    expect(String(grants[0]?.['created_at']).slice(0, 7)).to.equal(month);

    const end = laterBy(`${following(month)}-01T00:00:00.000Z`, -1);
    const closing = await api.call('get', `/v1/admin/tenants/late/balance-at?at=${end}`);
    expect(closing.body).to.include({ balance_credits: 0, event: null });
    expect(await balancesAt(api.log, { at: end })).to.have.length(1);
    expect(await balancesAt(api.log, { at: '9999' })).to.have.length(3);

    const { total, notes } = await audited();
    expect(total).to.equal(0);
    expect(notes.join(' ')).to.include(`2 events of ${month} or before came after it was closed`);
    expect(notes.join(' ')).to.include(`booked in ${following(month)}: account-late revision`);
    api.wait(7 * MINUTE_MS);
  });

  it('stays as it is when a clock is three days back and credits are given and used in it', async () => {
    const tenant = 'gifted';
    await api.sell(tenant, 9_000);
    await api.call('post', '/v1/billing/dspy-examples-charge', {
      json: { tenant_id: tenant, idempotency_key: 'a' },
    });
    toTheEnd();
    await close(month);
    const before = await reportOf(month);
    expect(before['credits_burned']).to.equal(5_000);
    api.wait(-3 * DAY_MS);
    await adjust('backwards', 2_000);
    await api.sell('backwards', 5_000);
    await api.call('post', '/v1/billing/dspy-examples-charge', {
      json: { tenant_id: 'backwards', idempotency_key: 'b' },
    });
    api.wait(3 * DAY_MS);
    expect(await reportOf(month)).to.deep.equal(before);
    const open = await reportOf(following(month));
    expect(open).to.include({ credits_burned: 5_000 });
    expect(open['corrections']).to.include({ events: 2 });
    // Whatever period is asked for: the first instant that was open has it.
    const first = `${following(month)}-01T00:00:00.000Z`;
    const { body } = await api.call('get', `/v1/admin/margin-report?start=${first}&end=${first}`);
    expect(body).to.include({ credits_burned: 5_000 });
    expect((await audited()).total).to.equal(0);
  });

  it('is closed once it is over, in order, and again with the same answer', async () => {
    const soon = await close(month);
    expect(soon).to.deep.include({ status: 409, code: 'month_not_closable' });
    expect(soon.body).to.include({ why: 'not_over', next_month: month });
    toTheEnd();
    const early = await close(following(month));
    expect(early.body).to.include({ code: 'month_not_closable', why: 'not_next', next_month: month });
    expect((await close('2020-01')).body).to.include({ why: 'before_first' });
    expect((await close('2026-13')).code).to.equal('validation_error');
    const [first, second] = [await close(month), await close(month)];
    expect(first.status).to.equal(200);
    expect(second.body).to.deep.equal(first.body);
    const { body } = await api.call('get', '/v1/admin/books/months');
    expect(body).to.include({
      open_from: `${following(month)}-01T00:00:00.000Z`,
      next_month: following(month),
    });
    expect((body['items'] as readonly Body[])[0]).to.deep.equal(first.body);
  });

  it('is opened again with a reason if no later one is closed, and closed anew', async () => {
    toTheEnd();
    const first = await close(month);
    expect((await reopen(month, {})).code).to.equal('validation_error');
    const before = laterBy(`${month}-01T00:00:00.000Z`, -1).slice(0, 7);
    expect((await reopen(before, { reason: 'x' })).body).to.include({ why: 'not_last', last_month: month });
    expect((await reopen('2020-01', { reason: 'x' })).body).to.include({ why: 'not_closed' });
    const opened = await reopen(month, { reason: 'an invoice was booked twice' });
    expect(opened.body).to.include({ month, reason: 'an invoice was booked twice' });
    expect((await reportOf(month))['closing']).to.equal(null);
    api.wait(-6 * MINUTE_MS);
    await api.sell('between', 3_000);
    api.wait(6 * MINUTE_MS);
    const second = await close(month);
    expect(second.body).to.have.nested.property('closing.number', (opened.body['number'] as number) + 1);
    expect(second.body['report']).not.to.deep.equal(first.body['report']);
    const { body } = await api.call('get', '/v1/admin/books/months');
    expect((body['reopened'] as readonly Body[])[0]).to.deep.equal(opened.body);
    expect((await audited()).total).to.equal(0);
  });

  it('keeps its model costs when a price is published later, and the open month has the difference', async () => {
    const model_name = randomUUID();
    const log = (occurred_at: string) =>
      api.call('post', '/v1/internal/llm-cost', {
        json: {
          tenant_id: 'costs',
          job_id: randomUUID(),
          operation: 'extract',
          provider: 'openai',
          model_name,
          input_tokens: 2_000_000,
          output_tokens: 0,
          occurred_at,
        },
      });
    const inMonth = now();
    await log(inMonth);
    toTheEnd();
    await close(month);
    const before = await reportOf(month);
    expect(before).to.include({ unpriced_calls: 1 });
    const price = { provider: 'openai', model_name, output_usd_per_million_tokens: '1' };
    await api.call('post', '/v1/admin/provider-pricing', {
      json: { ...price, input_usd_per_million_tokens: '3', effective_from: '2026-01-01T00:00:00Z' },
    });
    await log(inMonth);
    expect(await reportOf(month)).to.deep.equal(before);
    const next = following(month);
    const open = await reportOf(next);
    expect(open['corrections']).to.include({ model_cost_usd: '12.000000' });
    expect(open['unit_margin']).to.include({ model_cost_usd: '12.000000' });
    month = next;
    toTheEnd();
    const closed = await close(next);
    expect(closed.body['report']).to.have.nested.property('unit_margin.model_cost_usd', '12.000000');
    expect((await reportOf(next))['corrections']).to.deep.equal(open['corrections']);
    expect((await audited()).findings).to.deep.equal([]);
  });

  it('has the figures of the line that was drawn, though its close died and work went on', async () => {
    await api.sell('dying', 20_000);
    const use = (key: string) =>
      api.call('post', '/v1/billing/dspy-examples-charge', {
        json: { tenant_id: 'dying', idempotency_key: key },
      });
    await use('1');
    toTheEnd();
    const handle = commandHandler<BooksKind>({
      store: api.log,
      decider: books,
      codec: eventCodec(booksEvent),
      tenantOf: () => null,
    });
    const meta = { now: now(), actor: { key_id: 'k', role: 'admin' } as const, correlation_id: 'r' };
    await handle(BOOKS_STREAM, {
      type: 'CutOffMonth',
      data: { month },
      meta: { ...meta, command_id: randomUUID() },
    });
    api.wait(-5 * MINUTE_MS);
    await use('2');
    api.wait(5 * MINUTE_MS);
    expect((await audited()).notes.join(' ')).to.include('its figures are not written yet');
    const closed = await close(month);
    expect(closed.status).to.equal(200);
    expect(closed.body['report']).to.include({ credits_burned: 5_000 });
    expect(await reportOf(following(month))).to.include({ credits_burned: 5_000 });
    expect((await audited()).total).to.equal(0);
  });

  it('keeps its payments and its tax when fee, VAT and rate of a sale are told later', async () => {
    const payments = async (of: string) => {
      const next = `${following(of)}-01T00:00:00.000Z`;
      const query = `tenant_id=taxed&from=${of}-01&to=${laterBy(next, -1)}`;
      return (await api.call('get', `/v1/admin/payments?${query}`)).body;
    };
    const tax = async (of: string) => {
      const items = (await api.call('get', '/v1/admin/tax-report')).body['items'] as readonly Body[];
      return items.filter((item) => item['month'] === of);
    };
    const sale = { tenant_id: 'taxed', provider: 'stripe', provider_txn_id: 'pi-taxed', credits: 10_000 };
    const sell = async (facts: Body) => {
      const json = { ...sale, gross_amount_minor: 1000, ...facts };
      const reply = await api.call('post', '/v1/billing/credits', { json });
      expect(reply.status, reply.text).to.equal(200);
    };
    const [closing, open] = [month, following(month)];
    await sell({});
    toTheEnd();
    await close(closing);
    const before = [await payments(closing), await tax(closing)];
    const openBefore = await tax(open);
    await sell({ provider_fee_minor: 59 });
    await sell({ tax_rate: '19', tax_country: 'DE', payout_id: 'po-taxed' });
    const after = [await payments(closing), await tax(closing)];
    expect(after[1]).to.deep.equal(before[1]);
    expect((after[0] as Body)['by_currency']).to.deep.equal((before[0] as Body)['by_currency']);
    const corrections = (await payments(open))['items'] as readonly Body[];
    expect(
      corrections.map(({ kind, gross_amount_minor, provider_fee_minor, tax_rate }) => [
        kind,
        gross_amount_minor,
        provider_fee_minor,
        tax_rate,
      ]),
    ).to.deep.equal([
      ['correction', 1000, 0, '19'],
      ['correction', -1000, 0, null],
      ['correction', 0, 59, '19'],
    ]);
    expect(openBefore).to.deep.equal([]);
    const moved = (await tax(open)).map((item) => [item['tax_country'], item['gross_amount_minor']]);
    expect(moved).to.deep.equal([
      ['DE', 1000],
      [null, -1000],
    ]);
    const grant = (await api.call('get', '/v1/billing/grants/taxed')).body['items'] as readonly Body[];
    expect(grant[0]).to.include({ provider_fee_minor: 59, tax_rate: '19', tax_country: 'DE' });
    expect((await audited()).total).to.equal(0);
  });

  it('keeps its receipts when VAT is told later, which is booked in the open month', async () => {
    const sale = { tenant_id: 'late-vat', provider: 'stripe', provider_txn_id: 'pi-late', credits: 10_000 };
    const post = async (path: string, json: Body) => {
      const reply = await api.call('post', path, { json });
      expect(reply.status, reply.text).to.equal(200);
      return reply.body;
    };
    const sell = (facts: Body) =>
      post('/v1/billing/credits', { ...sale, gross_amount_minor: 1000, ...facts });
    const refund = (provider_txn_id: string) =>
      post('/v1/billing/refunds', {
        tenant_id: 'late-vat',
        provider: 'stripe',
        provider_txn_id,
        gross_amount_minor: 200,
        original_provider_txn_id: 'pi-late',
      });
    const receiptOf = async (id: unknown) =>
      (await api.call('get', `/v1/billing/receipts/${String(id)}`)).body;
    const taxOf = async (of: string) => {
      const items = (await api.call('get', '/v1/admin/tax-report')).body['items'] as readonly Body[];
      return items.flatMap((item) =>
        item['month'] === of ? [[item['tax_rate'], item['sales_gross_minor'], item['sales_vat_minor']]] : [],
      );
    };
    const { grant_id } = await sell({});
    const { refund_id } = await refund('re-late');
    toTheEnd();
    await close(month);
    const [closed, note, tax] = [await receiptOf(grant_id), await receiptOf(refund_id), await taxOf(month)];
    expect(closed).to.include({ vat_amount_minor: 0, net_amount_minor: 1000, tax_rate: null });
    await sell({ provider_fee_minor: 20 });
    await sell({ vat_amount_minor: 160, tax_rate: '19', tax_country: 'DE' });

    expect(await taxOf(month)).to.deep.equal(tax);
    const open = following(month);
    expect(await taxOf(open)).to.deep.equal([
      ['19', 1000, 160],
      [null, -1000, 0],
    ]);
    const after = await receiptOf(grant_id);
    expect({ ...after, corrections: [] }).to.deep.equal(closed);
    const [correction, ...more] = after['corrections'] as readonly Body[];
    expect(more).to.deep.equal([]);
    expect(correction).to.include({ vat_amount_minor: 160, tax_rate: '19', tax_country: 'DE' });
    expect(String(correction?.['booked_at']).slice(0, 7)).to.equal(open);
    // The note has no more VAT than it had, but the rate of its sale.
    const { corrections, ...unchanged } = await receiptOf(refund_id);
    expect({ ...unchanged, corrections: [] }).to.deep.equal(note);
    expect(corrections).to.have.length(1);
    expect(corrections).to.have.nested.property('[0].vat_amount_minor', 0);
    // A note of the open month has its sale's VAT from the beginning.
    const next = await receiptOf((await refund('re-next'))['refund_id']);
    expect(next).to.include({ tax_rate: '19', tax_country: 'DE' });
    expect(next['corrections']).to.deep.equal([]);
    expect((await audited()).total).to.equal(0);
  });

  it('keeps the exchange rate that its receipts say, and has a later one beside it', async () => {
    const post = async (path: string, json: Body) => {
      const reply = await api.call('post', path, { json });
      expect(reply.status, reply.text).to.equal(200);
      return reply.body;
    };
    const listed = (await api.call('get', '/v1/admin/credit-prices')).body['entries'] as readonly Body[];
    const entries = listed.map(({ minor_unit_digits: _, ...entry }) => entry);
    await post('/v1/admin/credit-prices', {
      entries: [...entries, ...['EUR', 'SEK'].map((currency) => ({ currency, price_per_1000_credits: '1' }))],
    });
    const day = now().slice(0, 10);
    await post('/v1/admin/fx-rates', { date: day, rates: { USD: '1.10' } });
    const identity = { tenant_id: 'late-rate', provider: 'stripe' };
    const sell = (currency: string, facts: Body = {}) =>
      post('/v1/billing/credits', {
        ...identity,

        provider_txn_id: `pi-${currency}`,
        currency,
        credits: 10_000,
        gross_amount_minor: 1000,
        ...facts,
      });
    const refund = (provider_txn_id: string) =>
      post('/v1/billing/refunds', {
        ...identity,
        provider_txn_id,
        gross_amount_minor: 200,
        original_provider_txn_id: 'pi-EUR',
      });
    const receiptOf = async (id: unknown) =>
      (await api.call('get', `/v1/billing/receipts/${String(id)}`)).body;
    const [euro, krona, back] = [await sell('EUR'), await sell('SEK'), await refund('re-rate')];
    const ids = [euro['grant_id'], krona['grant_id'], back['refund_id']];
    toTheEnd();
    await close(month);
    const closed = await Promise.all(ids.map(receiptOf));
    const rates = closed.map(({ fx_rate_to_usd, fx_rate_date }) => [fx_rate_to_usd, fx_rate_date]);
    expect(rates).to.deep.equal([
      ['1.10', day],
      [null, null],
      ['1.10', day],
    ]);
    await post('/v1/admin/fx-corrections', {
      currency: 'EUR',
      rate_date: day,
      fx_rate_to_usd: '1.20',
      reason: 'mistyped',
      grant_id: euro['grant_id'],
    });
    await post('/v1/admin/fx-rates', { date: day, rates: { USD: '1.10', SEK: '11' } });

    const after = await Promise.all(ids.map(receiptOf));
    expect(after.map((receipt) => ({ ...receipt, corrections: [] }))).to.deep.equal(closed);
    const told = after.map(({ corrections }) =>
      (corrections as readonly Body[]).map(({ fx_rate_to_usd, fx_rate_date, booked_at, ...rest }) => [
        fx_rate_to_usd,
        fx_rate_date,
        String(booked_at).slice(0, 7),
        rest['vat_amount_minor'],
      ]),
    );
    const open = following(month);
    expect(told).to.deep.equal([
      [['1.20', day, open, 0]],
      [['0.100000000000000000', day, open, 0]],
      [['1.20', day, open, 0]],
    ]);
    // VAT that is told now is corrected at the rate that is known by now, which the sale did not have.
    await sell('SEK', { vat_amount_minor: 160, tax_rate: '19', tax_country: 'SE' });
    const query = 'tenant_id=late-rate&kind=correction&currency=SEK';
    const taxed = (await api.call('get', `/v1/admin/payments?${query}`)).body['items'] as readonly Body[];
    expect(taxed.map(({ vat_amount_minor }) => vat_amount_minor)).to.include(160);
    for (const line of taxed) expect(line).to.include({ fx_rate_to_usd: '0.100000000000000000' });
    // A note of the open month is at the rate that is known by then.
    const next = await receiptOf((await refund('re-rate-2'))['refund_id']);
    expect(next).to.deep.include({ fx_rate_to_usd: '1.20', fx_rate_date: day, corrections: [] });
    expect((await audited()).total).to.equal(0);
  });

  it('has one figure when many close it at once', async () => {
    await api.sell('crowd', 2_000);
    toTheEnd();
    const all = await Promise.all(Array.from({ length: 12 }, () => close(month)));
    expect(new Set(all.map(({ status }) => status))).to.deep.equal(new Set([200]));
    expect(new Set(all.map(({ body }) => JSON.stringify(body))).size).to.equal(1);
    expect((await audited()).total).to.equal(0);
  });

  it('adds up with the months before and after it to the whole', async () => {
    const { body } = await api.call('get', '/v1/admin/books/months');
    const closed = body['items'] as readonly { readonly month: string; readonly report: Body }[];
    const [first, last] = [closed.at(-1)!.month, closed[0]!.month];
    const whole = (
      await api.call('get', `/v1/admin/margin-report?start=${first}-01&end=${daysOf(last).split('end=')[1]!}`)
    ).body;
    const burned = closed.reduce((sum, { report }) => sum + Number(report['credits_burned']), 0);
    expect(whole['credits_burned']).to.equal(burned);
    const costOf = (report: Body) =>
      BigInt(String((report['unit_margin'] as Body)['model_cost_usd']).replace('.', ''));
    expect(costOf(whole)).to.equal(closed.reduce((sum, { report }) => sum + costOf(report), 0n));
  });
});
