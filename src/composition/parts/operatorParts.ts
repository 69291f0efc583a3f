import { join } from 'node:path';
import { lockDataDir } from '../../../adapters/embedded/dataDirLock.ts';
import { systemClock } from '../../../adapters/embedded/systemClock.ts';
import { systemTimers } from '../../../adapters/embedded/systemTimers.ts';
import type { EventFeed } from '../../../domain/ports/eventFeed.ts';
import type { EventStore } from '../../../domain/ports/eventStore.ts';
import type { Sql } from '../../../projections/engine/ports.ts';
import { READ_MODELS } from '../../../projections/readModels.ts';
import { accountWriter } from '../../commands/writer/accountWriter.ts';
import { apiKeys } from '../../commands/reference/apiKeys.ts';
import { payments } from '../../commands/payments/payments.ts';
import { openedLog } from '../../commands/sealing/logIdentity.ts';
import { referenceData } from '../../commands/reference/referenceData.ts';
import type { SealDeps } from '../../commands/sealing/sealLog.ts';
import type { Config } from '../../config.ts';
import { askOperator, runningSocket } from '../../operator/askOperator.ts';
import type { KeyDeps } from '../../operator/keys.ts';
import type { PaymentDeps } from '../../operator/payments.ts';
import type { RotateDeps } from '../../operator/rotateSecrets.ts';
import { openObjects } from './openParts.ts';
import { openLockedObjects } from './sealParts.ts';
import { secretBoxOf } from '../secretBoxOf.ts';
import { logOperations, readModelOperations } from '../../operator/operations.ts';
import { OperatorError, type OperationContext, type Operations } from '../../operator/protocol.ts';

export { packagedPrices } from '../../../adapters/prices/packagedPrices.ts';
export { daysOfEcbFile, ECB_FILE_BYTES_MAX } from '../../../adapters/ecb/ecbFile.ts';

/** A log to read, and how to let go of it. */
export interface LogReader {
  readonly log: EventStore & EventFeed;
  readonly close: () => Promise<void>;
}

export interface OperatorSql {
  readonly sql: Sql;
  readonly close: () => Promise<void>;
}

const exitOnLostLock = (): never => {
  process.stderr.write('The data folder was taken by another process.\n');
  process.exit(1);
};

const openLog = async ({ eventStoreUrl, dataDir }: Config, readOnly: boolean): Promise<LogReader> => {
  if (eventStoreUrl !== undefined) {
    const { openEventStoreDb } = await import('../../../adapters/eventstoredb/eventStoreDb.ts');
    const log = openEventStoreDb({ connectionString: eventStoreUrl });
    return { log, close: () => log.close() };
  }
  const { openSqliteEventLog } = await import('../../../adapters/embedded/eventLog/sqliteEventLog.ts');
  const log = openSqliteEventLog({ path: join(dataDir, 'events.db'), readOnly });
  return { log, close: () => log.close() };
};

/** The log for reading only: works beside a running service. Throws OperatorError when there is none. */
export const openLogReader = async (config: Config): Promise<LogReader> => {
  try {
    return await openLog(config, true);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(
      `The event log cannot be read: ${reason}. Set DATA_DIR or EVENTSTORE_URL as the service has it.`,
    );
  }
};

/**
 * The read models' database: Postgres as DATABASE_URL names it, else the embedded one under the lock of
 * the data folder. undefined when a running service owns that: then ask the service.
 */
export const openOperatorSql = async (config: Config): Promise<OperatorSql | undefined> => {
  if (config.databaseUrl !== undefined) {
    const { postgresSql } = await import('../../../adapters/postgres/postgresSql.ts');
    const sql = postgresSql({ url: config.databaseUrl });
    return { sql, close: () => sql.close() };
  }
  if ((await runningSocket(config.dataDir)) !== undefined) return undefined;
  const lock = await lockDataDir(config.dataDir, exitOnLostLock);
  try {
    const { pgliteSql } = await import('../../../adapters/embedded/pglite/pgliteSql.ts');
    const { sql } = await pgliteSql(join(config.dataDir, 'read-models'));
    return { sql, close: () => sql.close().finally(() => lock.release()) };
  } catch (error) {
    await lock.release();
    throw error;
  }
};

/** What the service has open already: operations use these, so that it knows of changes. */
export type OwnParts = Pick<KeyDeps, 'apiKeys' | 'onKey'> &
  Pick<RotateDeps, 'objects' | 'box'> &
  Pick<SealDeps, 'locked'> &
  Pick<PaymentDeps, 'payments' | 'listedStreams'>;

/** The operations that the service offers to operators. */
export const operationsOver = (log: EventStore & EventFeed, sql: Sql, own: OwnParts): Operations => ({
  ...readModelOperations({ sql, feed: log, projectors: READ_MODELS, timers: systemTimers }),
  ...logOperations({ log, reference: referenceData({ store: log }), clock: systemClock(), ...own }),
});

type Asked = { readonly name: string; readonly input: unknown };

const runOn = async (operations: Operations, { name, input }: Asked, context: OperationContext) => {
  const operation = operations[name];
  if (operation === undefined) throw new Error(`there is no operation ${name}`);
  await operation(input, context);
};

const onReadModels = async (config: Config, asked: Asked, context: OperationContext): Promise<void> => {
  const reader = await openLogReader(config);
  try {
    const database = await openOperatorSql(config);
    if (database === undefined) throw new OperatorError('A service has just started: run the command again.');
    try {
      const { log } = reader;
      const parts = { sql: database.sql, feed: log, projectors: READ_MODELS, timers: systemTimers };
      await runOn(readModelOperations(parts), asked, context);
    } finally {
      await database.close();
    }
  } finally {
    await reader.close();
  }
};

const onLog = async (config: Config, asked: Asked, context: OperationContext): Promise<void> => {
  const embedded = config.eventStoreUrl === undefined;
  const lock = embedded ? await lockDataDir(config.dataDir, exitOnLostLock) : undefined;
  try {
    const { log, close } = await openLog(config, false);
    await openedLog(log, systemClock().now());
    const writer = accountWriter({ store: log });
    const operations = logOperations({
      log,
      reference: referenceData({ store: log }),
      clock: systemClock(),
      apiKeys: apiKeys({ store: log, writer }),
      payments: payments({ store: log, writer }),
      objects: (await openObjects(config))[0],
      box: secretBoxOf(config),
      locked: await openLockedObjects(config),
    });
    try {
      await runOn(operations, asked, context);
    } finally {
      await writer.close();
      await close();
    }
  } finally {
    await lock?.release();
  }
};

/** Whether all that an operation needs are servers. A folder of objects belongs to the service that has it open. */
const isOnServers = ({ databaseUrl, eventStoreUrl, s3 }: Config, name: string): boolean => {
  if (name.startsWith('projections.')) return databaseUrl !== undefined;
  return eventStoreUrl !== undefined && (s3 !== undefined || !name.startsWith('secrets.'));
};

/**
 * Carries out an operation where it can be: by the running service that owns the data folder, or here
 * under its lock. Servers that are named in the environment are used directly.
 */
export const runOperation = async (
  config: Config,
  asked: Asked,
  context: OperationContext,
): Promise<void> => {
  const onServers = isOnServers(config, asked.name);
  const socket = onServers ? undefined : await runningSocket(config.dataDir);
  if (socket !== undefined) return askOperator(socket, asked, context);
  return asked.name.startsWith('projections.')
    ? onReadModels(config, asked, context)
    : onLog(config, asked, context);
};
