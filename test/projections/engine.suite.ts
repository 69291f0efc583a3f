import { expect } from 'chai';
import { decodeAny } from '../../domain/catalogue.ts';
import { systemTimers } from '../../adapters/local/local.ts';
import { type Sql, SqlUnavailable } from '../../projections/engine/ports.ts';
import { PROJECTOR_LEASE } from '../../projections/engine/lease.ts';
import { rebuildReadModels } from '../../projections/engine/rebuild.ts';
import type { ProjectionNotice } from '../../projections/engine/arrivals.ts';
import { type MemoryLog, RECORDED_AT } from '../support/logs/memoryLog.ts';
import { wipe } from '../support/projecting.ts';
import { until } from '../../engine/test/support/until.ts';
import { burningOn, counter } from './burning.ts';

const WAIT = { timeoutMs: 300_000 };

/** Fails the next transactions before they commit, as a crash between batches does. */
const crashing = (sql: Sql, crashes: () => boolean): Sql => ({
  query: (text, values) => sql.query(text, values),
  script: (text) => sql.script(text),
  tryLock: (key) => sql.tryLock(key),
  close: () => sql.close(),
  transaction: (work) =>
    sql.transaction(async (tx) => {
      const result = await work(tx);
      if (crashes()) throw new SqlUnavailable('crashed before the commit');
      return result;
    }),
});

/** What the engine promises, on the database that `open` gives. */
export const engineSuite = (name: string, open: () => Promise<Sql>) => {
  describe(`projection engine on ${name}`, () => {
    let sql: Sql;
    let log: MemoryLog;
    let burn: (times: number) => bigint;

    before(async () => {
      sql = await open();
    });
    const { runnerOn } = burningOn(
      () => sql,
      (burning) => ({ log, burn } = burning),
    );
    after(async () => {
      await wipe(sql);
      await sql.close();
    });

    const rows = async (table: string) =>
      (await sql.query(`select id from read.${table} order by id`)).map(({ id }) => String(id));
    const burns = () =>
      log
        .events()
        .filter(({ type }) => type === 'CreditsBurned')
        .map(({ data }) => data['usage_id'] as string)
        .sort();

    it('follows the log live, and answers when a position is reached', async () => {
      const runner = runnerOn(sql, log, { projectors: [counter('one')] });
      runner.start();
      for (let n = 1; n <= 20; n += 1) expect(await runner.waitFor(burn(n), WAIT)).to.equal(true);
      expect(await rows('one')).to.deep.equal(burns());
      expect((await runner.status())[0]).to.include({ name: 'one', state: 'live', lag_events: 0 });
      await runner.stop();
    });

    it('says false when a position is not reached in time', async () => {
      const runner = runnerOn(sql, log, { projectors: [counter('one')] });
      runner.start();
      const position = burn(1);
      expect(await runner.waitFor(position, WAIT)).to.equal(true);
      expect(await runner.waitFor(position + 1n, { timeoutMs: 30 })).to.equal(false);
      await runner.stop();
    });

    it('reaches positions whose events nobody wants', async () => {
      const notices: ProjectionNotice[] = [];
      const runner = runnerOn(sql, log, { projectors: [counter('one')], notify: (n) => notices.push(n) });
      runner.start();
      const { position } = log.append('other-1', 'NeverHeardOf', {});
      expect(await runner.waitFor(position, WAIT)).to.equal(true);
      expect(notices.filter(({ kind }) => kind === 'unknown_types')).to.deep.equal([
        { kind: 'unknown_types', events: 1, types: ['NeverHeardOf'] },
      ]);
      await runner.stop();
    });

    it('reaches a head that was filtered out, by subscribing again', async () => {
      const runner = runnerOn(sql, log, { projectors: [counter('one')] });
      runner.start();
      expect(await runner.waitFor(burn(1), WAIT)).to.equal(true);
      expect(await runner.waitFor(log.skip(), WAIT)).to.equal(true);
      await runner.stop();
    });

    it('waits through the registry where another process projects', async () => {
      const projectors = [counter('one')];
      const [active, passive] = [runnerOn(sql, log, { projectors }), runnerOn(sql, log, { projectors })];
      active.start();
      expect(await active.waitFor(burn(1), WAIT)).to.equal(true);
      expect(await passive.waitFor(burn(5), WAIT)).to.equal(true);
      expect(await passive.waitFor(burn(0) + 1n, { timeoutMs: 30 })).to.equal(false);
      expect((await passive.status())[0]).to.include({ name: 'one', state: 'live' });
      await active.stop();
    });

    it('subscribes again after each drop', async () => {
      const notices: ProjectionNotice[] = [];
      const runner = runnerOn(sql, log, { projectors: [counter('one')], notify: (n) => notices.push(n) });
      runner.start();
      expect(await runner.waitFor(burn(3), WAIT)).to.equal(true);
      log.drop(new Error('connection reset'));
      expect(await runner.waitFor(burn(3), WAIT)).to.equal(true);
      log.drop();
      expect(await runner.waitFor(burn(3), WAIT)).to.equal(true);
      expect(await rows('one')).to.deep.equal(burns());
      const reasons = notices.flatMap((notice) => (notice.kind === 'dropped' ? [notice.reason] : []));
      expect(reasons).to.deep.equal(['connection reset', 'the subscription was dropped']);
      await runner.stop();
    });

    it('notices a subscription that has gone silent', async () => {
      const runner = runnerOn(sql, log, { projectors: [counter('one')] });
      runner.start();
      expect(await runner.waitFor(burn(1), WAIT)).to.equal(true);
      log.silence();
      expect(await runner.waitFor(burn(4), WAIT)).to.equal(true);
      expect(await rows('one')).to.deep.equal(burns());
      await runner.stop();
    });

    it('loses and doubles nothing when transactions fail before their commit', async () => {
      burn(40);
      let n = 0;
      const runner = runnerOn(
        crashing(sql, () => (n += 1) % 3 === 0),
        log,
        { projectors: [counter('one'), counter('two')], tuning: { batchMax: 3 } },
      );
      runner.start();
      expect(await runner.waitFor(burn(20), WAIT)).to.equal(true);
      await runner.stop();
      expect(await rows('one')).to.deep.equal(burns());
      expect(await rows('two')).to.deep.equal(burns());
    });

    it('stops one projector at the event that it cannot apply, and no other', async () => {
      burn(10);
      const poison = burns()[6]!;
      const isPoison = (id: string) => id === poison;
      const runner = runnerOn(sql, log, {
        projectors: [counter('sound'), counter('sick', 1, { poison: isPoison })],
      });
      runner.start();
      const head = burn(5);
      expect(await runner.waitFor(head, { ...WAIT, projectors: ['sound'] })).to.equal(true);
      expect(await runner.waitFor(head, WAIT), 'never, and at once').to.equal(false);
      const bad = log.events().find(({ data }) => data['usage_id'] === poison)!;
      const [sound, sick] = await runner.status();
      expect(sound).to.include({ name: 'sound', state: 'live', position: head, reason: null });
      expect(sick).to.include({ name: 'sick', state: 'stopped', waiting_since: RECORDED_AT });
      expect(sound).not.to.have.property('waiting_since');
      expect(sick?.reason).to.equal(
        `CreditsBurned ${bad.id} at position ${String(bad.position)} of account-t1: ${poison} is poison`,
      );
      const before = burns().filter(
        (id) => log.events().find(({ data }) => data['usage_id'] === id)!.position < bad.position,
      );
      expect(await rows('sick')).to.deep.equal(before);
      expect(await rows('sound')).to.deep.equal(burns());
      await runner.stop();

      let started: () => void = () => undefined;
      const again = new Promise<void>((resolve) => (started = resolve));
      const repaired = runnerOn(sql, log, {
        projectors: [counter('sound'), counter('sick')],
        notify: ({ kind }) => (kind === 'started' ? started() : undefined),
      });
      repaired.start();
      await again;
      expect(await repaired.waitFor(burn(1), WAIT)).to.equal(true);
      expect(await rows('sick')).to.deep.equal(burns());
      await repaired.stop();
    });

    it('stops at an event that cannot be decoded, with everything before it applied', async () => {
      burn(3);
      const good = burns();
      const { position } = log.append('account-t1', 'CreditsBurned', { usage_id: 'broken' });
      const head = burn(3);
      const opened = { ...counter('opened'), eventTypes: ['AccountOpened'] as const };
      const runner = runnerOn(sql, log, { projectors: [counter('one'), opened] });
      runner.start();
      expect(await runner.waitFor(head, { ...WAIT, projectors: ['opened'] })).to.equal(true);
      expect(await runner.waitFor(head, WAIT), 'never, and at once').to.equal(false);
      const [one] = await runner.status();
      expect(one).to.include({ state: 'stopped' });
      expect(one?.reason)
        .to.contain(`position ${String(position)}`)
        .and.contain('operation_id');
      expect(await rows('one')).to.deep.equal(good);
      await runner.stop();
    });

    it('lets a new projector catch up beside the old ones', async () => {
      const first = runnerOn(sql, log, { projectors: [counter('one')] });
      first.start();
      expect(await first.waitFor(burn(10), WAIT)).to.equal(true);
      await first.stop();
      const both = runnerOn(sql, log, { projectors: [counter('one'), counter('late')] });
      both.start();
      expect(await both.waitFor(burn(2), WAIT)).to.equal(true);
      expect(await rows('late')).to.deep.equal(burns());
      expect(await rows('one')).to.deep.equal(burns());
      await both.stop();
    });

    it('builds a new version beside the old one and swaps it in', async () => {
      const first = runnerOn(sql, log, { projectors: [counter('one', 1)] });
      first.start();
      expect(await first.waitFor(burn(10), WAIT)).to.equal(true);
      await first.stop();
      const notices: ProjectionNotice[] = [];
      let promoted: () => void = () => undefined;
      const swapped = new Promise<void>((resolve) => (promoted = resolve));
      const second = runnerOn(sql, log, {
        projectors: [counter('one', 2)],
        notify: (notice) => {
          notices.push(notice);
          if (notice.kind === 'promoted') promoted();
        },
      });
      second.start();
      await swapped;
      expect(await second.waitFor(burn(3), WAIT)).to.equal(true);
      expect(await rows('one')).to.deep.equal(burns());
      expect(await sql.query('select distinct made_by from read.one')).to.deep.equal([{ made_by: 2 }]);
      expect((await second.status())[0]).to.include({ version: 2, state: 'live' });
      await second.stop();
      const schemas = await sql.query(`select nspname as name from pg_namespace where nspname like 'rm\\_%'`);
      expect(schemas).to.deep.equal([{ name: 'rm_one_v2_g2' }]);
    });

    it('asks for no lease while a newer release serves, so that the newer one has it when it is back', async () => {
      const next = runnerOn(sql, log, { projectors: [counter('one', 2)] });
      next.start();
      expect(await next.waitFor(burn(5), WAIT)).to.equal(true);
      await next.stop();
      const leases: bigint[] = [];
      let looks = 0;
      const watched: Sql = {
        ...sql,
        query: (text, values) => {
          if (text.includes('projections.registry')) looks += 1;
          return sql.query(text, values);
        },
        tryLock: (key) => {
          leases.push(key);
          return sql.tryLock(key);
        },
      };
      const old = runnerOn(watched, log, { projectors: [counter('one', 1)] });
      old.start();
      await until(() => old.aside() !== null);
      const before = looks;
      await until(() => looks > before + 20);
      expect(leases).not.to.include(PROJECTOR_LEASE);
      await old.stop();
    });

    it('follows the log in one process, however many there are', async () => {
      const projectors = [counter('one')];
      const runners = [1, 2, 3].map(() => runnerOn(sql, log, { projectors }));
      for (const runner of runners) runner.start();
      const projecting = () => runners.filter((runner) => runner.isProjecting());
      for (let n = 0; n < 10; n += 1) {
        const position = burn(3);
        for (const runner of runners) expect(await runner.waitFor(position, WAIT)).to.equal(true);
        expect(projecting()).to.have.length(1);
      }
      const [first] = projecting();
      await first?.stop();
      const left = runners.filter((runner) => runner !== first);
      for (const runner of left) expect(await runner.waitFor(burn(3), WAIT)).to.equal(true);
      expect(projecting()).to.have.length(1);
    });

    it('takes over when the active runner stops, and never projects twice', async () => {
      const projectors = [counter('one')];
      const [first, second] = [runnerOn(sql, log, { projectors }), runnerOn(sql, log, { projectors })];
      first.start();
      expect(await first.waitFor(burn(5), WAIT)).to.equal(true);
      second.start();
      expect(await second.waitFor(burn(5), WAIT)).to.equal(true);
      await first.stop();
      expect(await second.waitFor(burn(5), WAIT)).to.equal(true);
      expect(await rows('one')).to.deep.equal(burns());
      await second.stop();
    });

    it('yields to a checkpoint that another runner has moved', async () => {
      const projectors = [counter('one')];
      const lockless: Sql = {
        ...crashing(sql, () => false),
        tryLock: () =>
          Promise.resolve({ lost: new Promise<void>(() => undefined), release: () => Promise.resolve() }),
      };
      const [first, second] = [
        runnerOn(lockless, log, { projectors }),
        runnerOn(lockless, log, { projectors }),
      ];
      first.start();
      second.start();
      for (let n = 0; n < 30; n += 1) {
        const position = burn(3);
        expect(await first.waitFor(position, WAIT)).to.equal(true);
      }
      await Promise.all([first.stop(), second.stop()]);
      expect(await rows('one')).to.deep.equal(burns());
    });

    it('goes on with the new generation after a rebuild under load', async () => {
      const projectors = [counter('one'), counter('two')];
      const runner = runnerOn(sql, log, { projectors });
      runner.start();
      burn(200);
      const deps = { sql, feed: log, projectors, decode: decodeAny, timers: systemTimers };
      const rebuilding = rebuildReadModels(deps, { batchMax: 10, onProgress: () => void burn(2) });
      const rebuilt = await rebuilding;
      expect(rebuilt.flatMap(({ differences }) => differences)).to.deep.equal([]);
      expect(await runner.waitFor(burn(3), WAIT)).to.equal(true);
      expect(await rows('one')).to.deep.equal(burns());
      expect(await rows('two')).to.deep.equal(burns());
      await runner.stop();
      const generations = await sql.query(
        `select name, generation from projections.registry where state = 'live' order by name`,
      );
      expect(generations).to.deep.equal([
        { name: 'one', generation: 2 },
        { name: 'two', generation: 2 },
      ]);
    });

    it('repairs damaged rows by a rebuild, and says what was wrong', async () => {
      const projectors = [counter('one')];
      const runner = runnerOn(sql, log, { projectors });
      runner.start();
      expect(await runner.waitFor(burn(6), WAIT)).to.equal(true);
      await runner.stop();
      await sql.query('delete from rm_one_v1_g1.one where id = $1', [burns()[2]!]);
      const deps = { sql, feed: log, projectors, decode: decodeAny, timers: systemTimers };
      const [one] = await rebuildReadModels(deps);
      expect(one?.differences).to.deep.equal([{ table: 'one', before: 5n, after: 6n }]);
      expect(await rows('one')).to.deep.equal(burns());
    });

    it('leaves everything as it was when a rebuild fails', async () => {
      const runner = runnerOn(sql, log, { projectors: [counter('one')] });
      runner.start();
      expect(await runner.waitFor(burn(6), WAIT)).to.equal(true);
      await runner.stop();
      const projectors = [counter('one', 1, { poison: (id) => id === burns()[3] })];
      const deps = { sql, feed: log, projectors, decode: decodeAny, timers: systemTimers };
      let failure: unknown;
      await rebuildReadModels(deps).catch((error: unknown) => (failure = error));
      expect(failure).to.be.instanceOf(Error);
      expect(await rows('one')).to.deep.equal(burns());
      const states = await sql.query(
        `select generation, state from projections.registry order by generation`,
      );
      expect(states).to.deep.equal([
        { generation: 1, state: 'live' },
        { generation: 2, state: 'retired' },
      ]);
    });
  });
};
