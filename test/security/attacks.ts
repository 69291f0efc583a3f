import { formOf, INVOICE, INVOICE_SCHEMA, type CallOptions } from '../http/support/client.ts';
import { answers, type Step } from '../../engine/test/support/scriptedProvider/steps.ts';

/** A request, and the code that it must be refused with. */
export type Attempt = readonly [string, string, CallOptions, string];

interface Envelope {
  readonly operation: string;
  readonly tenant_id: string;
  readonly resource: object;
  readonly payload?: object;
}

const envelope = ({ operation, tenant_id, resource, payload = {} }: Envelope): CallOptions => ({
  json: { schema_version: '1.0', operation, scope: { tenant_id }, resource, payload },
});

/** What a victim has, by the IDs that an attacker has come to know. */
export interface Loot {
  readonly victim: string;
  readonly attacker: string;
  readonly file_uri: string;
  readonly document_id: string;
  readonly job_id: string;
  readonly config_id: string;
  /** The request that made the victim's job. */
  readonly training: object;
}

/** Every door through which an object of another tenant could be asked for. */
export const thefts = (loot: Loot): readonly Attempt[] => {
  const { victim, attacker, file_uri, document_id, job_id, config_id, training } = loot;
  const payload = { schema: JSON.parse(INVOICE_SCHEMA) as object };
  const job = `/v1/training/jobs/${job_id}`;
  const enveloped = (code: string, members: Omit<Envelope, 'tenant_id'>, tenant_id = attacker): Attempt =>
    ['post', '/v1/canonical', envelope({ ...members, tenant_id }), code] as const;
  return [
    ['post', '/v1/ocr/to-markdown', { json: { tenant_id: attacker, file_uri } }, 'document_not_found'],
    enveloped('document_not_found', { operation: 'inference.extract', resource: { file_uri }, payload }),
    enveloped('document_not_found', { operation: 'inference.extract', resource: { document_id }, payload }),
    enveloped('document_not_found', { operation: 'inference.to_markdown', resource: { document_id } }),
    enveloped('tenant_mismatch', { operation: 'inference.to_markdown', resource: { document_id } }, victim),
    enveloped('job_not_found', { operation: 'training.get', resource: { job_id } }),
    enveloped('job_not_found', { operation: 'training.cancel', resource: { job_id } }),
    ['get', job, {}, 'job_not_found'],
    ['get', `${job}/examples`, {}, 'job_not_found'],
    ['post', `${job}/cancel`, {}, 'job_not_found'],
    ['post', '/v1/training/jobs', { json: { ...training, tenant_id: attacker } }, 'document_not_found'],
    ['post', '/v1/extract', { form: formOf({ config_id }, INVOICE) }, 'config_not_found'],
    ...[
      ...['balance', 'usage', 'tenant-info'].map((name) => `/v1/billing/${name}/${victim}`),
      `/v1/documents?tenant_id=${victim}`,
      `/v1/inference/deployments/current?tenant_id=${victim}&project_id=default`,
    ].map((path): Attempt => ['get', path, {}, 'tenant_mismatch']),
  ];
};

/** Bodies with a member that no caller may set, and its name. */
export const membersTooMany = (
  tenant_id: string,
): readonly (readonly [string, Readonly<Record<string, unknown>>, string])[] => {
  const sale = { tenant_id, provider_txn_id: 'x', credits: 1 };
  const refund = { tenant_id, provider_txn_id: 'x', original_provider_txn_id: 'y' };
  return [
    ['/v1/api-keys', { tenant_id, key_id: 'key_mine', revoked_at: null }, 'key_id'],
    ['/v1/billing/credits', { ...sale, balance_credits: 9e9 }, 'balance_credits'],
    ['/v1/billing/refunds', { ...refund, credited: true }, 'credited'],
    ['/v1/configs', { tenant_id, schema: {}, published_by: 'somebody' }, 'published_by'],
  ];
};

/** Ways to spell an address in the private network. `base`: host and port of a server there. */
export const addressesInside = (base: string): readonly string[] => {
  const port = base.split(':')[1] ?? '';
  return [
    `http://${base}/v1`,
    `https://${base}/v1`,
    `https://localhost:${port}/v1`,
    `https://127.1:${port}`,
    `https://2130706433:${port}`,
    `https://[::1]:${port}`,
    `https://[::ffff:127.0.0.1]:${port}`,
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.1',
    'https://metadata.google.internal',
    `https://user:pw@${base}`,
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_FLUSHALL',
    '//127.0.0.1',
  ];
};

/** Paths that other services answer, and other spellings of our own. */
export const UNDOCUMENTED: readonly string[] = [
  '/v0/extract',
  '/v2/extract',
  '/V1/extract',
  '/api/v1/extract',
  '/internal',
  '/v1/internal/debug',
  '/admin',
  '/debug/pprof',
  '/.env',
  '/.git/config',
  '/actuator',
  '/swagger.json',
  '/graphql',
  '/v1/../docs/../../package.json',
  '/docs/assets/..%2f..%2fpackage.json',
  '/docs/problems/..%2f..%2fREADME',
  '/uploads',
  '/server-status',
  '/v1/extract/../admin/tenants',
  '//v1//admin//tenants',
];

/** What a provider that means harm does, and what the caller is told of it. */
export type Harm = readonly [harm: string, step: Step, told: string];

/** The harm that only a deadline ends. */
export const ENDLESS = 'no end';

const UNFIT = 'output_schema_mismatch';
const UNREADABLE = 'another form than it should';

/** `inside`: where the provider would send us. */
export const harmsOf = (inside: string, key: string): readonly Harm[] => [
  ['another shape', answers({ invoice_number: { $ne: null } }), UNFIT],
  ['a polluted prototype', { do: 'answer', with: '{"__proto__":{"polluted":1},"invoice_number":7}' }, UNFIT],
  ['no JSON', answers('I am sorry, Dave.'), 'model_provider_error'],
  ['a page', { do: 'html' }, UNREADABLE],
  ['nonsense', { do: 'nonsense' }, UNREADABLE],
  ['half an answer', { do: 'truncate' }, UNREADABLE],
  ['200 MB', { do: 'flood', bytes: 200_000_000 }, 'too large'],
  [ENDLESS, { do: 'drip', everyMs: 100 }, 'did not answer in time'],
  ['a way inside', { do: 'redirect', to: inside }, 'a redirect, which is not followed'],
  [
    'an error with the key',
    { do: 'status', status: 401, body: { error: { message: `bad key ${key}` } } },
    'refuses the key',
  ],
];
