import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { workerOver } from '../../support/apiWorker.ts';
import { formOf } from '../support/client.ts';
import type { TestApi } from '../support/testApi.ts';
import { presigned, put } from './uploads.suite.ts';

/** A word that stands nowhere else, and where it was planted. */
export const words = () => {
  const run = randomUUID().slice(0, 8);
  const planted = new Map<string, string>();
  return {
    planted,
    word: (where: string): string => {
      const text = `Zq${run}w${String(planted.size).padStart(2, '0')}x`;
      planted.set(text, where);
      return text;
    },
  };
};

/** Where the words were planted that a text has in it, or one of several. */
export const namedIn = (
  planted: ReadonlyMap<string, string>,
  texts: string | readonly string[],
): readonly string[] =>
  [...planted]
    .filter(([word]) => [texts].flat().some((text) => text.includes(word)))
    .map(([, where]) => where);

/** Asks, and fails where it is not done. */
export const okOver =
  (api: TestApi) =>
  async (method: string, path: string, options: object = {}) => {
    const reply = await api.call(method, path, options);
    expect(reply.status, `${method} ${path}: ${reply.text}`).to.be.below(300);
    return reply;
  };

/** Plants words in every field that takes text that people write. */
export const plantIn = async (api: TestApi, tenant: string) => {
  const ok = okOver(api);
  const { planted, word } = words();
  const made = await ok('post', '/v1/api-keys', { json: { tenant_id: tenant, name: word('key name') } });
  const key = String(made.body['key']);
  const txn = randomUUID();
  await ok('post', '/v1/billing/credits', {
    json: {
      tenant_id: tenant,
      provider: 'stripe',
      provider_txn_id: txn,
      credits: 40_000,
      currency: 'USD',
      gross_amount_minor: 5_900,
      vat_amount_minor: 1_900,
      provider_fee_minor: 195,
      invoice_ref: word('invoice_ref'),
      note: word('note of a sale'),
    },
  });
  await ok('post', '/v1/billing/refunds', {
    json: {
      tenant_id: tenant,
      provider: 'stripe',
      provider_txn_id: `re-${txn}`,
      credits: 10,
      reason: word('refund'),
      original_provider: 'stripe',
      original_provider_txn_id: txn,
    },
  });
  await ok('post', `/v1/admin/tenants/${tenant}/adjust-credits`, {
    json: { credits: 50, reason: word('reason of an adjustment') },
    headers: { 'Idempotency-Key': randomUUID() },
  });
  await ok('post', `/v1/admin/tenants/${tenant}/set-plan`, {
    json: { plan: 'paid', reason: word('reason of a plan') },
  });
  const schema = {
    type: 'object',
    description: word('description of a schema'),
    properties: {
      total: { type: 'number', description: word('description of a field') },
      payer: { type: 'string' },
    },
  };
  const upload = async (where: string) => {
    const json = {
      tenant_id: tenant,
      file_name: `${word(`${where}: file name`)}.txt`,
      content_type: 'text/plain',
    };
    const target = presigned(await ok('post', '/v1/uploads/presign', { key, json }));
    const text = `Payer: ${word(`${where}: text`)}\nTotal: 12.50 EUR`;
    const { pathname, search } = new URL(target.url);
    expect((await put(`${api.url}${pathname}${search}`, text, target.headers)).status).to.equal(200);
    return target;
  };
  const file = (where: string) =>
    [
      new Blob([`Payer: ${word(`${where}: text`)}\nTotal: 12.50 EUR`], { type: 'text/plain' }),
      `${word(`${where}: file name`)}.txt`,
    ] as const;
  const fields = { tenant_id: tenant, schema: JSON.stringify(schema) };
  await ok('post', '/v1/extract', {
    key,
    form: formOf(fields, ...file('extract')),
    headers: { 'Idempotency-Key': randomUUID() },
  });
  await ok('post', '/v1/extract', {
    key,
    form: formOf(fields, ...file('operation that ends')),
    headers: { Prefer: 'respond-async' },
  });
  await api.deps.reads.settleAll();
  await api.operations.drain();
  await ok('post', '/v1/extract', {
    key,
    form: formOf(fields, ...file('operation that waits')),
    headers: { Prefer: 'respond-async' },
  });
  const used = await upload('upload');
  await ok('post', '/v1/ocr/to-markdown', {
    key,
    json: { tenant_id: tenant, file_uri: used.file_uri },
    headers: { 'Idempotency-Key': randomUUID() },
  });
  await upload('unused upload');
  await ok('post', '/v1/batches', {
    key,
    json: { tenant_id: tenant, schema, file_uris: [(await upload('batch')).file_uri] },
    headers: { 'Idempotency-Key': randomUUID() },
  });
  await ok('post', '/v1/configs', {
    json: { tenant_id: tenant, name: word('config name'), schema, mode: 'standard' },
  });
  const description = word('webhook description');
  const url = `https://example.com/${word('webhook url')}`;
  await ok('post', '/v1/webhooks', {
    key,
    json: { tenant_id: tenant, url, description, events: ['operation.succeeded'] },
  });
  const job = async () => {
    const examples = [];
    for (const where of ['first example', 'second example'])
      examples.push({
        document_id: (await upload(where)).document_id,
        expected: { total: 12.5, payer: word(`${where}: expected`) },
      });
    const json = { tenant_id: tenant, name: word('job name'), schema, examples };
    return String((await ok('post', '/v1/training/jobs', { key, json })).body['job_id']);
  };
  const job_id = await job();
  await api.deps.reads.settleAll();
  await workerOver(api).drain();
  const trained = await ok('get', `/v1/training/jobs/${job_id}`, { key });
  const artifact_id = String(trained.body['artifact_id']);
  await ok('post', '/v1/inference/deployments', {
    key,
    json: {
      tenant_id: tenant,
      project_id: 'p',
      artifact_id,
      artifact_uri: `quire://artifacts/${artifact_id}`,
    },
  });
  await job();
  await api.deps.reads.settleAll();
  return { planted, key, artifact_id };
};
