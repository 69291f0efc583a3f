import { tmpdir } from 'node:os';
import type { SqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { benchBurns } from './burns.ts';
import { projectionsIn } from './embeddedProjections.ts';
import type { ProjectionsBeside } from './writerBurns.ts';

/** All read models of the service, on the embedded database and in its thread, as `npm start` runs them. */
const projectionsBeside = async (log: SqliteEventLog, folder: string): Promise<ProjectionsBeside> => {
  const { sql, runner } = await projectionsIn(folder);
  runner.start();
  return {
    caughtUp: async (timeoutMs) => runner.waitFor((await log.head()) ?? 0n, { timeoutMs }),
    stop: async () => {
      await runner.stop();
      await sql.close();
    },
  };
};

const { env } = process;
await benchBurns({
  databaseUrl: env['BENCH_DATABASE_URL'],
  redisUrl: env['BENCH_REDIS_URL'],
  emmett: env['BENCH_EMMETT'],
  folder: env['BENCH_DIR'] ?? tmpdir(),
  tenants: Number(env['BENCH_TENANTS'] ?? 1_000),
  seconds: Number(env['BENCH_SECONDS'] ?? (env['BENCH_UNITS'] === undefined ? 6 : 600)),
  ...(env['BENCH_UNITS'] !== undefined && { units: Number(env['BENCH_UNITS']) }),
  ...(env['BENCH_ONLY'] !== undefined && { only: env['BENCH_ONLY'] }),
  rounds: Number(env['BENCH_ROUNDS'] ?? 5),
  ...(env['BENCH_PROJECTIONS'] !== 'off' && { projections: projectionsBeside }),
});
