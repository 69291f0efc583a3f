import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { until } from '../../../engine/test/support/until.ts';
import { systemTimers } from '../../../adapters/local/local.ts';
import { decodeAny } from '../../../domain/catalogue.ts';
import { rebuildReadModels } from '../../../projections/engine/rebuild.ts';
import { webhooksProjector } from '../../../projections/webhooks.ts';
import { uploadKeyOf } from '../../../domain/document.ts';
import { TENANT_RETENTION_STREAM } from '../../../domain/retention.ts';
import { objectSweeper } from '../../../src/worker/sweeping.ts';
import { workerOver } from '../../support/apiWorker.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { startReceiver, type Receiver } from '../webhooks/receiver.ts';
import { toldTenant, WEBHOOK_ENV } from '../webhooks/toldTenant.ts';
import { presigned, put } from './uploads.suite.ts';

const DAY_MS = 24 * 3_600_000;
const SCHEMA = { type: 'object', properties: { total: { type: 'number' } } };
const NONE = { uploads: null, results: null, examples: null, deliveries: null };
const INSTALLATION = { uploads: 30, results: 3, examples: null, deliveries: 30 };

describe('how long things of a tenant are kept', () => {
  let api: TestApi;
  let receiver: Receiver;
  before(async () => {
    api = await startApi({ ...WEBHOOK_ENV, RESULT_RETENTION_DAYS: '3' });
    receiver = await startReceiver();
    receiver.answerWith((_, response) => response.writeHead(200).end());
  });
  after(async () => {
    await receiver.stop();
    await api.stop();
  });

  const pathOf = (tenant: string) => `/v1/admin/tenants/${tenant}/retention`;
  const set = (tenant: string, days: object) => api.call('put', pathOf(tenant), { json: { days } });
  const recorded = async () => {
    let events = 0;
    for await (const { type } of api.log.read(TENANT_RETENTION_STREAM)) if (type !== '') events += 1;
    return events;
  };

  it('is as the installation keeps them, until days of its own are set', async () => {
    const tenant = `kept-${randomUUID()}`;
    await api.newKey(tenant);
    const { status, body } = await api.call('get', pathOf(tenant));
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      tenant_id: tenant,
      days: INSTALLATION,
      own_days: null,
      installation_days: INSTALLATION,
      updated_at: null,
      updated_by: null,
    });
    const put = await set(tenant, { uploads: 7, examples: 90 });
    expect(put.status, put.text).to.equal(200);
    expect(put.body).to.deep.include({
      days: { ...INSTALLATION, uploads: 7, examples: 90 },
      installation_days: INSTALLATION,
      own_days: { ...NONE, uploads: 7, examples: 90 },
    });
    expect(put.body['updated_at']).to.match(/^\d{4}-/);
    expect((await api.call('get', pathOf(tenant))).body).to.deep.equal(put.body);
  });

  it('is set as a whole, and repeated without a trace', async () => {
    const tenant = `kept-${randomUUID()}`;
    await set(tenant, { uploads: 7 });
    const first = await set(tenant, { deliveries: 3 });
    expect(first.body['own_days']).to.deep.equal({ ...NONE, deliveries: 3 });
    const before = await recorded();
    expect((await set(tenant, { deliveries: 3 })).body).to.deep.equal(first.body);
    expect(await recorded()).to.equal(before);
    expect((await set(tenant, {})).body).to.deep.include({ days: INSTALLATION, own_days: NONE });
  });

  it('is never longer than the installation keeps things, and refused with the most that it can be', async () => {
    const tenant = `kept-${randomUUID()}`;
    const before = await recorded();
    for (const [what, most] of [
      ['uploads', 30],
      ['results', 3],
      ['deliveries', 30],
    ] as const) {
      const { status, code, text } = await set(tenant, { [what]: most + 1 });
      expect([status, code], text).to.deep.equal([422, 'validation_error']);
      expect(text)
        .to.include(`Must be at most ${String(most)}`)
        .and.include(what);
    }
    for (const days of [{ uploads: 0 }, { uploads: 1.5 }, { examples: 36_501 }, { sessions: 1 }, 'P7D'])
      expect((await set(tenant, days as object)).code).to.equal('validation_error');
    expect(await recorded()).to.equal(before);
  });

  it('is what one of two said that set it in the same moment', async () => {
    const tenant = `kept-${randomUUID()}`;
    const before = await recorded();
    const both = await Promise.all([set(tenant, { uploads: 7 }), set(tenant, { uploads: 8 })]);
    expect(both.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(await recorded()).to.equal(before + 2);
    const { own_days } = (await api.call('get', pathOf(tenant))).body;
    expect([
      { ...NONE, uploads: 7 },
      { ...NONE, uploads: 8 },
    ]).to.deep.include(own_days);
  });

  /** A tenant with one thing of each class. */
  const owner = async () => {
    const { tenant_id, key, deliveries, sent } = await toldTenant(api, receiver.url);
    await api.sell(tenant_id, 20_000);
    const upload = async () => {
      const json = { tenant_id, file_name: 'a.txt', content_type: 'text/plain' };
      const made = presigned(await api.call('post', '/v1/uploads/presign', { key, json }));
      expect((await put(made.url, 'Total: 12.50 EUR', made.headers)).status).to.equal(200);
      return made;
    };
    const [read, ...learned] = [await upload(), await upload(), await upload()];
    const later = await api.call('post', '/v1/ocr/to-markdown', {
      key,
      json: { tenant_id, file_uri: read.file_uri },
      headers: { Prefer: 'respond-async' },
    });
    expect(later.status, later.text).to.equal(202);
    const examples = learned.map(({ document_id }) => ({ document_id, expected: { total: 12.5 } }));
    const json = { tenant_id, schema: SCHEMA, examples };
    const job = await api.call('post', '/v1/training/jobs', { key, json });
    expect(job.status, job.text).to.equal(202);
    await api.deps.reads.settleAll();
    await api.operations.drain();
    await workerOver(api).drain();
    await sent();
    // Of the sale, the operation and the job; what is sent in the background is told a moment later.
    await until(async () => (await deliveries('?status=delivered')).length === 3, 50);
    const has = async () => {
      await api.deps.reads.settleAll();
      const uploads: boolean[] = [];
      for (const { document_id } of [read, ...learned])
        uploads.push((await api.objects.get(uploadKeyOf(document_id))) !== undefined);
      const operation = await api.call('get', `/v1/operations/${String(later.body['operation_id'])}`, {
        key,
      });
      const path = `/v1/training/jobs/${String(job.body['job_id'])}/examples`;
      return {
        uploads,
        result: operation.body['result'] !== null,
        examples: (await api.call('get', path)).status === 200,
        deliveries: (await deliveries()).length > 0,
      };
    };
    return { tenant_id, has };
  };

  const rebuilt = async () => {
    const deps = { sql: api.sql, feed: api.log, projectors: [webhooksProjector], decode: decodeAny };
    const [only] = await rebuildReadModels({ ...deps, timers: systemTimers }, { names: ['webhooks'] });
    return only?.differences;
  };

  it('is looked at by the sweeper: of two tenants the one with days of its own has nothing after these', async () => {
    const [brief, other] = [await owner(), await owner()];
    const all = { uploads: [true, true, true], result: true, examples: true, deliveries: true };
    const done = await set(brief.tenant_id, { uploads: 1, results: 1, examples: 1, deliveries: 1 });
    expect(done.status, done.text).to.equal(200);
    const sweep = () => objectSweeper(api.swept).sweep();
    const results = async () => {
      const keys: string[] = [];
      for await (const { key } of api.objects.list('results/')) keys.push(key);
      return keys.length;
    };
    api.wait(0.9 * DAY_MS);
    expect(await sweep()).to.include({ expired: 0, examples: 0, deliveries: 0, left: 0 });
    expect(await brief.has()).to.deep.equal(all);
    expect(await results()).to.equal(2);
    api.wait(0.2 * DAY_MS);
    const swept = await sweep();
    expect(swept.left).to.equal(0);
    // Of three uploads two were examples, whose job ended a day ago.
    expect([swept.expired, swept.examples > 0, swept.deliveries > 0]).to.deep.equal([3, true, true]);
    // Reads wait for what routes write, not for what a sweeper does.
    await until(async () => !(await brief.has()).deliveries, 50);
    expect(await brief.has()).to.deep.equal({
      uploads: [false, false, false],
      result: false,
      examples: false,
      deliveries: false,
    });
    expect(await other.has()).to.deep.equal(all);
    expect(await results()).to.equal(1);
    expect(await rebuilt()).to.deep.equal([]);
    expect(await other.has(), 'made anew').to.deep.equal(all);
    api.wait(2 * DAY_MS);
    await sweep();
    expect(await results()).to.equal(0);
    expect(await other.has(), 'the days of the installation').to.deep.equal({ ...all, result: false });
  });
});
