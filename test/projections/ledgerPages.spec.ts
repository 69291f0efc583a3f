import { expect } from 'chai';
import fc from 'fast-check';
import { asCredits } from '../../domain/kernel/amounts.ts';
import type { ProjectedEvent, Sql } from '../../projections/engine/ports.ts';
import { ddlOf } from '../../projections/engine/table.ts';
import { BLOCK_ROWS, type LedgerKind, ledgerProjector } from '../../projections/ledger.ts';
import {
  isSparse,
  type LedgerItem,
  ledgerOfTenant,
  type LedgerQuery,
  pagePlan,
} from '../../projections/ledgerPages.ts';
import { seededRandom } from '../../engine/test/support/random.ts';
import { emptySql } from '../support/emptySql.ts';
import { propertyRuns } from '../../engine/test/support/properties.ts';

const START = Date.parse('2026-01-01T00:00:00.000Z');
const HOUR = 3_600_000;
const EVENTS = 2 * BLOCK_ROWS + 900;

/** Burns, hourly, of two operations, one of them rare, and few adjustments; the clock steps back now and then. */
const events = (): readonly ProjectedEvent[] => {
  const random = seededRandom(7);
  let at = START;
  return Array.from({ length: EVENTS }, (_, n) => {
    at += random.next() < 0.01 ? -3 * HOUR : random.between(0, HOUR / 4);
    const free_pages = random.next() < 0.2 ? 1 : 0;
    const created_at = new Date(at).toISOString();
    const place = {
      stream: n % 5 === 0 ? 'account-other' : 'account-acme',
      position: BigInt(n + 1),
      metadata: {},
    };
    if (n % 1999 === 0) {
      const adjusted = {
        adjustment_id: `adj_${n}`,
        credits: asCredits(1),
        reason: '',
        allow_negative: false,
      };
      const data = { ...adjusted, created_at, balance_after: asCredits(-n) };
      return { type: 'CreditsAdjusted', ...place, data } as ProjectedEvent;
    }
    const data = {
      usage_id: `use_${n}`,
      operation_id: `ext_${n}`,
      operation: n % 997 === 0 ? 'to_markdown' : 'extract',
      category: 'extraction',
      pages: 2,
      free_pages,
      credits_per_page: asCredits(1),
      credits: asCredits(2 - free_pages),
      created_at,
      balance_after: asCredits(-n),
    };
    return { type: 'CreditsBurned', ...place, data } as ProjectedEvent;
  });
};

const matches = (item: LedgerItem, { kinds, from, to, operation }: LedgerQuery): boolean =>
  (kinds === undefined || kinds.includes(item.kind)) &&
  (operation === undefined || item.operation === operation) &&
  (from === undefined || item.created_at >= from) &&
  (to === undefined || item.created_at <= to);

describe('pages of a large ledger', () => {
  let sql: Sql;
  let all: readonly LedgerItem[];
  before(async () => {
    sql = await emptySql();
    await sql.script(`create schema read; create schema rm; ${ddlOf(ledgerProjector.tables, 'rm')};
      create view read.ledger as select * from rm.ledger;
      create view read.ledger_blocks as select * from rm.ledger_blocks`);
    const past = events();
    for (let at = 0; at < past.length; at += 700)
      await sql.transaction((tx) =>
        ledgerProjector.apply(tx, { schema: 'rm', events: past.slice(at, at + 700) }),
      );
    all = (await ledgerOfTenant(sql)({ tenant_id: 'acme', limit: 100_000, offset: 0 })).items;
  });
  after(() => sql.close());

  it('are the rows in their order, newest first', () => {
    expect(all.length).to.be.greaterThan(2 * BLOCK_ROWS);
    const numbers = all.map(({ id }) => Number(id.split('_')[1]));
    expect(numbers).to.deep.equal([...numbers].sort((a, b) => b - a));
  });

  it('are the same at any offset, with any filter, as cutting the whole list', async () => {
    const time = fc
      .integer({ min: -10, max: Math.floor(EVENTS / 7) })
      .map((hours) => new Date(START + hours * HOUR).toISOString());
    const query = fc.record(
      {
        limit: fc.integer({ min: 1, max: 300 }),
        offset: fc.integer({ min: 0, max: 10_000 }),
        from: time,
        to: time,
        operation: fc.constantFrom('extract', 'to_markdown', 'training'),
        kinds: fc.constantFrom<readonly LedgerKind[]>(['usage'], ['admin_adjustment'], ['sale']),
      },
      { requiredKeys: ['limit', 'offset'] },
    );
    await fc.assert(
      fc.asyncProperty(query, async (asked) => {
        const whole = { tenant_id: 'acme', ...asked };
        const wanted = all.filter((item) => matches(item, whole));
        const page = await ledgerOfTenant(sql)(whole);
        expect(page.total).to.equal(wanted.length);
        const ids = wanted.slice(asked.offset, asked.offset + asked.limit).map(({ id }) => id);
        expect(page.items.map(({ id }) => id)).to.deep.equal(ids);
      }),
      { numRuns: propertyRuns(0.2) },
    );
  });

  it('are the whole list by cursors, with any filter, from any first page on', async () => {
    const time = fc
      .integer({ min: -10, max: Math.floor(EVENTS / 7) })
      .map((hours) => new Date(START + hours * HOUR).toISOString());
    const query = fc.record(
      {
        limit: fc.integer({ min: 200, max: 5000 }),
        offset: fc.integer({ min: 0, max: 10_000 }),
        from: time,
        to: time,
        operation: fc.constantFrom('extract', 'to_markdown', 'training'),
        kinds: fc.constantFrom<readonly LedgerKind[]>(['usage'], ['admin_adjustment'], ['sale']),
      },
      { requiredKeys: ['limit', 'offset'] },
    );
    await fc.assert(
      fc.asyncProperty(query, async (asked) => {
        const whole = { tenant_id: 'acme', ...asked };
        const wanted = all.filter((item) => matches(item, whole));
        const ids: string[] = [];
        let cursor: string | undefined;
        do {
          const offset = cursor === undefined ? asked.offset : 0;
          const page = await ledgerOfTenant(sql)({ ...whole, offset, cursor });
          expect(page.total).to.equal(wanted.length);
          ids.push(...page.items.map(({ id }) => id));
          cursor = page.next_cursor ?? undefined;
        } while (cursor !== undefined);
        expect(ids).to.deep.equal(wanted.slice(asked.offset).map(({ id }) => id));
      }),
      { numRuns: propertyRuns(0.2) },
    );
  });

  it('are whole where their rows lie thin, the oldest beyond those that are looked at first', async () => {
    const thin = all.filter(({ kind }) => kind === 'admin_adjustment');
    const places = thin.map((item) => all.indexOf(item));
    expect(places.at(-1)! - places[0]!).to.be.greaterThan(BLOCK_ROWS);
    const asked = { tenant_id: 'acme', kinds: ['admin_adjustment'], limit: 10 } as const;
    for (const offset of [0, 1, thin.length, 100])
      expect(await ledgerOfTenant(sql)({ ...asked, offset })).to.deep.equal({
        items: thin.slice(offset),
        total: thin.length,
        next_cursor: null,
      });
  });

  const block = fc.nat(BLOCK_ROWS);

  it('pass over less than one block, however deep they lie', () => {
    fc.assert(
      fc.property(
        fc.array(block),
        fc.nat(100_000),
        fc.integer({ min: 1, max: 1000 }),
        (rows, offset, limit) => {
          const blocks = rows.map((count, at) => {
            const first_ordinal = (rows.length - at) * BLOCK_ROWS;
            return { rows: count, first_ordinal, last_ordinal: first_ordinal + BLOCK_ROWS - 1 };
          });
          const plan = pagePlan(blocks, { offset, limit });
          const total = rows.reduce((sum, count) => sum + count, 0);
          expect(plan.blocks.length === 0).to.equal(offset >= total);
          if (plan.blocks.length > 0) expect(plan.skip).to.be.lessThan(plan.blocks[0]!.rows);
          const without = plan.blocks.slice(0, -1).reduce((sum, { rows: count }) => sum + count, 0);
          expect(without - plan.skip).to.be.lessThan(limit);
        },
      ),
    );
  });

  it('read thin rows block by block', () => {
    const thin = [900, 500, 3].map((at) => ({
      rows: 1,
      first_ordinal: at * BLOCK_ROWS,
      last_ordinal: at * BLOCK_ROWS,
    }));
    expect(isSparse(pagePlan(thin, { offset: 0, limit: 10 }), BLOCK_ROWS)).to.equal(true);
    expect(isSparse(pagePlan(thin, { offset: 2, limit: 10 }), BLOCK_ROWS)).to.equal(false);
  });
});
