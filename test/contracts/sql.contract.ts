import { expect } from 'chai';
import type { Sql } from '../../projections/engine/ports.ts';

const failureOf = async (work: Promise<unknown>): Promise<Error> => {
  try {
    await work;
  } catch (error) {
    return error as Error;
  }
  throw new Error('it did not fail');
};

/** What every driver behind the `Sql` port does. `open` gives a new port on the same database. */
export const sqlContract = (name: string, open: () => Promise<Sql>) => {
  describe(`Sql: ${name}`, () => {
    let sql: Sql;

    before(async () => {
      sql = await open();
      await sql.script(`
        drop schema if exists sql_contract cascade;
        create schema sql_contract;
        create table sql_contract.rows (id int8 primary key, name text, amount numeric, data jsonb, flag boolean)`);
    });
    beforeEach(async () => {
      await sql.query('truncate sql_contract.rows');
    });
    after(async () => {
      await sql.query('drop schema sql_contract cascade');
      await sql.close();
    });

    const count = async () => (await sql.query('select count(*) as n from sql_contract.rows'))[0]?.['n'];
    const insert = (id: bigint) => ['insert into sql_contract.rows (id) values ($1)', [id]] as const;

    it('gives int8 as bigint, numeric as text, int4 as number, json parsed', async () => {
      const [row] = await sql.query(
        `select 9007199254740993::int8 as big, 1.50::numeric as amount, 7 as small, true as yes, null as nothing,
                '{"a":[1,null]}'::jsonb as data, 1.5::float8 as real, '2026-01-02T03:04:05Z'::timestamptz::date as day`,
      );
      expect(row).to.deep.equal({
        big: 9007199254740993n,
        amount: '1.50',
        small: 7,
        yes: true,
        nothing: null,
        data: { a: [1, null] },
        real: 1.5,
        day: '2026-01-02',
      });
    });

    it('takes every kind of value as a parameter and gives it back', async () => {
      const text = 'quote " backslash \\ comma , brace {} Ünï 漢 🙂 \n newline';
      const rows = await sql.query(
        'select $1::text as t, $2::int8 as big, $3::int4 as n, $4::boolean as yes, $5::text as nothing',
        [text, -(2n ** 63n), -5, false, null],
      );
      expect(rows).to.deep.equal([{ t: text, big: -(2n ** 63n), n: -5, yes: false, nothing: null }]);
    });

    it('binds arrays for unnest, in order, with nulls and awkward text', async () => {
      const names = ['a', null, 'NULL', '', ' ', '"', '\\', '{x,y}', "it's", 'b\nc', '漢'];
      const ids = names.map((_, i) => BigInt(i));
      const flags = names.map((_, i) => (i % 3 === 0 ? null : i % 2 === 0));
      const rows = await sql.query(
        'select * from unnest($1::int8[], $2::text[], $3::boolean[], $4::int4[]) as u(id, name, flag, n)',
        [ids, names, flags, ids.map(Number)],
      );
      expect(rows).to.deep.equal(names.map((name, i) => ({ id: BigInt(i), name, flag: flags[i], n: i })));
      expect(await sql.query('select * from unnest($1::text[]) as u', [[]])).to.deep.equal([]);
    });

    it('gives arrays back', async () => {
      const [row] = await sql.query(
        `select array['a','b "c"',null,'NULL'] as texts, array[1,2]::int8[] as bigs, array[]::text[] as none`,
      );
      expect(row).to.deep.equal({ texts: ['a', 'b "c"', null, 'NULL'], bigs: [1n, 2n], none: [] });
    });

    it('commits a transaction when its work resolves', async () => {
      const result = await sql.transaction(async (tx) => {
        await tx.query(...insert(1n));
        return (await tx.query('select count(*) as n from sql_contract.rows'))[0]?.['n'];
      });
      expect(result).to.equal(1n);
      expect(await count()).to.equal(1n);
    });

    it('rolls a transaction back when its work throws, and goes on', async () => {
      const error = await failureOf(
        sql.transaction(async (tx) => {
          await tx.query(...insert(1n));
          throw new Error('no');
        }),
      );
      expect(error.message).to.equal('no');
      expect(await count()).to.equal(0n);
    });

    it('never commits half of a transaction whose work swallowed an error', async () => {
      const work = sql.transaction(async (tx) => {
        await tx.query(...insert(1n));
        await tx.query(...insert(1n)).catch(() => undefined);
      });
      expect(await failureOf(work)).to.be.instanceOf(Error);
      expect(await count()).to.equal(0n);
    });

    it('reports a bad statement as an error with its SQLSTATE', async () => {
      expect(await failureOf(sql.query('select 1/$1::int4', [0]))).to.have.property('code', '22012');
      expect(await failureOf(sql.query('select * from nowhere'))).to.have.property('code', '42P01');
      expect(await sql.query('select 1 as one')).to.deep.equal([{ one: 1 }]);
    });

    it('keeps transactions apart that run at the same time', async () => {
      const add = (id: bigint) =>
        sql.transaction(async (tx) => {
          await tx.query(...insert(id));
          await tx.query('update sql_contract.rows set name = $1 where id = $2', [String(id), id]);
          if (id % 2n === 0n) throw new Error('even');
        });
      const results = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => add(BigInt(i))));
      expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(10);
      expect(await count()).to.equal(10n);
    });

    it('answers a statement whose table was made anew with other columns', async () => {
      const read = () => sql.query('select * from sql_contract.shape where 1 = $1', [1]);
      await sql.script('create table sql_contract.shape (a int4); insert into sql_contract.shape values (1)');
      expect(await read()).to.deep.equal([{ a: 1 }]);
      await sql.script(`drop table sql_contract.shape;
        create table sql_contract.shape (a int4, b text); insert into sql_contract.shape values (1, 'x')`);
      expect(await read()).to.deep.equal([{ a: 1, b: 'x' }]);
    });

    it('answers it within a transaction, too, which is begun again', async () => {
      const read = () =>
        sql.transaction(async (tx) => tx.query('select * from sql_contract.figure where 1 = $1', [1]));
      await sql.script(
        'create table sql_contract.figure (a int4); insert into sql_contract.figure values (1)',
      );
      // On each connection that the transactions below may get.
      await Promise.all(Array.from({ length: 20 }, read));
      await sql.script('alter table sql_contract.figure add column b text');
      for (const rows of await Promise.all(Array.from({ length: 20 }, read)))
        expect(rows).to.deep.equal([{ a: 1, b: null }]);
    });

    it('runs a script of several statements at once or not at all', async () => {
      const script =
        'insert into sql_contract.rows (id) values (1); insert into sql_contract.rows (id) values (1)';
      expect(await failureOf(sql.script(script))).to.be.instanceOf(Error);
      expect(await count()).to.equal(0n);
    });

    it('gives a lock to one holder at a time', async () => {
      const first = await sql.tryLock(7001n);
      expect(first).to.not.equal(undefined);
      expect(await sql.tryLock(7001n)).to.equal(undefined);
      const other = await sql.tryLock(7002n);
      expect(other).to.not.equal(undefined);
      await other?.release();
      await first?.release();
      const again = await sql.tryLock(7001n);
      expect(again).to.not.equal(undefined);
      await again?.release();
    });
  });
};
