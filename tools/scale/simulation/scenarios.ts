import { RUNNER_TUNING } from '../../../projections/engine/arrivals.ts';
import { newAgenda } from './agenda.ts';
import type { Coefficients } from './coefficients.ts';
import { drawsOf, gapMs, tenantPicker, type Tenancy } from './draws.ts';
import type { LogSetup } from './simLogs.ts';
import { newSimProjection } from './simProjection.ts';
import { simulate, type ServiceOutcome, type ServiceSetup } from './simService.ts';

/** Assumed: three nodes in one region. EventStoreDB was not run for these figures. */
export const ASSUMED_CLUSTER: LogSetup = {
  kind: 'cluster',
  quorumMs: 3,
  sigma: 0.4,
  leaderAppendMs: 0.1,
  leaderEventMs: 0.01,
};

/** Poisson arrivals at one rate. */
const steady = (perSecond: number) => ({ perSecond, swing: 0, dayMs: 86_400_000 });

/** Other requests than tenant 0's are spread with a heavy tail. */
export const tenancyOf = (tenants: number, whaleShare: number): Tenancy => ({
  tenants,
  whaleShare,
  skew: 0.8,
});

/**
 * Processor time of a burn by HTTP beside its command: what was measured of the whole process, less the
 * writer's, the log's and the projector's part, which the simulation has as parts of its own.
 */
export const httpMsOf = ({ http, writer, commit, projector }: Coefficients): number =>
  Math.max(
    0.1,
    http.burn_ms -
      writer.turn_ms -
      writer.command_ms -
      commit.append_ms -
      commit.event_ms -
      projector.event_ms,
  );

/** Replicas on a cluster. */
export const replicasOn = (
  coefficients: Coefficients,
  over: Pick<ServiceSetup, 'replicas' | 'sticky'> & Partial<ServiceSetup>,
): ServiceSetup => ({ coefficients, log: ASSUMED_CLUSTER, httpMs: httpMsOf(coefficients), ...over });

/** One run at a steady rate, long enough for some 10,000 requests. */
export const runAt = (setup: ServiceSetup, tenancy: Tenancy, perSecond: number): ServiceOutcome => {
  const runMs = Math.min(60_000, Math.max(2_000, 12_000_000 / perSecond));
  return simulate(setup, { arrivals: steady(perSecond), tenancy, warmUpMs: runMs / 4, runMs, seed: 11 });
};

/** Where a part stops. */
export interface Knee {
  /** The highest rate that was answered in time. */
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly bottleneck: string;
  readonly utilisation: number;
}

/** Slower than this at the 99th percentile does not count as working. */
export const P99_MAX_MS = 100;

const isInTime = (outcome: ServiceOutcome): boolean =>
  outcome.p99Ms <= P99_MAX_MS && outcome.contended === 0 && outcome.inside < 0.05 * outcome.arrived + 100;

/** The knee of a setup: the utilisation at a low rate says where to look, halving finds it to some 3 %. */
export const kneeOf = (setup: ServiceSetup, tenancy: Tenancy): Knee => {
  const probe = runAt(setup, tenancy, 100);
  let low = 0;
  let high = (1.3 * 100) / Math.max(0.002, probe.utilisation);
  let best = probe;
  for (let step = 0; step < 6; step += 1) {
    const perSecond = (low + high) / 2;
    const outcome = runAt(setup, tenancy, perSecond);
    if (isInTime(outcome)) [low, best] = [perSecond, outcome];
    else high = perSecond;
  }
  const { p50Ms, p99Ms, bottleneck, utilisation } = best;
  return { perSecond: low, p50Ms, p99Ms, bottleneck, utilisation };
};

/** Projections alone, fed with a steady stream of events. */
export interface ProjectionRun {
  readonly perSecond: number;
  readonly lagP50Ms: number;
  readonly lagP99Ms: number;
  readonly waiting: number;
  readonly projector: number;
  readonly database: number;
}

export interface ProjectionLoad {
  readonly shards: number;
  readonly databaseCores: number;
  readonly tenancy: Tenancy;
}

const SYNC_MS = 1;

export const projectAt = (
  coefficients: Coefficients,
  { shards, databaseCores, tenancy }: ProjectionLoad,
  perSecond: number,
): ProjectionRun => {
  const agenda = newAgenda();
  const draws = drawsOf(13);
  const tuning = { ...RUNNER_TUNING, syncMs: SYNC_MS };
  const projection = newSimProjection(agenda, { shards, databaseCores, ...tuning }, coefficients.projector);
  const tenant = tenantPicker(tenancy, draws);
  const arrive = () => {
    projection.arrive(tenant(), 1);
    agenda.after(gapMs(steady(perSecond), agenda.now(), draws), arrive);
  };
  arrive();
  agenda.runUntil(2_000);
  for (const station of Object.values(projection.stations)) station.reset();
  projection.lag.reset();
  agenda.runUntil(8_000);
  const busy = (name: string) => projection.stations[name]?.report().utilisation ?? 0;
  const projectors = Array.from({ length: shards }, (_, at) => busy(`projector ${at + 1}`));
  return {
    perSecond,
    lagP50Ms: projection.lag.at(0.5),
    lagP99Ms: projection.lag.at(0.99),
    waiting: projection.waiting(),
    projector: Math.max(...projectors),
    database: busy('database'),
  };
};

/** A read model that is later than this at the 99th percentile has stopped to follow. */
export const LAG_MAX_MS = 1_000;

/** The most events a second that shards keep up with. */
export const projectionKnee = (coefficients: Coefficients, load: ProjectionLoad): ProjectionRun => {
  const { event_ms, database_event_ms } = coefficients.projector;
  let low = 0;
  let high = 1.1 * Math.min((1000 / event_ms) * load.shards, (1000 / database_event_ms) * load.databaseCores);
  let best = projectAt(coefficients, load, 100);
  for (let step = 0; step < 6; step += 1) {
    const perSecond = (low + high) / 2;
    const run = projectAt(coefficients, load, perSecond);
    if (run.lagP99Ms <= LAG_MAX_MS && run.waiting < perSecond) [low, best] = [perSecond, run];
    else high = perSecond;
  }
  return best;
};

/** Documents at a share of what the workers can read; 4 pages each on average. */
export const documentsAt = (
  coefficients: Coefficients,
  {
    workers,
    msPerPage,
    share,
  }: { readonly workers: number; readonly msPerPage: number; readonly share: number },
): ServiceOutcome => {
  const perSecond = (share * workers * 1000) / (4 * msPerPage);
  const setup = replicasOn(coefficients, {
    replicas: Math.max(2, Math.ceil(perSecond / 200)),
    sticky: true,
    pages: { workers, share: 1, msPerPage },
  });
  const runMs = 6_000_000 / perSecond;
  const tenancy = tenancyOf(1_000, 0.1);
  return simulate(setup, { arrivals: steady(perSecond), tenancy, warmUpMs: runMs / 5, runMs, seed: 17 });
};

/** A day in a minute: the average rate is the given one, the busiest hour has 1.6 times as much. */
export const dayOf = (setup: ServiceSetup, tenancy: Tenancy, perSecond: number): ServiceOutcome =>
  simulate(setup, {
    arrivals: { perSecond, swing: 0.6, dayMs: 20_000 },
    tenancy,
    warmUpMs: 20_000,
    runMs: 20_000,
    seed: 19,
  });
