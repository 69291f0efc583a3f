import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pgliteSql } from '../../adapters/embedded/pglite/pgliteSql.ts';
import type { SqliteEventLog } from '../../adapters/embedded/eventLog/sqliteEventLog.ts';
import { systemTimers } from '../../adapters/embedded/systemTimers.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import { prepareReadModels } from '../../projections/engine/apply/prepare.ts';
import { projectionRunner } from '../../projections/engine/runner.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { benchBurns } from './burns.ts';
import type { ProjectionsBeside } from './writerBurns.ts';

/** All read models of the service, on the embedded database, as `npm start` runs them. */
const projectionsBeside = async (log: SqliteEventLog, folder: string): Promise<ProjectionsBeside> => {
  const { sql } = await pgliteSql(join(folder, 'read-models'));
  await prepareReadModels(sql, READ_MODELS);
  const runner = projectionRunner({
    sql,
    feed: log,
    projectors: READ_MODELS,
    decode: decodeAny,
    timers: systemTimers,
  });
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
  folder: env['BENCH_DIR'] ?? tmpdir(),
  seconds: Number(env['BENCH_SECONDS'] ?? 6),
  rounds: Number(env['BENCH_ROUNDS'] ?? 5),
  ...(env['BENCH_PROJECTIONS'] !== 'off' && { projections: projectionsBeside }),
});
