import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { until } from '../../../../engine/test/support/until.ts';
import { INVOICE_SCHEMA, type CallOptions, type Reply } from '../../support/client.ts';
import type { TestApi } from '../../support/testApi.ts';
import { presigned, put } from '../uploads.suite.ts';

const SCHEMA = JSON.parse(INVOICE_SCHEMA) as object;

interface Line {
  readonly index: number;
  readonly file_uri: string;
  readonly operation_id: string | null;
  readonly status: string;
  readonly result: { readonly result: Readonly<Record<string, unknown>> } | null;
  readonly error: { readonly code: string; readonly status: number; readonly detail: string } | null;
  readonly cost: { readonly credits_used: number; readonly pages: number } | null;
}

const linesIn = ({ text }: Reply): readonly Line[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

/** A tenant of its own that sends batches. */
export const batchTenant = async (api: TestApi, credits = 0) => {
  const tenant_id = `bat-${randomUUID()}`;
  const key = await api.newKey(tenant_id);
  if (credits > 0) await api.sell(tenant_id, credits);
  const call = (method: 'get' | 'post', path: string, options: CallOptions = {}) =>
    api.call(method, path, { key, ...options });
  const presign = async (content_type = 'text/plain') => {
    const json = { tenant_id, file_name: content_type.replace('/', '.'), content_type };
    return presigned(await call('post', '/v1/uploads/presign', { json }));
  };
  const uploaded = async (content: string | Uint8Array, content_type?: string) => {
    const { url, headers, file_uri } = await presign(content_type);
    expect((await put(url, content, headers)).status).to.equal(200);
    return file_uri;
  };
  const invoices = async (count: number) => {
    const uris: string[] = [];
    for (let at = 0; at < count; at += 1) uris.push(await uploaded(`Invoice number: Q-${String(at)}\n`));
    return uris;
  };
  const create = (file_uris: readonly string[], more: object = {}, options: CallOptions = {}) =>
    call('post', '/v1/batches', { json: { file_uris, schema: SCHEMA, ...more }, ...options });
  const created = async (...asked: Parameters<typeof create>) => {
    const reply = await create(...asked);
    expect(reply.status, reply.text).to.equal(202);
    return String(reply.body['batch_id']);
  };
  const batch = async (id: string) => (await call('get', `/v1/batches/${id}`)).body;
  const ended = async (id: string) => {
    await until(async () => {
      await api.batches.look();
      await api.operations.drain();
      return (await api.deps.batches.streams.stateOf(id)).ended !== null;
    });
    return batch(id);
  };
  const results = async (id: string, query = '') =>
    linesIn(await call('get', `/v1/batches/${id}/results${query}`));
  const balance = async () => (await call('get', `/v1/billing/balance/${tenant_id}`)).body;
  return {
    tenant_id,
    key,
    call,
    presign,
    uploaded,
    invoices,
    create,
    created,
    batch,
    ended,
    results,
    balance,
  };
};
