import { systemClock, systemTimers } from '../../adapters/local/local.ts';
import type { EventFeed, EventStore } from '../../domain/ports/log.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { accountWriter } from '../writer/accountWriter.ts';
import { apiKeys } from '../commands/apiKeys.ts';
import { payments } from '../commands/payments.ts';
import { openedLog, type SealDeps } from '../commands/sealing.ts';
import { referenceData } from '../commands/reference.ts';
import type { Config } from '../config.ts';
import {
  askOperator,
  OperatorError,
  runningSocket,
  type OperationContext,
  type Operations,
} from '../operator/socket.ts';
import type { KeyDeps, RotateDeps } from '../operator/access.ts';
import type { PaymentDeps } from '../operator/records.ts';
import { openObjects } from './parts.ts';
import { openLog, underLock, withLogReader, withSql, folderKey, secretBoxOf } from './stores.ts';
import { openLockedObjects } from './seals.ts';
import { logOperations, readModelOperations } from '../operator/operations.ts';

export { packagedPrices } from '../../adapters/prices.ts';
export { daysOfEcbFile, ECB_FILE_BYTES_MAX } from '../../adapters/ecb.ts';

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

const onReadModels = (config: Config, asked: Asked, context: OperationContext): Promise<void> =>
  withLogReader(config, async (feed) => {
    if (config.databaseUrl === undefined && (await runningSocket(config.dataDir)) !== undefined)
      throw new OperatorError('A service has just started: run the command again.');
    await withSql(config, ({ sql }) => {
      const parts = { sql, feed, projectors: READ_MODELS, timers: systemTimers };
      return runOn(readModelOperations(parts), asked, context);
    });
  });

const onLog = async (config: Config, asked: Asked, context: OperationContext): Promise<void> => {
  const log = await openLog(config);
  const clock = systemClock();
  await openedLog(log, clock.now());
  const writer = accountWriter({ store: log });
  const operations = logOperations({
    log,
    clock,
    reference: referenceData({ store: log }),
    apiKeys: apiKeys({ store: log, writer }),
    payments: payments({ store: log, writer, clock }),
    objects: (await openObjects(config))[0],
    box: secretBoxOf(config, await folderKey(config)),
    locked: await openLockedObjects(config),
  });
  try {
    await runOn(operations, asked, context);
  } finally {
    await writer.close();
    await log.close();
  }
};

/** Whether all that an operation needs are servers. A folder of objects belongs to the service that has it open. */
const isOnServers = ({ databaseUrl, eventStoreUrl, s3 }: Config, name: string): boolean => {
  if (name.startsWith('projections.')) return databaseUrl !== undefined;
  return eventStoreUrl !== undefined && (s3 !== undefined || !name.startsWith('secrets.'));
};

/** What only a running service can do: sessions are opened by the one that will hold them, and tenants erased. */
const askRunning = async ({ dataDir }: Config, asked: Asked, context: OperationContext): Promise<void> => {
  const socket = await runningSocket(dataDir);
  if (socket === undefined)
    throw new OperatorError(
      `No service runs with the data folder ${dataDir}: start one, or set DATA_DIR to that of the one that runs.`,
    );
  return askOperator(socket, asked, context);
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
  if (asked.name.startsWith('session.') || asked.name.startsWith('tenants.'))
    return askRunning(config, asked, context);
  const onServers = isOnServers(config, asked.name);
  const socket = onServers ? undefined : await runningSocket(config.dataDir);
  if (socket !== undefined) return askOperator(socket, asked, context);
  if (asked.name.startsWith('projections.')) return onReadModels(config, asked, context);
  const work = (): Promise<void> => onLog(config, asked, context);
  return config.eventStoreUrl === undefined ? underLock(config.dataDir, work) : work();
};
