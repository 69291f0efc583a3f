import { join } from 'node:path';
import { messageOf } from '../../../domain/kernel/json.ts';
import { lockDataDir } from '../../../adapters/local/dataFolder.ts';
import type { SqliteEventLog, SqliteEventLogOptions } from '../../../adapters/sqlite/eventLog.ts';
import type { EmbeddedSql } from '../../../adapters/pglite/sql.ts';
import type { EventFeed, EventStore } from '../../../domain/ports/log.ts';
import type { Config } from '../../config.ts';
import type { ProjectingSql } from '../projecting/openProjecting.ts';
import { projectingAs } from '../projecting/projectingAs.ts';
import { complain } from '../start/standardStreams.ts';
import { OperatorError } from '../../operator/socket.ts';

// A driver is loaded only where it is used: those of servers alone are half of an embedded start's memory.

/** Where log and read models are. */
export type StoreConfig = Pick<Config, 'dataDir' | 'databaseUrl' | 'eventStoreUrl'>;

/** The file of the embedded event log. */
export const logFileIn = (dataDir: string): string => join(dataDir, 'events.db');

/** Opens the log that the configuration names: EventStoreDB, or the embedded one, for which `options` are. */
export const openLog = async (
  { eventStoreUrl, dataDir }: StoreConfig,
  options: Omit<SqliteEventLogOptions, 'path'> = {},
): Promise<SqliteEventLog> => {
  if (eventStoreUrl !== undefined) {
    const { openEventStoreDb } = await import('../../../adapters/eventstoredb/eventStoreDb.ts');
    return openEventStoreDb({ connectionString: eventStoreUrl });
  }
  const { openSqliteEventLog } = await import('../../../adapters/sqlite/eventLog.ts');
  return openSqliteEventLog({ path: logFileIn(dataDir), ...options });
};

/** The log for reading only: works beside a running service. Throws OperatorError when there is none. */
export const withLogReader = async <T>(
  config: Config,
  work: (log: EventStore & EventFeed) => Promise<T>,
): Promise<T> => {
  const log = await openLog(config, { readOnly: true }).catch((error: unknown) => {
    throw new OperatorError(
      `The event log cannot be read: ${messageOf(error)}. Set DATA_DIR or EVENTSTORE_URL as the service has it.`,
    );
  });
  try {
    return await work(log);
  } finally {
    await log.close();
  }
};

/** Opens the read models' database. An embedded one needs the lock of its data folder. */
const openSql = async ({ databaseUrl, dataDir }: StoreConfig): Promise<EmbeddedSql> => {
  if (databaseUrl !== undefined) {
    const { postgresSql } = await import('../../../adapters/postgres.ts');
    return { sql: postgresSql({ url: databaseUrl }), recreated: null };
  }
  const { pgliteSql } = await import('../../../adapters/pglite/sql.ts');
  return pgliteSql(join(dataDir, 'read-models'));
};

/**
 * Opens the read models' database for the service: an embedded one shares its thread with the projections, which
 * read the log from its file where that is embedded too.
 */
export const openServiceSql = async (
  config: Pick<Config, 'dataDir' | 'databaseUrl' | 'eventStoreUrl' | 'rebuildDiverged' | 'tracing'>,
): Promise<EmbeddedSql & Partial<ProjectingSql>> => {
  const { dataDir, databaseUrl, eventStoreUrl } = config;
  if (databaseUrl !== undefined || eventStoreUrl !== undefined) return openSql(config);
  const { openProjecting } = await import('../projecting/openProjecting.ts');
  return openProjecting(
    { folder: join(dataDir, 'read-models'), logFile: logFileIn(dataDir) },
    projectingAs(config),
  );
};

const exitOnLostLock = (): never => {
  complain('The data folder was taken by another process.\n');
  process.exit(1);
};

/** Does what needs a data folder for itself; the process ends when another one takes the folder. */
export const underLock = async <T>(
  dataDir: string,
  work: () => Promise<T>,
  options?: Parameters<typeof lockDataDir>[2],
): Promise<T> => {
  const lock = await lockDataDir(dataDir, exitOnLostLock, options);
  try {
    return await work();
  } finally {
    await lock.release();
  }
};

/** The read models' database for a command: an embedded one under the lock of its data folder. */
export const withSql = <T>(config: StoreConfig, work: (opened: EmbeddedSql) => Promise<T>): Promise<T> => {
  const use = async (): Promise<T> => {
    const opened = await openSql(config);
    try {
      return await work(opened);
    } finally {
      await opened.sql.close();
    }
  };
  return config.databaseUrl === undefined ? underLock(config.dataDir, use) : use();
};
