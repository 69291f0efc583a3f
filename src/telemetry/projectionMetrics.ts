import { Gauge, type Registry } from 'prom-client';
import type { ProjectionNotice } from '../../projections/engine/arrivals.ts';
import type { ProjectionRunner } from '../../projections/engine/runner.ts';
import type { LogWatch } from '../../projections/engine/divergence.ts';
import type { ProjectorStatus } from '../../projections/engine/subscribe.ts';
import type { AppliedFacts } from './appliedFacts.ts';
import { pulledGauges, pulledGaugesBy } from './gauge.ts';
import { metersOn } from './meters.ts';
import { pulled, type PullOptions } from './pulled.ts';

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

/** Counts jobs that ended, where they are projected. */
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

const STATUS_EVERY_MS = 1_000;

type Statuses = readonly ProjectorStatus[];

const lagSeconds = ({ lag_events, waiting_since }: ProjectorStatus, now: number): number | undefined => {
  if (waiting_since !== undefined) return Math.max(0, (now - Date.parse(waiting_since)) / 1000);
  return lag_events === 0 ? 0 : undefined;
};

const each =
  (value: (status: ProjectorStatus) => number | undefined) =>
  (statuses: Statuses): readonly (readonly [string, number])[] =>
    statuses.flatMap((status) => {
      const known = value(status);
      return known === undefined ? [] : [[status.name, known] as const];
    });

/**
 * Gauges of each read model. The process that projects knows them without asking anybody; another one
 * reads the registry, every 15 s at most, and does not know how many events wait.
 */
export const projectionGauges = (
  register: Registry,
  {
    runner,
    now,
  }: { readonly runner: Pick<ProjectionRunner, 'status' | 'isProjecting'>; readonly now: () => string },
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
  add(
    'quire_projection_lag_seconds',
    'Age of the oldest event that is not applied yet, in the projecting process.',
    (status) => (runner.isProjecting() ? lagSeconds(status, Date.parse(now())) : undefined),
  );
};
