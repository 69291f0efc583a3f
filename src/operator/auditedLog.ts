import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newTempFolder } from '@quire/engine/kernel/tempFolders';
import type { EventFeed, EventStore } from '../../domain/ports/log.ts';
import type { ChainsDone, StartChains } from '../audit/chains.ts';
import type { ChainsOf } from './chainsWorker.ts';
import { hasDigests } from '../../adapters/sqlite/eventLog.ts';
import type { StartedShare, StartShares } from '../audit/shares.ts';
import type { ShareMessage, ShareOf } from './shareWorker.ts';
import { systemClock } from '../../adapters/local/local.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { snapshotStore, withSnapshot, type ReadModelSnapshot } from '../audit/compareReadModels.ts';
import { askOperator, runningSocket } from './socket.ts';
import { objectFolder } from '../../adapters/local/objectFolder.ts';
import { messageOf, SEALS_STREAM } from '../../domain/kernel/json.ts';
import { objectsCheck } from '../backup/namedObjects.ts';
import type { ObjectsCheck } from '../audit/runAudit.ts';
import type { Config } from '../config.ts';
import { openS3 } from '../parts/parts.ts';
import type { SealEvent } from '../../domain/finding.ts';
import { SEALS_PREFIX } from '../commands/sealing.ts';
import { type GivenSeal, ownEventsIn, sealsInStore } from '../audit/chains.ts';
import { archiveIn, type ArchivePlace } from '../parts/archive.ts';
import { type ArchiveCheck, checkArchive } from './archiveCheck.ts';
import { logFileIn, openLog, withSql, type StoreConfig } from '../parts/stores.ts';

/** A thread takes some 0.3 s to load what it needs: as long as this many events take. */
const CHAINS_EVENTS_MIN = 10_000n;

const startedChains = (data: ChainsOf) => {
  const worker = new Worker(new URL('./chainsWorker.js', import.meta.url), { workerData: data });
  const done = new Promise<ChainsDone>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the thread of the chains ended with ${String(code)}`)));
  });
  return { upTo: data.upTo, done, stop: () => worker.terminate() };
};

interface ChainsOptions {
  /** Shorter logs are read by one thread. */
  readonly eventsMin?: bigint;
  /** Where the events are that were archived; left out: none were. */
  readonly archive?: ArchivePlace;
}

/** Starts the chains half of an audit of the embedded log at `path`. */
export const chainsThread =
  (
    feed: Pick<EventFeed, 'end'>,
    path: string,
    { eventsMin = CHAINS_EVENTS_MIN, archive }: ChainsOptions = {},
  ): StartChains =>
  async (work) => {
    const upTo = await feed.end();
    if (upTo === undefined || upTo < eventsMin || availableParallelism() < 2) return undefined;
    return startedChains({ path, upTo, archive, work });
  };

/** Two threads load their code in some 0.6 s of CPU time: a tenth of the time for this many events. */
const SHARES_EVENTS_MIN = 100_000n;
/** Each reads past the rows of the others, so that more of them gain ever less. */
const THREADS_MAX = 8;

const startedShare = (data: ShareOf, onProgress: (events: number) => void) => {
  const worker = new Worker(new URL('./shareWorker.js', import.meta.url), { workerData: data });
  const told = <T>(pick: (message: ShareMessage) => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      worker.on('message', (message: ShareMessage) => {
        const picked = pick(message);
        if (picked !== undefined) resolve(picked);
      });
      worker.once('error', reject);
      worker.once('exit', (code) => reject(new Error(`the thread of a share ended with ${String(code)}`)));
    });
  worker.on('message', (message: ShareMessage) => {
    if ('events' in message) onProgress(message.events);
  });
  const done = told((message) => ('done' in message ? message.done : undefined));
  // It is asked for after the log is read; until then `read` reports an end of the thread.
  done.catch(() => undefined);
  const share: StartedShare = {
    read: told((message) => ('latest' in message ? message.latest : undefined)),
    finish: (latest) => {
      worker.postMessage(latest);
      return done;
    },
  };
  return { share, stop: () => worker.terminate() };
};

interface SharesOptions {
  /** Shorter logs are read by fewer threads. */
  readonly eventsMin?: bigint;
  readonly threads?: number;
}

/** Starts the shares of an audit of the embedded log at `path`, a thread for each. */
export const shareThreads =
  (feed: Pick<EventFeed, 'end'>, path: string, options: SharesOptions = {}): StartShares =>
  async (wanted, onProgress) => {
    const { eventsMin = SHARES_EVENTS_MIN, threads = Math.min(THREADS_MAX, availableParallelism()) } =
      options;
    const upTo = await feed.end();
    if (upTo === undefined || upTo < eventsMin || threads < 2 || !hasDigests(path)) return undefined;
    const read = Array.from({ length: threads }, () => 0);
    const all = read.map((_, share) =>
      startedShare({ path, share, of: threads, upTo, wanted: [...wanted, upTo.toString()] }, (events) => {
        read[share] = events;
        onProgress(read.reduce((sum, each) => sum + each, 0));
      }),
    );
    const stop = () => Promise.all(all.map((one) => one.stop()));
    return { upTo, shares: all.map(({ share }) => share), stop };
  };

/** The log to audit. */
export interface AuditedFeed {
  readonly feed: EventFeed & Pick<EventStore, 'read'>;
  /** Positions have no gaps: true of the embedded log. */
  readonly dense: boolean;
  /** Only the embedded log can be read by two threads: each opens its file. */
  readonly startChains?: StartChains;
  readonly startShares?: StartShares;
  /** Compares the files of the archive with what the log says of them; left out: there is none. */
  readonly checkArchive?: (signal?: AbortSignal) => Promise<ArchiveCheck>;
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
    const { dataDir, s3 } = config;
    const startChains = chainsThread(feed, path, { archive: { dataDir, s3 } });
    const startShares = shareThreads(feed, path);
    const inFiles = (signal?: AbortSignal) =>
      checkArchive({ log: feed, path, get: archiveIn({ dataDir, s3 }) }, signal);
    return await work({ feed, dense: true, startChains, startShares, checkArchive: inFiles });
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
    try {
      await store.close();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
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

/** What an audit compares objects by; an object store that is away is a note: the audit goes on without it. */
export const auditedObjects = async (
  config: Pick<Config, 's3' | 'dataDir'>,
  signal?: AbortSignal,
): Promise<{ readonly objects: ObjectsCheck | undefined; readonly notes: readonly string[] }> => {
  try {
    const objects = (await openS3(config)) ?? objectFolder(join(config.dataDir, 'objects'));
    return { objects: await objectsCheck(objects, signal), notes: [] };
  } catch (error) {
    signal?.throwIfAborted();
    return { objects: undefined, notes: [`Objects were not looked at: ${messageOf(error)}`] };
  }
};

/** Every seal that can be found: in the log itself, and in the object store if that is S3. */
export interface FoundSeals {
  readonly seals: readonly GivenSeal[];
  /** Where events of a copied log lay first. */
  readonly origins: readonly string[];
  /** What is wrong with them, before any is compared. */
  readonly flaws: readonly string[];
  /** What could not be looked at. */
  readonly notes: readonly string[];
}

/** Seals that were locked away and should still be there. */
const lostOf = (
  inLog: readonly SealEvent['data'][],
  keys: readonly string[],
  now: string,
): readonly string[] =>
  inLog.flatMap(({ object }) =>
    object === null || object.retained_until <= now || keys.includes(object.key)
      ? []
      : [`${object.key} was locked in the object store until ${object.retained_until} and is not there.`],
  );

/** Finds what was sealed before. An object store that is away is a note: the audit goes on without it. */
export const findSeals = async (
  config: Pick<Config, 's3'>,
  feed: Pick<EventFeed, 'subscribe'>,
  now: string,
): Promise<FoundSeals> => {
  const { seals: inLog, origins } = await ownEventsIn(feed);
  const given = inLog.map(({ seal }) => ({ seal, from: SEALS_STREAM }));
  const objects = await openS3(config);
  if (objects === undefined) return { seals: given, origins, flaws: [], notes: [] };
  try {
    const { seals, keys, flaws } = await sealsInStore(objects, {
      prefix: SEALS_PREFIX,
      inLog: inLog.map(({ seal }) => seal),
    });
    const lost = lostOf(inLog, keys, now);
    return { seals: [...given, ...seals], origins, flaws: [...flaws, ...lost], notes: [] };
  } catch (error) {
    return {
      seals: given,
      origins,
      flaws: [],
      notes: [`Seals in the object store were not looked at: ${messageOf(error)}`],
    };
  }
};

/** The time that a seal is made at. */
export const timeNow = (): string => systemClock().now();
