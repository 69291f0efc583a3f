import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { uploadKeyOf } from '../../../domain/document.ts';
import { documents } from '../../../src/commands/uploads.ts';
import { objectSweeper } from '../../../src/worker/sweeping.ts';
import { workerOver } from '../../support/apiWorker.ts';
import { meta } from '../../support/money/moneyCommands.ts';
import { formOf } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { presigned, put } from './uploads.suite.ts';

const SCHEMA = { type: 'object', properties: { total: { type: 'number' } } };
const SECRET = 'Zebrowski';
const TEXT = `Payer: ${SECRET}\nTotal: 12.50 EUR`;

describe('erasing a document', () => {
  let api: TestApi;
  let tenant: string;
  let key: string;
  before(async () => {
    api = await startApi({});
  });
  after(() => api.stop());
  beforeEach(async () => {
    tenant = `erasing-${randomUUID()}`;
    key = await api.newKey(tenant);
    await api.sell(tenant, 20_000);
  });

  const upload = async (body = TEXT) => {
    const json = { tenant_id: tenant, file_name: `${SECRET}.txt`, content_type: 'text/plain' };
    const made = presigned(await api.call('post', '/v1/uploads/presign', { key, json }));
    const sent = await put(made.url, body, made.headers);
    expect(sent.status, sent.text).to.equal(200);
    return made;
  };
  const erase = (document_id: string, as: string | null = key) =>
    api.call('delete', `/v1/documents/${document_id}`, { key: as });
  const listed = async () =>
    (await api.call('get', `/v1/documents?tenant_id=${tenant}`, { key })).body['items'] as Readonly<
      Record<string, unknown>
    >[];
  const convert = (file_uri: string, header: Readonly<Record<string, string>> = {}) =>
    api.call('post', '/v1/ocr/to-markdown', { key, json: { tenant_id: tenant, file_uri }, headers: header });

  /** Keys of the objects that have the text in them. */
  const saying = async (text: string) => {
    const found: string[] = [];
    for await (const { key: at } of api.objects.list(''))
      if (Buffer.from((await api.objects.get(at)) ?? []).includes(text)) found.push(at);
    return found;
  };
  const keptAnswers = async () => {
    const rows = await api.sql.query('select body from http_cache.replays where tenant_id = $1', [tenant]);
    return rows.filter(({ body }) => body !== null);
  };

  it('removes its file, its result, kept answers and its name; bill, pages and times stay', async () => {
    const { document_id, file_uri } = await upload();
    const converted = await convert(file_uri, { 'Idempotency-Key': 'k' });
    expect(converted.status, converted.text).to.equal(200);
    expect(converted.text).to.include(SECRET);
    expect(await saying(SECRET)).to.have.length(2);
    expect(await keptAnswers()).not.to.deep.equal([]);
    const read = async () => [
      (await api.call('get', `/v1/billing/balance/${tenant}`)).body['balance_credits'],
      (await api.call('get', `/v1/billing/usage/${tenant}`)).body['items'],
    ];
    const [before, [row]] = [await read(), await listed()];
    expect(row).to.include({ file_name: `${SECRET}.txt`, erased_at: null });

    expect((await erase(document_id)).status).to.equal(204);
    expect(await saying(SECRET)).to.deep.equal([]);
    expect(await keptAnswers()).to.deep.equal([]);
    expect(await read()).to.deep.equal(before);
    const [erased] = await listed();
    expect(erased?.['erased_at']).to.match(/^\d{4}-/);
    expect(erased).to.deep.equal({
      ...row,
      file_name: null,
      removed_at: erased?.['erased_at'],
      erased_at: erased?.['erased_at'],
    });
    expect((await convert(file_uri)).code).to.equal('document_not_found');
  });

  it('is done once: a repeat answers the same, and finishes what a failure left', async () => {
    const { document_id, file_uri } = await upload();
    await convert(file_uri);
    await erase(document_id);
    const rows = await listed();
    await api.objects.put(uploadKeyOf(document_id), Buffer.from(SECRET));
    expect((await erase(document_id)).status).to.equal(204);
    expect(await saying(SECRET)).to.deep.equal([]);
    expect(await listed()).to.deep.equal(rows);
  });

  it('is for documents that came with a request too, and for uploads that nobody used', async () => {
    const fields = { tenant_id: tenant, schema: JSON.stringify(SCHEMA) };
    const form = formOf(fields, new Blob([TEXT], { type: 'text/plain' }), `${SECRET}.txt`);
    const sent = await api.call('post', '/v1/extract', { key, form });
    expect(sent.status, sent.text).to.equal(200);
    const [row] = await listed();
    expect((await erase(String(row?.['document_id']))).status).to.equal(204);
    expect((await listed())[0]).to.include({ file_name: null, removed_at: null });
    const { document_id } = await upload();
    expect((await erase(document_id)).status).to.equal(204);
    expect(await saying(SECRET)).to.deep.equal([]);
  });

  it("is for the tenant's own keys, service and admin keys; others learn nothing", async () => {
    const other = await api.newKey(`other-${randomUUID()}`);
    const { document_id } = await upload();
    for (const id of [document_id, 'doc_nobody', 'ds_x', '..%2fx'])
      expect((await erase(id, other)).code, id).to.equal('document_not_found');
    expect((await erase(document_id, null)).status).to.equal(401);
    expect((await erase(document_id, await api.newKey('erasing-service', 'service'))).status).to.equal(204);
  });

  it('waits for an operation on it', async () => {
    const { document_id, file_uri } = await upload();
    const later = await convert(file_uri, { Prefer: 'respond-async' });
    expect(later.status, later.text).to.equal(202);
    expect((await erase(document_id)).code).to.equal('document_in_use');
    await api.call('post', `/v1/operations/${String(later.body['operation_id'])}/cancel`, { key });
    expect((await erase(document_id)).status).to.equal(204);
  });

  const job = async (documents: readonly string[]) => {
    const examples = documents.map((document_id, at) => ({
      document_id,
      expected: { total: 1, payer: `${SECRET}${String(at)}` },
    }));
    const json = { tenant_id: tenant, schema: SCHEMA, examples };
    const made = await api.call('post', '/v1/training/jobs', { key, json });
    expect(made.status, made.text).to.equal(202);
    return String(made.body['job_id']);
  };
  const examplesOf = async (job_id: string) => {
    const answer = await api.call('get', `/v1/training/jobs/${job_id}/examples`);
    expect(answer.status, answer.text).to.equal(200);
    return answer.text;
  };

  it('takes the examples of it from training jobs, and leaves the others', async () => {
    const names = [await upload(), await upload(), await upload()].map((made) => made.document_id);
    const job_id = await job(names);
    expect((await erase(names[0] ?? '')).code).to.equal('document_in_use');
    await workerOver(api).drain();
    await api.deps.reads.settleAll();
    expect(await examplesOf(job_id))
      .to.include(`${SECRET}0`)
      .and.include(`${SECRET}1`);
    await Promise.all([erase(names[0] ?? ''), erase(names[1] ?? '')]);
    expect(await saying(`${SECRET}0`)).to.deep.equal([]);
    expect(await saying(`${SECRET}1`)).to.deep.equal([]);
    expect(await examplesOf(job_id)).not.to.include(`${SECRET}0`);
    expect(await examplesOf(job_id)).to.include(`${SECRET}2`);
    expect((await erase(names[2] ?? '')).status).to.equal(204);
    expect(await examplesOf(job_id)).not.to.include(SECRET);
    const { body } = await api.call('get', `/v1/inference/artifacts?tenant_id=${tenant}`, { key });
    const [artifact] = body['items'] as { learned_from: string[]; learned_from_erased: number }[];
    expect(artifact?.learned_from).to.have.members(names);
    expect(artifact?.learned_from_erased).to.equal(3);
  });

  it('is finished by the sweeper where a crash has left something, or late work puts it', async () => {
    const uploads = [await upload(), await upload()];
    const job_id = await job(uploads.map(({ document_id }) => document_id));
    await api.deps.reads.settleAll();
    await workerOver(api).drain();
    await convert(uploads[0]?.file_uri ?? '');
    const { document_id = '' } = uploads[0] ?? {};
    await api.deps.reads.settleAll();
    const now = api.deps.clock.now();
    const data = { document_id, tenant_id: tenant, erased_at: now };
    const written = await documents(api.log).record({ type: 'DocumentErased', data }, { ...meta, now });
    const position = written.kind === 'done' ? written.position : undefined;
    api.deps.reads.note(tenant, position);
    await api.deps.reads.settle(tenant);
    expect(await saying(SECRET)).not.to.deep.equal([]);
    const report = await objectSweeper(api.swept).sweep();
    expect(report.erased).to.be.greaterThan(0);
    expect(await saying(`${SECRET}0`)).to.deep.equal([]);
    expect((await objectSweeper(api.swept).sweep()).erased).to.equal(0);
    expect(await examplesOf(job_id)).to.include(`${SECRET}1`);
  });
});
