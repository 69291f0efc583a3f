import { LogLoginRefused } from '../../domain/ports/log.ts';
import { existsSync, constants } from 'node:fs';
import { join } from 'node:path';
import { access } from 'node:fs/promises';
import { confinementHere } from '@quire/engine/isolation/confinement/confinement';
import { openDocumentWorkers } from '@quire/engine/isolation/documentWorkers';
import { ProcessNotStarted } from '@quire/engine/ports/documentParser';
import { hasPpocr } from '@quire/engine/recognition/ppocr/runtime';
import { available } from '@quire/engine/recognition/tessdata';
import type { Config, S3Config } from '../config.ts';
import { eventStoreAddress } from '../eventStoreUrl.ts';
import { systemClock } from '../../adapters/local/local.ts';
import { READ_SCHEMA } from '../../projections/engine/table.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { DROPPED_READ_MODELS, READ_MODELS } from '../../projections/readModels.ts';
import {
  ok,
  problem,
  warning,
  addressOf,
  addressState,
  addressVerdict,
  dataFolderVerdict,
  diskVerdict,
  ownerVerdict,
  type Check,
  type Verdict,
} from './doctor.ts';
import { reasonOf } from '../../domain/kernel/json.ts';
import {
  postgresVerdict,
  readModelsVerdict,
  redisAway,
  redisVerdict,
  embeddedLogVerdict,
  encryptionVerdict,
  openPaymentsVerdict,
  loginVerdict,
  rightsVerdict,
  sealedSecrets,
  serverAway,
  serverLogVerdict,
  protectionVerdict,
  type PostgresFacts,
  type EmbeddedLog,
} from './parts.ts';
import { askOperator, itemsOf, runningSocket, serviceFacts, type ServiceFacts } from '../operator/socket.ts';
import { projectionsStatus, type ReadModelStatus } from '../operator/log.ts';
import { withLogReader, logFileIn, folderKey, secretBoxOf } from '../parts/stores.ts';
import { checkEventLog } from '../../adapters/sqlite/eventLog.ts';
import { readObject } from '../../adapters/local/objectFolder.ts';
import type { OpenClaim } from '../commands/money/payments.ts';
import { archivedFiles } from '../operator/archiveCheck.ts';
import { objectsToRead } from '../parts/parts.ts';
import { openClaims } from '../operator/records.ts';
import { dataDirOwner } from '../../adapters/local/dataFolder.ts';
import { absentAsUndefined } from '../../domain/kernel/json.ts';
import { VERSION } from '../version.ts';

/** What doctor was asked, and the environment that it looks at. */
interface Doctor {
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly deep: boolean;
  readonly nowMs: () => number;
}

const SERVER_MS = 10_000;
const CONNECT_MS = 5_000;

const hostOf = (url: string): string => new URL(url).host;

const POSTGRES = `
  select current_setting('server_version_num')::int4 as version,
    current_setting('server_encoding') as encoding,
    pg_is_in_recovery() as standby,
    has_database_privilege(current_database(), 'CREATE') as may_create,
    (select array_agg(nspname::text order by nspname) from pg_namespace
      where nspname in ('projections', '${READ_SCHEMA}') and not pg_has_role(nspowner, 'USAGE')) as taken,
    (current_setting('max_connections')::int4 - current_setting('superuser_reserved_connections')::int4
      - (select count(*) from pg_stat_activity where backend_type = 'client backend'))::int4 as free`;

const withPostgres = async <T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> => {
  const { postgresSql } = await import('../../adapters/postgres.ts');
  const sql = postgresSql({ url, poolMax: 2, connectTimeoutMs: CONNECT_MS });
  try {
    return await work(sql);
  } finally {
    await sql.close();
  }
};

const factsOf = async (sql: Sql): Promise<PostgresFacts> => {
  await sql.query('select 1 as one');
  const began = performance.now();
  const [row = {}] = await sql.query(POSTGRES);
  const { taken } = row;
  return {
    answerMs: performance.now() - began,
    version: Number(row['version']),
    encoding: String(row['encoding']),
    standby: row['standby'] === true,
    mayCreate: row['may_create'] === true,
    foreign: Array.isArray(taken) ? taken.map(String) : [],
    connectionsFree: Number(row['free']),
  };
};

const postgres = async (url: string, { roles }: Config): Promise<Verdict> => {
  try {
    return postgresVerdict(hostOf(url), await withPostgres(url, factsOf), roles.includes('projector'));
  } catch (error) {
    return problem(
      `PostgreSQL at ${hostOf(url)} cannot be used (${reasonOf(error)}): look whether it runs, ` +
        'and whether user, password and database in DATABASE_URL are right.',
    );
  }
};

const fromServer = (config: Config, url: string): Promise<readonly ReadModelStatus[]> => {
  const known = { projectors: READ_MODELS, dropped: DROPPED_READ_MODELS };
  return withLogReader(config, (feed) =>
    withPostgres(url, (sql) => projectionsStatus({ sql, feed, nowMs: Date.now }, known)),
  );
};

const onServer = async (config: Config, url: string): Promise<Verdict> => {
  try {
    return readModelsVerdict(await fromServer(config, url));
  } catch (error) {
    return warning(
      `They could not be looked at (${reasonOf(error)}): mend PostgreSQL and the event log first.`,
    );
  }
};

const fromService = (socket: string, signal: AbortSignal): Promise<readonly ReadModelStatus[]> => {
  const asked = { name: 'projections.status', input: {} };
  return itemsOf((send) => askOperator(socket, asked, { send, signal }));
};

/** The embedded ones are looked at through their service alone: to open their folder is to write to it. */
const readModels = async (config: Config, signal: AbortSignal): Promise<Verdict> => {
  const { databaseUrl, dataDir } = config;
  if (databaseUrl !== undefined) return onServer(config, databaseUrl);
  const socket = await runningSocket(dataDir);
  return socket === undefined
    ? ok('They are embedded, and no service runs: it is the service that can be asked about them.')
    : readModelsVerdict(await fromService(socket, signal));
};

const redis = async (url: string): Promise<Verdict> => {
  const { redisProbe } = await import('../../adapters/redis.ts');
  try {
    const { answerMs, version } = await redisProbe(url);
    return redisVerdict(hostOf(url), answerMs, version);
  } catch (error) {
    return redisAway(hostOf(url), reasonOf(error));
  }
};

const bucketOf = async (s3: S3Config) => {
  const { bucketProbe } = await import('../../adapters/minio.ts');
  return bucketProbe(s3, () => systemClock().now());
};

const objects = async (s3: S3Config): Promise<Verdict> => {
  const where = `The bucket ${s3.bucket} at ${hostOf(s3.endpoint)}`;
  try {
    const bucket = await bucketOf(s3);
    if (!(await bucket.exists()))
      return warning(
        `${where} does not exist: the first start makes it, if its key may; or make it yourself.`,
      );
    await bucket.tryOut();
    return ok(`${where} takes, gives and removes an object.`);
  } catch (error) {
    return problem(
      `${where} cannot be used (${reasonOf(error)}): look at S3_ENDPOINT, at S3_ACCESS_KEY and ` +
        'S3_SECRET_KEY, and whether the key may put, get and delete objects.',
    );
  }
};

/** Clients may well reach what this machine does not, where they have an address of their own. */
const uploads = async (s3: S3Config, signal: AbortSignal): Promise<Verdict> => {
  const host = hostOf(s3.publicEndpoint ?? s3.endpoint);
  try {
    const bucket = await bucketOf(s3);
    if (!(await bucket.exists())) return warning('There is no bucket yet to which clients could send files.');
    await bucket.tryUpload(signal);
    return ok(`A file sent to a presigned URL at ${host} arrives.`);
  } catch (error) {
    const text = `A file sent to a presigned URL at ${host} does not arrive (${reasonOf(error)})`;
    return s3.publicEndpoint === undefined
      ? problem(`${text}: clients need that address; set S3_PUBLIC_ENDPOINT to one that they reach.`)
      : warning(
          `${text} from here: look whether clients reach S3_PUBLIC_ENDPOINT, and that it is this store.`,
        );
  }
};

/** The servers that the environment names, and the read models wherever they are. */
const serverChecks = ({ config }: Doctor): readonly Check[] => {
  const { databaseUrl, redisUrl, s3 } = config;
  const checks: readonly (Check | undefined)[] = [
    databaseUrl === undefined
      ? undefined
      : { name: 'postgres', limitMs: SERVER_MS, look: () => postgres(databaseUrl, config) },
    { name: 'read models', limitMs: 2 * SERVER_MS, look: (signal) => readModels(config, signal) },
    redisUrl === undefined ? undefined : { name: 'redis', limitMs: SERVER_MS, look: () => redis(redisUrl) },
    s3 === undefined ? undefined : { name: 'objects', limitMs: SERVER_MS, look: () => objects(s3) },
    s3 === undefined
      ? undefined
      : { name: 'uploads', limitMs: SERVER_MS, look: (signal) => uploads(s3, signal) },
  ];
  return checks.filter((check) => check !== undefined);
};

const LOG_MS = 20_000;
/** Before the check's own limit, so that what was found until then is shown. */
const LOOK_MS = LOG_MS - 2_000;

const foundIn = ({ parts }: Awaited<ReturnType<typeof checkEventLog>>): EmbeddedLog | undefined => {
  const facts = parts.find((part) => part.kind === 'facts');
  if (facts === undefined) return undefined;
  const file = parts.find((part) => part.kind === 'file');
  const chains = parts.find((part) => part.kind === 'chains');
  return { ...facts, fileComplaints: file?.complaints, chains };
};

const embeddedLog = async ({ config, deep, nowMs }: Doctor, signal: AbortSignal): Promise<Verdict> => {
  const path = logFileIn(config.dataDir);
  if (!existsSync(path)) return ok(`${path} is not there yet: the first start makes it.`);
  const until = deep ? signal : AbortSignal.any([signal, AbortSignal.timeout(LOOK_MS)]);
  const looked = await checkEventLog(path, { deep, signal: until });
  const found = foundIn(looked);
  if (found !== undefined && (looked.error === null || until.aborted))
    return embeddedLogVerdict(path, found, { deep, nowMs: nowMs() });
  return problem(
    `${path} cannot be read (${looked.error ?? 'nothing was found'}): look at the folder's ` +
      'rights, or restore a backup (docs/how-to/back-up-and-restore.md).',
  );
};

const serverLog = async (url: string, signal: AbortSignal): Promise<Verdict> => {
  const { openEventStoreDb } = await import('../../adapters/eventstoredb/eventStoreDb.ts');
  const { rightsMissing, serverClock } = await import('../../adapters/eventstoredb/readiness.ts');
  const { name: host, firstUrl, isCluster } = eventStoreAddress(url);
  const clock = serverClock(firstUrl, AbortSignal.any([signal, AbortSignal.timeout(3_000)])).catch(
    () => undefined,
  );
  const log = openEventStoreDb({ connectionString: url, readTimeoutMs: SERVER_MS - 2_000 });
  try {
    const missing = await rightsMissing(log, url, signal);
    if (missing.length > 0) return rightsVerdict(host, missing);
    const began = performance.now();
    const position = await log.head();
    const answerMs = performance.now() - began;
    return serverLogVerdict(host, { position, answerMs, skewMs: (await clock)?.skewMs });
  } catch (error) {
    if (error instanceof LogLoginRefused) return loginVerdict(host);
    return serverAway(host, { reason: reasonOf(error), isCluster });
  } finally {
    await log.close();
  }
};

/** Reads an object while another process has the store open. */
const objectReader = async ({ s3, dataDir }: Config) => {
  if (s3 === undefined) return (key: string) => readObject(join(dataDir, 'objects'), key);
  const { bucketProbe } = await import('../../adapters/minio.ts');
  return bucketProbe(s3, () => systemClock().now()).get;
};

const NO_SECRETS = { opened: 0, old: 0, lost: [] };

const opened = async (config: Config, signal: AbortSignal): Promise<Verdict> => {
  const ofFolder = await folderKey(config);
  const key = config.secretKeys !== undefined ? 'given' : ofFolder !== undefined ? 'folder' : 'none';
  if (config.eventStoreUrl === undefined && !existsSync(logFileIn(config.dataDir)))
    return encryptionVerdict(key, NO_SECRETS);
  const get = await objectReader(config);
  const found = await withLogReader(config, (log) =>
    sealedSecrets({ log, get, box: secretBoxOf(config, ofFolder) }, signal),
  );
  return encryptionVerdict(key, found);
};

const encryption = async (config: Config, signal: AbortSignal): Promise<Verdict> => {
  try {
    return await opened(config, signal);
  } catch (error) {
    return warning(
      `Whether keys of saved configs and webhooks can be opened could not be seen (${reasonOf(error)}): ` +
        'mend the event log and the objects first.',
    );
  }
};

/** Asked of the service where one runs: it knows them without reading the whole log. */
const openPaymentsOf = async (config: Config, signal: AbortSignal): Promise<readonly OpenClaim[]> => {
  const embedded = config.eventStoreUrl === undefined;
  if (embedded && !existsSync(logFileIn(config.dataDir))) return [];
  const socket = embedded ? await runningSocket(config.dataDir) : undefined;
  if (socket === undefined) return withLogReader(config, (log) => openClaims(log, undefined, signal));
  const asked = { name: 'payments.list-open', input: {} };
  return itemsOf((send) => askOperator(socket, asked, { send, signal }));
};

const openPayments = async ({ config, deep, nowMs }: Doctor, signal: AbortSignal): Promise<Verdict> => {
  const until = deep ? signal : AbortSignal.any([signal, AbortSignal.timeout(LOOK_MS)]);
  try {
    return openPaymentsVerdict(await openPaymentsOf(config, until), nowMs());
  } catch (error) {
    const why = until.aborted
      ? 'the log is too long for a quick look: --deep takes its time'
      : reasonOf(error);
    return warning(`Whether payments were left undone could not be seen (${why}).`);
  }
};

/** Files of the archive are a part of the log: without one of them its events cannot be read. */
const archive = async (config: Config): Promise<Verdict> => {
  const path = logFileIn(config.dataDir);
  if (!existsSync(path)) return ok('Nothing is archived.');
  const { files, missing } = await archivedFiles(path, () => objectsToRead(config));
  if (files === 0) return ok('Nothing is archived.');
  return missing.length === 0
    ? ok(`${String(files)} files of archived events are in the store of objects.`)
    : problem(
        `${String(missing.length)} of ${String(files)} files of archived events are not in the store of objects, ` +
          `for example ${missing[0] ?? ''}: put them back from a backup (docs/how-to/archive.md).`,
      );
};

const archiveChecks = (config: Config): readonly Check[] =>
  config.eventStoreUrl === undefined
    ? [{ name: 'archive', limitMs: SERVER_MS, look: () => archive(config) }]
    : [];

/** The event log, the keys of saved configs and webhooks, which only it names, and payments that were left undone. */
const logChecks = (doctor: Doctor): readonly Check[] => {
  const { config, deep } = doctor;
  const { eventStoreUrl } = config;
  return [
    eventStoreUrl === undefined
      ? {
          name: 'event log',
          limitMs: deep ? undefined : LOG_MS,
          look: (signal) => embeddedLog(doctor, signal),
        }
      : { name: 'event log', limitMs: SERVER_MS, look: (signal) => serverLog(eventStoreUrl, signal) },
    ...archiveChecks(config),
    {
      name: 'encryption',
      limitMs: deep ? undefined : LOG_MS,
      look: (signal) => encryption(config, signal),
    },
    {
      name: 'payments',
      limitMs: deep ? undefined : LOG_MS,
      look: (signal) => openPayments(doctor, signal),
    },
  ];
};

const QUICK_MS = 5_000;
/** Starts a process by each way of confining it until one holds. */
const PROTECTION_MS = 30_000;

/** The description of the data folder's service; undefined if none answers. */
const runningService = async (
  { dataDir }: Config,
  signal: AbortSignal,
): Promise<ServiceFacts | undefined> => {
  const socket = await runningSocket(dataDir);
  if (socket === undefined) return undefined;
  const asked = { name: 'service.about', input: {} };
  const [facts] = await itemsOf((send) => askOperator(socket, asked, { send, signal }));
  return facts === undefined ? undefined : serviceFacts.parse(facts);
};

const ANY_SCHEMA = { type: 'object', properties: { name: { type: 'string' } } };

/** Why no process that reads documents starts, as the service starts them; undefined: one does. */
const startRefused = async (signal: AbortSignal): Promise<Verdict | undefined> => {
  const workers = openDocumentWorkers({ processes: 1 });
  try {
    await workers.schemaValidator.check(ANY_SCHEMA, { share: 'doctor', signal });
    return undefined;
  } catch (error) {
    if (error instanceof ProcessNotStarted) return problem(`Documents cannot be read: ${error.message}`);
    throw error;
  } finally {
    await workers.close();
  }
};

const folderChecks = ({ config, env }: Doctor): readonly Check[] => [
  { name: 'data folder', limitMs: QUICK_MS, look: () => dataFolderVerdict(config.dataDir) },
  { name: 'disk', limitMs: QUICK_MS, look: () => diskVerdict(config.dataDir) },
  {
    name: 'service',
    limitMs: QUICK_MS,
    look: async (signal) => {
      const facts = await runningService(config, signal);
      return ownerVerdict(await dataDirOwner(config.dataDir), facts, VERSION);
    },
  },
  ...(config.s3 === undefined ? [objectFolderCheck(config)] : []),
  ...addressChecks(config),
  ocrCheck(config),
  {
    name: 'parsers',
    limitMs: PROTECTION_MS,
    look: async (signal) => (await startRefused(signal)) ?? protectionVerdict(await confinementHere()),
  },
  modelsCheck(config, env),
];

const objectFolderCheck = ({ dataDir }: Config): Check => ({
  name: 'objects',
  limitMs: QUICK_MS,
  look: async () => {
    const folder = join(dataDir, 'objects');
    const found = await absentAsUndefined(access(folder, constants.R_OK | constants.W_OK).then(() => true));
    return found === undefined
      ? ok(`The folder ${folder} is not there yet: the first start makes it.`)
      : ok(`The folder ${folder} can be read and written.`);
  },
});

const addressChecks = (config: Config): readonly Check[] => {
  const { host, port, roles } = config;
  if (!roles.includes('api')) return [];
  const look = async (signal: AbortSignal): Promise<Verdict> => {
    if (port === 0) return ok('PORT is 0: each start picks a free one.');
    const [state, facts] = await Promise.all([
      addressState({ host, port }, signal),
      runningService(config, signal).catch(() => undefined),
    ]);
    const isOwn = facts?.url != null && new URL(facts.url).port === String(port);
    return addressVerdict(addressOf(host, port), state, isOwn);
  };
  return [{ name: 'address', limitMs: QUICK_MS, look }];
};

/** PP-OCR is optional: where its packages could not be installed, Tesseract reads alone. */
const secondEngine = (engines: Config['ocrEngines']): string => {
  if (!engines.includes('ppocr')) return '';
  return hasPpocr() ? ' PP-OCR is installed.' : ' PP-OCR is not installed: bad scans are read less well.';
};

const NO_ENGINE =
  'PP-OCR is not installed, and OCR_ENGINES names nothing else: no scan can be read. To mend it, add tesseract.';

const ocrCheck = ({ ocrLanguages, ocrEngines }: Config): Check => ({
  name: 'recognition',
  limitMs: QUICK_MS,
  look: () => {
    const there = available(ocrLanguages);
    const missing = ocrLanguages.filter((language) => !there.includes(language));
    const second = secondEngine(ocrEngines);
    if (!ocrEngines.includes('tesseract')) return hasPpocr() ? ok(second.trim()) : problem(NO_ENGINE);
    if (missing.length === 0) return ok(`The data of ${there.join(', ')} are there.${second}`);
    const what = `The data of ${missing.join(', ')} are missing`;
    const todo = `install @tesseract.js-data/<language> and run \`npm run build\`, or leave it out of OCR_LANGUAGES`;
    return there.length === 0
      ? problem(`${what}: no scan can be read. To mend it, ${todo}.`)
      : warning(`${what}: scans in these languages are read as others. To mend it, ${todo}.`);
  },
});

const MODEL_KEYS = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_API_KEY', 'MISTRAL_API_KEY'];

/** Keys are looked for and not tried: doctor sends nothing to a provider. */
const modelsCheck = ({ platformModels }: Config, env: Doctor['env']): Check => ({
  name: 'models',
  limitMs: QUICK_MS,
  look: () => {
    const keys = MODEL_KEYS.filter((name) => (env[name] ?? '') !== '');
    const { extraction, ocr } = platformModels;
    const set = keys.length === 0 ? 'no provider key is set' : `${keys.join(', ')} set (not tried)`;
    return ok(`Extraction by ${extraction.name}, recognition by ${ocr.name}; ${set}.`);
  },
});

/** Everything that is looked at with a configuration that makes sense, in the order in which it is shown. */
export const configuredChecks = (doctor: Doctor): readonly Check[] => [
  ...folderChecks(doctor),
  ...logChecks(doctor),
  ...serverChecks(doctor),
];
