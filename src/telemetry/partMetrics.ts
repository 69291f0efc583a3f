import type { Registry } from 'prom-client';
import type { HealthReport } from '../http/wire/reports.ts';
import { one, pulledGauge } from './gauge.ts';
import { pulled, type PullOptions } from './pulled.ts';

/** Which parts answer, as `/health` has it; the version that runs. */
export const partMetrics = (
  register: Registry,
  { health, version }: { readonly health: () => Promise<HealthReport>; readonly version: string },
  options: PullOptions = {},
): void => {
  const report = pulled(health, { patienceMs: 3_000, ...options });
  pulledGauge(register, report, {
    name: 'quire_part_up',
    help: '1 while a part of the service answers: event_log, read_models, objects, limits, projections.',
    label: 'part',
    values: ({ parts }) =>
      Object.entries(parts).map(([name, { status }]) => [name, status === 'down' ? 0 : 1] as const),
  });
  pulledGauge(register, () => Promise.resolve(version), {
    name: 'quire_build',
    help: 'Always 1; the version that runs.',
    label: 'version',
    values: (running) => [[running, 1] as const],
  });
  pulledGauge(register, () => Promise.resolve(process.uptime()), {
    name: 'quire_uptime_seconds',
    help: 'Seconds since this process started.',
    values: one,
  });
};
