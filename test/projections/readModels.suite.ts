import { expect } from 'chai';
import { decodeAny } from '../../domain/catalogue.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { systemTimers } from '../../adapters/local/local.ts';
import { balanceOfTenant, openHoldsOfTenant } from '../../projections/balances.ts';
import { rebuildReadModels } from '../../projections/engine/rebuild.ts';
import { grantsOfTenant } from '../../projections/grants.ts';
import { ledgerOfTenant, usageOfTenant } from '../../projections/ledgerPages.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { balanceIn, billingHistory, type TenantModel } from '../support/money/billingHistory.ts';
import { type MemoryLog, memoryLog } from '../support/logs/memoryLog.ts';
import { dumpAll, runnerOn, wipe } from '../support/projecting.ts';

const WAIT = { timeoutMs: 300_000 };

const project = async (sql: Sql, log: MemoryLog, batchMax: number): Promise<void> => {
  const runner = runnerOn(sql, log, { tuning: { batchMax } });
  runner.start();
  const head = await log.head();
  expect(await runner.waitFor(head ?? 0n, WAIT), 'caught up').to.equal(true);
  await runner.stop();
};

/** Live rows are the same rows however the events came. `open` gives the database under test. */
export const readModelsSuite = (name: string, open: () => Promise<Sql>) => {
  describe(`read models on ${name}`, () => {
    const seed = Number(process.env['SEED'] ?? 20260131);
    let sql: Sql;
    let log: MemoryLog;
    let models: readonly TenantModel[];

    before(async () => {
      sql = await open();
      log = memoryLog();
      models = billingHistory(log, seed, 900);
      await wipe(sql);
      await project(sql, log, 1000);
    });
    after(async () => {
      await wipe(sql);
      await sql.close();
    });
    afterEach(function () {
      if (this.currentTest?.state === 'failed') console.error(`SEED=${String(seed)}`);
    });

    it('agree with plain addition', async () => {
      for (const model of models) {
        const { tenant_id } = model;
        const row = await balanceOfTenant(sql)(tenant_id);
        expect(row).to.include({
          tenant_id,
          plan: model.plan,
          balance_credits: balanceIn(model),
          held_credits: model.held,
          available_credits: balanceIn(model) - model.held,
          total_credits_purchased: model.purchased,
          total_credits_used: model.used,
          total_credits_adjusted: model.adjusted,
          free_pages_used: model.freeUsed,
          free_pages_held: model.freeHeld,
          grants_count: model.grants,
        });
        const holds = await openHoldsOfTenant(sql)(tenant_id);
        expect(holds.map(({ hold_id }) => hold_id)).to.have.members([...model.holds.keys()]);

        const ledger = await ledgerOfTenant(sql)({ tenant_id, limit: 10_000, offset: 0 });
        expect(ledger.total).to.equal(model.postings);
        expect(ledger.items).to.have.length(model.postings);
        expect(ledger.items[0]?.balance_after).to.equal(balanceIn(model));
        const sum = ledger.items.reduce((total, { credits_delta }) => total + credits_delta, 0);
        expect(sum).to.equal(balanceIn(model));

        const grants = await grantsOfTenant(sql)({ tenant_id, limit: 1000, offset: 0 });
        expect(grants.total).to.equal(model.grants);
        const refunded = grants.items.reduce((total, { refunded_credits }) => total + refunded_credits, 0);
        expect(refunded).to.equal(model.refundedCredits);
        expect(grants.items.every(({ price_list_version }) => price_list_version === 1)).to.equal(true);
      }
    });

    it('keep every running balance in step with the rows before it', async () => {
      for (const { tenant_id } of models) {
        const { items } = await ledgerOfTenant(sql)({ tenant_id, limit: 10_000, offset: 0 });
        [...items].reverse().reduce((balance, row) => {
          expect(row.balance_after, row.id).to.equal(balance + row.credits_delta);
          return row.balance_after;
        }, 0);
        expect(new Set(items.map(({ id }) => id)).size, 'IDs are unique').to.equal(items.length);
      }
    });

    it('count a page of any range as a scan would', async () => {
      const tenant_id = 't0';
      const all = await ledgerOfTenant(sql)({ tenant_id, limit: 10_000, offset: 0 });
      const times = all.items.map(({ created_at }) => created_at).sort();
      const at = (part: number) => times[Math.floor(part * (times.length - 1))]!;
      const ranges: readonly { from?: string; to?: string; operation?: string }[] = [
        {},
        { from: at(0.3) },
        { to: at(0.6) },
        { from: at(0.2), to: at(0.8) },
        { from: at(0.5), to: at(0.5) },
        { from: '2026-01-31T00:00:00.000Z', to: '2026-01-31T23:59:59.999Z' },
        { from: '2026-01-31T00:00:00.000Z', to: at(0.9), operation: 'extract' },
        { from: '2030-01-01T00:00:00.000Z' },
      ];
      for (const range of ranges) {
        const expected = all.items.filter(
          ({ created_at, operation }) =>
            (range.from === undefined || created_at >= range.from) &&
            (range.to === undefined || created_at <= range.to) &&
            (range.operation === undefined || operation === range.operation),
        );
        const page = await ledgerOfTenant(sql)({ tenant_id, limit: 5, offset: 2, ...range });
        expect(page.total, JSON.stringify(range)).to.equal(expected.length);
        expect(page.items).to.deep.equal(expected.slice(2, 7));
      }
      const usage = await usageOfTenant(sql)({ tenant_id, limit: 10, offset: 0, include_adjustments: false });
      expect(usage.total).to.equal(all.items.filter(({ kind }) => kind === 'usage').length);
      const both = await usageOfTenant(sql)({ tenant_id, limit: 10, offset: 0, include_adjustments: true });
      const adjustments = all.items.filter(({ kind }) => kind === 'admin_adjustment').length;
      expect(both.total).to.equal(usage.total + adjustments);
    });

    for (const batchMax of [1, 7, 100]) {
      it(`are the same rows when they are made in batches of ${String(batchMax)}`, async () => {
        const before = await dumpAll(sql);
        await wipe(sql);
        await project(sql, log, batchMax);
        expect(await dumpAll(sql)).to.deep.equal(before);
      });
    }

    it('are the same rows when every event is delivered again', async () => {
      const before = await dumpAll(sql);
      log.redeliver = log.events().length;
      log.append('somethingNew-2', 'NeverHeardOf', {});
      await project(sql, log, 50);
      log.redeliver = 0;
      expect(await dumpAll(sql)).to.deep.equal(before);
    });

    it('are the same rows when a rebuild has made them from nothing', async () => {
      const before = await dumpAll(sql);
      const progress: number[] = [];
      const rebuilt = await rebuildReadModels(
        { sql, feed: log, projectors: READ_MODELS, decode: decodeAny, timers: systemTimers },
        { batchMax: 333, onProgress: ({ eventsDone }) => progress.push(eventsDone) },
      );
      expect(rebuilt.map(({ name: model }) => model)).to.deep.equal(READ_MODELS.map((model) => model.name));
      expect(rebuilt.every(({ compared, differences }) => compared && differences.length === 0)).to.equal(
        true,
      );
      expect(progress.at(-1)).to.be.at.least(log.events().length);
      expect(await dumpAll(sql)).to.deep.equal(before);
    });
  });
};
