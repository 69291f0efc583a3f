import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { copyEventLog, openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { LOCK_FILES, RESTORING } from '../../adapters/local/dataFolder.ts';
import { objectFileOf, openObjectFolder, WHOLE_OBJECTS } from '../../adapters/local/objectFolder.ts';
import { headerLogIdOf } from '../../adapters/sqlite/eventLogFile.ts';
import { systemClock } from '../../adapters/local/local.ts';
import {
  auditCopy,
  checkBackup,
  contentOf,
  isWithin,
  restoreBackup,
  type AuditedCopy,
  type CheckedBackup,
  type OpenedLog,
  type RestoreRequest,
} from './restoreBackup.ts';
import { DATA } from './files.ts';
import { makeBackup, type BackupDeps, type DataFolder, type MadeBackup } from './makeBackup.ts';
import { CannotCopy, type CopiedLog, copyLog, copyObjects, type LogCopy, OtherLog } from './copyLog.ts';
import { absentAsUndefined } from '../../domain/kernel/json.ts';
import { LogUnavailable } from '../../domain/ports/log.ts';
import { type Config, configFrom } from '../config.ts';
import { eventStoreAddress } from '../eventStoreUrl.ts';
import { OperatorError } from '../clientConfig.ts';
import { ENCRYPTION_SECRET, underLock } from '../parts/stores.ts';
import type { ArchiveSource } from '../../adapters/sqlite/archive.ts';
import { archiveIn } from '../parts/archive.ts';
import { VERSION } from '../version.ts';

const LOG = 'events.db';
const OBJECTS = 'objects';
const UPLOAD_SECRET = 'upload-secret';
/** Made by file systems, not by anybody. */
const HARMLESS = [...LOCK_FILES, 'lost+found'];

/** Files of an archive lie beside the copied log, or in the bucket that the environment names. */
const archiveBeside =
  (dataDir: string): ArchiveSource =>
  async (key) => {
    const copied = await archiveIn({ dataDir })(key);
    return copied ?? archiveIn({ dataDir, s3: configFrom().s3 })(key);
  };

/** Opens a copied log, which no service has open, for reading only. */
export const openCopiedLog = (path: string): OpenedLog => {
  const archive = archiveBeside(dirname(path));
  const feed = openSqliteEventLog({ path, readOnly: true, stored: true, archive });
  return { feed, headerId: headerLogIdOf(path), close: () => feed.close() };
};

export const dataFolderOf = ({ dataDir, s3 }: Pick<Config, 'dataDir' | 's3'>): DataFolder => ({
  path: dataDir,
  log: LOG,
  objects: s3 === undefined ? `${OBJECTS}/${WHOLE_OBJECTS}` : undefined,
  objectFile: (key) => `${OBJECTS}/${objectFileOf(key)}`,
  secrets: [UPLOAD_SECRET, ENCRYPTION_SECRET],
});

const refuseToBackUp = (config: Config, target: string): void => {
  const { dataDir, eventStoreUrl } = config;
  if (eventStoreUrl !== undefined)
    throw new OperatorError(
      'The event log is in EventStoreDB (EVENTSTORE_URL): back it up with the means of that ' +
        'server. This command backs up an embedded data folder.',
      2,
    );
  if (existsSync(join(dataDir, RESTORING)))
    throw new OperatorError(
      `${dataDir} holds a restore that was cut short: there is nothing whole to back up.`,
    );
  if (!existsSync(join(dataDir, LOG)))
    throw new OperatorError(`There is no event log in ${dataDir}. Set DATA_DIR as the service has it.`);
  if (isWithin(resolve(target), dataDir))
    throw new OperatorError(
      `${target} is in the data folder and would be lost with it: name a folder elsewhere.`,
      2,
    );
};

/** Backs up the embedded data folder, beside a running service or without one, into the new folder `target`. */
export const backUp = async (config: Config, target: string, signal: AbortSignal): Promise<MadeBackup> => {
  refuseToBackUp(config, target);
  const deps: BackupDeps = {
    data: dataFolderOf(config),
    copyLog: copyEventLog,
    open: openCopiedLog,
    version: VERSION,
    now: () => systemClock().now(),
  };
  return makeBackup(deps, target, signal);
};

type WholeBackup = Extract<CheckedBackup, { kind: 'whole' }>;

/** Checks every file of a backup, then audits its log. `whole` throws for a backup that is broken. */
export const verifyBackup = async (
  folder: string,
  whole: (folder: string, checked: CheckedBackup) => WholeBackup,
  signal: AbortSignal,
): Promise<Pick<WholeBackup, 'manifest'> & { readonly audited: AuditedCopy }> => {
  const { manifest, seal } = whole(folder, await checkBackup(folder, signal));
  const path = join(folder, DATA, LOG);
  const { log_id } = manifest.log;
  return { manifest, audited: await auditCopy({ open: openCopiedLog, path, seal, log_id, signal }) };
};

const refuseFull = async (dataDir: string, harmless = HARMLESS): Promise<void> => {
  const found = await contentOf(dataDir, harmless);
  if (found.length === 0 || (found.length === 1 && found[0] === RESTORING)) return;
  const what = found.includes(RESTORING)
    ? 'what is left of a restore that was cut short: remove all of it, and restore again'
    : `${found.slice(0, 5).join(', ')}: a backup is restored into an empty folder only. Name ` +
      'another one with --data-dir, or move this one away';
  throw new OperatorError(`${dataDir} holds ${what}.`);
};

/** Restoring into a backup would add to it, and break it. */
const refuseWithin = ({ backup, dataDir }: RestoreRequest): void => {
  const way = relative(backup, dataDir);
  if (way.startsWith('..') || isAbsolute(way)) return;
  throw new OperatorError(`${dataDir} is inside the backup: name a folder outside of it with --data-dir.`);
};

/** Restores a backup that was checked into an empty data folder, under its lock. */
export const restore = async (request: RestoreRequest): Promise<AuditedCopy> => {
  refuseWithin(request);
  await refuseFull(request.dataDir);
  const work = async (): Promise<AuditedCopy> => {
    await refuseFull(request.dataDir);
    return restoreBackup({ log: LOG, staging: RESTORING, open: openCopiedLog }, request);
  };
  return underLock(request.dataDir, work, { whileRestoring: true });
};

/** A log is named by the folder of an embedded one, or by the URL of a server. */
const isServer = (place: string): boolean => /^[a-z+]+:\/\//.test(place);

/** Under this name until it is whole. */
const COPYING = `${LOG}.copying`;
/** SQLite's files of one database. */
const ENDS = ['', '-wal', '-shm'];
/** Appends on their way at once: to a file of this machine, and to a server, where a round trip is worth so many. */
const [IN_FLIGHT, IN_FLIGHT_TO_SERVER] = [256, 128];

export interface LogCopyPlaces {
  readonly from: string;
  readonly to: string;
  /** Where objects are copied to or from; undefined: they stay where they are. */
  readonly s3: Config['s3'];
  /** Each append to a server waits for the one before. */
  readonly oneByOne?: boolean;
}

/** The copied items. */
export interface CopiedPlace extends CopiedLog {
  /** Objects that were not there; null: they were left alone. */
  readonly objects: number | null;
}

type CopyOptions = Pick<LogCopy, 'onProgress' | 'signal'>;

const copyObjectsOf = async (
  folder: string,
  { to, s3 }: LogCopyPlaces,
  signal: AbortSignal,
): Promise<number | null> => {
  if (s3 === undefined) return null;
  const { openMinioObjectStore } = await import('../../adapters/minio.ts');
  const [bucket, objects] = [await openMinioObjectStore(s3), await openObjectFolder(join(folder, OBJECTS))];
  return isServer(to) ? copyObjects(objects, bucket, signal) : copyObjects(bucket, objects, signal);
};

/** From a folder, whose service must not run, to a server. */
const toServer = async (places: LogCopyPlaces, options: CopyOptions): Promise<CopiedPlace> => {
  const { from, to } = places;
  const { openEventStoreDb } = await import('../../adapters/eventstoredb/eventStoreDb.ts');
  const { isCopyOpen, markCopy } = await import('../../adapters/eventstoredb/readiness.ts');
  if (!existsSync(join(from, LOG))) throw new OperatorError(`There is no event log in ${from}.`, 2);
  return underLock(from, async () => {
    const archive = archiveBeside(from);
    const source = openSqliteEventLog({ path: join(from, LOG), readOnly: true, archive });
    const target = openEventStoreDb({ connectionString: to });
    try {
      const wasOpen = await isCopyOpen(to);
      await markCopy(to, true);
      const inFlight = places.oneByOne === true ? 1 : IN_FLIGHT_TO_SERVER;
      const work = { source, target, clock: systemClock(), inFlight, ...options };
      const copied = await copyLog(work).catch(async (error: unknown) => {
        // A log that lives there has to start as before.
        if (error instanceof OtherLog) await markCopy(to, wasOpen);
        throw error;
      });
      const objects = await copyObjectsOf(from, places, options.signal);
      await markCopy(to, false);
      return { ...copied, objects };
    } finally {
      await Promise.all([source.close(), target.close()]);
    }
  });
};

/** Gives a copied log its name: from now on it is one. */
const nameLog = async (folder: string): Promise<void> => {
  for (const end of ENDS)
    await absentAsUndefined(rename(join(folder, `${COPYING}${end}`), join(folder, `${LOG}${end}`)));
};

/** From a server, to which nobody may write meanwhile, to an empty folder. An interrupted copy begins again. */
const toFolder = async (places: LogCopyPlaces, options: CopyOptions): Promise<CopiedPlace> => {
  const { from, to } = places;
  const { openEventStoreDb } = await import('../../adapters/eventstoredb/eventStoreDb.ts');
  const files = ENDS.map((end) => `${COPYING}${end}`);
  await refuseFull(to, [...HARMLESS, ...files, OBJECTS]);
  return underLock(to, async () => {
    for (const file of files) await rm(join(to, file), { force: true });
    const source = openEventStoreDb({ connectionString: from });
    const target = openSqliteEventLog({ path: join(to, COPYING) });
    try {
      const [clock, end] = [systemClock(), await source.end()];
      const copied = await copyLog({ source, target, clock, inFlight: IN_FLIGHT, ...options });
      if ((await source.end()) !== end)
        throw new OperatorError(
          `Something was written to ${eventStoreAddress(from).name} meanwhile: stop what uses it, and copy again.`,
        );
      const objects = await copyObjectsOf(to, places, options.signal);
      await target.close();
      await nameLog(to);
      return { ...copied, objects };
    } finally {
      await Promise.all([source.close(), target.close()]);
    }
  });
};

/**
 * Copies a log between an embedded place and a server, with its identity, hashes and seals, and the objects that
 * belong to it. Throws OperatorError.
 */
export const copyLogBetween = async (places: LogCopyPlaces, options: CopyOptions): Promise<CopiedPlace> => {
  const { from, to } = places;
  if (isServer(from) === isServer(to))
    throw new OperatorError(
      'Name a folder and a server: an embedded log is copied to a server, or the other way round. Folders are ' +
        'copied by `quire backup` and `quire restore`.',
      2,
    );
  try {
    return await (isServer(to) ? toServer(places, options) : toFolder(places, options));
  } catch (error) {
    if (error instanceof CannotCopy || error instanceof LogUnavailable)
      throw new OperatorError(error.message);
    throw error;
  }
};
