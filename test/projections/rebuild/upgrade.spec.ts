import { expect } from 'chai';
import { balanceOfTenant } from '../../../projections/balances.ts';
import { type Sql, SqlUnavailable } from '../../../projections/engine/ports.ts';
import type { Projector } from '../../../projections/engine/table.ts';
import { generations, versionPlanOf } from '../../../projections/engine/registry.ts';
import { ledgerOfTenant } from '../../../projections/ledgerPages.ts';
import { READ_MODELS } from '../../../projections/readModels.ts';
import { billingHistory, type TenantModel } from '../../support/money/billingHistory.ts';
import { type MemoryLog, memoryLog } from '../../support/logs/memoryLog.ts';
import { dumpAll, runnerOn, wipe } from '../../support/projecting.ts';
import { emptySql } from '../../support/emptySql.ts';
import { until } from '../../../engine/test/support/until.ts';

const WAIT = { timeoutMs: 300_000 };
const BATCHES_BEFORE_DEATH = 3;
const BATCH = 100;

const raised = (names: readonly string[]): readonly Projector[] =>
  READ_MODELS.map((model) => (names.includes(model.name) ? { ...model, version: model.version + 1 } : model));

/** A database that takes so many transactions and then none: what a killed process leaves behind. */
const dyingAfter = (sql: Sql, transactions: number, onDead: () => void): Sql => {
  let left = transactions;
  return {
    query: (text, values) => sql.query(text, values),
    script: (text) => sql.script(text),
    tryLock: (key) => sql.tryLock(key),
    close: () => sql.close(),
    transaction: async (work) => {
      if (left === 0) {
        onDead();
        throw new SqlUnavailable('the process is gone');
      }
      left -= 1;
      return sql.transaction(work);
    },
  };
};

describe('an upgrade of read models', () => {
  let sql: Sql;
  let log: MemoryLog;
  let models: readonly TenantModel[];

  before(async () => {
    sql = await emptySql();
    log = memoryLog();
    models = billingHistory(log, 20260728, 600);
  });
  beforeEach(async () => {
    await wipe(sql);
    await project(READ_MODELS);
  });
  after(() => sql.close());

  /** One life of the service's projections, until all are live at the head. */
  const project = async (projectors: readonly Projector[]): Promise<readonly string[]> => {
    const promoted: string[] = [];
    const runner = runnerOn(sql, log, {
      projectors,
      tuning: { batchMax: BATCH },
      notify: (notice) => {
        if (notice.kind === 'promoted') promoted.push(notice.name);
      },
    });
    const before = await generationsOf();
    const due = projectors.filter(({ name, version }) => {
      const now = before.find((one) => one.name === name && one.serves);
      return now?.version !== version || now.position === null;
    });
    runner.start();
    const head = (await log.head()) ?? 0n;
    await until(() => before.length === 0 || promoted.length >= due.length);
    expect(await runner.waitFor(head, WAIT), 'caught up').to.equal(true);
    await runner.stop();
    return promoted.sort();
  };

  /** A life that ends in the middle of the building. */
  const dieBuilding = async (projectors: readonly Projector[]): Promise<void> => {
    let dead: () => void = () => undefined;
    const died = new Promise<void>((resolve) => (dead = resolve));
    // One transaction prepares the tables, the others are batches.
    const runner = runnerOn(
      dyingAfter(sql, 1 + BATCHES_BEFORE_DEATH, () => dead()),
      log,
      { projectors, tuning: { batchMax: BATCH } },
    );
    runner.start();
    await died;
    await runner.stop();
  };

  const generationsOf = async () => {
    const [row] = await sql.query(`select to_regclass('projections.registry') is not null as there`);
    return row?.['there'] === true ? generations(sql) : [];
  };

  const schemasOf = async (): Promise<readonly string[]> =>
    (
      await sql.query(`select nspname as name from pg_namespace where nspname like 'rm\\_%' order by nspname`)
    ).map(({ name }) => String(name));

  const answers = () =>
    Promise.all(
      models.map(async ({ tenant_id }) => ({
        balance: await balanceOfTenant(sql)(tenant_id),
        ledger: await ledgerOfTenant(sql)({ tenant_id, limit: 1000, offset: 0 }),
      })),
    );

  for (const names of [['ledger'], READ_MODELS.map(({ name }) => name)]) {
    const what = names.length === 1 ? 'one' : 'all';

    it(`of ${what} gives the same rows and leaves no old tables`, async () => {
      const [rows, seen, before] = [await dumpAll(sql), await answers(), await schemasOf()];
      expect(await project(raised(names))).to.deep.equal([...names].sort());
      expect(await dumpAll(sql)).to.deep.equal(rows);
      expect(await answers()).to.deep.equal(seen);
      const after = await schemasOf();
      expect(after).to.have.length(before.length);
      expect(after.filter((schema) => !before.includes(schema))).to.have.length(names.length);
    });

    it(`of ${what} killed in the middle serves the old rows, and the next start goes on`, async () => {
      const [rows, seen, before] = [await dumpAll(sql), await answers(), await schemasOf()];
      await dieBuilding(raised(names));
      const half = (await generations(sql)).filter(({ serves }) => !serves);
      expect(half.map(({ name }) => name)).to.have.members(names);
      const head = await log.head();
      for (const { name, state, position } of half) {
        expect(state, name).to.equal('building');
        expect(position !== null && position > 0n && position < head!, name).to.equal(true);
      }
      expect(await schemasOf()).to.include.members([...before]);
      expect(await dumpAll(sql)).to.deep.equal(rows);
      expect(await answers()).to.deep.equal(seen);

      expect(await project(raised(names))).to.deep.equal([...names].sort());
      expect(await dumpAll(sql)).to.deep.equal(rows);
      expect(await answers()).to.deep.equal(seen);
      const now = await generations(sql);
      expect(now.every(({ serves, state }) => serves && state === 'live')).to.equal(true);
      for (const { name, generation, schema } of half)
        expect(now.find((one) => one.name === name)).to.include({ generation, schema });
      expect(await schemasOf()).to.have.members(now.map(({ schema }) => schema));
    });
  }

  it('that is taken back before it has finished goes on with the old tables', async () => {
    const [rows, before] = [await dumpAll(sql), await schemasOf()];
    await dieBuilding(raised(['ledger', 'margin']));
    expect(await project(READ_MODELS)).to.deep.equal([]);
    expect(await dumpAll(sql)).to.deep.equal(rows);
    const served = (await generations(sql)).filter(({ serves }) => serves);
    expect(served.every(({ state }) => state === 'live')).to.equal(true);
    expect(served.map(({ schema }) => schema).sort()).to.deep.equal(before);
    expect(await schemasOf(), 'a newer release may still be at it').to.have.length(before.length + 2);

    await sql.query(
      `update projections.registry set updated_at = '2026-01-01T00:00:00.000Z' where state = 'building'`,
    );
    expect(await project(READ_MODELS)).to.deep.equal([]);
    expect(await dumpAll(sql)).to.deep.equal(rows);
    await until(async () => (await schemasOf()).length <= before.length);
    expect(await schemasOf(), 'still for an hour: nobody is').to.deep.equal(before);
  });

  it('that brings a read model, killed in the middle, leaves the older release projecting', async () => {
    const rows = await dumpAll(sql);
    await wipe(sql);
    const old = READ_MODELS.filter(({ name }) => name !== 'ledger');
    await project(old);
    await dieBuilding(READ_MODELS);
    const half = (await generations(sql)).filter(({ name }) => name === 'ledger');
    expect(
      half.some(({ position }) => position !== null && position < log.events().at(-1)!.position),
    ).to.equal(true);
    expect(versionPlanOf(await generations(sql), { projectors: old }).newer).to.deep.equal([]);
    const { followed } = versionPlanOf(await generations(sql), { projectors: READ_MODELS });
    expect(followed.some(({ projector }) => projector.name === 'ledger')).to.equal(false);

    expect(await project(READ_MODELS)).to.deep.equal(['ledger']);
    expect(await dumpAll(sql)).to.deep.equal(rows);
    expect((await generations(sql)).every(({ serves, state }) => serves && state === 'live')).to.equal(true);
  });

  it('that skips a version abandons the one that was half built', async () => {
    const rows = await dumpAll(sql);
    await dieBuilding(raised(['ledger']));
    const skipped = raised(['ledger']).map((model) =>
      model.name === 'ledger' ? { ...model, version: model.version + 1 } : model,
    );
    expect(await project(skipped)).to.deep.equal(['ledger']);
    expect(await dumpAll(sql)).to.deep.equal(rows);
    const now = await generations(sql);
    expect(await schemasOf()).to.have.members(now.map(({ schema }) => schema));
  });
});
