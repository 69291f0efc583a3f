import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { plainPdf } from '../../../engine/test/support/pdfs.ts';
import {
  startScriptedProvider,
  type ScriptedProvider,
} from '../../../engine/test/support/scriptedProvider.ts';
import {
  answers,
  reads,
  status,
  USAGE,
  type Step,
} from '../../../engine/test/support/scriptedProvider/steps.ts';
import { formOf, INVOICE, type Reply } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { until } from '../../../engine/test/support/until.ts';

const SCHEMA = JSON.stringify({
  type: 'object',
  required: ['invoice_number'],
  properties: { invoice_number: { type: 'string' }, total: { type: 'number' } },
});
const GOOD = answers({ invoice_number: 'Q-1001', total: 120.5 }, USAGE);
const BAD = answers({ invoice_number: 'Q-1001', total: 'much' }, USAGE);
/** Of `fast`, for what is beyond it; all else has as much as it takes on a busy machine. */
const DEADLINE_MS = 6_000;
const PATIENT_MS = 60_000;

interface Costs {
  readonly calls: number;
  readonly input: number;
}

/** What a fault comes to, for the caller, the account and the cost log. */
interface Row {
  readonly fault: string;
  readonly steps: readonly Step[];
  readonly fields?: Readonly<Record<string, string>>;
  readonly status: number;
  readonly code?: string;
  readonly members?: Readonly<Record<string, unknown>>;
  readonly credits: number;
  readonly requests: number;
  readonly costs: Costs;
}

const NO_RETRY = { llm_num_retries: '0' };

const ROWS: readonly Row[] = [
  { fault: 'none', steps: [GOOD], status: 200, credits: 5, requests: 1, costs: { calls: 1, input: 120 } },
  {
    fault: '429, then success',
    steps: [status(429, '0'), GOOD],
    status: 200,
    credits: 5,
    requests: 2,
    costs: { calls: 1, input: 120 },
  },
  {
    fault: '401',
    steps: [status(401)],
    status: 502,
    code: 'model_provider_error',
    members: { provider: 'openai_compatible', provider_status: 401 },
    credits: 0,
    requests: 1,
    costs: { calls: 1, input: 0 },
  },
  {
    fault: '500 again and again',
    steps: [status(500, '0')],
    status: 502,
    code: 'model_provider_error',
    members: { provider_status: 500 },
    credits: 0,
    requests: 3,
    costs: { calls: 1, input: 0 },
  },
  {
    fault: 'truncated JSON',
    steps: [{ do: 'truncate' }],
    fields: NO_RETRY,
    status: 502,
    code: 'model_provider_error',
    credits: 0,
    requests: 1,
    costs: { calls: 1, input: 0 },
  },
  {
    fault: 'against the schema, then repaired',
    steps: [BAD, GOOD],
    status: 200,
    credits: 5,
    requests: 2,
    costs: { calls: 2, input: 240 },
  },
  {
    fault: 'against the schema, twice',
    steps: [BAD],
    status: 422,
    code: 'output_schema_mismatch',
    credits: 0,
    requests: 2,
    costs: { calls: 2, input: 240 },
  },
  {
    fault: 'against the schema, twice, and partial is allowed',
    steps: [BAD],
    fields: { allow_partial: 'true' },
    status: 200,
    credits: 5,
    requests: 2,
    costs: { calls: 2, input: 240 },
  },
  {
    fault: 'prose instead of JSON, twice',
    steps: [answers('I cannot see an invoice.', USAGE)],
    status: 502,
    code: 'model_provider_error',
    credits: 0,
    requests: 2,
    costs: { calls: 2, input: 240 },
  },
  {
    fault: 'a drip beyond the deadline',
    steps: [{ do: 'drip', everyMs: 200 }],
    fields: { ...NO_RETRY, mode: 'fast' },
    status: 502,
    code: 'provider_timeout',
    members: { provider: 'openai_compatible' },
    credits: 0,
    requests: 1,
    costs: { calls: 1, input: 0 },
  },
  {
    fault: 'a wrong content type',
    steps: [{ do: 'html' }],
    fields: NO_RETRY,
    status: 502,
    code: 'model_provider_error',
    credits: 0,
    requests: 1,
    costs: { calls: 1, input: 0 },
  },
  {
    fault: 'a connection reset',
    steps: [{ do: 'reset' }],
    fields: NO_RETRY,
    status: 502,
    code: 'model_provider_error',
    members: { provider_status: null },
    credits: 0,
    requests: 1,
    costs: { calls: 1, input: 0 },
  },
  {
    fault: 'a redirect',
    steps: [{ do: 'redirect', to: 'http://169.254.169.254/latest/meta-data' }],
    fields: NO_RETRY,
    status: 502,
    code: 'model_provider_error',
    credits: 0,
    requests: 1,
    costs: { calls: 1, input: 0 },
  },
];

describe('own models over HTTP', () => {
  let provider: ScriptedProvider;
  let api: TestApi;
  before(async () => {
    provider = await startScriptedProvider();
    api = await startApi(
      { LLM_ALLOW_PRIVATE_NETWORK: 'true', HEAVY_CONCURRENCY: '8' },
      { fast: DEADLINE_MS, standard: PATIENT_MS, robust: PATIENT_MS },
    );
    await api.call('post', '/v1/billing/config', { json: { free_pages: 0 } });
  });
  after(async () => {
    await api.stop();
    await provider.stop();
  });

  /** A tenant with a key, and 1,000 credits. */
  const newTenant = async () => {
    const tenant_id = `own-${randomUUID()}`;
    const key = await api.newKey(tenant_id);
    await api.sell(tenant_id, 1000);
    return { tenant_id, key };
  };
  const own = (over: Readonly<Record<string, string>> = {}) => ({
    schema: SCHEMA,
    llm_provider_model: 'openai_compatible/large',
    llm_api_base: provider.url,
    ...over,
  });
  const extract = (key: string, fields: Readonly<Record<string, string>>, pdf?: Blob) =>
    api.call('post', '/v1/extract', {
      key,
      form: pdf ? formOf(fields, pdf, 'a.pdf') : formOf(fields, INVOICE),
    });
  const books = async (tenant_id: string) => {
    const balance = await api.call('get', `/v1/billing/balance/${tenant_id}`);
    const costs = await api.call('get', `/v1/admin/llm-costs?tenant_id=${tenant_id}`);
    const { calls, input_tokens } = costs.body['totals'] as { calls: number; input_tokens: number };
    return {
      credits: 1000 - Number(balance.body['balance_credits']),
      held: balance.body['held_credits'],
      costs: { calls, input: input_tokens },
    };
  };

  describe('what each fault of a provider comes to', () => {
    for (const row of ROWS)
      it(`${row.fault}: ${row.status} ${row.code ?? ''}, ${row.credits} credits`, async () => {
        const { tenant_id, key } = await newTenant();
        const llm_api_key = `sk-${randomUUID()}`;
        provider.script(llm_api_key, ...row.steps);
        const reply = await extract(key, own({ llm_api_key, ...row.fields }));
        expect([reply.status, reply.code], reply.text).to.deep.equal([row.status, row.code]);
        expect(reply.body).to.include(row.members ?? {});
        expect(reply.text).not.to.contain(llm_api_key);
        const { credits, costs } = row;
        expect(await books(tenant_id)).to.deep.equal({ credits, held: 0, costs });
        expect(provider.requests.filter((request) => request.key === llm_api_key)).to.have.length(
          row.requests,
        );
      });

    it('a caller that hangs up: the call is given up, the hold released, nothing billed', async () => {
      const { tenant_id, key } = await newTenant();
      const llm_api_key = `sk-${randomUUID()}`;
      provider.script(llm_api_key, { do: 'hang' });
      const caller = new AbortController();
      const body = formOf(own({ llm_api_key }), INVOICE);
      const sent = fetch(`${api.url}/v1/extract`, {
        method: 'POST',
        headers: { 'x-api-key': key },
        body,
        signal: caller.signal,
      }).catch(() => 'gone');
      const mine = () => provider.requests.find((request) => request.key === llm_api_key);
      await until(() => mine() !== undefined);
      expect((await books(tenant_id)).held).to.equal(5);
      caller.abort();
      expect(await sent).to.equal('gone');
      await until(() => mine()?.abandoned === true);
      expect(mine()?.abandoned).to.equal(true);
      await until(async () => (await books(tenant_id)).held === 0);
      expect(await books(tenant_id)).to.deep.include({ credits: 0, held: 0 });
    });
  });

  describe('each provider', () => {
    const models = {
      openai: 'openai/gpt',
      azure: 'azure/gpt',
      anthropic: 'anthropic/claude',
      google: 'gemini/flash',
      mistral: 'mistral/large',
      groq: 'groq/llama',
      ollama: 'ollama/llama',
      hosted_vllm: 'hosted_vllm/qwen',
    };
    for (const [name, llm_provider_model] of Object.entries(models))
      for (const mode of ['fast', 'standard'])
        it(`${name} extracts from a PDF in mode ${mode}, with citations`, async () => {
          const { tenant_id, key } = await newTenant();
          const llm_api_key = `sk-${randomUUID()}`;
          provider.script(llm_api_key, GOOD);
          const pdf = new Blob([plainPdf(['Invoice number: Q-1001   Total: 120.50 EUR'])]);
          const fields = own({ llm_api_key, llm_provider_model, mode });
          const reply = await extract(key, fields, pdf);
          expect(reply.status, reply.text).to.equal(200);
          expect(reply.body['result']).to.deep.equal({ invoice_number: 'Q-1001', total: 120.5 });
          const meta = reply.body['meta'] as {
            readonly model: string;
            readonly billing_type: string;
            readonly warnings: readonly object[];
            readonly citations: readonly { path: string; text: string; page: number; bbox: unknown }[];
          };
          expect(meta).to.deep.include({
            billing_type: 'byok',
            model: llm_provider_model.replace('gemini', 'google'),
            warnings: [],
          });
          expect(meta.citations.map(({ path, text }) => `${path} ${text}`)).to.have.members([
            '/invoice_number Q-1001',
            '/total 120.50 EUR',
          ]);
          expect(meta.citations.every(({ page, bbox }) => page === 1 && Array.isArray(bbox))).to.equal(true);
          const credits = mode === 'fast' ? 2 : 5;
          expect(await books(tenant_id)).to.deep.equal({ credits, held: 0, costs: { calls: 1, input: 120 } });
        });
  });

  describe('the OCR channel', () => {
    const pdf = new Blob([plainPdf(['Invoice number: Q-1001   Total: 120.50 EUR'])]);
    const page = { markdown: '# Invoice\n\nInvoice number: Q-1001\n\nTotal: 120.50 EUR' };
    const convert = (key: string, fields: Readonly<Record<string, string>>) =>
      api.call('post', '/v1/to-markdown', { key, form: formOf(fields, pdf, 'a.pdf') });

    for (const ocr_provider_model of ['mistral/mistral-ocr-latest', 'azure_di/prebuilt-layout'])
      it(`${ocr_provider_model} reads a PDF for a conversion at own-key rates`, async () => {
        const { tenant_id, key } = await newTenant();
        const ocr_api_key = `sk-${randomUUID()}`;
        provider.script(ocr_api_key, reads(page));
        const reply = await convert(key, { ocr_provider_model, ocr_api_key, ocr_api_base: provider.url });
        expect(reply.status, reply.text).to.equal(200);
        expect(reply.body['markdown']).to.contain('# Invoice').and.to.contain('Total: 120.50 EUR');
        expect(reply.body['meta']).to.include({
          model: ocr_provider_model,
          billing_type: 'byok',
          page_count: 1,
        });
        expect(await books(tenant_id)).to.deep.include({ credits: 5, held: 0 });
      });

    for (const conversion_mode of ['default', 'fast'])
      it(`a language model transcribes the pages, ${conversion_mode}`, async () => {
        const { tenant_id, key } = await newTenant();
        const ocr_api_key = `sk-${randomUUID()}`;
        provider.script(ocr_api_key, answers(page.markdown, USAGE));
        const fields = { conversion_mode, ocr_provider_model: 'openai/gpt', ocr_api_key };
        const reply = await convert(key, { ...fields, ocr_api_base: provider.url });
        expect(reply.status, reply.text).to.equal(200);
        expect(reply.body['markdown']).to.contain('# Invoice');
        const credits = conversion_mode === 'fast' ? 2 : 5;
        expect(await books(tenant_id)).to.deep.equal({ credits, held: 0, costs: { calls: 1, input: 120 } });
      });

    it('reads first, and another model extracts, in mode robust', async () => {
      const { tenant_id, key } = await newTenant();
      const [llm_api_key, ocr_api_key] = [`sk-${randomUUID()}`, `sk-${randomUUID()}`];
      provider.script(llm_api_key, GOOD);
      provider.script(ocr_api_key, reads(page));
      const ocr = {
        ocr_provider_model: 'mistral/mistral-ocr-latest',
        ocr_api_key,
        ocr_api_base: provider.url,
      };
      const reply = await extract(key, { ...own({ llm_api_key, mode: 'robust' }), ...ocr }, pdf);
      expect(reply.status, reply.text).to.equal(200);
      expect(reply.body['meta']).to.include({
        ocr_model: 'mistral/mistral-ocr-latest',
        billing_type: 'byok',
      });
      const { pages } = reply.body['meta'] as { pages: object[] };
      expect(pages[0]).to.include({ page: 1, status: 'ok', source: 'recognised', width: 595.08 });
      expect(await books(tenant_id)).to.deep.include({ credits: 10, held: 0 });
    });

    it('extracts without a language model from what an OCR model read', async () => {
      const { key } = await newTenant();
      const ocr_api_key = `sk-${randomUUID()}`;
      provider.script(ocr_api_key, reads(page));
      const ocr = {
        ocr_provider_model: 'mistral/mistral-ocr-latest',
        ocr_api_key,
        ocr_api_base: provider.url,
      };
      const reply = await extract(key, { schema: SCHEMA, mode: 'robust', ...ocr }, pdf);
      expect(reply.status, reply.text).to.equal(200);
      expect(reply.body['result']).to.include({ invoice_number: 'Q-1001' });
    });

    it('ignores an OCR key where no OCR model runs: full rates', async () => {
      const { key } = await newTenant();
      const ocr = { ocr_provider_model: 'mistral/mistral-ocr-latest', ocr_api_key: 'sk-x' };
      const reply = await extract(key, { schema: SCHEMA, mode: 'standard', ...ocr }, pdf);
      expect(reply.body['meta']).to.include({ billing_type: 'full_service', ocr_model: null });
      expect((reply.body['cost'] as { credits_used: number }).credits_used).to.equal(40);
    });
  });

  it('flags values that stand nowhere in the document', async () => {
    const { key } = await newTenant();
    const llm_api_key = `sk-${randomUUID()}`;
    provider.script(llm_api_key, answers({ invoice_number: 'Z-9999', total: 77.25 }, USAGE));
    const reply = await extract(key, own({ llm_api_key }));
    const { warnings, citations } = reply.body['meta'] as {
      warnings: readonly { code: string; message: string }[];
      citations: readonly unknown[];
    };
    expect(warnings.map(({ code }) => code)).to.deep.equal(['not_grounded']);
    expect(warnings[0]?.message).to.contain('/invoice_number').and.to.contain('/total');
    const none = { text: '', page: null, bbox: null, confidence: 0, grounding: 'none', by: 'model' };
    expect(citations).to.deep.equal([
      { path: '/invoice_number', ...none },
      { path: '/total', ...none },
    ]);
    const strict = await extract(key, own({ llm_api_key, require_grounding: 'true', allow_partial: 'true' }));
    expect(strict.body['result']).not.to.have.any.keys('invoice_number', 'total');
  });

  it('refuses numeric overrides out of range, before anything is asked', async () => {
    const { key } = await newTenant();
    for (const wrong of [{ llm_temperature: '2.1' }, { llm_num_retries: '11' }, { llm_max_tokens: '0' }]) {
      const reply: Reply = await extract(key, own({ llm_api_key: 'sk-none', ...wrong }));
      expect([reply.status, reply.code]).to.deep.equal([422, 'validation_error']);
    }
    expect(provider.requests.some((request) => request.key === 'sk-none')).to.equal(false);
  });
});

describe('own models, where private networks are not allowed', () => {
  it('refuses a base in one before anything is held or asked', async () => {
    const api = await startApi();
    const key = await api.newKey('guarded');
    const bases = [
      'https://127.0.0.1',
      'https://2130706433',
      'https://169.254.169.254',
      'http://example.com',
    ];
    for (const llm_api_base of bases) {
      const fields = { schema: SCHEMA, llm_provider_model: 'openai/gpt', llm_api_key: 'sk-1', llm_api_base };
      const reply = await api.call('post', '/v1/extract', { key, form: formOf(fields, INVOICE) });
      expect([reply.status, reply.code], reply.text).to.deep.equal([422, 'unsafe_api_base']);
    }
    const { body } = await api.call('get', '/v1/billing/balance/guarded');
    expect(body).to.include({ held_credits: 0, free_pages_remaining: 50 });
    await api.stop();
  });
});
