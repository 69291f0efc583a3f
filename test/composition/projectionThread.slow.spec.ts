import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSqliteEventLog, type SqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { balanceOfTenant } from '../../projections/balances.ts';
import { PROJECTOR_LEASE } from '../../projections/engine/lease.ts';
import { prepareReadModels } from '../../projections/engine/registry.ts';
import type { ProjectionNotice } from '../../projections/engine/arrivals.ts';
import { SqlUnavailable } from '../../projections/engine/ports.ts';
import type { ProjectionRunner } from '../../projections/engine/runner.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { accountWriter, type AccountWriter } from '../../src/writer/accountWriter.ts';
import { openProjecting, runnerInThread, type ProjectingSql } from '../../src/parts/projecting.ts';
import type { AppliedFacts } from '../../src/telemetry/tracing.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { adjustment, charge } from '../support/money/accountCommands.ts';

const WAIT = { timeoutMs: 300_000 };

describe('projections in the thread of embedded read models', () => {
  let folder: TempFolder;
  let log: SqliteEventLog;
  let writer: AccountWriter;
  let opened: ProjectingSql;
  let runner: ProjectionRunner;
  let notices: ProjectionNotice[];
  let applied: AppliedFacts[];

  const open = async () => {
    opened = await openProjecting(
      { folder: join(folder.path, 'read-models'), logFile: join(folder.path, 'events.db') },
      { diverged: 'leave', isTraced: true },
    );
    await prepareReadModels(opened.sql, READ_MODELS);
    runner = runnerInThread(opened.projections, {
      onApplied: (facts) => applied.push(facts),
      notify: (notice) => notices.push(notice),
    });
  };

  beforeEach(async () => {
    folder = tempFolder();
    log = openSqliteEventLog({ path: join(folder.path, 'events.db') });
    writer = accountWriter({ store: log });
    [notices, applied] = [[], []];
    await open();
  });
  afterEach(async () => {
    await runner.stop();
    await opened.sql.close().catch(() => undefined);
    await writer.close();
    await log.close();
    folder.remove();
  });

  const positionAfter = async (command: Parameters<AccountWriter['execute']>[0]): Promise<bigint> => {
    const outcome = await writer.execute(command);
    if (outcome.kind !== 'done' || outcome.position === undefined) throw new Error(outcome.kind);
    return outcome.position;
  };
  const credits = async (tenant: string) => (await balanceOfTenant(opened.sql)(tenant))?.balance_credits;

  it('has each write in all read models once a wait for it ends', async () => {
    runner.start();
    await positionAfter(adjustment('acme', 100));
    for (let left = 99; left >= 80; left -= 1) {
      const position = await positionAfter(charge('acme', 1, `k${left}`));
      expect(await runner.waitFor(position, WAIT)).to.equal(true);
      expect(await credits('acme')).to.equal(left);
    }
    expect(runner.isProjecting()).to.equal(true);
    const statuses = await runner.status();
    const head = await log.head();
    expect(statuses.map(({ name }) => name)).to.have.members(READ_MODELS.map(({ name }) => name));
    for (const { position, state, lag_events } of statuses)
      expect({ position, state, lag_events }).to.deep.equal({ position: head, state: 'live', lag_events: 0 });
    const batches = notices.flatMap((notice) => (notice.kind === 'batch' ? [notice.events] : []));
    expect(applied.map(({ events }) => events)).to.deep.equal(batches);
  });

  it('says no when a position is not reached in time, and does not project before it is told to', async () => {
    const position = await positionAfter(adjustment('acme', 100));
    expect(await runner.waitFor(position, { timeoutMs: 1 })).to.equal(false);
    expect(runner.isProjecting()).to.equal(false);
  });

  it('keeps transactions of the other thread apart from its own', async () => {
    runner.start();
    await runner.waitFor(await positionAfter(adjustment('acme', 1_000)), WAIT);
    const count = `select count(*) as n from read.ledger`;
    await opened.sql.transaction(async (tx) => {
      const [before] = await tx.query(count);
      await Promise.all(Array.from({ length: 20 }, (_, n) => positionAfter(charge('acme', 1, `k${n}`))));
      expect(await runner.waitFor((await log.head()) ?? 0n, { timeoutMs: 50 })).to.equal(false);
      expect(await tx.query(count)).to.deep.equal([before]);
    });
    expect(await runner.waitFor((await log.head()) ?? 0n, WAIT)).to.equal(true);
    expect(await credits('acme')).to.equal(980);
  });

  it('shares its locks with the other thread', async () => {
    runner.start();
    await runner.waitFor(await positionAfter(adjustment('acme', 1)), WAIT);
    expect(await opened.sql.tryLock(PROJECTOR_LEASE)).to.equal(undefined);
    await runner.stop();
    expect(runner.isProjecting()).to.equal(false);
    const lock = await opened.sql.tryLock(PROJECTOR_LEASE);
    expect(lock).not.to.equal(undefined);
    await lock?.release();
  });

  it('tells of an event that it cannot apply, and goes on with the other read models', async () => {
    runner.start();
    const event = { id: randomUUID(), type: 'CreditsBurned', data: { nonsense: true }, metadata: {} };
    const result = await log.append('account-acme', 'no_stream', [event]);
    if (result.kind !== 'appended') throw new Error(result.kind);
    expect(await runner.waitFor(result.position, WAIT)).to.equal(false);
    const stopped = (await runner.status()).filter(({ state }) => state === 'stopped');
    expect(stopped.map(({ name }) => name)).to.include('balances');
    expect(stopped[0]?.reason).to.contain(event.id);
    expect(notices.map(({ kind }) => kind)).to.include('stopped');
    const other = { ...WAIT, projectors: ['api_keys'] };
    expect(await runner.waitFor(result.position, other)).to.equal(true);
  });

  it('goes on where it was when it is closed in the middle and opened again', async () => {
    runner.start();
    await positionAfter(adjustment('acme', 1_000));
    const burns = Array.from({ length: 200 }, (_, n) => positionAfter(charge('acme', 1, `k${n}`)));
    await burns[20];
    await opened.sql.close();
    await Promise.all(burns);
    await open();
    runner.start();
    expect(await runner.waitFor((await log.head()) ?? 0n, WAIT)).to.equal(true);
    expect(await credits('acme')).to.equal(800);
  });

  it('refuses those who wait when the thread ends', async () => {
    const waiting = runner.waitFor(1_000_000n, WAIT).catch((error: unknown) => error);
    await opened.sql.close();
    expect(await waiting).to.satisfy((one: unknown) => one === false || one instanceof SqlUnavailable);
    expect(await runner.status().catch((error: unknown) => error)).to.be.instanceOf(SqlUnavailable);
    await runner.stop();
  });
});
