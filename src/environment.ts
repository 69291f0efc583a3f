import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { RECOGNITION_ENGINES } from '@quire/engine/document/document';
import { modelNamed } from '@quire/engine/ports/modelProvider';
import { proxies } from './trustedProxies.ts';
import { base64Of32, signInVariables } from './signInConfig.ts';
import { tracingVariables } from './tracingConfig.ts';

export const ROLES = ['api', 'projector', 'worker'] as const;
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

/** Every variable of the service, its form and its default. */
export const environment = z.object({
  PORT: wholeNumber(0, 65_535).default(8080),
  HOST: z.string().min(1).default('127.0.0.1'),
  DATA_DIR: z.string().min(1).default('./data'),
  EVENTSTORE_URL: urlOf('esdb', 'esdb+discover', 'kurrentdb').optional(),
  DATABASE_URL: urlOf('postgres', 'postgresql').optional(),
  REDIS_URL: urlOf('redis', 'rediss').optional(),
  S3_ENDPOINT: urlOf('http', 'https').optional(),
  S3_PUBLIC_ENDPOINT: urlOf('http', 'https').optional(),
  S3_BUCKET: z.string().min(3).optional(),
  S3_ACCESS_KEY: z.string().min(1).optional(),
  S3_SECRET_KEY: z.string().min(1).optional(),
  S3_REGION: z.string().min(1).default('us-east-1'),
  ADMIN_API_KEY: z.string().min(24, 'must have at least 24 characters').optional(),
  FIELD_ENCRYPTION_KEY: base64Of32.optional(),
  FIELD_ENCRYPTION_KEYS_OLD: listOf(base64Of32).optional(),
  EXTRACTION_MODEL: modelText.default('local/default'),
  EXTRACTION_API_BASE: urlOf('http', 'https').optional(),
  EXTRACTION_API_KEY: z.string().min(1).optional(),
  OCR_MODEL: modelText.default('local/default'),
  OCR_API_BASE: urlOf('http', 'https').optional(),
  OCR_API_KEY: z.string().min(1).optional(),
  OCR_LANGUAGES: listOf(language, 1).default(['eng', 'deu', 'fra', 'spa', 'ita']),
  OCR_ENGINES: listOf(oneOf(RECOGNITION_ENGINES), 1).default([...RECOGNITION_ENGINES]),
  OPENAI_API_KEY: z.string().min(1).optional(),
  ANTHROPIC_API_KEY: z.string().min(1).optional(),
  GOOGLE_API_KEY: z.string().min(1).optional(),
  MISTRAL_API_KEY: z.string().min(1).optional(),
  LOCAL_DEADLINE_FAST_SECONDS: wholeNumber(1, 3_600).default(30),
  LOCAL_DEADLINE_STANDARD_SECONDS: wholeNumber(1, 3_600).default(120),
  LOCAL_DEADLINE_ROBUST_SECONDS: wholeNumber(1, 3_600).default(300),
  HEAVY_CONCURRENCY: wholeNumber(1, 1024).default(availableParallelism() * 2),
  WORKER_PLACES: wholeNumber(1, 1024).default(3),
  MAX_UPLOAD_BYTES: wholeNumber(1, 1_073_741_824).default(52_428_800),
  UPLOAD_QUOTA_BYTES: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(5_368_709_120),
  UPLOAD_RETENTION_DAYS: wholeNumber(0, 36_500).default(30),
  ...signInVariables,
  PUBLIC_URL: urlOf('http', 'https').optional(),
  TRUST_PROXY: proxies.optional(),
  CORS_ORIGINS: listOf(origin).default([]),
  LLM_ALLOW_PRIVATE_NETWORK: flag.default(false),
  ALLOW_SOURCE_URLS: flag.default(false),
  SOURCE_ALLOW_PRIVATE_NETWORK: flag.default(false),
  WEBHOOKS_ALLOW_PRIVATE_NETWORK: flag.default(false),
  START_WAIT_SECONDS: wholeNumber(0, 3600).default(60),
  SEAL_EVERY_MINUTES: wholeNumber(1, 44_640).optional(),
  SEAL_RETENTION_DAYS: wholeNumber(1, 36_500).optional(),
  ...tracingVariables,
  REBUILD_DIVERGED: z.enum(['auto', 'manual'], { error: 'must be auto or manual' }).optional(),
  ROLES: listOf(oneOf(ROLES), 1).default([...ROLES]),
  LOG_LEVEL: z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` }).default('info'),
});

export type Environment = z.output<typeof environment>;
