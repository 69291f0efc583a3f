import { expect } from 'chai';
import type { Sql } from '../../projections/engine/ports.ts';
import { modelLags, standingStill } from '../../projections/engine/lag.ts';
import { emptySql } from '../support/emptySql.ts';
import { RECORDED_AT } from '../support/logs/memoryLog.ts';
import { type Burning, burningOn, counter } from './burning.ts';

const WAIT = { timeoutMs: 300_000 };

describe('the lag of read models', () => {
  let sql: Sql;
  let burning: Burning;
  before(async () => {
    sql = await emptySql();
  });
  const { runnerOn } = burningOn(
    () => sql,
    (begun) => (burning = begun),
  );
  after(() => sql.close());

  /** As of so many seconds after the events were recorded. */
  const lagsAfter = (seconds: number) =>
    modelLags({ sql, feed: burning.log, nowMs: () => Date.parse(RECORDED_AT) + seconds * 1000 });
  /** As if the checkpoints had moved so long ago. */
  const rest = (seconds: number) =>
    sql.query(
      `update projections.registry
       set updated_at = to_char((now() - make_interval(secs => $1::int4)) at time zone 'utc',
         'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
      [seconds],
    );

  it('are none before the first start', async () => {
    expect(await lagsAfter(5)).to.deep.equal([]);
  });

  it('is the age of the oldest event that is not applied, whoever projects', async () => {
    const { log, burn } = burning;
    const runner = runnerOn(sql, log, { projectors: [counter('one'), counter('two')] });
    runner.start();
    expect(await runner.waitFor(burn(3), WAIT)).to.equal(true);
    const none = { waiting_since: null, lag_seconds: 0, still_seconds: 0, is_paused: false, parked: [] };
    expect(await lagsAfter(5)).to.deep.equal([
      { name: 'one', ...none },
      { name: 'two', ...none },
    ]);
    await runner.stop();
    burn(2);
    await rest(3_600);
    for (const { waiting_since, lag_seconds } of await lagsAfter(90))
      expect({ waiting_since, lag_seconds }).to.deep.equal({ waiting_since: RECORDED_AT, lag_seconds: 90 });
  });

  it('stands still from the first event that waits, however long nothing was written before it', async () => {
    const { log, burn } = burning;
    const runner = runnerOn(sql, log, { projectors: [counter('one')] });
    runner.start();
    expect(await runner.waitFor(burn(1), WAIT)).to.equal(true);
    await runner.stop();
    await rest(86_400);
    expect(standingStill(await lagsAfter(1_000)), 'nothing waits').to.deep.equal([]);
    burn(1);
    expect((await lagsAfter(119))[0]?.still_seconds).to.equal(119);
    expect(standingStill(await lagsAfter(119))).to.deep.equal([]);
    expect(standingStill(await lagsAfter(120))).to.deep.equal(['one']);
  });

  it('does not stand still while it is far behind and moves', async () => {
    const { log, burn } = burning;
    const runner = runnerOn(sql, log, { projectors: [counter('one')] });
    runner.start();
    expect(await runner.waitFor(burn(1), WAIT)).to.equal(true);
    await runner.stop();
    burn(1);
    await rest(0);
    const lags = await lagsAfter(86_400);
    expect(lags[0]?.lag_seconds).to.equal(86_400);
    expect(standingStill(lags)).to.deep.equal([]);
  });

  it('is told although the projector believes that it is up with the log', async () => {
    const { log, burn } = burning;
    const runner = runnerOn(sql, log, { projectors: [counter('one')], tuning: { watchdogMs: 3_600_000 } });
    runner.start();
    expect(await runner.waitFor(burn(1), WAIT)).to.equal(true);
    log.silence();
    burn(1);
    await rest(600);
    expect((await runner.status())[0]).to.include({ state: 'live', lag_events: 0 });
    expect(standingStill(await lagsAfter(300))).to.deep.equal(['one']);
  });

  it('of one that stopped is that of the event that it cannot apply', async () => {
    const { log, burn } = burning;
    burn(2);
    const poison = log.events().at(-1)!.data['usage_id'];
    const runner = runnerOn(sql, log, {
      projectors: [counter('sound'), counter('sick', 1, { poison: (id) => id === poison })],
    });
    runner.start();
    expect(await runner.waitFor(burn(1), { ...WAIT, projectors: ['sound'] })).to.equal(true);
    const head = burn(1);
    expect(await runner.waitFor(head, WAIT)).to.equal(false);
    expect(await runner.waitFor(head, { ...WAIT, projectors: ['sound'] })).to.equal(true);
    await rest(500);
    const lags = await lagsAfter(200);
    expect(lags.find(({ name }) => name === 'sick')).to.include({
      lag_seconds: 200,
      waiting_since: RECORDED_AT,
    });
    expect(standingStill(lags)).to.deep.equal(['sick']);
    await runner.stop();
  });
});
