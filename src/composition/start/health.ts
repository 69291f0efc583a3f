import type { LogWatch } from '../../../projections/engine/divergence.ts';
import type { ProjectionRunner } from '../../../projections/engine/runner.ts';
import { healthReport, type HealthPart } from '../../api/service.ts';
import type { HealthReport } from '../../api/serviceSchemas.ts';
import type { Parts } from '../parts/openParts.ts';

interface Reads {
  readonly runner: ProjectionRunner;
  readonly watch: Pick<LogWatch, 'diverged' | 'logId'>;
}

/** How far the read models are, which of them have stopped and why, and whether a newer release has them. */
const projectionFacts = async ({ runner, watch }: Reads): Promise<Readonly<Record<string, unknown>>> => {
  const statuses = await runner.status();
  const diverged = watch.diverged();
  const stopped = statuses
    .filter(({ state }) => state === 'stopped')
    .map(({ name, position, reason }) => ({ name, position: position?.toString() ?? null, reason }));
  const lags = statuses.flatMap(({ lag_events }) => (lag_events === undefined ? [] : [lag_events]));
  return {
    ...((stopped.length > 0 || diverged !== undefined) && { status: 'degraded' }),
    lag_events: lags.length === 0 ? null : Math.max(...lags),
    stopped,
    aside: runner.aside(),
    diverged: diverged?.reason ?? null,
  };
};

const kindOf = (name: string): string => name.split(' ', 1)[0] ?? name;

/** What `/health` asks of each part. */
export const healthOf = (parts: Parts, reads: Reads, version: string): (() => Promise<HealthReport>) => {
  const { names } = parts;
  const asked: readonly HealthPart[] = [
    {
      name: 'event_log',
      facts: async () => ({
        kind: kindOf(names.event_log),
        log_id: reads.watch.logId(),
        position: ((await parts.log.head()) ?? 0n).toString(),
        // It can be read and not written, as on a full disk.
        ...(!parts.isLogWritable() && { status: 'degraded' }),
      }),
    },
    {
      name: 'read_models',
      facts: async () => {
        await parts.sql.query('select 1 as one');
        return { kind: kindOf(names.read_models) };
      },
    },
    {
      name: 'objects',
      facts: async () => {
        await parts.objects.check();
        return { kind: kindOf(names.objects) };
      },
    },
    { name: 'limits', facts: () => Promise.resolve({ kind: kindOf(names.limits) }) },
    { name: 'projections', facts: () => projectionFacts(reads) },
  ];
  return healthReport({ version, upMs: () => process.uptime() * 1000, parts: asked });
};
