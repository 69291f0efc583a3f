import { expect } from 'chai';
import { systemTimers } from '../../adapters/local/local.ts';
import type { EventFeed } from '../../domain/ports/log.ts';
import { batchPacing } from '../../projections/engine/apply.ts';
import { feedQueue, type ProjectionNotice } from '../../projections/engine/arrivals.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { bookkeeper } from '../support/money/billingHistory.ts';
import { memoryLog } from '../support/logs/memoryLog.ts';
import { runnerOn, wipe } from '../support/projecting.ts';
import { emptySql } from '../support/emptySql.ts';
import { until } from '../../engine/test/support/until.ts';

const WAIT = { timeoutMs: 300_000 };
/** Longer than any of these specs may take: whoever waited for its end would fail. */
const LONG_MS = 60_000;

/** Events that a log gives in a turn. */
const PAGE = 600;

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
    charge(4_000);
    await until(() => batches.length > 0);
    await runner.stop();
    expect(batches.reduce((sum, events) => sum + events, 0)).to.be.at.least(2_000);
  });

  /** A log that gives a page a turn, until it has none. */
  const pagesOf = (pages: number, page: number): Pick<EventFeed, 'subscribe'> => ({
    subscribe: async function* () {
      for (let position = 1n; position <= pages * page; position += 1n) {
        yield { kind: 'checkpoint', position };
        if (position % BigInt(page) === 0n) await systemTimers.sleep(0);
      }
    },
  });

  const gatheredOf = async (pages: number, batchMax: number, page = PAGE): Promise<number> => {
    const { signal } = new AbortController();
    const queue = feedQueue(pagesOf(pages, page), { after: null, limit: 2 * batchMax, signal });
    const tuning = { batchMax, pauseFactor: 0, pauseMaxMs: 0 };
    await batchPacing({ timers: systemTimers, tuning, isAwaited: () => false }).beforeBatch(queue, signal);
    return queue.length();
  };

  it('takes what a log has at hand as one batch, however many pages that are', async () => {
    expect(await gatheredOf(5, 4_000)).to.equal(5 * PAGE);
  });

  it('takes a page whole that wakes it', async () => {
    expect(await gatheredOf(1, 4_000, 10)).to.equal(10);
  });

  it('gathers no more than a batch may have', async () => {
    expect(await gatheredOf(9, 1_000)).to.equal(2 * PAGE);
  });

  it('stops in the middle of a rest', async () => {
    const { runner, charge, begin } = resting();
    await begin();
    charge(1);
    await runner.stop();
  });
});
