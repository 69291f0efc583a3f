import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  startScriptedProvider,
  type ScriptedProvider,
} from '../../../engine/test/support/scriptedProvider.ts';
import { answers, USAGE } from '../../../engine/test/support/scriptedProvider/steps.ts';
import { until } from '../../../engine/test/support/until.ts';
import { workerOver } from '../../support/apiWorker.ts';
import { batchTenant } from '../documents/later/batchTenant.ts';
import { formOf, INVOICE, INVOICE_SCHEMA } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';

const DAY_MS = 86_400_000;

type Row = Readonly<Record<string, unknown>>;

describe('a budget that work reaches', () => {
  let api: TestApi;
  let provider: ScriptedProvider;
  before(async () => {
    provider = await startScriptedProvider();
    // Its clock is moved on, and no page is free: it is no one else's.
    api = await startApi({ LLM_ALLOW_PRIVATE_NETWORK: 'true' });
    await api.call('post', '/v1/billing/config', { json: { free_pages: 0 } });
    // The day has begun: none ends while a spec looks at it.
    api.wait(DAY_MS - (Date.now() % DAY_MS) + 1);
  });
  after(async () => {
    await api.stop();
    await provider.stop();
  });

  const newTenant = async () => {
    const tenant = await batchTenant(api, 100_000);
    const { tenant_id } = tenant;
    const budget = async (json: Row) => {
      const all = { tenant_id, name: 'Work', scope: {}, period: 'total', ...json };
      const reply = await api.call('post', '/v1/billing/budgets', { json: all });
      expect(reply.status, reply.text).to.equal(201);
      return String(reply.body['budget_id']);
    };
    const path = `/v1/billing/budgets/${tenant_id}`;
    const budgets = async () => (await api.call('get', path)).body;
    const standing = async () => {
      const [one] = (await budgets())['budgets'] as readonly Row[];
      return [one?.['used_credits'], one?.['held_credits']];
    };
    /** Until the next period of the budget has begun. */
    const waitForReset = async () => {
      const { as_of, budgets: all } = await budgets();
      const [one] = all as readonly Row[];
      api.wait(Date.parse(String(one?.['resets_at'])) - Date.parse(String(as_of)) + 1);
    };
    const raise = (id: string, limit_credits: number) =>
      api.call('patch', `${path}/${id}`, { json: { limit_credits } });
    /** Of a page. */
    const price = async (billing_type = 'full_service') => {
      const asked = new URLSearchParams({ tenant_id, operation: 'extract', pages: '1', billing_type });
      const quote = await api.call('get', `/v1/billing/quote?${asked.toString()}`);
      expect(quote.status, quote.text).to.equal(200);
      return Number(quote.body['credits']);
    };
    /** Refusals that the log has. */
    const refusals = async () => {
      let count = 0;
      for await (const { type } of api.log.read(`account-${tenant_id}`))
        if (type === 'BudgetReached') count += 1;
      return count;
    };
    return { ...tenant, budget, standing, waitForReset, raise, price, refusals };
  };

  it('refuses work with an own provider key, at its price, and the provider is not asked', async () => {
    const tenant = await newTenant();
    const keys = await api.call('get', `/v1/api-keys/${tenant.tenant_id}`);
    const [{ key_id } = {}] = keys.body['items'] as readonly Row[];
    const price = await tenant.price('byok');
    const budget_id = await tenant.budget({ scope: { key_id }, limit_credits: 2 * price + 1 });
    const llm_api_key = `sk-${randomUUID()}`;
    provider.script(llm_api_key, answers({ invoice_number: 'Q-1001', total: 1 }, USAGE));
    const own = { llm_provider_model: 'openai_compatible/large', llm_api_base: provider.url, llm_api_key };
    const extract = () =>
      api.call('post', '/v1/extract', {
        key: tenant.key,
        form: formOf({ schema: INVOICE_SCHEMA, ...own }, INVOICE, 'a.txt'),
      });
    for (let n = 0; n < 2; n += 1) {
      const done = await extract();
      expect(done.status, done.text).to.equal(200);
    }
    const asked = provider.requests.length;
    const refused = await extract();
    expect(refused.status, refused.text).to.equal(403);
    expect(refused.body).to.include({
      code: 'budget_reached',
      budget_id,
      used_credits: 2 * price,
      held_credits: 0,
      required_credits: price,
    });
    expect(provider.requests.length).to.equal(asked);
    expect(await tenant.standing()).to.deep.equal([2 * price, 0]);
  });

  it('holds a training job before it trains, and lets the next one in when it is given up', async () => {
    const tenant = await newTenant();
    const budget_id = await tenant.budget({ limit_credits: 5_000 });
    const documents = await tenant.invoices(2);
    const examples = documents.map((uri, total) => ({
      document_id: uri.replace('quire://uploads/', ''),
      expected: { total },
    }));
    const schema = { type: 'object', properties: { total: { type: 'number' } } };
    const train = () =>
      tenant.call('post', '/v1/training/jobs', { json: { tenant_id: tenant.tenant_id, schema, examples } });
    const first = await train();
    expect(first.status, first.text).to.equal(202);
    const price = Number(first.body['credits_held']);
    const refused = await train();
    expect(refused.status, refused.text).to.equal(403);
    expect(refused.body).to.include({
      code: 'budget_reached',
      budget_id,
      held_credits: price,
      required_credits: price,
    });
    const cancelled = await tenant.call('post', `/v1/training/jobs/${String(first.body['job_id'])}/cancel`);
    expect(cancelled.status, cancelled.text).to.equal(200);
    const second = await train();
    expect(second.status, second.text).to.equal(202);
    await api.deps.reads.settleAll();
    await workerOver(api).drain();
    expect(await tenant.standing()).to.deep.equal([price, 0]);
    expect((await train()).code).to.equal('budget_reached');
  });

  /** What became of the documents of a batch, sorted, after all that can be done now is done: some are fed at once. */
  const looked = async (
    tenant: Awaited<ReturnType<typeof newTenant>>,
    id: string,
    worker: Pick<TestApi['batches'], 'look'> = api.batches,
  ) => {
    await api.deps.reads.settleAll();
    await until(async () => {
      const did = (await worker.look()) + (await api.operations.drain());
      await api.deps.reads.settleAll();
      return did === 0;
    });
    return outcomesIn(await tenant.results(id));
  };
  const outcomesIn = (lines: Awaited<ReturnType<Awaited<ReturnType<typeof newTenant>>['results']>>) =>
    lines.map(({ status, error }) => error?.code ?? status).sort();

  it('stops a batch at the document that does not fit, and the rest waits until it begins anew', async () => {
    const tenant = await newTenant();
    const price = await tenant.price();
    await tenant.budget({ period: 'day', limit_credits: Math.floor(2.5 * price) });
    const id = await tenant.created(await tenant.invoices(5));
    expect(await looked(tenant, id)).to.deep.equal(['queued', 'queued', 'queued', 'succeeded', 'succeeded']);
    expect(await tenant.batch(id)).to.include({ status: 'running', credits_used: 2 * price });
    expect(await tenant.standing()).to.deep.equal([2 * price, 0]);
    expect(await tenant.refusals()).to.be.within(1, 3);
    await tenant.waitForReset();
    // After the next reset, no document of this batch may be begun any more: it does not wait for that.
    expect(await tenant.ended(id)).to.include({ status: 'ended', credits_used: 4 * price });
    expect(outcomesIn(await tenant.results(id))).to.deep.equal([
      'budget_reached',
      ...Array<string>(4).fill('succeeded'),
    ]);
  });

  it('lets small documents of a batch go on while a large one waits', async () => {
    const tenant = await newTenant();
    const price = await tenant.price();
    await tenant.budget({ period: 'day', limit_credits: 10 * price });
    await tenant.ended(await tenant.created(await tenant.invoices(5)));
    const large = await tenant.uploaded('x'.repeat(3_000 * 6));
    const id = await tenant.created([large, ...(await tenant.invoices(5))]);
    expect(await looked(tenant, id)).to.deep.equal(['queued', ...Array<string>(5).fill('succeeded')]);
    expect(await tenant.standing()).to.deep.equal([10 * price, 0]);
    await tenant.waitForReset();
    expect(await tenant.ended(id)).to.include({ status: 'ended', credits_used: 11 * price });
  });

  it('lets a batch wait though the worker that waits is killed, and another one bills each document once', async () => {
    const tenant = await newTenant();
    const price = await tenant.price();
    await tenant.budget({ period: 'day', limit_credits: 2 * price });
    const id = await tenant.created(await tenant.invoices(4));
    const killed = api.otherBatches();
    const waiting = ['queued', 'queued', 'succeeded', 'succeeded'];
    expect(await looked(tenant, id, killed)).to.deep.equal(waiting);
    // What it knew of the waiting is gone with it: the next one asks the budget itself.
    const next = api.otherBatches();
    api.wait(31_000);
    expect(await looked(tenant, id, next)).to.deep.equal(waiting);
    expect(await tenant.standing()).to.deep.equal([2 * price, 0]);
    await tenant.waitForReset();
    expect(await looked(tenant, id, api.otherBatches())).to.deep.equal(Array<string>(4).fill('succeeded'));
    expect(await tenant.standing()).to.deep.equal([2 * price, 0]);
    expect(await tenant.ended(id)).to.include({ status: 'ended', credits_used: 4 * price });
  });

  it('says of a document that waited until nothing may be begun that the budget refused it', async () => {
    const tenant = await newTenant();
    const price = await tenant.price();
    await tenant.budget({ period: 'day', limit_credits: price });
    const id = await tenant.created(await tenant.invoices(2));
    expect(await looked(tenant, id)).to.deep.equal(['queued', 'succeeded']);
    api.wait(DAY_MS + 1);
    await tenant.ended(id);
    expect(outcomesIn(await tenant.results(id))).to.deep.equal(['budget_reached', 'succeeded']);
  });

  it('lets a batch go on when it is raised', async () => {
    const tenant = await newTenant();
    const price = await tenant.price();
    const budget = await tenant.budget({ period: 'day', limit_credits: price });
    const id = await tenant.created(await tenant.invoices(3));
    expect(await looked(tenant, id)).to.deep.equal(['queued', 'queued', 'succeeded']);
    expect((await tenant.raise(budget, 3 * price)).status).to.equal(200);
    expect(await looked(tenant, id)).to.deep.equal(['queued', 'queued', 'succeeded']);
    api.wait(31_000);
    expect(await tenant.ended(id)).to.include({ status: 'ended', credits_used: 3 * price });
  });

  it('refuses the rest of a batch where it never begins anew, and what is larger than all of it', async () => {
    const tenant = await newTenant();
    const price = await tenant.price();
    const budget = await tenant.budget({ limit_credits: price });
    const id = await tenant.created(await tenant.invoices(3));
    const done = await tenant.ended(id);
    expect(done).to.include({ status: 'ended', credits_used: price });
    const lines = await tenant.results(id);
    expect(outcomesIn(lines)).to.deep.equal(['budget_reached', 'budget_reached', 'succeeded']);
    expect(lines.find(({ error }) => error !== null)?.error?.detail).to.contain(budget);

    const small = await newTenant();
    await small.budget({ period: 'day', limit_credits: price });
    const long = await small.uploaded('x'.repeat(3_000 * 3));
    const other = await small.created([long, ...(await small.invoices(1))]);
    await small.ended(other);
    expect((await small.results(other)).map(({ error }) => error?.code ?? null)).to.deep.equal([
      'budget_reached',
      null,
    ]);
  });

  it('leaves a waiting batch to be cancelled, and holds nothing for it', async () => {
    const tenant = await newTenant();
    const price = await tenant.price();
    await tenant.budget({ period: 'day', limit_credits: price });
    const id = await tenant.created(await tenant.invoices(3));
    await looked(tenant, id);
    await tenant.call('post', `/v1/batches/${id}/cancel`);
    // At once: nobody waits for what is not begun any more.
    const done = await tenant.ended(id);
    expect(done['documents']).to.deep.include({ succeeded: 1, cancelled: 2 });
    expect(await tenant.standing()).to.deep.equal([price, 0]);
  });

  it('counts the documents of an evaluation run, which waits or leaves out what does not fit', async () => {
    for (const [period, code] of [
      ['total', 'budget_reached'],
      ['day', undefined],
    ] as const) {
      const tenant = await newTenant();
      const price = await tenant.price();
      const examples = (await tenant.invoices(2)).map((uri, n) => ({
        document_id: uri.replace('quire://uploads/', ''),
        expected: { invoice_number: `Q-${String(n)}` },
      }));
      const set = await tenant.call('post', '/v1/evaluations/sets', { json: { examples } });
      expect(set.status, set.text).to.equal(201);
      await tenant.budget({ period, limit_credits: price });
      const json = { set_id: set.body['set_id'], schema: JSON.parse(INVOICE_SCHEMA) as object };
      const made = await tenant.call('post', '/v1/evaluations/runs', { json });
      expect(made.status, made.text).to.equal(202);
      const at = `/v1/evaluations/runs/${String(made.body['run_id'])}`;
      const run = async () => {
        await api.batches.look();
        await api.operations.drain();
        await api.evaluations.look();
        await api.deps.reads.settleAll();
        return (await tenant.call('get', at)).body;
      };
      if (period === 'day') {
        expect(await looked(tenant, String(made.body['batch_id']))).to.deep.equal(['queued', 'succeeded']);
        expect(await run()).to.include({ status: 'running' });
        await tenant.waitForReset();
      }
      const ended = await until(async () => {
        const body = await run();
        return body['status'] === 'succeeded' ? body : undefined;
      });
      const scored = code === undefined ? 2 : 1;
      expect(ended).to.include({ scored, left_out: 2 - scored, credits_used: scored * price });
      const rows = ended['per_document'] as readonly Row[];
      const left = rows.flatMap((row) => (typeof row['left_out'] === 'string' ? [row['left_out']] : []));
      expect(left).to.deep.equal(code === undefined ? [] : [code]);
    }
  });
});
