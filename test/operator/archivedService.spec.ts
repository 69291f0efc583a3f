import { expect } from 'chai';
import { systemTimers } from '../../adapters/local/local.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import { asCredits } from '../../domain/kernel/amounts.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { rebuildReadModels } from '../../projections/engine/rebuild.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { accountWriter } from '../../src/writer/accountWriter.ts';
import { SYSTEM } from '../../src/writer/commandMeta.ts';
import { emptySql } from '../support/emptySql.ts';
import { dumpAll, runnerOn, wipe } from '../support/projecting.ts';
import {
  archiveIt,
  auditOf,
  type ClosedLog,
  closedLog,
  copyOfLog,
  eventsOf,
  openArchived,
  refusal,
  textOf,
} from './archivedLog.ts';

const TENANTS = ['acme', 'blue', 'cyan'];
const GIVEN = 5;
const WAIT_MS = 60_000;

/** A service that starts on the log in a folder, gives credits to accounts that are older, and ends. */
const serviceOn = async (dataDir: string, key: string, now: string): Promise<void> => {
  const store = openArchived(dataDir, {});
  // A busy machine may take its time.
  const accounts = accountWriter({ store, appendTimeoutMs: WAIT_MS, limits: { callerDeadlineMs: WAIT_MS } });
  try {
    for (const tenant_id of TENANTS) {
      const data = {
        tenant_id,
        adjustment_id: `adj_${key}`,
        idempotency_key: key,
        fingerprint: key,
        credits: asCredits(GIVEN),
        reason: '',
        allow_negative: false,
      };
      const meta = { now, actor: SYSTEM, correlation_id: key, command_id: `${key} ${tenant_id}` };
      const outcome = await accounts.execute({ type: 'AdjustCredits', data, meta });
      expect(outcome.kind).to.equal('done');
    }
  } finally {
    await accounts.close();
    await store.close();
  }
};

/** Balances of all tenants, from accounts that are read anew. */
const balancesIn = async (dataDir: string): Promise<readonly number[]> => {
  const store = openArchived(dataDir);
  const accounts = accountWriter({ store });
  try {
    const states = await Promise.all(TENANTS.map((tenant) => accounts.stateOf(tenant, 0)));
    return states.map(({ balance }) => balance);
  } finally {
    await accounts.close();
    await store.close();
  }
};

describe('a service on an archived log', () => {
  let closed: ClosedLog = undefined!;
  let events: readonly RecordedEvent[];
  let end: bigint;

  before(async () => {
    closed = await closedLog();
    events = await eventsOf(closed.folder.path);
    end = events.at(-1)!.position;
  });

  after(() => closed.folder.remove());

  it('makes the rows of every read model that the whole log makes, at first and in a rebuild', async () => {
    const folder = copyOfLog(closed);
    const wish = { until: closed.days[1], now: closed.now };
    const onStep = (step: string): void => {
      if (step === 'sealed the log') throw new Error('not yet');
    };
    // All events are the same then: none has left the log's file.
    expect(await refusal(archiveIt(folder.path, { ...wish, onStep }))).to.equal('not yet');
    const whole = copyOfLog({ folder });
    await archiveIt(folder.path, wish);
    const sql = await emptySql();
    const rowsOf = async (dataDir: string, rebuilds: boolean) => {
      const log = openArchived(dataDir);
      const runner = runnerOn(sql, log);
      try {
        runner.start();
        expect(await runner.waitFor(end, { timeoutMs: 60_000 })).to.equal(true);
        await runner.stop();
        const deps = { sql, feed: log, projectors: READ_MODELS, decode: decodeAny, timers: systemTimers };
        if (rebuilds) await rebuildReadModels(deps, {});
        const dumps = await dumpAll(sql);
        return Object.fromEntries(READ_MODELS.map(({ name }, at) => [name, dumps[at]]));
      } finally {
        await runner.stop();
        await log.close();
      }
    };
    try {
      const made = await rowsOf(whole.path, false);
      expect(made['ledger']?.[0]?.rows).to.be.greaterThan(30);
      await wipe(sql);
      expect(await rowsOf(folder.path, false)).to.deep.equal(made);
      expect(await rowsOf(folder.path, true)).to.deep.equal(made);
    } finally {
      await wipe(sql);
      await sql.close();
      whole.remove();
      folder.remove();
    }
  });

  for (let at = 0; at < 9; at += 1)
    it(`is the same when a run ends after step ${String(at + 1)} and a service works until the next one`, async () => {
      const folder = copyOfLog(closed);
      const wish = { until: closed.days[1], now: closed.now };
      const began = await balancesIn(folder.path);
      let left = at;
      const onStep = (): void => {
        left -= 1;
        if (left < 0) throw new Error('killed');
      };
      expect(await refusal(archiveIt(folder.path, { ...wish, onStep }))).to.equal('killed');
      await serviceOn(folder.path, 'before', closed.now);
      const grown = (await eventsOf(folder.path, end)).map(textOf);
      expect(grown.slice(0, events.length)).to.deep.equal(events.map(textOf));
      expect(grown).to.have.length(events.length + TENANTS.length);
      await archiveIt(folder.path, wish);
      expect((await eventsOf(folder.path, end)).map(textOf)).to.deep.equal(grown);
      await serviceOn(folder.path, 'after', closed.now);
      const ended = (await eventsOf(folder.path, end)).map(textOf);
      expect(ended.slice(0, grown.length)).to.deep.equal(grown);
      expect(ended).to.have.length(grown.length + TENANTS.length);
      expect(await balancesIn(folder.path)).to.deep.equal(began.map((balance) => balance + 2 * GIVEN));
      expect((await auditOf(folder.path)).findings).to.deep.equal([]);
      folder.remove();
    });
});
