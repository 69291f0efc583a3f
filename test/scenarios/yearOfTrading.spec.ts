import { expect } from 'chai';
import type { ProjectedEvent, Sql } from '../../projections/engine/ports.ts';
import { ddlOf } from '../../projections/engine/table.ts';
import { marginProjector } from '../../projections/margin.ts';
import { marginFlows } from '../../projections/marginFlows.ts';
import { marginReport } from '../../src/api/money/reports.ts';
import { seededRandom } from '../../engine/test/support/random.ts';
import { emptySql } from '../support/emptySql.ts';
import { plainMargin } from './plainMargin.ts';
import { yearOfTrading } from './yearOfTrading.ts';

const seed = Number(process.env['SEED'] ?? 2025);
const COSTS = { billed_pico_usd: 123_456_789_500_000n, free_tier_pico_usd: 1_500_000n, unpriced_calls: 0 };
const YEAR = { from: '2025-01-01T00:00:00.000Z', to: '2025-12-31T23:59:59.999Z' };

const usd = (micro: bigint): string => {
  const digits = (micro < 0n ? -micro : micro).toString().padStart(7, '0');
  return `${micro < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
};

const monthEnd = (month: number) => new Date(Date.UTC(2025, month + 1, 1) - 1).toISOString();

/** The year, its months, and stretches that begin and end at any moment. */
const periods = (events: readonly ProjectedEvent[]) => {
  const random = seededRandom(seed + 1);
  const months = Array.from({ length: 12 }, (_, month) => ({
    from: new Date(Date.UTC(2025, month, 1)).toISOString(),
    to: monthEnd(month),
  }));
  const instants = events.flatMap(({ data }) => ('created_at' in data ? [data.created_at] : []));
  const cuts = Array.from({ length: 12 }, () => {
    const [a, b] = [random.pick(instants), random.pick(instants)];
    return a < b ? { from: a, to: b } : { from: b, to: a };
  });
  return [YEAR, ...months, ...cuts];
};

describe('a year of trading', () => {
  const events = yearOfTrading(seed, 4_000).filter(({ type }) =>
    (marginProjector.eventTypes as readonly string[]).includes(type),
  );
  let sql: Sql;
  before(async () => {
    sql = await emptySql();
    await sql.script(`create schema read; create schema rm; ${ddlOf(marginProjector.tables, 'rm')}`);
    for (const { name } of marginProjector.tables)
      await sql.script(`create view read.${name} as select * from rm.${name}`);
    for (let at = 0; at < events.length; at += 333)
      await sql.transaction((tx) =>
        marginProjector.apply(tx, { schema: 'rm', events: events.slice(at, at + 333) }),
      );
  });
  after(() => sql.close());
  afterEach(function () {
    if (this.currentTest?.state === 'failed') console.error(`SEED=${String(seed)}`);
  });

  const reportOf = async ({ from, to }: { readonly from: string; readonly to: string }) => {
    const [period, sinceEver] = [await marginFlows(sql)({ from, to }), await marginFlows(sql)({ to })];
    return marginReport({ start: from, end: to, period, sinceEver, costs: COSTS });
  };

  it('has everything that can happen', () => {
    const count = (type: string) => events.filter((event) => event.type === type).length;
    expect(count('CreditsGranted')).to.be.greaterThan(300);
    expect(count('CreditsRefunded')).to.be.greaterThan(80);
    expect(count('DisputeChanged')).to.be.greaterThan(10);
    expect(count('CreditsTransferredIn')).to.be.greaterThan(20);
    expect(count('CreditsAdjusted')).to.be.greaterThan(120);
    expect(count('CreditsBurned')).to.be.greaterThan(1_000);
  });

  it('is reported as an independent calculation has it, to the micro-dollar, for any period', async () => {
    for (const period of periods(events)) {
      const report = await reportOf(period);
      const plain = plainMargin(events, period);
      const credits = plain.priced + plain.gift + plain.unpriced;
      const modelCost = 123_456_790n;
      const list = credits * 1_000n;
      const what = `${period.from} to ${period.to}`;
      expect(report.credits_burned, what).to.equal(Number(credits));
      expect(report.unit_margin, what).to.include({
        revenue_usd: usd(list),
        model_cost_usd: usd(modelCost),
        margin_usd: usd(list - modelCost),
      });
      expect(report.realized_margin, what).to.include({
        gross_usd: usd(plain.net + plain.vat + plain.fee),
        vat_usd: usd(plain.vat),
        provider_fees_usd: usd(plain.fee),
        net_revenue_usd: usd(plain.net),
        refunds_usd: usd(plain.trueUp),
        dispute_fees_usd: usd(plain.disputeFee),
        margin_usd: usd(plain.net + plain.trueUp - plain.disputeFee - modelCost),
      });
      expect(report.gap_breakdown, what).to.deep.equal({
        fx_rate_usd: usd(plain.amount - plain.implied),
        price_variance_usd: usd(plain.implied - plain.priced * 1_000n),
        provider_fee_usd: usd(-plain.fee),
        promo_usd: usd(-plain.gift * 1_000n),
        unpriced_usd: usd(-plain.unpriced * 1_000n),
        refund_true_up_usd: usd(plain.trueUp),
        dispute_fee_usd: usd(-plain.disputeFee),
        rounding_usd: usd(plain.net - plain.amount + plain.fee),
      });
      expect(report.fx_effect_usd, what).to.equal(usd(plain.net + plain.trueUp - plain.disputeFee - list));
      expect(report.deferred_revenue_usd, what).to.equal(usd(plain.deferred));
    }
  });

  it('is the sum of its months', async () => {
    const micro = (text: string) => BigInt(text.replace('.', ''));
    const whole = await reportOf(YEAR);
    const months = await Promise.all(periods(events).slice(1, 13).map(reportOf));
    const sum = (of: (report: typeof whole) => string) =>
      months.reduce((total, month) => total + micro(of(month)), 0n);
    for (const of of [
      (report: typeof whole) => report.realized_margin.net_revenue_usd,
      (report: typeof whole) => report.realized_margin.refunds_usd,
      (report: typeof whole) => report.gap_breakdown.fx_rate_usd,
      (report: typeof whole) => report.gap_breakdown.rounding_usd,
    ])
      expect(sum(of)).to.equal(micro(of(whole)));
    expect(months.reduce((total, { credits_burned }) => total + credits_burned, 0)).to.equal(
      whole.credits_burned,
    );
    for (const currency of ['EUR', 'JPY', 'USD']) {
      const sales = (report: typeof whole) =>
        report.by_currency.find((item) => item.currency === currency)?.sales ?? 0;
      expect(months.reduce((total, month) => total + sales(month), 0)).to.equal(sales(whole));
    }
  });
});
