import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { llmCostStream } from '../../../domain/llmCost.ts';
import { drawnPdf, plainPdf } from '../../../engine/test/support/pdfs.ts';
import {
  startScriptedProvider,
  type ScriptedProvider,
} from '../../../engine/test/support/scriptedProvider.ts';
import { answers, reads, USAGE } from '../../../engine/test/support/scriptedProvider/steps.ts';
import { until } from '../../../engine/test/support/until.ts';
import { formOf, INVOICE, INVOICE_SCHEMA, issuesIn, type Reply } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';

type Fields = Readonly<Record<string, string>>;
type Named = readonly [file: Blob, name: string];

const TEXT = INVOICE;
const BLANK = new Blob([drawnPdf('')]);
const PRINTED = new Blob([plainPdf(['Invoice number: Q-1001   Total: 120.50 EUR'])]);
const OCR = { ocr_provider_model: 'mistral/mistral-ocr-latest', ocr_api_key: 'bogus' };

/** A model that is shown each page by itself, and no blank one. */
const LOOKING = { ...OCR, ocr_provider_model: 'openai/gpt' };

interface Meta {
  readonly billing_type: string;
  readonly model: string;
  readonly ocr_model?: string | null;
  readonly read_by?: unknown;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}
const metaOf = ({ body }: Reply): Meta => body['meta'] as Meta;
const codesOf = (reply: Reply) => metaOf(reply).warnings.map(({ code }) => code);

describe('an own key pays for the work that it is used for', () => {
  let api: TestApi;
  let provider: ScriptedProvider;
  before(async () => {
    provider = await startScriptedProvider();
    api = await startApi({ LLM_ALLOW_PRIVATE_NETWORK: 'true', HEAVY_CONCURRENCY: '8' });
    await api.call('post', '/v1/billing/config', { json: { free_pages: 0 } });
  });
  after(async () => {
    await api.stop();
    await provider.stop();
  });

  const newTenant = async (credits = 1_000) => {
    const tenant_id = `pays-${randomUUID()}`;
    const key = await api.newKey(tenant_id);
    await api.sell(tenant_id, credits);
    return { tenant_id, key };
  };
  const convert = (key: string, fields: Fields, ...file: Named) =>
    api.call('post', '/v1/to-markdown', { key, form: formOf(fields, ...file) });
  const extract = (key: string, fields: Fields, ...file: Named) =>
    api.call('post', '/v1/extract', { key, form: formOf({ schema: INVOICE_SCHEMA, ...fields }, ...file) });

  const priceOf = async (tenant_id: string, billing_type: string, work: Fields) => {
    const query = new URLSearchParams({ tenant_id, billing_type, pages: '1', ...work });
    const quote = await api.call('get', `/v1/billing/quote?${query.toString()}`);
    expect(quote.status, quote.text).to.equal(200);
    return Number(quote.body['credits'] ?? quote.body['required_credits']);
  };
  const spentBy = async (tenant_id: string) => {
    const { body } = await api.call('get', `/v1/billing/balance/${tenant_id}`);
    expect(body['held_credits']).to.equal(0);
    return 1_000 - Number(body['balance_credits']);
  };

  /** What the log says of a tenant's only work: its holds, its burn, and who paid for its model calls. */
  const loggedFor = async (tenant_id: string) => {
    const found = { held: [] as unknown[], burned: [] as unknown[], calls: [] as unknown[] };
    for await (const { type, data } of api.log.read(`account-${tenant_id}`)) {
      if (type === 'CreditsHeld') found.held.push([data['billing_type'], data['credits']]);
      if (type === 'CreditsBurned') found.burned = [data['billing_type'], data['credits']];
    }
    for await (const { data } of api.log.read(llmCostStream(tenant_id)))
      found.calls.push(data['billing_type']);
    return found;
  };

  /** The usage event of a tenant's only work, as the read model has it, and the hold that was burned. */
  const recordedFor = async (tenant_id: string) => {
    await api.call('get', `/v1/billing/usage/${tenant_id}`);
    const [row] = await api.sql.query(
      'select billing_type, hold_id from read.usage_events where tenant_id = $1',
      [tenant_id],
    );
    let burned_hold: unknown;
    for await (const { type, data } of api.log.read(`account-${tenant_id}`))
      if (type === 'CreditsBurned') burned_hold = data['hold_id'];
    return { billing_type: row?.['billing_type'], hold_id: row?.['hold_id'], burned_hold };
  };

  it('a text has no pages to read: a conversion of it is full service, whatever OCR key is sent', async () => {
    const { tenant_id, key } = await newTenant();
    const reply = await convert(key, OCR, TEXT, 'a.txt');
    expect(reply.status, reply.text).to.equal(200);
    expect(metaOf(reply)).to.include({ billing_type: 'full_service', model: 'local/default' });
    expect(codesOf(reply)).to.deep.equal(['own_key_not_used']);
    const full = await priceOf(tenant_id, 'full_service', {
      operation: 'to_markdown',
      extraction_mode: 'default',
    });
    expect(await spentBy(tenant_id)).to.equal(full);
  });

  it('an extraction in mode robust of a text likewise', async () => {
    const { tenant_id, key } = await newTenant();
    const reply = await extract(key, { ...OCR, mode: 'robust' }, TEXT, 'a.txt');
    expect(reply.status, reply.text).to.equal(200);
    expect(metaOf(reply)).to.include({ billing_type: 'full_service', ocr_model: null });
    expect(codesOf(reply)).to.include('own_key_not_used');
    const full = await priceOf(tenant_id, 'full_service', {
      operation: 'extract',
      extraction_mode: 'robust',
    });
    expect(await spentBy(tenant_id)).to.equal(full);
  });

  it('an OCR key in a mode without OCR is named', async () => {
    const { key } = await newTenant();
    const reply = await extract(key, { ...OCR, mode: 'standard' }, PRINTED, 'a.pdf');
    expect(metaOf(reply).billing_type).to.equal('full_service');
    expect(codesOf(reply)).to.deep.equal(['own_key_not_used']);
    expect(metaOf(reply).warnings[0]?.message).to.contain('ocr_api_key');
  });

  it('pages on which there is nothing ask nobody, at the own-key rates that were known before', async () => {
    const { tenant_id, key } = await newTenant();
    const reply = await convert(key, { ...LOOKING, ocr_api_base: provider.url }, BLANK, 'a.pdf');
    expect(reply.status, reply.text).to.equal(200);
    expect(metaOf(reply).billing_type).to.equal('byok');
    expect(codesOf(reply)).to.include('own_key_not_used');
    const own = await priceOf(tenant_id, 'byok', { operation: 'to_markdown', extraction_mode: 'default' });
    expect(await spentBy(tenant_id)).to.equal(own);
    expect(provider.requests.some((request) => request.key === OCR.ocr_api_key)).to.equal(false);
    const recorded = await recordedFor(tenant_id);
    expect(recorded.billing_type).to.equal('byok');
    expect(recorded.hold_id).to.equal(recorded.burned_hold);
  });

  it('a page that the key was asked for has its price, and no warning', async () => {
    const { tenant_id, key } = await newTenant();
    const ocr_api_key = `sk-${randomUUID()}`;
    provider.script(ocr_api_key, reads({ markdown: '# Invoice' }));
    const reply = await convert(key, { ...OCR, ocr_api_key, ocr_api_base: provider.url }, PRINTED, 'a.pdf');
    expect(metaOf(reply).billing_type).to.equal('byok');
    expect(codesOf(reply)).to.deep.equal([]);
    const own = await priceOf(tenant_id, 'byok', { operation: 'to_markdown', extraction_mode: 'default' });
    expect(await spentBy(tenant_id)).to.equal(own);
  });

  describe('a model that is asked for what is doubtful alone', () => {
    const object = (...names: readonly string[]) =>
      JSON.stringify({
        type: 'object',
        properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
      });
    const ask = async (fields: Fields) => {
      const { tenant_id, key } = await newTenant();
      const llm_api_key = `sk-${randomUUID()}`;
      provider.script(llm_api_key, answers({ remark_of_the_clerk: 'none' }, USAGE));
      const channel = {
        llm_provider_model: 'openai_compatible/large',
        llm_api_base: provider.url,
        llm_api_key,
      };
      const reply = await extract(key, { ...channel, ...fields }, PRINTED, 'a.pdf');
      expect(reply.status, reply.text).to.equal(200);
      const asked = provider.requests.filter((request) => request.key === llm_api_key);
      return { tenant_id, reply, asked: asked.length, ...(await loggedFor(tenant_id)) };
    };
    const fullPrice = { operation: 'extract', extraction_mode: 'standard' };

    it('is not asked, logged or paid for where there is nothing of it', async () => {
      const doubtful = { schema: object('invoice_number'), models_for: 'doubtful' };
      const { tenant_id, reply, asked, calls, burned } = await ask(doubtful);
      expect(reply.body['result']).to.deep.equal({ invoice_number: 'Q-1001' });
      expect(metaOf(reply).read_by).to.deep.equal({ engine: ['/invoice_number'], model: [], both: [] });
      expect([asked, calls]).to.deep.equal([0, []]);
      expect(codesOf(reply)).to.deep.equal(['own_key_not_used']);
      expect(burned).to.deep.equal(['full_service', await priceOf(tenant_id, 'full_service', fullPrice)]);
    });

    it('is logged once for each call, and the work is full service, as it was quoted: the engine reads', async () => {
      const doubtful = { schema: object('invoice_number', 'remark_of_the_clerk'), models_for: 'doubtful' };
      const { tenant_id, reply, asked, calls, burned } = await ask(doubtful);
      expect(reply.body['result']).to.deep.equal({ invoice_number: 'Q-1001', remark_of_the_clerk: 'none' });
      expect(metaOf(reply).read_by).to.deep.equal({
        engine: ['/invoice_number'],
        model: ['/remark_of_the_clerk'],
        both: [],
      });
      expect([asked, calls]).to.deep.equal([1, ['byok']]);
      const quoted = await priceOf(tenant_id, 'byok', { ...fullPrice, models_for: 'doubtful' });
      expect(quoted).to.equal(await priceOf(tenant_id, 'full_service', fullPrice));
      expect(burned).to.deep.equal(['full_service', quoted]);
      expect(metaOf(reply).billing_type).to.equal('full_service');
    });

    it('delivers nothing of the engine for less, where it answers nothing', async () => {
      const { tenant_id, key } = await newTenant();
      const llm_api_key = `sk-${randomUUID()}`;
      provider.script(llm_api_key, answers({}, USAGE));
      const channel = {
        llm_provider_model: 'openai_compatible/large',
        llm_api_base: provider.url,
        llm_api_key,
      };
      const fields = { ...channel, schema: object('invoice_number', 'remark_of_the_clerk') };
      const cheap = await extract(key, fields, PRINTED, 'a.pdf');
      expect(cheap.body['result']).to.deep.equal({});
      const own = await priceOf(tenant_id, 'byok', fullPrice);
      expect(await spentBy(tenant_id)).to.equal(own);
      const read = await extract(key, { ...fields, models_for: 'doubtful' }, PRINTED, 'a.pdf');
      expect(read.body['result']).to.deep.equal({ invoice_number: 'Q-1001' });
      expect(await spentBy(tenant_id)).to.equal(own + (await priceOf(tenant_id, 'full_service', fullPrice)));
    });

    it('is asked for all by default, and nothing is said of who read what', async () => {
      const { reply, asked } = await ask({ schema: object('invoice_number') });
      expect(asked).to.equal(1);
      expect(metaOf(reply).read_by).to.equal(null);
    });

    it('is asked so for work that is done later too', async () => {
      const { tenant_id, key } = await newTenant();
      const llm_api_key = `sk-${randomUUID()}`;
      provider.script(llm_api_key, answers({ invoice_number: 'Q-1001' }, USAGE));
      const channel = {
        llm_provider_model: 'openai_compatible/large',
        llm_api_base: provider.url,
        llm_api_key,
      };
      const form = formOf(
        { schema: object('invoice_number'), models_for: 'doubtful', ...channel },
        PRINTED,
        'a.pdf',
      );
      const later = { key, form, headers: { prefer: 'respond-async' } };
      const accepted = await api.call('post', '/v1/extract', later);
      expect(accepted.status, accepted.text).to.equal(202);
      const at = `/v1/operations/${String(accepted.body['operation_id'])}`;
      const done = await until(async () => {
        await api.operations.drain();
        const { body } = await api.call('get', at, { key });
        return body['status'] === 'succeeded' ? body : undefined;
      });
      expect(done).to.have.nested.property('result.meta.read_by.engine[0]', '/invoice_number');
      expect((await loggedFor(tenant_id)).calls).to.deep.equal([]);
    });

    it('is asked as a saved config says, unless the request says otherwise', async () => {
      const { tenant_id, key } = await newTenant();
      const published = await api.call('post', '/v1/configs', {
        json: { tenant_id, schema: JSON.parse(object('invoice_number')) as object, models_for: 'doubtful' },
      });
      expect(published.body['models_for']).to.equal('doubtful');
      const llm_api_key = `sk-${randomUUID()}`;
      provider.script(llm_api_key, answers({ invoice_number: 'Q-1001' }, USAGE));
      const asked = async (fields: Fields) => {
        provider.requests.length = 0;
        const form = {
          config_id: String(published.body['config_id']),
          llm_provider_model: 'openai_compatible/large',
          llm_api_base: provider.url,
          llm_api_key,
          ...fields,
        };
        const reply = await api.call('post', '/v1/extract', { key, form: formOf(form, PRINTED, 'a.pdf') });
        expect(reply.status, reply.text).to.equal(200);
        return provider.requests.length;
      };
      expect(await asked({})).to.equal(0);
      expect(await asked({ models_for: 'all' })).to.equal(1);
    });
  });

  describe('quote, hold, bill and model costs agree', () => {
    const formats: Readonly<Record<string, Named>> = {
      'a text': [TEXT, 'a.txt'],
      'blank pages': [BLANK, 'a.pdf'],
      'printed pages': [PRINTED, 'a.pdf'],
    };
    const keysOf = (channels: readonly ('llm' | 'ocr')[]) => {
      const named = { llm: `sk-${randomUUID()}`, ocr: `sk-${randomUUID()}` };
      provider.script(named.llm, answers({ invoice_number: 'Q-1001', total: 120.5 }, USAGE));
      provider.script(named.ocr, reads({ markdown: 'Invoice number: Q-1001\n\nTotal: 120.50 EUR' }));
      const models = { llm: 'openai_compatible/large', ocr: OCR.ocr_provider_model };
      const fields = channels.flatMap((channel) => [
        [`${channel}_provider_model`, models[channel]],
        [`${channel}_api_key`, named[channel]],
        [`${channel}_api_base`, provider.url],
      ]);
      return {
        fields: Object.fromEntries(fields) as Fields,
        keys: channels.map((channel) => named[channel]),
      };
    };
    const isAsked = (key: string) => provider.requests.some((request) => request.key === key);

    for (const [format, file] of Object.entries(formats))
      for (const mode of ['fast', 'standard', 'robust'])
        for (const channels of [[], ['llm'], ['ocr'], ['llm', 'ocr']] as const)
          it(`${format} in mode ${mode} with ${channels.join(' and ') || 'no'} key`, async () => {
            const { tenant_id, key } = await newTenant();
            const { fields, keys } = keysOf(channels);
            const reply = await extract(key, { mode, ...fields }, ...file);
            expect(reply.status, reply.text).to.equal(200);
            const used = keys.filter(isAsked);
            // By the rules, before anything is done: the key of a channel that runs for this file in this mode.
            const reads = mode === 'robust' && format !== 'a text';
            const runs = channels.some((one) => one === 'llm' || reads);
            const expected = runs ? 'byok' : 'full_service';
            expect(metaOf(reply).billing_type).to.equal(expected);
            const unused = codesOf(reply).filter((code) => code === 'own_key_not_used');
            expect(unused).to.have.length(keys.length - used.length);
            const work = { operation: 'extract', extraction_mode: mode };
            const price = await priceOf(tenant_id, expected, work);
            expect(await spentBy(tenant_id)).to.equal(price);
            const { held, burned, calls } = await loggedFor(tenant_id);
            expect([held, burned]).to.deep.equal([[[expected, price]], [expected, price]]);
            expect(new Set(calls)).to.deep.equal(new Set(used.length > 0 ? ['byok'] : []));
          });
  });

  describe('members of a channel', () => {
    const WRONG = {
      llm_max_tokens: '0',
      llm_temperature: 'hot',
      llm_num_retries: '99',
      llm_api_base: 'x'.repeat(3000),
    };

    it('without its key are ignored, out of range and ill-formed ones too', async () => {
      const { key } = await newTenant();
      const reply = await extract(key, { ...WRONG, llm_api_key: '', ocr_temperature: '9' }, TEXT, 'a.txt');
      expect(reply.status, reply.text).to.equal(200);
      expect(metaOf(reply).billing_type).to.equal('full_service');
      expect(codesOf(reply)).to.deep.equal([]);
    });

    it('with its key are refused where it runs, each by its name', async () => {
      const { key } = await newTenant();
      const own = { llm_provider_model: 'openai_compatible/l', llm_api_key: 'sk-x' };
      const reply = await extract(key, { ...own, ...WRONG }, TEXT, 'a.txt');
      expect([reply.status, reply.code]).to.deep.equal([422, 'validation_error']);
      for (const member of Object.keys(WRONG)) expect(issuesIn(reply).join()).to.contain(member);
    });

    it('of a channel that mode or format does not use are ignored, with their key', async () => {
      const { key } = await newTenant();
      const wrong = { ...OCR, ocr_provider_model: 'nobody/nothing', ocr_max_tokens: '-1' };
      const unused: readonly (readonly [string, Named])[] = [
        ['standard', [PRINTED, 'a.pdf']],
        ['robust', [TEXT, 'a.txt']],
      ];
      for (const [mode, file] of unused) {
        const reply = await extract(key, { ...wrong, mode }, ...file);
        expect(reply.status, reply.text).to.equal(200);
        expect(codesOf(reply)).to.deep.equal(['own_key_not_used']);
      }
      const refused = await extract(key, { ...wrong, mode: 'robust' }, PRINTED, 'a.pdf');
      expect([refused.status, refused.code]).to.deep.equal([422, 'validation_error']);
      const { status } = await convert(key, wrong, TEXT, 'a.txt');
      expect(status).to.equal(200);
    });
  });
});
