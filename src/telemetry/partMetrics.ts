import type { Registry } from 'prom-client';
import type { HealthReport } from '../http/wire/reports.ts';
import { pulledGauges, pulledGaugesBy } from './gauge.ts';
import { pulled, type PullOptions } from './pulled.ts';

/** Which parts answer, as `/health` has it; the version that runs. */
export const partMetrics = (
  register: Registry,
  { health, version }: { readonly health: () => Promise<HealthReport>; readonly version: string },
  options: PullOptions = {},
): void => {
  const report = pulled(health, { patienceMs: 3_000, ...options });
  pulledGaugesBy(register, 'part', report)(
    'quire_part_up',
    '1 while a part of the service answers: event_log, read_models, objects, limits, projections.',
    ({ parts }) =>
      Object.entries(parts).map(([name, { status }]) => [name, status === 'down' ? 0 : 1] as const),
  );
  pulledGaugesBy(register, 'version', () => version)(
    'quire_build',
    'Always 1; the version that runs.',
    (running) => [[running, 1]],
  );
  pulledGauges(register, () => process.uptime())(
    'quire_uptime_seconds',
    'Seconds since this process started.',
    (seconds) => seconds,
  );
};
