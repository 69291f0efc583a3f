import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { until } from '../../../engine/test/support/until.ts';
import { reviewIdOf } from '../../../domain/review.ts';
import { type CallOptions, formOf, type Reply } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { presigned, put } from '../documents/uploads.suite.ts';

const SCHEMA = {
  type: 'object',
  properties: { invoice_number: { type: 'string' }, total: { type: 'number' } },
};

/** A tenant whose documents are all looked at by a person. */
const reviewingTenant = async (api: TestApi) => {
  const tenant_id = `dec-${randomUUID()}`;
  const key = await api.newKey(tenant_id);
  await api.sell(tenant_id, 10_000);
  const call = (method: 'get' | 'post' | 'delete', path: string, options: CallOptions = {}) =>
    api.call(method, path, { key, ...options });
  const done = async (...asked: Parameters<typeof call>) => {
    const reply = await call(...asked);
    expect(reply.status, reply.text).to.be.within(200, 299);
    return reply.body;
  };
  const uploaded = async (content: string) => {
    const json = { tenant_id, file_name: 'a.txt', content_type: 'text/plain' };
    const made = presigned(await call('post', '/v1/uploads/presign', { json }));
    expect((await put(made.url, content, made.headers)).status).to.equal(200);
    return made;
  };
  const headers = { prefer: 'respond-async' };
  const reviewIn = async ({ status, text }: Reply): Promise<string> => {
    expect(status, text).to.equal(202);
    const operation_id = /op_[A-Za-z0-9-]+/.exec(text)?.[0] ?? '';
    await until(async () => {
      await api.operations.drain();
      return (await api.deps.operations.streams.stateOf(operation_id)).success !== null;
    });
    return reviewIdOf(operation_id);
  };
  const asked = { mode: 'fast', schema: SCHEMA, review: { sample: 1 } };
  /** Reads an upload; a review of it is left. */
  const read = async ({ file_uri }: { readonly file_uri: string }, more: object = {}) => {
    const payload = { ...asked, ...more };
    const envelope = { schema_version: '1.0', operation: 'inference.extract', scope: { tenant_id } };
    const json = { ...envelope, resource: { file_uri }, payload };
    return reviewIn(await call('post', '/v1/canonical', { json, headers }));
  };
  const sent = async (content: string) => {
    const texts = { schema: JSON.stringify(SCHEMA), review: JSON.stringify(asked.review) };
    const file = new File([content], 'a.txt', { type: 'text/plain' });
    return reviewIn(
      await call('post', '/v1/extract', {
        form: formOf({ tenant_id, mode: 'fast', ...texts }, file),
        headers,
      }),
    );
  };
  const decide = (review_id: string, result: object) =>
    done('post', `/v1/reviews/${review_id}/decision`, { json: { result } });
  const createSet = (json: object, options: CallOptions = {}) =>
    call('post', '/v1/evaluations/sets', { json, ...options });
  const examplesOf = async (set: Readonly<Record<string, unknown>>) =>
    (await call('get', `/v1/evaluations/sets/${String(set['set_id'])}/examples`)).text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  return { tenant_id, key, call, done, uploaded, read, sent, decide, createSet, examplesOf };
};

const DOCUMENT = 'Invoice number: Q-1\nTotal: 10.00 EUR\n';

describe('sets of what people have decided', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  it('have each decided upload once, by what was decided last, and say how many are left out', async () => {
    const tenant = await reviewingTenant(api);
    const [one, two, open] = [
      await tenant.uploaded(DOCUMENT),
      await tenant.uploaded('Total: 20.00 EUR\n'),
      await tenant.uploaded('Total: 30.00 EUR\n'),
    ];
    await tenant.decide(await tenant.read(one), { invoice_number: 'Q-0', total: 1 });
    await tenant.decide(await tenant.read(one), { invoice_number: 'Q-1', total: 10 });
    await tenant.decide(await tenant.read(two), { total: 20 });
    const dropped = await tenant.uploaded('Total: 40.00 EUR\n');
    await tenant.decide(await tenant.read(dropped), { total: 40 });
    await tenant.call('delete', `/v1/uploads/${dropped.document_id}`);
    await tenant.read(open);
    const set = await tenant.done('post', '/v1/evaluations/sets', { json: { from_decisions: {} } });
    expect(set).to.include({ version: 1, documents: 2, left_out: 1 });
    expect(await tenant.examplesOf(set)).to.deep.equal([
      // a person was asked for it, and left it out
      { document_id: two.document_id, expected: { invoice_number: null, total: 20 } },
      { document_id: one.document_id, expected: { invoice_number: 'Q-1', total: 10 } },
    ]);
    const json = { tenant_id: tenant.tenant_id, set_id: set['set_id'], schema: SCHEMA };
    const run = await tenant.done('post', '/v1/evaluations/runs', { json });
    expect(run).to.include({ documents: 2 });

    await tenant.decide(await tenant.read(open), { total: 30 });
    const next = { from_decisions: {}, set_id: set['set_id'] };
    const more = await tenant.done('post', '/v1/evaluations/sets', { json: next });
    expect(more).to.include({ set_id: set['set_id'], version: 2, documents: 3 });
  });

  it('have documents whose files came with their requests, which are uploads from then on', async () => {
    const tenant = await reviewingTenant(api);
    await tenant.decide(await tenant.sent(DOCUMENT), { invoice_number: 'Q-1', total: 10 });
    const made = () => tenant.done('post', '/v1/evaluations/sets', { json: { from_decisions: {} } });
    const set = await made();
    expect(set).to.include({ documents: 1, left_out: 0 });
    const [document_id = ''] = set['document_ids'] as readonly string[];
    const file = () => tenant.call('get', `/v1/documents/${document_id}/file`);
    expect((await file()).text).to.equal(DOCUMENT);
    const json = { tenant_id: tenant.tenant_id, set_id: set['set_id'], schema: SCHEMA };
    const { run_id } = await tenant.done('post', '/v1/evaluations/runs', { json });
    const run = await until(async () => {
      await api.batches.look();
      await api.operations.drain();
      await api.evaluations.look();
      await api.deps.reads.settleAll();
      const found = await tenant.done('get', `/v1/evaluations/runs/${String(run_id)}`);
      return found['status'] === 'succeeded' ? found : undefined;
    });
    expect(run).to.include({ scored: 1, left_out: 0, f1: 1 });
    expect((await made())['document_ids'], 'again').to.deep.equal([document_id]);
    await tenant.call('delete', `/v1/documents/${document_id}`);
    expect((await file()).status).to.equal(404);
    const left = await tenant.done('get', `/v1/evaluations/sets/${String(set['set_id'])}`);
    expect(left['document_ids']).to.deep.equal([]);
  });

  it('have those of one config and of one time', async () => {
    const tenant = await reviewingTenant(api);
    const json = { tenant_id: tenant.tenant_id, schema: SCHEMA, mode: 'fast' };
    const { config_id } = (await api.call('post', '/v1/configs', { json })).body;
    const [own, other] = [await tenant.uploaded(DOCUMENT), await tenant.uploaded(`${DOCUMENT}.`)];
    await tenant.decide(await tenant.read(own, { config_id, schema: undefined }), { total: 1 });
    const other_review = await tenant.read(other);
    const { decision } = await tenant.decide(other_review, { total: 2 });
    const { decided_at } = decision as { readonly decided_at: string };
    const idsOf = async (from_decisions: object) => {
      const set = await tenant.done('post', '/v1/evaluations/sets', { json: { from_decisions } });
      return set['document_ids'];
    };
    expect(await idsOf({ config_id })).to.deep.equal([own.document_id]);
    expect(await idsOf({ decided_from: decided_at })).to.deep.equal([other.document_id]);
    expect(await idsOf({ decided_until: decided_at })).to.deep.equal([own.document_id]);
  });

  it('are refused where nothing was decided that could be read again', async () => {
    const [tenant, other] = [await reviewingTenant(api), await reviewingTenant(api)];
    await other.decide(await other.read(await other.uploaded(DOCUMENT)), { total: 10 });
    const refused = async (json: object) => {
      const { status, code, text } = await tenant.createSet(json);
      expect([status, code], JSON.stringify(json)).to.deep.equal([422, 'validation_error']);
      return text;
    };
    expect(await refused({ from_decisions: {} }), 'of another tenant').to.include('Nobody has decided');
    const gone = await tenant.uploaded(DOCUMENT);
    await tenant.decide(await tenant.read(gone), { total: 10 });
    await tenant.call('delete', `/v1/uploads/${gone.document_id}`);
    expect(await refused({ from_decisions: {} })).to.include('no longer kept');
    await refused({ from_decisions: { decided_from: 'yesterday' } });
    await refused({ from_decisions: { config: 'invoices' } });
    await refused({ from_decisions: {}, dataset_id: 'ds_1' });
    const foreign = { tenant_id: other.tenant_id, from_decisions: {} };
    expect((await tenant.createSet(foreign)).code).to.equal('tenant_mismatch');
  });

  it('are made once for an Idempotency-Key, also by two at once and after another decision', async () => {
    const tenant = await reviewingTenant(api);
    await tenant.decide(await tenant.read(await tenant.uploaded(DOCUMENT)), { total: 10 });
    const sent = () =>
      tenant.createSet({ from_decisions: {} }, { headers: { 'Idempotency-Key': 'decided' } });
    const made = await Promise.all([sent(), sent()]);
    const ids = made.filter(({ status }) => status === 201).map(({ body }) => body['set_id']);
    expect(new Set(ids).size).to.equal(1);
    await tenant.decide(await tenant.read(await tenant.uploaded(`${DOCUMENT}.`)), { total: 11 });
    await api.forgetReplays();
    const again = await sent();
    expect(again.body).to.include({ set_id: ids[0], version: 1, documents: 1 });
  });

  it('lose a document that is erased, and do not get it back', async () => {
    const tenant = await reviewingTenant(api);
    const [one, two] = [await tenant.uploaded(DOCUMENT), await tenant.uploaded(`${DOCUMENT}.`)];
    for (const id of [one, two]) await tenant.decide(await tenant.read(id), { total: 10 });
    const made = await tenant.done('post', '/v1/evaluations/sets', { json: { from_decisions: {} } });
    await tenant.call('delete', `/v1/documents/${one.document_id}`);
    const set = await tenant.done('get', `/v1/evaluations/sets/${String(made['set_id'])}`);
    expect(set['document_ids']).to.deep.equal([two.document_id]);
    const next = await tenant.done('post', '/v1/evaluations/sets', { json: { from_decisions: {} } });
    expect(next).to.deep.include({ document_ids: [two.document_id], left_out: 0 });
  });
});
