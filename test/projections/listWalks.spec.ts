import { expect } from 'chai';
import { pgliteSql } from '../../adapters/pglite/sql.ts';
import { statementNames } from '../../adapters/postgres.ts';
import { tokenOf } from '../../domain/eventLog/writtenText.ts';
import { filterOf, keyRow } from '../../projections/engine/cursor.ts';
import { COMPOSED, type Sql, type SqlTx } from '../../projections/engine/ports.ts';
import { keptKeys, WALK_MAX } from '../../projections/engine/keptKeys.ts';
import { paging } from '../../projections/engine/query.ts';
import type { TextsOf } from '../../projections/engine/sorts.ts';
import { rowReader } from '../../projections/engine/table.ts';

const tokenFor = (n: number): string =>
  tokenOf({ tenant: '0'.repeat(16), scope: '1'.repeat(16), text: String(n).padStart(32, '0') });

/** Names of ten things; every other one has the part that is searched for. */
const nameOf = (n: number): string => (n % 2 === 0 ? `Even ${String(n)}` : `Odd ${String(n)}`);

const things = paging(
  {
    name: 'things',
    chosen: 'from things where true',
    sorts: { rate: { by: 'rate::numeric', as: 'numeric', isNullable: true, equals: 'rate' } },
    searched: { columns: [], written: ['name'] },
  },
  () => [],
  rowReader({ position: 'int4', rate: 'text?' }),
);

describe('a walk through a list', () => {
  let sql: Sql;
  let opened: number;
  const texts: TextsOf = (tokens) => {
    opened += tokens.length;
    const named = Array.from({ length: 10 }, (_, n): [string, string] => [tokenFor(n), nameOf(n)]);
    return Promise.resolve(new Map(named.filter(([token]) => tokens.includes(token))));
  };

  before(async () => {
    ({ sql } = await pgliteSql(null));
    await sql.script('create table things (position int4, name text, rate text)');
    for (let n = 0; n < 10; n += 1)
      await sql.query('insert into things values ($1, $2, $3)', [
        n,
        tokenFor(n),
        n === 0 ? null : ['7', '19', '5.5'][n % 3]!,
      ]);
  });
  beforeEach(() => {
    opened = 0;
  });
  after(() => sql.close());

  const walkAll = async (pageOf: ReturnType<typeof things>, asked: { q?: string; sort?: string }) => {
    const found: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await pageOf({ ...asked, limit: 2, offset: 0, cursor });
      found.push(...page.items.map(({ position }) => position));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    return found;
  };

  it('opens the texts that it searches once, and again for another walk', async () => {
    const pageOf = things(sql, texts);
    expect(await walkAll(pageOf, { q: 'even' })).to.deep.equal([8, 6, 4, 2, 0]);
    expect(opened).to.equal(10);
    expect(await walkAll(pageOf, { q: 'odd' })).to.deep.equal([9, 7, 5, 3, 1]);
    expect(opened).to.equal(20);
    await walkAll(pageOf, { q: 'even' });
    expect(opened).to.equal(30);
  });

  it('sorts decimals that are texts as numbers, filters them as texts, and has those without one last', async () => {
    const pageOf = things(sql, texts);
    const rates = async (sort: string) => {
      const { items } = await pageOf({ sort, limit: 100, offset: 0 });
      return items.map(({ rate }) => rate);
    };
    const rising = ['5.5', '5.5', '5.5', '7', '7', '7', '19', '19', '19'];
    expect(await rates('rate')).to.deep.equal([...rising, null]);
    expect(await rates('-rate')).to.deep.equal([...rising.toReversed(), null]);
    expect((await walkAll(pageOf, { sort: 'rate' })).at(-1)).to.equal(0);
    expect(things.filters).to.deep.equal({ rate: 'text' });
    const { total } = await pageOf({ filter: { rate: '19' }, limit: 100, offset: 0 });
    expect(total).to.equal(3);
  });

  it('makes the order of an export once, and gives each row once, whatever changes meanwhile', async () => {
    const count = 1_000;
    await sql.script('create table many (position int4, rate text)');
    await sql.query('insert into many select n, (n * 7 % 1000)::text from generate_series(0, $1) n', [
      count - 1,
    ]);
    const many = paging(
      {
        name: 'many',
        chosen: 'from many where true',
        sorts: { rate: { by: 'rate::numeric', as: 'numeric', isNullable: true, equals: 'rate' } },
      },
      () => [],
      rowReader({ position: 'int4', rate: 'text?' }),
    );
    const sorted: string[] = [];
    const heard: SqlTx = {
      ...sql,
      query: (text, values) => {
        if (text.includes('order by')) sorted.push(text);
        return sql.query(text, values);
      },
    };
    const pageOf = many(heard);
    const found: number[] = [];
    let cursor: string | undefined;
    for (let page = 0; page === 0 || cursor !== undefined; page += 1) {
      const { items, next_cursor } = await pageOf({ sort: '-rate', limit: 200, offset: 0, cursor });
      found.push(...items.map(({ rate }) => Number(rate)));
      cursor = next_cursor ?? undefined;
      // One that was given moves behind, and one that comes is taken away.
      if (page === 0) await sql.script(`update many set rate = '-1' where rate = '999'`);
      if (page === 1) await sql.script(`delete from many where rate = '500'`);
    }
    const due = Array.from({ length: count }, (_, n) => count - 1 - n).filter((rate) => rate !== 500);
    // What moved before its order was made comes at its new place.
    expect(found).to.deep.equal([...due, -1]);
    expect(sorted).to.have.length(2);
    await sql.script('drop table many');
  });

  describe('that is long', () => {
    const list = { name: 'many', order: [{ by: 'position', as: 'int8' as const, isAscending: true }] };

    /** Walks through lists of so many rows, and how often each read its keys. */
    const longWalks = (count: number) => {
      const keys = keptKeys();
      const reads = { one: 0, two: 0, three: 0 };
      const behind = async (walk: keyof typeof reads, at: number) => {
        const place = { key: [BigInt(at)], total: count };
        const rest = await keys.behind(list, { asked: { q: walk }, place }, () => {
          reads[walk] += 1;
          const length = Math.min(count - at, WALK_MAX + 1);
          return Promise.resolve(Array.from({ length }, (_, n) => keyRow(String(at + n + 1))));
        });
        return rest && { length: rest.length, first: Number(rest[0]?.['list_key_0']) };
      };
      return { behind, reads };
    };

    it('is read page by page if it has more keys than are kept', async () => {
      const { behind, reads } = longWalks(WALK_MAX + 500);
      expect(await behind('one', 300)).to.equal(undefined);
      expect(await behind('one', 600)).to.equal(undefined);
      expect(reads.one).to.equal(0);
    });

    it('keeps its keys while others begin', async () => {
      const count = 100_000;
      const { behind, reads } = longWalks(count);
      for (const at of [300, 600, 900]) {
        for (const walk of ['one', 'two'] as const)
          expect(await behind(walk, at)).to.deep.equal({ length: count - at, first: at + 1 });
        expect(await behind('three', at), 'there is no room: it is read page by page').to.equal(undefined);
      }
      expect(reads).to.deep.equal({ one: 1, two: 1, three: 0 });
    });
  });

  it('prepares no statement that is composed of what was asked', async () => {
    const asked: string[] = [];
    const heard: SqlTx = { ...sql, query: (text, values) => (asked.push(text), sql.query(text, values)) };
    await things(heard)({ limit: 2, offset: 0 });
    const fixed = asked.splice(0);
    await things(heard)({ limit: 2, offset: 0, sort: 'rate' });
    const names = statementNames();
    expect(fixed.map((text) => names.of(text))).not.to.include(undefined);
    expect(new Set(asked.map((text) => names.of(text)))).to.deep.equal(new Set([undefined]));
    // Whatever was asked for before, there is room for what is always the same.
    for (let n = 0; n < 1_000; n += 1) names.of(`${COMPOSED}select ${String(n)}`);
    expect(names.of('select 1')).to.be.a('string');
  });

  it('is known by all that chooses its rows', () => {
    expect(filterOf({ q: 'a', limit: 1, cursor: 'x' })).to.equal(filterOf({ q: 'a', limit: 2 }));
    expect(filterOf({ q: 'a', tenant_id: 'acme' })).not.to.equal(filterOf({ q: 'a', tenant_id: 'globex' }));
  });
});
