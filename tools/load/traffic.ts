import { randomUUID } from 'node:crypto';
import type { Step } from '../../engine/test/support/scriptedProvider/steps.ts';
import { answers, status } from '../../engine/test/support/scriptedProvider/steps.ts';
import type { Random } from '../../engine/test/support/random.ts';
import { ADMIN_KEY } from '../../test/support/serviceProcess.ts';

const SCHEMA = JSON.stringify({
  type: 'object',
  required: ['invoice_number'],
  properties: { invoice_number: { type: 'string' }, total: { type: 'number' } },
});
const TEXT = 'Invoice number: Q-1001\nDate: 2026-03-01\nCustomer: Acme GmbH\nTotal: 120.50 EUR\n';
const USAGE = { input: 500, output: 60, cached: 0 };
const GOOD = answers({ invoice_number: 'Q-1001', total: 120.5 }, USAGE);
const BAD = answers({ total: 'much' }, USAGE);

/** Where requests go, and as whom. */
export interface Shop {
  readonly url: string;
  readonly providerUrl: string;
  readonly tenants: readonly { readonly tenant_id: string; readonly key: string }[];
}

/** One request: what it was, how it ended, how long it took. */
export interface Sent {
  readonly kind: string;
  readonly status: number;
  readonly code: string | null;
  readonly ms: number;
}

/** What a provider does wrong now and then; half of its answers are good. */
export const providerSteps = (random: Random): (() => Step) => {
  const faults: readonly Step[] = [
    status(429, '0'),
    status(500, '0'),
    status(401),
    { do: 'truncate' },
    { do: 'html' },
    { do: 'nonsense' },
    { do: 'reset' },
    BAD,
  ];
  return () => (random.between(0, 1) === 0 ? GOOD : random.pick(faults));
};

const formWith = (fields: Readonly<Record<string, string>>): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', new Blob([TEXT], { type: 'text/plain' }), 'invoice.txt');
  return form;
};

interface Request {
  readonly kind: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly key: string;
  readonly form?: FormData;
  readonly json?: object;
}

type Tenant = Shop['tenants'][number];

const ownModel = ({ providerUrl }: Shop) => ({
  schema: SCHEMA,
  llm_provider_model: 'openai_compatible/flaky',
  llm_api_key: 'sk-load',
  llm_api_base: providerUrl,
  llm_num_retries: '1',
});

const KINDS: readonly ((shop: Shop, tenant: Tenant) => Request)[] = [
  (_, { key }) => ({
    kind: 'extract',
    method: 'POST',
    path: '/v1/extract',
    key,
    form: formWith({ schema: SCHEMA }),
  }),
  (shop, { key }) => ({
    kind: 'extract with a model',
    method: 'POST',
    path: '/v1/extract',
    key,
    form: formWith(ownModel(shop)),
  }),
  (shop, { key }) => ({
    kind: 'extract with a model',
    method: 'POST',
    path: '/v1/extract',
    key,
    form: formWith({ ...ownModel(shop), allow_partial: 'true' }),
  }),
  (_, { key }) => ({ kind: 'to-markdown', method: 'POST', path: '/v1/to-markdown', key, form: formWith({}) }),
  (_, { key, tenant_id }) => ({
    kind: 'charge',
    method: 'POST',
    path: '/v1/billing/dspy-examples-charge',
    key,
    json: { tenant_id, idempotency_key: randomUUID() },
  }),
  (_, { tenant_id }) => ({
    kind: 'sale',
    method: 'POST',
    path: '/v1/billing/credits',
    key: ADMIN_KEY,
    json: { tenant_id, provider_txn_id: randomUUID(), credits: 10_000, gross_amount_minor: 1000 },
  }),
  (_, { key, tenant_id }) => ({
    kind: 'balance',
    method: 'GET',
    path: `/v1/billing/balance/${tenant_id}`,
    key,
  }),
  (_, { key, tenant_id }) => ({ kind: 'usage', method: 'GET', path: `/v1/billing/usage/${tenant_id}`, key }),
  (_, { tenant_id }) => ({
    kind: 'ledger',
    method: 'GET',
    path: `/v1/admin/tenants/${tenant_id}/ledger`,
    key: ADMIN_KEY,
  }),
];

const codeIn = (text: string): string | null => {
  const found = /"code":"(\w+)"/u.exec(text)?.[1];
  return found ?? null;
};

/** Sends one request of any kind for any tenant. A connection that breaks has status 0. */
export const sendOne = async (shop: Shop, random: Random): Promise<Sent> => {
  const { kind, method, path, key, form, json } = random.pick(KINDS)(shop, random.pick(shop.tenants));
  const began = performance.now();
  const headers = { 'x-api-key': key, ...(json && { 'content-type': 'application/json' }) };
  const body = form ?? (json && JSON.stringify(json));
  try {
    const reply = await fetch(`${shop.url}${path}`, { method, headers, ...(body && { body }) });
    const text = await reply.text();
    const code = reply.status < 400 ? null : codeIn(text);
    return { kind, status: reply.status, code, ms: performance.now() - began };
  } catch {
    return { kind, status: 0, code: 'connection_broken', ms: performance.now() - began };
  }
};
