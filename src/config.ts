import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { withoutEnd } from '@quire/engine/kernel/text';
import type { RecognitionEngine } from '@quire/engine/document/document';
import { ConfigError, CLIENT_VARIABLES, PAYMENTS_VARIABLES, WATCH_VARIABLES } from './clientConfig.ts';
import { DEFAULT_JOURNAL } from '../domain/journal.ts';
import { environment, type Environment, type Role } from './environment.ts';
import { platformModelsFrom, type PlatformModels } from './platformModels.ts';
import { READ_BY_DRIVERS, redactor, SECRET_VARIABLES, URL_VARIABLES } from './redact.ts';

/** The service's settings of an OpenID provider. */
interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The claims that name the tenant and the role. */
  readonly claims: { readonly tenant: string; readonly role: string };
}

interface SignInConfig {
  /** undefined: by API keys alone. */
  readonly oidc: OidcConfig | undefined;
}

const NEEDED = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const;

/** Throws ConfigError where a provider is named in part. */
const signInFrom = (given: Environment): SignInConfig => {
  const missing = NEEDED.filter((name) => given[name] === undefined);
  if (missing.length === NEEDED.length) return { oidc: undefined };
  if (missing.length > 0)
    throw new ConfigError(
      `${missing.join(', ')}: missing. Signing in at a provider needs ${NEEDED.join(', ')}.`,
    );
  const { OIDC_ISSUER = '', OIDC_CLIENT_ID = '', OIDC_CLIENT_SECRET = '' } = given;
  const claims = { tenant: given.OIDC_TENANT_CLAIM, role: given.OIDC_ROLE_CLAIM };
  return {
    oidc: { issuer: OIDC_ISSUER, clientId: OIDC_CLIENT_ID, clientSecret: OIDC_CLIENT_SECRET, claims },
  };
};

/** Where traces go, and how many. */
interface TracingConfig {
  readonly url: string;
  readonly serviceName: string;
  readonly sampleRatio: number;
}

/** undefined: no exporter is configured, nothing is recorded. The endpoint of all signals gets OTLP's path. */
const tracingFrom = (given: Environment): TracingConfig | undefined => {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = given;
  const url = own ?? (all === undefined ? undefined : `${withoutEnd(all, /\//)}/v1/traces`);
  if (url === undefined) return undefined;
  return { url, serviceName: given.OTEL_SERVICE_NAME, sampleRatio: given.OTEL_TRACES_SAMPLER_ARG };
};

/** Where `/proc/self/stat` says at which address the environment of the start lies, counted after the name. */
const ENVIRONMENT_AT = 50 - 3;

/** Where the values of these variables lie in the environment that the process was started with. */
const valuesIn = (environment: Buffer, names: readonly string[]): readonly (readonly [number, number])[] => {
  const found: (readonly [number, number])[] = [];
  for (let at = 0; at < environment.length;) {
    const zero = environment.indexOf(0, at);
    const end = zero < 0 ? environment.length : zero;
    const equals = environment.indexOf('=', at);
    if (equals > at && equals < end && names.includes(environment.toString('utf8', at, equals)))
      found.push([equals + 1, end]);
    at = end + 1;
  }
  return found;
};

const eraseIn = (memory: number, names: readonly string[]): void => {
  const facts = readFileSync('/proc/self/stat', 'latin1');
  const start = Number(facts.slice(facts.lastIndexOf(')') + 2).split(' ')[ENVIRONMENT_AT]);
  for (const [from, to] of valuesIn(readFileSync('/proc/self/environ'), names))
    writeSync(memory, Buffer.alloc(to - from), 0, to - from, start + from);
};

const isErased = (environment: Buffer, names: readonly string[]): boolean =>
  valuesIn(environment, names).every(([from, to]) =>
    environment.subarray(from, to).every((byte) => byte === 0),
  );

/**
 * Overwrites the values of variables in the memory that the process was started with, which Linux shows to
 * all of the user's processes as `/proc/<pid>/environ`, whatever was deleted since. Nothing may refer to them
 * any more. False where the system does not let a process write there.
 */
const eraseInitialValues = (names: readonly string[]): boolean => {
  try {
    const memory = openSync('/proc/self/mem', 'r+');
    try {
      eraseIn(memory, names);
      return isErased(readFileSync('/proc/self/environ'), names);
    } finally {
      closeSync(memory);
    }
  } catch {
    return false;
  }
};

export { ConfigError } from './clientConfig.ts';

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
    String.raw`|LOCAL_DEADLINE|HEAVY_|MAX_UPLOAD|UPLOAD_|RESULTS?_|EXAMPLES?_|DELIVER` +
    String.raw`|PUBLIC_URL|TRUST_|CORS_|JOURNAL|REBUILD_|START_WAIT|SEAL_|LLM_ALLOW` +
    String.raw`|OIDC_|SESSION_|WEBHOOKS_|QUIRE_)`,
);

const isKnown = (name: string): boolean =>
  [environment.shape, CLIENT_VARIABLES, PAYMENTS_VARIABLES, WATCH_VARIABLES].some((known) => name in known);

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
  journal: checked.JOURNAL ?? DEFAULT_JOURNAL,
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
  /** Operations that a worker runs at once. */
  workerPlaces: checked.WORKER_PLACES,
  maxUploadBytes: checked.MAX_UPLOAD_BYTES,
  /** Most bytes of uploads that are kept for one tenant. */
  uploadQuotaBytes: checked.UPLOAD_QUOTA_BYTES,
  /** How long things are kept, in days. */
  retention: {
    uploads: checked.UPLOAD_RETENTION_DAYS,
    results: checked.RESULT_RETENTION_DAYS,
    examples: checked.EXAMPLE_RETENTION_DAYS,
    deliveries: checked.DELIVERY_RETENTION_DAYS,
  },
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
  /** Lines that say who sells, on statements and receipts. */
  seller: (checked.SELLER ?? []) as readonly string[],
  /** How long a start waits for a server that does not answer. */
  startWaitSeconds: checked.START_WAIT_SECONDS,
  /** undefined: nothing is traced. */
  tracing: tracingFrom(checked),
  /** What becomes of read models that are of another log than the one that is there. */
  rebuildDiverged: checked.REBUILD_DIVERGED ?? (checked.EVENTSTORE_URL === undefined ? 'auto' : 'manual'),
  roles: checked.ROLES as readonly Role[],
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

/** Takes the secrets of this process's environment out of a text, including earlier ones. */
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
