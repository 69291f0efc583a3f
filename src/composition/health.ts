import type { ProjectionRunner } from '../../projections/engine/runner.ts';
import type { HealthReport } from '../http/wire/reports.ts';
import type { Parts } from './openParts.ts';

/** A part that does not answer within this time is down, ms. */
const CHECK_MS = 2_000;

const answers = async (check: Promise<unknown>): Promise<'up' | 'down'> => {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<'down'>((resolve) => {
    timer = setTimeout(() => resolve('down'), CHECK_MS);
  });
  const answer = check.then(
    () => 'up' as const,
    () => 'down' as const,
  );
  return Promise.race([answer, tooLate]).finally(() => clearTimeout(timer));
};

const projectionPart = async (runner: ProjectionRunner): Promise<Readonly<Record<string, unknown>>> => {
  const statuses = await runner.status().catch(() => undefined);
  if (statuses === undefined) return { status: 'down', lag_events: null, stopped: [] };
  const stopped = statuses
    .filter(({ state }) => state === 'stopped')
    .map(({ name, position, reason }) => ({ name, position: position?.toString() ?? null, reason }));
  const lags = statuses.flatMap(({ lag_events }) => (lag_events === undefined ? [] : [lag_events]));
  return {
    status: stopped.length > 0 ? 'degraded' : 'up',
    lag_events: lags.length === 0 ? null : Math.max(...lags),
    stopped,
  };
};

/** Asks every part, all at once. */
export const healthOf =
  (parts: Parts, runner: ProjectionRunner, version: string) => async (): Promise<HealthReport> => {
    const [log, sql, objects, projections] = await Promise.all([
      answers(parts.log.head()),
      answers(parts.sql.query('select 1 as one')),
      answers(parts.objects.check()),
      projectionPart(runner),
    ]);
    const report = {
      event_log: { status: log, kind: parts.names.event_log.split(' ', 1)[0] },
      read_models: { status: sql, kind: parts.names.read_models.split(' ', 1)[0] },
      objects: { status: objects },
      limits: { status: 'up' },
      projections,
    };
    const isFine = Object.values(report).every(({ status }) => status === 'up');
    return {
      status: isFine ? 'ok' : 'degraded',
      version,
      uptime_seconds: Math.floor(process.uptime()),
      parts: report,
    };
  };
