import { rm } from 'node:fs/promises';
import { newTempFolder } from '@quire/engine/kernel/tempFolders';
import { systemClock } from '../../../adapters/local/local.ts';
import type { StartChains } from '../../audit/chains.ts';
import type { StartShares } from '../../audit/shares.ts';
import type { EventFeed } from '../../../domain/ports/log.ts';
import { READ_MODELS } from '../../../projections/readModels.ts';
import { type ReadModelSnapshot, snapshotStore, withSnapshot } from '../../audit/compareReadModels.ts';
import { chainsThread } from '../audit/chainsThread.ts';
import { shareThreads } from '../audit/shareThreads.ts';
import { askOperator, runningSocket } from '../../operator/socket.ts';
import { logFileIn, openLog, withSql, type StoreConfig } from './openStores.ts';

/** The log to audit. */
export interface AuditedFeed {
  readonly feed: EventFeed;
  /** Positions have no gaps: true of the embedded log. */
  readonly dense: boolean;
  /** Only the embedded log can be read by two threads: each opens its file. */
  readonly startChains?: StartChains;
  readonly startShares?: StartShares;
}

/** Opens the log for reading only; works beside a running service. */
export const withAuditedLog = async <T>(
  config: StoreConfig,
  work: (log: AuditedFeed) => Promise<T>,
): Promise<T> => {
  const feed = await openLog(config, { readOnly: true, stored: true });
  try {
    if (config.eventStoreUrl !== undefined) return await work({ feed, dense: false });
    const path = logFileIn(config.dataDir);
    const [startChains, startShares] = [chainsThread(feed, path), shareThreads(feed, path)];
    return await work({ feed, dense: true, startChains, startShares });
  } finally {
    await feed.close();
  }
};

const fromDatabase = <T>(
  config: StoreConfig,
  work: (snapshot: ReadModelSnapshot) => Promise<T>,
): Promise<T> =>
  withSql(config, ({ sql, recreated }) =>
    withSnapshot(sql, READ_MODELS, (snapshot) =>
      recreated === null
        ? work(snapshot)
        : work({ ...snapshot, missing: [`tables were lost (${recreated})`, ...snapshot.missing] }),
    ),
  );

/** The service sends its rows as of one moment; they are put down before anything is compared with them. */
const fromService = async <T>(
  socket: string,
  work: (snapshot: ReadModelSnapshot) => Promise<T>,
): Promise<T> => {
  const folder = await newTempFolder('audit');
  const store = snapshotStore(folder);
  try {
    const send = (item: unknown) => store.write(String(item));
    const { signal } = new AbortController();
    await askOperator(socket, { name: 'projections.snapshot', input: {} }, { send, signal });
    return await work(await store.finish());
  } finally {
    await store.close().finally(() => rm(folder, { recursive: true, force: true }));
  }
};

/**
 * Hands out the read models at one moment: from Postgres where DATABASE_URL names it, from the running
 * service that owns the data folder, or from the folder itself under its lock.
 */
export const withReadModels = async <T>(
  config: StoreConfig,
  work: (snapshot: ReadModelSnapshot) => Promise<T>,
): Promise<T> => {
  const socket = config.databaseUrl === undefined ? await runningSocket(config.dataDir) : undefined;
  return socket === undefined ? fromDatabase(config, work) : fromService(socket, work);
};

/** The time that a seal is made at. */
export const timeNow = (): string => systemClock().now();
