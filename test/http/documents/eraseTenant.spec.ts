import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { decodeAny } from '../../../domain/catalogue.ts';
import { until } from '../../../engine/test/support/until.ts';
import { dumpReadModel } from '../../../projections/engine/building.ts';
import type { ProjectedEvent } from '../../../projections/engine/ports.ts';
import { ddlOf } from '../../../projections/engine/table.ts';
import { READ_MODELS } from '../../../projections/readModels.ts';
import { erasuresIn } from '../../../domain/erasure.ts';
import { objectSweeper } from '../../../src/worker/sweeping.ts';
import { formOf } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { namedIn, okOver, plantIn, words } from './planted.ts';
import { presigned, put } from './uploads.suite.ts';

describe('erasing a tenant', () => {
  let api: TestApi;
  let lines: string[];
  before(async () => {
    lines = [];
    api = await startApi({ LOG_LEVEL: 'debug', WEBHOOKS_ALLOW_PRIVATE_NETWORK: 'true' });
    api.faults.onLog = (line) => lines.push(line);
  });
  after(() => api.stop());

  const ok = (method: string, path: string, options: object = {}) => okOver(api)(method, path, options);
  const erase = (tenant: string, options: object = {}) =>
    api.call('delete', `/v1/admin/tenants/${tenant}/data`, options);

  const objectsSaying = async (planted: ReadonlyMap<string, string>) => {
    const found: string[] = [];
    for await (const { key } of api.objects.list('')) {
      const text = Buffer.from((await api.objects.get(key)) ?? []).toString('latin1');
      found.push(...namedIn(planted, text).map((where) => `${key.split('/')[0] ?? ''}: ${where}`));
    }
    return [...new Set(found)].sort();
  };
  const tablesSaying = async (planted: ReadonlyMap<string, string>) => {
    const found: string[] = [];
    const tables = await api.sql.query(
      `select schemaname || '.' || tablename as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    for (const { name } of tables)
      for (const { row } of await api.sql.query(`select t::text as row from ${String(name)} t`))
        found.push(
          ...namedIn(planted, String(row)).map((where) => `${String(name).split('.').at(-1)}: ${where}`),
        );
    return [...new Set(found)].sort();
  };
  const filesSaying = async (planted: ReadonlyMap<string, string>) => {
    const found: string[] = [];
    for (const entry of await readdir(api.dataDir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const bytes = await readFile(join(entry.parentPath, entry.name)).catch(() => Buffer.alloc(0));
      const where = namedIn(planted, bytes.toString('latin1'));
      found.push(
        ...where.map((one) => `${entry.parentPath.slice(api.dataDir.length)}/${entry.name}: ${one}`),
      );
    }
    return [...new Set(found)].sort();
  };

  /** The audit of the log finds nothing, and read models made anew have the same rows. */
  const isSound = async () => {
    const { body } = await ok('post', '/v1/admin/audits', { json: { log_only: true } });
    const path = `/v1/admin/audits/${String(body['audit_id'])}`;
    await until(async () => (await ok('get', path)).body['status'] !== 'running');
    expect((await ok('get', path)).body['report']).to.include({ total: 0 });
    await api.deps.reads.settleAll();
    const events: ProjectedEvent[] = [];
    const end = new AbortController();
    for await (const item of api.log.subscribe({ signal: end.signal })) {
      if (item.kind === 'event') events.push({ ...item.event, ...decodeAny(item.event) });
      if (item.kind === 'caught_up') end.abort();
    }
    await api.sql.script('create schema again');
    for (const model of READ_MODELS) {
      await api.sql.script(ddlOf(model.tables, 'again'));
      const own = events.filter(({ type }) => (model.eventTypes as readonly string[]).includes(type));
      await api.sql.transaction((tx) => model.apply(tx, { schema: 'again', events: own }));
      const [before, after] = [
        await dumpReadModel(api.sql, model),
        await dumpReadModel(api.sql, model, 'again'),
      ];
      expect(after, model.name).to.deep.equal(before);
    }
  };

  /** What lists show of the words. */
  const shownOf = async (tenant: string, planted: ReadonlyMap<string, string>) => {
    const lists = [
      `api-keys/${tenant}`,
      `billing/grants/${tenant}`,
      `admin/tenants/${tenant}/ledger`,
      `documents?tenant_id=${tenant}`,
      `configs?tenant_id=${tenant}`,
      `webhooks?tenant_id=${tenant}`,
      `training/jobs?tenant_id=${tenant}`,
    ];
    let text = '';
    for (const list of lists) text += (await ok('get', `/v1/${list}`)).text;
    expect(text).not.to.include('quire:text:');
    return [...new Set(namedIn(planted, text))];
  };
  const SHOWN = [
    'key name',
    'invoice_ref',
    'refund',
    'reason of an adjustment',
    'config name',
    'job name',
    'description of a schema',
    'description of a field',
    'webhook description',
    'webhook url',
    'extract: file name',
    'operation that ends: file name',
    'upload: file name',
    'first example: file name',
    'second example: file name',
  ];

  it('leaves nothing of what its people wrote and sent, and all of its money', async () => {
    const tenant = `erased-${randomUUID()}`;
    const { planted, key, artifact_id } = await plantIn(api, tenant);
    const money = async () => [
      (await ok('get', `/v1/billing/balance/${tenant}`)).body['balance_credits'],
      (await ok('get', `/v1/billing/usage/${tenant}`)).body['items'],
    ];
    const before = await money();
    expect((await objectsSaying(planted)).length).to.be.greaterThan(15);
    // Tables, the log and its file never have the words themselves.
    expect(await tablesSaying(planted)).to.deep.equal([]);
    expect(planted.size).to.be.greaterThan(36);
    expect(await shownOf(tenant, planted)).to.have.members(SHOWN);
    const erased = await erase(tenant);
    expect(erased.status, erased.text).to.equal(202);
    // A batch ends when its worker says so: until then its documents are in use.
    expect(erased.body).to.include({ tenant_id: tenant, status: 'erasing', left: 2 });
    while ((await api.batches.look()) > 0) await api.deps.reads.settleAll();
    expect((await objectSweeper(api.swept).sweep()).left).to.equal(0);
    expect(await objectsSaying(planted)).to.deep.equal([]);
    expect(await tablesSaying(planted)).to.deep.equal([]);
    expect(await filesSaying(planted)).to.deep.equal([]);
    expect(await shownOf(tenant, planted)).to.deep.equal([]);
    expect(namedIn(planted, lines.join('\n'))).to.deep.equal([]);
    expect(await money()).to.deep.equal(before);
    expect((await api.call('get', `/v1/billing/balance/${tenant}`, { key })).status).to.equal(401);
    const fields = { tenant_id: tenant, artifact_id };
    const form = formOf(fields, new Blob(['Total: 1'], { type: 'text/plain' }), 'a.txt');
    expect((await api.call('post', '/v1/extract', { form })).code).to.equal('artifact_not_found');
    const deployed = await ok('get', `/v1/inference/deployments?tenant_id=${tenant}`);
    const statuses = (deployed.body['items'] as { status: string }[]).map(({ status }) => status);
    expect(statuses).to.deep.equal(['retired']);
    const scope = `tenant_id=${tenant}&project_id=p&task_id=default&environment=production`;
    const current = await api.call('get', `/v1/inference/deployments/current?${scope}`);
    expect(current.code).to.equal('deployment_not_found');
    expect((await erase(tenant)).body).to.include({ status: 'erased', left: 0 });
    await isSound();
  });

  it('leaves no name of a field in the reports of its runs, and no key of a request in any file', async () => {
    const tenant_id = `measured-${randomUUID()}`;
    const { planted, word } = words();
    const [field, idempotency] = [word('field of a run'), word('key of a request')];
    const upload = { tenant_id, file_name: 'a.txt', content_type: 'text/plain' };
    const presign = presigned(await ok('post', '/v1/uploads/presign', { json: upload }));
    expect((await put(presign.url, `${field}: 12`, presign.headers)).status).to.equal(200);
    const { document_id } = presign;
    const examples = [{ document_id, expected: { [field]: '12' } }];
    const set = await ok('post', '/v1/evaluations/sets', { json: { tenant_id, examples } });
    const schema = { type: 'object', properties: { [field]: { type: 'string' } } };
    const json = { tenant_id, set_id: set.body['set_id'], schema, mode: 'fast' };
    const headers = { 'Idempotency-Key': idempotency };
    const run_id = String((await ok('post', '/v1/evaluations/runs', { json, headers })).body['run_id']);
    const run = () => ok('get', `/v1/evaluations/runs/${run_id}`);
    await until(async () => {
      await api.batches.look();
      await api.operations.drain();
      await api.evaluations.look();
      await api.deps.reads.settleAll();
      return (await run()).body['status'] === 'succeeded';
    });
    expect((await run()).text).to.include(field);
    expect(await objectsSaying(planted)).to.include('evaluations: field of a run');
    expect((await erase(tenant_id)).body).to.include({ status: 'erased', left: 0 });
    const { status, text } = await run();
    expect(status, text).to.equal(200);
    expect(text).not.to.include(field);
    expect(await objectsSaying(planted)).to.deep.equal([]);
    // What is in memory alone would be in files once the service ends.
    await api.sql.script('checkpoint');
    expect(await filesSaying(planted)).to.deep.equal([]);
    expect((await objectSweeper(api.swept).sweep()).left).to.equal(0);
    expect((await run()).text).not.to.include(field);
  });

  it('is ended by the sweeper an hour later, and takes nothing that came since', async () => {
    const tenant = `erased-${randomUUID()}`;
    await api.sell(tenant, 20_000);
    await api.newKey(tenant);
    expect((await erase(tenant)).body).to.include({ status: 'erased', left: 0 });
    const key = await api.newKey(tenant);
    const isOpen = async () => (await erasuresIn(api.log)).get(tenant)?.isOpen;
    await objectSweeper(api.swept).sweep();
    expect(await isOpen()).to.equal(true);
    api.wait(3_600_000);
    await objectSweeper(api.swept).sweep();
    expect(await isOpen()).to.equal(false);
    expect((await api.call('get', `/v1/billing/balance/${tenant}`, { key })).status).to.equal(200);
  });

  /** A request whose body is still coming: what it does is done after `between`. */
  const sentSlowly = async (
    { tenant, key, headers = {} }: { tenant: string; key: string; headers?: Record<string, string> },
    file: readonly [text: string, name: string],
    between: () => Promise<void>,
  ): Promise<string> => {
    const schema = JSON.stringify({ type: 'object', properties: { payer: { type: 'string' } } });
    const form = formOf({ tenant_id: tenant, schema, mode: 'fast' }, new Blob([file[0]]), file[1]);
    const whole = new Request(`${api.url}/v1/extract`, { method: 'POST', body: form });
    const bytes = Buffer.from(await whole.arrayBuffer());
    const content = { 'content-type': String(whole.headers.get('content-type')) };
    const sending = request(`${api.url}/v1/extract`, {
      method: 'POST',
      headers: { ...content, 'content-length': bytes.length, 'x-api-key': key, ...headers },
    });
    const answered = new Promise<string>((resolve, reject) => {
      sending.on('error', reject);
      sending.on('response', (answer) => {
        answer.setEncoding('utf8');
        let text = String(answer.statusCode);
        answer.on('data', (piece: string) => (text += piece));
        answer.on('end', () => resolve(text));
      });
    });
    sending.write(bytes.subarray(0, -10));
    // It was let in by its key, which is revoked now.
    await until(async () => (await readdir(api.uploadDir)).length > 0);
    await between();
    sending.end(bytes.subarray(-10));
    return answered;
  };

  for (const [kind, headers, status] of [
    ['waits for its answer', {}, '200'],
    ['is worked on later', { prefer: 'respond-async' }, '202'],
  ] as const)
    it(`takes a document whose request was coming in, and ${kind}`, async () => {
      const tenant = `erased-${randomUUID()}`;
      const { planted, word } = words();
      const key = await api.newKey(tenant);
      await api.sell(tenant, 20_000);
      const file = [`Payer: ${word('text')}`, `${word('file name')}.txt`] as const;
      const answer = await sentSlowly({ tenant, key, headers }, file, async () => {
        expect((await erase(tenant)).body).to.include({ status: 'erased', left: 0 });
      });
      expect(answer).to.match(new RegExp(`^${status}`));
      await api.deps.reads.settleAll();
      await api.operations.drain();
      await api.deps.reads.settleAll();
      const listed = async () => (await ok('get', `/v1/documents?tenant_id=${tenant}`)).body;
      expect(await listed()).to.have.nested.property('items[0].file_name', file[1]);
      await objectSweeper(api.swept).sweep();
      expect(await listed()).to.have.nested.property('items[0].file_name', null);
      expect(await objectsSaying(planted)).to.deep.equal([]);
      expect(await filesSaying(planted)).to.deep.equal([]);
    });

  it('is for admins, of tenants that there are', async () => {
    const tenant = `erased-${randomUUID()}`;
    const key = await api.newKey(tenant);
    expect((await erase(tenant, { key })).status).to.equal(403);
    expect((await erase('nobody-at-all')).code).to.equal('tenant_not_found');
  });
});
