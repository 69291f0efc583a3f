import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { ADMIN_KEY, startService, type ServiceProcess } from '../support/serviceProcess.ts';
import { startScriptedProvider } from '../../engine/test/support/scriptedProvider.ts';
import { answers } from '../../engine/test/support/scriptedProvider/steps.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const FIXTURE = 'test/fixtures/invoice.pdf';

const { PATH = '', HOME = '' } = process.env;
const node = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, args, { cwd: ROOT, env: { PATH, HOME } });

describe('the bundle that is started', function () {
  this.timeout(240_000);
  const data = tempFolder();
  let service: ServiceProcess;

  before(async () => {
    await node('tools/build/build.js');
    service = await startService(
      data.path,
      { LLM_ALLOW_PRIVATE_NETWORK: 'true' },
      join(ROOT, 'dist/main.js'),
    );
  });

  after(async () => {
    await service.stop('SIGTERM');
    data.remove();
  });

  it('is fresh when it was just made, and its console too', async () => {
    const { stdout } = await node(
      '--input-type=module',
      '--eval',
      "const { isFresh } = await import('./tools/build/bundle.js');" +
        "const { isConsoleFresh } = await import('./tools/build/console.js');" +
        'console.log(isFresh(), isConsoleFresh());',
    );
    expect(stdout.trim()).to.equal('true true');
  });

  it('serves what lies beside the code: the pages of problems, the reference', async () => {
    for (const path of ['/docs/problems/not_found', '/docs', '/openapi.json', '/metrics']) {
      const answer = await fetch(service.url + path, { headers: { 'X-API-KEY': ADMIN_KEY } });
      await answer.arrayBuffer();
      expect(answer.status, path).to.equal(200);
    }
  });

  it('serves the console, compressed both ways and plain alike', async () => {
    const page = await (await fetch(service.url)).text();
    const script = /src="(\/app\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? '';
    const sent = async (encoding: string) => {
      const answer = await fetch(service.url + script, { headers: { 'Accept-Encoding': encoding } });
      return [answer.headers.get('content-encoding'), await answer.text()];
    };
    const [coding, text] = await sent('identity');
    expect(coding).to.equal(null);
    expect(text?.length).to.be.greaterThan(1_000);
    for (const encoding of ['br', 'gzip']) expect(await sent(encoding)).to.deep.equal([encoding, text]);
  });

  it('extracts from a document in a process that it bundled', async () => {
    const form = new FormData();
    form.set(
      'schema',
      JSON.stringify({ type: 'object', properties: { invoice_number: { type: 'string' } } }),
    );
    form.set('file', new Blob([await readFile(join(ROOT, FIXTURE))]), 'invoice.pdf');
    const headers = { 'X-API-KEY': ADMIN_KEY };
    const answer = await fetch(`${service.url}/v1/extract`, { method: 'POST', headers, body: form });
    const text = await answer.text();
    expect(answer.status, text).to.equal(200);
    expect(text).to.contain('LF-2031-0417');
  });

  it('asks a model with a client that it loads when it is asked', async () => {
    const provider = await startScriptedProvider();
    try {
      provider.script('*', answers({ invoice_number: 'Q-1001' }));
      const form = new FormData();
      const fields = {
        schema: JSON.stringify({ type: 'object', properties: { invoice_number: { type: 'string' } } }),
        llm_provider_model: 'openai_compatible/m',
        llm_api_key: 'sk-1',
        llm_api_base: `${provider.url}/v1`,
      };
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      form.set('file', new Blob([await readFile(join(ROOT, FIXTURE))]), 'invoice.pdf');
      const headers = { 'X-API-KEY': ADMIN_KEY };
      const answer = await fetch(`${service.url}/v1/extract`, { method: 'POST', headers, body: form });
      const text = await answer.text();
      expect(answer.status, text).to.equal(200);
      expect(text).to.contain('Q-1001');
    } finally {
      await provider.stop();
    }
  });

  it('reads documents, by the command line', async () => {
    const { stdout } = await node('bin/quire.js', 'to-markdown', FIXTURE);
    expect(stdout).to.match(/invoice/i);
  });
});
