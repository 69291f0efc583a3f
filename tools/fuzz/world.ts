import { randomUUID } from 'node:crypto';
import { CANONICAL_OPERATIONS } from '../../src/api/canonical.ts';
import { BEYOND_LIMITS } from '../../engine/test/support/hostile/schemas.ts';
import type { FuzzTarget } from './target.ts';
import type { Random } from '../../engine/test/support/random.ts';

/** A JSON Schema as the OpenAPI document has it. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly propertyNames?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly contentMediaType?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Schema;
}

interface Described {
  readonly operationId: string;
  readonly security: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

/** What the fuzzer reads of an OpenAPI document. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** One operation of the interface. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly isPublic: boolean;
  readonly parameters: readonly Parameter[];
  /** undefined: it takes no body. */
  readonly body: { readonly mediaType: string; readonly schema: Schema } | undefined;
  /** Problem codes by status, as documented. */
  readonly codes: Readonly<Record<string, readonly string[]>>;
}

const codesIn = (description: string): readonly string[] =>
  [...description.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code ?? '');

/** Every operation that a document describes. */
export const operationsOf = ({ paths }: OpenApi): readonly Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]): Operation => {
      const [content] = Object.entries(described.requestBody?.content ?? {});
      return {
        id: described.operationId,
        method: method.toUpperCase(),
        path,
        isPublic: described.security.length === 0,
        parameters: described.parameters ?? [],
        body: content && { mediaType: content[0], schema: content[1].schema },
        codes: Object.fromEntries(
          Object.entries(described.responses).map(([status, { description }]) => [
            status,
            codesIn(description),
          ]),
        ),
      };
    }),
  );

/** In whatever the other tenant has, and in no request. */
export const MARK = 'quagmire-7d1f';

export const KEY_KINDS = ['none', 'wrong', 'tenant', 'service', 'admin', 'revoked'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** What one tenant has, by name. */
interface Belongings {
  readonly tenant_id: string;
  readonly document_id: string;
  readonly file_uri: string;
  readonly job_id: string;
  readonly config_id: string;
  readonly batch_id: string;
  readonly provider_txn_id: string;
  readonly key_id: string;
}

/** Two tenants with something of everything, and a key of each kind. */
export interface World {
  readonly keys: Record<KeyKind, string | undefined>;
  readonly other: Belongings;
  /** Values that a member of this name may well have. */
  readonly pools: Readonly<Record<string, readonly unknown[]>>;
  /** Of an upload URL, whose document belongs to it. */
  readonly upload: Readonly<Record<string, string>>;
  /** Makes good what requests of an admin may have taken: plan, credits, limits. */
  readonly tend: () => Promise<void>;
  /** A new key in the place of one that a request revoked. */
  readonly renew: (kind: KeyKind) => Promise<void>;
}

const TEXT = 'Invoice number: Q-1001\nName: pear\nTotal: 120.50 EUR\n';
const SCHEMA = { type: 'object', properties: { name: { type: 'string' }, total: { type: 'number' } } };
const TENANT = 'fuzz-one';
const OTHER = 'fuzz-other';
const SERVICE = 'fuzz-service';

interface AskedKey {
  readonly tenant_id: string;
  readonly role: string;
  readonly name?: string;
}

const newKey = async ({ admin }: FuzzTarget, asked: AskedKey) => {
  const { key, key_id } = await admin('POST', '/v1/api-keys', asked);
  return { key: String(key), key_id: String(key_id) };
};

const presigned = async ({ admin }: FuzzTarget, tenant_id: string, file_name: string) => {
  const made = await admin('POST', '/v1/uploads/presign', {
    tenant_id,
    file_name,
    content_type: 'text/plain',
  });
  return { ...made, upload_url: String(made['upload_url']) };
};

const uploaded = async (target: FuzzTarget, tenant_id: string, mark: string) => {
  const made: Readonly<Record<string, unknown>> = await presigned(target, tenant_id, `${mark}.txt`);
  const headers = made['headers'] as Record<string, string>;
  const sent = await fetch(String(made['upload_url']), {
    method: 'PUT',
    headers,
    body: `${TEXT}Name: ${mark}\n`,
  });
  if (!sent.ok) throw new Error(`an upload failed: ${await sent.text()}`);
  return { document_id: String(made['document_id']), file_uri: String(made['file_uri']) };
};

/** A tenant with a key, a sale, two documents, a config, a batch and a training job that waits. */
const settled = async (target: FuzzTarget, tenant_id: string, mark: string): Promise<Belongings> => {
  const { admin, openTenant } = target;
  await openTenant(tenant_id);
  const provider_txn_id = `sale-${tenant_id}-${randomUUID()}`;
  await admin('POST', '/v1/billing/credits', {
    tenant_id,
    provider_txn_id,
    credits: 1_000,
    gross_amount_minor: 100,
    note: mark,
    invoice_ref: mark,
  });
  const { key_id } = await newKey(target, { tenant_id, role: 'tenant', name: mark });
  const document = await uploaded(target, tenant_id, mark);
  const second = await uploaded(target, tenant_id, mark);
  const config = await admin('POST', '/v1/configs', { tenant_id, schema: SCHEMA, name: mark });
  const examples = [document, second].map(({ document_id }) => ({ document_id, expected: { name: mark } }));
  const job = await admin('POST', '/v1/training/jobs', {
    tenant_id,
    schema: SCHEMA,
    examples,
    mode: 'fast',
    name: mark,
  });
  const batch = await admin('POST', '/v1/batches', {
    tenant_id,
    schema: SCHEMA,
    mode: 'fast',
    file_uris: [document.file_uri, second.file_uri],
  });
  const [config_id, job_id] = [String(config['config_id']), String(job['job_id'])];
  const batch_id = String(batch['batch_id']);
  return { tenant_id, ...document, job_id, config_id, batch_id, provider_txn_id, key_id };
};

const PROVIDERS = { provider_model: 'openai_compatible/large', api_key: 'sk-fuzz' };
const OWN_CURRENCIES = ['USD', 'EUR', 'GBP', 'XTS'];
const SCHEMAS = [SCHEMA, SCHEMA, { type: 'object' }, { type: 'string' }, ...Object.values(BEYOND_LIMITS)];

const EXAMPLES = ({ document_id }: Belongings) => [
  { document_id, expected: { name: 'pear' } },
  { document_id, expected: { name: 'plum', total: 3 } },
];

/** `{own, own, own, other, none}`: mostly what is there. */
const ofBoth = (own: Belongings, other: Belongings) => (name: keyof Belongings, none: string) => [
  own[name],
  own[name],
  own[name],
  other[name],
  none,
];

const poolsOf = (own: Belongings, other: Belongings, modelBase: string): World['pools'] => {
  const both = ofBoth(own, other);
  const examples = EXAMPLES(own);
  const channels = ['llm_', 'ocr_', ''].flatMap((prefix) => [
    [`${prefix}provider_model`, [PROVIDERS.provider_model, 'nobody/nothing', 'docling/standard']],
    [`${prefix}api_key`, [PROVIDERS.api_key]],
    [`${prefix}api_base`, [modelBase, modelBase, 'http://169.254.169.254/', 'file:///etc/passwd']],
  ]) as [string, readonly string[]][];
  return {
    ...Object.fromEntries(channels),
    models_for: ['all', 'doubtful', 'some'],
    tenant_id: [...both('tenant_id', 'nobody'), SERVICE],
    document_id: both('document_id', 'doc_none'),
    file_uri: both('file_uri', 'quire://nothing'),
    file_uris: [[own.file_uri], [own.file_uri, other.file_uri], ['quire://uploads/doc_none']],
    job_id: both('job_id', 'job_none'),
    batch_id: both('batch_id', 'bat_none'),
    config_id: both('config_id', 'cfg_none'),
    key: ['key_none', own.key_id],
    original_provider_txn_id: both('provider_txn_id', 'txn-none'),
    provider_txn_id: [own.provider_txn_id, ...Array.from({ length: 40 }, (_, at) => `txn-${String(at)}`)],
    idempotency_key: Array.from({ length: 20 }, (_, at) => `key-${String(at)}`),
    entry_id: Array.from({ length: 20 }, (_, at) => `entry-${String(at)}`),
    provider: ['manual', 'stripe'],
    artifact_id: ['art_none'],
    artifact_uri: ['quire://artifacts/none'],
    model_name: ['openai/gpt-5-mini', 'pear/plum'],
    operation: Object.keys(CANONICAL_OPERATIONS),
    schema_version: ['1.0', '1.0', '1.0', '2.0'],
    schema: SCHEMAS,
    examples: [examples],
    expected: [{ name: 'pear' }],
    payload: [{}, { schema: SCHEMA, mode: 'fast' }, { schema: SCHEMA, examples, mode: 'fast' }],
    project_id: ['default', 'pears'],
    task_id: ['default'],
    currency: OWN_CURRENCIES,
    base: OWN_CURRENCIES,
    quote: OWN_CURRENCIES,
    file_name: ['a.txt', 'a.pdf', 'Ünïcode 名.txt'],
    content_type: ['text/plain', 'application/pdf'],
    mode: ['fast'],
    conversion_mode: ['fast'],
  };
};

/** Makes it all. */
export const makeWorld = async (target: FuzzTarget, modelBase: string): Promise<World> => {
  const own = await settled(target, TENANT, 'pear');
  const other = await settled(target, OTHER, MARK);
  await target.openTenant(SERVICE);
  const keys: World['keys'] = {
    none: undefined,
    wrong: 'qk_live_nobody_has_such_a_key_0123456789',
    tenant: undefined,
    service: undefined,
    admin: undefined,
    revoked: undefined,
  };
  const roles: Partial<Record<KeyKind, readonly [tenant: string, role: string]>> = {
    tenant: [TENANT, 'tenant'],
    service: [SERVICE, 'service'],
    admin: [SERVICE, 'admin'],
    revoked: [TENANT, 'tenant'],
  };
  const renew = async (kind: KeyKind): Promise<void> => {
    const [tenant = TENANT, role = 'tenant'] = roles[kind] ?? [];
    keys[kind] = (await newKey(target, { tenant_id: tenant, role })).key;
  };
  for (const kind of ['tenant', 'service', 'admin', 'revoked'] as const) await renew(kind);
  await target.admin('DELETE', `/v1/api-keys/${keys.revoked ?? ''}`);
  const { upload_url } = await presigned(target, TENANT, 'later.txt');
  const url = new URL(upload_url);
  const document_id = url.pathname.split('/').at(-1) ?? '';
  const upload = { ...Object.fromEntries(url.searchParams), document_id };
  const tend = async (): Promise<void> => {
    for (const tenant of [TENANT, SERVICE]) await target.openTenant(tenant);
  };
  return { keys, other, pools: poolsOf(own, other, modelBase), upload, tend, renew };
};

/** What values are made of. */
export interface Making {
  readonly random: Random;
  readonly world: World;
  readonly components: Readonly<Record<string, Schema>>;
  /** In a form all values are text. */
  readonly asText: boolean;
}

const REF = '#/components/schemas/';
/** An own key makes the service ask its provider: seldom. */
const OWN_KEY_SHARE = 0.05;
const OPTIONAL_SHARE = 0.4;
const POOL_SHARE = 0.9;
/** Whole numbers are small, for sums of large ones are soon refused; at times they are at their bounds. */
const BOUND_SHARE = 0.08;
const DEPTH_MAX = 8;

const PATTERNS: Readonly<Record<string, readonly string[]>> = {
  '^[A-Z]{3}$': ['USD', 'EUR', 'CHF'],
  '^\\d{1,9}(\\.\\d{1,6})?$': ['0', '1.25', '999999999.999999'],
  '^\\d{1,6}(\\.\\d{1,12})?$': ['0', '0.002', '999999.999999999999'],
  '^\\d{1,18}(\\.\\d{1,18})?$': ['1', '1.0825', '0.000000000000000001', '999999999999999999'],
  '^\\d{1,12}(\\.\\d{1,6})?$': ['1', '10.50', '0', '999999999999.999999'],
};
const DAYS = ['2026-01-31', '2026-11-01', '2000-01-01', '2030-02-28'];
const TIMES = ['2026-11-20T10:00:00Z', '2026-01-01T00:00:00+02:00', '2030-01-01T00:00:00Z'];
const TEXTS = ['pear', 'a', 'Ünïcode 名前 😀', 'two words', 'x-1_y.z'];

const resolved = ({ components }: Making, schema: Schema): Schema =>
  schema.$ref === undefined ? schema : (components[schema.$ref.slice(REF.length)] ?? {});

const textOf = ({ random }: Making, { format, pattern, minLength = 0, maxLength = 50 }: Schema): string => {
  if (format === 'date') return random.pick(DAYS);
  if (format === 'date-time') return random.pick(TIMES);
  const known = pattern === undefined ? undefined : PATTERNS[pattern];
  if (known !== undefined) return random.pick(known);
  if (random.next() < BOUND_SHARE) return 'x'.repeat(random.pick([minLength, maxLength]));
  return random.pick(TEXTS);
};

const numberOf = (
  { random }: Making,
  { type, minimum = -1_000, maximum = Number.MAX_SAFE_INTEGER }: Schema,
): number => {
  if (random.next() < BOUND_SHARE) return random.pick([minimum, maximum]);
  if (type === 'number') return minimum + random.next() * Math.min(1, maximum - minimum);
  return random.between(Math.max(minimum, -1_000), Math.min(maximum, Math.max(minimum, 0) + 1_000));
};

const listOf = (making: Making, schema: Schema, depth: number): unknown[] => {
  const { items = {}, minItems = 0 } = schema;
  const count = making.random.between(minItems, minItems + 2);
  return Array.from({ length: count }, () => valueOf(making, items, depth + 1));
};

const isIncluded = ({ random }: Making, name: string): boolean =>
  random.next() < (name.endsWith('api_key') ? OWN_KEY_SHARE : OPTIONAL_SHARE);

const objectOf = (making: Making, schema: Schema, depth: number): Record<string, unknown> => {
  const { properties = {}, required = [], propertyNames, additionalProperties } = schema;
  const made: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(properties))
    if (required.includes(name) || isIncluded(making, name))
      made[name] = namedValue(making, [name, member], depth);
  if (propertyNames !== undefined && typeof additionalProperties === 'object')
    for (let left = making.random.between(0, 2); left > 0; left -= 1)
      made[String(valueOf(making, propertyNames, depth))] = valueOf(making, additionalProperties, depth + 1);
  return made;
};

/** The value of a member: of what the world has under its name, or whatever its schema takes. */
export const namedValue = (making: Making, [name, schema]: readonly [string, Schema], depth = 0): unknown => {
  const { random, world, asText } = making;
  const pool = world.pools[name];
  const isChosen = pool !== undefined && schema.enum === undefined && random.next() < POOL_SHARE;
  const value = isChosen ? random.pick(pool) : valueOf(making, schema, depth);
  return asText && typeof value !== 'string' ? JSON.stringify(value) : value;
};

const ofType = (making: Making, schema: Schema, depth: number): unknown => {
  const { random } = making;
  switch (schema.type) {
    case 'string':
      return textOf(making, schema);
    case 'integer':
    case 'number':
      return numberOf(making, schema);
    case 'boolean':
      return random.next() < 0.5;
    case 'null':
      return null;
    case 'array':
      return listOf(making, schema, depth);
    case 'object':
      return objectOf(making, schema, depth);
    default:
      return random.pick(TEXTS);
  }
};

/** A value that a schema takes, mostly. */
export const valueOf = (making: Making, given: Schema, depth = 0): unknown => {
  const schema = resolved(making, given);
  const { random } = making;
  if (depth > DEPTH_MAX) return null;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return random.pick(schema.enum);
  if (schema.anyOf !== undefined) return valueOf(making, random.pick(schema.anyOf), depth + 1);
  return ofType(making, schema, depth);
};
