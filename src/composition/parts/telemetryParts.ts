import { missingTables, unfilled } from '../../../projections/engine/waiting.ts';
import { READ_MODELS } from '../../../projections/readModels.ts';
import { Registry, collectDefaultMetrics } from 'prom-client';
import { seenEvents } from '../../../domain/eventLog/witness.ts';
import type { Tracer } from '../../../domain/ports/log.ts';
import { type AppliedFacts, NO_TRACER, projectSpans } from '../../telemetry/tracing.ts';
import {
  divergenceGauge,
  driftCheck,
  observedLog,
  placeMetrics,
  projectionCounters,
  projectionGauges,
  stockMetrics,
  sweeperMetrics,
  webhookGauges,
} from '../../telemetry/businessMetrics.ts';
import {
  openingMetrics,
  partMetrics,
  pauseMetrics,
  watchedDocuments,
} from '../../telemetry/processMetrics.ts';
import { healthOf } from '../start/health.ts';
import { unlessDiverged } from '../start/logWatchParts.ts';
import type { Parts } from './openParts.ts';
import { readiness } from '../start/readiness.ts';
import { bind, bindValue, resolve, type Container } from '../token.ts';
import * as t from '../tokens.ts';
import { VERSION } from '../../version.ts';
import { providerLabel, type ProviderMetrics } from '../metrics/workMetrics.ts';

/** Parts whose log and document work are counted and traced. */
const observedParts = (from: Container, parts: Parts): Parts => {
  const observers = { register: resolve(from, t.REGISTRY), tracer: resolve(from, t.TRACER) };
  const { parser, localEngine } = parts.workers;
  return {
    ...parts,
    log: observedLog(parts.log, { ...observers, seen: seenEvents(() => parts.log.epoch?.() ?? 0) }),
    workers: { ...parts.workers, ...watchedDocuments({ parser, localEngine }, observers) },
  };
};

const bindHealth = (container: Container): void => {
  bind(container, t.HEALTH, (from) =>
    healthOf(
      resolve(from, t.PARTS),
      { runner: resolve(from, t.RUNNER), watch: resolve(from, t.LOG_WATCH) },
      VERSION,
    ),
  );
  bind(container, t.READINESS, (from) =>
    readiness({
      health: resolve(from, t.HEALTH),
      feed: resolve(from, t.PARTS).log,
      runner: resolve(from, t.RUNNER),
      watch: resolve(from, t.LOG_WATCH),
      mayProject: resolve(from, t.CONFIG).roles.includes('projector'),
      missing: async () => {
        const { sql } = resolve(from, t.PARTS);
        const missing = (await missingTables(sql, READ_MODELS)).flatMap(({ views }) => views);
        return [...missing, ...(await unfilled(sql, READ_MODELS))];
      },
    }),
  );
};

/** What is seen of the service from outside, and the parts as they are watched. */
export const bindTelemetry = (container: Container, parts: Parts, tracer: Tracer): void => {
  bindValue(container, t.TRACER, tracer);
  bind(container, t.REGISTRY, () => {
    const register = new Registry();
    collectDefaultMetrics({ register });
    return register;
  });
  bind(container, t.PARTS, (from) => observedParts(from, parts));
  bind(container, t.PROJECTION_COUNTERS, (from) => projectionCounters(resolve(from, t.REGISTRY)));
  bind(container, t.COUNT_SWEPT, (from) => sweeperMetrics(resolve(from, t.REGISTRY)));
  bindHealth(container);
  bind(container, t.DRIFT_CHECK, (from) => {
    const logger = resolve(from, t.LOGGER);
    return driftCheck({
      register: resolve(from, t.REGISTRY),
      reconcile: () => resolve(from, t.QUERIES).reconciliation(false),
      isProjecting: () => resolve(from, t.RUNNER).isProjecting(),
      nowMs: () => Date.now(),
      onChecked: async (tenants_checked, rows) => {
        await resolve(from, t.REPORT_DRIFT)({ tenants_checked, drifting: rows });
      },
      onDrift: (tenant_id, drift_credits) =>
        logger.error({ msg: 'a balance is not the sum of its ledger', tenant_id, drift_credits }),
      onError: unlessDiverged((err) => logger.warn({ msg: 'balances could not be checked', err })),
    });
  });
};

/** Gauges that ask the running service when a page of metrics is read. One call per container. */
export const showGauges = (from: Container): void => {
  const register = resolve(from, t.REGISTRY);
  const clock = resolve(from, t.CLOCK);
  const now = () => clock.now();
  const { workers } = resolve(from, t.PARTS);
  pauseMetrics(register, () => workers.pauses());
  openingMetrics(register, () => workers.openings());
  stockMetrics(register, { sql: resolve(from, t.READ_SQL), now });
  const isWorker = resolve(from, t.CONFIG).roles.includes('worker');
  placeMetrics(register, () => (isWorker ? resolve(from, t.OPERATION_WORKER).places() : undefined));
  webhookGauges(register, { sql: resolve(from, t.READ_SQL), now });
  divergenceGauge(register, resolve(from, t.LOG_WATCH));
  projectionGauges(register, { runner: resolve(from, t.RUNNER), now });
  partMetrics(register, { health: resolve(from, t.HEALTH), version: VERSION });
};

/** Counts what a batch brought, and ends the traces of its appends. */
export const appliedBy = (from: Container): ((batch: AppliedFacts) => void) => {
  const { onApplied } = resolve(from, t.PROJECTION_COUNTERS);
  const tracer = resolve(from, t.TRACER);
  if (tracer === NO_TRACER) return onApplied;
  const project = projectSpans(tracer, () => Date.now());
  return (batch) => {
    onApplied(batch);
    project(batch);
  };
};

/** Counts a call of a provider, and shows it in the trace of the work that made it. */
export const calledBy = (from: Container): ProviderMetrics['onCall'] => {
  const { onCall } = resolve(from, t.PROVIDER_METRICS);
  const tracer = resolve(from, t.TRACER);
  return (call) => {
    onCall(call);
    const { provider, outcome, seconds } = call;
    const facts = { 'quire.provider': providerLabel(provider), 'quire.outcome': outcome };
    const beganAtMs = Date.now() - seconds * 1000;
    const span = tracer.begin('provider call', { kind: 'client', facts, beganAtMs });
    span.end({}, outcome === 'answered' ? 'ok' : 'failed');
  };
};
