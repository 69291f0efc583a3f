import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { apiRoutes } from '../../../src/api/routes.ts';
import { webhookMessages } from '../../../src/api/schemas/webhookMessages.ts';
import { openApiDocument } from '../../../src/server/openapi.ts';
import { ADMIN_KEY } from '../../support/serviceProcess.ts';
import { contractOf } from './contract.ts';

export interface CallOptions {
  /** `null`: none. Default: the admin key. */
  readonly key?: string | null;
  readonly json?: unknown;
  readonly form?: FormData;
  /** Sent as it is. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** True: an answer that leads elsewhere is the answer. */
  readonly stay?: boolean;
}

/** An answer, read and held against the contract. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** undefined when the body is not JSON. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly code: unknown;
}

export interface Client {
  readonly url: string;
  readonly call: (method: string, path: string, options?: CallOptions) => Promise<Reply>;
  /** Makes a key; its tenant exists from then on. */
  readonly newKey: (tenantId: string, role?: 'tenant' | 'service' | 'seller' | 'admin') => Promise<string>;
  /** Sells a tenant credits at the first price list. */
  readonly sell: (tenantId: string, credits: number) => Promise<Reply>;
}

const requestOf = (
  method: string,
  { key = ADMIN_KEY, json, form, raw, headers, stay = false }: CallOptions,
): RequestInit => ({
  method: method.toUpperCase(),
  ...(stay && { redirect: 'manual' }),
  headers: {
    ...(key !== null && { 'x-api-key': key }),
    ...(json !== undefined && { 'content-type': 'application/json' }),
    ...headers,
  },
  ...(json !== undefined && { body: JSON.stringify(json) }),
  ...(form !== undefined && { body: form }),
  ...(raw !== undefined && { body: typeof raw === 'string' ? raw : Buffer.from(raw) }),
});

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

/** The OpenAPI document that a service serves. */
export const servedOpenapi = async ({
  url,
}: Pick<Client, 'url'>): Promise<Readonly<Record<string, unknown>>> =>
  (await (await fetch(`${url}/openapi.json`)).json()) as Record<string, unknown>;

let contract: ReturnType<typeof contractOf> | undefined;

/**
 * The contract of this release, which all its services have. Making it takes a second, so it is made once for all
 * specs of a process; that a service serves the same is what the specs of the reference are about.
 */
const contractHere = (): ReturnType<typeof contractOf> =>
  (contract ??= contractOf(openApiDocument({ routes: apiRoutes, webhooks: webhookMessages }, 'http://here')));

/** A client that checks every answer against the OpenAPI document. */
export const client = (url: string): Client => {
  const check = contractHere();

  const call = async (method: string, path: string, options: CallOptions = {}): Promise<Reply> => {
    const response = await fetch(`${url}${path}`, requestOf(method, options));
    const text = await response.text();
    const body = parsed(text);
    const { status, headers } = response;
    expect(headers.get('x-request-id'), `${method} ${path}`).to.be.a('string');
    check({
      method: method.toLowerCase(),
      path: new URL(response.url).pathname,
      status,
      contentType: headers.get('content-type') ?? '',
      body,
    });
    const members = (body ?? {}) as Record<string, unknown>;
    return { status, headers, text, body: members, code: members['code'] };
  };

  const newKey = async (tenant_id: string, role = 'tenant'): Promise<string> => {
    const made = await call('post', '/v1/api-keys', { json: { tenant_id, role } });
    expect(made.status, made.text).to.equal(201);
    return String(made.body['key']);
  };

  const sell = (tenant_id: string, credits: number) =>
    call('post', '/v1/billing/credits', {
      json: { tenant_id, provider_txn_id: randomUUID(), credits, gross_amount_minor: credits / 10 },
    });

  return { url, call, newKey, sell };
};

/** A form as a browser would send it. */
export const formOf = (
  fields: Readonly<Record<string, string>>,
  file?: Blob,
  name = 'invoice.txt',
): FormData => {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  if (file !== undefined) form.set('file', file, name);
  return form;
};

/** A small invoice as text. */
export const INVOICE = new Blob(
  ['Invoice number: Q-1001\nDate: 2026-03-01\nCustomer: Acme GmbH\nTotal: 120.50 EUR\n'],
  { type: 'text/plain' },
);

export const INVOICE_SCHEMA = JSON.stringify({
  type: 'object',
  properties: { invoice_number: { type: 'string' }, total: { type: 'number' } },
});

/** The problem codes and issue types that a 422 lists. */
export const issuesIn = ({ body }: Reply): readonly string[] =>
  (body['errors'] as readonly { readonly loc: readonly unknown[]; readonly type: string }[]).map(
    ({ loc, type }) => `${loc.join('.')} ${type}`,
  );
