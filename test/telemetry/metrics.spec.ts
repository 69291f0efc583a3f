import { NO_TRACER } from '../../domain/ports/log.ts';
import { expect } from 'chai';
import { pino } from 'pino';
import { Counter, Registry } from 'prom-client';
import { seenEvents } from '../../domain/kernel/witness.ts';
import type { ModelLag } from '../../projections/engine/lag.ts';
import type { ProjectorStatus } from '../../projections/engine/subscribe.ts';
import { accountWriter } from '../../src/writer/accountWriter.ts';
import {
  countedAccounts,
  driftCheck,
  observedLog,
  projectionCounters,
  projectionGauges,
} from '../../src/telemetry/businessMetrics.ts';
import { readiness } from '../../src/api/health.ts';
import { configFrom } from '../../src/config.ts';
import { openParts } from '../../src/parts/parts.ts';
import { prepareTables } from '../../src/parts/tables.ts';
import { contextOver } from '../../src/service/composition.ts';
import { newRegistry } from '../../src/service/telemetry.ts';
import { pulled } from '../../src/telemetry/processMetrics.ts';
import { adjustment, charge } from '../support/money/accountCommands.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { memoryEventStore, type MemoryEventStore } from '../support/logs/memoryEventStore.ts';

const logOver = (store: MemoryEventStore, register: Registry) =>
  observedLog(
    {
      append: (stream, expected, events) => store.append(stream, expected, events),
      read: (stream, options) => store.read(stream, options),
      close: () => store.close(),
      head: () => Promise.resolve(undefined),
      end: () => Promise.resolve(undefined),
      backwards: async function* () {
        await Promise.resolve();
      },
      subscribe: async function* () {
        await Promise.resolve();
      },
    },
    { register, tracer: NO_TRACER, seen: seenEvents(() => 0) },
  );

const valueOf = async (register: Registry, series: string): Promise<number | undefined> => {
  const line = (await register.metrics()).split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
};

describe('metrics of the log', () => {
  it('count appends by what became of them; a batch that had to be sent again is a repeat', async () => {
    const [store, register] = [memoryEventStore(), new Registry()];
    const log = logOver(store, register);
    const writer = accountWriter({ store: log, random: () => 0 });
    await writer.execute(adjustment('t1', 100));
    store.script.push('commit_then_unknown');
    await writer.execute(adjustment('t1', 100));
    await writer.close();
    const count = (outcome: string) =>
      valueOf(register, `quire_appends_total{category="account",outcome="${outcome}"}`);
    expect(await count('ok')).to.equal(1);
    expect(await count('unknown')).to.equal(1);
    expect(await count('repeat')).to.equal(1);
    await log.append('account-t1', 'no_stream', [
      { id: '00000000-0000-4000-8000-000000000001', type: 'A', data: {}, metadata: {} },
    ]);
    expect(await count('conflict')).to.equal(1);
  });

  it('hand on the tracer of the log', () => {
    expect(logOver(memoryEventStore(), new Registry()).tracer).to.equal(NO_TRACER);
  });
});

describe('metrics of the process', () => {
  it('are observed once, however many services it runs, and are on the page of each', async () => {
    const [one, other] = [newRegistry(), newRegistry()];
    for (const name of ['nodejs_gc_duration_seconds', 'nodejs_eventloop_lag_seconds']) {
      expect(await one.metrics()).to.include(name);
      expect(one.getSingleMetric(name)).to.equal(other.getSingleMetric(name));
    }
    const own = new Counter({ name: 'quire_own', help: 'Of one service.', registers: [one] });
    own.inc();
    expect(await other.metrics()).not.to.include('quire_own');
  });
});

describe('metrics of accounts', () => {
  it('count commands, refusals, burns and their credits, and no tenant', async () => {
    const register = new Registry();
    const writer = countedAccounts(accountWriter({ store: memoryEventStore() }), register);
    const given = adjustment('secret-tenant', 100, 'k');
    await writer.execute(given);
    await writer.execute(given);
    const spend = charge('secret-tenant', 40, 'c1');
    await writer.execute(spend);
    const refused = await writer.execute(charge('secret-tenant', 1_000, 'c2'));
    expect(refused).to.include({ kind: 'rejected' });
    await writer.close();
    const { operation } = spend.data;
    expect(await valueOf(register, 'quire_commands_total{command="AdjustCredits",outcome="done"}')).to.equal(
      1,
    );
    expect(
      await valueOf(register, 'quire_commands_total{command="AdjustCredits",outcome="repeat"}'),
    ).to.equal(1);
    expect(await valueOf(register, `quire_burns_total{operation="${operation}"}`)).to.equal(1);
    expect(await valueOf(register, `quire_burned_credits_total{operation="${operation}"}`)).to.equal(40);
    expect(await valueOf(register, 'quire_refusals_total{code="insufficient_credits"}')).to.equal(1);
    expect(await register.metrics()).to.not.contain('secret-tenant');
  });
});

const status = (over: Partial<ProjectorStatus>): ProjectorStatus => ({
  name: 'balances',
  version: 1,
  position: 5n,
  state: 'live',
  reason: null,
  ...over,
});

describe('metrics of projections', () => {
  const late = (name: string, lag_seconds: number, still_seconds: number): ModelLag => ({
    name,
    waiting_since: lag_seconds === 0 ? null : '2026-03-01T12:00:00.000Z',
    lag_seconds,
    still_seconds,
    is_paused: name === 'ledger',
    parked: [],
  });
  const lags = () =>
    Promise.resolve([late('balances', 0, 0), late('ledger', 30, 2), late('usage', 3600, 180)]);

  it('show lag in events and in seconds, who projects, what has stopped and what stands still', async () => {
    const register = new Registry();
    const statuses = [
      status({ lag_events: 0 }),
      status({ name: 'ledger', lag_events: 3 }),
      status({ name: 'usage', state: 'stopped', lag_events: 9 }),
      status({ name: 'margin', state: 'building' }),
    ];
    const runner = { status: () => Promise.resolve(statuses), isProjecting: () => true };
    projectionGauges(register, { runner, lags });
    const at = (name: string, projector: string) =>
      valueOf(register, `quire_${name}{projector="${projector}"}`);
    expect(await valueOf(register, 'quire_projecting')).to.equal(1);
    expect(await at('projection_lag_seconds', 'balances')).to.equal(0);
    expect(await at('projection_lag_seconds', 'ledger')).to.equal(30);
    expect(await at('projection_lag_events', 'ledger')).to.equal(3);
    expect(await at('projection_lag_seconds', 'usage')).to.equal(3600);
    expect(await at('projection_still_seconds', 'balances')).to.equal(0);
    expect(await at('projection_still_seconds', 'ledger')).to.equal(2);
    expect(await at('projection_still_seconds', 'usage')).to.equal(180);
    expect(await at('projector_paused', 'ledger')).to.equal(1);
    expect(await at('projector_paused', 'usage')).to.equal(0);
    expect(await at('parked_tenants', 'usage')).to.equal(0);
    expect(await at('projection_lag_seconds', 'margin'), 'not known').to.equal(undefined);
    expect(await at('projector_stopped', 'usage')).to.equal(1);
    expect(await at('projector_stopped', 'ledger')).to.equal(0);
    expect(await at('projector_building', 'margin')).to.equal(1);
  });

  it('tell how late read models are where another process projects, and nothing while Postgres is away', async () => {
    const passive = new Registry();
    const runner = { status: () => Promise.resolve([status({})]), isProjecting: () => false };
    projectionGauges(passive, { runner, lags });
    expect(await valueOf(passive, 'quire_projecting')).to.equal(0);
    expect(await valueOf(passive, 'quire_projector_stopped{projector="balances"}')).to.equal(0);
    expect(await valueOf(passive, 'quire_projection_lag_seconds{projector="ledger"}')).to.equal(30);

    const away = new Registry();
    const gone = () => Promise.reject(new Error('away'));
    const lagsGone = pulled(gone);
    projectionGauges(away, { runner: { status: gone, isProjecting: () => false }, lags: lagsGone });
    expect(await away.metrics())
      .to.contain('quire_projecting 0')
      .and.not.contain('quire_projector_stopped{')
      .and.not.contain('quire_projection_lag_seconds{');
  });

  it('count restarts of the subscription and failures', async () => {
    const register = new Registry();
    const { onNotice } = projectionCounters(register);
    onNotice({ kind: 'dropped', reason: 'gone' });
    onNotice({ kind: 'failed', reason: 'away' });
    onNotice({ kind: 'failed', reason: 'away' });
    expect(await valueOf(register, 'quire_subscription_restarts_total')).to.equal(1);
    expect(await valueOf(register, 'quire_projection_failures_total')).to.equal(2);
  });
});

describe('the check of balances', () => {
  const row = (tenant_id: string, drift_credits: number) => ({
    tenant_id,
    grants_credits: 0,
    adjustments_credits: 0,
    burns_credits: 0,
    expected_balance_credits: 0,
    balance_credits: -drift_credits,
    drift_credits,
  });

  it('shows how many tenants drift, names them to the log alone, and is not done twice at once', async () => {
    const register = new Registry();
    let reads = 0;
    const drifts: string[] = [];
    const check = driftCheck({
      register,
      reconcile: () => {
        reads += 1;
        return Promise.resolve({ position: 1n, tenants_checked: 7, rows: [row('t1', 5), row('t2', -1)] });
      },
      isProjecting: () => true,
      nowMs: () => 1_000_000,
      onDrift: (tenant) => drifts.push(tenant),
      onError: () => undefined,
    });
    expect(await valueOf(register, 'quire_reconciliation_drift_tenants'), 'not known yet').to.equal(
      undefined,
    );
    await Promise.all([check.check(), check.check()]);
    expect(reads).to.equal(1);
    expect(drifts).to.deep.equal(['t1', 't2']);
    expect(await valueOf(register, 'quire_reconciliation_drift_tenants')).to.equal(2);
    expect(await valueOf(register, 'quire_reconciliation_checked_tenants')).to.equal(7);
    expect(await valueOf(register, 'quire_reconciliation_checked_at_seconds')).to.equal(1000);
    expect(await register.metrics()).to.not.contain('t1');
  });

  it('keeps the newest figures when read models cannot be compared or read, and shows none elsewhere', async () => {
    const register = new Registry();
    let projects = true;
    const answers = [
      () => Promise.resolve({ position: 1n, tenants_checked: 1, rows: [] }),
      () => Promise.resolve({ behind: 'ledger', state: 'live' }),
      () => Promise.reject(new Error('away')),
    ];
    const errors: unknown[] = [];
    const check = driftCheck({
      register,
      reconcile: () => answers.shift()!(),
      isProjecting: () => projects,
      nowMs: () => 0,
      onDrift: () => undefined,
      onError: (error) => errors.push(error),
    });
    await check.check();
    await check.check();
    await check.check();
    expect(errors).to.have.length(1);
    expect(await valueOf(register, 'quire_reconciliation_drift_tenants')).to.equal(0);
    projects = false;
    expect(await valueOf(register, 'quire_reconciliation_drift_tenants')).to.equal(undefined);
  });
});

describe('whether a process is ready', () => {
  const healthy = { event_log: { status: 'ok' }, read_models: { status: 'ok' } };
  const waitedFor: bigint[] = [];
  const waitFor = (position: bigint) => {
    waitedFor.push(position);
    return Promise.resolve(false);
  };
  const over = (statuses: () => readonly ProjectorStatus[], { mayProject = true, parts = healthy } = {}) =>
    readiness({
      health: () => Promise.resolve({ status: 'ok', version: '1', uptime_seconds: 0, parts }),
      feed: { head: () => Promise.resolve(9n) },
      runner: { status: () => Promise.resolve(statuses()), waitFor },
      missing: () => Promise.resolve([]),
      mayProject,
    });

  it('is told by the read models once, where they are projected', async () => {
    let position = 5n;
    const ready = over(() => [status({ position })]);
    expect(await ready.report()).to.deep.equal({ status: 'not_ready', waiting_for: ['projections'] });
    expect(waitedFor, 'a projector that rests goes on').to.deep.equal([9n]);
    position = 9n;
    expect(await ready.report()).to.include({ status: 'ready' });
    position = 0n;
    expect(await ready.report(), 'a lag later on is for an alert').to.include({ status: 'ready' });
  });

  it('does not wait for what has stopped or is being built anew', async () => {
    const ready = over(() => [
      status({ position: 9n }),
      status({ state: 'stopped', position: 2n }),
      status({ state: 'building', position: null }),
    ]);
    expect(await ready.report()).to.include({ status: 'ready' });
  });

  it('does not wait for others to project', async () => {
    const ready = over(() => [status({ position: 0n })], { mayProject: false });
    expect(await ready.report()).to.deep.equal({ status: 'ready', waiting_for: [] });
  });

  it('is no while the log or the read models are away, and from the shutdown on', async () => {
    const away = over(() => [], { parts: { ...healthy, event_log: { status: 'down' } } });
    expect(await away.report()).to.deep.equal({ status: 'not_ready', waiting_for: ['event_log'] });
    const ready = over(() => [], { mayProject: false });
    ready.drain();
    expect(ready.isDraining()).to.equal(true);
    expect(await ready.report()).to.deep.equal({ status: 'not_ready', waiting_for: ['shutdown'] });
  });
});

describe('the page of health', () => {
  it('asks once how late the read models are, however many look at the same time', async () => {
    const folder = tempFolder();
    const config = configFrom({ DATA_DIR: folder.path, LOG_LEVEL: 'silent' });
    const opened = await openParts(config, { lockLost: () => undefined, redisOutage: () => undefined });
    try {
      await prepareTables(config, opened.sql);
      const asked: string[] = [];
      const sql: typeof opened.sql = {
        ...opened.sql,
        query: (text, values) => (asked.push(text), opened.sql.query(text, values)),
      };
      const from = contextOver(config, { ...opened, sql }, { logger: pino({ level: 'silent' }) });
      const pages = await Promise.all(Array.from({ length: 5 }, () => from.health()));
      for (const { parts } of pages) expect(parts['projections']).to.include({ parked_tenants: 0 });
      expect(asked.filter((text) => text.includes('still_ms'))).to.have.length(1);
    } finally {
      await opened.close();
      folder.remove();
    }
  });
});
