import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  startScriptedProvider,
  type ScriptedProvider,
} from '../../../engine/test/support/scriptedProvider.ts';
import { status } from '../../../engine/test/support/scriptedProvider/steps.ts';
import { formOf } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';

const SCHEMA = JSON.stringify({ type: 'object', properties: { invoice_number: { type: 'string' } } });
const text = new Blob(['Invoice number: A-1'], { type: 'text/plain' });
const DAY_MS = 86_400_000;

describe('what became of documents', () => {
  let api: TestApi;
  let provider: ScriptedProvider;
  const tenant_id = `outcomes-${randomUUID()}`;
  let key: string;
  let began: string;
  before(async () => {
    provider = await startScriptedProvider();
    api = await startApi({ LLM_ALLOW_PRIVATE_NETWORK: 'true' });
    key = await api.newKey(tenant_id);
  });
  after(async () => {
    await api.stop();
    await provider.stop();
  });

  const extract = (fields: Readonly<Record<string, string>> = {}) =>
    api.call('post', '/v1/extract', { key, form: formOf({ schema: SCHEMA, ...fields }, text) });
  const outcomes = async (query = '') => {
    const {
      status: code,
      body,
      text: said,
    } = await api.call('get', `/v1/documents/outcomes?tenant_id=${tenant_id}${query}`, { key });
    expect(code, said).to.equal(200);
    return body;
  };

  it('is nothing where none was read', async () => {
    const none = { succeeded: 0, partial: 0, failed: 0, running: 0, pages: 0, median_ms: null, p95_ms: null };
    expect(await outcomes()).to.deep.equal({ tenant_id, ...none, counted_from: null, failures: [] });
  });

  it('counts those that ended well with the time that they took, and tells why others failed', async () => {
    began = api.deps.clock.now();
    const reply = await extract();
    expect(reply.status, reply.text).to.equal(200);
    api.wait(2 * DAY_MS);
    provider.script('sk-own', status(401));
    const own = {
      llm_provider_model: 'openai_compatible/m',
      llm_api_key: 'sk-own',
      llm_api_base: provider.url,
    };
    const failed = await extract({ ...own, llm_num_retries: '0' });
    expect(failed.status).to.be.at.least(400);

    const all = await outcomes();
    expect(all).to.include({ succeeded: 1, partial: 0, failed: 1, running: 0, pages: 1 });
    expect(all['median_ms']).to.be.a('number');
    expect(all['p95_ms']).to.equal(all['median_ms']);
    const [failure] = all['failures'] as readonly Readonly<Record<string, unknown>>[];
    expect(failure).to.include({ operation: 'extract', pages: 1, problem_code: failed.code });
    expect(Date.parse(String(failure?.['failed_at']))).to.be.at.least(Date.parse(began) + 2 * DAY_MS);
  });

  it('is told of a span of time', async () => {
    const day = (days: number) => new Date(Date.parse(began) + days * DAY_MS).toISOString().slice(0, 10);
    expect(await outcomes(`&to_date=${day(1)}`)).to.include({ succeeded: 1, failed: 0 });
    expect(await outcomes(`&from_date=${day(1)}`)).to.include({ succeeded: 0, failed: 1, median_ms: null });
  });
});
