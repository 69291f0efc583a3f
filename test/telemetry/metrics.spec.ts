import { NO_TRACER } from '../../domain/ports/log.ts';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { seenEvents } from '../../domain/kernel/witness.ts';
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
import { adjustment, charge } from '../support/money/accountCommands.ts';
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
  const now = () => '2026-03-01T12:00:30.000Z';

  it('show lag in events and in seconds, who projects, and what has stopped', async () => {
    const register = new Registry();
    const statuses = [
      status({ lag_events: 0 }),
      status({ name: 'ledger', lag_events: 3, waiting_since: '2026-03-01T12:00:00.000Z' }),
      status({ name: 'usage', state: 'stopped', waiting_since: '2026-03-01T11:00:30.000Z', lag_events: 9 }),
      status({ name: 'margin', state: 'building' }),
    ];
    const runner = { status: () => Promise.resolve(statuses), isProjecting: () => true };
    projectionGauges(register, { runner, now });
    const at = (name: string, projector: string) =>
      valueOf(register, `quire_${name}{projector="${projector}"}`);
    expect(await valueOf(register, 'quire_projecting')).to.equal(1);
    expect(await at('projection_lag_seconds', 'balances')).to.equal(0);
    expect(await at('projection_lag_seconds', 'ledger')).to.equal(30);
    expect(await at('projection_lag_events', 'ledger')).to.equal(3);
    expect(await at('projection_lag_seconds', 'usage')).to.equal(3600);
    expect(await at('projection_lag_seconds', 'margin'), 'not known').to.equal(undefined);
    expect(await at('projector_stopped', 'usage')).to.equal(1);
    expect(await at('projector_stopped', 'ledger')).to.equal(0);
    expect(await at('projector_building', 'margin')).to.equal(1);
  });

  it('say nothing of lag where another process projects, and nothing at all while Postgres is away', async () => {
    const passive = new Registry();
    const waiting = status({ waiting_since: '2026-03-01T12:00:00.000Z' });
    const runner = { status: () => Promise.resolve([waiting]), isProjecting: () => false };
    projectionGauges(passive, { runner, now });
    expect(await valueOf(passive, 'quire_projecting')).to.equal(0);
    expect(await valueOf(passive, 'quire_projector_stopped{projector="balances"}')).to.equal(0);
    expect(await passive.metrics()).to.not.contain('quire_projection_lag_seconds{');

    const away = new Registry();
    const broken = { status: () => Promise.reject(new Error('away')), isProjecting: () => false };
    projectionGauges(away, { runner: broken, now });
    expect(await away.metrics())
      .to.contain('quire_projecting 0')
      .and.not.contain('quire_projector_stopped{');
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
