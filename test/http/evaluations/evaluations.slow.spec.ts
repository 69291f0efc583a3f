import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { until } from '../../../engine/test/support/until.ts';
import type { CallOptions, Reply } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { presigned, put } from '../documents/uploads.suite.ts';

const SCHEMA = {
  type: 'object',
  properties: { invoice_number: { type: 'string' }, total: { type: 'number' } },
};
const TOTAL_ONLY = { type: 'object', properties: { total: { type: 'number' } } };

const textOf = (number: string, total: string) => `Invoice number: ${number}\nTotal: ${total} EUR\n`;

interface Example {
  readonly document_id: string;
  readonly expected: Readonly<Record<string, unknown>>;
}

/** A tenant of its own that measures. */
const measuringTenant = async (api: TestApi, credits = 10_000) => {
  const tenant_id = `ev-${randomUUID()}`;
  const key = await api.newKey(tenant_id);
  if (credits > 0) await api.sell(tenant_id, credits);
  const call = (method: 'get' | 'post' | 'delete', path: string, options: CallOptions = {}) =>
    api.call(method, path, { key, ...options });
  const presign = async (more: object = {}) => {
    const json = { tenant_id, file_name: 'a.txt', content_type: 'text/plain', ...more };
    return presigned(await call('post', '/v1/uploads/presign', { json }));
  };
  const uploaded = async (content: string, more: object = {}) => {
    const made = await presign(more);
    expect((await put(made.url, content, made.headers)).status).to.equal(200);
    return made;
  };
  const example = async (number: string, total: number, expected: object = {}): Promise<Example> => {
    const { document_id } = await uploaded(textOf(number, total.toFixed(2)));
    return { document_id, expected: { invoice_number: number, total, ...expected } };
  };
  const createSet = (json: object, options: CallOptions = {}) =>
    call('post', '/v1/evaluations/sets', { json, ...options });
  const setOf = async (examples: readonly Example[], more: object = {}) => {
    const reply = await createSet({ examples, ...more });
    expect(reply.status, reply.text).to.equal(201);
    return reply.body as Readonly<Record<string, unknown>> & { readonly set_id: string };
  };
  const run = (json: object, options: CallOptions = {}) =>
    call('post', '/v1/evaluations/runs', { json, ...options });
  const accepted = async (...asked: Parameters<typeof run>) => {
    const reply = await run(...asked);
    expect(reply.status, reply.text).to.equal(202);
    return String(reply.body['run_id']);
  };
  const read = async (run_id: string) => {
    const reply = await call('get', `/v1/evaluations/runs/${run_id}`);
    expect(reply.status, reply.text).to.equal(200);
    return reply.body;
  };
  const ended = async (run_id: string) => {
    await until(async () => {
      await api.batches.look();
      await api.operations.drain();
      await api.evaluations.look();
      await api.deps.reads.settleAll();
      return ['succeeded', 'cancelled'].includes(String((await read(run_id))['status']));
    });
    return read(run_id);
  };
  const measured = async (...asked: Parameters<typeof run>) => ended(await accepted(...asked));
  const fileAt = async (path: string) => (await call('get', `${path}/file`)).text;
  const balance = async () => (await call('get', `/v1/billing/balance/${tenant_id}`)).body;
  return {
    tenant_id,
    key,
    call,
    presign,
    uploaded,
    example,
    createSet,
    setOf,
    run,
    accepted,
    read,
    ended,
    measured,
    balance,
    fileAt,
  };
};
type Tenant = Awaited<ReturnType<typeof measuringTenant>>;

type Shown = Readonly<Record<string, unknown>>;
const listed = (value: unknown): readonly Shown[] => value as readonly Shown[];

describe('sets of examples', () => {
  let api: TestApi;
  let tenant: Tenant;
  before(async () => {
    api = await startApi();
    tenant = await measuringTenant(api);
  });
  after(() => api.stop());

  const codeOf = ({ status, code }: Reply) => [status, code];

  it('are published with their documents, read back, listed and exported', async () => {
    const [one, two] = [await tenant.example('Q-1', 10), await tenant.example('Q-2', 20)];
    const { left_out, ...set } = await tenant.setOf([one, two], { name: 'January', task_id: 'invoices' });
    expect(left_out).to.equal(0);
    expect(set).to.include({ version: 1, name: 'January', task_id: 'invoices', documents: 2 });
    expect(set['document_ids']).to.deep.equal([one.document_id, two.document_id]);
    const path = `/v1/evaluations/sets/${set.set_id}`;
    expect((await tenant.call('get', path)).body).to.deep.equal(set);
    const { items } = (await tenant.call('get', `/v1/evaluations/sets?tenant_id=${tenant.tenant_id}`)).body;
    const { document_ids: _, ...item } = set;
    expect(items).to.deep.equal([item]);
    const exported = await tenant.call('get', `${path}/examples`);
    const lines = exported.text.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).to.deep.equal([one, two]);

    const dataset = await tenant.uploaded(exported.text, { kind: 'dataset', content_type: 'text/plain' });
    const again = await tenant.createSet({ dataset_id: dataset.document_id.replace('doc_', 'ds_') });
    expect(again.status, again.text).to.equal(201);
    expect(again.body['document_ids']).to.deep.equal(set['document_ids']);
  });

  it('have a new version with each change, and none where nothing changed', async () => {
    const [one, two] = [await tenant.example('Q-1', 10), await tenant.example('Q-2', 20)];
    const { set_id } = await tenant.setOf([one], { name: 'Kept' });
    const same = await tenant.setOf([one], { set_id });
    expect(same).to.include({ set_id, version: 1, name: 'Kept' });
    const more = await tenant.setOf([one, two], { set_id });
    expect(more).to.include({ set_id, version: 2, name: 'Kept', documents: 2 });
    const other = await tenant.setOf([{ ...one, expected: { total: 11 } }, two], { set_id });
    expect(other).to.include({ version: 3 });
  });

  it('are made once for an Idempotency-Key, also by two requests at once', async () => {
    const examples = [await tenant.example('Q-1', 10)];
    const sent = () => tenant.createSet({ examples }, { headers: { 'Idempotency-Key': 'one' } });
    const made = await Promise.all([sent(), sent()]);
    const ids = made.filter(({ status }) => status === 201).map(({ body }) => body['set_id']);
    expect(new Set(ids).size).to.equal(1);
    await api.forgetReplays();
    expect((await sent()).body['set_id']).to.equal(ids[0]);
    const other = [await tenant.example('Q-2', 10)];
    const reused = await tenant.createSet({ examples: other }, { headers: { 'Idempotency-Key': 'one' } });
    expect(codeOf(reused)).to.deep.equal([422, 'idempotency_key_reused']);
  });

  it('say what is wrong with them', async () => {
    const one = await tenant.example('Q-1', 10);
    const { document_id } = await tenant.presign();
    const cases: readonly (readonly [object, number, string])[] = [
      [{}, 422, 'validation_error'],
      [{ examples: [] }, 422, 'validation_error'],
      [{ examples: [one], dataset_id: 'ds_1' }, 422, 'validation_error'],
      [{ examples: [one, one] }, 422, 'validation_error'],
      [{ examples: [{ ...one, document_id: 'doc_nobody' }] }, 404, 'document_not_found'],
      [{ examples: [{ ...one, document_id }] }, 400, 'missing_file'],
      [{ examples: [one], set_id: 'set_nobody' }, 404, 'set_not_found'],
      [{ dataset_id: 'ds_nobody' }, 404, 'document_not_found'],
      [{ examples: Array.from({ length: 1_001 }, () => one) }, 422, 'validation_error'],
    ];
    for (const [json, status, code] of cases)
      expect(codeOf(await tenant.createSet(json)), JSON.stringify(json).slice(0, 80)).to.deep.equal([
        status,
        code,
      ]);
    const deep = JSON.parse(`${'{"a":'.repeat(80)}1${'}'.repeat(80)}`) as Readonly<Record<string, unknown>>;
    expect((await tenant.createSet({ examples: [{ ...one, expected: deep }] })).status).to.equal(422);
    const wide = Object.fromEntries(Array.from({ length: 20_001 }, (_, at) => [`m${String(at)}`, at]));
    expect((await tenant.createSet({ examples: [{ ...one, expected: wide }] })).status).to.equal(422);
  });

  it('are of one tenant: another learns nothing, and can neither read, change, run nor remove them', async () => {
    const other = await measuringTenant(api);
    const { set_id } = await tenant.setOf([await tenant.example('Q-1', 10)]);
    const path = `/v1/evaluations/sets/${set_id}`;
    for (const [method, at] of [
      ['get', path],
      ['get', `${path}/examples`],
      ['delete', path],
    ] as const)
      expect(codeOf(await other.call(method, at)), at).to.deep.equal([404, 'set_not_found']);
    const examples = [await other.example('Q-1', 10)];
    expect(codeOf(await other.createSet({ set_id, examples }))).to.deep.equal([404, 'set_not_found']);
    expect(codeOf(await other.run({ set_id, schema: SCHEMA }))).to.deep.equal([404, 'set_not_found']);
    const foreign = await tenant.example('Q-1', 10);
    expect(codeOf(await other.createSet({ examples: [foreign] }))).to.deep.equal([404, 'document_not_found']);
  });

  it('are removed for good with what is expected, and a repeat answers the same', async () => {
    const { set_id } = await tenant.setOf([await tenant.example('Q-secret', 10)]);
    const path = `/v1/evaluations/sets/${set_id}`;
    expect((await tenant.call('delete', path)).status).to.equal(204);
    expect((await tenant.call('delete', path)).status).to.equal(204);
    expect(codeOf(await tenant.call('get', path))).to.deep.equal([404, 'set_not_found']);
    expect(codeOf(await tenant.run({ set_id, schema: SCHEMA }))).to.deep.equal([404, 'set_not_found']);
    const left: string[] = [];
    for await (const { key } of api.objects.list(`evaluations/${set_id}/`)) left.push(key);
    expect(left).to.deep.equal([]);
    expect(codeOf(await tenant.call('delete', '/v1/evaluations/sets/set_x'))).to.deep.equal([
      404,
      'set_not_found',
    ]);
  });

  it('lose a document that is erased or removed, and all that is kept of it', async () => {
    const [one, two, three] = [
      await tenant.example('Q-Zebrowski', 10),
      await tenant.example('Q-2', 20, { total: 21 }),
      await tenant.example('Q-3', 30),
    ];
    const wrong = { ...one, expected: { ...one.expected, invoice_number: 'Q-Zebrowska' } };
    const { set_id } = await tenant.setOf([wrong, two, three]);
    const { run_id } = await tenant.measured({ set_id, schema: SCHEMA });
    const place = `/v1/evaluations/runs/${String(run_id)}/documents/${one.document_id}`;
    expect((await tenant.call('get', place)).text).to.include('Zebrowska');
    const saying = async () => {
      const found: string[] = [];
      for await (const { key } of api.objects.list('evaluations/'))
        if (Buffer.from((await api.objects.get(key)) ?? []).includes('Zebrowsk')) found.push(key);
      return found;
    };
    expect(await saying()).to.have.length(2);
    expect((await tenant.call('delete', `/v1/documents/${one.document_id}`)).status).to.equal(204);
    expect(await saying()).to.deep.equal([]);
    expect((await tenant.call('delete', `/v1/uploads/${three.document_id}`)).status).to.equal(204);
    const set = (await tenant.call('get', `/v1/evaluations/sets/${set_id}`)).body;
    expect(set).to.include({ version: 3, documents: 1 });
    expect(set['document_ids']).to.deep.equal([two.document_id]);
    const gone = (await tenant.call('get', place)).body;
    expect(gone).to.include({ wrong: null, file_name: null, mime_type: null });
    expect((await tenant.call('get', `${place}/file`)).code).to.equal('document_not_found');
    expect((await tenant.call('delete', `/v1/documents/${two.document_id}`)).status).to.equal(204);
    const empty = await tenant.run({ set_id, schema: SCHEMA });
    expect(codeOf(empty)).to.deep.equal([422, 'validation_error']);
  });
});

describe('runs of a set', () => {
  let api: TestApi;
  let tenant: Tenant;
  let examples: readonly Example[];
  let set_id: string;
  before(async () => {
    api = await startApi();
    tenant = await measuringTenant(api);
    examples = [
      await tenant.example('Q-1', 10),
      await tenant.example('Q-2', 20, { total: 21 }),
      await tenant.example('Q-3', 30, { buyer: 'Nobody' }),
    ];
    ({ set_id } = await tenant.setOf(examples));
    // Free pages cost nothing: they are used up first.
    const { file_uri } = await tenant.uploaded('x'.repeat(3000 * 50));
    const json = { tenant_id: tenant.tenant_id, file_uri };
    expect((await tenant.call('post', '/v1/ocr/to-markdown', { json })).status).to.equal(200);
  });
  after(() => api.stop());

  const publishGated = ({ tenant_id }: Tenant, gated: string) =>
    api.call('post', '/v1/configs', {
      json: { tenant_id, schema: SCHEMA, gate: { set_id: gated, min_f1: 0 } },
    });

  it('say how many values are right, in all, by field and by document, and cost what the documents cost', async () => {
    const before = await tenant.balance();
    const run = await tenant.measured({ set_id, schema: SCHEMA });
    expect(run).to.include({ status: 'succeeded', scored: 3, left_out: 0, set_version: 1, mode: 'standard' });
    // Seven values are expected: one is not in the document, and one of six is expected otherwise.
    const field = (path: string) => listed(run['per_field']).find((one) => one['path'] === path);
    expect(field('/invoice_number')).to.include({
      tp: 3,
      fp: 0,
      fn: 0,
      precision: 1,
      recall: 1,
      f1: 1,
      change: null,
    });
    expect(field('/total')).to.include({ tp: 2, fp: 1, fn: 1, f1: 0.6667 });
    expect(field('/*'), 'a name that the schema does not have').to.include({ tp: 0, fp: 0, fn: 1, f1: 0 });
    expect(run).to.include({ precision: 0.8333, recall: 0.7143, f1: 0.7692 });
    const documents = listed(run['per_document']);
    expect(documents.map(({ document_id, tp, fp, fn }) => [document_id, tp, fp, fn])).to.deep.equal([
      [examples[0]?.document_id, 2, 0, 0],
      [examples[1]?.document_id, 1, 1, 1],
      [examples[2]?.document_id, 2, 0, 1],
    ]);
    const sure = listed(run['calibration']);
    expect(sure.map(({ at_least }) => at_least)).to.deep.equal([0.9, 0.8]);
    for (const { values, right } of sure) expect(Number(right)).to.be.at.most(Number(values));
    const after = await tenant.balance();
    const spent = Number(before['balance_credits']) - Number(after['balance_credits']);
    expect(run['credits_used']).to.equal(spent);
    expect(spent).to.be.above(0);
    expect(after['held_credits']).to.equal(0);
    const [operation] = documents.map(({ operation_id }) => String(operation_id));
    expect((await tenant.call('get', `/v1/operations/${operation ?? ''}`)).body['status']).to.equal(
      'succeeded',
    );
  });

  it('show each wrong value with what was expected and where it was read', async () => {
    const { run_id } = await tenant.measured({ set_id, schema: SCHEMA });
    const at = (id = '') => `/v1/evaluations/runs/${String(run_id)}/documents/${id}`;
    const { body } = await tenant.call('get', at(examples[1]?.document_id));
    const [wrong] = listed(body['wrong']);
    expect(wrong).to.include({ path: '/total', at: '/total', expected: '21', got: '20', page: 1 });
    expect(wrong?.['confidence']).to.be.a('number');
    expect(wrong?.['text']).to.include('20.00');
    expect(body).to.include({ file_name: 'a.txt', mime_type: 'text/plain' });
    expect(await tenant.fileAt(at(examples[1]?.document_id))).to.equal(textOf('Q-2', '20.00'));
    expect((await tenant.call('get', at('doc_nobody/file'))).code).to.equal('document_not_found');
    const other = await measuringTenant(api);
    expect((await other.call('get', `${at(examples[1]?.document_id)}/file`)).code).to.equal('run_not_found');
    expect((await tenant.call('get', at(examples[0]?.document_id))).body['wrong']).to.deep.equal([]);
    expect((await tenant.call('get', at('doc_nobody'))).code).to.equal('document_not_found');
  });

  it('are compared with the run of the set before them', async () => {
    const first = await tenant.measured({ set_id, schema: SCHEMA });
    const second = await tenant.measured({ set_id, schema: TOTAL_ONLY });
    expect(second['previous']).to.include({ run_id: first['run_id'], f1: first['f1'], set_version: 1 });
    const change = Number(second['f1']) - Number(first['f1']);
    expect((second['previous'] as Shown)['change']).to.be.closeTo(change, 0.0001);
    expect(change).to.be.below(0);
    const total = listed(second['per_field']).find(({ path }) => path === '/total');
    expect(total?.['change']).to.equal(0);
    const [document] = listed(second['per_document']);
    expect(Number(document?.['change'])).to.be.below(0);
    const query = `tenant_id=${tenant.tenant_id}&set_id=${set_id}&limit=2`;
    const { items } = (await tenant.call('get', `/v1/evaluations/runs?${query}`)).body;
    expect(listed(items).map(({ run_id }) => run_id)).to.deep.equal([second['run_id'], first['run_id']]);
  });

  it('are done once for an Idempotency-Key, also by two requests at once, and billed once', async () => {
    const headers = { 'Idempotency-Key': `run-${randomUUID()}` };
    const before = await tenant.balance();
    const sent = () => tenant.run({ set_id, schema: SCHEMA }, { headers });
    const two = await Promise.all([sent(), sent()]);
    const ids = two.filter(({ status }) => status === 202).map(({ body }) => body['run_id']);
    expect(new Set(ids).size).to.equal(1);
    const run = await tenant.ended(String(ids[0]));
    await api.forgetReplays();
    const again = await sent();
    expect(again.body['run_id']).to.equal(ids[0]);
    expect(again.headers.get('Idempotent-Replayed')).to.equal('true');
    expect(await api.evaluations.look()).to.equal(0);
    const spent = Number(before['balance_credits']) - Number((await tenant.balance())['balance_credits']);
    expect(spent).to.equal(run['credits_used']);
    expect(spent).to.be.above(0);
    const batch = await tenant.call('post', '/v1/batches', {
      headers,
      json: { file_uris: ['quire://uploads/doc_x'], schema: SCHEMA },
    });
    expect(batch.body['batch_id'], batch.text).not.to.equal(run['batch_id']);
  });

  it('that are cancelled give back what was not done, and are not scored', async () => {
    const before = await tenant.balance();
    const run_id = await tenant.accepted({ set_id, schema: SCHEMA });
    await api.deps.reads.settleAll();
    const path = `/v1/evaluations/runs/${run_id}/cancel`;
    expect((await tenant.call('post', path)).body).to.deep.equal({ run_id, cancelled: true });
    expect((await tenant.call('post', path)).body).to.deep.equal({ run_id, cancelled: false });
    const run = await tenant.ended(run_id);
    expect(run).to.include({ status: 'cancelled', f1: null, scored: null });
    expect(await tenant.balance()).to.include({
      balance_credits: before['balance_credits'],
      held_credits: 0,
    });
  });

  it('leave out documents that cannot be paid for', async () => {
    const poor = await measuringTenant(api, 0);
    const { document_id } = await poor.uploaded('x'.repeat(3000 * 60));
    const dear = { document_id, expected: { total: 1 } };
    const { set_id: own } = await poor.setOf([dear, await poor.example('Q-1', 1)]);
    const run = await poor.measured({ set_id: own, schema: SCHEMA });
    expect(run).to.include({ status: 'succeeded', left_out: 1, scored: 1, f1: 1 });
    const [left] = listed(run['per_document']);
    expect(left).to.include({ left_out: 'insufficient_credits', fn: 0, f1: null, change: null });
    expect((await publishGated(poor, own)).body).to.include({ code: 'gate_not_passed', f1: 1 });
  });

  it('say what is wrong with them', async () => {
    const cases: readonly (readonly [object, number, string])[] = [
      [{ set_id }, 400, 'missing_schema'],
      [{ set_id, schema: { type: 'array' } }, 400, 'invalid_schema'],
      [{ set_id, config_id: 'cfg-nobody' }, 404, 'config_not_found'],
      [{ set_id, artifact_id: 'art_nobody' }, 404, 'artifact_not_found'],
      [{ set_id: 'set_nobody', schema: SCHEMA }, 404, 'set_not_found'],
      [{ set_id, schema: SCHEMA, mode: 'slow' }, 422, 'validation_error'],
      [{ set_id, schema: SCHEMA, llm: {} }, 422, 'validation_error'],
      [{ schema: SCHEMA }, 422, 'validation_error'],
    ];
    for (const [json, status, code] of cases) {
      const reply = await tenant.run(json);
      expect([reply.status, reply.code], JSON.stringify(json)).to.deep.equal([status, code]);
    }
    for (const id of ['evr_nobody', 'bat_x', '..%2f'])
      expect((await tenant.call('get', `/v1/evaluations/runs/${id}`)).code, id).to.equal('run_not_found');
    expect((await tenant.call('post', '/v1/evaluations/runs/evr_x/cancel')).code).to.equal('run_not_found');
  });

  it('are of one tenant', async () => {
    const other = await measuringTenant(api);
    const run_id = await tenant.accepted({ set_id, schema: SCHEMA });
    const path = `/v1/evaluations/runs/${run_id}`;
    expect((await other.call('get', path)).code).to.equal('run_not_found');
    expect((await other.call('post', `${path}/cancel`)).code).to.equal('run_not_found');
    const list = `/v1/evaluations/runs?tenant_id=${tenant.tenant_id}`;
    expect((await other.call('get', list)).code).to.equal('tenant_mismatch');
    await tenant.ended(run_id);
  });
});

describe('a gate before publishing', () => {
  let api: TestApi;
  let tenant: Tenant;
  let set_id: string;
  before(async () => {
    api = await startApi();
    tenant = await measuringTenant(api);
    ({ set_id } = await tenant.setOf([
      await tenant.example('Q-1', 10),
      await tenant.example('Q-2', 20, { total: 21 }),
    ]));
  });
  after(() => api.stop());

  const publish = (more: object) =>
    api.call('post', '/v1/configs', { json: { tenant_id: tenant.tenant_id, ...more } });
  const candidate = async (schema: object) => {
    const reply = await publish({ schema });
    expect(reply.status, reply.text).to.equal(200);
    return String(reply.body['config_id']);
  };
  const configs = async () =>
    Number((await tenant.call('get', `/v1/configs?tenant_id=${tenant.tenant_id}`)).body['total']);

  it('lets through what was measured well enough, and holds back the rest with the fields', async () => {
    const config_id = await candidate(SCHEMA);
    const before = await configs();
    const unmeasured = await publish({ schema: SCHEMA, gate: { set_id, min_f1: 0.5 } });
    expect([unmeasured.status, unmeasured.code]).to.deep.equal([409, 'gate_not_passed']);
    expect(unmeasured.body).to.include({ run_id: null });
    const run = await tenant.measured({ set_id, config_id });
    expect(run).to.include({ config_id, config_version: 1, f1: 0.75 });
    expect((await publish({ schema: SCHEMA, gate: { set_id, min_f1: 0.7 } })).status).to.equal(200);
    const held = await publish({ schema: SCHEMA, gate: { set_id, min_f1: 0.8 } });
    expect(held.code).to.equal('gate_not_passed');
    expect(held.body).to.include({ run_id: run['run_id'], f1: 0.75, required_f1: 0.8 });
    expect(held.body['fields']).to.deep.equal([{ path: '/total', f1: 0.5, before: 0.8 }]);
    await api.deps.reads.settleAll();
    expect(await configs()).to.equal(before + 1);
    const other = await publish({ schema: SCHEMA, mode: 'fast', gate: { set_id, min_f1: 0.5 } });
    expect(other.body, 'another mode was not measured').to.include({ code: 'gate_not_passed', run_id: null });
  });

  it('compares with another run of the same version of the set', async () => {
    const good = await tenant.measured({ set_id, schema: SCHEMA });
    const config_id = await candidate(TOTAL_ONLY);
    const worse = await tenant.measured({ set_id, config_id });
    const gate = { set_id, not_worse_than: good['run_id'] };
    const held = await publish({ config_id, schema: TOTAL_ONLY, gate });
    expect(held.body).to.include({
      code: 'gate_not_passed',
      run_id: worse['run_id'],
      required_f1: good['f1'],
    });
    expect(held.body['fields']).to.deep.equal([{ path: '/invoice_number', f1: null, before: 1 }]);
    const same = { set_id, not_worse_than: worse['run_id'] };
    expect((await publish({ config_id, schema: TOTAL_ONLY, gate: same })).status).to.equal(200);
    for (const not_worse_than of ['evr_nobody', 'x'])
      expect((await publish({ schema: TOTAL_ONLY, gate: { set_id, not_worse_than } })).code).to.equal(
        'run_not_found',
      );
    expect((await publish({ schema: SCHEMA, gate: { set_id: 'set_nobody' } })).code).to.equal(
      'set_not_found',
    );
    expect((await publish({ gate: { set_id } })).code).to.equal('missing_schema');
    const more = await tenant.setOf([await tenant.example('Q-9', 1)], { set_id });
    expect(more['version']).to.equal(2);
    const stale = await publish({ schema: TOTAL_ONLY, gate: same });
    expect(stale.body, 'the set has changed').to.include({ code: 'gate_not_passed', run_id: null });
  });

  it('stands before a deployment too, and its artifact is measured with the examples it learned from', async () => {
    const learn = await tenant.setOf([await tenant.example('Q-5', 5), await tenant.example('Q-6', 6)]);
    const job = await tenant.call('post', '/v1/training/jobs', {
      json: { tenant_id: tenant.tenant_id, schema: SCHEMA, set_id: learn.set_id },
    });
    expect(job.status, job.text).to.equal(202);
    await api.deps.reads.settleAll();
    await api.training.drain();
    const { body } = await tenant.call('get', `/v1/training/jobs/${String(job.body['job_id'])}`);
    const { artifact_id, artifact_uri } = body;
    expect(artifact_id, JSON.stringify(body)).to.be.a('string');
    const json = { tenant_id: tenant.tenant_id, project_id: 'default', artifact_id, artifact_uri };
    const deploy = (gate: object) =>
      tenant.call('post', '/v1/inference/deployments', { json: { ...json, gate } });
    const gate = { set_id: learn.set_id, min_f1: 0 };
    expect((await deploy(gate)).body).to.include({ code: 'gate_not_passed', run_id: null });
    const current = `/v1/inference/deployments/current?tenant_id=${tenant.tenant_id}&project_id=default`;
    expect((await tenant.call('get', current)).code).to.equal('deployment_not_found');
    const run = await tenant.measured({ set_id: learn.set_id, artifact_id });
    expect(run).to.include({ artifact_id, examples: 2, left_out: 0 });
    expect((await deploy(gate)).status).to.equal(200);
  });

  it('belongs to training jobs of which examples are named in one way only', async () => {
    const json = { tenant_id: tenant.tenant_id, schema: SCHEMA, set_id, dataset_id: 'ds_1' };
    expect((await tenant.call('post', '/v1/training/jobs', { json })).code).to.equal('validation_error');
    const none = { tenant_id: tenant.tenant_id, schema: SCHEMA, set_id: 'set_nobody' };
    expect((await tenant.call('post', '/v1/training/jobs', { json: none })).code).to.equal('set_not_found');
    const other = await measuringTenant(api);
    const foreign = { tenant_id: other.tenant_id, schema: SCHEMA, set_id };
    expect((await other.call('post', '/v1/training/jobs', { json: foreign })).code).to.equal('set_not_found');
  });
});
