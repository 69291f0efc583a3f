import { expect } from 'chai';
import fc from 'fast-check';
import { isoWeekOf } from '../../domain/kernel/timeZones.ts';
import { propertyRuns } from '../../engine/test/support/properties.ts';
import type { ProjectedEvent, Sql } from '../../projections/engine/ports.ts';
import { ddlOf } from '../../projections/engine/table.ts';
import { ledgerProjector } from '../../projections/ledger.ts';
import { totalsOf, type UsageGroup, usageProjector, usageStats } from '../../projections/usage.ts';
import { seededRandom } from '../../engine/test/support/random.ts';
import { emptySql } from '../support/emptySql.ts';

const START = Date.parse('2026-12-27T00:00:00.000Z');
const MINUTE = 60_000;

/** Burns over nine days around a new year, many of free and paid pages, and gifts. */
const events = (): readonly ProjectedEvent[] => {
  const random = seededRandom(3);
  return Array.from({ length: 600 }, (_, n) => {
    const created_at = new Date(START + n * 21 * MINUTE + random.between(0, 9 * MINUTE)).toISOString();
    const stream = `account-t${String(n % 3)}`;
    const place = { stream, position: BigInt(n + 1), metadata: {} };
    if (n % 17 === 0) {
      const data = { adjustment_id: `adj_${String(n)}`, credits: 5, reason: 'gift', allow_negative: false };
      return { ...place, type: 'CreditsAdjusted', data: { ...data, created_at, balance_after: 0 } };
    }
    const free_pages = random.between(0, 3);
    const pages = 3;
    const data = {
      usage_id: `use_${String(n)}`,
      operation_id: `ext_${String(n)}`,
      operation: 'extract',
      category: n % 2 === 0 ? 'extraction' : 'ocr',
      extraction_mode: n % 4 === 0 ? null : 'fast',
      billing_type: 'full_service',
      pages,
      free_pages,
      credits_per_page: 10,
      credits: (pages - free_pages) * 10,
      billing_config_version: 1,
      project_id: 'default',
      task_id: 'default',
      document_id: null,
      job_id: null,
      api_key_id: null,
      created_at,
      balance_after: 0,
    };
    return { ...place, type: 'CreditsBurned', data };
  }) as unknown as readonly ProjectedEvent[];
};

const timeOf = ({ data }: ProjectedEvent): string => ('created_at' in data ? data.created_at : '');

describe('usage statistics', () => {
  const all = events();
  let sql: Sql;
  before(async () => {
    sql = await emptySql();
    await sql.script(
      `create schema read; create schema rm; ${ddlOf(ledgerProjector.tables, 'rm')}` +
        `;${ddlOf(usageProjector.tables, 'rm')}`,
    );
    for (const { name } of [...ledgerProjector.tables, ...usageProjector.tables])
      await sql.script(`create view read.${name} as select * from rm.${name}`);
    for (const projector of [ledgerProjector, usageProjector])
      for (let at = 0; at < all.length; at += 77)
        await sql.transaction((tx) => projector.apply(tx, { schema: 'rm', events: all.slice(at, at + 77) }));
  });
  after(() => sql.close());

  const statsOf = (group_by: UsageGroup, range: { from?: string; to?: string } = {}, gifts = false) =>
    usageStats(sql)({ group_by, include_adjustments: gifts, ...range });

  /** The same figures by going through the events. */
  const counted = ({ from = '', to = '9' }: { from?: string; to?: string }, gifts: boolean) => {
    const inRange = all.filter((event) => from <= timeOf(event) && timeOf(event) <= to);
    const burns = inRange.flatMap((event) => (event.type === 'CreditsBurned' ? [event.data] : []));
    const given = gifts ? inRange.filter(({ type }) => type === 'CreditsAdjusted').length : 0;
    return {
      operations: burns.length + given,
      pages: burns.reduce((sum, { pages }) => sum + pages, 0),
      free_pages: burns.reduce((sum, { free_pages }) => sum + free_pages, 0),
      credits: burns.reduce((sum, { credits }) => sum + credits, 0) - 5 * given,
    };
  };

  it('put the days around a new year into the weeks of ISO 8601', async () => {
    const keys = (await statsOf('week')).map(({ key }) => key);
    expect(keys).to.deep.equal(['2026-W52', '2026-W53', '2027-W01']);
    const year = await statsOf('month');
    expect(year.map(({ key }) => key)).to.deep.equal(['2026-12', '2027-01']);
    const sunday = { from: '2027-01-03T00:00:00.000Z', to: '2027-01-03T23:59:59.999Z' };
    expect((await statsOf('week', sunday)).map(({ key }) => key)).to.deep.equal(['2026-W53']);
  });

  it('are exact for any range, whole days or not, and count an operation once', async () => {
    const random = seededRandom(5);
    for (let n = 0; n < 60; n += 1) {
      const [a, b] = [timeOf(random.pick(all)), timeOf(random.pick(all))];
      const [from, to] = a < b ? [a, b] : [b, a];
      const range = n % 3 === 0 ? { from: `${from.slice(0, 10)}T00:00:00.000Z`, to } : { from, to };
      const gifts = n % 2 === 0;
      for (const group of ['tenant_id', 'day_category', 'extraction_mode'] as const) {
        const totals = totalsOf(await statsOf(group, range, gifts));
        expect(totals, JSON.stringify([group, range])).to.include(counted(range, gifts));
      }
    }
  });

  it('are by the days, weeks and months of a zone, as Intl has them', async () => {
    const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
    const groups = fc.constantFrom('day', 'week', 'month', 'day_category');
    const times = fc.constantFrom(...all.map(timeOf));
    const keyOf = (group: string, day: string) => {
      if (group === 'week') return isoWeekOf(day);
      return group === 'month' ? day.slice(0, 7) : day;
    };
    await fc.assert(
      fc.asyncProperty(zones, groups, fc.tuple(times, times), async (time_zone, group_by, [a, b]) => {
        const range = a < b ? { from: a, to: b } : { from: b, to: a };
        const clock = new Intl.DateTimeFormat('en-CA', { timeZone: time_zone, dateStyle: 'short' });
        const expected: Record<string, number> = {};
        for (const event of all) {
          const at = timeOf(event);
          if (event.type !== 'CreditsBurned' || at < range.from || at > range.to) continue;
          const key = keyOf(group_by, clock.format(new Date(at)));
          expected[key] = (expected[key] ?? 0) + event.data.credits;
        }
        const found: Record<string, number> = {};
        for (const { key, credits } of await usageStats(sql)({
          group_by,
          time_zone,
          include_adjustments: false,
          ...range,
        }))
          found[key] = (found[key] ?? 0) + credits;
        expect(found, time_zone).to.deep.equal(expected);
      }),
      { numRuns: propertyRuns(0.3) },
    );
  });

  it('have both ends in them', async () => {
    const at = timeOf(all[100]!);
    expect(totalsOf(await statsOf('day', { from: at, to: at })).operations).to.be.at.least(1);
    const after = new Date(Date.parse(at) + 1).toISOString();
    const before = totalsOf(await statsOf('day', { to: at })).operations;
    const rest = totalsOf(await statsOf('day', { from: after })).operations;
    expect(before + rest).to.equal(counted({}, false).operations);
  });
});
