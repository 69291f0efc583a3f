import { systemClock } from '../../../adapters/local/local.ts';
import { READ_SCHEMA } from '../../../projections/engine/table.ts';
import type { Sql } from '../../../projections/engine/ports.ts';
import { DROPPED_READ_MODELS, READ_MODELS } from '../../../projections/readModels.ts';
import type { Config, S3Config } from '../../config.ts';
import { ok, problem, reasonOf, warning, type Check, type Verdict } from '../../doctor/doctor.ts';
import {
  postgresVerdict,
  readModelsVerdict,
  redisAway,
  redisVerdict,
  type PostgresFacts,
} from '../../doctor/parts.ts';
import { askOperator, itemsOf, runningSocket } from '../../operator/socket.ts';
import { projectionsStatus, type ReadModelStatus } from '../../operator/log.ts';
import type { Doctor } from './doctor.ts';
import { withLogReader } from '../parts/openStores.ts';

export const SERVER_MS = 10_000;
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
  const { postgresSql } = await import('../../../adapters/postgres.ts');
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
  return withLogReader(config, (feed) => withPostgres(url, (sql) => projectionsStatus({ sql, feed }, known)));
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
  const { redisProbe } = await import('../../../adapters/redis.ts');
  try {
    const { answerMs, version } = await redisProbe(url);
    return redisVerdict(hostOf(url), answerMs, version);
  } catch (error) {
    return redisAway(hostOf(url), reasonOf(error));
  }
};

const bucketOf = async (s3: S3Config) => {
  const { bucketProbe } = await import('../../../adapters/minio.ts');
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
export const serverChecks = ({ config }: Doctor): readonly Check[] => {
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
