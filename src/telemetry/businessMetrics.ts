import { Gauge, type Registry } from 'prom-client';
import { type AccountCommand, type AccountEvent, operation } from '../../domain/account/messages.ts';
import type { AccountKind } from '../../domain/account/account.ts';
import type { AccountWriter } from '../writer/accountWriter.ts';
import type { Outcome } from '../writer/decideBatch.ts';
import { metersOn, pulled, pulledGauges, pulledGaugesBy, type PullOptions } from './processMetrics.ts';
import type { NotComparable, Reconciliation } from '../../projections/reconciliation.ts';
import { markOf, type SeenEvents, type Witness } from '../../domain/kernel/witness.ts';
import { categoryOf } from '../../domain/kernel/chain.ts';
import type { AppendResult, EventFeed, EventStore, Tracer } from '../../domain/ports/log.ts';
import type { NewEvent } from '../../domain/kernel/recorded.ts';
import type { ProjectionNotice } from '../../projections/engine/arrivals.ts';
import type { ProjectionRunner } from '../../projections/engine/runner.ts';
import type { LogWatch } from '../../projections/engine/divergence.ts';
import type { ModelLag } from '../../projections/engine/lag.ts';
import type { ProjectorStatus } from '../../projections/engine/subscribe.ts';
import type { AppliedFacts } from './tracing.ts';
import { openHoldsSummary, type OpenHoldsSummary } from '../../projections/balances.ts';
import { openBatchesSummary } from '../../projections/batches.ts';
import type { SqlTx } from '../../projections/engine/ports.ts';
import { openClaimsSummary } from '../../projections/openClaims.ts';
import { waitingOperations } from '../../projections/operations.ts';
import { openJobsByStatus } from '../../projections/trainingJobs.ts';
import type { AttemptError } from '../../domain/webhook.ts';
import { waitingDeliveries } from '../../projections/deliveries.ts';
import { disabledWebhooks } from '../../projections/webhooks.ts';

type AccountCounters = ReturnType<typeof countersOn>;

const countersOn = (register: Registry) => {
  const { counter } = metersOn(register);
  const counters = {
    commands: counter(
      'quire_commands_total',
      'Commands on accounts, by outcome; repeat: the command had taken effect before.',
      'command',
      'outcome',
    ),
    refusals: counter('quire_refusals_total', 'Commands that an account refused, by reason.', 'code'),
    burns: counter('quire_burns_total', 'Burns: settled holds and charges, by operation.', 'operation'),
    burned: counter('quire_burned_credits_total', 'Credits burned, by operation.', 'operation'),
  };
  for (const one of operation.options) {
    counters.burns.inc({ operation: one }, 0);
    counters.burned.inc({ operation: one }, 0);
  }
  for (const code of ['insufficient_credits', 'budget_reached']) counters.refusals.inc({ code }, 0);
  return counters;
};

const outcomeName = (outcome: Outcome<AccountKind>): string =>
  outcome.kind === 'done' && outcome.events.length === 0 ? 'repeat' : outcome.kind;

const countEvents = ({ burns, burned }: AccountCounters, events: readonly AccountEvent[]): void => {
  for (const { type, data } of events) {
    if (type !== 'CreditsBurned') continue;
    burns.inc({ operation: data.operation });
    burned.inc({ operation: data.operation }, data.credits);
  }
};

const count = (counters: AccountCounters, { type }: AccountCommand, outcome: Outcome<AccountKind>): void => {
  counters.commands.inc({ command: type, outcome: outcomeName(outcome) });
  if (outcome.kind === 'rejected') counters.refusals.inc({ code: outcome.rejection.code });
  if (outcome.kind === 'done') countEvents(counters, outcome.events);
};

/** Counts commands, refusals and burns of the accounts written here. Answers come no later than without. */
export const countedAccounts = (writer: AccountWriter, register: Registry): AccountWriter => {
  const counters = countersOn(register);
  return {
    execute: (command) => {
      const answer = writer.execute(command);
      answer.then(
        (outcome) => count(counters, command, outcome),
        () => counters.commands.inc({ command: command.type, outcome: 'failed' }),
      );
      return answer;
    },
    stateOf: (tenantId, maxAgeMs) => writer.stateOf(tenantId, maxAgeMs),
    ask: (tenantId, question, maxAgeMs) => writer.ask(tenantId, question, maxAgeMs),
    forget: (what) => writer.forget(what),
    close: () => writer.close(),
  };
};

/** The findings of the newest check. */
interface Checked {
  /** ms since 1970. */
  readonly at: number;
  readonly tenants: number;
  readonly drifting: number;
}

export interface DriftCheckDeps {
  readonly register: Registry;
  /** Tenants with drift alone. */
  readonly reconcile: () => Promise<Reconciliation | NotComparable>;
  /** Only the process that projects checks. */
  readonly isProjecting: () => boolean;
  readonly nowMs: () => number;
  /** Told of each tenant's drift that is found. */
  readonly onDrift: (tenantId: string, driftCredits: number) => void;
  /** Given all that was found, nothing too: to be written down where it differs from the check before. */
  readonly onChecked?: (
    tenants: number,
    drifting: readonly { readonly tenant_id: string; readonly drift_credits: number }[],
  ) => Promise<void>;
  readonly onError: (error: unknown) => void;
  /** Between the end of one check and the next, at least, ms. */
  readonly everyMs?: number;
}

export interface DriftCheck {
  readonly start: () => void;
  /** One check, unless one runs: then that. */
  readonly check: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const EVERY_MS = 5 * 60_000;
/** A check reads every ledger row: it never takes more than this share of the time. */
const SHARE = 0.01;

const gaugesOf = (register: Registry, last: () => Checked | undefined): void => {
  const show = pulledGauges(register, last);
  show(
    'quire_reconciliation_drift_tenants',
    'Tenants whose balance was not the sum of their grants and ledger, at the newest check.',
    ({ drifting }) => drifting,
  );
  show(
    'quire_reconciliation_checked_tenants',
    'Tenants that the newest check compared.',
    ({ tenants }) => tenants,
  );
  show(
    'quire_reconciliation_checked_at_seconds',
    'Time of the newest check, in seconds since 1970.',
    ({ at }) => at / 1000,
  );
};

/** Compares balances with grants and ledger now and then, in the process that projects. */
export const driftCheck = (deps: DriftCheckDeps): DriftCheck => {
  const { register, reconcile, isProjecting, nowMs, onDrift, everyMs = EVERY_MS } = deps;
  let last: Checked | undefined;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = true;
  gaugesOf(register, () => (isProjecting() ? last : undefined));

  const checkOnce = async (): Promise<void> => {
    const found = await reconcile();
    if ('behind' in found) return;
    for (const { tenant_id, drift_credits } of found.rows) onDrift(tenant_id, drift_credits);
    last = { at: nowMs(), tenants: found.tenants_checked, drifting: found.rows.length };
    await deps.onChecked?.(found.tenants_checked, found.rows);
  };
  const check = (): Promise<void> => {
    running ??= checkOnce()
      .catch(deps.onError)
      .finally(() => (running = undefined));
    return running;
  };
  const again = (ms: number): void => {
    timer = setTimeout(() => void round(), ms).unref();
  };
  const round = async (): Promise<void> => {
    const began = nowMs();
    if (isProjecting()) await check();
    if (!stopped) again(Math.max(everyMs, (nowMs() - began) / SHARE));
  };
  return {
    check,
    start: () => {
      if (!stopped) return;
      stopped = false;
      again(everyMs / 10);
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
};

/** `repeat`: a batch whose outcome was unknown was sent again, and is in the log. */
type AppendOutcome = 'ok' | 'repeat' | 'conflict' | 'moved' | 'unknown' | 'rejected';
const OUTCOMES: readonly AppendOutcome[] = ['ok', 'repeat', 'conflict', 'moved', 'unknown', 'rejected'];

const outcomeOf = ({ kind }: AppendResult, wasSent: boolean): AppendOutcome => {
  if (kind !== 'appended') return kind;
  return wasSent ? 'repeat' : 'ok';
};

interface Observing {
  readonly register: Registry;
  readonly tracer: Tracer;
  readonly seen: SeenEvents;
}

/** The last event of an append, as it stands in the log. */
const writtenBy = (
  stream: string,
  events: readonly NewEvent[],
  { revision, position }: Extract<AppendResult, { kind: 'appended' }>,
): Witness | undefined => {
  const last = events.at(-1);
  return last && { stream, revision, position, hash: markOf(last) };
};

/**
 * Counts appends by what became of them, and notes what was written. Answers are the log's own, no later than
 * without.
 */
export const observedLog = (
  log: EventStore & EventFeed,
  { register, tracer, seen }: Observing,
): EventStore & EventFeed => {
  const appends = metersOn(register).counter(
    'quire_appends_total',
    'Appends to the event log, by the category of their stream and their outcome.',
    'category',
    'outcome',
  );
  for (const outcome of OUTCOMES) appends.inc({ category: 'account', outcome }, 0);
  const sent = new WeakSet<readonly NewEvent[]>();
  return {
    tracer,
    epoch: seen.epoch,
    ...(log.unlessBehind !== undefined && { unlessBehind: log.unlessBehind }),
    seen,
    append: (...[stream, expected, events, epoch]) => {
      const wasSent = sent.has(events);
      sent.add(events);
      const answer = log.append(stream, expected, events, epoch);
      const count = (outcome: AppendOutcome) => appends.inc({ category: categoryOf(stream), outcome });
      answer.then(
        (result) => {
          const written = result.kind === 'appended' ? writtenBy(stream, events, result) : undefined;
          if (written !== undefined) seen.note(written, epoch ?? seen.epoch());
          count(outcomeOf(result, wasSent));
        },
        () => count('unknown'),
      );
      return answer;
    },
    read: (stream, options) => log.read(stream, options),
    subscribe: (options) => log.subscribe(options),
    backwards: (options) => log.backwards(options),
    head: () => log.head(),
    end: () => log.end(),
    close: () => log.close(),
  };
};

export interface ProjectionCounters {
  readonly onNotice: (notice: ProjectionNotice) => void;
  readonly onApplied: (batch: AppliedFacts) => void;
}

const ENDINGS: Readonly<Record<string, string>> = {
  TrainingJobSucceeded: 'succeeded',
  TrainingJobFailed: 'failed',
  TrainingJobCancelled: 'cancelled',
};

/** Types of the events that are counted one by one. */
export const COUNTED_TYPES: ReadonlySet<string> = new Set(Object.keys(ENDINGS));

/** Counts ended jobs in the projecting process. */
const endedJobs = (register: Registry): ProjectionCounters['onApplied'] => {
  const ended = metersOn(register).counter(
    'quire_training_jobs_ended_total',
    'Training jobs that ended while this process projected, by state.',
    'state',
  );
  for (const state of Object.values(ENDINGS)) ended.inc({ state }, 0);
  return ({ types }) => {
    for (const type of types) {
      const state = ENDINGS[type];
      if (state !== undefined) ended.inc({ state });
    }
  };
};

/** Counts what the projections tell of themselves. */
export const projectionCounters = (register: Registry): ProjectionCounters => {
  const { counter } = metersOn(register);
  const projected = counter('quire_projected_events_total', 'Events applied to the read models.');
  const position = new Gauge({
    name: 'quire_projection_position',
    help: 'Log position that the read models of this process have reached.',
    registers: [register],
  });
  const stopped = counter(
    'quire_projectors_stopped_total',
    'Times that a projector stopped at an event that it cannot apply.',
    'name',
  );
  const restarts = counter(
    'quire_subscription_restarts_total',
    'Times that the subscription to the event log broke and was restarted.',
  );
  const failures = counter(
    'quire_projection_failures_total',
    'Times that projecting stopped and restarted, usually because Postgres could not be reached.',
  );
  const unknown = counter(
    'quire_unknown_events_total',
    'Events of types that only a newer release knows, skipped by the projectors.',
  );
  const onNotice = (notice: ProjectionNotice): void => {
    if (notice.kind === 'batch') {
      projected.inc(notice.events);
      position.set(Number(notice.position));
    }
    if (notice.kind === 'unknown_types') unknown.inc(notice.events);
    if (notice.kind === 'stopped') stopped.inc({ name: notice.name });
    if (notice.kind === 'dropped') restarts.inc();
    if (notice.kind === 'failed') failures.inc();
  };
  return { onNotice, onApplied: endedJobs(register) };
};

/** Whether this process reads from the read models. */
export const divergenceGauge = (register: Registry, watch: Pick<LogWatch, 'diverged'>): void =>
  pulledGauges(register, () => watch)(
    'quire_read_models_diverged',
    '1 while the read models belong to another event log than the present one, and are not served.',
    ({ diverged }) => (diverged() === undefined ? 0 : 1),
  );

/** How often what read models say of themselves is asked for, at most, ms. */
export const STATUS_EVERY_MS = 1_000;

type Statuses = readonly ProjectorStatus[];

const each =
  (value: (status: ProjectorStatus) => number | undefined) =>
  (statuses: Statuses): readonly (readonly [string, number])[] =>
    statuses.flatMap((status) => {
      const known = value(status);
      return known === undefined ? [] : [[status.name, known] as const];
    });

interface ProjectionGaugesDeps {
  readonly runner: Pick<ProjectionRunner, 'status' | 'isProjecting'>;
  /** By what is committed and what the log holds; undefined: it cannot be had now. */
  readonly lags: () => Promise<readonly ModelLag[] | undefined>;
}

/**
 * Gauges of each read model. The process that projects knows them without asking anybody; another one
 * reads the registry, every 15 s at most, and does not know how many events wait. Every process tells how late
 * they are: one that projects and hangs would not.
 */
export const projectionGauges = (
  register: Registry,
  { runner, lags }: ProjectionGaugesDeps,
  options: PullOptions = {},
): void => {
  const own = pulled(() => runner.status(), { everyMs: STATUS_EVERY_MS, ...options });
  const registry = pulled(() => runner.status(), options);
  const statuses = () => (runner.isProjecting() ? own() : registry());
  const show = pulledGaugesBy(register, 'projector', statuses);
  const add = (name: string, help: string, value: (status: ProjectorStatus) => number | undefined) =>
    show(name, help, each(value));
  pulledGauges(register, () => runner)(
    'quire_projecting',
    '1 in the process that projects, 0 in others.',
    ({ isProjecting }) => (isProjecting() ? 1 : 0),
  );
  add(
    'quire_projector_stopped',
    '1 while a read model has stopped at an event that it cannot apply.',
    (status) => (status.state === 'stopped' ? 1 : 0),
  );
  add('quire_projector_building', '1 while a new version of a read model is being built.', ({ state }) =>
    state === 'building' ? 1 : 0,
  );
  add(
    'quire_projection_lag_events',
    'Events that have arrived but are not applied yet, in the projecting process.',
    ({ lag_events }) => lag_events,
  );
  const late = pulledGaugesBy(register, 'projector', lags);
  late('quire_projection_lag_seconds', 'Age of the oldest event that is not applied yet; 0: none.', (all) =>
    all.map(({ name, lag_seconds }) => [name, lag_seconds] as const),
  );
  late(
    'quire_projection_still_seconds',
    'Time since the checkpoint of a read model last moved, while events wait; 0: none waits.',
    (all) => all.map(({ name, still_seconds }) => [name, still_seconds] as const),
  );
  late('quire_projector_paused', '1 while a read model is paused.', (all) =>
    all.map(({ name, is_paused }) => [name, is_paused ? 1 : 0] as const),
  );
  late(
    'quire_parked_tenants',
    'Tenants whose events a read model leaves, from one that it could not apply on.',
    (all) => all.map(({ name, parked }) => [name, parked.length] as const),
  );
};

interface Stock {
  /** When the figures were read, ms since 1970. */
  readonly at: number;
  readonly holds: OpenHoldsSummary;
  readonly claims: { readonly count: number; readonly oldest_at: string | null };
  readonly batches: { readonly count: number; readonly oldest_at: string | null };
  readonly waiting: { readonly count: number; readonly oldest_at: string | null };
  readonly jobs: ReadonlyMap<string, number>;
}

const OPEN_STATES = ['queued', 'running'];

const ageOf = (at: number, oldest: string | null): number =>
  oldest === null ? 0 : Math.max(0, (at - Date.parse(oldest)) / 1000);

const stockOf = (sql: SqlTx, now: () => string): (() => Promise<Stock>) => {
  const [holdsAt, claimsOf, jobsOf] = [openHoldsSummary(sql), openClaimsSummary(sql), openJobsByStatus(sql)];
  const [batchesOf, waitingOf] = [openBatchesSummary(sql), waitingOperations(sql)];
  return async () => {
    const instant = now();
    const asked = [holdsAt(instant), claimsOf(), jobsOf(), batchesOf(), waitingOf()] as const;
    const [holds, claims, jobs, batches, waiting] = await Promise.all(asked);
    return { at: Date.parse(instant), holds, claims, jobs, batches, waiting };
  };
};

/** Gauges of what is open in the read models; they vanish while Postgres is away. */
export const stockMetrics = (
  register: Registry,
  { sql, now }: { readonly sql: SqlTx; readonly now: () => string },
  options?: PullOptions,
): void => {
  const stock = pulled(stockOf(sql, now), options);
  const show = pulledGauges(register, stock);
  show('quire_open_holds', 'Holds that are neither settled nor released.', ({ holds }) => holds.count);
  show(
    'quire_expired_holds',
    'Open holds that have expired: a sweeper releases them.',
    ({ holds }) => holds.expired,
  );
  show(
    'quire_oldest_open_hold_seconds',
    'Age of the oldest open hold; 0 when none is open.',
    ({ at, holds }) => ageOf(at, holds.oldest_at),
  );
  show(
    'quire_open_claims',
    'Payment identities that are claimed but neither booked nor released.',
    ({ claims }) => claims.count,
  );
  show(
    'quire_oldest_open_claim_seconds',
    'Age of the oldest claim without an outcome; 0 when there is none.',
    ({ at, claims }) => ageOf(at, claims.oldest_at),
  );
  show('quire_open_batches', 'Batches that have not ended.', ({ batches }) => batches.count);
  show(
    'quire_oldest_open_batch_seconds',
    'Age of the oldest batch that has not ended; 0 when there is none.',
    ({ at, batches }) => ageOf(at, batches.oldest_at),
  );
  show('quire_operations_waiting', 'Operations that wait for a worker.', ({ waiting }) => waiting.count);
  show(
    'quire_oldest_waiting_operation_seconds',
    'Time since the oldest operation that waits for a worker was accepted; 0 when none waits.',
    ({ at, waiting }) => ageOf(at, waiting.oldest_at),
  );
  pulledGaugesBy(register, 'state', stock)(
    'quire_training_jobs',
    'Training jobs that have not ended, by state.',
    ({ jobs }) => OPEN_STATES.map((state) => [state, jobs.get(state) ?? 0]),
  );
};

/** Shows the places of this process's worker as they are when a page of metrics is asked for. */
export const placeMetrics = (
  register: Registry,
  places: () => { readonly busy: number; readonly max: number } | undefined,
): void =>
  pulledGaugesBy(register, 'state', places)(
    'quire_worker_places',
    'Operations that this process works on, and places for more (`WORKER_PLACES`); only with the role worker.',
    ({ busy, max }) => [
      ['busy', busy],
      ['free', max - busy],
    ],
  );

/**
 * What sweepers settle: expired holds, open claims, unused uploads, uploads whose retention is over, results,
 * examples and deliveries that are no longer kept, texts that no event names, model calls and usage events that an
 * outage or a crash kept out of the log.
 */
type Swept = (typeof SHOWN)[number][0];

export type CountSwept = (what: Swept, outcome: 'settled' | 'left', count: number) => void;

const SHOWN = [
  ['hold', 'settled'],
  ['claim', 'settled'],
  ['transfer', 'settled'],
  ['sale_rate', 'settled'],
  ['hold_or_claim', 'left'],
  ['upload', 'settled'],
  ['expired_upload', 'settled'],
  ['erased', 'settled'],
  ['result', 'settled'],
  ['example', 'settled'],
  ['delivery', 'settled'],
  ['text', 'settled'],
  ['object', 'left'],
  ['model_call', 'settled'],
  ['usage_event', 'settled'],
  ['model_call_or_usage_event', 'left'],
] as const;

/** Counts what sweepers did, and what they had to leave for the next sweep. */
export const sweeperMetrics = (register: Registry): CountSwept => {
  const actions = metersOn(register).counter(
    'quire_sweeper_actions_total',
    'Items that sweepers settled, or left for the next sweep because they failed.',
    'what',
    'outcome',
  );
  for (const [what, outcome] of SHOWN) actions.inc({ what, outcome }, 0);
  return (what, outcome, count) => actions.inc({ what, outcome }, count);
};

/** Counts what became of each attempt. */
export const webhookAttempts = (register: Registry): ((error: AttemptError | null) => void) => {
  const attempts = metersOn(register).counter(
    'quire_webhook_attempts_total',
    'Attempts to send a message to a webhook, by what became of them.',
    'outcome',
  );
  attempts.inc({ outcome: 'delivered' }, 0);
  return (error) => attempts.inc({ outcome: error ?? 'delivered' });
};

/** Gauges of what waits to be sent; they vanish while Postgres is away. */
export const webhookGauges = (
  register: Registry,
  { sql, now }: { readonly sql: SqlTx; readonly now: () => string },
  options?: PullOptions,
): void => {
  const [waitingAt, disabledNow] = [waitingDeliveries(sql), disabledWebhooks(sql)];
  const stock = pulled(async () => {
    const at = now();
    const [waiting, disabled] = await Promise.all([waitingAt(at), disabledNow()]);
    return { at: Date.parse(at), waiting, disabled: disabled.count };
  }, options);
  const show = pulledGauges(register, stock);
  show(
    'quire_webhook_waiting',
    'Messages that wait to be sent to an enabled webhook.',
    ({ waiting }) => waiting.count,
  );
  show(
    'quire_webhook_oldest_waiting_seconds',
    'Age of the oldest of them; 0 when none waits.',
    ({ at, waiting: { oldest_at: oldest } }) =>
      oldest === null ? 0 : Math.max(0, (at - Date.parse(oldest)) / 1000),
  );
  show(
    'quire_webhooks_disabled',
    'Webhooks that the service disabled since they failed, and that nobody has enabled again.',
    ({ disabled }) => disabled,
  );
};
