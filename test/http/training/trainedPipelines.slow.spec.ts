import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { startService, type ServiceProcess } from '../../support/serviceProcess.ts';
import { tempFolder } from '../../../engine/test/support/tempFolder.ts';
import { client, formOf, type Client, type Reply } from '../support/client.ts';
import { until } from '../../../engine/test/support/until.ts';

const SCHEMA = {
  type: 'object',
  properties: { voucher: { type: 'string' }, fee: { type: 'number' } },
};

/** A form whose labels are in no dictionary. */
const formText = (n: number) =>
  [
    `Brodul paper of ${2030 + (n % 9)}`,
    `Zimtev: V-${7000 + n * 13}-K`,
    `Rasfen: K-${9100 + n * 7}-V`,
    `Wugmis: ${(n * 37.5 + 11).toFixed(2)}`,
    `Griyor: ${(n * 11.25 + 500).toFixed(2)}`,
    '',
  ].join('\n');
const expectedOf = (n: number) => ({ voucher: `V-${7000 + n * 13}-K`, fee: n * 37.5 + 11 });

describe('a pipeline, from its examples to its use', function () {
  this.timeout(180_000);
  const folder = tempFolder();
  const tenant_id = `pipe-${randomUUID()}`;
  let service: ServiceProcess;
  let api: Client;
  let key: string;
  before(async () => {
    service = await startService(folder.path);
    api = client(service.url);
    key = await api.newKey(tenant_id);
  });
  after(async () => {
    await service.stop('SIGTERM');
    folder.remove();
  });

  const upload = async (n: number): Promise<string> => {
    const json = { tenant_id, file_name: `form-${n}.txt`, content_type: 'text/plain' };
    const { body } = await api.call('post', '/v1/uploads/presign', { key, json });
    const headers = body['headers'] as Record<string, string>;
    const sent = await fetch(String(body['upload_url']), { method: 'PUT', body: formText(n), headers });
    expect(sent.status).to.equal(200);
    return String(body['document_id']);
  };
  const create = async (examples: readonly object[], over: object = {}) =>
    api.call('post', '/v1/training/jobs', { key, json: { tenant_id, schema: SCHEMA, examples, ...over } });
  const ended = (jobId: string): Promise<Reply> =>
    until(async () => {
      const reply = await api.call('get', `/v1/training/jobs/${jobId}`, { key });
      return ['queued', 'running'].includes(String(reply.body['status'])) ? undefined : reply;
    }, 50);
  const balance = async () => (await api.call('get', `/v1/billing/balance/${tenant_id}`)).body;
  const send = (operation: string, over: object = {}) =>
    api.call('post', '/v1/canonical', {
      key,
      json: { schema_version: '1.0', operation, scope: { tenant_id }, ...over },
    });

  it('is taught, charged once, verified, deployed, used and taken back', async () => {
    const ids: string[] = [];
    for (let n = 1; n <= 8; n += 1) ids.push(await upload(n));
    const examples = ids.map((document_id, index) => ({ document_id, expected: expectedOf(index + 1) }));

    expect((await create(examples)).code).to.equal('plan_required');
    await api.sell(tenant_id, 100_000);
    expect((await create(examples.slice(0, 1))).code).to.equal('validation_error');

    const quoted = await api.call(
      'get',
      `/v1/billing/training-quote?tenant_id=${tenant_id}&total_examples=8&optimizer_tier=light`,
      { key },
    );
    const job = await create(examples);
    expect(job.status, job.text).to.equal(202);
    expect(job.body['credits_held']).to.equal(quoted.body['credits']);
    const result = await ended(String(job.body['job_id']));
    expect(result.body['status'], result.text).to.equal('succeeded');
    expect(Number(result.body['best_score'])).to.be.greaterThan(Number(result.body['baseline_score']));
    expect(result.body['credits_charged']).to.equal(quoted.body['credits']);
    const { artifact_id, artifact_uri } = result.body as { artifact_id: string; artifact_uri: string };
    const settled = await until(async () => {
      const now = await balance();
      return now['held_credits'] === 0 ? now : undefined;
    });
    expect(settled).to.include({
      held_credits: 0,
      balance_credits: 100_000 - Number(quoted.body['credits']),
    });

    const use = async (fields: Readonly<Record<string, string>>, n = 9) => {
      const file = new Blob([formText(n)], { type: 'text/plain' });
      return api.call('post', '/v1/extract', { key, form: formOf(fields, file, `form-${n}.txt`) });
    };
    const untrained = await use({ schema: JSON.stringify(SCHEMA) });
    expect(untrained.body['result']).not.to.deep.equal(expectedOf(9));
    const trained = await use({ artifact_id });
    expect(trained.status, trained.text).to.equal(200);
    expect(trained.body['result']).to.deep.equal(expectedOf(9));
    expect(trained.body['meta']).to.include({ artifact_id, model: 'local/default', mode: 'standard' });

    const document_id = await upload(10);
    const bySchema = { resource: { document_id }, payload: {} };
    expect((await send('inference.extract', bySchema)).code).to.equal('missing_schema');
    const activation = { tenant_id, project_id: 'default', artifact_id, artifact_uri };
    const wrong = { ...activation, artifact_uri: 'quire://artifacts/art_other' };
    expect((await api.call('post', '/v1/inference/deployments', { key, json: wrong })).status).to.equal(422);
    const active = await api.call('post', '/v1/inference/deployments', { key, json: activation });
    expect(active.status, active.text).to.equal(200);
    const deployed = await send('inference.extract', bySchema);
    expect(deployed.status, deployed.text).to.equal(200);
    const { result: data, meta } = deployed.body['result'] as { result: object; meta: object };
    expect(data).to.deep.equal(expectedOf(10));
    expect(meta).to.include({ artifact_id });

    const stranger = await api.newKey(`pipe-other-${randomUUID()}`);
    const file = new Blob([formText(11)], { type: 'text/plain' });
    const theirs = await api.call('post', '/v1/extract', {
      key: stranger,
      form: formOf({ artifact_id }, file),
    });
    expect(theirs.code).to.equal('artifact_not_found');
  });

  it('fails for documents that cannot be read, and gives the hold back', async () => {
    const before = await balance();
    const broken = await upload(20);
    const json = { tenant_id, file_name: 'broken.pdf' };
    const { body } = await api.call('post', '/v1/uploads/presign', { key, json });
    await fetch(String(body['upload_url']), { method: 'PUT', body: '%PDF-1.7 and then nothing' });
    const job = await create([
      { document_id: broken, expected: expectedOf(20) },
      { document_id: String(body['document_id']), expected: expectedOf(21) },
    ]);
    // Counted when it is created, or read when it runs: either way it says so, and nothing is charged.
    if (job.status === 202) {
      const result = await ended(String(job.body['job_id']));
      expect(result.body).to.include({ status: 'failed', credits_charged: 0, artifact_id: null });
      expect(result.body['error']).to.be.a('string').and.to.have.length.greaterThan(10);
    } else expect(job.status, job.text).to.be.within(400, 422);
    const { balance_credits, held_credits } = (await balance()) as {
      balance_credits: number;
      held_credits: number;
    };
    expect({ balance_credits, held_credits }).to.deep.equal({
      balance_credits: before['balance_credits'],
      held_credits: 0,
    });
  });

  it('does a job once however often it is asked for, and cancels one', async () => {
    const ids = [await upload(31), await upload(32), await upload(33)];
    const examples = ids.map((document_id, index) => ({ document_id, expected: expectedOf(31 + index) }));
    const headers = { 'idempotency-key': randomUUID() };
    const json = { tenant_id, schema: SCHEMA, examples };
    const first = await api.call('post', '/v1/training/jobs', { key, json, headers });
    const again = await api.call('post', '/v1/training/jobs', { key, json, headers });
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect(again.body).to.deep.equal(first.body);
    const jobId = String(first.body['job_id']);
    const cancelled = await api.call('post', `/v1/training/jobs/${jobId}/cancel`, { key });
    expect(cancelled.status, cancelled.text).to.equal(200);
    const result = await ended(jobId);
    expect(result.body['status']).to.be.oneOf(['cancelled', 'succeeded']);
    await until(async () => (await balance())['held_credits'] === 0, 50);
    const envelope = await send('training.get', { resource: { job_id: jobId } });
    expect((envelope.body['result'] as { status: string }).status).to.equal(result.body['status']);
  });
});
