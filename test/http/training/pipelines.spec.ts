import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { artifactIdOfJob } from '../../../domain/trainingJob.ts';
import { issuesIn } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { workerOver } from '../../support/apiWorker.ts';

const JOBS = '/v1/training/jobs';
const DEPLOYMENTS = '/v1/inference/deployments';
const SCHEMA = { type: 'object', properties: { total: { type: 'number' } } };
const PRICE = 2_640;

describe('pipelines over HTTP', () => {
  let api: TestApi;
  let tenant: string;
  let key: string;
  let documents: string[];

  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  const upload = async (text: string, kind = 'document') => {
    const json = { tenant_id: tenant, file_name: 'a.txt', kind };
    const { body } = await api.call('post', '/v1/uploads/presign', { json });
    const put = await fetch(String(body['upload_url']), { method: 'PUT', body: text });
    expect(put.status).to.equal(200);
    return body;
  };
  const document = async (text: string) => String((await upload(text))['document_id']);

  beforeEach(async () => {
    tenant = `pipes-${randomUUID()}`;
    key = await api.newKey(tenant);
    await api.sell(tenant, 20_000);
    documents = [await document('Total: 12.50 EUR'), await document('Total: 7.00 EUR')];
  });

  const examples = () => documents.map((document_id, n) => ({ document_id, expected: { total: n } }));
  const asked = (more: object = {}) => ({ tenant_id: tenant, schema: SCHEMA, examples: examples(), ...more });
  const create = (json: object = asked(), headers: Record<string, string> = {}) =>
    api.call('post', JOBS, { key, json, headers });
  const status = (job_id: string) => api.call('get', `${JOBS}/${job_id}`, { key });
  const balance = async () => (await api.call('get', `/v1/billing/balance/${tenant}`)).body;

  const work = async () => {
    await api.deps.reads.settleAll();
    await workerOver(api).drain();
  };

  const trained = async (): Promise<string> => {
    const job_id = String((await create()).body['job_id']);
    await work();
    expect((await status(job_id)).body['status']).to.equal('succeeded');
    return job_id;
  };

  it('creates a job, holds its price, trains it, and charges it', async () => {
    const made = await create(asked(), { 'Idempotency-Key': 'one' });
    expect([made.status, made.body['status'], made.body['credits_held']]).to.deep.equal([
      202,
      'queued',
      PRICE,
    ]);
    const quote = await api.call(
      'get',
      `/v1/billing/training-quote?tenant_id=${tenant}&total_examples=2&billing_type=full_service`,
    );
    expect(quote.body['credits']).to.equal(PRICE);
    expect(await balance()).to.include({ balance_credits: 20_000, held_credits: PRICE });
    const again = await create(asked(), { 'Idempotency-Key': 'one' });
    expect([again.status, again.text]).to.deep.equal([202, made.text]);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    await api.forgetReplays();
    const later = await create(asked(), { 'Idempotency-Key': 'one' });
    expect([later.status, later.text]).to.deep.equal([202, made.text]);
    expect(later.headers.get('idempotent-replayed')).to.equal('true');

    const job_id = String(made.body['job_id']);
    expect((await status(job_id)).body).to.include({ status: 'queued', credits_charged: 0, error: null });
    await work();
    const { body } = await status(job_id);
    expect(body).to.include({ status: 'succeeded', best_score: 0.9, credits_charged: PRICE });
    expect(body['artifact_uri']).to.equal(`quire://artifacts/${artifactIdOfJob(job_id)}`);
    expect(await balance()).to.include({ balance_credits: 20_000 - PRICE, held_credits: 0 });
    const usage = await api.call('get', `/v1/billing/usage/${tenant}?limit=1`);
    if (usage.status === 200)
      expect((usage.body['items'] as object[])[0]).to.include({ operation: 'training', job_id });
  });

  it('takes examples from a dataset', async () => {
    const lines = documents.map((document_id) => JSON.stringify({ document_id, expected: { total: 1 } }));
    const { dataset_id } = await upload(`${lines.join('\n')}\n`, 'dataset');
    const made = await create({ ...asked(), examples: undefined, dataset_id });
    expect(made.status, made.text).to.equal(202);
    const { dataset_id: broken } = await upload('{"document_id":"doc_1"}\n', 'dataset');
    const refused = await create({ ...asked(), examples: undefined, dataset_id: broken });
    expect(issuesIn(refused)).to.deep.equal(['body.dataset_id value_error']);
  });

  it('says that a plan is needed before it looks a document up', async () => {
    const free = `free-${randomUUID()}`;
    const own = await api.newKey(free);
    const examples = ['doc_nobody', 'doc_either'].map((document_id) => ({ document_id, expected: {} }));
    const json = { ...asked({ examples }), tenant_id: free };
    const refused = await api.call('post', JOBS, { key: own, json });
    expect([refused.status, refused.code]).to.deep.equal([403, 'plan_required']);
  });

  it('books a charge for a job or an artifact of the tenant alone', async () => {
    const job_id = await trained();
    const other = `other-${randomUUID()}`;
    await api.sell(other, 20_000);
    const charge = (tenant_id: string, of: object) =>
      api.call('post', '/v1/billing/dspy-examples-charge', {
        json: { tenant_id, idempotency_key: randomUUID(), ...of },
      });
    const artifact_id = artifactIdOfJob(job_id);
    expect((await charge(other, { job_id })).code).to.equal('job_not_found');
    expect((await charge(other, { artifact_id })).code).to.equal('artifact_not_found');
    expect((await charge(tenant, { job_id: 'job_none' })).code).to.equal('job_not_found');
    expect((await api.call('get', `/v1/billing/balance/${other}`)).body['balance_credits']).to.equal(20_000);
    expect((await charge(tenant, { job_id, artifact_id })).status).to.equal(200);
  });

  it('says what is wrong with a request, and holds nothing', async () => {
    const one = examples().slice(0, 1);
    expect(issuesIn(await create(asked({ examples: one })))).to.deep.equal(['body.examples value_error']);
    expect(issuesIn(await create(asked({ examples: null })))).to.deep.equal(['body.examples missing']);
    expect((await create(asked({ schema: { type: 'string' } }))).code).to.equal('invalid_schema');
    const unknown = [...one, { document_id: 'doc_nobody', expected: {} }];
    expect((await create(asked({ examples: unknown }))).code).to.equal('document_not_found');
    expect(issuesIn(await create(asked({ billing_type: 'byok' })))).to.deep.equal([
      'body.llm_api_key value_error',
    ]);
    const heavy = await create(asked({ optimizer_tier: 'heavy' }));
    expect([heavy.status, heavy.code]).to.deep.equal([403, 'insufficient_credits']);
    expect(await balance()).to.include({ held_credits: 0 });
  });

  it('needs a paid plan', async () => {
    await api.call('post', `/v1/admin/tenants/${tenant}/set-plan`, { json: { plan: 'free' } });
    const refused = await create();
    expect([refused.status, refused.code]).to.deep.equal([403, 'plan_required']);
  });

  it('cancels once, and gives the hold back', async () => {
    const job_id = String((await create()).body['job_id']);
    const cancelled = await api.call('post', `${JOBS}/${job_id}/cancel`, { key });
    expect(cancelled.body).to.include({ status: 'cancelled', cancelled: true });
    const again = await api.call('post', `${JOBS}/${job_id}/cancel`, { key });
    expect(again.body).to.include({ status: 'cancelled', cancelled: false });
    expect(await balance()).to.include({ balance_credits: 20_000, held_credits: 0 });
  });

  it('hides the jobs and artifacts of other tenants', async () => {
    const job_id = await trained();
    const other = await api.newKey(`other-${randomUUID()}`);
    for (const [method, path] of [
      ['get', `${JOBS}/${job_id}`],
      ['post', `${JOBS}/${job_id}/cancel`],
      ['get', `${JOBS}/${job_id}/examples`],
    ] as const)
      expect((await api.call(method, path, { key: other })).code).to.equal('job_not_found');
    const artifact_id = artifactIdOfJob(job_id);
    const theirs = {
      tenant_id: `thief-${randomUUID()}`,
      project_id: 'p',
      artifact_id,
      artifact_uri: `quire://artifacts/${artifact_id}`,
    };
    expect((await api.call('post', DEPLOYMENTS, { json: theirs })).code).to.equal('artifact_not_found');
  });

  it('deploys an artifact, resolves it, and goes back', async () => {
    const [first, second] = [artifactIdOfJob(await trained()), artifactIdOfJob(await trained())];
    const place = `?tenant_id=${tenant}&project_id=p`;
    expect((await api.call('get', `${DEPLOYMENTS}/current${place}`, { key })).code).to.equal(
      'deployment_not_found',
    );
    const activate = (artifact_id: string, more: object = {}) =>
      api.call('post', DEPLOYMENTS, {
        key,
        json: {
          tenant_id: tenant,
          project_id: 'p',
          artifact_id,
          artifact_uri: `quire://artifacts/${artifact_id}`,
          ...more,
        },
      });
    expect((await activate(first)).body).to.include({ status: 'active', replaces: null });
    expect((await activate(second)).body).to.include({ replaces: first });
    const current = async () => (await api.call('get', `${DEPLOYMENTS}/current${place}`, { key })).body;
    expect(await current()).to.include({ artifact_id: second, previous_artifact_id: first });
    expect((await activate(first)).body).to.include({ replaces: second });
    expect(await current()).to.include({ artifact_id: first, environment: 'prod', task_id: 'default' });
    expect(issuesIn(await activate(first, { artifact_uri: 'quire://artifacts/x' }))).to.deep.equal([
      'body.artifact_uri value_error',
    ]);
    expect((await activate('art_nobody')).code).to.equal('artifact_not_found');
  });

  it('exports examples once the fee was charged, as rows that DSPy loads', async () => {
    const job_id = await trained();
    const path = `${JOBS}/${job_id}/examples`;
    const refused = await api.call('get', path, { key });
    expect([refused.status, refused.code]).to.deep.equal([403, 'charge_required']);
    const charge = { tenant_id: tenant, idempotency_key: 'e', artifact_id: artifactIdOfJob(job_id) };
    await api.call('post', '/v1/billing/dspy-examples-charge', { key, json: charge });
    const { text, headers, status: code } = await api.call('get', path, { key });
    expect([code, headers.get('content-type')]).to.deep.equal([200, 'application/x-ndjson']);
    const rows = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(rows.map((row) => row['expected'])).to.deep.equal([{ total: 0 }, { total: 1 }]);
    expect(String(rows[0]?.['document'])).to.contain('12.50');
  });

  it('answers the same in the envelope', async () => {
    const envelope = (operation: string, resource: object = {}, payload: object = {}) =>
      api.call('post', '/v1/canonical', {
        key,
        json: {
          schema_version: '1.0',
          operation,
          scope: { tenant_id: tenant, project_id: 'p' },
          resource,
          payload,
        },
      });
    const result = async (...args: Parameters<typeof envelope>) => {
      const reply = await envelope(...args);
      expect(reply.status, reply.text).to.equal(200);
      return reply.body['result'] as Record<string, unknown>;
    };
    const made = await result('training.create', {}, { schema: SCHEMA, examples: examples() });
    const job_id = String(made['job_id']);
    await work();
    expect(await result('training.get', { job_id })).to.include({ status: 'succeeded', project_id: 'p' });
    expect(await result('training.cancel', { job_id })).to.include({ cancelled: false });
    const artifact_id = artifactIdOfJob(job_id);
    expect(await result('artifact.get', { artifact_id })).to.include({ artifact_id, job_id });
    expect(await result('artifact.list')).to.include({ total: 1 });
    expect(await result('deployment.activate', { artifact_id })).to.include({ artifact_id });
    expect(await result('deployment.resolve')).to.include({ artifact_id, project_id: 'p' });
    expect((await envelope('training.get', {})).status).to.equal(422);
    expect((await envelope('artifact.get', { artifact_id: 'art_x' })).code).to.equal('artifact_not_found');
  });
});
