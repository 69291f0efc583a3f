import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { plainPdf } from '../../../engine/test/support/pdfs.ts';
import { until } from '../../../engine/test/support/until.ts';
import { answers, USAGE } from '../../../engine/test/support/scriptedProvider/steps.ts';
import { startScriptedProvider } from '../../../engine/test/support/scriptedProvider.ts';
import { objectSweeper } from '../../../src/worker/sweeping.ts';
import { runAudit } from '../../../src/audit/runAudit.ts';
import { formOf, INVOICE_SCHEMA, issuesIn, type CallOptions, type Reply } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';

/** Each text is a page. */
const pdf = (...pages: readonly string[]): Blob =>
  new Blob([new Uint8Array(plainPdf(pages.map((page) => page.replaceAll('\n', ') Tj 0 -16 Td ('))))], {
    type: 'application/pdf',
  });

const invoice = (number: string) =>
  `INVOICE\nNorthwind Ltd\nInvoice number: ${number}\nTotal due 357.00\nPage 1 of 1`;
const LEASE =
  'LEASE AGREEMENT\nThe landlord lets the flat to the tenant.\nThe rent is 900.00 a month.\nPage 1 of 1';
const STACK = pdf(invoice('Q-1'), LEASE, invoice('Q-2'));
const CLASSES = JSON.stringify([
  { name: 'Invoice', description: 'A bill with the amount to pay.' },
  { name: 'Lease', description: 'A contract of landlord and tenant about the rent of a flat.' },
]);

interface Part {
  readonly pages: readonly number[];
  readonly class: string | null;
  readonly batch_index: number | null;
}
interface Line {
  readonly index: number;
  readonly file_uri: string | null;
  readonly pages: string;
  readonly status: string;
  readonly result: { readonly result: Readonly<Record<string, unknown>> } | null;
  readonly cost: { readonly credits_used: number; readonly pages: number } | null;
}

const partsOf = (body: Readonly<Record<string, unknown>>) => body['documents'] as readonly Part[];

describe('the parts of a split', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi({
      FIELD_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      LLM_ALLOW_PRIVATE_NETWORK: 'true',
    });
    await api.call('post', '/v1/billing/config', { json: { free_pages: 0 } });
  });
  afterEach(() => {
    api.faults.beforePut = () => Promise.resolve();
  });
  after(() => api.stop());

  const newTenant = async (credits = 1_000) => {
    const tenant_id = `split-${randomUUID()}`;
    const key = await api.newKey(tenant_id);
    if (credits > 0) await api.sell(tenant_id, credits);
    const call = (method: 'get' | 'post' | 'delete', path: string, options: CallOptions = {}) =>
      api.call(method, path, { key, ...options });
    const config = async (more: object = {}) => {
      const schema = JSON.parse(INVOICE_SCHEMA) as object;
      const json = { tenant_id, name: 'invoices', schema, mode: 'fast', ...more };
      const saved = await api.call('post', '/v1/configs', { json });
      expect(saved.status, saved.text).to.be.oneOf([200, 201]);
      return String(saved.body['config_id']);
    };
    const send = (fields: Record<string, string>, options: CallOptions = {}) =>
      call('post', '/v1/split', { form: formOf({ classes: CLASSES, ...fields }, STACK), ...options });
    /** Sends it, and does what is in the queue meanwhile. */
    const sent = async (...asked: Parameters<typeof send>): Promise<Reply> => {
      let answer: Reply | undefined;
      const sending = send(...asked).then((reply) => (answer = reply));
      await until(async () => {
        await api.operations.drain();
        return answer !== undefined;
      });
      return sending;
    };
    const batches = async () => (await call('get', `/v1/batches?tenant_id=${tenant_id}`)).body['total'];
    const ended = async (id: string) => {
      await until(async () => {
        await api.batches.look();
        await api.operations.drain();
        return (await api.deps.batches.streams.stateOf(id)).ended !== null;
      });
      return (await call('get', `/v1/batches/${id}`)).body;
    };
    const lines = async (id: string) =>
      (await call('get', `/v1/batches/${id}/results`)).text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Line);
    const balance = async () => (await call('get', `/v1/billing/balance/${tenant_id}`)).body;
    return { tenant_id, key, call, config, send, sent, batches, ended, lines, balance };
  };

  const objectsOf = async (...ids: readonly string[]): Promise<readonly string[]> => {
    const left: string[] = [];
    for (const prefix of ['operations/', 'secrets/'])
      for await (const { key } of api.objects.list(prefix))
        if (ids.some((id) => key.includes(id))) left.push(key);
    return left;
  };

  const findings = async () => (await runAudit({ feed: api.log, dense: true })).report.findings;

  it('are a batch with a document a part, by the config of its class, each billed', async () => {
    const tenant = await newTenant();
    const config_id = await tenant.config({ tags: { team: 'claims' } });
    const reply = await tenant.sent({ then: JSON.stringify({ Invoice: config_id }), project_id: 'p' });
    expect(reply.status, reply.text).to.equal(200);
    expect(partsOf(reply.body).map((part) => [part.pages, part.class, part.batch_index])).to.deep.equal([
      [[1], 'Invoice', 0],
      [[2], 'Lease', null],
      [[3], 'Invoice', 1],
    ]);
    const id = String(reply.body['batch_id']);
    const { split_id } = reply.body['meta'] as { readonly split_id: string };
    const accepted = await tenant.call('get', `/v1/batches/${id}`);
    const operation_id = split_id.replace('spl_', 'op_');
    expect(accepted.body, accepted.text).to.deep.include({
      operation: 'extract',
      project_id: 'p',
      split_operation_id: operation_id,
    });
    const done = await tenant.ended(id);
    expect(done).to.deep.include({ status: 'ended', pages_done: 2 });
    const lines = await tenant.lines(id);
    expect(
      lines.map(({ file_uri, pages, status, result }) => [
        file_uri,
        pages,
        status,
        result?.result['invoice_number'],
      ]),
    ).to.deep.equal([
      [null, '1', 'succeeded', 'Q-1'],
      [null, '3', 'succeeded', 'Q-2'],
    ]);
    const each = lines.map(({ cost }) => cost?.credits_used ?? 0);
    expect(each.every((credits) => credits > 0)).to.equal(true);
    expect(done['credits_used']).to.equal(each[0] === undefined ? -1 : 2 * each[0]);
    expect(await tenant.balance()).to.include({
      held_credits: 0,
      balance_credits: 1_000 - 6 - Number(done['credits_used']),
    });
    const tagged = await tenant.call(
      'get',
      `/v1/operations?tenant_id=${tenant.tenant_id}&tag=${encodeURIComponent('team:claims')}`,
    );
    expect(tagged.body['total'], tagged.text).to.equal(2);
    expect(await objectsOf(id, operation_id)).to.deep.equal([]);
    expect(await findings()).to.deep.equal([]);
  });

  it('are no batch where no class of them has a config', async () => {
    const tenant = await newTenant();
    const then = JSON.stringify({ Lease: await tenant.config() });
    const form = formOf({ classes: CLASSES, then }, pdf(invoice('Q-1')));
    const reply = await tenant.sent({}, { form });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.body['batch_id']).to.equal(null);
    expect(await tenant.batches()).to.equal(0);
    const empty = await tenant.sent({ then: '{}' });
    expect([empty.status, empty.body['batch_id']]).to.deep.equal([200, null]);
  });

  it('are one batch however often the split is asked for, at once too', async () => {
    const tenant = await newTenant();
    const then = JSON.stringify({ Invoice: await tenant.config() });
    const headers = { 'idempotency-key': randomUUID() };
    const replies = await Promise.all([1, 2, 3].map(() => tenant.sent({ then }, { headers })));
    expect(replies.some(({ status }) => status === 200)).to.equal(true);
    await api.forgetReplays();
    const again = await tenant.sent({ then }, { headers });
    expect(again.status, again.text).to.equal(200);
    await tenant.ended(String(again.body['batch_id']));
    await api.operations.reap();
    expect(await tenant.batches()).to.equal(1);
    const other = await tenant.sent({}, { headers });
    expect(other.code).to.equal('idempotency_key_reused');
  });

  it('become the batch once when the worker dies after the split and before the batch', async () => {
    const tenant = await newTenant();
    const then = JSON.stringify({ Invoice: await tenant.config() });
    const headers = { prefer: 'respond-async' };
    const accepted = await tenant.send({ then }, { headers });
    expect(accepted.status, accepted.text).to.equal(202);
    const id = String(accepted.body['operation_id']);
    const batch_id = id.replace('op_', 'bat_');
    api.faults.beforePut = (key) =>
      key.includes(batch_id) ? Promise.reject(new Error('it dies here')) : Promise.resolve();
    await until(async () => {
      await api.operations.drain();
      return (await api.deps.operations.streams.stateOf(id)).success !== null;
    });
    expect((await api.deps.operations.streams.stateOf(id)).success).to.include({ then_batch_id: batch_id });
    expect((await tenant.call('get', `/v1/batches/${batch_id}`)).code).to.equal('batch_not_found');
    // Not told of before its parts are under way.
    expect((await tenant.call('get', `/v1/operations/${id}`)).body).to.include({ status: 'running' });
    api.faults.beforePut = () => Promise.resolve();
    await until(async () => {
      await Promise.all([api.operations.reap(), api.operations.reap()]);
      return (await api.deps.batches.streams.stateOf(batch_id)).accepted !== null;
    });
    const done = await tenant.ended(batch_id);
    expect(done['documents']).to.deep.include({ total: 2, succeeded: 2 });
    await api.operations.reap();
    expect(await tenant.batches()).to.equal(1);
    const split = await tenant.call('get', `/v1/operations/${id}`);
    expect(split.body, split.text).to.deep.include({ status: 'succeeded' });
    expect((split.body['cost'] as { credits_used: number }).credits_used).to.equal(6);
    expect(await findings()).to.deep.equal([]);
  });

  it('become the batch of a key that pays nothing, too', async () => {
    const tenant = await newTenant(0);
    const then = JSON.stringify({ Invoice: await tenant.config() });
    const key = await api.newKey(tenant.tenant_id, 'service');
    const form = formOf({ classes: CLASSES, then, tenant_id: tenant.tenant_id }, STACK);
    const accepted = await tenant.send({}, { form, key, headers: { prefer: 'respond-async' } });
    expect(accepted.status, accepted.text).to.equal(202);
    const batch_id = String(accepted.body['operation_id']).replace('op_', 'bat_');
    let died = false;
    api.faults.beforePut = (name) => {
      died ||= name.includes(batch_id);
      return name.includes(batch_id) ? Promise.reject(new Error('it dies here')) : Promise.resolve();
    };
    await until(async () => {
      await api.operations.drain();
      return died;
    });
    api.faults.beforePut = () => Promise.resolve();
    await until(async () => {
      await api.operations.reap();
      return (await api.deps.batches.streams.stateOf(batch_id)).accepted !== null;
    });
    const done = await tenant.ended(batch_id);
    expect(done['documents']).to.deep.include({ total: 2, succeeded: 2 });
    expect(await tenant.batches()).to.equal(1);
    expect(await tenant.balance()).to.include({ balance_credits: 0, held_credits: 0 });
  });

  it('are read from the stack however late, which is neither swept nor erased before', async () => {
    const tenant = await newTenant();
    const reply = await tenant.sent({ then: JSON.stringify({ Invoice: await tenant.config() }) });
    const id = String(reply.body['batch_id']);
    api.wait(3 * 3_600_000);
    await objectSweeper(api.swept).sweep();
    const { document_id } = reply.body['meta'] as { readonly document_id: string };
    const path = `/v1/documents/${document_id}`;
    expect((await tenant.call('delete', path)).status).to.equal(409);
    const done = await tenant.ended(id);
    expect(done['documents']).to.deep.include({ total: 2, succeeded: 2 });
    expect((await tenant.call('delete', path)).status).to.equal(204);
    expect((await tenant.lines(id)).map(({ result }) => result)).to.deep.equal([null, null]);
  });

  it('are read with the keys of their config, which lie sealed and go with the work', async () => {
    const provider = await startScriptedProvider();
    const own_key = 'sk-parts-0123456789abcdef';
    const told = answers({ invoice_number: 'Q-9' }, USAGE);
    provider.script(own_key, told, told);
    const tenant = await newTenant();
    const llm = { provider_model: 'openai_compatible/large', api_key: own_key, api_base: provider.url };
    const then = JSON.stringify({ Invoice: await tenant.config({ mode: 'standard', llm }) });
    const accepted = await tenant.send({ then }, { headers: { prefer: 'respond-async' } });
    expect(accepted.status, accepted.text).to.equal(202);
    const operation_id = String(accepted.body['operation_id']);
    const batch_id = operation_id.replace('op_', 'bat_');
    const sealed = async () => {
      const keys = await objectsOf(operation_id, batch_id);
      for (const key of keys)
        expect(Buffer.from((await api.objects.get(key)) ?? []).includes(own_key), key).to.equal(false);
      return keys.filter((key) => key.startsWith('secrets/')).length;
    };
    expect(await sealed()).to.equal(1);
    await until(async () => {
      await api.operations.drain();
      return (await api.deps.batches.streams.stateOf(batch_id)).accepted !== null;
    });
    await until(async () => (await sealed()) === 1);
    const done = await tenant.ended(batch_id);
    expect(done['documents'], JSON.stringify(await tenant.lines(batch_id))).to.deep.include({ succeeded: 2 });
    expect(provider.requests.length).to.equal(2);
    expect(await sealed()).to.equal(0);
    const run = await tenant.call('get', `/v1/runs/${operation_id.replace('op_', 'spl_')}`);
    expect(run.text).to.not.contain(own_key);
    expect(run.body['request'], run.text).to.have.nested.property('then[0].classes[0]', 'Invoice');
    await provider.stop();
  });

  it('that nobody can pay for fail alone, and the others are done', async () => {
    const tenant = await newTenant(10);
    const reply = await tenant.sent({ then: JSON.stringify({ Invoice: await tenant.config() }) });
    expect(reply.status, reply.text).to.equal(200);
    const id = String(reply.body['batch_id']);
    const done = await tenant.ended(id);
    expect(done['documents']).to.deep.include({ failed: 2 });
    expect(await tenant.balance()).to.include({ balance_credits: 4, held_credits: 0 });
  });

  describe('are refused', () => {
    for (const [what, then, issue] of [
      ['what is no JSON', '{', 'body.then custom'],
      ['a list', '[]', 'body.then custom'],
      ['an ID that is no text', '{"Invoice": 1}', 'body.then.Invoice custom'],
      ['an empty ID', '{"Invoice": ""}', 'body.then.Invoice custom'],
      ['a class that is not there', '{"Letter": "cfg-1"}', 'body.then.Letter value_error'],
      ['a class of an odd name', '{"__proto__": "cfg-1"}', 'body.then.__proto__ value_error'],
    ] as const)
      it(what, async () => {
        const tenant = await newTenant(0);
        const reply = await tenant.send({ then });
        expect(reply.code, reply.text).to.equal('validation_error');
        expect(issuesIn(reply)).to.deep.equal([issue]);
      });

    it('for a config that is not there, is of another tenant, or asks for nothing', async () => {
      const [tenant, other] = [await newTenant(), await newTenant()];
      const theirs = await other.config();
      for (const id of ['cfg-none', theirs]) {
        const reply = await tenant.send({ then: JSON.stringify({ Invoice: id }) });
        expect(reply.code, reply.text).to.equal('config_not_found');
      }
      const bare = await tenant.config({ schema: undefined });
      const reply = await tenant.send({ then: JSON.stringify({ Invoice: bare }) });
      expect(reply.code, reply.text).to.equal('missing_schema');
      expect(await tenant.balance()).to.include({ balance_credits: 1_000, held_credits: 0 });
    });

    it('a review that is none', async () => {
      const tenant = await newTenant(0);
      for (const review of ['{', '{"below": 2}', '{"rules": true}'])
        expect((await tenant.send({ review })).code).to.equal('validation_error');
    });
  });

  describe('that are in doubt', () => {
    const REVIEW = JSON.stringify({ below: 1 });
    const reviewed = async () => {
      const tenant = await newTenant();
      const then = JSON.stringify({ Invoice: await tenant.config() });
      const reply = await tenant.sent({ then, review: REVIEW });
      expect(reply.status, reply.text).to.equal(202);
      expect(reply.body).to.include({ status: 'needs_review' });
      const review = `/v1/reviews/${String(reply.body['review_id'])}`;
      const operation_id = String(reply.body['operation_id']);
      const decide = (documents: readonly object[], more: object = {}) =>
        tenant.call('post', `${review}/decision`, { json: { result: { documents }, ...more } });
      const batch_id = operation_id.replace('op_', 'bat_');
      return { tenant, review, operation_id, batch_id, decide };
    };

    it('wait for a person, whose decision is what goes on', async () => {
      const { tenant, review, operation_id, batch_id, decide } = await reviewed();
      await api.operations.reap();
      expect(await tenant.batches()).to.equal(0);
      const shown = await tenant.call('get', review);
      expect(shown.status, shown.text).to.equal(200);
      expect(shown.body['result']).to.deep.equal({
        documents: [
          { pages: [1], class: 'Invoice' },
          { pages: [2], class: 'Lease' },
          { pages: [3], class: 'Invoice' },
        ],
      });
      const [reason] = shown.body['reasons'] as readonly Record<string, unknown>[];
      expect(reason).to.include({ code: 'below', path: '/documents/0' });
      const decided = await decide([
        { pages: [1, 2], class: 'Invoice' },
        { pages: [3], class: 'Lease' },
      ]);
      expect(decided.status, decided.text).to.equal(200);
      const operation = await tenant.call('get', `/v1/operations/${operation_id}`);
      expect(operation.body).to.include({ status: 'succeeded' });
      const result = operation.body['result'] as Record<string, unknown>;
      expect(result['batch_id']).to.equal(batch_id);
      expect(partsOf(result).map((part) => [part.pages, part.class, part.batch_index])).to.deep.equal([
        [[1, 2], 'Invoice', 0],
        [[3], 'Lease', null],
      ]);
      expect(result['meta']).to.have.nested.property('origins./documents/0/class', 'confirmed');
      await tenant.ended(batch_id);
      expect((await tenant.lines(batch_id)).map(({ pages, status }) => [pages, status])).to.deep.equal([
        ['1-2', 'succeeded'],
      ]);
      const reopened = await tenant.call('post', `${review}/reopen`);
      expect([reopened.status, reopened.code]).to.deep.equal([409, 'review_decided']);
      expect(await findings()).to.deep.equal([]);
    });

    it('are decided only as a whole: each page once, in order, of a known class', async () => {
      const { tenant, decide, batch_id } = await reviewed();
      for (const documents of [
        [{ pages: [1, 2], class: 'Invoice' }],
        [{ pages: [1, 2, 3, 3], class: 'Invoice' }],
        [
          { pages: [2, 3], class: null },
          { pages: [1], class: null },
        ],
        [{ pages: [1, 2, 3, 4], class: null }],
        [{ pages: [1, 2, 3], class: 'Letter' }],
        [{ pages: [1, 2, 3], class: null, more: 1 }],
        [],
      ]) {
        const reply = await decide(documents);
        expect(reply.code, JSON.stringify(documents)).to.equal('output_schema_mismatch');
      }
      const left = await tenant.call('post', `/v1/reviews/${batch_id.replace('bat_', 'rev_')}/decision`, {
        json: { result: {}, absent: ['/documents'] },
      });
      expect(left.code, left.text).to.equal('output_schema_mismatch');
      expect(await tenant.batches()).to.equal(0);
      const none = await decide([{ pages: [1, 2, 3], class: null }]);
      expect(none.status, none.text).to.equal(200);
      expect(await tenant.batches()).to.equal(0);
    });

    it('go on once when the process dies after the decision, and when it comes twice at once', async () => {
      const { tenant, decide, batch_id } = await reviewed();
      api.faults.beforePut = (key) =>
        key.includes(batch_id) ? Promise.reject(new Error('it dies here')) : Promise.resolve();
      const documents = [{ pages: [1, 2, 3], class: 'Invoice' }];
      const decided = await decide(documents);
      expect(decided.status, decided.text).to.equal(200);
      expect(await tenant.batches()).to.equal(0);
      api.faults.beforePut = () => Promise.resolve();
      await until(async () => {
        await Promise.all([api.operations.reap(), decide(documents)]);
        return (await tenant.batches()) === 1;
      });
      const done = await tenant.ended(batch_id);
      expect(done['documents']).to.deep.include({ total: 1, succeeded: 1 });
      expect(await tenant.batches()).to.equal(1);
    });

    it('go nowhere when a person rejects them, or the document is erased', async () => {
      const { tenant, review, operation_id } = await reviewed();
      const rejected = await tenant.call('post', `${review}/reject`, { json: { reason: 'illegible' } });
      expect(rejected.status, rejected.text).to.equal(200);
      const failed = await tenant.call('get', `/v1/operations/${operation_id}`);
      expect(failed.body).to.include({ status: 'failed' });
      const other = await reviewed();
      const document = (await other.tenant.call('get', `/v1/operations/${other.operation_id}`)).body;
      const erased = await other.tenant.call('delete', `/v1/documents/${String(document['document_id'])}`);
      expect(erased.status, erased.text).to.equal(204);
      expect((await other.decide([{ pages: [1, 2, 3], class: null }])).code).to.equal('review_expired');
      await api.operations.reap();
      expect(await tenant.batches()).to.equal(0);
      expect(await other.tenant.batches()).to.equal(0);
      expect(await objectsOf(other.operation_id)).to.deep.equal([]);
    });
  });
});
