import { until } from '../../../../engine/test/support/until.ts';
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { BATCH_DOCUMENTS_MAX, operationIdOfDocument } from '../../../../domain/batch.ts';
import { extractionStream } from '../../../../domain/workEvents.ts';
import { OPEN_BATCHES_MAX } from '../../../../src/commands/batches.ts';
import { eventsOf } from '../../../support/logs/eventLogs.ts';
import { issuesIn } from '../../support/client.ts';
import { startApi, type TestApi } from '../../support/testApi.ts';
import { batchTenant } from './batchTenant.ts';

describe('batches', () => {
  let api: TestApi;
  before(async () => {
    // Its clock is moved on: it is no one else's.
    api = await startApi();
  });
  after(() => api.stop());

  const newTenant = (credits?: number) => batchTenant(api, credits);

  it('do each document once, bill it once, and answer in the order of the request', async () => {
    const tenant = await newTenant();
    const uris = await tenant.invoices(3);
    const reply = await tenant.create(uris, { mode: 'fast', project_id: 'p' });
    expect(reply.status, reply.text).to.equal(202);
    const id = String(reply.body['batch_id']);
    expect(reply.headers.get('location')).to.equal(`/v1/batches/${id}`);
    expect(reply.body).to.deep.include({
      status: 'queued',
      operation: 'extract',
      project_id: 'p',
      pages_done: 0,
    });
    expect(reply.body['documents']).to.deep.include({ total: 3, queued: 3 });

    const done = await tenant.ended(id);
    expect(done).to.deep.include({ status: 'ended', pages_done: 3, credits_used: 0 });
    expect(done['documents']).to.deep.include({ total: 3, succeeded: 3, queued: 0, failed: 0 });
    const lines = await tenant.results(id);
    expect(lines.map(({ index, file_uri, status }) => [index, file_uri, status])).to.deep.equal(
      uris.map((uri, index) => [index, uri, 'succeeded']),
    );
    expect(lines.map(({ result }) => result?.result['invoice_number'])).to.deep.equal(['Q-0', 'Q-1', 'Q-2']);
    expect(lines[2]?.cost).to.deep.include({ credits_used: 0, pages: 1 });
    expect(await tenant.balance()).to.include({ free_pages_remaining: 47, held_credits: 0 });
    const listed = await tenant.call('get', `/v1/batches?tenant_id=${tenant.tenant_id}&status=ended`);
    expect(listed.body['items'], listed.text).to.have.lengthOf(1);
    expect(listed.body).to.have.nested.property('items[0].pages_done', 3);
    const none = await tenant.call('get', `/v1/batches?tenant_id=${tenant.tenant_id}&status=running`);
    expect(none.body['items']).to.deep.equal([]);
    const operation = await tenant.call('get', `/v1/operations/${String(lines[0]?.operation_id)}`);
    expect(operation.body).to.include({ status: 'succeeded' });
    const left: string[] = [];
    for await (const { key } of api.objects.list('operations/')) left.push(key);
    expect(left.filter((key) => key.includes(id))).to.deep.equal([]);
  });

  it('give each document its own outcome: one that cannot be used or paid for leaves the others alone', async () => {
    const tenant = await newTenant();
    const [first, last] = await tenant.invoices(2);
    const other = await newTenant();
    const foreign = await other.uploaded('Invoice number: X-1');
    const { file_uri: notSent } = await tenant.presign();
    const long = await tenant.uploaded('x'.repeat(3000 * 60));
    const broken = await tenant.uploaded('%PDF-1.4 broken');
    const uris = [first, foreign, notSent, long, broken, last].map(String);
    const id = await tenant.created(uris);
    const done = await tenant.ended(id);
    expect(done['documents'], JSON.stringify(done)).to.deep.include({ succeeded: 2, failed: 4 });
    const lines = await tenant.results(id);
    expect(lines.map(({ status, error }) => error?.code ?? status)).to.deep.equal([
      'succeeded',
      'document_not_found',
      'missing_file',
      'insufficient_credits',
      'unreadable_file',
      'succeeded',
    ]);
    expect(lines[1]?.error).to.include({ status: 404 });
    expect(lines[3]?.error?.detail).to.contain('credits');
    expect(lines[1]).to.include({ operation_id: null, result: null, cost: null });
    expect(await tenant.balance()).to.include({ free_pages_remaining: 48, held_credits: 0 });
  });

  it('are accepted once for their key, at once too, and never with another body', async () => {
    const tenant = await newTenant();
    const [uri, other] = await tenant.invoices(2);
    const headers = { 'idempotency-key': randomUUID() };
    const id = await tenant.created([String(uri)], {}, { headers });
    const replayed = await tenant.create([String(uri)], {}, { headers });
    expect([replayed.status, replayed.body['batch_id']]).to.deep.equal([202, id]);
    expect(replayed.headers.get('idempotent-replayed')).to.equal('true');
    await api.forgetReplays();
    const again = await tenant.create([String(uri)], {}, { headers });
    expect([again.status, again.body['batch_id']], again.text).to.deep.equal([202, id]);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    await api.forgetReplays();
    expect((await tenant.create([String(other)], {}, { headers })).code).to.equal('idempotency_key_reused');

    const raced = { 'idempotency-key': randomUUID() };
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => tenant.create([String(other)], {}, { headers: raced })),
    );
    const ids = replies.filter(({ status }) => status === 202).map(({ body }) => body['batch_id']);
    expect(new Set(ids).size).to.equal(1);
    for (const one of [id, ids[0]]) await tenant.ended(String(one));
    expect(await tenant.balance()).to.include({ free_pages_remaining: 48, held_credits: 0 });
  });

  it('refuse at once what no document could be done with', async () => {
    const tenant = await newTenant();
    const [uri = ''] = await tenant.invoices(1);
    expect((await tenant.create([uri], { schema: { type: 'array' } })).code).to.equal('invalid_schema');
    expect((await tenant.create([uri], { schema: undefined })).code).to.equal('missing_schema');
    expect((await tenant.create([uri], { config_id: 'cfg-1' })).code).to.equal('config_not_found');
    expect((await tenant.create([uri], { artifact_id: 'art_1' })).code).to.equal('artifact_not_found');
    expect(issuesIn(await tenant.create([uri], { pages: '0' }))).to.deep.equal(['body.pages custom']);
    expect(issuesIn(await tenant.create([uri, 'https://example.org/a.pdf', uri]))).to.deep.equal([
      'body.file_uris.1 custom',
      'body.file_uris.2 custom',
    ]);
    expect(issuesIn(await tenant.create([]))).to.deep.equal(['body.file_uris too_small']);
    const many = Array.from(
      { length: BATCH_DOCUMENTS_MAX + 1 },
      (_, at) => `quire://uploads/doc_${String(at)}`,
    );
    expect(issuesIn(await tenant.create(many))).to.deep.equal(['body.file_uris too_big']);
    const listed = await tenant.call('get', `/v1/batches?tenant_id=${tenant.tenant_id}`);
    expect(listed.body['total']).to.equal(0);
  });

  it('that are cancelled begin nothing more, and give back the holds of what waits', async () => {
    const tenant = await newTenant();
    const id = await tenant.created(await tenant.invoices(12));
    await api.batches.look();
    await tenant.batch(id);
    expect(await tenant.balance()).to.include({ free_pages_remaining: 40 });
    const cancelled = await tenant.call('post', `/v1/batches/${id}/cancel`);
    expect(cancelled.body, cancelled.text).to.deep.include({ status: 'cancelling', cancelled: true });
    const done = await tenant.ended(id);
    expect(done).to.deep.include({ status: 'cancelled', credits_used: 0 });
    expect(done['documents'], JSON.stringify(done)).to.deep.include({
      total: 12,
      cancelled: 12,
      succeeded: 0,
    });
    expect(await tenant.balance()).to.include({ free_pages_remaining: 50, held_credits: 0 });
    expect((await tenant.results(id)).map(({ status }) => status)).to.deep.equal(Array(12).fill('cancelled'));
    const again = await tenant.call('post', `/v1/batches/${id}/cancel`);
    expect(again.body).to.deep.include({ status: 'cancelled', cancelled: false });
  });

  it('finish what is worked on when they are cancelled', async () => {
    const tenant = await newTenant();
    const id = await tenant.created(await tenant.invoices(2));
    await api.batches.look();
    const [first] = await tenant.results(id);
    const { accepted } = await api.deps.operations.streams.stateOf(String(first?.operation_id));
    if (accepted === null) throw new Error('it was not accepted');
    const now = api.deps.clock.now();
    const meta = {
      now,
      actor: { key_id: 'system', role: 'system' as const },
      correlation_id: id,
      command_id: randomUUID(),
    };
    const data = { lease_id: 'lease_dead', lease_until: now, worker: 'dead', watched: null };
    await api.deps.operations.streams.handle(accepted, { type: 'Start', data, meta });
    await tenant.call('post', `/v1/batches/${id}/cancel`);
    await api.batches.look();
    // Its worker is dead: another one watches the lease for as long as it is, and takes it over.
    await until(async () => {
      await api.operations.drain();
      api.wait(30_000);
      return (await api.deps.operations.streams.stateOf(accepted.operation_id)).attempts > 1;
    });
    expect((await tenant.ended(id))['documents']).to.deep.include({ succeeded: 1, cancelled: 1 });
    expect((await tenant.results(id)).map(({ status }) => status)).to.deep.equal(['succeeded', 'cancelled']);
    expect(await tenant.balance()).to.include({ free_pages_remaining: 49, held_credits: 0 });
  });

  it('of another tenant are not there', async () => {
    const [owner, other] = [await newTenant(), await newTenant()];
    const id = await owner.created(await owner.invoices(1));
    for (const reply of [
      await other.call('get', `/v1/batches/${id}`),
      await other.call('get', `/v1/batches/${id}/results`),
      await other.call('post', `/v1/batches/${id}/cancel`),
      await other.call('get', '/v1/batches/bat_unknown'),
      await other.call('get', `/v1/batches/${encodeURIComponent('../x')}`),
    ])
      expect([reply.status, reply.code]).to.deep.equal([404, 'batch_not_found']);
    const listed = await other.call('get', `/v1/batches?tenant_id=${owner.tenant_id}`);
    expect(listed.code).to.equal('tenant_mismatch');
    await owner.call('post', `/v1/batches/${id}/cancel`);
    await owner.ended(id);
  });

  it('go on with documents that a worker began and died on, each once', async () => {
    const tenant = await newTenant();
    const id = await tenant.created(await tenant.invoices(2));
    const streams = api.deps.batches.streams;
    // A worker begins both a while ago, feeds none, and is never heard of again.
    const meta = {
      now: new Date(Date.now() - 120_000).toISOString(),
      correlation_id: id,
      command_id: randomUUID(),
      actor: { key_id: 'system', role: 'system' as const },
    };
    const name = { batch_id: id, tenant_id: tenant.tenant_id };
    const begun = await streams.handle(name, { type: 'BeginDocuments', data: { count: 2 }, meta });
    expect(begun.kind).to.equal('done');
    expect((await tenant.ended(id))['documents']).to.deep.include({ succeeded: 2 });
    const lines = await tenant.results(id);
    for (const { operation_id } of lines) {
      const { accepted } = await api.deps.operations.streams.stateOf(String(operation_id));
      const events = await eventsOf(api.log, extractionStream(String(accepted?.work_id)));
      expect(events.map(({ type }) => type)).to.deep.equal(['ExtractionRequested', 'ExtractionCompleted']);
    }
    expect(await tenant.balance()).to.include({ free_pages_remaining: 48, held_credits: 0 });
  });

  it('of a tenant are so many at once at most', async () => {
    const tenant = await newTenant();
    const uri = `quire://uploads/doc_${randomUUID()}`;
    const ids: string[] = [];
    for (let at = 0; at < OPEN_BATCHES_MAX; at += 1) ids.push(await tenant.created([uri]));
    await tenant.batch(ids[0] ?? '');
    const refused = await tenant.create([uri]);
    expect([refused.status, refused.code]).to.deep.equal([503, 'busy']);
    for (const id of ids) await tenant.ended(id);
    await tenant.ended(await tenant.created([uri]));
  });

  it('answer from any document on, and as far as they are', async () => {
    const tenant = await newTenant();
    const uris = await tenant.invoices(10);
    const id = await tenant.created(uris);
    const before = await tenant.results(id, '?from=8');
    expect(before.map(({ index, status }) => [index, status])).to.deep.equal([
      [8, 'queued'],
      [9, 'queued'],
    ]);
    await tenant.ended(id);
    expect((await tenant.results(id, '?from=9')).map(({ file_uri }) => file_uri)).to.deep.equal([uris[9]]);
    expect(await tenant.results(id, '?from=10')).to.deep.equal([]);
    const beyond = await tenant.call('get', `/v1/batches/${id}/results?from=-1`);
    expect(beyond.code).to.equal('validation_error');
    const head = await api.call('get', `/v1/batches/${id}/results`, { key: tenant.key });
    expect(head.headers.get('content-type')).to.contain('application/x-ndjson');
  });

  it('know their documents by IDs that follow from the batch', async () => {
    const tenant = await newTenant();
    const id = await tenant.created(await tenant.invoices(1));
    await tenant.ended(id);
    const [line] = await tenant.results(id);
    const name = { tenant_id: tenant.tenant_id, batch_id: id, index: 0 };
    expect(line?.operation_id).to.equal(operationIdOfDocument(name));
  });
});
