import { expect } from 'chai';
import { decodeAny } from '../../../domain/catalogue.ts';
import { systemTimers } from '../../../adapters/local/local.ts';
import type { ProjectionNotice } from '../../../projections/engine/arrivals.ts';
import type { Sql } from '../../../projections/engine/ports.ts';
import { generations, prepareReadModels } from '../../../projections/engine/registry.ts';
import type { Projector } from '../../../projections/engine/table.ts';
import { rebuildReadModels } from '../../../projections/engine/rebuild.ts';
import type { MemoryLog } from '../../support/logs/memoryLog.ts';
import { wipe } from '../../support/projecting.ts';
import { burningOn, counter } from '../burning.ts';
import { until } from '../../../engine/test/support/until.ts';

const WAIT = { timeoutMs: 300_000 };

/** A gate that is shut until it is opened. */
const shut = () => {
  let open: () => void = () => undefined;
  let reached: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const isReached = new Promise<void>((resolve) => (reached = resolve));
  const pass = () => {
    reached();
    return opened;
  };
  return { pass, open: () => open(), reached: isReached };
};

/**
 * Two releases beside each other, on databases that `open` gives: two, as two processes have them, where
 * the database can.
 */
export const rollingSuite = (name: string, open: () => Promise<readonly [Sql, Sql]>) => {
  describe(`releases side by side on ${name}`, () => {
    let one: Sql;
    let two: Sql;
    let log: MemoryLog;
    let burn: (times: number) => bigint;

    before(async () => {
      [one, two] = await open();
    });
    const { runnerOn } = burningOn(
      () => one,
      (burning) => ({ log, burn } = burning),
    );
    after(async () => {
      await wipe(one);
      await Promise.all([...new Set([one, two])].map((sql) => sql.close()));
    });

    const release = (sql: Sql, projectors: readonly Projector[]) => {
      const notices: ProjectionNotice[] = [];
      const runner = runnerOn(sql, log, { projectors, notify: (notice) => notices.push(notice) });
      const told = (kind: ProjectionNotice['kind']): Promise<ProjectionNotice> =>
        until(() => notices.find((notice) => notice.kind === kind));
      return { runner, told, notices };
    };
    const makers = async (table: string) =>
      (await one.query(`select distinct made_by from read.${table} order by made_by`)).map(
        ({ made_by }) => made_by,
      );
    const count = async (table: string) =>
      Number((await one.query(`select count(*) as n from read.${table}`))[0]?.['n']);
    const burned = () => log.events().filter(({ type }) => type === 'CreditsBurned').length;

    it('the old rows are kept up until the new ones take their place, and no read is stale', async () => {
      const old = release(one, [counter('ledger', 1), counter('grants', 1)]);
      old.runner.start();
      expect(await old.runner.waitFor(burn(30), WAIT)).to.equal(true);

      const gate = shut();
      const next = release(two, [counter('ledger', 2, { gate: gate.pass }), counter('grants', 1)]);
      next.runner.start();
      await gate.reached;
      for (let n = 0; n < 10; n += 1) {
        const position = burn(2);
        expect(await old.runner.waitFor(position, WAIT), 'the old one projects').to.equal(true);
        expect(await next.runner.waitFor(position, WAIT), 'the new one reads it').to.equal(true);
        expect(await count('ledger')).to.equal(burned());
      }
      expect(await makers('ledger')).to.deep.equal([1]);

      gate.open();
      await next.told('promoted');
      expect(await makers('ledger')).to.deep.equal([2]);
      expect(await count('ledger')).to.equal(burned());
      const position = burn(3);
      expect(await next.runner.waitFor(position, WAIT), 'the new one took over').to.equal(true);
      expect(await old.runner.waitFor(position, WAIT), 'the old one reads it').to.equal(true);
      expect(await old.told('aside')).to.deep.include({
        reason: 'a newer release serves ledger 2 (here 1)',
      });
      expect([await count('ledger'), await count('grants')]).to.deep.equal([burned(), burned()]);
      const [ledger] = await old.runner.status();
      expect(ledger).to.include({ name: 'ledger', version: 2, state: 'live' });
      expect(ledger?.reason).to.contain('stands aside');
      expect(old.runner.aside()).to.equal('a newer release serves ledger 2 (here 1)');
      expect(next.runner.aside()).to.equal(null);
    });

    it('an older one that starts later neither builds nor projects', async () => {
      const next = release(one, [counter('ledger', 2)]);
      next.runner.start();
      expect(await next.runner.waitFor(burn(5), WAIT)).to.equal(true);
      await next.runner.stop();
      await prepareReadModels(two, [counter('ledger', 1)]);
      const old = release(two, [counter('ledger', 1)]);
      old.runner.start();
      await old.told('aside');
      expect(await old.runner.waitFor(burn(5), { timeoutMs: 200 }), 'nobody projects').to.equal(false);
      expect((await generations(one)).map(({ version }) => version)).to.deep.equal([2]);
      const back = release(one, [counter('ledger', 2)]);
      back.runner.start();
      expect(await back.runner.waitFor(burn(1), WAIT)).to.equal(true);
      expect(await makers('ledger')).to.deep.equal([2]);
      expect(await count('ledger')).to.equal(burned());
    });

    it('a restart of the old one does not abandon what the new one builds', async () => {
      const old = release(one, [counter('ledger', 1)]);
      old.runner.start();
      expect(await old.runner.waitFor(burn(5), WAIT)).to.equal(true);
      const gate = shut();
      const next = release(two, [counter('ledger', 2, { gate: gate.pass })]);
      next.runner.start();
      await gate.reached;
      await old.runner.stop();
      await prepareReadModels(one, [counter('ledger', 1)]);
      const again = release(one, [counter('ledger', 1)]);
      again.runner.start();
      const states = async () => (await generations(one)).map(({ version, state }) => [version, state]);
      expect(await states()).to.deep.equal([
        [1, 'live'],
        [2, 'building'],
      ]);
      gate.open();
      await next.told('promoted');
      expect(await next.runner.waitFor(burn(4), WAIT)).to.equal(true);
      expect(await states()).to.deep.equal([[2, 'live']]);
      expect(await count('ledger')).to.equal(burned());
    });

    it('of three, the middle one leaves the building to the newest', async () => {
      const old = release(one, [counter('ledger', 1)]);
      old.runner.start();
      expect(await old.runner.waitFor(burn(5), WAIT)).to.equal(true);
      const gate = shut();
      const newest = release(two, [counter('ledger', 3, { gate: gate.pass })]);
      newest.runner.start();
      await gate.reached;
      const middle = release(one, [counter('ledger', 2)]);
      middle.runner.start();
      expect(await middle.runner.waitFor(burn(5), WAIT)).to.equal(true);
      expect((await generations(one)).map(({ version }) => version)).to.deep.equal([1, 3]);
      gate.open();
      await newest.told('promoted');
      await middle.told('aside');
      expect(await newest.runner.waitFor(burn(5), WAIT)).to.equal(true);
      expect(await makers('ledger')).to.deep.equal([3]);
      expect(middle.notices.some(({ kind }) => kind === 'promoted')).to.equal(false);
    });

    it('a read model that the old one does not know is filled beside, then the old one stands aside', async () => {
      const old = release(one, [counter('ledger', 1)]);
      old.runner.start();
      expect(await old.runner.waitFor(burn(5), WAIT)).to.equal(true);
      const next = release(two, [counter('ledger', 1), counter('fresh', 1)]);
      next.runner.start();
      expect(await old.told('aside')).to.deep.include({
        reason: 'a newer release serves fresh 1 (here unknown)',
      });
      expect(await next.runner.waitFor(burn(5), WAIT)).to.equal(true);
      expect([await count('ledger'), await count('fresh')]).to.deep.equal([burned(), burned()]);
    });

    it('one that cannot be built stops, and keeps no other from being built', async () => {
      const old = release(one, [counter('ledger', 1), counter('grants', 1)]);
      old.runner.start();
      expect(await old.runner.waitFor(burn(5), WAIT)).to.equal(true);
      const sick = counter('ledger', 2, { gate: () => Promise.reject(new Error('a defect')) });
      const next = release(two, [sick, counter('grants', 2)]);
      next.runner.start();
      expect(await next.told('stopped')).to.deep.include({ name: 'ledger', reason: 'a defect' });
      await next.told('promoted');
      expect([await makers('ledger'), await makers('grants')]).to.deep.equal([[1], [2]]);
    });

    it('an operator of the older release may go back, by naming what goes back', async () => {
      const next = release(one, [counter('ledger', 2)]);
      next.runner.start();
      expect(await next.runner.waitFor(burn(5), WAIT)).to.equal(true);
      await next.runner.stop();
      const projectors = [counter('ledger', 1)];
      const old = release(two, projectors);
      old.runner.start();
      await old.told('aside');
      const deps = { sql: two, feed: log, projectors, decode: decodeAny, timers: systemTimers };
      let failure: unknown;
      await rebuildReadModels(deps).catch((error: unknown) => (failure = error));
      expect(String(failure)).to.equal(
        'NewerServes: a newer release serves ledger (2, here 1): name these read models to go ' +
          'back to the older version',
      );
      await rebuildReadModels(deps, { names: ['ledger'] });
      expect(await old.runner.waitFor(burn(5), WAIT)).to.equal(true);
      expect(await makers('ledger')).to.deep.equal([1]);
      expect(await count('ledger')).to.equal(burned());
    });
  });
};
