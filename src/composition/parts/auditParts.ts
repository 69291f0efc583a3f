import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockDataDir } from '../../../adapters/embedded/dataDirLock.ts';
import { systemClock } from '../../../adapters/embedded/systemClock.ts';
import type { EventFeed } from '../../../domain/ports/eventFeed.ts';
import type { Sql } from '../../../projections/engine/ports.ts';
import { READ_MODELS } from '../../../projections/readModels.ts';
import { withSnapshot, type ReadModelSnapshot } from '../../audit/readModels/snapshot.ts';
import { snapshotStore } from '../../audit/readModels/snapshotLines.ts';
import type { Config } from '../../config.ts';
import { askOperator, runningSocket } from '../../operator/askOperator.ts';

/** The log to audit. */
export interface AuditedFeed {
  readonly feed: EventFeed;
  /** Positions have no gaps: true of the embedded log. */
  readonly dense: boolean;
  readonly close: () => Promise<void>;
}

/** Opens the log for reading only; works beside a running service. */
export const openAuditedLog = async ({ eventStoreUrl, dataDir }: Config): Promise<AuditedFeed> => {
  if (eventStoreUrl !== undefined) {
    const { openEventStoreDb } = await import('../../../adapters/eventstoredb/eventStoreDb.ts');
    const feed = openEventStoreDb({ connectionString: eventStoreUrl });
    return { feed, dense: false, close: () => feed.close() };
  }
  const { openSqliteEventLog } = await import('../../../adapters/embedded/eventLog/sqliteEventLog.ts');
  const feed = openSqliteEventLog({ path: join(dataDir, 'events.db'), readOnly: true, stored: true });
  return { feed, dense: true, close: () => feed.close() };
};

const exitOnLostLock = (): never => {
  process.stderr.write('The data folder was taken by another process.\n');
  process.exit(1);
};

/** Read models, and why they are empty where they had to be made anew. */
interface OpenedSql {
  readonly sql: Sql;
  readonly recreated: string | null;
  readonly close: () => Promise<void>;
}

const embeddedSql = async (dataDir: string): Promise<OpenedSql> => {
  const lock = await lockDataDir(dataDir, exitOnLostLock);
  try {
    const { pgliteSql } = await import('../../../adapters/embedded/pglite/pgliteSql.ts');
    const { sql, recreated } = await pgliteSql(join(dataDir, 'read-models'));
    return { sql, recreated, close: () => sql.close().finally(() => lock.release()) };
  } catch (error) {
    await lock.release();
    throw error;
  }
};

const serverSql = async (url: string): Promise<OpenedSql> => {
  const { postgresSql } = await import('../../../adapters/postgres/postgresSql.ts');
  const sql = postgresSql({ url });
  return { sql, recreated: null, close: () => sql.close() };
};

const fromDatabase = async <T>(
  { databaseUrl, dataDir }: Config,
  work: (snapshot: ReadModelSnapshot) => Promise<T>,
): Promise<T> => {
  const { sql, recreated, close } =
    databaseUrl === undefined ? await embeddedSql(dataDir) : await serverSql(databaseUrl);
  try {
    return await withSnapshot(sql, READ_MODELS, (snapshot) =>
      recreated === null
        ? work(snapshot)
        : work({ ...snapshot, missing: [`tables were lost (${recreated})`, ...snapshot.missing] }),
    );
  } finally {
    await close();
  }
};

/** The service sends its rows as of one moment; they are put down before anything is compared with them. */
const fromService = async <T>(
  socket: string,
  work: (snapshot: ReadModelSnapshot) => Promise<T>,
): Promise<T> => {
  const folder = await mkdtemp(join(tmpdir(), 'quire-audit-'));
  try {
    const store = snapshotStore(folder);
    const send = (item: unknown) => store.write(String(item));
    const { signal } = new AbortController();
    await askOperator(socket, { name: 'projections.snapshot', input: {} }, { send, signal });
    return await work(await store.finish());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/**
 * Hands out the read models at one moment: from Postgres where DATABASE_URL names it, from the running
 * service that owns the data folder, or from the folder itself under its lock.
 */
export const withReadModels = async <T>(
  config: Config,
  work: (snapshot: ReadModelSnapshot) => Promise<T>,
): Promise<T> => {
  const socket = config.databaseUrl === undefined ? await runningSocket(config.dataDir) : undefined;
  return socket === undefined ? fromDatabase(config, work) : fromService(socket, work);
};

/** The time that a seal is made at. */
export const timeNow = (): string => systemClock().now();
