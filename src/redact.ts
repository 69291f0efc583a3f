/** Variables whose whole value is a secret; of a list, each of its members is. */
export const SECRET_VARIABLES = [
  'ADMIN_API_KEY',
  'FIELD_ENCRYPTION_KEY',
  'FIELD_ENCRYPTION_KEYS_OLD',
  'S3_ACCESS_KEY',
  'S3_SECRET_KEY',
  'EXTRACTION_API_KEY',
  'OCR_API_KEY',
  'OPENAI_API_KEY',
  'ANTHROPIC_API_KEY',
  'GOOGLE_API_KEY',
  'MISTRAL_API_KEY',
  'SESSION_SECRET',
  'OIDC_CLIENT_SECRET',
  'QUIRE_API_KEY',
  'QUIRE_WEBHOOK_SECRET',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
  'CHECKOUT_TOKEN',
  'WATCH_S3_ACCESS_KEY',
  'WATCH_S3_SECRET_KEY',
  'WATCH_IMAP_PASSWORD',
  'PGPASSWORD',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
] as const;

/** Variables that may carry a password inside of a URL. */
export const URL_VARIABLES = [
  'DATABASE_URL',
  'REDIS_URL',
  'EVENTSTORE_URL',
  'S3_ENDPOINT',
  'S3_PUBLIC_ENDPOINT',
  'PUBLIC_URL',
  'EXTRACTION_API_BASE',
  'OCR_API_BASE',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
] as const;

/** Secrets that drivers look up themselves: they stay in `process.env`. */
export const READ_BY_DRIVERS: readonly string[] = [
  'PGPASSWORD',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
];

/** Members of a log line whose value is never written, at the top and one level down. */
export const SECRET_MEMBERS: readonly string[] = ['key', 'api_key', 'password', 'connectionString', 'input']
  .flatMap((name) => [name, `*.${name}`])
  .concat('req.headers', '*.headers');

/** The replacement of a secret. */
export const REDACTED = '[secret]';

/** A shorter value is recognised only by its place: it may be any word. */
const LENGTH_MIN = 8;

/**
 * Everything before the last `@` of a URL's authority, whatever it is made of. It looks back for the scheme's
 * end: to look forward for a scheme takes the square of a long word's length.
 */
const USER_INFO = /(?<=[a-z0-9+.-]:\/\/)[^\s/"'`]*@/gi;

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const passwordOf = (url: string): string => /^[^:]+:\/\/[^:@]*:(.*)@/s.exec(url)?.[1] ?? '';

/** As it is given, without its escapes, and as it stands in a JSON line. */
const spellings = (secret: string): readonly string[] => {
  const plain = decoded(secret);
  return [secret, plain, JSON.stringify(secret).slice(1, -1), JSON.stringify(plain).slice(1, -1)];
};

/** A list as it is and each of its members; of headers (`name=value`) the value alone too. */
const partsOf = (name: string, value = ''): readonly string[] => {
  const members = value.split(',');
  const values = name.endsWith('_HEADERS') ? members.map((one) => decoded(one.replace(/^[^=]*=/, ''))) : [];
  return [value, ...members, ...values];
};

const secretsIn = (env: Readonly<Record<string, string | undefined>>): readonly string[] => {
  const whole = SECRET_VARIABLES.flatMap((name) => partsOf(name, env[name]));
  const inUrls = URL_VARIABLES.map((name) => passwordOf(env[name] ?? ''));
  const found = [...whole, ...inUrls].map((secret) => secret.trim()).filter((s) => s.length >= LENGTH_MIN);
  // The longest first: one may be a part of another.
  return [...new Set(found.flatMap(spellings))].sort((a, b) => b.length - a.length);
};

const quoted = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);

/**
 * Takes the secrets of an environment out of a text, by their values, and the user and password out of
 * every URL in it. For all that leaves the process beside its answers: the log and the last words.
 */
export const redactor = (env: Readonly<Record<string, string | undefined>>): ((text: string) => string) => {
  const secrets = secretsIn(env);
  const values = secrets.length === 0 ? undefined : new RegExp(secrets.map(quoted).join('|'), 'g');
  return (text) => {
    const bare = text.includes('@') ? text.replace(USER_INFO, `${REDACTED}@`) : text;
    return values === undefined ? bare : bare.replace(values, REDACTED);
  };
};
