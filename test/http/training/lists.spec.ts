import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { artifactIdOfJob } from '../../../domain/trainingJob.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { workerOver } from '../../support/apiWorker.ts';
import { until } from '../../../engine/test/support/until.ts';

const SCHEMA = { type: 'object', properties: { total: { type: 'number' } } };

type Item = Readonly<Record<string, unknown>>;

describe('the lists of what was trained', () => {
  let api: TestApi;
  let tenant: string;
  let key: string;
  let jobs: string[];
  before(async () => {
    api = await startApi();
    tenant = `lists-${randomUUID()}`;
    key = await api.newKey(tenant);
    await api.sell(tenant, 20_000);
    jobs = [await trained(), await trained(), await cancelled()];
  });
  after(() => api.stop());

  const document = async (text: string) => {
    const json = { tenant_id: tenant, file_name: 'a.txt' };
    const { body } = await api.call('post', '/v1/uploads/presign', { json });
    await fetch(String(body['upload_url']), { method: 'PUT', body: text });
    return String(body['document_id']);
  };
  const create = async (): Promise<string> => {
    const documents = [await document('Total: 12.50 EUR'), await document('Total: 7.00 EUR')];
    const examples = documents.map((document_id) => ({ document_id, expected: { total: 1 } }));
    const json = { tenant_id: tenant, schema: SCHEMA, examples };
    const reply = await api.call('post', '/v1/training/jobs', { key, json });
    expect(reply.status, reply.text).to.equal(202);
    return String(reply.body['job_id']);
  };
  const trained = async (): Promise<string> => {
    const job = await create();
    await api.deps.reads.settleAll();
    await workerOver(api).drain();
    return job;
  };
  const cancelled = async (): Promise<string> => {
    const job = await create();
    expect((await api.call('post', `/v1/training/jobs/${job}/cancel`, { key })).status).to.be.below(300);
    return job;
  };
  const list = async (path: string, query = '') => {
    await api.deps.reads.settleAll();
    const reply = await api.call('get', `${path}?tenant_id=${tenant}${query}`, { key });
    expect(reply.status, reply.text).to.equal(200);
    return { items: reply.body['items'] as readonly Item[], total: reply.body['total'] };
  };

  const listedCharge = async (job: string): Promise<unknown> => {
    const { items } = await list('/v1/training/jobs');
    return items.find(({ job_id }) => job_id === job)?.['credits_charged'];
  };

  it('finds jobs by the credits that it shows', async () => {
    for (const { job_id, credits_charged } of (await list('/v1/training/jobs')).items) {
      const found = await list('/v1/training/jobs', `&filter[credits_charged]=${String(credits_charged)}`);
      expect(
        found.items.map((one) => one['job_id']),
        String(credits_charged),
      ).to.include(job_id);
    }
  });

  it('has every job as the job itself is told, newest first', async () => {
    const { items, total } = await list('/v1/training/jobs');
    expect(total).to.equal(3);
    expect(items.map(({ job_id, status }) => [job_id, status])).to.deep.equal([
      [jobs[2], 'cancelled'],
      [jobs[1], 'succeeded'],
      [jobs[0], 'succeeded'],
    ]);
    for (const item of items) {
      const { body } = await api.call('get', `/v1/training/jobs/${String(item['job_id'])}`, { key });
      expect(item['credits_charged'], String(item['job_id'])).to.equal(body['credits_charged']);
    }
    expect(
      (await list('/v1/training/jobs', '&limit=1&offset=1')).items.map(({ job_id }) => job_id),
    ).to.deep.equal([jobs[1]]);
  });

  it('has the artifacts of jobs that succeeded, with their scores, newest first', async () => {
    const { items, total } = await list('/v1/inference/artifacts');
    expect(items.map(({ artifact_id }) => artifact_id)).to.deep.equal(
      [jobs[1], jobs[0]].map((job) => artifactIdOfJob(String(job))),
    );
    expect(total).to.equal(2);
    for (const item of items) {
      expect(item).to.include({ best_score: 0.9 });
      expect(item['per_field']).to.be.an('array').that.is.not.empty;
    }
  });

  it('has every deployment, the one that serves first and the one before it retired', async () => {
    for (const job of jobs.slice(0, 2)) {
      const artifact_id = artifactIdOfJob(job);
      const artifact_uri = `quire://artifacts/${artifact_id}`;
      const json = { tenant_id: tenant, project_id: 'p', artifact_id, artifact_uri };
      const reply = await api.call('post', '/v1/inference/deployments', { key, json });
      expect(reply.status, reply.text).to.be.below(300);
    }
    const { items, total } = await list('/v1/inference/deployments');
    expect(total).to.equal(2);
    expect(items.map(({ artifact_id, retired_at }) => [artifact_id, retired_at === null])).to.deep.equal([
      [artifactIdOfJob(String(jobs[1])), true],
      [artifactIdOfJob(String(jobs[0])), false],
    ]);
  });

  it('has what a job costs from the moment that it has succeeded, also before that is booked', async () => {
    const job = await create();
    await api.deps.reads.settleAll();
    let book = (): void => undefined;
    const mayBook = new Promise<void>((resolve) => {
      book = resolve;
    });
    const { accounts } = api.deps;
    const drained = workerOver(api, {
      stateOf: (tenantId) => accounts.stateOf(tenantId),
      ask: (tenantId, question) => accounts.ask(tenantId, question),
      execute: async (command) => {
        if (command.type === 'SettleHold') await mayBook;
        return accounts.execute(command);
      },
    }).drain();
    const read = async () => (await api.call('get', `/v1/training/jobs/${job}`, { key })).body;
    await until(async () => (await read())['status'] === 'succeeded');
    const said = [(await read())['credits_charged'], await listedCharge(job)];
    book();
    await drained;
    const charged = (await read())['credits_charged'];
    expect(charged).to.be.greaterThan(0);
    expect([...said, await listedCharge(job)]).to.deep.equal([charged, charged, charged]);
  });
});
