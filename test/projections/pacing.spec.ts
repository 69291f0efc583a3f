import { expect } from 'chai';
import type { ProjectionNotice } from '../../projections/engine/arrivals.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { bookkeeper } from '../support/money/billingHistory.ts';
import { memoryLog } from '../support/logs/memoryLog.ts';
import { runnerOn, wipe } from '../support/projecting.ts';
import { emptySql } from '../support/emptySql.ts';
import { until } from '../../engine/test/support/until.ts';

const WAIT = { timeoutMs: 300_000 };
/** Longer than any of these specs may take: whoever waited for its end would fail. */
const LONG_MS = 60_000;

describe('a projector that rests after each batch', () => {
  let sql: Sql;
  before(async () => {
    sql = await emptySql();
  });
  beforeEach(() => wipe(sql));
  after(() => sql.close());

  const resting = () => {
    const log = memoryLog();
    const books = bookkeeper(log, 't1');
    const batches: number[] = [];
    const tuning = { pauseFactor: LONG_MS, pauseMaxMs: LONG_MS };
    const notify = (notice: ProjectionNotice) => {
      if (notice.kind === 'batch' && notice.events > 0) batches.push(notice.events);
    };
    const runner = runnerOn(sql, log, { tuning, notify });
    const charge = (times: number): bigint => {
      for (let n = 0; n < times; n += 1) books.charge(1);
      return log.events().at(-1)!.position;
    };
    /** Past the history: what comes now is live. */
    const begin = async () => {
      runner.start();
      for (let n = 0; n < 3; n += 1) expect(await runner.waitFor(charge(1), WAIT)).to.equal(true);
      batches.length = 0;
    };
    return { runner, batches, charge, begin };
  };

  it('keeps nobody waiting who waits', async () => {
    const { runner, charge, begin } = resting();
    await begin();
    for (let n = 0; n < 10; n += 1) expect(await runner.waitFor(charge(1), WAIT)).to.equal(true);
    await runner.stop();
  });

  it('applies what was gathered meanwhile as one batch', async () => {
    const { runner, batches, charge, begin } = resting();
    await begin();
    let position = 0n;
    for (let n = 0; n < 20; n += 1) {
      position = charge(1);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(batches).to.deep.equal([]);
    expect(await runner.waitFor(position, WAIT)).to.equal(true);
    expect(batches).to.deep.equal([20]);
    await runner.stop();
  });

  it('does not rest while as much has arrived as makes a good batch', async () => {
    const { runner, batches, charge, begin } = resting();
    await begin();
    charge(2_000);
    await until(() => batches.length > 0);
    await runner.stop();
    expect(batches.reduce((sum, events) => sum + events, 0)).to.be.at.least(500);
  });

  it('stops in the middle of a rest', async () => {
    const { runner, charge, begin } = resting();
    await begin();
    charge(1);
    await runner.stop();
  });
});
