import type { Logger } from 'pino';
import { Registry, collectDefaultMetrics } from 'prom-client';
import { NO_TRACER, type Tracer } from '../../domain/ports/log.ts';
import type { Config } from '../config.ts';
import { projectSpans, type AppliedFacts } from '../telemetry/tracing.ts';
import { VERSION } from '../version.ts';
import { missingTables, unfilled } from '../../projections/engine/waiting.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import {
  divergenceGauge,
  driftCheck,
  placeMetrics,
  projectionCounters,
  projectionGauges,
  stockMetrics,
  sweeperMetrics,
  webhookGauges,
} from '../telemetry/businessMetrics.ts';
import { openingMetrics, partMetrics, pauseMetrics } from '../telemetry/processMetrics.ts';
import { healthOf, readiness } from '../api/health.ts';
import { unlessDiverged } from '../../projections/engine/divergence.ts';
import type { Context, SomeFactories } from './context.ts';
import { providerLabel, providerMetrics, type ProviderMetrics } from '../telemetry/workMetrics.ts';

/** The tracer that the configuration asks for. OpenTelemetry is loaded only where it does. */
export const openTracer = async ({ tracing }: Config, logger: Logger): Promise<Tracer> => {
  if (tracing === undefined) return NO_TRACER;
  const { openOtlpTracer } = await import('../../adapters/telemetry.ts');
  const onError = (err: unknown) => logger.warn({ msg: 'traces could not be sent', err });
  return openOtlpTracer({ ...tracing, version: VERSION, onError });
};

/** Everything visible of the service from outside. */
export const telemetryParts = {
  registry: () => {
    const register = new Registry();
    collectDefaultMetrics({ register });
    return register;
  },
  projectionCounters: (from) => projectionCounters(from.registry),
  countSwept: (from) => sweeperMetrics(from.registry),
  health: (from) => healthOf(from.parts, { runner: from.runner, watch: from.logWatch }, VERSION),
  readiness: (from) =>
    readiness({
      health: from.health,
      feed: from.parts.log,
      runner: from.runner,
      watch: from.logWatch,
      mayProject: from.config.roles.includes('projector'),
      missing: async () => {
        const { sql } = from.parts;
        const missing = (await missingTables(sql, READ_MODELS)).flatMap(({ views }) => views);
        return [...missing, ...(await unfilled(sql, READ_MODELS))];
      },
    }),
  driftCheck: (from) => {
    const logger = from.logger;
    return driftCheck({
      register: from.registry,
      reconcile: () => from.queries.reconciliation(false),
      isProjecting: () => from.runner.isProjecting(),
      nowMs: () => Date.now(),
      onChecked: async (tenants_checked, rows) => {
        await from.reportDrift({ tenants_checked, drifting: rows });
      },
      onDrift: (tenant_id, drift_credits) =>
        logger.error({ msg: 'a balance is not the sum of its ledger', tenant_id, drift_credits }),
      onError: unlessDiverged((err) => logger.warn({ msg: 'balances could not be checked', err })),
    });
  },
  providerMetrics: (from) => providerMetrics(from.registry),
} satisfies SomeFactories;

/** Gauges that ask the running service when a page of metrics is read. One call per container. */
export const showGauges = (from: Context): void => {
  const register = from.registry;
  const clock = from.clock;
  const now = () => clock.now();
  const { workers } = from.parts;
  pauseMetrics(register, () => workers.pauses());
  openingMetrics(register, () => workers.openings());
  stockMetrics(register, { sql: from.readSql, now });
  const isWorker = from.config.roles.includes('worker');
  placeMetrics(register, () => (isWorker ? from.operationWorker.places() : undefined));
  webhookGauges(register, { sql: from.readSql, now });
  divergenceGauge(register, from.logWatch);
  projectionGauges(register, { runner: from.runner, now });
  partMetrics(register, { health: from.health, version: VERSION });
};

/** Counts what a batch brought, and ends the traces of its appends. */
export const appliedBy = (from: Context): ((batch: AppliedFacts) => void) => {
  const { onApplied } = from.projectionCounters;
  const tracer = from.tracer;
  if (tracer === NO_TRACER) return onApplied;
  const project = projectSpans(tracer, () => Date.now());
  return (batch) => {
    onApplied(batch);
    project(batch);
  };
};

/** Counts a call of a provider, and shows it in the trace of the work that made it. */
export const calledBy = (from: Context): ProviderMetrics['onCall'] => {
  const { onCall } = from.providerMetrics;
  const tracer = from.tracer;
  return (call) => {
    onCall(call);
    const { provider, outcome, seconds } = call;
    const facts = { 'quire.provider': providerLabel(provider), 'quire.outcome': outcome };
    const beganAtMs = Date.now() - seconds * 1000;
    const span = tracer.begin('provider call', { kind: 'client', facts, beganAtMs });
    span.end({}, outcome === 'answered' ? 'ok' : 'failed');
  };
};
