import { resolve } from 'node:path';
import type { RecognitionEngine } from '@quire/engine/document/document';
import { CLIENT_VARIABLES } from './clientConfig.ts';
import { ConfigError } from './configError.ts';
import { environment, type Environment, type ROLES } from './environment.ts';
import { eraseInitialValues } from './initialEnvironment.ts';
import { signInFrom, type SignInConfig } from './signInConfig.ts';
import { tracingFrom } from './tracingConfig.ts';
import { platformModelsFrom, type PlatformModels } from './platformModels.ts';
import { READ_BY_DRIVERS, redactor, SECRET_VARIABLES, URL_VARIABLES } from './redact.ts';

export { ConfigError } from './configError.ts';

export interface S3Config {
  readonly endpoint: string;
  /** Where clients reach the same store with presigned URLs; undefined: at `endpoint`. */
  readonly publicEndpoint: string | undefined;
  readonly bucket: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
}

/** The service's configuration, checked. Members that are undefined select the embedded part. */
export type Config = Readonly<ReturnType<typeof configOf>>;

const S3_VARIABLES = ['S3_ENDPOINT', 'S3_BUCKET', 'S3_ACCESS_KEY', 'S3_SECRET_KEY'] as const;

const s3From = (env: Environment): S3Config | undefined => {
  const missing = S3_VARIABLES.filter((name) => env[name] === undefined);
  if (missing.length === S3_VARIABLES.length) return undefined;
  if (missing.length > 0)
    throw new ConfigError(
      `${missing.join(', ')}: missing. Object storage on S3 needs all of ` +
        `${S3_VARIABLES.join(', ')}; unset them all to use a folder.`,
    );
  const { S3_ENDPOINT = '', S3_BUCKET = '', S3_ACCESS_KEY = '', S3_SECRET_KEY = '', S3_REGION } = env;
  return {
    endpoint: S3_ENDPOINT,
    publicEndpoint: env.S3_PUBLIC_ENDPOINT,
    bucket: S3_BUCKET,
    accessKey: S3_ACCESS_KEY,
    secretKey: S3_SECRET_KEY,
    region: S3_REGION,
  };
};

const secretKeysFrom = (env: Environment) => {
  const { FIELD_ENCRYPTION_KEY: current, FIELD_ENCRYPTION_KEYS_OLD: old = [] } = env;
  if (current !== undefined) return { current, old };
  if (old.length === 0) return undefined;
  throw new ConfigError('FIELD_ENCRYPTION_KEYS_OLD: needs FIELD_ENCRYPTION_KEY, the key that seals now.');
};

const sealsFrom = (env: Environment) => {
  const { SEAL_EVERY_MINUTES: everyMinutes, SEAL_RETENTION_DAYS: retentionDays } = env;
  if (everyMinutes === undefined && retentionDays === undefined) return undefined;
  if (everyMinutes === undefined)
    throw new ConfigError('SEAL_RETENTION_DAYS: needs SEAL_EVERY_MINUTES, how often the log is sealed.');
  return { everyMinutes, retentionDays };
};

/** What variables say together; a complaint is put to the others, so that all are shown at once. */
const complaining = <T>(complaints: string[], read: () => T): T | undefined => {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    complaints.push(error.message);
    return undefined;
  }
};

/** Prefixes that are ours: a variable that has one and is unknown is most likely a typo. */
const OURS = new RegExp(
  String.raw`^(EVENTSTORE_|DATABASE_UR|REDIS_UR|S3_|ADMIN_API|FIELD_ENCRYPTION|EXTRACTION_|OCR_` +
    String.raw`|LOCAL_DEADLINE|HEAVY_|MAX_UPLOAD|UPLOAD_|PUBLIC_URL|TRUST_|CORS_|REBUILD_|START_WAIT|SEAL_|LLM_ALLOW` +
    String.raw`|OIDC_|SESSION_|WEBHOOKS_|QUIRE_)`,
);

const isKnown = (name: string): boolean => name in environment.shape || CLIENT_VARIABLES.includes(name);

const unknownOf = (env: Readonly<Record<string, string | undefined>>): string[] =>
  Object.keys(env).filter((name) => OURS.test(name) && !isKnown(name));

/** The variables as they were given, secrets among them: to be looked at, never to be shown. */
export const environmentOf = (): Readonly<Record<string, string | undefined>> => process.env;

/** What several variables say together, read before the rest so that all complaints are shown at once. */
interface Together {
  readonly s3: S3Config | undefined;
  /** Seal the keys in saved configs and the secrets of webhooks; undefined: there can be none. */
  readonly secretKeys: ReturnType<typeof secretKeysFrom>;
  /**
   * How often the service seals the log; undefined: it does not. For `retentionDays` each seal is also locked in
   * the object store; undefined: it is in the log alone.
   */
  readonly seals: ReturnType<typeof sealsFrom>;
  readonly platformModels: PlatformModels;
  readonly signIn: SignInConfig;
}

const configOf = (checked: Environment, together: Together) => ({
  ...together,
  port: checked.PORT,
  host: checked.HOST,
  dataDir: resolve(checked.DATA_DIR),
  eventStoreUrl: checked.EVENTSTORE_URL,
  databaseUrl: checked.DATABASE_URL,
  redisUrl: checked.REDIS_URL,
  adminApiKey: checked.ADMIN_API_KEY,
  ocrLanguages: checked.OCR_LANGUAGES as readonly string[],
  ocrEngines: checked.OCR_ENGINES as readonly RecognitionEngine[],
  /** Of work on documents in this installation's own processes, by mode; calls of models are not counted. */
  localDeadlinesMs: {
    fast: checked.LOCAL_DEADLINE_FAST_SECONDS * 1000,
    standard: checked.LOCAL_DEADLINE_STANDARD_SECONDS * 1000,
    robust: checked.LOCAL_DEADLINE_ROBUST_SECONDS * 1000,
  },
  heavyConcurrency: checked.HEAVY_CONCURRENCY,
  /** Operations that a worker does beside each other. */
  workerPlaces: checked.WORKER_PLACES,
  maxUploadBytes: checked.MAX_UPLOAD_BYTES,
  /** Most bytes of uploads that are kept for one tenant. */
  uploadQuotaBytes: checked.UPLOAD_QUOTA_BYTES,
  /** How long a used upload is kept after it was sent; 0: for good. */
  uploadRetentionDays: checked.UPLOAD_RETENTION_DAYS,
  /** 32 bytes in base64; undefined: in a file of DATA_DIR. */
  sessionSecret: checked.SESSION_SECRET,
  publicUrl: checked.PUBLIC_URL,
  /** How many proxies stand before the service, or their addresses; undefined: none is believed. */
  trustProxy: checked.TRUST_PROXY,
  /** Web pages of these origins may call the service from a browser. */
  corsOrigins: checked.CORS_ORIGINS as readonly string[],
  allowPrivateNetwork: checked.LLM_ALLOW_PRIVATE_NETWORK,
  /** Whether callers may have documents fetched by their URL, and from private networks too. */
  sourceUrls: {
    allowed: checked.ALLOW_SOURCE_URLS,
    allowPrivateNetwork: checked.SOURCE_ALLOW_PRIVATE_NETWORK,
  },
  /** Lets webhooks be http, and at private addresses. */
  webhooksAllowPrivateNetwork: checked.WEBHOOKS_ALLOW_PRIVATE_NETWORK,
  /** How long a start waits for a server that does not answer. */
  startWaitSeconds: checked.START_WAIT_SECONDS,
  /** undefined: nothing is traced. */
  tracing: tracingFrom(checked),
  /** What becomes of read models that are of another log than the one that is there. */
  rebuildDiverged: checked.REBUILD_DIVERGED ?? (checked.EVENTSTORE_URL === undefined ? 'auto' : 'manual'),
  roles: checked.ROLES as readonly (typeof ROLES)[number][],
  logLevel: checked.LOG_LEVEL,
});

/**
 * Reads the environment. An empty value counts as unset. Throws ConfigError with a sentence for each
 * bad or unknown variable, before anything is opened.
 */
export const configFrom = (env: Readonly<Record<string, string | undefined>> = process.env): Config => {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const complaints = unknownOf(given).map(
    (name) => `${name}: is not a variable of Quire; check its spelling.`,
  );
  const parsed = environment.safeParse(given);
  if (!parsed.success) {
    complaints.push(...parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}.`));
    throw new ConfigError(complaints.join('\n'));
  }
  const checked = parsed.data;
  const s3 = complaining(complaints, () => s3From(checked));
  const secretKeys = complaining(complaints, () => secretKeysFrom(checked));
  const seals = complaining(complaints, () => sealsFrom(checked));
  const platformModels = complaining(complaints, () => platformModelsFrom(checked));
  const signIn = complaining(complaints, () => signInFrom(checked));
  if (complaints.length > 0 || platformModels === undefined || signIn === undefined)
    throw new ConfigError(complaints.join('\n'));
  return configOf(checked, { s3, secretKeys, seals, platformModels, signIn });
};

/** Whether npm, or what works as it does, runs this process as one of its scripts. */
export const isBelowNpm = (): boolean => process.env['npm_lifecycle_event'] !== undefined;

let redactForgotten: ReturnType<typeof redactor> | undefined;

/** Takes the secrets of this process's environment out of a text, forgotten ones too. */
export const ownRedactor = (): ((text: string) => string) => redactForgotten ?? redactor(process.env);

/**
 * Takes secrets out of the environment, once the configuration is read: out of `process.env`, and out of
 * what Linux shows of it to other processes. Those that drivers look up are moved. False where they could
 * not be erased.
 */
export const forgetSecrets = (): boolean => {
  redactForgotten = redactor(process.env);
  const names = [...SECRET_VARIABLES, ...URL_VARIABLES].filter((name) => process.env[name] !== undefined);
  const moved = names.flatMap((name) => (READ_BY_DRIVERS.includes(name) ? [[name, process.env[name]]] : []));
  for (const name of names) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, Object.fromEntries(moved));
  return names.length === 0 || eraseInitialValues(names);
};
