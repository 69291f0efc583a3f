import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { DocumentParser } from '@quire/engine/ports/documentParser';
import { NO_TRACER, type EventFeed, type EventStore } from '../../domain/ports/log.ts';
import type { ExtractionEngine } from '@quire/engine/ports/extractionEngine';
import { seenEvents } from '../../domain/kernel/witness.ts';
import type { AccountWriter } from '../writer/accountWriter.ts';
import type { HeavySlots } from '../commands/slots.ts';
import {
  heavyGauges,
  heavyRefusals,
  rangesRead,
  unkeptResults,
  waitingGauges,
  providerMetrics,
  rateLimitRefusals,
  writerHooks,
} from '../telemetry/workMetrics.ts';
import { httpMetrics } from '../server/metrics.ts';
import {
  countedAccounts,
  divergenceGauge,
  driftCheck,
  type DriftCheckDeps,
  observedLog,
  placeMetrics,
  projectionCounters,
  projectionGauges,
  stockMetrics,
  sweeperMetrics,
  webhookAttempts,
  webhookGauges,
} from '../telemetry/businessMetrics.ts';
import {
  openingMetrics,
  partMetrics,
  pauseMetrics,
  watchedDocuments,
  watchLoopDelay,
} from '../telemetry/processMetrics.ts';

const never = () => Promise.reject(new Error('a reference asks for no figures'));

/** Every metric of the service, with nothing behind them. */
const metricsOf = (register: Registry): void => {
  const seen = { register, tracer: NO_TRACER };
  httpMetrics(register);
  rateLimitRefusals(register);
  heavyRefusals(register);
  heavyGauges(register, { max: 0 } as HeavySlots);
  waitingGauges(register, { max: 0 } as HeavySlots);
  rangesRead(register);
  unkeptResults(register, { error: () => undefined });
  providerMetrics(register);
  writerHooks(register, { warn: () => undefined });
  observedLog({} as EventStore & EventFeed, { ...seen, seen: seenEvents(() => 0) });
  countedAccounts({} as AccountWriter, register);
  watchedDocuments({ parser: {} as DocumentParser, localEngine: {} as ExtractionEngine }, seen);
  sweeperMetrics(register);
  openingMetrics(register, () => ({ opened: 0, wentOn: 0, kept: 0 }));
  pauseMetrics(register, () => ({ documents: { jobs: 0, totalMs: 0 }, lessons: { jobs: 0, totalMs: 0 } }));
  projectionCounters(register);
  divergenceGauge(register, { diverged: () => undefined });
  projectionGauges(register, { runner: { status: never, isProjecting: () => false }, lags: never });
  stockMetrics(register, { sql: { query: never, script: never }, now: () => '' });
  placeMetrics(register, () => undefined);
  webhookAttempts(register);
  webhookGauges(register, { sql: { query: never, script: never }, now: () => '' });
  driftCheck({ register, isProjecting: () => false } as DriftCheckDeps);
  partMetrics(register, { health: never, version: '' });
  watchLoopDelay(register)();
};

const typeOf = (metric: unknown): string => {
  if (metric instanceof Counter) return 'counter';
  if (metric instanceof Histogram) return 'histogram';
  return metric instanceof Gauge ? 'gauge' : 'other';
};

const labelsOf = (metric: object): string => {
  const names = 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames : [];
  return names
    .map(String)
    .filter((name) => name !== 'le')
    .map((name) => `\`${name}\``)
    .join(', ');
};

/** Every metric of the service's own, as `/metrics` describes it. */
export const metricsReference = (): string => {
  const register = new Registry();
  metricsOf(register);
  const rows = register
    .getMetricsAsArray()
    .map((metric) => `| \`${metric.name}\` | ${typeOf(metric)} | ${labelsOf(metric)} | ${metric.help} |`)
    .sort();
  return [
    '# Metrics',
    '',
    'Generated from the code by `npm run generate`. `GET /metrics` returns these ' +
      'metrics for Prometheus, and those of every Node.js process: `process_*` (CPU, memory, ' +
      'file handles) and `nodejs_*` (event loop, heap, garbage collection). No label contains ' +
      'a tenant, a key or a document.',
    '',
    'Metrics from Postgres are read when the page is requested, at most every 15 s. They are ' +
      'left out while Postgres cannot be reached. [How to observe](../how-to/observe.md) ' +
      'explains how to use the metrics.',
    '',
    '| metric | type | labels | what it says |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
};
