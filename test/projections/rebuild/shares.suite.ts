import { expect } from 'chai';
import fc from 'fast-check';
import { systemTimers } from '../../../adapters/local/local.ts';
import { decodeAny } from '../../../domain/catalogue.ts';
import type { RecordedEvent } from '../../../domain/kernel/recorded.ts';
import type { Sql } from '../../../projections/engine/ports.ts';
import {
  type BegunAnew,
  PartLost,
  rebuildReadModels,
  rebuildThroughOutages,
} from '../../../projections/engine/rebuild.ts';
import { generations } from '../../../projections/engine/registry.ts';
import { isSpread } from '../../../projections/engine/shares.ts';
import { fillPart, type FillPart, type PartProgress } from '../../../projections/engine/spreading.ts';
import { READ_MODELS } from '../../../projections/readModels.ts';
import { billingHistory } from '../../support/money/billingHistory.ts';
import { type MemoryLog, memoryLog } from '../../support/logs/memoryLog.ts';
import { dumpAll, wipe } from '../../support/projecting.ts';
import { seededPlan } from '../../sim/explore.ts';
import { runWorld } from '../../sim/run.ts';
import { randomWorld } from '../../sim/worlds.ts';

/** Read models with rows of more than one tenant, or of nobody: one worker fills each of them. */
const WHOLE = ['payments', 'price_lists', 'billing_configs', 'llm_costs', 'margin', 'webhooks'];

/** Events with the tenant in their metadata, as the service writes them: that of the first event of their stream. */
const recordedForTenants = (events: readonly RecordedEvent[]): readonly RecordedEvent[] => {
  const tenants = new Map<string, unknown>();
  return events.map((event) => {
    const { stream, data, metadata } = event;
    if (!tenants.has(stream)) tenants.set(stream, data['tenant_id'] ?? null);
    return { ...event, metadata: { ...metadata, tenant_id: tenants.get(stream) as string | null } };
  });
};

/** Rebuilds whose shares of tenants are applied beside each other, on the database that `open` gives. */
export const sharesSuite = (name: string, open: () => Promise<Sql>) => {
  describe(`rebuilds by shares on ${name}`, () => {
    let sql: Sql;
    before(async () => {
      sql = await open();
    });
    beforeEach(() => wipe(sql));
    after(async () => {
      await wipe(sql);
      await sql.close();
    });

    const depsOf = (log: MemoryLog, change: (fill: FillPart) => FillPart = (fill) => fill) => {
      const deps = { sql, feed: log, projectors: READ_MODELS, decode: decodeAny, timers: systemTimers };
      return { ...deps, fillPart: change(fillPart(deps)) };
    };
    const historyOf = (seed: number, steps: number): MemoryLog => {
      const log = memoryLog();
      billingHistory(log, seed, steps);
      return memoryLog(recordedForTenants(log.events()));
    };
    /** The rows that one makes of the log, from nothing. */
    const rowsByOne = async (log: MemoryLog) => {
      await wipe(sql);
      await rebuildReadModels(depsOf(log), { fresh: true });
      const rows = await dumpAll(sql);
      await wipe(sql);
      return rows;
    };
    const sharesLeft = async () =>
      (await sql.query('select count(*) as n from projections.shares'))[0]?.['n'];
    /** Where the generations beside those that serve stand. */
    const beside = async () => (await generations(sql)).filter(({ serves }) => !serves);

    /** Calls `act` at the first progress of a share beyond so many events. */
    const actingIn =
      (worker: number, after: number, act: () => void) =>
      (fill: FillPart): FillPart => {
        let isDone = false;
        return (part, watched) =>
          fill(part, {
            ...watched,
            onProgress: (progress: PartProgress) => {
              watched.onProgress(progress);
              if (isDone || part.worker !== worker || progress.eventsDone < after) return;
              isDone = true;
              act();
            },
          });
      };

    it('leave to one worker what is not each of one tenant', () => {
      const whole = READ_MODELS.filter((one) => !isSpread(one)).map((one) => one.name);
      expect(whole).to.have.members(WHOLE);
    });

    it('make the rows that one makes, of any history, by any number of shares', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.record({
            seed: fc.integer({ min: 1, max: 1_000_000 }),
            of: fc.integer({ min: 2, max: 6 }),
            batchMax: fc.constantFrom(1_000, 97, 41),
          }),
          async ({ seed, of, batchMax }) => {
            const log = historyOf(seed, 200);
            const rows = await rowsByOne(log);
            const rebuilt = await rebuildReadModels(depsOf(log), { shares: of, batchMax });
            expect(await dumpAll(sql)).to.deep.equal(rows);
            expect(new Set(rebuilt.map(({ position }) => position))).to.deep.equal(
              new Set([await log.head()]),
            );
            expect(await sharesLeft()).to.equal(0n);
          },
        ),
        { seed: Number(process.env['SEED'] ?? 20261201), numRuns: 3, endOnFailure: true },
      );
    });

    it('make the rows that one makes of batches, configs, reviews, webhooks and evaluations', async () => {
      for (const seed of [1, 3]) {
        const world = { ...randomWorld(seed), healMs: 3_600_000 };
        const asked = { isWanted: () => false, audits: false };
        const { events } = await runWorld({ world, plan: seededPlan(seed), seed, ...asked });
        const log = memoryLog(events);
        const rows = await rowsByOne(log);
        await rebuildReadModels(depsOf(log), { shares: 3, batchMax: 200 });
        expect(await dumpAll(sql), `seed ${String(seed)}`).to.deep.equal(rows);
      }
    });

    it('find what was wrong in the rows before, at the same position', async () => {
      const log = historyOf(5, 150);
      await rebuildReadModels(depsOf(log), { shares: 2 });
      const [served] = await generations(sql, 'balances');
      await sql.query(`update ${served?.schema ?? ''}.balances set balance_credits = balance_credits + 7
        where tenant_id = (select min(tenant_id) from ${served?.schema ?? ''}.balances)`);
      const rebuilt = await rebuildReadModels(depsOf(log), { shares: 2 });
      expect(rebuilt.every(({ compared }) => compared)).to.equal(true);
      expect(rebuilt.flatMap(({ differences }) => differences)).to.have.length(1);
    });

    it('go on where each share stood when a worker is lost amid them', async () => {
      const log = historyOf(7, 400);
      const rows = await rowsByOne(log);
      let lost = 0;
      /** Ends a worker from without, as a killed thread ends. */
      const losing =
        (fill: FillPart): FillPart =>
        async (part, watched) => {
          const killed = new AbortController();
          const signal = AbortSignal.any([watched.signal, killed.signal]);
          const kill = actingIn(1, 120, () => lost === 0 && killed.abort());
          try {
            await kill(fill)(part, { ...watched, signal });
          } catch (error) {
            if (!killed.signal.aborted) throw error;
            lost += 1;
            throw new PartLost('killed');
          }
        };
      const outages: Error[] = [];
      const options = { shares: 3, batchMax: 10, onOutage: (error: Error) => outages.push(error) };
      const rebuilt = await rebuildThroughOutages(depsOf(log, losing), options);
      expect([lost, outages.length]).to.deep.equal([1, 1]);
      const spread = READ_MODELS.filter(isSpread).map((one) => one.name);
      const begunAnew = rebuilt.filter((one) => spread.includes(one.name) && one.resumedFrom === null);
      // A share of those that have no event yet may not have moved before the others ended.
      expect(begunAnew.length, 'none went on').to.be.lessThan(spread.length);
      expect(await dumpAll(sql)).to.deep.equal(rows);
    });

    for (const next of [1, 4])
      it(`are begun anew by a rebuild of ${String(next)} shares, which cannot tell how far they are`, async () => {
        const log = historyOf(11, 200);
        const rows = await rowsByOne(log);
        const stop = new AbortController();
        const deps = depsOf(
          log,
          actingIn(0, 60, () => stop.abort()),
        );
        const failure = await rebuildReadModels(deps, {
          shares: 3,
          batchMax: 10,
          keep: true,
          signal: stop.signal,
        }).catch((error: unknown) => error);
        expect(failure).to.be.instanceOf(Error);
        expect((await beside()).length, 'nothing was kept').to.equal(READ_MODELS.length);
        const told: BegunAnew[] = [];
        const rebuilt = await rebuildReadModels(depsOf(log), {
          shares: next,
          batchMax: 50,
          onBegunAnew: (one) => told.push(one),
        });
        const now = next === 1 ? 'none are asked for' : 'these are 4 others';
        const reasons = told.map(({ reason }) => reason);
        expect(reasons).to.deep.equal([`what was begun is filled by 3 shares of the tenants, and ${now}`]);
        expect(told[0]?.names).to.have.members(READ_MODELS.filter(isSpread).map((one) => one.name));
        const spread = READ_MODELS.filter(isSpread).map((one) => one.name);
        const wentOn = rebuilt.filter((one) => spread.includes(one.name) && one.resumedFrom !== null);
        expect(wentOn).to.deep.equal([]);
        expect(await dumpAll(sql)).to.deep.equal(rows);
        expect(await beside()).to.deep.equal([]);
        expect(await sharesLeft()).to.equal(0n);
      });

    it('leave nothing where they are ended and not kept', async () => {
      const log = historyOf(13, 150);
      const stop = new AbortController();
      const deps = depsOf(
        log,
        actingIn(0, 60, () => stop.abort()),
      );
      const failure = await rebuildReadModels(deps, { shares: 2, batchMax: 10, signal: stop.signal }).catch(
        (error: unknown) => error,
      );
      expect(failure).to.be.instanceOf(Error);
      expect(await beside()).to.deep.equal([]);
      expect(await sharesLeft()).to.equal(0n);
    });

    it('begin anew where the log is put back to an older copy when one share was done', async () => {
      const log = historyOf(17, 300);
      const back = 200;
      const expected = await rowsByOne(memoryLog(log.events().slice(0, back)));
      let isBack = false;
      const goBackOnce =
        (fill: FillPart): FillPart =>
        async (part, watched) => {
          // The last share reads what the others have read once they are done, and finds the end gone.
          await fill(part, watched);
          if (isBack || part.worker !== 1) return;
          isBack = true;
          log.goBack(back);
        };
      const outages: string[] = [];
      const options = { shares: 3, batchMax: 25, onOutage: (error: Error) => outages.push(error.name) };
      const rebuilt = await rebuildThroughOutages(depsOf(log, goBackOnce), options);
      expect(outages.length).to.be.greaterThan(0);
      expect(rebuilt.at(0)?.position).to.equal(await log.head());
      expect(await dumpAll(sql)).to.deep.equal(expected);
    });

    it('refuse an event of no tenant in a read model of tenants, and leave everything as it was', async () => {
      const log = historyOf(19, 60);
      await rebuildReadModels(depsOf(log));
      const registered = log.events().find(({ type }) => type === 'DocumentRegistered');
      log.append('document-of-nobody', 'DocumentRegistered', {
        ...registered?.data,
        document_id: 'doc_of_nobody',
      });
      const failure = await rebuildReadModels(depsOf(log), { shares: 2 }).catch((error: unknown) => error);
      expect(String(failure)).to.match(/is of no tenant: rebuild this read model without shares/);
      expect(await beside()).to.deep.equal([]);
    });
  });
};
