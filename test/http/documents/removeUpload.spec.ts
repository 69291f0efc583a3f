import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { uploadKeyOf } from '../../../domain/document.ts';
import { keptDays } from '../../../domain/retention.ts';
import { objectSweeper } from '../../../src/worker/sweeping.ts';
import { workerOver } from '../../support/apiWorker.ts';
import type { Reply } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { presigned, put } from './uploads.suite.ts';

const QUOTA = 20_000;
const SCHEMA_OF_TOTAL = { type: 'object', properties: { total: { type: 'number' } } };
const DAY_MS = 24 * 3_600_000;

describe('removing uploads', () => {
  let api: TestApi;
  let tenant: string;
  let key: string;
  before(async () => {
    api = await startApi({ UPLOAD_QUOTA_BYTES: String(QUOTA), UPLOAD_RETENTION_DAYS: '30' });
  });
  after(() => api.stop());
  beforeEach(async () => {
    tenant = `removing-${randomUUID()}`;
    key = await api.newKey(tenant);
  });

  const ask = (over: object = {}) => {
    const json = { tenant_id: tenant, file_name: 'a.txt', content_type: 'text/plain', ...over };
    return api.call('post', '/v1/uploads/presign', { key, json });
  };
  const upload = async (body = 'Total: 12.50 EUR') => {
    const made = presigned(await ask());
    const sent = await put(made.url, body, made.headers);
    expect(sent.status, sent.text).to.equal(200);
    return made;
  };
  const remove = (document_id: string, as: string | null = key) =>
    api.call('delete', `/v1/uploads/${document_id}`, { key: as });
  const count = (document_id: string) =>
    api.call('post', '/v1/documents/page-count', { key, json: { documents: [{ document_id }] } });
  const statusOf = ({ body }: Reply) => (body['items'] as { status: string }[])[0]?.status;
  const used = async (body?: string) => {
    const made = await upload(body);
    expect(statusOf(await count(made.document_id))).to.equal('ok');
    return made;
  };
  const isStored = async (document_id: string) =>
    (await api.objects.get(uploadKeyOf(document_id))) !== undefined;
  const listed = async () =>
    (await api.call('get', `/v1/documents?tenant_id=${tenant}`, { key })).body['items'] as {
      readonly document_id: string;
      readonly removed_at: string | null;
    }[];

  it('frees the quota at once, of used files and of unused ones', async () => {
    for (const make of [used, upload]) {
      const { document_id } = await make('x'.repeat(15_000));
      expect((await ask({ bytes: 6_000 })).code).to.equal('upload_quota_exceeded');
      expect((await remove(document_id)).status).to.equal(204);
      expect(await isStored(document_id)).to.equal(false);
      expect((await ask({ bytes: QUOTA })).status).to.equal(200);
    }
  });

  it('is done once: a repeat answers the same, and the list says when', async () => {
    const { document_id } = await used();
    expect((await listed())[0]).to.include({ document_id, removed_at: null });
    expect((await remove(document_id)).status).to.equal(204);
    const [first] = await listed();
    expect(first?.removed_at).to.match(/^\d{4}-/);
    expect((await remove(document_id)).status).to.equal(204);
    expect(await listed()).to.deep.equal([first]);
  });

  it('leaves nothing to use: not to count, to convert, to learn from, nor to send again', async () => {
    const { document_id, file_uri, url, headers } = await used();
    await remove(document_id);
    expect(statusOf(await count(document_id))).to.equal('not_found');
    const json = { tenant_id: tenant, file_uri };
    const converted = await api.call('post', '/v1/ocr/to-markdown', { key, json });
    expect([converted.status, converted.code]).to.deep.equal([404, 'document_not_found']);
    const sent = await put(url, 'again', headers);
    expect([sent.status, (JSON.parse(sent.text) as { code: string }).code]).to.deep.equal([
      409,
      'version_conflict',
    ]);
  });

  it('closes the URL of a file that never came', async () => {
    const { document_id, url, headers } = presigned(await ask());
    expect((await remove(document_id)).status).to.equal(204);
    expect((await put(url, 'late', headers)).status).to.equal(409);
  });

  it("is for the tenant's own keys, service and admin keys; others learn nothing", async () => {
    const other = await api.newKey(`other-${randomUUID()}`);
    const service = await api.newKey('removing-service', 'service');
    const { document_id } = await upload();
    for (const id of [document_id, 'doc_nobody', 'ds_x', '..%2fx'])
      expect((await remove(id, other)).code, id).to.equal('document_not_found');
    expect((await remove(document_id, null)).status).to.equal(401);
    expect(await isStored(document_id)).to.equal(true);
    expect((await remove(document_id, service)).status).to.equal(204);
    const { document_id: second } = await upload();
    expect((await api.call('delete', `/v1/uploads/${second}`)).status).to.equal(204);
  });

  it('leaves bill and usage as they were', async () => {
    await api.sell(tenant, 20_000);
    const { document_id, file_uri } = await upload();
    const json = { tenant_id: tenant, file_uri };
    expect((await api.call('post', '/v1/ocr/to-markdown', { key, json })).status).to.equal(200);
    const read = async () => [
      (await api.call('get', `/v1/billing/balance/${tenant}`)).body['balance_credits'],
      (await api.call('get', `/v1/billing/usage/${tenant}`)).body['items'],
    ];
    const before = await read();
    await remove(document_id);
    expect(await read()).to.deep.equal(before);
  });

  const job = async (documents: readonly string[]) => {
    const examples = documents.map((document_id) => ({ document_id, expected: { total: 1 } }));
    const json = { tenant_id: tenant, schema: SCHEMA_OF_TOTAL, examples };
    const made = await api.call('post', '/v1/training/jobs', { key, json });
    expect(made.status, made.text).to.equal(202);
    return String(made.body['job_id']);
  };

  it('waits for a training job that learns from it', async () => {
    await api.sell(tenant, 20_000);
    const documents = [(await upload()).document_id, (await upload()).document_id];
    await job(documents);
    const refused = await remove(documents[0] ?? '');
    expect([refused.status, refused.code]).to.deep.equal([409, 'document_in_use']);
    await workerOver(api).drain();
    await api.deps.reads.settleAll();
    expect((await remove(documents[0] ?? '')).status).to.equal(204);
  });

  it('and the creation of a job from it never both take effect', async () => {
    await api.sell(tenant, 20_000);
    const turns = async (count: number) => {
      for (let at = 0; at < count; at += 1) await nextTurn();
    };
    for (let round = 0; round < 4; round += 1) {
      const [{ document_id: gone }, { document_id: kept }] = [await used(), await used()];
      const examples = [gone, kept].map((document_id) => ({ document_id, expected: { total: 1 } }));
      const json = { tenant_id: tenant, schema: SCHEMA_OF_TOTAL, examples };
      const creation = api.call('post', '/v1/training/jobs', { key, json });
      // Somewhere within the steps of the creation, each round a little later.
      await turns(round * 16);
      const [removed, created] = [await remove(gone), await creation];
      const answers = `round ${String(round)}: ${removed.status}, ${created.status}`;
      if (removed.status === 204 && created.status === 202) {
        const path = `/v1/training/jobs/${String(created.body['job_id'])}`;
        const { body } = await api.call('get', path, { key });
        expect(body['status'], answers).to.equal('cancelled');
      } else
        expect([removed.code, created.code], answers).to.include.oneOf([
          'document_in_use',
          'document_not_found',
        ]);
      if (created.status === 202)
        await api.call('post', `/v1/training/jobs/${String(created.body['job_id'])}/cancel`, { key });
      await remove(kept);
    }
    const held = (await api.call('get', `/v1/billing/balance/${tenant}`)).body['held_credits'];
    expect(held).to.equal(0);
  });

  it('is done to used uploads of 30 days by itself, and not to those that examples need', async () => {
    await api.sell(tenant, 20_000);
    const [first, second, plain] = [await upload(), await upload(), await used('x'.repeat(15_000))];
    const jobId = await job([first.document_id, second.document_id]);
    await api.deps.reads.settleAll();
    await workerOver(api).drain();
    await api.deps.reads.settleAll();
    let days = 29.9;
    const sweep = (uploads: number, examples = 0) =>
      objectSweeper({
        ...api.swept,
        kept: () => Promise.resolve(keptDays({ uploads, results: 1, examples, deliveries: 0 })),
        clock: { ...api.deps.clock, now: () => new Date(Date.now() + days * DAY_MS).toISOString() },
      }).sweep();
    await sweep(30);
    expect(await isStored(plain.document_id)).to.equal(true);
    days = 30.1;
    expect((await sweep(0)).expired).to.equal(0);
    expect((await sweep(30)).expired).to.be.greaterThan(0);
    expect(await isStored(plain.document_id)).to.equal(false);
    for (const { document_id } of [first, second]) expect(await isStored(document_id)).to.equal(true);
    expect(await sweep(30)).to.include({ expired: 0, examples: 0 });
    expect(await sweep(30, 31)).to.include({ expired: 0, examples: 0 });
    const over = await sweep(30, 30);
    expect(over.expired).to.be.at.least(1);
    expect([over.examples > 0, over.left]).to.deep.equal([true, 0]);
    for (const { document_id } of [first, second]) expect(await isStored(document_id)).to.equal(false);
    const exported = await api.call('get', `/v1/training/jobs/${jobId}/examples`);
    expect([exported.status, exported.code], exported.text).to.deep.equal([404, 'job_not_found']);
    const json = { tenant_id: tenant, idempotency_key: randomUUID(), job_id: jobId };
    const charge = await api.call('post', '/v1/billing/dspy-examples-charge', { key, json });
    expect([charge.status, charge.code], charge.text).to.deep.equal([404, 'job_not_found']);
    const isListed = async () =>
      (await listed()).some(
        ({ document_id, removed_at }) => document_id === plain.document_id && removed_at !== null,
      );
    // The sweep ran beside the API: nobody told it how far the log is.
    while (!(await isListed())) await nextTurn();
  });
});
