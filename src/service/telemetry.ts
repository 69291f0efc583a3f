import type { Logger } from 'pino';
import { Registry, collectDefaultMetrics } from 'prom-client';
import { NO_TRACER, type Tracer } from '../../domain/ports/log.ts';
import type { Config } from '../config.ts';
import { VERSION } from '../version.ts';
import { missingTables, unfilled } from '../../projections/engine/waiting.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import {
  divergenceGauge,
  type DriftCheck,
  driftCheck,
  placeMetrics,
  projectionGauges,
  stockMetrics,
  webhookGauges,
} from '../telemetry/businessMetrics.ts';
import { openingMetrics, partMetrics, pauseMetrics } from '../telemetry/processMetrics.ts';
import { readiness, type Readiness } from '../api/health.ts';
import { unlessDiverged } from '../../projections/engine/divergence.ts';
import type { Context } from './context.ts';

/** The tracer that the configuration asks for. OpenTelemetry is loaded only where it does. */
export const openTracer = async ({ tracing }: Config, logger: Logger): Promise<Tracer> => {
  if (tracing === undefined) return NO_TRACER;
  const { openOtlpTracer } = await import('../../adapters/telemetry.ts');
  const onError = (err: unknown) => logger.warn({ msg: 'traces could not be sent', err });
  return openOtlpTracer({ ...tracing, version: VERSION, onError });
};

/** Metrics of the process, made once: what observes its event loop and its collector is never told to end. */
const ofProcess = new Registry();

export const newRegistry = (): Registry => {
  if (ofProcess.getMetricsAsArray().length === 0) collectDefaultMetrics({ register: ofProcess });
  return Registry.merge([ofProcess]);
};

export const readinessOf = (from: Context): Readiness =>
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
  });

export const driftCheckOf = (from: Context): DriftCheck => {
  const { logger } = from;
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
};

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
  projectionGauges(register, { runner: from.runner, lags: from.lags });
  partMetrics(register, { health: from.health, version: VERSION });
};
