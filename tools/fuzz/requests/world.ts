import { randomUUID } from 'node:crypto';
import { CANONICAL_OPERATIONS } from '../../../src/api/canonical.ts';
import { BEYOND_LIMITS } from '../../../engine/test/support/hostile/schemas.ts';
import type { FuzzTarget } from '../target.ts';

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
    ...{ tenant_id, file_name, content_type: 'text/plain' },
  });
  return { ...made, upload_url: String(made['upload_url']) };
};

const uploaded = async (target: FuzzTarget, tenant_id: string, mark: string) => {
  const made: Readonly<Record<string, unknown>> = await presigned(target, tenant_id, `${mark}.txt`);
  const headers = made['headers'] as Record<string, string>;
  const sent = await fetch(String(made['upload_url']), {
    ...{ method: 'PUT', headers, body: `${TEXT}Name: ${mark}\n` },
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
    ...{ tenant_id, provider_txn_id, credits: 1_000, gross_amount_minor: 100, note: mark, invoice_ref: mark },
  });
  const { key_id } = await newKey(target, { tenant_id, role: 'tenant', name: mark });
  const document = await uploaded(target, tenant_id, mark);
  const second = await uploaded(target, tenant_id, mark);
  const config = await admin('POST', '/v1/configs', { tenant_id, schema: SCHEMA, name: mark });
  const examples = [document, second].map(({ document_id }) => ({ document_id, expected: { name: mark } }));
  const job = await admin('POST', '/v1/training/jobs', {
    ...{ tenant_id, schema: SCHEMA, examples, mode: 'fast', name: mark },
  });
  const batch = await admin('POST', '/v1/batches', {
    ...{ tenant_id, schema: SCHEMA, mode: 'fast', file_uris: [document.file_uri, second.file_uri] },
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
  ...[own[name], own[name], own[name]],
  other[name],
  none,
];

const poolsOf = (own: Belongings, other: Belongings, modelBase: string): World['pools'] => {
  const both = ofBoth(own, other);
  const examples = EXAMPLES(own);
  const channels = ['llm_', 'ocr_', ''].flatMap((prefix) => [
    [`${prefix}provider_model`, [PROVIDERS.provider_model, 'nobody/nothing', 'mistral_ocr/large']],
    [`${prefix}api_key`, [PROVIDERS.api_key]],
    [`${prefix}api_base`, [modelBase, modelBase, 'http://169.254.169.254/', 'file:///etc/passwd']],
  ]) as [string, readonly string[]][];
  return {
    ...Object.fromEntries(channels),
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
    ...{ none: undefined, wrong: 'qk_live_nobody_has_such_a_key_0123456789' },
    ...{ tenant: undefined, service: undefined, admin: undefined, revoked: undefined },
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
