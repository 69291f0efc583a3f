import { expect } from 'chai';
import { causeOf, isConflict, orUnavailable, translated } from '../../adapters/postgres.ts';
import type { ProjectionNotice } from '../../projections/engine/arrivals.ts';
import { type Sql, SqlUnavailable } from '../../projections/engine/ports.ts';
import { prepareReadModels } from '../../projections/engine/registry.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { balanceOfTenant } from '../../projections/balances.ts';
import { balanceIn, bookkeeper } from '../support/money/billingHistory.ts';
import { memoryLog } from '../support/logs/memoryLog.ts';
import { runnerOn } from '../support/projecting.ts';
import { emptySql } from '../support/emptySql.ts';

const sqlError = (code: string, message = 'the server says so') =>
  Object.assign(new Error(message), { code });

/** Fails transactions before their commit with the error that `next` gives, as the Postgres adapter reports it. */
const failing = (sql: Sql, next: () => Error | undefined): Sql => ({
  query: (text, values) => sql.query(text, values),
  script: (text) => sql.script(text),
  tryLock: (key) => sql.tryLock(key),
  close: () => sql.close(),
  transaction: (work) =>
    orUnavailable(() =>
      sql.transaction(async (tx) => {
        const result = await work(tx);
        const error = next();
        if (error !== undefined) throw error;
        return result;
      }),
    ),
});

describe('conflicts of transactions', () => {
  it('are retried at once, and are no fault of the statement when they last', () => {
    for (const code of ['40001', '40P01']) expect(isConflict(sqlError(code)), code).to.equal(true);
    for (const code of ['40001', '40P01', '40003', '08006', '53300', '57P01', '58030', 'ECONNRESET'])
      expect(translated(sqlError(code)), code).to.be.instanceOf(SqlUnavailable);
    for (const code of ['23505', '22P02', '42P01', '25P02', '40002']) {
      const error = sqlError(code);
      expect(translated(error), code).to.equal(error);
      expect(isConflict(error), code).to.equal(false);
    }
  });

  it('are found behind the statements that only met the end of the transaction', () => {
    const deadlock = sqlError('40P01');
    const late = sqlError('25P02');
    const other = sqlError('23505');
    expect(causeOf(late, deadlock)).to.equal(deadlock);
    expect(causeOf(late, undefined)).to.equal(late);
    expect(causeOf(other, deadlock)).to.equal(other);
  });

  for (const code of ['40001', '40P01', '40003']) {
    it(`stop no projector, however often ${code} comes, and lose and double nothing`, async () => {
      const sql = await emptySql();
      await prepareReadModels(sql, READ_MODELS);
      const log = memoryLog();
      const books = bookkeeper(log, 't1');
      for (let n = 0; n < 20; n += 1) {
        books.sell(1000 + n);
        books.charge(7);
      }
      let left = 30;
      const notices: ProjectionNotice[] = [];
      const flaky = failing(sql, () => ((left -= 1) >= 0 ? sqlError(code) : undefined));
      const runner = runnerOn(flaky, log, {
        tuning: { batchMax: 10 },
        notify: (notice) => notices.push(notice),
      });
      runner.start();
      const head = log.events().at(-1)!.position;
      expect(await runner.waitFor(head, { timeoutMs: 300_000 })).to.equal(true);
      const states = (await runner.status()).map(({ state }) => state);
      await runner.stop();
      expect(left).to.be.below(0);
      expect(states).to.not.include('stopped');
      expect(notices.filter(({ kind }) => kind === 'stopped')).to.deep.equal([]);
      expect((await balanceOfTenant(sql)('t1'))?.balance_credits).to.equal(balanceIn(books.model));
      await sql.close();
    });
  }
});
