import { expect } from 'chai';
import { systemTimers } from '../../../adapters/local/local.ts';
import { decodeAny } from '../../../domain/catalogue.ts';
import { upgradeDue } from '../../../projections/engine/upgrade.ts';
import type { Sql } from '../../../projections/engine/ports.ts';
import { type Projector, table } from '../../../projections/engine/table.ts';
import {
  type BegunAnew,
  RebuildBusy,
  rebuildReadModels,
  type RebuildProgress,
  rebuildThroughOutages,
} from '../../../projections/engine/rebuild.ts';
import { abandon, CheckpointMoved, generations } from '../../../projections/engine/registry.ts';
import { statusOfRegistry } from '../../../projections/engine/subscribe.ts';
import type { MemoryLog } from '../../support/logs/memoryLog.ts';
import { bookkeeper } from '../../support/money/billingHistory.ts';
import { runnerOn, wipe } from '../../support/projecting.ts';
import { burningOn } from '../burning.ts';
import { until } from '../../../engine/test/support/until.ts';

const WAIT = { timeoutMs: 300_000 };

/** Burns with their credits, so that there is a sum to compare. */
const burned = (name: string, isBad: () => boolean = () => false): Projector => ({
  name,
  version: 1,
  eventTypes: ['CreditsBurned'],
  tables: [table({ name, key: ['id'], columns: { id: 'text', credits: 'int8' } })],
  apply: async (tx, { schema, events }) => {
    if (isBad()) throw new Error('a defect');
    const burns = events.flatMap((event) => (event.type === 'CreditsBurned' ? [event.data] : []));
    await tx.query(`insert into ${schema}.${name} select * from unnest($1::text[], $2::int8[])`, [
      burns.map(({ usage_id }) => usage_id),
      burns.map(({ credits }) => BigInt(credits)),
    ]);
  },
});

/** The runner builds what is due by itself: a rebuild may have to wait for that to end. */
const onceFree = async <T>(rebuild: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await rebuild();
    } catch (error) {
      if (!(error instanceof RebuildBusy)) throw error;
      await systemTimers.sleep(10);
    }
  }
};

/** Rebuilds that are interrupted, continued, or find something; on the database that `open` gives. */
export const rebuildSuite = (name: string, open: () => Promise<Sql>) => {
  describe(`rebuilds on ${name}`, () => {
    let sql: Sql;
    let log: MemoryLog;
    let burn: (times: number) => bigint;

    before(async () => {
      sql = await open();
    });
    burningOn(
      () => sql,
      (burning) => ({ log, burn } = burning),
    );
    after(async () => {
      await wipe(sql);
      await sql.close();
    });

    const depsOf = (projectors: readonly Projector[]) => ({
      sql,
      feed: log,
      projectors,
      decode: decodeAny,
      timers: systemTimers,
    });
    const project = async (projectors: readonly Projector[], position: bigint) => {
      const runner = runnerOn(sql, log, { projectors });
      runner.start();
      expect(await runner.waitFor(position, WAIT)).to.equal(true);
      await runner.stop();
    };
    const count = async (table: string) =>
      (await sql.query(`select count(*) as n from read.${table}`))[0]?.['n'];
    const states = async () =>
      (await sql.query('select state from projections.registry order by name, generation')).map(
        ({ state }) => state,
      );

    /** Rebuilds and aborts at the third batch. */
    const interrupted = async (projectors: readonly Projector[], keep: boolean): Promise<void> => {
      const stop = new AbortController();
      let batches = 0;
      const onProgress = () => {
        batches += 1;
        if (batches === 3) stop.abort();
      };
      const options = { batchMax: 10, keep, signal: stop.signal, onProgress };
      const failure = await rebuildReadModels(depsOf(projectors), options).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(Error);
    };

    it('continues an interrupted one from where its rows stand, with writes going on', async () => {
      const projectors = [burned('one'), burned('two')];
      await project(projectors, burn(100));
      await interrupted(projectors, true);
      expect(await states()).to.deep.equal(['live', 'rebuilding', 'live', 'rebuilding']);
      expect(await count('one')).to.equal(100n);
      const runner = runnerOn(sql, log, { projectors });
      runner.start();
      const seen: RebuildProgress[] = [];
      const onProgress = (progress: RebuildProgress) => {
        seen.push(progress);
        burn(1);
      };
      const rebuilt = await rebuildReadModels(depsOf(projectors), { batchMax: 10, onProgress });
      expect(rebuilt.every(({ resumedFrom }) => resumedFrom !== null)).to.equal(true);
      expect(rebuilt.flatMap(({ differences }) => differences)).to.deep.equal([]);
      expect(seen[0]!.share).to.be.greaterThan(0.2);
      expect(await runner.waitFor(burn(2), WAIT)).to.equal(true);
      await runner.stop();
      const all = BigInt(log.events().filter(({ type }) => type === 'CreditsBurned').length);
      expect([await count('one'), await count('two')]).to.deep.equal([all, all]);
    });

    it('continues some and begins others, when only some were interrupted', async () => {
      const projectors = [burned('one'), burned('two')];
      await project(projectors, burn(60));
      await interrupted([projectors[1]!], true);
      const [one, two] = await rebuildReadModels(depsOf(projectors), { batchMax: 7 });
      expect(one?.resumedFrom).to.equal(null);
      expect(two?.resumedFrom).not.to.equal(null);
      expect([one?.compared, two?.compared]).to.deep.equal([true, true]);
      expect([one?.differences, two?.differences]).to.deep.equal([[], []]);
      expect([await count('one'), await count('two')]).to.deep.equal([60n, 60n]);
    });

    it('shows all that was shown before it took its place, however much came meanwhile', async () => {
      const projectors = [burned('one')];
      const runner = runnerOn(sql, log, { projectors });
      runner.start();
      expect(await runner.waitFor(burn(20), WAIT)).to.equal(true);
      /** Before each step of the rebuild another burn is shown. */
      const outrun: Sql = {
        ...sql,
        transaction: async (work) => {
          expect(await runner.waitFor(burn(1), WAIT)).to.equal(true);
          return sql.transaction(work);
        },
      };
      const [one] = await rebuildReadModels({ ...depsOf(projectors), sql: outrun });
      await runner.stop();
      // They are compared where both are at the same place.
      expect(one).to.deep.include({ compared: true, differences: [] });
    });

    it('says why it does not go on with another version, and nothing where it was to begin anew', async () => {
      const [one, two] = [burned('one'), { ...burned('one'), version: 2 }];
      await project([one], burn(100));
      await interrupted([one], true);
      const told: BegunAnew[] = [];
      const onBegunAnew = (begun: BegunAnew) => told.push(begun);
      await rebuildReadModels(depsOf([two]), { onBegunAnew });
      await rebuildReadModels(depsOf([two]), { onBegunAnew, fresh: true });
      expect(told).to.deep.equal([
        { names: ['one'], reason: 'what was begun is of version 1, and this is 2' },
      ]);
    });

    it('begins anew where the log has been put back since, however far it has grown', async () => {
      const projectors = [burned('one')];
      await project(projectors, burn(100));
      await interrupted(projectors, true);
      log.goBack(12);
      const position = burn(60);
      const told: BegunAnew[] = [];
      const onBegunAnew = (one: BegunAnew) => told.push(one);
      const [one] = await rebuildReadModels(depsOf(projectors), { onBegunAnew });
      expect(one).to.include({ resumedFrom: null, position });
      expect(told).to.have.length(1);
      expect(told[0]?.reason).to.match(/^the log does not have the event/);
      const burns = log.events().filter(({ type }) => type === 'CreditsBurned');
      const ids = (await sql.query('select id from read.one order by id')).map(({ id }) => id);
      expect(ids).to.deep.equal(burns.map(({ data }) => data['usage_id']).sort());
    });

    it('begins anew where the log is put back amid it, though what serves has gone on in that copy', async () => {
      const projectors = [burned('one')];
      await project(projectors, burn(20));
      burn(80);
      let [isBuilt, isPutBack] = [false, false];
      const onProgress = ({ position, target }: RebuildProgress) => (isBuilt = position === target);
      /** Between the reading up to the head and the look at what serves. */
      const standing: Sql = {
        ...sql,
        query: async (...asked) => {
          if (isBuilt && !isPutBack) {
            isPutBack = true;
            log.goBack(30);
            const books = bookkeeper(log, 't2');
            for (let n = 0; n < 100; n += 1) books.charge(2);
            await project(projectors, log.events().at(-1)!.position);
          }
          return sql.query(...asked);
        },
      };
      await rebuildThroughOutages({ ...depsOf(projectors), sql: standing }, { onProgress });
      expect(isPutBack).to.equal(true);
      const burns = log.events().filter(({ type }) => type === 'CreditsBurned');
      const credits = (await sql.query('select credits from read.one')).map((row) => Number(row['credits']));
      expect(credits.sort()).to.deep.equal(burns.map(({ data }) => data['credits']).sort());
    });

    it('is not put in place where another has given its rows up meanwhile', async () => {
      const projectors = [burned('first')];
      await project(projectors, burn(20));
      const served = await generations(sql, 'first');
      // The session that keeps other rebuilds away may end amid it, and another one begins anew.
      let givenUp: Promise<void> | undefined;
      const onProgress = (): void => {
        givenUp ??= abandon(sql, { ...served[0]!, generation: 2 });
      };
      const transaction: Sql['transaction'] = async (work) => {
        await givenUp;
        return sql.transaction(work);
      };
      const deps = { ...depsOf(projectors), sql: { ...sql, transaction } };
      const failure = await rebuildReadModels(deps, { onProgress }).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(CheckpointMoved);
      expect(await generations(sql, 'first')).to.deep.equal(served);
    });

    it('leaves its rows to another that has moved them on', async () => {
      const projectors = [burned('first')];
      await project(projectors, burn(20));
      let moved: Promise<unknown> | undefined;
      const onProgress = (): void => {
        moved ??= sql.query(`update projections.registry set position = position + 1 where generation = 2`);
      };
      const transaction: Sql['transaction'] = async (work) => {
        await moved;
        return sql.transaction(work);
      };
      const deps = { ...depsOf(projectors), sql: { ...sql, transaction } };
      const options = { batchMax: 5, onProgress };
      const failure = await rebuildReadModels(deps, options).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(CheckpointMoved);
      const states = (await generations(sql, 'first')).map(({ generation, state }) => [generation, state]);
      expect(states).to.deep.equal([
        [1, 'live'],
        [2, 'rebuilding'],
      ]);
    });

    it('leaves everything as it was after an abort, and begins anew when told so', async () => {
      const projectors = [burned('one')];
      await project(projectors, burn(50));
      await interrupted(projectors, false);
      expect(await states()).to.deep.equal(['live', 'retired']);
      await interrupted(projectors, true);
      const [one] = await rebuildReadModels(depsOf(projectors), { fresh: true });
      expect(one?.resumedFrom).to.equal(null);
      expect(await count('one')).to.equal(50n);
    });

    it('finds sums that differ where the counts agree', async () => {
      const projectors = [burned('one')];
      await project(projectors, burn(8));
      await sql.query(`update rm_one_v1_g1.one set credits = credits + 5
        where id = (select min(id) from rm_one_v1_g1.one)`);
      const [{ total } = { total: 0n }] = await sql.query(
        'select sum(credits)::int8 as total from rm_one_v1_g1.one',
      );
      const before = total as bigint;
      const [one] = await rebuildReadModels(depsOf(projectors));
      expect(one?.differences).to.deep.equal([
        { table: 'one', column: 'credits', before, after: before - 5n },
      ]);
    });

    it('brings back one that had stopped, and the running projector goes on with it', async () => {
      let broken = true;
      const projectors = [burned('sick', () => broken), burned('sound')];
      const runner = runnerOn(sql, log, { projectors });
      runner.start();
      const position = burn(5);
      expect(await runner.waitFor(position, { ...WAIT, projectors: ['sound'] })).to.equal(true);
      expect(await runner.waitFor(position, WAIT), 'stopped').to.equal(false);
      broken = false;
      await onceFree(() => rebuildReadModels(depsOf(projectors), { names: ['sick'] }));
      await until(async () => (await runner.status()).every(({ state }) => state === 'live'));
      expect(await runner.waitFor(burn(3), WAIT)).to.equal(true);
      expect(await count('sick')).to.equal(8n);
      await runner.stop();
    });

    it('of a read model whose new version could not be built leaves nothing of the attempt', async () => {
      const [one, two] = [{ ...burned('one') }, { ...burned('one', () => true), version: 2 }];
      await project([one], burn(10));
      const build = { batchMax: 10, signal: new AbortController().signal };
      const { stopped } = await upgradeDue(depsOf([two]), { ...build, afresh: true });
      expect(stopped.map(({ reason }) => reason)).to.deep.equal(['a defect']);
      expect(statusOfRegistry(await generations(sql), { projectors: [two] })).to.deep.equal([
        {
          name: 'one',
          version: 1,
          position: log.events().at(-1)!.position,
          state: 'stopped',
          reason: 'a defect',
        },
      ]);
      const untouched = { ...sql, tryLock: () => Promise.reject(new Error('the rebuild would be refused')) };
      const again = await upgradeDue({ ...depsOf([two]), sql: untouched }, { ...build, afresh: false });
      expect(again).to.deep.equal({ promoted: [], stopped: [] });

      await rebuildReadModels(depsOf([{ ...one, version: 2 }]));
      expect((await generations(sql)).map(({ version, state }) => [version, state])).to.deep.equal([
        [2, 'live'],
      ]);
    });
  });
};
