import { expect } from 'chai';
import { postgresSql } from '../../adapters/postgres.ts';
import { bookkeeper } from '../support/money/billingHistory.ts';
import { memoryLog } from '../support/logs/memoryLog.ts';
import { runnerOn, wipe } from '../support/projecting.ts';
import { bulkSuite } from './bulk.suite.ts';
import { engineSuite } from './engine.suite.ts';
import { readModelsSuite } from './readModels.suite.ts';
import { rollingSuite } from './rebuild/rolling.suite.ts';
import { rebuildSuite } from './rebuild/rebuild.suite.ts';
import { sharesSuite } from './rebuild/shares.suite.ts';

const url = process.env['DATABASE_URL'];

if (url === undefined) {
  describe('projections on PostgreSQL', () => {
    it('run when DATABASE_URL names a server');
  });
} else {
  const open = () => Promise.resolve(postgresSql({ url }));
  readModelsSuite('PostgreSQL', open);
  engineSuite('PostgreSQL', open);
  rebuildSuite('PostgreSQL', open);
  sharesSuite('PostgreSQL', open);
  bulkSuite('PostgreSQL', open);
  rollingSuite('PostgreSQL', () => Promise.all([open(), open()]));

  describe('two processes on PostgreSQL', () => {
    it('take over within seconds when the session that holds the lock dies', async () => {
      const [one, two] = await Promise.all([open(), open()]);
      await wipe(one);
      const log = memoryLog();
      const books = bookkeeper(log, 't1');
      const sell = () => {
        books.sell(10);
        return log.events().at(-1)!.position;
      };
      const [first, second] = [runnerOn(one, log), runnerOn(two, log)];
      first.start();
      expect(await first.waitFor(sell(), { timeoutMs: 300_000 })).to.equal(true);
      second.start();
      for (let n = 0; n < 5; n += 1) {
        await one.query(`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'`);
        expect(await second.waitFor(sell(), { timeoutMs: 300_000 })).to.equal(true);
      }
      await Promise.all([first.stop(), second.stop()]);
      const rows = await one.query('select balance_credits from read.balances');
      expect(rows).to.deep.equal([{ balance_credits: BigInt(books.model.purchased) }]);
      await wipe(one);
      await Promise.all([one.close(), two.close()]);
    });
  });
}
