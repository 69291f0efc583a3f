import { expect } from 'chai';
import { DEFAULT_JOURNAL } from '../../domain/journal.ts';
import { systemTimers } from '../../adapters/local/local.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { readModelOperations } from '../../src/operator/operations.ts';
import { type Projector, table } from '../../projections/engine/table.ts';
import { projectionsStatus } from '../../src/operator/log.ts';
import { burningOn, counter, type Burning } from '../projections/burning.ts';
import { emptySql } from '../support/emptySql.ts';

describe('the status of the read models', () => {
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

  it('says what is of a newer release than the one that asks', async () => {
    const { log: feed, burn } = burning;
    const newer = runnerOn(sql, feed, {
      projectors: [counter('same'), counter('ledger', 2), counter('fresh')],
    });
    newer.start();
    const position = burn(3);
    expect(await newer.waitFor(position, { timeoutMs: 300_000 })).to.equal(true);
    const known = { projectors: [counter('ledger'), counter('same')] };
    const seen = await projectionsStatus({ sql, feed, nowMs: Date.now }, known);
    expect(seen.map(({ name, version, reason }) => [name, version, reason])).to.deep.equal([
      ['ledger', 2, 'a newer release serves it; this one knows v1'],
      ['same', 1, null],
      ['fresh', 1, 'a newer release serves it; this one does not know it'],
    ]);
    const dropped = await projectionsStatus({ sql, feed, nowMs: Date.now }, { ...known, dropped: ['fresh'] });
    expect(dropped.map(({ name }) => name)).to.deep.equal(['ledger', 'same']);
  });

  it('is followed again by an older release that was told what to take back', async () => {
    const { log: feed, burn } = burning;
    const newer = runnerOn(sql, feed, {
      projectors: [counter('same'), counter('ledger', 2), counter('fresh')],
    });
    newer.start();
    expect(await newer.waitFor(burn(3), { timeoutMs: 300_000 })).to.equal(true);
    await newer.stop();
    const projectors = [counter('ledger'), counter('same')];
    const operations = readModelOperations({
      sql,
      feed,
      projectors,
      timers: systemTimers,
      journal: DEFAULT_JOURNAL,
    });
    const sent: unknown[] = [];
    const send = (item: unknown) => Promise.resolve(void sent.push(item));
    const rebuild = (...names: readonly string[]) =>
      operations['projections.rebuild']!(
        { names, fresh: false, keep: false },
        { send, signal: new AbortController().signal },
      );
    const failure: unknown = await rebuild('nope').catch((error: unknown) => error);
    expect(String(failure)).to.contain(
      'There is no read model named nope. Choose from: ledger, same, fresh.',
    );
    await rebuild('ledger', 'fresh');
    expect(sent.at(-1)).to.deep.equal({ withdrawn: 'fresh' });
    const old = runnerOn(sql, feed, { projectors });
    old.start();
    expect(await old.waitFor(burn(2), { timeoutMs: 300_000 })).to.equal(true);
    expect(old.aside()).to.equal(null);
    await old.stop();

    const back = runnerOn(sql, feed, { projectors: [counter('same'), counter('ledger'), counter('fresh')] });
    back.start();
    expect(await back.waitFor(burn(1), { timeoutMs: 300_000 })).to.equal(true);
    expect(await sql.query('select count(*) as n from read.fresh')).to.deep.equal([{ n: 6n }]);
  });

  it('is changed by an operator: paused, resumed, and rebuilt for one tenant', async () => {
    const { log: feed, burn } = burning;
    const byTenant: Projector = {
      ...counter('own'),
      tables: [
        table({ name: 'own', key: ['id'], columns: { id: 'text', made_by: 'int4' }, rowsOf: 'id like $1' }),
      ],
    };
    const projectors = [counter('same'), byTenant];
    const runner = runnerOn(sql, feed, { projectors });
    runner.start();
    expect(await runner.waitFor(burn(3), { timeoutMs: 300_000 })).to.equal(true);
    const parts = { sql, feed, projectors, timers: systemTimers, journal: DEFAULT_JOURNAL };
    const operations = readModelOperations(parts);
    const ask = async (name: string, input: unknown): Promise<readonly unknown[]> => {
      const sent: unknown[] = [];
      const send = (item: unknown) => Promise.resolve(void sent.push(item));
      await operations[`projections.${name}`]!(input, { send, signal: new AbortController().signal });
      return sent;
    };
    const refused = (name: string, input: unknown): Promise<string> =>
      ask(name, input).then(
        () => '',
        (error: unknown) => String(error),
      );
    expect(await ask('pause', { name: 'same' })).to.deep.equal([{ changed: true }]);
    const [first] = await projectionsStatus({ sql, feed, nowMs: Date.now }, { projectors });
    expect(first).to.include({ name: 'same', state: 'paused', is_paused: true });
    expect(await ask('resume', { name: 'same' })).to.deep.equal([{ changed: true }]);
    expect(await refused('pause', { name: 'nope' })).to.contain('There is no read model named nope');
    expect(await ask('retry', { names: [] })).to.deep.equal([]);
    const rebuild = { fresh: false, keep: false, tenant: '%' };
    expect(await refused('rebuild', { ...rebuild, names: ['same'] })).to.contain(
      'rebuild it without --tenant',
    );
    const [refolded] = (await ask('rebuild', { ...rebuild, names: [] })).filter(
      (item) => typeof item === 'object' && item !== null && 'refolded' in item,
    );
    expect(refolded).to.have.property('refolded').that.includes({ name: 'own', tenant_id: '%' });
  });
});
