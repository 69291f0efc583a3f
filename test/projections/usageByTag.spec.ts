import { expect } from 'chai';
import fc from 'fast-check';
import { usageStatsRows } from '../../src/audit/expectedUsage.ts';
import { dayEndIn, dayIn, dayStartIn } from '../../domain/kernel/timeZones.ts';
import { sortedTags, type Tags } from '../../domain/tags.ts';
import { propertyRuns, prove } from '../../engine/test/support/properties.ts';
import type { ProjectedEvent, Sql } from '../../projections/engine/ports.ts';
import { ddlOf } from '../../projections/engine/table.ts';
import { ledgerProjector } from '../../projections/ledger.ts';
import {
  fullTags,
  type Pivot,
  type PivotQuery,
  TAG_VALUES_MAX,
  usageOfTenantBy,
  usageStatsProjector,
} from '../../projections/usageStats.ts';
import { emptySql } from '../support/emptySql.ts';

const TENANTS = ['acme', 'globex'] as const;
const YEAR_MS = 365 * 86_400_000;
const START = Date.parse('2026-01-01T00:00:00.000Z');
const PROJECTORS = [ledgerProjector, usageStatsProjector];

interface Burn {
  readonly tenant: (typeof TENANTS)[number];
  readonly at: number;
  readonly pages: number;
  readonly free: number;
  readonly operation: 'extract' | 'to_markdown';
  readonly project: string;
  readonly key: string | null;
  readonly tags: Tags;
}

const tag = fc.constantFrom('team', 'app', 'constructor', 'cost.center');
const value = fc.constantFrom('a', 'b', 'ü "quoted"', 'null', '\\x', 'x'.repeat(200));
const burnsOfAYear = fc.array(
  fc.record<Burn>({
    tenant: fc.constantFrom(...TENANTS),
    at: fc.integer({ min: 0, max: YEAR_MS - 1 }),
    pages: fc.integer({ min: 0, max: 5 }),
    free: fc.integer({ min: 0, max: 5 }),
    operation: fc.constantFrom('extract', 'to_markdown'),
    project: fc.constantFrom('p', 'q', 'default'),
    key: fc.constantFrom('key_1', 'key_2', null),
    tags: fc.dictionary(tag, value, { maxKeys: 3 }),
  }),
  { maxLength: 60 },
);

const eventOf = (
  { tenant, at, pages, operation, project, key, tags, ...burn }: Burn,
  n: number,
): ProjectedEvent => {
  const free_pages = Math.min(burn.free, pages);
  const sorted = sortedTags(tags);
  const data = {
    usage_id: `use_${String(n)}`,
    operation_id: `ext_${String(n)}`,
    operation,
    category: 'extraction',
    extraction_mode: 'fast',
    billing_type: 'full_service',
    pages,
    free_pages,
    credits_per_page: 10,
    credits: (pages - free_pages) * 10,
    billing_config_version: 1,
    project_id: project,
    task_id: 'default',
    document_id: null,
    job_id: null,
    api_key_id: key,
    ...(sorted && { tags: sorted }),
    created_at: new Date(START + at).toISOString(),
    balance_after: 0,
  };
  return {
    stream: `account-${tenant}`,
    position: BigInt(n + 1),
    metadata: {},
    type: 'CreditsBurned',
    data,
  } as unknown as ProjectedEvent;
};

describe('usage by several groups at once', () => {
  let sql: Sql;
  before(async () => {
    sql = await emptySql();
    await sql.script('create schema read; create schema rm');
    for (const { tables } of PROJECTORS) {
      await sql.script(ddlOf(tables, 'rm'));
      for (const { name } of tables) await sql.script(`create view read.${name} as select * from rm.${name}`);
    }
  });
  after(() => sql.close());

  const project = async (events: readonly ProjectedEvent[], batch = 23) => {
    for (const { tables } of PROJECTORS)
      for (const { name } of tables) await sql.script(`truncate rm.${name}`);
    for (const projector of PROJECTORS)
      for (let at = 0; at < events.length; at += batch)
        await sql.transaction((tx) =>
          projector.apply(tx, { schema: 'rm', events: events.slice(at, at + batch) }),
        );
  };

  const by = async (groups: readonly Pivot[], more: Partial<PivotQuery> = {}) => {
    const { time_zone = 'UTC' } = more;
    const whole = { from: dayStartIn(time_zone, '2025-12-31'), to: dayEndIn(time_zone, '2027-01-01') };
    const rows = await usageOfTenantBy(sql)({ tenant_id: 'acme', groups, time_zone, ...whole, ...more });
    if (rows === undefined) throw new Error('more rows than there may be');
    return rows;
  };

  const creditsOf = (burns: readonly Burn[]): number =>
    burns.reduce((sum, { pages, free }) => sum + 10 * (pages - Math.min(free, pages)), 0);

  const sumsOf = (rows: readonly { readonly credits: number; readonly pages: number }[]) => ({
    credits: rows.reduce((sum, { credits }) => sum + credits, 0),
    pages: rows.reduce((sum, { pages }) => sum + pages, 0),
  });

  it('adds up to the ledger over any year, by whatever it is grouped', async () => {
    await prove(
      'adds up to the ledger over any year',
      fc.asyncProperty(
        burnsOfAYear,
        fc.shuffledSubarray<Pivot>([
          'day',
          'operation',
          'project',
          'task',
          'key',
          { tag: 'team' },
          { tag: 'constructor' },
          { tag: 'none' },
        ] as const),
        fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Apia', 'Europe/Berlin'),
        async (burns, groups, time_zone) => {
          await project(burns.map(eventOf));
          const [ledger] = await sql.query(
            `select coalesce(-sum(credits_delta), 0)::int8 as credits, coalesce(sum(pages), 0)::int8 as pages
             from read.ledger where tenant_id = 'acme'`,
          );
          const rows = await by(groups, { time_zone });
          expect(sumsOf(rows)).to.deep.equal({
            credits: Number(ledger?.['credits']),
            pages: Number(ledger?.['pages']),
          });
        },
      ),
      propertyRuns(0.25),
    );
  });

  it('gives each tag, project and key what went with it, in the days of a zone', async () => {
    await prove(
      'gives each tag what went with it',
      fc.asyncProperty(
        burnsOfAYear,
        fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/St_Johns', 'Europe/Berlin'),
        async (burns, time_zone) => {
          await project(burns.map(eventOf));
          const own = burns.filter(({ tenant }) => tenant === 'acme');
          const keyOf = (...parts: readonly (string | null)[]) => JSON.stringify(parts);
          const expected = new Map<string, Burn[]>();
          for (const burn of own) {
            const day = dayIn(time_zone, new Date(START + burn.at).toISOString());
            const key = keyOf(
              day,
              burn.project,
              burn.key,
              Object.hasOwn(burn.tags, 'team') ? burn.tags['team']! : null,
            );
            expected.set(key, [...(expected.get(key) ?? []), burn]);
          }
          const rows = await by(['day', 'project', 'key', { tag: 'team' }], { time_zone });
          expect(
            rows.map((row) => [
              keyOf(row.day, row.project_id, row.api_key_id, row.tags['team'] ?? null),
              row.credits,
            ]),
          ).to.have.deep.members([...expected].map(([key, some]) => [key, creditsOf(some)]));
          const chosen = own.filter(({ tags, project }) => tags['team'] === 'ü "quoted"' && project === 'p');
          const filtered = await by([], { time_zone, tags: { team: 'ü "quoted"' }, project_id: 'p' });
          expect(sumsOf(filtered).credits).to.equal(creditsOf(chosen));
        },
      ),
      propertyRuns(0.25),
    );
  });

  it('is what the auditor makes of the same events', async () => {
    await prove(
      'is what the auditor makes of the same events',
      fc.asyncProperty(burnsOfAYear, fc.integer({ min: 1, max: 60 }), async (burns, batch) => {
        const events = burns.map(eventOf);
        await project(events, batch);
        for (const table of usageStatsProjector.tables) {
          const rows: object[] = [];
          const fold = usageStatsRows.start((to, row) => {
            if (to.name === table.name) rows.push(row);
          }, new Set());
          for (const event of events) fold.apply(event);
          fold.finish();
          const found = await sql.query(`select * from read.${table.name}`);
          const told = (row: object) =>
            JSON.stringify(
              Object.keys(table.columns).map((name) => {
                const cell = (row as Readonly<Record<string, unknown>>)[name];
                return typeof cell === 'object' && cell !== null ? sortedTags(cell as Tags) : String(cell);
              }),
            );
          expect(found.map(told)).to.have.members(rows.map(told));
        }
      }),
      propertyRuns(0.25),
    );
  });

  it('counts values beyond the limit of a name together, and says so, with the same sums', async function () {
    // Ten thousand values take some seconds to write.
    this.timeout(180_000);
    const one = { at: 0, pages: 1, free: 0, operation: 'extract', project: 'p', key: null } as const;
    const many = TAG_VALUES_MAX + 3;
    const burns = Array.from({ length: many }, (_, n): Burn => ({
      ...one,
      tenant: 'acme',
      at: n * 1_000,
      tags: { job: String(n), team: 'a' },
    }));
    const again: Burn = { ...one, tenant: 'acme', tags: { job: '7', team: 'a' } };
    const other: Burn = { ...one, tenant: 'globex', tags: { job: String(many), team: 'a' } };
    await project([...burns, again, other].map(eventOf), 2_000);
    const rest = await by([{ tag: 'team' }, { tag: 'job' }], { tags: { team: 'a' } }).catch(() => undefined);
    expect(rest).to.equal(undefined);
    const [first, ...others] = await by([{ tag: 'team' }]);
    expect([first?.credits, others.length]).to.deep.equal([10 * (many + 1), 0]);
    expect((await by([], { tags: { job: '7' } }))[0]?.credits).to.equal(20);
    expect(await by([], { tags: { job: String(TAG_VALUES_MAX + 1) } })).to.deep.equal([]);
    expect(await fullTags(sql)('acme')).to.deep.equal(['job']);
    expect(await fullTags(sql)('globex')).to.deep.equal([]);
    const restDay = { from: '2026-01-01T02:45:00.000Z', to: '2026-01-01T02:59:59.999Z' };
    const late = await by([{ tag: 'job' }], restDay);
    expect(late.filter(({ rest_of }) => rest_of.length > 0)).to.deep.equal([
      {
        day: null,
        operation: null,
        project_id: null,
        task_id: null,
        api_key_id: null,
        tags: { job: null },
        rest_of: ['job'],
        operations: 3,
        pages: 3,
        free_pages: 0,
        credits: 30,
        list_value_usd: '0.03',
      },
    ]);
  });
});
