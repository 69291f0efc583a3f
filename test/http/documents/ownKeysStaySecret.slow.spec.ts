import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  startScriptedProvider,
  type ScriptedProvider,
} from '../../../engine/test/support/scriptedProvider.ts';
import { answers, status } from '../../../engine/test/support/scriptedProvider/steps.ts';
import { startService, type ServiceProcess } from '../../support/serviceProcess.ts';
import { tempFolder } from '../../../engine/test/support/tempFolder.ts';
import { client, formOf, INVOICE, INVOICE_SCHEMA } from '../support/client.ts';

const LLM_KEY = 'sk-planted-llm-0123456789abcdef';
const OCR_KEY = 'sk-planted-ocr-0123456789abcdef';
const PLANTED = /sk-planted-(?:llm|ocr)-0123456789abcdef/u;

/** Every file below a folder. */
const filesUnder = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
};

describe('own keys of callers', () => {
  const folder = tempFolder();
  let provider: ScriptedProvider;
  let service: ServiceProcess;
  before(async () => {
    provider = await startScriptedProvider();
    service = await startService(folder.path, { LLM_ALLOW_PRIVATE_NETWORK: 'true', LOG_LEVEL: 'trace' });
  });
  after(async () => {
    await service.stop('SIGTERM');
    await provider.stop();
    await rm(folder.path, { recursive: true, force: true });
  });

  it('are in no answer, no log line and no file, whatever becomes of the request', async () => {
    const api = client(service.url);
    const key = await api.newKey('secretive');
    const own = {
      schema: INVOICE_SCHEMA,
      llm_provider_model: 'openai_compatible/large',
      llm_api_key: LLM_KEY,
      llm_api_base: provider.url,
      llm_num_retries: '0',
      ocr_provider_model: 'mistral/mistral-ocr-latest',
      ocr_api_key: OCR_KEY,
      ocr_api_base: provider.url,
      ocr_num_retries: '0',
    };
    provider.script(OCR_KEY, { do: 'read', pages: [{ markdown: 'Invoice number: Q-1001' }] });
    const telling = { error: { message: `Incorrect API key provided: ${LLM_KEY}` } };
    const steps = [
      answers({ invoice_number: 'Q-1001' }),
      { do: 'status', status: 401, body: telling } as const,
      { do: 'status', status: 500, body: telling } as const,
      { do: 'reset' } as const,
      { do: 'truncate' } as const,
      answers({ invoice_number: 7 }),
      status(429),
    ];
    const replies: string[] = [];
    for (const [index, step] of steps.entries()) {
      provider.script(LLM_KEY, step);
      for (const mode of ['standard', 'robust']) {
        const headers = { 'idempotency-key': `once-${index}-${mode}` };
        const form = formOf({ ...own, mode }, INVOICE);
        replies.push((await api.call('post', '/v1/extract', { key, form, headers })).text);
      }
    }
    for (const wrong of [
      { llm_provider_model: `acme/${LLM_KEY}` },
      { llm_api_base: `https://user:${LLM_KEY}@proxy.example` },
      { llm_provider_model: 'local/default' },
    ]) {
      const form = formOf({ ...own, ...wrong }, INVOICE);
      const { status: code, text } = await api.call('post', '/v1/extract', { key, form });
      expect(code).to.be.within(400, 422);
      // What a caller writes into other members is its own text; the key itself is not repeated.
      if (!('llm_provider_model' in wrong)) replies.push(text);
    }
    expect(provider.requests.length).to.be.greaterThan(10);
    for (const reply of replies) expect(reply).not.to.match(PLANTED);
    await service.stop('SIGTERM');
    expect(service.output()).not.to.match(PLANTED);
    const files = await filesUnder(folder.path);
    expect(files.length).to.be.greaterThan(10);
    for (const file of files) {
      const bytes = await readFile(file);
      expect(PLANTED.test(bytes.toString('latin1')), file).to.equal(false);
    }
  });
});
