import { expect } from 'chai';
import { decodeAny } from '../../domain/catalogue.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { systemTimers } from '../../adapters/local/local.ts';
import type { ProjectionNotice } from '../../projections/engine/arrivals.ts';
import {
  askRetry,
  PARKED_MAX,
  parkedTenants,
  pauseModel,
  resumeModel,
} from '../../projections/engine/parking.ts';
import { type Sql, SqlUnavailable } from '../../projections/engine/ports.ts';
import { rebuildReadModels } from '../../projections/engine/rebuild.ts';
import { refoldTenant } from '../../projections/engine/refold.ts';
import { type Projector, table } from '../../projections/engine/table.ts';
import { until } from '../../engine/test/support/until.ts';
import { bookkeeper } from '../support/money/billingHistory.ts';
import { emptySql } from '../support/emptySql.ts';
import { type Burning, burningOn, counter } from './burning.ts';

const WAIT = { timeoutMs: 300_000 };

/** Burns by tenant; a batch with a poisoned burn fails. */
const burnsBy = (
  name: string,
  poison: (usageId: string) => boolean = () => false,
  code?: string,
): Projector => ({
  name,
  version: 1,
  eventTypes: ['CreditsBurned'],
  tables: [table({ name, key: ['tenant_id', 'id'], columns: { tenant_id: 'sorted', id: 'text' } })],
  apply: async (tx, { schema, events }) => {
    const burns = events.flatMap((event) =>
      event.type === 'CreditsBurned' ? [{ tenant: event.stream.slice(8), id: event.data.usage_id }] : [],
    );
    await tx.query(`insert into ${schema}.${name} select * from unnest($1::text[], $2::text[])`, [
      burns.map(({ tenant }) => tenant),
      burns.map(({ id }) => id),
    ]);
    const bad = burns.find(({ id }) => poison(id));
    if (bad !== undefined)
      throw Object.assign(new Error(`${bad.id} is poison`), code === undefined ? {} : { code });
  },
});

describe('a tenant whose event cannot be applied', () => {
  let sql: Sql;
  let burning: Burning;
  let notices: ProjectionNotice[] = [];
  before(async () => {
    sql = await emptySql();
  });
  const { runnerOn } = burningOn(
    () => sql,
    (begun) => {
      burning = begun;
      notices = [];
    },
  );
  after(() => sql.close());

  const charge = (tenant: string, times = 1): bigint => {
    const books = bookkeeper(burning.log, tenant);
    for (let n = 0; n < times; n += 1) books.charge(1);
    return burning.log.events().at(-1)!.position;
  };
  const burnsOf = (tenant: string) =>
    burning.log
      .events()
      .filter(({ type, stream }) => type === 'CreditsBurned' && stream === `account-${tenant}`)
      .map(({ data }) => data['usage_id'] as string);
  const rowsOf = async (name: string, tenant: string) =>
    (await sql.query(`select id from read.${name} where tenant_id = $1`, [tenant]))
      .map(({ id }) => String(id))
      .sort();
  const start = (projectors: readonly Projector[]) => {
    const runner = runnerOn(sql, burning.log, { projectors, notify: (notice) => notices.push(notice) });
    runner.start();
    return runner;
  };
  const restarted = async (projectors: readonly Projector[]) => {
    const runner = start(projectors);
    expect(await runner.waitFor(charge('two'), WAIT)).to.equal(true);
    return runner;
  };
  const parts = (projectors: readonly Projector[]) => ({
    sql,
    feed: burning.log,
    decode: decodeAny,
    timers: systemTimers,
    projectors,
  });
  /** Two tenants, of whom the second has an event in the middle that is poison. */
  const poisoned = () => {
    charge('sound', 3);
    charge('sick', 3);
    charge('sound', 3);
    const before = burnsOf('sick');
    return { poison: before[1]!, before: before.slice(0, 1) };
  };

  it('is parked in that read model alone; the others go on, in it and elsewhere', async () => {
    const { poison, before } = poisoned();
    const runner = start([burnsBy('here', (id) => id === poison), burnsBy('there')]);
    charge('sick', 2);
    const head = charge('sound', 2);
    expect(await runner.waitFor(head, WAIT)).to.equal(true);
    expect(await rowsOf('here', 'sound')).to.deep.equal(burnsOf('sound').sort());
    expect(await rowsOf('here', 'sick'), 'all before it').to.deep.equal(before);
    expect(await rowsOf('there', 'sick')).to.deep.equal(burnsOf('sick').sort());
    const bad = burning.log.events().find(({ data }) => data['usage_id'] === poison)!;
    const [parked, ...more] = await parkedTenants(sql);
    expect(more).to.deep.equal([]);
    expect(parked).to.include({
      name: 'here',
      tenant_id: 'sick',
      position: String(bad.position),
      event_id: bad.id,
      retrying: false,
    });
    expect(parked?.reason).to.contain(`${poison} is poison`);
    expect(notices.filter(({ kind }) => kind === 'parked')).to.have.lengthOf(1);
    expect((await runner.status()).map(({ state }) => state)).to.deep.equal(['live', 'live']);
  });

  it('stays parked through a restart, and reads of it are told that they are not up to date', async () => {
    const { poison, before } = poisoned();
    const first = start([burnsBy('here', (id) => id === poison)]);
    expect(await first.waitFor(charge('sound'), WAIT)).to.equal(true);
    await first.stop();
    const second = start([burnsBy('here')]);
    charge('sick', 2);
    const head = charge('sound');
    expect(await second.waitFor(head, WAIT)).to.equal(true);
    expect(await second.waitFor(head, { ...WAIT, tenant: 'sound' })).to.equal(true);
    expect(await second.waitFor(head, { ...WAIT, tenant: 'sick' }), 'never, and at once').to.equal(false);
    const reader = runnerOn(sql, burning.log, { projectors: [burnsBy('here')] });
    expect(await reader.waitFor(head, { ...WAIT, tenant: 'sick' }), 'in another process').to.equal(false);
    expect(await reader.waitFor(head, { ...WAIT, tenant: 'sound' })).to.equal(true);
    expect(await rowsOf('here', 'sick')).to.deep.equal(before);
  });

  it('is taken in again after a repair, with all that it did meanwhile, while the others go on', async () => {
    const { poison } = poisoned();
    let isSick = true;
    const runner = start([burnsBy('here', (id) => isSick && id === poison)]);
    expect(await runner.waitFor(charge('sick', 2), WAIT)).to.equal(true);
    isSick = false;
    expect(await askRetry(sql, { name: 'here', tenant: 'nobody' })).to.equal(0);
    expect(await askRetry(sql, { name: 'here', tenant: 'sick' })).to.equal(1);
    await until(() => notices.some(({ kind }) => kind === 'unparked'));
    const head = charge('sick', 2);
    await until(() => runner.waitFor(head, { ...WAIT, tenant: 'sick' }));
    expect(await rowsOf('here', 'sick')).to.deep.equal(burnsOf('sick').sort());
    expect(await rowsOf('here', 'sound')).to.deep.equal(burnsOf('sound').sort());
    expect(await parkedTenants(sql)).to.deep.equal([]);
    const left = await sql.query(`select count(*) as n from pg_namespace where nspname like 'rm\\_%'`);
    expect(left).to.deep.equal([{ n: 1n }]);
  });

  it('stays parked when it is tried again too early, and says why', async () => {
    const { poison } = poisoned();
    const runner = start([burnsBy('here', (id) => id === poison)]);
    expect(await runner.waitFor(charge('sound'), WAIT)).to.equal(true);
    await askRetry(sql, { name: 'here' });
    await until(() => notices.some(({ kind }) => kind === 'parked_again'));
    const [parked] = await parkedTenants(sql);
    expect(parked).to.include({ tenant_id: 'sick', retrying: false });
    expect(await runner.waitFor(charge('sound'), WAIT)).to.equal(true);
    expect(await rowsOf('here', 'sound')).to.deep.equal(burnsOf('sound').sort());
  });

  it('is parked no more once the whole read model was rebuilt', async () => {
    const { poison } = poisoned();
    let isSick = true;
    const projectors = [burnsBy('here', (id) => isSick && id === poison)];
    const runner = start(projectors);
    expect(await runner.waitFor(charge('sick'), WAIT)).to.equal(true);
    isSick = false;
    await rebuildReadModels(parts(projectors));
    expect(await parkedTenants(sql)).to.deep.equal([]);
    const head = charge('sick');
    // the runner knows of the new rows when it looks next; until then it says at once that he is parked
    await until(() => runner.waitFor(head, { ...WAIT, tenant: 'sick' }));
    expect(await rowsOf('here', 'sick')).to.deep.equal(burnsOf('sick').sort());
  });

  it('stops the read model where its tables or statements are at fault', async () => {
    const { poison } = poisoned();
    const runner = start([burnsBy('here', (id) => id === poison, '42P01')]);
    expect(await runner.waitFor(charge('sound'), WAIT)).to.equal(false);
    expect((await runner.status())[0]).to.include({ state: 'stopped' });
    expect(await parkedTenants(sql)).to.deep.equal([]);
  });

  it('stops a read model that cannot tell tenants apart, and one that has parked too many', async () => {
    for (let n = 0; n <= PARKED_MAX; n += 1) charge(`sick-${String(n)}`);
    const runner = start([burnsBy('here', () => true), counter('mixed', 1, { poison: () => true })]);
    expect(await runner.waitFor(charge('sound'), WAIT)).to.equal(false);
    await until(async () => (await runner.status()).every(({ state }) => state === 'stopped'));
    expect(await parkedTenants(sql)).to.have.lengthOf(PARKED_MAX);
  });

  it('stops the read model at an event that cannot be decoded, until the program can', async () => {
    charge('sound', 2);
    charge('early', 2);
    charge('sound', 1);
    const written = burning.log.events() as RecordedEvent[];
    const at = written.findLastIndex(({ stream }) => stream === 'account-early');
    const known = written[at]!;
    written[at] = { ...known, metadata: { ...known.metadata, schema_version: 99 } };
    const old = start([burnsBy('here')]);
    expect(await old.waitFor(charge('sound'), WAIT)).to.equal(false);
    const [stopped] = await old.status();
    expect(stopped).to.include({ state: 'stopped' });
    expect(stopped?.reason).to.contain('newer than this program');
    expect(await parkedTenants(sql)).to.deep.equal([]);
    expect(await rowsOf('here', 'sound')).to.deep.equal(burnsOf('sound').slice(0, 2).sort());
    await old.stop();
    written[at] = known;
    const upgraded = start([burnsBy('here')]);
    await until(async () => (await upgraded.status()).every(({ state }) => state === 'live'));
    expect(await upgraded.waitFor(charge('early'), { ...WAIT, tenant: 'early' })).to.equal(true);
    for (const tenant of ['sound', 'early'])
      expect(await rowsOf('here', tenant)).to.deep.equal(burnsOf(tenant).sort());
  });

  it('leaves no tables where a rebuild of it was interrupted and not begun again', async () => {
    charge('one', 3);
    const projectors = [burnsBy('here')];
    const first = start(projectors);
    expect(await first.waitFor(charge('two'), WAIT)).to.equal(true);
    await first.stop();
    let left = 1;
    const dying: Sql = {
      ...sql,
      transaction: (work) =>
        (left -= 1) < 0 ? Promise.reject(new SqlUnavailable('the process is gone')) : sql.transaction(work),
    };
    const died = refoldTenant({ ...parts(projectors), sql: dying }, { tenant: 'one' });
    expect(await died.catch((error: unknown) => error)).to.be.instanceOf(SqlUnavailable);
    const tables = () => sql.query(`select nspname from pg_namespace where nspname like 'rm\\_%'`);
    await (await restarted(projectors)).stop();
    expect(await tables(), 'it may still be at work').to.have.length(2);
    await sql.query(
      `update projections.registry set updated_at = '2026-01-01T00:00:00.000Z' where state = 'rebuilding'`,
    );
    await restarted(projectors);
    await until(async () => (await tables()).length === 1);
    expect(await rowsOf('here', 'one')).to.deep.equal(burnsOf('one').sort());
  });

  it('has its rows made anew by itself, at the position of the read model', async () => {
    charge('one', 3);
    const projectors = [burnsBy('here'), counter('mixed')];
    const runner = start(projectors);
    expect(await runner.waitFor(charge('two', 3), WAIT)).to.equal(true);
    await sql.query(`delete from read.here where tenant_id = 'one'`);
    await sql.query(`delete from read.here where tenant_id = 'two'`);
    const done = await refoldTenant(parts(projectors), { tenant: 'one' });
    expect(done.map(({ name, tenant_id }) => [name, tenant_id])).to.deep.equal([['here', 'one']]);
    expect(await rowsOf('here', 'one')).to.deep.equal(burnsOf('one').sort());
    expect(await rowsOf('here', 'two'), 'not touched').to.deep.equal([]);
    expect(await runner.waitFor(charge('one'), WAIT)).to.equal(true);
    expect(await rowsOf('here', 'one')).to.deep.equal(burnsOf('one').sort());
  });
});

describe('a read model that is paused', () => {
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
  const counts = async (name: string) =>
    (await sql.query(`select count(*) as n from read.${name}`))[0]?.['n'];

  it('stays paused when it is rebuilt', async () => {
    const { log, burn } = burning;
    const projectors = [counter('held'), counter('other')];
    const runner = runnerOn(sql, log, { projectors });
    runner.start();
    expect(await runner.waitFor(burn(3), WAIT)).to.equal(true);
    await pauseModel(sql, 'held');
    expect(await runner.waitFor(burn(2), { ...WAIT, projectors: ['other'] })).to.equal(true);
    await rebuildReadModels({ sql, feed: log, decode: decodeAny, timers: systemTimers, projectors });
    const rebuilt = await counts('held');
    expect(await runner.waitFor(burn(1), { ...WAIT, projectors: ['other'] })).to.equal(true);
    await until(async () => (await runner.status()).some(({ state }) => state === 'live'));
    expect((await runner.status()).map(({ state }) => state)).to.deep.equal(['paused', 'live']);
    expect([await counts('held'), await counts('other')]).to.deep.equal([rebuilt, 6n]);
    expect(await resumeModel(sql, 'held')).to.equal('done');
    await until(async () => (await counts('held')) === 6n);
  });

  it('stays where it is, through a restart too, until it is told to go on; the others go on', async () => {
    const { log, burn } = burning;
    const projectors = [counter('held'), counter('other')];
    const first = runnerOn(sql, log, { projectors });
    first.start();
    expect(await first.waitFor(burn(3), WAIT)).to.equal(true);
    expect(await pauseModel(sql, 'held')).to.equal('done');
    expect(await pauseModel(sql, 'held')).to.equal('was_so');
    expect(await pauseModel(sql, 'nothing')).to.equal('unknown_model');
    expect(await first.waitFor(burn(2), { ...WAIT, projectors: ['other'] })).to.equal(true);
    await first.stop();
    const second = runnerOn(sql, log, { projectors });
    second.start();
    const head = burn(1);
    expect(await second.waitFor(head, { ...WAIT, projectors: ['other'] })).to.equal(true);
    expect(await second.waitFor(head, WAIT)).to.equal(false);
    expect([await counts('held'), await counts('other')]).to.deep.equal([3n, 6n]);
    expect((await second.status()).map(({ state }) => state)).to.deep.equal(['paused', 'live']);
    expect(await resumeModel(sql, 'held')).to.equal('done');
    expect(await resumeModel(sql, 'held')).to.equal('was_so');
    await until(async () => (await counts('held')) === 6n);
    expect(await second.waitFor(burn(1), WAIT)).to.equal(true);
    expect(await counts('held')).to.equal(7n);
  });
});
