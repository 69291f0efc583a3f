import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Client, Reply } from './client.ts';

type Json = Readonly<Record<string, unknown>>;

/** A request that moves money, and how to tell whether it did. */
export interface MoneyEndpoint {
  readonly name: string;
  /** The member that says whether this request took effect. */
  readonly flag: 'credited' | 'charged';
  /** The member that names what took effect. */
  readonly id: string;
  /** False where the identity is a member of the body and no header is read. */
  readonly takesHeader: boolean;
  /** False where the header is the only identity there is. */
  readonly ownIdentity: boolean;
  readonly path: (tenant: string) => string;
  /** Makes a tenant that the request can succeed for; gives the request. */
  readonly prepare: (api: Client, tenant: string) => Promise<Json>;
  /** Each member of the payload in turn, with another value. */
  readonly changes: readonly Json[];
  /** Members that may change, for the request stays the same. */
  readonly retold?: readonly Json[];
  /** What one effect does to the balance. */
  readonly moves: number;
}

const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString();

const sale: MoneyEndpoint = {
  name: 'POST /v1/billing/credits',
  flag: 'credited',
  id: 'grant_id',
  takesHeader: true,
  ownIdentity: true,
  path: () => '/v1/billing/credits',
  prepare: async (api, tenant_id) => {
    await api.newKey(tenant_id);
    return {
      tenant_id,
      provider: 'stripe',
      provider_txn_id: randomUUID(),
      currency: 'USD',
      credits: 10_000,
      gross_amount_minor: 1190,
      vat_amount_minor: 190,
      provider_fee_minor: 45,
      invoice_ref: 'INV-1',
      note: 'first',
    };
  },
  changes: [
    { credits: 10_001 },
    { credits: 20_000 },
    { currency: 'EUR' },
    { gross_amount_minor: 1191 },
    { vat_amount_minor: 189 },
    { provider_fee_minor: 46 },
    { invoice_ref: 'INV-2' },
  ],
  retold: [
    { price_list_version: 1 },
    { price_list_version: 999_999 },
    { occurred_at: YESTERDAY },
    { occurred_at: null },
    { note: 'second' },
  ],
  moves: 10_000,
};

const refund: MoneyEndpoint = {
  name: 'POST /v1/billing/refunds',
  flag: 'credited',
  id: 'refund_id',
  takesHeader: true,
  ownIdentity: true,
  path: () => '/v1/billing/refunds',
  prepare: async (api, tenant_id) => {
    const sold = await api.sell(tenant_id, 10_000);
    return {
      tenant_id,
      provider_txn_id: randomUUID(),
      currency: 'USD',
      reason: 'first',
      original_provider_txn_id: sold.body['provider_txn_id'],
      credits: 1000,
      gross_amount_minor: 100,
      vat_amount_minor: 0,
      provider_fee_minor: 0,
    };
  },
  changes: [
    { credits: 999 },
    { credits: 10_001 },
    { currency: 'EUR' },
    { gross_amount_minor: 101 },
    { vat_amount_minor: 1 },
    { provider_fee_minor: 1 },
    { original_provider_txn_id: 'another' },
    { original_provider: 'another' },
    { occurred_at: YESTERDAY },
    { reason: 'second' },
  ],
  moves: -1000,
};

const adjustment: MoneyEndpoint = {
  name: 'POST adjust-credits',
  flag: 'credited',
  id: 'adjustment_id',
  takesHeader: true,
  ownIdentity: false,
  path: (tenant) => `/v1/admin/tenants/${tenant}/adjust-credits`,
  prepare: async (api, tenant) => {
    await api.newKey(tenant);
    return { credits: 70, reason: 'first' };
  },
  changes: [{ credits: 71 }, { credits: -71 }, { reason: 'second' }, { allow_negative: true }],
  moves: 70,
};

const charge: MoneyEndpoint = {
  name: 'POST dspy-examples-charge',
  flag: 'charged',
  id: 'charge_id',
  takesHeader: false,
  ownIdentity: true,
  path: () => '/v1/billing/dspy-examples-charge',
  prepare: async (api, tenant_id) => {
    await api.sell(tenant_id, 20_000);
    return { tenant_id, idempotency_key: randomUUID(), examples_count: 1 };
  },
  changes: [{ job_id: 'job_1' }, { artifact_id: 'art_1' }, { examples_count: 2 }, { examples_count: null }],
  moves: -5000,
};

/** Every request of the interface that moves money by itself. */
export const MONEY_ENDPOINTS: readonly MoneyEndpoint[] = [sale, refund, adjustment, charge];

/** One tenant, one request to one endpoint, and what it did. */
export interface MoneyCase {
  readonly tenant: string;
  readonly json: Json;
  readonly key: string;
  /** Sends the request, with its header unless another is given; `null`: none. */
  readonly send: (change?: Json, key?: string | null) => Promise<Reply>;
  /** Fails unless the balance moved so often since the request was prepared. */
  readonly movedTimes: (times: number) => Promise<void>;
}

/** Prepares a request to an endpoint for a tenant that nobody else uses. */
export const moneyCase = async (api: Client, endpoint: MoneyEndpoint): Promise<MoneyCase> => {
  const tenant = `layers-${randomUUID()}`;
  const json = await endpoint.prepare(api, tenant);
  const key = randomUUID();
  const balance = async () =>
    Number((await api.call('get', `/v1/billing/balance/${tenant}`)).body['balance_credits']);
  const before = await balance();
  const headers = (header: string | null) =>
    endpoint.takesHeader && header !== null ? { 'idempotency-key': header } : {};
  const send = (change: Json = {}, header: string | null = key) =>
    api.call('post', endpoint.path(tenant), { json: { ...json, ...change }, headers: headers(header) });
  const movedTimes = async (times: number) => {
    expect(await balance(), tenant).to.equal(before + times * endpoint.moves);
  };
  return { tenant, json, key, send, movedTimes };
};
