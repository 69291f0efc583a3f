import { expect } from 'chai';
import { pgliteSql } from '../../adapters/embedded/pgliteSql.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { projectionsStatus } from '../../src/operator/projectionsStatus.ts';
import { burningOn, counter, type Burning } from '../projections/burning.ts';

describe('the status of the read models', function () {
  this.timeout(30_000);
  let sql: Sql;
  let burning: Burning;
  before(async () => {
    ({ sql } = await pgliteSql(null));
  });
  const { runnerOn } = burningOn(
    () => sql,
    (begun) => (burning = begun),
  );
  after(() => sql.close());

  it('says what is of a newer release than the one that asks', async () => {
    const { log: feed, burn } = burning;
    const newer = runnerOn(sql, feed, {
      projectors: [counter('same'), counter('ledger', 2), counter('fresh')],
    });
    newer.start();
    const position = burn(3);
    expect(await newer.waitFor(position, { timeoutMs: 10_000 })).to.equal(true);
    const known = { projectors: [counter('ledger'), counter('same')] };
    const seen = await projectionsStatus({ sql, feed }, known);
    expect(seen.map(({ name, version, reason }) => [name, version, reason])).to.deep.equal([
      ['ledger', 2, 'a newer release serves it; this one knows v1'],
      ['same', 1, null],
      ['fresh', 1, 'a newer release serves it; this one does not know it'],
    ]);
    const dropped = await projectionsStatus({ sql, feed }, { ...known, dropped: ['fresh'] });
    expect(dropped.map(({ name }) => name)).to.deep.equal(['ledger', 'same']);
  });
});
