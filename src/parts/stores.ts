import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { aesSecretBox } from '../../adapters/local/local.ts';
import { knownSecret, secretFile } from '../../adapters/local/objectFolder.ts';
import { archiveIn, type ArchivePlace } from './archive.ts';
import type { ObjectStore, SecretBox } from '../../domain/ports/services.ts';
import type { Config } from '../config.ts';
import { eventStoreAddress } from '../eventStoreUrl.ts';
import { OperatorError } from '../clientConfig.ts';
import { reasonOf } from '../../domain/kernel/json.ts';
import type { Projecting, ProjectingSql } from './projecting.ts';
import { messageOf } from '../../domain/kernel/json.ts';
import { lockDataDir } from '../../adapters/local/dataFolder.ts';
import type { SqliteEventLog, SqliteEventLogOptions } from '../../adapters/sqlite/eventLog.ts';
import type { EmbeddedSql } from '../../adapters/pglite/sql.ts';
import { type EventFeed, type EventStore, LogLoginRefused, type TextVault } from '../../domain/ports/log.ts';
import { type TextMover, textMover, textVault, type VaultDeps } from '../writer/vault.ts';
import { readThrough } from '../../domain/eventLog/movedTexts.ts';
import { complain } from '../telemetry/output.ts';

/** The file of the key that a service makes in its data folder where it was given none. */
export const ENCRYPTION_SECRET = 'encryption-secret';

type KeyConfig = Pick<Config, 'dataDir' | 'eventStoreUrl' | 'secretKeys'>;

/** The key of the data folder; undefined if there is none, or if other processes share the event log. */
export const folderKey = async ({ eventStoreUrl, dataDir }: KeyConfig): Promise<Uint8Array | undefined> =>
  eventStoreUrl === undefined ? knownSecret(join(dataDir, ENCRYPTION_SECRET)) : undefined;

/** The same, made if it is missing and FIELD_ENCRYPTION_KEY is not set. */
export const folderKeyForService = (config: KeyConfig): Promise<Uint8Array | undefined> =>
  config.eventStoreUrl === undefined && config.secretKeys === undefined
    ? secretFile(join(config.dataDir, ENCRYPTION_SECRET))
    : folderKey(config);

/**
 * Seals own keys of callers and secrets of webhooks: with FIELD_ENCRYPTION_KEY, else with the key of the data folder,
 * which in either case opens what it has sealed. undefined if there is neither.
 */
export const secretBoxOf = (
  { secretKeys }: Pick<Config, 'secretKeys'>,
  ofFolder?: Uint8Array,
): SecretBox | undefined => {
  const own = ofFolder === undefined ? [] : [Buffer.from(ofFolder).toString('base64')];
  const [current = own[0], old] =
    secretKeys === undefined ? [undefined, []] : [secretKeys.current, [...secretKeys.old, ...own]];
  return current === undefined ? undefined : aesSecretBox({ current, old });
};

/** Where texts beside the log lie, and what opens them. */
interface VaultParts {
  readonly objects: ObjectStore;
  readonly folderKey: Uint8Array | undefined;
}

const vaultDepsOf = (
  config: Pick<Config, 'secretKeys'>,
  { objects, folderKey: ofFolder }: VaultParts,
): VaultDeps => ({
  objects,
  box: secretBoxOf(config, ofFolder),
  boxOf: aesSecretBox,
  nowMs: () => Date.now(),
  random: (bytes) => randomBytes(bytes),
});

/** Texts that people write, beside the log: in the same store as all other objects. */
export const vaultOf = (
  config: Pick<Config, 'secretKeys'>,
  parts: VaultParts,
  onError?: (error: unknown) => void,
): TextVault => textVault({ ...vaultDepsOf(config, parts), ...(onError !== undefined && { onError }) });

/** Puts texts of old events there. */
export const textMoverOf = (config: Pick<Config, 'secretKeys'>, parts: VaultParts): Promise<TextMover> =>
  textMover(vaultDepsOf(config, parts));

/** A server that the configuration names and that a start cannot do without. */
interface NeededServer {
  /** Its kind and place: never an address with a password. */
  readonly name: string;
  /** The variable that names it. */
  readonly variable: string;
}

/** How long a start waits for its servers, and where that is reported. */
export interface StartWait {
  readonly waitMs: number;
  /** Told once of each server that does not answer at once. */
  readonly onWait: (server: NeededServer, reason: string) => void;
  /** Ends the wait, which then throws. */
  readonly stopped: AbortSignal;
}

/** A server did not answer in the time that a start has. */
export class ServerAway extends OperatorError {
  constructor({ name, variable }: NeededServer, waitMs: number, reason: string) {
    super(
      `${name} did not answer within ${String(waitMs / 1000)} s (${reason}): look whether it ` +
        `runs, and whether ${variable} is right.`,
    );
  }
}

const loginRefused = ({ name, variable }: NeededServer): OperatorError =>
  new OperatorError(
    `${name} refuses the user or the password in ${variable}: write them before the host, as ` +
      'user:password@host, and characters like @ and / in them as %40 and %2F.',
  );

const FIRST_PAUSE_MS = 250;
const PAUSE_MAX_MS = 5_000;

/** A wait that nobody was told of is told after so long, ms: a server may also not answer at all. */
const SILENT_MAX_MS = 2_000;

const late = Symbol('late');

/** Tells of a wait once: when it is asked to, or where nobody has asked for a while. */
const toldOnce = (tell: () => void): { readonly now: () => void; readonly end: () => void } => {
  let isTold = false;
  const now = () => {
    if (!isTold) tell();
    isTold = true;
  };
  const silent = setTimeout(now, SILENT_MAX_MS);
  return { now, end: () => clearTimeout(silent) };
};

/** An answer, or `late` once so many ms are over or the wait was stopped. */
const answeredWithin = async <T>(
  ms: number,
  ask: () => Promise<T>,
  stopped: AbortSignal,
): Promise<T | typeof late> => {
  const over = new AbortController();
  const timeUp = pause(ms, late, { signal: AbortSignal.any([over.signal, stopped]) }).catch(() => late);
  try {
    return (await Promise.race([ask(), timeUp])) as T | typeof late;
  } finally {
    over.abort();
  }
};

/**
 * Asks less and less often until the server answers. Throws ServerAway when the time is over, and OperatorError at
 * once if the server refuses the user.
 */
export const answerOf = async <T>(
  server: NeededServer,
  ask: () => Promise<T>,
  { waitMs, onWait, stopped }: StartWait,
): Promise<T> => {
  const until = performance.now() + waitMs;
  const left = () => Math.max(0, until - performance.now());
  let reason = 'no answer';
  const failed = (error: unknown): typeof late => {
    if (error instanceof LogLoginRefused) throw loginRefused(server);
    reason = reasonOf(error);
    return late;
  };
  const told = toldOnce(() => onWait(server, reason));
  try {
    for (let attempt = 0; ; attempt += 1) {
      const answer = await answeredWithin(left(), ask, stopped).catch(failed);
      if (answer !== late) return answer;
      stopped.throwIfAborted();
      told.now();
      if (left() === 0) throw new ServerAway(server, waitMs, reason);
      await pause(Math.min(left(), PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** attempt), undefined, {
        signal: stopped,
      });
    }
  } finally {
    told.end();
  }
};

/** The configuration of the projections. */
export const projectingAs = ({
  rebuildDiverged,
  tracing,
}: Pick<Config, 'rebuildDiverged' | 'tracing'>): Projecting => ({
  diverged: rebuildDiverged === 'auto' ? 'rebuild' : 'leave',
  isTraced: tracing !== undefined,
});

// A driver is loaded only if it is used: those for servers are half of an embedded start's memory.

/** Where log and read models are. */
export type StoreConfig = Pick<Config, 'databaseUrl' | 'eventStoreUrl'> & ArchivePlace;

/** Of a cluster: a node may answer for so long, ms, without what others have, the leader only until it knows better. */
const BEHIND_MS = 5_000;

/** The file of the embedded event log. */
export const logFileIn = (dataDir: string): string => join(dataDir, 'events.db');

/**
 * Opens the log that the configuration names: EventStoreDB, or the embedded one, for which `options` are. Texts that
 * were moved out of its events are not read from it any more.
 */
export const openLog = async (
  { eventStoreUrl, dataDir, s3 }: StoreConfig,
  options: Omit<SqliteEventLogOptions, 'path'> = {},
): Promise<SqliteEventLog> => {
  if (eventStoreUrl !== undefined) {
    const { openEventStoreDb } = await import('../../adapters/eventstoredb/eventStoreDb.ts');
    const behindMs = eventStoreAddress(eventStoreUrl).isCluster ? BEHIND_MS : undefined;
    return readThrough(openEventStoreDb({ connectionString: eventStoreUrl, behindMs }));
  }
  const { openSqliteEventLog } = await import('../../adapters/sqlite/eventLog.ts');
  const archive = archiveIn({ dataDir, s3 });
  return readThrough(openSqliteEventLog({ path: logFileIn(dataDir), archive, ...options }));
};

/** The log for reading only: works beside a running service. Throws OperatorError if there is none. */
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
    const { postgresSql } = await import('../../adapters/postgres.ts');
    return { sql: postgresSql({ url: databaseUrl }), recreated: null };
  }
  const { pgliteSql } = await import('../../adapters/pglite/sql.ts');
  return pgliteSql(join(dataDir, 'read-models'));
};

/**
 * Opens the read models' database for the service: an embedded one shares its thread with the projections, which
 * read the log from its file if that is embedded too.
 */
export const openServiceSql = async (
  config: StoreConfig & Pick<Config, 'rebuildDiverged' | 'tracing'>,
): Promise<EmbeddedSql & Partial<ProjectingSql>> => {
  const { dataDir, databaseUrl, eventStoreUrl, s3 } = config;
  if (databaseUrl !== undefined || eventStoreUrl !== undefined) return openSql(config);
  const { openProjecting } = await import('./projecting.ts');
  return openProjecting(
    { folder: join(dataDir, 'read-models'), logFile: logFileIn(dataDir), archive: { dataDir, s3 } },
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
