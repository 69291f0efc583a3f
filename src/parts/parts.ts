import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import { sweepTempFolders } from '@quire/engine/kernel/tempFolders';
import { withoutEnd } from '@quire/engine/kernel/text';
import { openDocumentWorkers, type DocumentWorkers } from '@quire/engine/isolation/documentWorkers';
import type { EventFeed, EventStore, SnapshotStore } from '../../domain/ports/log.ts';
import type {
  LockedObjects,
  ObjectStore,
  RateLimiter,
  UploadSignatures,
  UploadTargets,
} from '../../domain/ports/services.ts';
import { lockDataDir } from '../../adapters/local/dataFolder.ts';
import { objectFolder, openObjectFolder, secretFile, uploadUrls } from '../../adapters/local/objectFolder.ts';
import { memoryRateLimiter } from '../../adapters/local/local.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import type { Config } from '../config.ts';
import { eventStoreAddress } from '../eventStoreUrl.ts';
import { OperatorError } from '../clientConfig.ts';
import {
  logFileIn,
  openLog,
  openServiceSql,
  answerOf,
  folderKeyForService,
  type StartWait,
} from './stores.ts';

/** The description of a part, for the banner and for health: never an address with a password. */
interface PartNames {
  readonly event_log: string;
  readonly read_models: string;
  readonly objects: string;
  readonly limits: string;
}

/** The outside world, opened. */
export interface Parts {
  readonly log: EventStore & EventFeed;
  /** Beside the log, where it is trusted; never in the read models' database. */
  readonly snapshots: SnapshotStore;
  readonly sql: Sql;
  /** To the projections where they share a thread with the embedded read models; else they run in this one. */
  readonly projections: MessagePort | undefined;
  readonly objects: ObjectStore;
  /** Where clients send their files. `signatures` are undefined where that is another service. */
  readonly uploads: { readonly targets: UploadTargets; readonly signatures: UploadSignatures | undefined };
  /** Where clients reach this process; known once it listens. */
  readonly address: { url: string | undefined };
  /** Where clients elsewhere reach the service, without an end slash. Throws before it listens. */
  readonly baseUrl: () => string;
  /** What sessions are sealed with. */
  readonly sessionSecret: Uint8Array;
  /** What seals secrets where the service was given no key; undefined where other processes share the event log. */
  readonly folderKey: Uint8Array | undefined;
  readonly limiter: RateLimiter;
  readonly workers: DocumentWorkers;
  /** Received files while they are worked on. */
  readonly uploadDir: string;
  readonly names: PartNames;
  /** False while nothing can be appended to the embedded log, as on a full disk. */
  readonly isLogWritable: () => boolean;
  /** Why the embedded read models had to be rebuilt; null otherwise. */
  readonly recreated: string | null;
  /** Closes in reverse order of opening. */
  readonly close: () => Promise<void>;
}

/** Everything that a process has opened, to be closed when it ends. */
export interface Ends {
  /** Throws where the process was told to end meanwhile: what is opened after that would be opened for nothing. */
  readonly add: (end: () => unknown) => void;
  /** Closes what was opened last first; throws the first error, after all have had their turn. */
  readonly close: () => Promise<void>;
}

/** One end that fails keeps no other from its own. */
export const newEnds = (stopped?: AbortSignal): Ends => {
  const ends: (() => unknown)[] = [];
  return {
    add: (end) => {
      ends.unshift(end);
      stopped?.throwIfAborted();
    },
    close: async () => {
      const failures: unknown[] = [];
      for (const end of ends.splice(0)) {
        try {
          await end();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
};

/** Keeps a part that was opened, to be closed at the end. */
const keeperOf =
  ({ add }: Pick<Ends, 'add'>): Keep =>
  (part, close) => {
    add(() => close(part));
    return part;
  };

type Keep = <T>(part: T, close: (part: T) => Promise<void>) => T;

const hostOf = (url: string): string => new URL(url).host;

const storeNames = ({ eventStoreUrl, databaseUrl, dataDir }: Config) => ({
  event_log:
    eventStoreUrl === undefined
      ? `SQLite at ${logFileIn(dataDir)}`
      : `EventStoreDB at ${eventStoreAddress(eventStoreUrl).name}`,
  read_models:
    databaseUrl === undefined
      ? `PGlite in ${join(dataDir, 'read-models')}`
      : `PostgreSQL at ${hostOf(databaseUrl)}`,
});

/** Where objects are kept, and what that is called. An embedded folder needs the lock of its data folder. */
export const openObjects = async (
  { s3, dataDir }: Config,
  wait?: StartWait,
): Promise<readonly [ObjectStore, string]> => {
  if (s3 !== undefined) {
    const { openMinioObjectStore } = await import('../../adapters/minio.ts');
    const open = () => openMinioObjectStore(s3);
    const server = { name: `S3 at ${hostOf(s3.endpoint)}`, variable: 'S3_ENDPOINT' };
    const objects = wait === undefined ? await open() : await answerOf(server, open, wait);
    return [objects, `S3 bucket ${s3.bucket} at ${hostOf(s3.endpoint)}`];
  }
  const folder = join(dataDir, 'objects');
  return [await openObjectFolder(folder), `folder ${folder}`];
};

/** Objects for reading alone, beside a running service. */
export const objectsToRead = async (config: Config): Promise<ObjectStore> =>
  config.s3 === undefined ? objectFolder(join(config.dataDir, 'objects')) : (await openObjects(config))[0];

/** The bucket of the configuration, for reading; undefined: objects lie in a folder. */
export const openS3 = async ({ s3 }: Pick<Config, 's3'>): Promise<ObjectStore | undefined> => {
  if (s3 === undefined) return undefined;
  const { clientOf, objectsIn } = await import('../../adapters/minio.ts');
  return objectsIn(clientOf(s3), s3.bucket);
};

const FOLDER =
  'The embedded folder of objects cannot lock them, so seals in it could be removed: set ' +
  'S3_ENDPOINT and its fellows to a bucket with object lock, or leave seals out of the ' +
  'object store.';

/** Where seals can be put so that nobody changes them. */
export const openLockedObjects = async ({ s3 }: Pick<Config, 's3'>): Promise<LockedObjects> => {
  if (s3 === undefined)
    return { refusal: () => Promise.resolve(FOLDER), putLocked: () => Promise.reject(new Error(FOLDER)) };
  const { minioLockedObjects } = await import('../../adapters/minio.ts');
  return minioLockedObjects(s3);
};

/** As `openLockedObjects`, opened when it is asked for something. */
export const lockedLater = (config: Pick<Config, 's3'>): LockedObjects => ({
  refusal: async () => (await openLockedObjects(config)).refusal(),
  putLocked: async (...args) => (await openLockedObjects(config)).putLocked(...args),
});

/** A client cannot send anything to `0.0.0.0`, which only says that all addresses are listened on. */
const reachable = (url: string): string =>
  url.replace(/^(https?:\/\/)(0\.0\.0\.0|\[::\])(?=[:/]|$)/, '$1localhost');

const baseUrlOf =
  ({ publicUrl }: Config, address: Parts['address']) =>
  (): string => {
    const url = publicUrl ?? address.url;
    if (url === undefined) throw new Error('the address was asked for before the service listens');
    return withoutEnd(reachable(url), /\//);
  };

const sessionSecretOf = async ({ sessionSecret, dataDir }: Config): Promise<Uint8Array> =>
  sessionSecret === undefined
    ? secretFile(join(dataDir, 'session-secret'))
    : Buffer.from(sessionSecret, 'base64');

const openUploads = async ({ s3, dataDir }: Config, baseUrl: Parts['baseUrl']): Promise<Parts['uploads']> => {
  if (s3 !== undefined) {
    const { minioUploadTargets } = await import('../../adapters/minio.ts');
    return { targets: minioUploadTargets(s3), signatures: undefined };
  }
  const secret = await secretFile(join(dataDir, 'upload-secret'));
  const urls = uploadUrls({ secret, baseUrl });
  return { targets: urls, signatures: urls };
};

const openLimiter = async (
  { redisUrl }: Config,
  keep: Keep,
  onOutage: (error: unknown) => void,
): Promise<readonly [RateLimiter, string]> => {
  const nowMs = () => performance.now();
  const fallback = memoryRateLimiter(nowMs);
  if (redisUrl === undefined) return [keep(fallback, (part) => part.close()), 'memory of this process'];
  const { redisClient, redisRateLimiter } = await import('../../adapters/redis.ts');
  const client = redisClient(redisUrl, onOutage);
  const limiter = redisRateLimiter({ client, fallback, nowMs, onOutage });
  return [
    keep(limiter, (part) => part.close()),
    `Redis at ${hostOf(redisUrl)}, or this process while it cannot be reached`,
  ];
};

/** What parts tell of themselves while they run. */
interface PartEvents {
  readonly lockLost: (error: Error) => void;
  readonly redisOutage: (error: unknown) => void;
  /** A server that the start needs does not answer yet, and why. */
  readonly serverAway?: StartWait['onWait'];
  /** Nothing can be appended to the embedded log, and why; null: it can again. */
  readonly logTrouble?: (reason: string | null) => void;
  /** The process was told to end: no more is opened, and the reason thrown. */
  readonly stopped?: AbortSignal;
}

/** A log that is not whole would be another one once a service has written to it. */
const refuseHalfCopied = async (eventStoreUrl: string): Promise<void> => {
  const { isCopyOpen } = await import('../../adapters/eventstoredb/readiness.ts');
  const { name } = eventStoreAddress(eventStoreUrl);
  if (await isCopyOpen(eventStoreUrl))
    throw new OperatorError(
      `A copy into EventStoreDB at ${name} was begun and has not ended: run \`quire log copy\` ` +
        'again, which goes on from what is there, and start the service then.',
    );
};

/** Drivers dial late: what cannot be reached is found here, not by the first request. Embedded parts are there. */
const serversAnswer = async (
  config: Config,
  { log, sql }: { readonly log: EventFeed; readonly sql: Sql },
  wait: StartWait,
): Promise<void> => {
  const { eventStoreUrl, databaseUrl } = config;
  const asked: Promise<unknown>[] = [];
  if (eventStoreUrl !== undefined) {
    const server = {
      name: `EventStoreDB at ${eventStoreAddress(eventStoreUrl).name}`,
      variable: 'EVENTSTORE_URL',
    };
    asked.push(answerOf(server, () => log.head(), wait).then(() => refuseHalfCopied(eventStoreUrl)));
  }
  if (databaseUrl !== undefined) {
    const server = { name: `PostgreSQL at ${hostOf(databaseUrl)}`, variable: 'DATABASE_URL' };
    asked.push(answerOf(server, () => sql.query('select 1 as one'), wait));
  }
  // All are asked to the end: the parts are closed only when nobody uses them any more.
  const failed = (await Promise.allSettled(asked)).find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
};

/**
 * Opens every part that the configuration names, embedded where it names none. When one does not open,
 * those before it are closed again.
 */
export const openParts = async (config: Config, on: PartEvents): Promise<Parts> => {
  const ends = newEnds(on.stopped);
  const keep = keeperOf(ends);
  const writable = { log: true };
  try {
    keep(await lockDataDir(config.dataDir, on.lockLost), (lock) => lock.release());
    const uploadDir = join(config.dataDir, 'uploads');
    // Whatever is there was left by a process that is gone: this one owns the folder.
    await rm(uploadDir, { recursive: true, force: true });
    await mkdir(uploadDir, { recursive: true, mode: 0o700 });
    await sweepTempFolders();
    const onTrouble = (reason: string | null): void => {
      writable.log = reason === null;
      on.logTrouble?.(reason);
    };
    const log = keep(await openLog(config, { onTrouble }), (part) => part.close());
    const { ocrLanguages, ocrEngines } = config;
    const workers = keep(openDocumentWorkers({ ocrLanguages, ocrEngines }), (part) => part.close());
    // A process tries what confines parsers, while the database opens. Its answer is asked for again before the banner.
    void workers.protection().catch(() => undefined);
    const { sql, recreated, projections } = await openServiceSql(config);
    keep(sql, (part) => part.close());
    const wait = {
      waitMs: config.startWaitSeconds * 1000,
      onWait: on.serverAway ?? (() => undefined),
      stopped: on.stopped ?? new AbortController().signal,
    };
    await serversAnswer(config, { log, sql }, wait);
    const [objects, objectsName] = await openObjects(config, wait);
    const address: Parts['address'] = { url: undefined };
    const baseUrl = baseUrlOf(config, address);
    const uploads = await openUploads(config, baseUrl);
    const [limiter, limits] = await openLimiter(config, keep, on.redisOutage);
    const names = { ...storeNames(config), objects: objectsName, limits };
    return {
      log,
      snapshots: log.snapshots,
      sql,
      projections,
      objects,
      uploads,
      address,
      baseUrl,
      sessionSecret: await sessionSecretOf(config),
      folderKey: await folderKeyForService(config),
      limiter,
      workers,
      uploadDir,
      names,
      isLogWritable: () => writable.log,
      recreated,
      close: ends.close,
    };
  } catch (error) {
    await ends.close();
    throw error;
  }
};
