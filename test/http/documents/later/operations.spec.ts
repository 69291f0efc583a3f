import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { encryptedPdf, plainPdf } from '../../../../engine/test/support/pdfs.ts';
import { hasEnded } from '../../../../domain/leased.ts';
import { extractionStream } from '../../../../domain/workEvents.ts';
import { until } from '../../../../engine/test/support/until.ts';
import { eventsOf } from '../../../support/logs/eventLogs.ts';
import { formOf, INVOICE, INVOICE_SCHEMA, issuesIn, type CallOptions } from '../../support/client.ts';
import { startApi, type TestApi } from '../../support/testApi.ts';

const QUOTA_BYTES = 200_000;
const LATER = { prefer: 'respond-async' };
const pdf = (bytes: Buffer) => new Blob([new Uint8Array(bytes)], { type: 'application/pdf' });

describe('operations', () => {
  let api: TestApi;
  before(async () => {
    // Its clock is moved on: it is no one else's.
    api = await startApi({ UPLOAD_QUOTA_BYTES: String(QUOTA_BYTES) });
  });
  after(() => api.stop());

  const newTenant = async (credits = 0) => {
    const tenant_id = `op-${randomUUID()}`;
    const key = await api.newKey(tenant_id);
    if (credits > 0) await api.sell(tenant_id, credits);
    const call = (method: 'get' | 'post', path: string) => api.call(method, path, { key });
    const extract = (
      fields: Record<string, string> = {},
      { file = INVOICE, ...options }: CallOptions & { file?: Blob } = {},
    ) =>
      api.call('post', '/v1/extract', {
        key,
        form: formOf({ schema: INVOICE_SCHEMA, ...fields }, file),
        headers: LATER,
        ...options,
      });
    const accepted = async (
      fields: Record<string, string> = {},
      options: CallOptions & { file?: Blob } = {},
    ) => {
      const reply = await extract(fields, options);
      expect(reply.status, reply.text).to.equal(202);
      return String(reply.body['operation_id']);
    };
    const balance = async () => (await call('get', `/v1/billing/balance/${tenant_id}`)).body;
    const operation = async (id: string) => (await call('get', `/v1/operations/${id}`)).body;
    /** Until somebody has watched the lease of an operation for long enough to take it over. */
    const watched = (id: string) =>
      until(async () => {
        await api.operations.drain();
        api.wait(30_000);
        return (await api.deps.operations.streams.stateOf(id)).attempts > 1;
      });
    /** What came of it, once the worker, whose list may be late, has done it. */
    const ended = async (id: string) => {
      await until(async () => {
        await api.operations.drain();
        return hasEnded(await api.deps.operations.streams.stateOf(id));
      });
      return operation(id);
    };
    return { tenant_id, key, call, extract, accepted, balance, operation, ended, watched };
  };

  it('are refused while files that wait take the storage of their tenant, and not afterwards', async () => {
    const tenant = await newTenant(10_000);
    const large = new Blob(['Invoice number: A-1\n', ' '.repeat(0.6 * QUOTA_BYTES)], { type: 'text/plain' });
    const first = await tenant.accepted({}, { file: large });
    // What waits is counted by the list, which may be late.
    const listed = () => tenant.call('get', `/v1/operations?tenant_id=${tenant.tenant_id}`);
    await until(async () => JSON.stringify((await listed()).body).includes(first));
    const refused = await tenant.extract({}, { file: large });
    expect(refused.status, refused.text).to.equal(413);
    expect(refused.body).to.include({
      code: 'upload_quota_exceeded',
      used_bytes: large.size,
      quota_bytes: QUOTA_BYTES,
    });
    expect((await tenant.extract()).status).to.equal(202);
    await tenant.ended(first);
    await until(async () => (await tenant.extract({}, { file: large })).status === 202);
  });

  it('are accepted with their hold, done by a worker, billed once, and answer as the synchronous call', async () => {
    const tenant = await newTenant();
    const reply = await tenant.extract({ mode: 'fast', project_id: 'p', task_id: 't' });
    expect(reply.status, reply.text).to.equal(202);
    const id = String(reply.body['operation_id']);
    expect(reply.headers.get('location')).to.equal(`/v1/operations/${id}`);
    expect(reply.headers.get('preference-applied')).to.equal('respond-async');
    expect(reply.body).to.deep.include({ status: 'queued', result: null, pages: { done: 0, total: 1 } });
    expect(await tenant.balance()).to.include({ free_pages_remaining: 49 });

    const done = await tenant.ended(id);
    expect(done).to.deep.include({ status: 'succeeded', error: null, pages: { done: 1, total: 1 } });
    expect(done['cost']).to.deep.equal({ credits_used: 0, pages: 1, balance_remaining: 0 });
    const synchronous = await tenant.extract({ mode: 'fast' }, { headers: {} });
    const result = done['result'] as Record<string, object>;
    expect(result['result']).to.deep.equal(synchronous.body['result']);
    expect(Object.keys(result).sort()).to.deep.equal(Object.keys(synchronous.body).sort());
    expect(Object.keys(result['meta'] ?? {}).sort()).to.deep.equal(
      Object.keys(synchronous.body['meta'] as object).sort(),
    );
    expect(await tenant.balance()).to.include({ free_pages_remaining: 48, held_credits: 0 });
    const listed = await tenant.call('get', `/v1/operations?tenant_id=${tenant.tenant_id}&status=succeeded`);
    expect(listed.body['items'], listed.text).to.have.lengthOf(1);
    expect(await api.operations.drain()).to.equal(0);
  });

  it('convert documents too, and are asked for by the other calls', async () => {
    const tenant = await newTenant();
    const form = formOf({ include: 'blocks' }, pdf(plainPdf(['One', 'Two'])), 'a.pdf');
    const reply = await api.call('post', '/v1/to-markdown', { key: tenant.key, form, headers: LATER });
    expect(reply.status, reply.text).to.equal(202);
    const done = await tenant.ended(String(reply.body['operation_id']));
    expect(done, JSON.stringify(done)).to.have.nested.property('result.meta.page_count', 2);
    expect(done).to.have.nested.property('result.pages[1].blocks[0].text', 'Two');
    expect(done).to.have.nested.property('result.meta.cost.pages', 2);
  });

  it('hold what they cost until they end, and burn it once', async () => {
    const tenant = await newTenant(10_000);
    const long = new Blob(['x'.repeat(3000 * 60)], { type: 'text/plain' });
    const id = await tenant.accepted({}, { file: long });
    expect(await tenant.balance()).to.include({ held_credits: 10 * 40, balance_credits: 10_000 });
    const done = await tenant.ended(id);
    expect(done['cost'], JSON.stringify(done)).to.deep.include({ pages: 60 });
    const { credits_used } = done['cost'] as { readonly credits_used: number };
    expect(await tenant.balance()).to.include({ held_credits: 0, balance_credits: 10_000 - credits_used });
    await api.operations.reap();
    expect(await tenant.balance()).to.include({ balance_credits: 10_000 - credits_used });
  });

  it('refuse at once what the synchronous call refuses, and hold nothing', async () => {
    const tenant = await newTenant();
    const long = new Blob(['x'.repeat(3000 * 60)], { type: 'text/plain' });
    expect((await tenant.extract({}, { file: long })).code).to.equal('insufficient_credits');
    expect((await tenant.extract({ schema: '{' })).code).to.equal('invalid_schema');
    expect((await tenant.extract({ config_id: 'cfg-1' })).code).to.equal('config_not_found');
    expect((await tenant.extract({ artifact_id: 'art_1' })).code).to.equal('artifact_not_found');
    expect(issuesIn(await tenant.extract({ pages: '9' }))).to.deep.equal(['body.pages value_error']);
    expect((await tenant.extract({}, { file: pdf(encryptedPdf('x')) })).code).to.equal('unreadable_file');
    expect(await tenant.balance()).to.include({ held_credits: 0, free_pages_remaining: 50 });
    expect(await api.operations.drain()).to.equal(0);
  });

  it('keep keys and passwords under the key of the data folder where the service was given none', async () => {
    const tenant = await newTenant();
    const id = await tenant.accepted({ password: 'x' }, { file: pdf(encryptedPdf('x')) });
    expect(await tenant.ended(id)).to.include({ status: 'succeeded' });
  });

  it('are accepted once for their key, whoever asks how often, at once too', async () => {
    const tenant = await newTenant();
    const headers = { ...LATER, 'idempotency-key': randomUUID() };
    const id = await tenant.accepted({}, { headers });
    const replayed = await tenant.extract({}, { headers });
    expect(replayed.headers.get('idempotent-replayed')).to.equal('true');
    expect(replayed.headers.get('location')).to.equal(`/v1/operations/${id}`);
    await api.forgetReplays();
    const again = await tenant.extract({}, { headers });
    expect([again.status, again.body['operation_id']]).to.deep.equal([202, id]);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    await api.forgetReplays();
    const other = await tenant.extract({ mode: 'fast' }, { headers });
    expect(other.code).to.equal('idempotency_key_reused');
    await tenant.ended(id);

    const raced = { ...LATER, 'idempotency-key': randomUUID() };
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => tenant.extract({}, { headers: raced })),
    );
    const ids = new Set(
      replies.filter(({ status }) => status === 202).map(({ body }) => body['operation_id']),
    );
    expect(ids.size).to.equal(1);
    for (const one of ids) await tenant.ended(String(one));
    expect(await tenant.balance()).to.include({ free_pages_remaining: 48, held_credits: 0 });
  });

  it('fail with the problem of the synchronous call, and give their hold back', async () => {
    const tenant = await newTenant();
    const required = JSON.stringify({
      type: 'object',
      properties: { name_of_the_vessel: { type: 'string' } },
      required: ['name_of_the_vessel'],
    });
    const id = await tenant.accepted({ schema: required });
    const failed = await tenant.ended(id);
    expect(failed).to.deep.include({ status: 'failed', result: null, cost: null });
    expect(failed['error']).to.deep.include({ code: 'output_schema_mismatch', status: 422 });
    expect(failed['error']).to.have.property('validation_errors').that.has.lengthOf(1);
    expect(await tenant.balance()).to.include({ held_credits: 0, free_pages_remaining: 50 });
    const partial = await tenant.accepted({ schema: required, allow_partial: 'true' });
    expect(await tenant.ended(partial)).to.include({ status: 'partial' });
  });

  it('can be cancelled until they have ended', async () => {
    const tenant = await newTenant();
    const id = await tenant.accepted();
    const cancelled = await tenant.call('post', `/v1/operations/${id}/cancel`);
    expect(cancelled.body, cancelled.text).to.deep.include({ status: 'cancelled', cancelled: true });
    expect(await tenant.balance()).to.include({ held_credits: 0, free_pages_remaining: 50 });
    expect(await api.operations.drain()).to.equal(0);
    const again = await tenant.call('post', `/v1/operations/${id}/cancel`);
    expect(again.body).to.deep.include({ status: 'cancelled', cancelled: false });
    const left: string[] = [];
    for await (const { key } of api.objects.list('operations/')) left.push(key);
    expect(left.filter((key) => key.includes(id))).to.deep.equal([]);
  });

  it('are listed within bounds', async () => {
    const tenant = await newTenant();
    const list = (query: string) =>
      tenant.call('get', `/v1/operations?tenant_id=${tenant.tenant_id}&${query}`);
    for (const [query, issue] of [
      ['limit=1001', 'query.limit'],
      ['limit=0', 'query.limit'],
      ['offset=-1', 'query.offset'],
      ['status=done', 'query.status'],
      ['operation=train', 'query.operation'],
      ['accepted_after=yesterday', 'query.accepted_after'],
      [`task_id=${'x'.repeat(129)}`, 'query.task_id'],
    ] as const) {
      const reply = await list(query);
      expect(reply.status, query).to.equal(422);
      expect(issuesIn(reply)[0], query).to.include(issue);
    }
    expect((await tenant.call('get', '/v1/operations')).status).to.equal(422);
    const long = await tenant.call('get', `/v1/operations/op_${'x'.repeat(200)}`);
    expect([404, 422]).to.include(long.status);
    expect((await list('status=queued&limit=1000')).body).to.include({ total: 0 });
  });

  it('of another tenant are not there', async () => {
    const [owner, other] = [await newTenant(), await newTenant()];
    const id = await owner.accepted();
    for (const reply of [
      await other.call('get', `/v1/operations/${id}`),
      await other.call('post', `/v1/operations/${id}/cancel`),
      await other.call('get', '/v1/operations/op_unknown'),
      await other.call('get', `/v1/operations/${encodeURIComponent('../x')}`),
    ])
      expect([reply.status, reply.code]).to.deep.equal([404, 'operation_not_found']);
    const listed = await other.call('get', `/v1/operations?tenant_id=${owner.tenant_id}`);
    expect(listed.code).to.equal('tenant_mismatch');
    await owner.call('post', `/v1/operations/${id}/cancel`);
  });

  it('whose result was stored by a worker that died are settled by the next one, once', async () => {
    const tenant = await newTenant();
    const id = await tenant.accepted();
    const { accepted } = await api.deps.operations.streams.stateOf(id);
    if (accepted === null) throw new Error('it was not accepted');
    const meta = (now: string) => ({
      now,
      actor: { key_id: 'system', role: 'system' as const },
      correlation_id: id,
      command_id: randomUUID(),
    });
    // A worker claims it, and is never heard of again.
    const now = api.deps.clock.now();
    const data = { lease_id: 'lease_dead', lease_until: now, worker: 'dead', watched: null };
    await api.deps.operations.streams.handle(accepted, { type: 'Start', data, meta: meta(now) });
    await tenant.watched(id);
    expect(await tenant.ended(id)).to.include({ status: 'succeeded' });
    const events = (await eventsOf(api.log, extractionStream(accepted.work_id))).map(({ type }) => type);
    expect(events).to.deep.equal(['ExtractionRequested', 'ExtractionCompleted']);
    expect(await tenant.balance()).to.include({ free_pages_remaining: 49, held_credits: 0 });
  });
});
