import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { formOf, INVOICE } from '../support/client.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

type Item = Readonly<Record<string, unknown>>;
const SCHEMA = '{"type":"object","properties":{"invoice_number":{"type":"string"}}}';

describe('model costs over HTTP', () => {
  let api: TestApi;
  let tenant: string;
  let model: string;
  before(async () => {
    api = await testApi();
  });
  beforeEach(() => {
    tenant = `costs-${randomUUID()}`;
    model = `model-${randomUUID()}`;
  });

  const entry = (more: object = {}) => ({
    tenant_id: tenant,
    job_id: `job-${tenant}`,
    operation: 'extract',
    provider: 'openai',
    model_name: model,
    input_tokens: 2_000_000,
    output_tokens: 1_000_000,
    ...more,
  });
  const log = (more: object = {}, key?: string) =>
    api.call('post', '/v1/internal/llm-cost', { json: entry(more), ...(key !== undefined && { key }) });
  const publish = (more: object = {}) =>
    api.call('post', '/v1/admin/provider-pricing', {
      json: {
        provider: 'openai',
        model_name: model,
        input_usd_per_million_tokens: '0.15',
        output_usd_per_million_tokens: '0.6',
        ...more,
      },
    });
  const itemsOf = async (path: string) => {
    const { status, body } = await api.call('get', path);
    expect(status, path).to.equal(200);
    return body['items'] as readonly Item[];
  };
  const isMissing = async () =>
    (await itemsOf('/v1/admin/llm/missing-pricing')).some(({ model_name }) => model_name === model);

  it('are logged as reported, by admin and service keys', async () => {
    const service = await api.newKey(`service-${randomUUID()}`, 'service');
    const reply = await log({ cost_usd: '0.0123450' }, service);
    expect(reply.status).to.equal(201);
    expect(reply.body).to.include({ cost_usd: '0.012345', priced: true });
    const { body } = await api.call('get', `/v1/admin/llm-costs/job-${tenant}`);
    expect((body['items'] as readonly Item[])[0]).to.include({ tenant_id: tenant, cost_usd: '0.012345' });
    expect(body['totals']).to.include({ calls: 1, cost_usd: '0.012345', unpriced_calls: 0 });
  });

  it('are unpriced until a price is published, which then fills the reports', async () => {
    expect((await log()).body).to.include({ cost_usd: null, priced: false });
    expect(await isMissing()).to.equal(true);
    const path = `/v1/admin/llm-costs?tenant_id=${tenant}&group_by=model_name`;
    expect((await itemsOf(path))[0]).to.include({ key: model, cost_usd: '0.00', unpriced_calls: 1 });

    const published = await publish();
    expect(published.status).to.equal(201);
    expect(published.body).to.include({ current: true, usd_per_page: null });
    expect((await itemsOf(path))[0]).to.include({ cost_usd: '0.90', unpriced_calls: 0 });
    expect(await isMissing()).to.equal(false);
    expect((await log()).body).to.include({ cost_usd: '0.90', priced: true });
  });

  it('follow the price in force when the call was made', async () => {
    await publish({ effective_from: '2026-01-01T00:00:00Z' });
    await publish({ input_usd_per_million_tokens: '1', effective_from: '2026-06-01T00:00:00Z' });
    const before = await log({ occurred_at: '2026-05-31T23:59:59.999Z' });
    const after = await log({ occurred_at: '2026-06-01T00:00:00Z' });
    expect([before.body['cost_usd'], after.body['cost_usd']]).to.deep.equal(['0.90', '2.60']);
    const { body } = await api.call('get', '/v1/admin/provider-pricing');
    const own = (list: string) =>
      (body[list] as readonly Item[])
        .filter(({ model_name }) => model_name === model)
        .map(({ current }) => current);
    expect(own('history').sort()).to.deep.equal([false, true]);
    expect(own('current')).to.deep.equal([true]);
  });

  it('count an entry with an ID once, also when it is sent twenty times at once, and for ever', async () => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, () =>
        log({ entry_id: 'e-1', cost_usd: '1', occurred_at: '2026-01-01T00:00:00Z' }),
      ),
    );
    expect(new Set(replies.map(({ body }) => body['id'])).size).to.equal(1);
    await api.forgetReplays();
    const again = await log({ entry_id: 'e-1', cost_usd: '1', occurred_at: '2026-01-01T00:00:00Z' });
    expect(again.body['id']).to.equal(replies[0]!.body['id']);
    const other = await log({ entry_id: 'e-1', cost_usd: '2', occurred_at: '2026-01-01T00:00:00Z' });
    expect([other.status, other.code]).to.deep.equal([422, 'idempotency_key_reused']);
    const [item] = await itemsOf(`/v1/admin/llm-costs?tenant_id=${tenant}`);
    expect(item).to.include({ calls: 1, cost_usd: '1.00' });
  });

  it('refuse what cannot be', async () => {
    for (const bad of [
      { cached_input_tokens: 2_000_001 },
      { cost_usd: '-1' },
      { cost_usd: 1 },
      { input_tokens: 1.5 },
      { input_tokens: -1 },
      { occurred_at: '2999-01-01T00:00:00Z' },
      { colour: 'red' },
    ])
      expect((await log(bad)).code, JSON.stringify(bad)).to.equal('validation_error');
    expect((await publish({ input_usd_per_million_tokens: '0.0000001' })).code).to.equal('validation_error');
    expect((await api.call('get', '/v1/admin/llm-costs?group_by=colour')).code).to.equal('validation_error');
    for (const days of ['0', '366', 'x'])
      expect((await api.call('get', `/v1/admin/llm/missing-pricing?days=${days}`)).code).to.equal(
        'validation_error',
      );
  });

  it('show a price by its name, with the slash as it is or encoded', async () => {
    const path = `/v1/pricing/openai/${model}`;
    expect((await api.call('get', path)).code).to.equal('model_pricing_not_found');
    await publish();
    expect((await api.call('get', path)).body).to.include({ source: 'provider_pricing', provider: 'openai' });
    const set = await api.call('post', '/v1/pricing', {
      json: {
        model_name: `openai/${model}`,
        input_usd_per_million_tokens: '3',
        output_usd_per_million_tokens: '4',
      },
    });
    expect(set.body).to.include({
      source: 'model_pricing',
      provider: 'openai',
      model_name: `openai/${model}`,
    });
    const encoded = await api.call('get', `/v1/pricing/${encodeURIComponent(`openai/${model}`)}`);
    expect(encoded.body).to.include({ source: 'model_pricing', input_usd_per_million_tokens: '3' });
  });

  it('stand beside the credits, by task and by document', async () => {
    await api.sell(tenant, 10_000);
    const key = await api.newKey(tenant);
    const form = formOf({ schema: SCHEMA, task_id: 'invoices' }, INVOICE);
    const { body } = await api.call('post', '/v1/extract', { key, form });
    const { extraction_id, document_id } = body['meta'] as Record<string, string>;
    await log({ job_id: extraction_id, cost_usd: '0.25' });
    const tasks = await itemsOf(`/v1/admin/costs/by-task?tenant_id=${tenant}`);
    expect(tasks).to.deep.equal([
      {
        task_id: 'invoices',
        operations: 1,
        pages: 1,
        credits: 0,
        list_value_usd: '0.00',
        llm_cost_usd: '0.25',
        margin_usd: '-0.25',
      },
    ]);
    const documents = await itemsOf(`/v1/admin/costs/by-document?tenant_id=${tenant}`);
    expect(documents).to.have.length(1);
    expect(documents[0]).to.include({ document_id, task_id: 'invoices', llm_cost_usd: '0.25' });
    expect(documents[0]!['file_name']).to.be.a('string');
    const day = new Date().toISOString().slice(0, 10);
    const subsidy = await itemsOf(`/v1/admin/free-tier-subsidy?from_date=${day}`);
    expect(Number(subsidy.at(-1)!['llm_cost_usd'])).to.be.at.least(0.25);
  });
});
