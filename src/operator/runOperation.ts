import { existsSync } from 'node:fs';
import { csvRows } from '../../adapters/csvRows.ts';
import { systemClock, systemTimers } from '../../adapters/local/local.ts';
import { replicas } from '../../adapters/sqlTables.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import { readThrough } from '../../domain/eventLog/movedTexts.ts';
import type { EventFeed, EventStore } from '../../domain/ports/log.ts';
import { divergenceOf } from '../../projections/engine/divergence.ts';
import { type RebuildProgress, rebuildThroughOutages } from '../../projections/engine/rebuild.ts';
import { dropRetired, generations, hasRegistry } from '../../projections/engine/registry.ts';
import { type Archived, archiveLog, type ArchiveWish, RECORD_MS } from './archive.ts';
import { partsInThreads } from './rebuildInThreads.ts';
import { findSeals, timeNow, withAuditedLog } from './auditedLog.ts';
import { moveTexts, type MovedTexts } from './moveTexts.ts';
import { runAudit } from '../audit/runAudit.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { paymentsExpected, paymentsNamed } from '../../projections/payments.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { accountWriter } from '../writer/accountWriter.ts';
import { apiKeys } from '../commands/apiKeys.ts';
import { payments } from '../commands/money/payments.ts';
import { openedLog, type SealDeps, sealLog } from '../commands/sealing.ts';
import { referenceData } from '../commands/reference.ts';
import type { Config } from '../config.ts';
import { askOperator, runningSocket, type OperationContext, type Operations } from './socket.ts';
import { OperatorError } from '../clientConfig.ts';
import type { KeyDeps, RotateDeps } from './access.ts';
import type { PaymentDeps } from './records.ts';
import { openObjects } from '../parts/parts.ts';
import {
  logFileIn,
  openLog,
  underLock,
  withLogReader,
  withSql,
  folderKey,
  folderKeyForService,
  secretBoxOf,
  textMoverOf,
  vaultOf,
} from '../parts/stores.ts';
import { openLockedObjects } from '../parts/parts.ts';
import { logOperations, payoutOperations, readModelOperations } from './operations.ts';

export { packagedPrices } from '../../adapters/prices.ts';
export { daysOfEcbFile, ECB_FILE_BYTES_MAX } from '../../adapters/ecb.ts';

/** Parts that the service has already opened: operations use these, so that it knows of changes. */
export type OwnParts = Pick<KeyDeps, 'apiKeys' | 'onKey'> &
  Pick<RotateDeps, 'objects' | 'box'> &
  Pick<SealDeps, 'locked'> &
  Pick<PaymentDeps, 'payments' | 'listedStreams'> &
  Pick<Config, 'journal'>;

/** Comparisons of providers' files with payments. */
const payoutsOn = (sql: Sql): Operations =>
  payoutOperations({
    rows: csvRows,
    books: { paymentsNamed: paymentsNamed(sql), paymentsExpected: paymentsExpected(sql) },
  });

/** The operations that the service offers to operators. */
export const operationsOver = (log: EventStore & EventFeed, sql: Sql, own: OwnParts): Operations => ({
  ...readModelOperations({
    sql,
    feed: log,
    projectors: READ_MODELS,
    timers: systemTimers,
    journal: own.journal,
  }),
  ...payoutsOn(sql),
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
      const { journal, databaseUrl } = config;
      const fillPart = databaseUrl === undefined ? undefined : partsInThreads({ ...config, databaseUrl });
      const parts = { sql, feed, projectors: READ_MODELS, timers: systemTimers, journal, fillPart };
      return runOn({ ...readModelOperations(parts), ...payoutsOn(sql) }, asked, context);
    });
  });

const onLog = async (config: Config, asked: Asked, context: OperationContext): Promise<void> => {
  const objects = (await openObjects(config))[0];
  const ofFolder = await folderKey(config);
  const opened = await openLog(config);
  const log = { ...opened, vault: vaultOf(config, { objects, folderKey: ofFolder }) };
  const clock = systemClock();
  await openedLog(log, clock.now());
  const writer = accountWriter({ store: log });
  const operations = logOperations({
    log,
    clock,
    reference: referenceData({ store: log }),
    apiKeys: apiKeys({ store: log, writer }),
    payments: payments({ store: log, writer, clock }),
    objects,
    box: secretBoxOf(config, ofFolder),
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

/** A process that signs of life within the last minute are of uses log and read models, wherever it runs. */
const refuseBesideService = async (sql: Sql): Promise<void> => {
  const [row] = await sql.query(`select to_regclass('http_cache.replicas') is not null as there`);
  const alive = row?.['there'] === true ? await replicas(sql).alive() : [];
  if (alive.length > 0)
    throw new OperatorError(
      `${String(alive.length)} processes of the service run, or were killed less than a minute ago: stop them all, ` +
        'and run the command again.',
    );
};

/** Audits the log alone, as `quire audit --log-only` does. */
const auditedAlone = (config: Config, signal: AbortSignal) =>
  withAuditedLog(config, async ({ feed, dense, startChains, startShares, checkArchive }) => {
    const { flaws: sealFlaws, ...found } = await findSeals(config, feed, timeNow());
    const archive = await checkArchive?.(signal);
    const log = { feed, dense, startChains, startShares, archive, signal };
    return (await runAudit({ ...log, ...found, sealFlaws })).report;
  });

const ON_A_SERVER =
  'Only an embedded log is archived by this command, and the event log is in EventStoreDB (EVENTSTORE_URL). There, ' +
  'truncating a stream ($tb) and a scavenge remove events for good: nothing of Quire could read them any more, and ' +
  'no audit could follow the chains. Add nodes or disk instead, or back up the server and leave $tb alone.';

/** Archives closed months of the embedded log. No service may use it meanwhile. Throws OperatorError. */
export const archiveMonths = async (config: Config, wish: ArchiveWish): Promise<Archived> => {
  if (config.eventStoreUrl !== undefined) throw new OperatorError(ON_A_SERVER, 2);
  const path = logFileIn(config.dataDir);
  if (!existsSync(path)) throw new OperatorError(`There is no event log in ${config.dataDir}.`, 2);
  return underLock(config.dataDir, async () => {
    const log = await openLog(config);
    const clock = systemClock();
    const logId = await openedLog(log, clock.now());
    const objects = (await openObjects(config))[0];
    const locked = await openLockedObjects(config);
    const { signal, retainDays } = wish;
    const seal = () => sealLog({ log, locked, clock }, { retainDays, signal, deadlineMs: RECORD_MS });
    const deps = {
      path,
      log,
      logId,
      objects,
      locked,
      clock,
      seal,
      audit: () => auditedAlone(config, signal),
    };
    return archiveLog(deps, wish);
  });
};

/** Told how far a move of texts is. */
export interface MoveProgress {
  readonly onEvents: (events: number) => void;
  readonly onRebuild: (progress: RebuildProgress) => void;
  readonly signal: AbortSignal;
}

/**
 * Rebuilds read models that have texts which were moved since; gives how many. A run that was killed at its end has
 * left some of the tables whose place others had taken: they have these texts too, and are dropped.
 */
const rebuildMoved = async (
  { sql, feed }: { readonly sql: Sql; readonly feed: EventStore & EventFeed },
  { onRebuild: onProgress, signal }: MoveProgress,
): Promise<number> => {
  if (!(await hasRegistry(sql))) return 0;
  await dropRetired(sql);
  const serving = (await generations(sql)).filter(({ serves }) => serves);
  const stale = await divergenceOf(feed, serving);
  if (stale === undefined) return 0;
  const deps = { sql, feed, projectors: READ_MODELS, decode: decodeAny, timers: systemTimers };
  return (await rebuildThroughOutages(deps, { fresh: true, signal, onProgress })).length;
};

/**
 * Moves texts of old events into the vault, and rebuilds the read models without them. No other process may use the
 * log meanwhile. Throws OperatorError.
 */
export const moveIntoVault = async (
  config: Config,
  progress: MoveProgress,
): Promise<MovedTexts & { readonly rebuilt: number }> => {
  const work = (): Promise<MovedTexts & { readonly rebuilt: number }> =>
    withSql(config, async ({ sql }) => {
      if (config.databaseUrl !== undefined) await refuseBesideService(sql);
      const log = await openLog(config);
      try {
        const clock = systemClock();
        await openedLog(log, clock.now());
        const objects = (await openObjects(config))[0];
        const move = await textMoverOf(config, { objects, folderKey: await folderKeyForService(config) });
        const { onEvents: onProgress, signal } = progress;
        const deps = { log, snapshots: log.snapshots, move, now: clock.now, onProgress, signal };
        const moved = await moveTexts(deps);
        const feed = readThrough(log, moved.position ?? 0n);
        return { ...moved, rebuilt: await rebuildMoved({ sql, feed }, progress) };
      } finally {
        await log.close();
      }
    });
  return config.databaseUrl === undefined ? work() : underLock(config.dataDir, work);
};
