import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { formOf, issuesIn } from '../support/client.ts';
import { testApi, type TestApi } from '../support/testApi.ts';
import { meta as commandMeta } from '../../support/money/moneyCommands.ts';

describe('exchange rates over HTTP', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
    const published = await publish({ date: '1999-02-05', rates: { GBP: '0.6900', CHF: '1.6' } });
    expect(published.body).to.include({ published: true, source: 'admin', base: 'EUR' });
  });

  const publish = (json: unknown) => api.call('post', '/v1/admin/fx-rates', { json });
  const rate = (query: string) => api.call('get', `/v1/admin/fx-rate?${query}`);

  it('gives the last known rate, and says of which day it is', async () => {
    expect((await rate('quote=GBP&on=1999-02-07')).body).to.deep.equal({
      base: 'EUR',
      quote: 'GBP',
      rate: '0.6900',
      rate_date: '1999-02-05',
      requested_date: '1999-02-07',
      source: 'admin',
    });
    expect((await rate('quote=GBP&on=2999-01-01')).body).to.include({ requested_date: '2999-01-01' });
    const today = (await rate('quote=GBP')).body;
    expect(today['requested_date']).to.equal(api.deps.clock.now().slice(0, 10));
  });

  it('crosses through EUR', async () => {
    expect((await rate('base=GBP&quote=CHF&on=1999-02-05')).body['rate']).to.equal('2.318840579710144928');
  });

  it('says when none is known, and refuses what is no currency', async () => {
    expect((await rate('quote=GBP&on=1999-02-04')).code).to.equal('fx_rate_not_found');
    expect(issuesIn(await rate('quote=QQQ'))[0]).to.contain('query.quote');
    expect(issuesIn(await rate('on=yesterday'))[0]).to.contain('query.on');
  });

  const imported = (text: string, fields: Readonly<Record<string, string>> = {}, key?: string) =>
    api.call('post', '/v1/admin/fx-rates/import', {
      form: formOf(fields, new Blob([text]), 'rates.csv'),
      ...(key !== undefined && { key }),
    });

  it('imports a file of the ECB once, and a differing one only where it is said to be right', async () => {
    const file = 'Date,GBP,CHF,\n2003-01-03,0.6500,1.4500,\n2003-01-02,0.6510,1.4520,\n';
    const none = { added: 0, superseded: 0, unchanged: 0 };
    const days = { days: 2, first: '2003-01-02', last: '2003-01-03' };
    const first = await imported(file);
    expect([first.status, first.body], first.text).to.deep.equal([200, { ...none, ...days, added: 2 }]);
    expect((await imported(file)).body).to.deep.equal({ ...none, ...days, unchanged: 2 });
    expect((await rate('quote=GBP&on=2003-01-03')).body).to.include({ rate: '0.6500', source: 'ecb' });
    const other = file.replace('0.6500', '0.6600');
    const refused = await imported(other);
    expect([refused.status, refused.code]).to.deep.equal([409, 'fx_rates_conflict']);
    expect(refused.body['conflicts']).to.deep.equal([
      { date: '2003-01-03', currency: 'GBP', known: '0.6500', given: '0.6600' },
    ]);
    expect((await rate('quote=GBP&on=2003-01-03')).body).to.include({ rate: '0.6500' });
    const right = await imported(other, { supersede: 'true' });
    expect(right.body).to.include({ superseded: 1, unchanged: 1 });
    expect((await rate('quote=GBP&on=2003-01-03')).body).to.include({ rate: '0.6600' });
  });

  it('imports the same file once, however often it is sent at the same time', async () => {
    const file = 'Date,GBP,\n2003-02-03,0.6500,\n';
    const reports = await Promise.all([imported(file), imported(file), imported(file)]);
    expect(reports.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect((await rate('quote=GBP&on=2003-02-03')).body).to.include({ rate: '0.6500' });
  });

  it('says of what is no file of the ECB that it is none, and imports for admins alone', async () => {
    for (const text of ['Date,GBP\nyesterday,1\n', '<gesmes/>', 'PK\u0003\u0004 no zip']) {
      const reply = await imported(text);
      expect([reply.status, reply.code], text).to.deep.equal([400, 'unreadable_file']);
    }
    const key = await api.newKey(`fx-${randomUUID()}`);
    expect((await imported('Date,GBP,\n2003-02-03,0.65,\n', {}, key)).code).to.equal('admin_required');
  });

  it('corrects a day by a further publication, and repeats nothing', async () => {
    const first = { date: '1999-03-05', rates: { GBP: '0.70' }, source: 'desk' };
    expect((await publish(first)).body).to.include({ published: true });
    expect((await publish(first)).body).to.include({ published: false, published_at: null });
    await publish({ ...first, rates: { GBP: '0.71' } });
    expect((await rate('quote=GBP&on=1999-03-06')).body).to.include({ rate: '0.71', source: 'desk' });
  });

  describe('of sales', () => {
    const day = '2001-02-05';
    const at = (time = '12:00:00.000Z') => `${day}T${time}`;
    const sell = async (tenant: string, currency: string, over = {}) => {
      const json = {
        tenant_id: tenant,
        provider_txn_id: randomUUID(),
        currency,
        gross_amount_minor: 1000,
        occurred_at: at(),
        ...over,
      };
      return (await api.call('post', '/v1/billing/credits', { json })).body;
    };
    const grantsOf = async (tenant: string) =>
      (await api.call('get', `/v1/billing/grants/${tenant}`)).body['items'] as Record<string, unknown>[];
    const report = async () => (await api.call('get', '/v1/admin/margin-report')).body;
    const correct = (json: object) => api.call('post', '/v1/admin/fx-corrections', { json });

    let listed: readonly Record<string, unknown>[];
    const listPrices = (entries: readonly object[]) =>
      api.call('post', '/v1/admin/credit-prices', { json: { entries } });
    after(() => listPrices(listed.map(({ minor_unit_digits: _, ...entry }) => entry)));
    before(async () => {
      listed = (await api.call('get', '/v1/admin/credit-prices')).body['entries'] as typeof listed;
      const entries = ['USD', 'EUR', 'GBP', 'SEK', 'NOK'].map((currency) => ({
        currency,
        price_per_1000_credits: '1.00',
      }));
      await listPrices(entries);
    });

    it('mark one that was older than 7 days, and the report counts it', async () => {
      await publish({ date: '2001-01-28', rates: { USD: '0.9', GBP: '0.6' } });
      const before = Number((await report())['sales_with_stale_rate']);
      const sold = await sell('fx-stale', 'GBP');
      const stale = { fx_rate_to_usd: '1.500000000000000000', fx_rate_date: '2001-01-28' };
      expect(sold).to.include({ ...stale, fx_rate_age_days: 8, fx_rate_stale: true });
      const young = await sell('fx-stale', 'GBP', { occurred_at: '2001-02-04T23:59:59.999Z' });
      expect(young).to.include({ fx_rate_age_days: 7, fx_rate_stale: false });
      expect(
        (await grantsOf('fx-stale')).map((row) => [row['fx_rate_date'], row['fx_rate_stale']]),
      ).to.deep.equal([
        ['2001-01-28', false],
        ['2001-01-28', true],
      ]);
      expect(Number((await report())['sales_with_stale_rate']) - before).to.equal(1);
    });

    it('are booked once they are published, also by who publishes them elsewhere', async () => {
      const before = await report();
      for (const currency of ['SEK', 'NOK'])
        expect(await sell('fx-unpriced', currency)).to.include({
          fx_rate_to_usd: null,
          fx_rate_stale: false,
        });
      const unpriced = await report();
      expect(Number(unpriced['sales_without_rate']) - Number(before['sales_without_rate'])).to.equal(2);
      await publish({ date: day, rates: { USD: '0.9', SEK: '9' } });
      const { reference, clock } = api.deps;
      const data = { date: day, base: 'SEK', rates: { NOK: '1', USD: '0.1' }, source: 'file' };
      const meta = { ...commandMeta, now: clock.now() };
      await reference.publishFxRates({ type: 'PublishFxRates', data, meta });
      expect(await api.deps.priceSales()).to.equal(1);
      expect(await api.deps.priceSales()).to.equal(0);
      const rows = await grantsOf('fx-unpriced');
      expect(rows.map((row) => [row['fx_rate_to_usd'], row['fx_rate_age_days']])).to.deep.equal([
        ['0.100000000000000000', 0],
        ['0.100000000000000000', 0],
      ]);
      const priced = await report();
      expect(priced['sales_without_rate']).to.equal(before['sales_without_rate']);
      const worth = Number(priced['deferred_revenue_usd']) - Number(unpriced['deferred_revenue_usd']);
      expect(worth).to.be.closeTo(2, 0.000_001);
    });

    it('that were wrong are corrected by an event, with their refunds, and a repeat does nothing', async () => {
      await publish({ date: '2001-03-05', rates: { USD: '11.00' }, confirmed: true });
      const occurred_at = '2001-03-05T12:00:00.000Z';
      const before = Number((await report())['deferred_revenue_usd']);
      const sold = await sell('fx-wrong', 'EUR', { occurred_at });
      const refund = {
        tenant_id: 'fx-wrong',
        provider_txn_id: randomUUID(),
        gross_amount_minor: 500,
        original_provider_txn_id: sold['provider_txn_id'],
      };
      await api.call('post', '/v1/billing/refunds', { json: refund });
      const deferred = async () => Number((await report())['deferred_revenue_usd']) - before;
      expect(await deferred()).to.be.closeTo(55, 0.000_001);
      const json = { currency: 'EUR', rate_date: '2001-03-05', reason: 'mistyped' };
      expect((await correct({ ...json, rate_date: '2001-03-06' })).code).to.equal('fx_rate_not_found');
      expect((await correct(json)).body['corrected']).to.deep.equal([]);
      await publish({ date: '2001-03-05', rates: { USD: '1.10' } });
      expect((await correct({ ...json, tenant_id: 'another' })).body['corrected']).to.deep.equal([]);
      const { grant_id } = sold;
      expect((await correct(json)).body).to.deep.include({
        fx_rate_to_usd: '1.10',
        corrected: [{ tenant_id: 'fx-wrong', grant_id, previous_rate: '11.00' }],
      });
      expect(await deferred()).to.be.closeTo(5.5, 0.000_001);
      expect((await grantsOf('fx-wrong')).map((row) => row['fx_rate_to_usd'])).to.deep.equal([
        '1.10',
        '1.10',
      ]);
      expect((await correct(json)).body['corrected']).to.deep.equal([]);
      const stated = await correct({ ...json, fx_rate_to_usd: '1.20', grant_id });
      expect(stated.body).to.deep.include({ fx_rate_to_usd: '1.20' });
      expect(await deferred()).to.be.closeTo(6, 0.000_001);
    });
  });

  it('asks about a rate that is far from the one before, as where a point is misplaced', async () => {
    await publish({ date: '1999-04-05', rates: { GBP: '0.70' } });
    const typo = { date: '1999-04-06', rates: { GBP: '7.0' } };
    const asked = await publish(typo);
    expect(issuesIn(asked)[0]).to.contain('body.rates.GBP');
    expect(asked.text).to.contain('confirmed: true');
    expect((await rate('quote=GBP&on=1999-04-06')).body).to.include({ rate: '0.70' });
    expect((await publish({ ...typo, confirmed: true })).body).to.include({ published: true });
    expect((await publish({ ...typo, rates: { GBP: '0.71' } })).body).to.include({ published: true });
    expect((await publish({ date: '1999-07-06', rates: { GBP: '9.0' } })).body).to.include({
      published: true,
    });
  });

  it('refuses rates that are none', async () => {
    for (const rates of [{}, { GBP: '0' }, { GBP: 1 }, { QQQ: '1' }, { EUR: '1' }, { GBP: '-1' }])
      expect((await publish({ date: '1999-03-08', rates })).status).to.equal(422);
    expect((await publish({ date: '1999-02-30', rates: { GBP: '1' } })).status).to.equal(422);
  });
});
