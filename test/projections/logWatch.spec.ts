import { expect } from 'chai';
import { systemTimers } from '../../adapters/local/local.ts';
import { seenEvents, type SeenEvents, witnessOf } from '../../domain/eventLog/witness.ts';
import { LOG_STREAM } from '../../domain/kernel/json.ts';
import { logWatch, type LogWatch } from '../../projections/engine/divergence.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { emptySql } from '../support/emptySql.ts';
import { memoryLog, type MemoryLog } from '../support/logs/memoryLog.ts';

describe('a process that compares the log with what it has itself read and written', () => {
  let sql: Sql;
  let log: MemoryLog;
  let seen: SeenEvents;
  let connections: number;
  let watch: LogWatch;
  let told: string[];
  before(async () => {
    sql = await emptySql();
  });
  after(() => sql.close());
  beforeEach(async () => {
    connections = 1;
    told = [];
    log = memoryLog();
    log.append(LOG_STREAM, 'LogOpened', {
      log_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
      opened_at: 'then',
    });
    write(4);
    seen = seenEvents(() => connections);
    watch = logWatch({
      sql,
      feed: { ...log, seen },
      timers: systemTimers,
      onReplaced: () => void told.push('replaced'),
      onDiverged: () => void told.push('diverged'),
      onSettled: () => void told.push('settled'),
      onError: (error) => void told.push(String(error)),
    });
    await watch.check();
    expect(told).to.deep.equal([]);
  });
  const write = (events: number): void => {
    for (let n = 0; n < events; n += 1) log.append('account-a', 'Happened', { n, connections });
  };
  const sees = (revision: bigint): void => {
    const event = log.events().find((one) => one.stream === 'account-a' && one.revision === revision);
    seen.note(witnessOf(event!), seen.epoch());
  };
  /** Comes back with so many events; others write. */
  const goBack = (to: number, events: number): void => {
    log.goBack(to);
    connections += 1;
    write(events);
  };

  it('finds that the log lost what it wrote since the last comparison, though the read models are sound', async () => {
    write(2);
    sees(5n);
    goBack(5, 1);
    await watch.check();
    expect(told).to.deep.equal(['replaced', 'settled']);
    await watch.check();
    expect(told).to.have.lengthOf(2);
    expect(seen.losses()).to.equal(1);
  });

  it('finds it where it has since read further in what the log became', async () => {
    write(2);
    sees(5n);
    goBack(5, 40);
    sees(43n);
    await watch.check();
    expect(told).to.deep.equal(['replaced', 'settled']);
    expect(seen.all().map(({ revision }) => revision)).to.deep.equal([43n]);
  });

  it('finds nothing where the log kept all of it, and remembers the furthest alone', async () => {
    sees(2n);
    connections += 1;
    sees(3n);
    goBack(5, 3);
    await watch.check();
    expect(told).to.deep.equal([]);
    expect(seen.all().map(({ revision }) => revision)).to.deep.equal([3n]);
  });

  it('says that all is well to whoever was contradicted, where nothing is found', async () => {
    await watch.contradicted();
    await watch.check();
    expect(told).to.deep.equal(['settled']);
  });
});
