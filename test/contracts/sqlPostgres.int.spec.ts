import { expect } from 'chai';
import { postgresSql } from '../../adapters/postgres.ts';
import { COMPOSED, SqlUnavailable } from '../../projections/engine/ports.ts';
import { sqlContract } from './sql.contract.ts';

const url = process.env['DATABASE_URL'];

if (url === undefined) {
  describe('Sql: PostgreSQL', () => {
    it('runs when DATABASE_URL names a server');
  });
} else {
  sqlContract('PostgreSQL', () => Promise.resolve(postgresSql({ url })));

  describe('PostgreSQL', () => {
    it('says that a lock is lost when its session is killed', async () => {
      const sql = postgresSql({ url });
      const lock = await sql.tryLock(7003n);
      await sql.query(
        `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 7003`,
      );
      await lock?.lost;
      const again = await sql.tryLock(7003n);
      expect(again).to.not.equal(undefined);
      await again?.release();
      await sql.close();
    });

    it('keeps a lock from another process', async () => {
      const [one, two] = [postgresSql({ url }), postgresSql({ url })];
      const lock = await one.tryLock(7004n);
      expect(await two.tryLock(7004n)).to.equal(undefined);
      await lock?.release();
      const taken = await two.tryLock(7004n);
      expect(taken).to.not.equal(undefined);
      await taken?.release();
      await Promise.all([one.close(), two.close()]);
    });

    it('ends a composed statement that takes too long, and no other', async () => {
      const sql = postgresSql({ url, poolMax: 1, composedTimeoutMs: 50 });
      const late = await sql.query(`${COMPOSED}select pg_sleep(60)`, []).catch((error: unknown) => error);
      expect(late).to.be.instanceOf(SqlUnavailable);
      expect(await sql.query('select 1 as one, pg_sleep(0.2)::text as slept', [])).to.have.length(1);
      expect(await sql.query(`${COMPOSED}select 1 as one`, [])).to.deep.equal([{ one: 1 }]);
      await sql.close();
    });

    it('repeats a transaction that met a deadlock', async () => {
      const sql = postgresSql({ url });
      await sql.script(`drop table if exists sql_deadlock; create table sql_deadlock (id int4 primary key, n int4);
        insert into sql_deadlock values (1, 0), (2, 0)`);
      let both = 0;
      let meet: () => void = () => undefined;
      const met = new Promise<void>((resolve) => (meet = resolve));
      const add = (first: number, second: number) =>
        sql.transaction(async (tx) => {
          const update = 'update sql_deadlock set n = n + 1 where id = $1';
          await tx.query(update, [first]);
          both += 1;
          if (both === 2) meet();
          await met;
          await tx.query(update, [second]);
        });
      await Promise.all([add(1, 2), add(2, 1)]);
      // One of them is chosen and repeated; the repeat may take its row before the other wakes, and meet it again.
      expect(both).to.be.at.least(3);
      expect(await sql.query('select n from sql_deadlock order by id')).to.deep.equal([{ n: 2 }, { n: 2 }]);
      await sql.query('drop table sql_deadlock');
      await sql.close();
    });

    it('says that a server is not there', async () => {
      const sql = postgresSql({ url: 'postgres://nobody@127.0.0.1:1/none' });
      let failure: unknown;
      await sql.query('select 1').catch((error: unknown) => (failure = error));
      expect(failure).to.be.instanceOf(SqlUnavailable);
      await sql.close();
    });
  });
}
