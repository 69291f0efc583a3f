import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { RECOGNITION_ENGINES } from '@quire/engine/document/document';
import { modelNamed } from '@quire/engine/ports/modelProvider';
import { journalSettings } from '../domain/journal.ts';
import { jsonIn } from '../domain/kernel/json.ts';
import { eventStoreAddress } from './eventStoreUrl.ts';

const LOOPBACK = /^http:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?:[:/]|$)/;

const issuer = z
  .string()
  .refine((url) => URL.canParse(url) && (url.startsWith('https://') || LOOPBACK.test(url)), {
    error: 'must be a URL that starts with https://, or http:// on this machine',
  });

/** A secret of 32 bytes. */
const base64Of32 = z
  .string()
  .refine((value) => Buffer.from(value, 'base64').length === 32, { error: 'must be 32 bytes in base64' });

const httpUrl = z.string().refine((value) => /^https?:\/\//.test(value) && URL.canParse(value), {
  error: 'must be a URL that starts with http:// or https://',
});

const ratio = z
  .string()
  .regex(/^(0|1|0?\.\d+|1\.0*)$/, 'must be a share from 0 to 1, like 0.1')
  .transform(Number);

/** A prefix of 0 would be everybody: then a client that names another one is believed. */
const isNetwork = (text: string): boolean => {
  const [address = '', prefix, ...more] = text.split('/');
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  if (bits === 0 || more.length > 0) return false;
  return prefix === undefined || (/^[1-9]\d*$/.test(prefix) && Number(prefix) <= bits);
};

const HOPS = /^(?:[1-9]|10)$/;

const error =
  'must be the number of proxies before the service (1 to 10), or a list of their addresses and networks such as ' +
  '10.0.0.0/8,::1';

/** The proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count: how many, or which. */
const proxies = z
  .string()
  .transform((text): number | readonly string[] =>
    HOPS.test(text) ? Number(text) : text.split(',').map((one) => one.trim()),
  )
  .refine((value) => typeof value === 'number' || value.every(isNetwork), { error });

const ROLES = ['api', 'projector', 'worker'] as const;
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().int().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));

const flag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((value) => value === 'true');

const urlOf = (...schemes: readonly string[]) =>
  z.string().refine((value) => schemes.some((scheme) => value.startsWith(`${scheme}://`)), {
    error: `must be a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
  });

/** The server's two names: the client knows the older one, and what stands behind it is the same. */
const eventStoreUrl = z.string().transform((value, context) => {
  try {
    eventStoreAddress(value);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
  }
  return value.replace(/^kurrentdb/, 'esdb');
});

/** Values between commas, spaces around them left out. */
const listOf = <Item extends z.ZodType<unknown, string>>(item: Item, least = 0) =>
  z
    .string()
    .transform((value) => value.split(',').map((one) => one.trim()))
    .pipe(z.array(item).min(least));

const origin = z
  .string()
  .regex(/^https?:\/\/[^/?#\s*]+$/, 'must be a list of origins like https://app.example.com, without a path');

const language = z.string().regex(/^[a-z]{3}(?:_[a-z]+)?$/i, 'must be a list of languages like eng,deu');

const oneOf = <const Name extends string>(names: readonly Name[]) =>
  z.enum(names, { error: `must be a list of ${names.join(', ')}` });

const modelText = z.string().refine((name) => modelNamed(name) !== undefined, {
  error: 'must be a model as <provider>/<model>, like local/default or openai/gpt-5-mini',
});

/** JSON of the accounts of the journal. */
const journal = z
  .string()
  .transform((text, context): unknown => {
    const settings = jsonIn(text);
    if (settings === undefined) context.addIssue({ code: 'custom', message: 'must be JSON' });
    return settings;
  })
  .pipe(journalSettings);

const days = (least: 0 | 1) => wholeNumber(least, 36_500);

/** Each variable by what it is about: its form, its default, and what it means (`docs/reference/configuration.md`). */
export const VARIABLES = {
  'The process': {
    PORT: wholeNumber(0, 65_535).default(8080).describe('where the API listens; `0` picks a free port'),
    HOST: z.string().min(1).default('127.0.0.1').describe('the address it listens at'),
    DATA_DIR: z.string().min(1).default('./data').describe('the data of all embedded parts'),
    ROLES: listOf(oneOf(ROLES), 1)
      .default([...ROLES])
      .describe(
        'what this process does, separated by commas ([several processes](../how-to/run-replicas.md))',
      ),
    LOG_LEVEL: z
      .enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` })
      .default('info')
      .describe('the least important lines that are logged ([observe](../how-to/observe.md))'),
    START_WAIT_SECONDS: wholeNumber(0, 3600)
      .default(60)
      .describe('how long the start waits for an unreachable server'),
  },
  'Servers in place of embedded parts': {
    EVENTSTORE_URL: eventStoreUrl.optional().meta({
      description:
        'EventStoreDB or KurrentDB for the event log, `esdb://…` or `kurrentdb://…`; nodes of a cluster with commas ' +
        'between, or `esdb+discover://` and one name for all',
      unset: 'embedded (SQLite)',
    }),
    DATABASE_URL: urlOf('postgres', 'postgresql')
      .optional()
      .meta({ description: 'PostgreSQL for read models', unset: 'embedded (PGlite)' }),
    REBUILD_DIVERGED: z.enum(['auto', 'manual'], { error: 'must be auto or manual' }).optional().meta({
      description: 'whether read models that belong to another log are rebuilt automatically',
      unset: '`auto`; with `EVENTSTORE_URL` `manual`',
    }),
    REDIS_URL: urlOf('redis', 'rediss')
      .optional()
      .meta({ description: 'Redis for rate limits', unset: 'in this process' }),
    S3_ENDPOINT: urlOf('http', 'https')
      .optional()
      .meta({ description: 'MinIO or any S3 for files; needs the next three', unset: 'a folder' }),
    S3_BUCKET: z.string().min(3).optional().describe('the bucket, which exists'),
    S3_ACCESS_KEY: z.string().min(1).optional().describe('the name of its key'),
    S3_SECRET_KEY: z.string().min(1).optional().describe('its key'),
    S3_REGION: z.string().min(1).default('us-east-1').describe('the region that requests are signed for'),
    S3_PUBLIC_ENDPOINT: urlOf('http', 'https').optional().meta({
      description: 'the address of the same store at which clients send uploads',
      unset: '`S3_ENDPOINT`',
    }),
  },
  'Keys and secrets': {
    ADMIN_API_KEY: z.string().min(24, 'must have at least 24 characters').optional().meta({
      description: 'the first admin key, 24 characters or more',
      unset: 'made at the first start, and printed once',
    }),
    FIELD_ENCRYPTION_KEY: base64Of32.optional().meta({
      description:
        '32 bytes in base64 that encrypt own keys, passwords of waiting work and webhook secrets ' +
        '([harden](../how-to/harden.md))',
      unset:
        'with an embedded event log, a key made in the data folder that encrypts these but own keys in saved configs',
    }),
    FIELD_ENCRYPTION_KEYS_OLD: listOf(base64Of32)
      .optional()
      .describe('earlier values of `FIELD_ENCRYPTION_KEY`, separated by commas'),
    SESSION_SECRET: base64Of32.optional().meta({
      description: '32 bytes in base64 that seal browser sessions; the same for all replicas',
      unset: 'a file in `DATA_DIR`',
    }),
  },
  Models: {
    EXTRACTION_MODEL: modelText
      .default('local/default')
      .describe('extraction model when the caller names none: `<provider>/<model>`'),
    EXTRACTION_API_BASE: urlOf('http', 'https').optional().describe('address of its server'),
    EXTRACTION_API_KEY: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'its key', unset: 'the key of its provider' }),
    OCR_MODEL: modelText.default('local/default').describe('model that reads pages'),
    OCR_API_BASE: urlOf('http', 'https').optional().describe('address of its server'),
    OCR_API_KEY: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'its key', unset: 'the key of its provider' }),
    OPENAI_API_KEY: z.string().min(1).optional().describe('the platform’s own key at OpenAI'),
    ANTHROPIC_API_KEY: z.string().min(1).optional().describe('the platform’s own key at Anthropic'),
    GOOGLE_API_KEY: z.string().min(1).optional().describe('the platform’s own key at Google'),
    MISTRAL_API_KEY: z.string().min(1).optional().describe('the platform’s own key at Mistral'),
    LLM_ALLOW_PRIVATE_NETWORK: flag
      .default(false)
      .describe('lets callers name model servers in private networks'),
  },
  'Reading documents': {
    OCR_LANGUAGES: listOf(language, 1)
      .default(['eng', 'deu', 'fra', 'spa', 'ita'])
      .describe('languages for text recognition, the most frequent first'),
    OCR_ENGINES: listOf(oneOf(RECOGNITION_ENGINES), 1)
      .default([...RECOGNITION_ENGINES])
      .describe('engines that recognise text; `ppocr` only where its packages are installed'),
    LOCAL_DEADLINE_FAST_SECONDS: wholeNumber(1, 3_600)
      .default(30)
      .describe('time limit for one document in mode `fast`, not counting model calls'),
    LOCAL_DEADLINE_STANDARD_SECONDS: wholeNumber(1, 3_600)
      .default(120)
      .describe('the same in mode `standard`'),
    LOCAL_DEADLINE_ROBUST_SECONDS: wholeNumber(1, 3_600).default(300).describe('the same in mode `robust`'),
    HEAVY_CONCURRENCY: wholeNumber(1, 1024)
      .default(availableParallelism() * 2)
      .meta({
        description: 'extractions and conversions at once, shared fairly; more wait for a worker',
        unset: 'cores × 2',
      }),
    WORKER_PLACES: wholeNumber(1, 1024)
      .default(3)
      .describe(
        'operations that a process with the role `worker` runs at once, shared fairly; each keeps its file on the ' +
          'local disk while it runs',
      ),
  },
  'Uploads, and how long things are kept': {
    MAX_UPLOAD_BYTES: wholeNumber(1, 1_073_741_824)
      .default(52_428_800)
      .describe('largest upload; more gets 413'),
    UPLOAD_QUOTA_BYTES: wholeNumber(1, Number.MAX_SAFE_INTEGER)
      .default(5_368_709_120)
      .describe('storage for the uploads of one tenant; more gets 413'),
    UPLOAD_RETENTION_DAYS: days(0)
      .default(30)
      .describe(
        'uploads that were used; `0` keeps them permanently ' +
          '([how long things are kept](../how-to/forget.md#how-long-things-are-kept))',
      ),
    RESULT_RETENTION_DAYS: days(1).default(1).describe('results of operations and batches'),
    EXAMPLE_RETENTION_DAYS: days(0)
      .default(0)
      .describe('examples of training jobs; `0` keeps them permanently'),
    DELIVERY_RETENTION_DAYS: days(0)
      .default(30)
      .describe('deliveries of webhooks; `0` keeps them permanently'),
    ALLOW_SOURCE_URLS: flag.default(false).describe('lets callers have documents fetched by `source_url`'),
    SOURCE_ALLOW_PRIVATE_NETWORK: flag
      .default(false)
      .describe('lets `source_url` be in private networks, and over `http`'),
  },
  'Browsers, proxies and webhooks': {
    PUBLIC_URL: urlOf('http', 'https').optional().meta({
      description: 'the address at which clients send uploads and browsers sign in',
      unset: 'the address of `HOST` and `PORT`',
    }),
    TRUST_PROXY: proxies
      .optional()
      .describe(
        'proxies that name the client and its scheme: how many, or their addresses ([how to](../how-to/sign-in.md))',
      ),
    CORS_ORIGINS: listOf(origin).default([]).meta({
      description: 'web pages that may call the service from a browser: a list of origins',
      unset: 'none',
    }),
    WEBHOOKS_ALLOW_PRIVATE_NETWORK: flag
      .default(false)
      .describe('allows webhooks over `http` and at addresses in private networks'),
    OIDC_ISSUER: issuer
      .optional()
      .describe(
        'the OpenID provider where people sign in ([how to](../how-to/sign-in.md)); needs the next two',
      ),
    OIDC_CLIENT_ID: z.string().min(1).optional().describe('the service’s name there'),
    OIDC_CLIENT_SECRET: z.string().min(1).optional().describe('its secret'),
    OIDC_TENANT_CLAIM: z
      .string()
      .min(1)
      .default('tenant')
      .describe('claim of the ID token that names the person’s tenant'),
    OIDC_ROLE_CLAIM: z.string().min(1).default('role').describe('claim that names the person’s role'),
  },
  'Statements and receipts': {
    SELLER: z
      .string()
      .max(500, 'must have at most 500 characters')
      .transform((text) => text.split(';').map((line) => line.trim()))
      .optional()
      .meta({
        description:
          'who sells, at the foot of statements and receipts: name, address and VAT ID, `;` between lines',
        unset: 'nothing',
      }),
  },
  'The journal': {
    JOURNAL: journal.optional().meta({
      description:
        'accounts of the [journal](../explanation/journal.md#accounts) and the ledger that reads it, as JSON',
      unset: 'accounts of SKR 04',
    }),
  },
  'Seals and traces': {
    SEAL_EVERY_MINUTES: wholeNumber(1, 44_640).optional().meta({
      description: 'how often the service [seals](../how-to/audit.md#seal-the-log) the log',
      unset: 'never',
    }),
    SEAL_RETENTION_DAYS: wholeNumber(1, 36_500)
      .optional()
      .describe('locks each seal in the object store for this many days; needs a bucket with object lock'),
    OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl
      .optional()
      .describe('collector that receives traces ([traces](../how-to/observe.md#traces))'),
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl
      .optional()
      .meta({ description: 'the same with its path', unset: '`/v1/traces` of the collector' }),
    OTEL_SERVICE_NAME: z
      .string()
      .min(1)
      .max(255)
      .default('quire')
      .describe('the name of this service in traces'),
    OTEL_TRACES_SAMPLER_ARG: ratio.default(1).describe('share of the requests that are traced, `0` to `1`'),
  },
};

/** All variables of the service. */
export const environment = z.object({
  ...VARIABLES['The process'],
  ...VARIABLES['Servers in place of embedded parts'],
  ...VARIABLES['Keys and secrets'],
  ...VARIABLES['Models'],
  ...VARIABLES['Reading documents'],
  ...VARIABLES['Uploads, and how long things are kept'],
  ...VARIABLES['Browsers, proxies and webhooks'],
  ...VARIABLES['Statements and receipts'],
  ...VARIABLES['The journal'],
  ...VARIABLES['Seals and traces'],
});

/** What a process may do. */
export type Role = (typeof ROLES)[number];

/** The variables, each checked by itself. */
export type Environment = z.output<typeof environment>;
