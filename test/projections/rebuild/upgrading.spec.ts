import { expect } from 'chai';
import { decodeAny } from '../../../domain/catalogue.ts';
import { upgrading } from '../../../projections/engine/upgrade.ts';
import { RUNNER_TUNING } from '../../../projections/engine/arrivals.ts';
import { type Sql, SqlUnavailable } from '../../../projections/engine/ports.ts';
import { memoryLog } from '../../support/logs/memoryLog.ts';

const away = () => Promise.reject(new SqlUnavailable('Postgres is away'));
const AWAY: Sql = { query: away, script: away, transaction: away, tryLock: away, close: away };

describe('building what is due', () => {
  it('is tried less and less often while the database is away', async () => {
    const stopping = new AbortController();
    const slept: number[] = [];
    const failures: string[] = [];
    const sleep = (ms: number) => {
      slept.push(ms);
      if (slept.length === 4) stopping.abort();
      return Promise.resolve();
    };
    const build = upgrading({
      sql: AWAY,
      feed: memoryLog(),
      projectors: [],
      decode: decodeAny,
      tuning: RUNNER_TUNING,
      timers: { nowMs: () => 0, sleep },
      notify: (notice) => failures.push(notice.kind),
    });
    await build(stopping.signal);
    expect(slept).to.deep.equal([2_000, 4_000, 5_000, 5_000]);
    expect(failures).to.deep.equal(['failed', 'failed', 'failed', 'failed']);
  });
});
