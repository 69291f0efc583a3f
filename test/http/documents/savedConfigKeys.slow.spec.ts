import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { startScriptedProvider } from '../../../engine/test/support/scriptedProvider.ts';
import { answers, USAGE } from '../../../engine/test/support/scriptedProvider/steps.ts';
import { startService } from '../../support/serviceProcess.ts';
import { tempFolder } from '../../../engine/test/support/tempFolder.ts';
import { client, formOf, INVOICE, INVOICE_SCHEMA, type Client } from '../support/client.ts';

const SCHEMA = JSON.parse(INVOICE_SCHEMA) as object;
const OWN_KEY = 'sk-saved-config-0123456789abcdef';

const publish = (api: Client, json: object) => api.call('post', '/v1/configs', { json });
const extract = (api: Client, key: string, fields: Readonly<Record<string, string>>) =>
  api.call('post', '/v1/extract', { key, form: formOf(fields, INVOICE) });

describe('the secret of saved configs', () => {
  const folder = tempFolder();
  after(() => folder.remove());
  const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
  const service = (env: Readonly<Record<string, string>>) =>
    startService(folder.path, { LLM_ALLOW_PRIVATE_NETWORK: 'true', LOG_LEVEL: 'trace', ...env });
  const rotate = async (env: Readonly<Record<string, string>> = {}) => {
    const { PATH = '', HOME = '' } = process.env;
    const args = [resolve('bin/quire.js'), 'secrets', 'rotate', '--json'];
    const options = { env: { PATH, HOME, DATA_DIR: folder.path, ...env } };
    const { stdout } = await promisify(execFile)(process.execPath, args, options);
    return JSON.parse(stdout) as object;
  };

  it('can be changed: old keys open, rotate encrypts anew, and then the old one is not needed', async () => {
    const provider = await startScriptedProvider();
    provider.script(OWN_KEY, answers({ invoice_number: 'Q-1001' }, USAGE));
    let running = await service({ FIELD_ENCRYPTION_KEY: first });
    let api = client(running.url);
    const key = await api.newKey('rotating');
    const llm = { provider_model: 'openai_compatible/large', api_key: OWN_KEY, api_base: provider.url };
    const { body } = await publish(api, { tenant_id: 'rotating', schema: SCHEMA, llm });
    const config_id = String(body['config_id']);
    const hook = { tenant_id: 'rotating', url: 'https://hooks.example.com/', events: ['*'] };
    expect((await api.call('post', '/v1/webhooks', { json: hook })).status).to.equal(201);
    const used = async () => (await extract(api, key, { config_id })).status;
    expect(await used()).to.equal(200);
    const outputs: string[] = [];
    const restart = async (env: Readonly<Record<string, string>>) => {
      await running.stop('SIGTERM');
      outputs.push(running.output());
      running = await service(env);
      api = client(running.url);
    };
    await restart({ FIELD_ENCRYPTION_KEY: second });
    expect((await extract(api, key, { config_id })).code).to.equal('field_encryption_not_configured');
    await restart({ FIELD_ENCRYPTION_KEY: second, FIELD_ENCRYPTION_KEYS_OLD: first });
    expect(await used()).to.equal(200);
    expect(await rotate()).to.deep.equal({
      configs: 1,
      webhooks: 1,
      rotated: 3,
      current: 0,
      lost: [],
      tenant_keys_lost: 0,
    });
    expect(await rotate()).to.deep.equal({
      configs: 1,
      webhooks: 1,
      rotated: 0,
      current: 3,
      lost: [],
      tenant_keys_lost: 0,
    });
    await restart({ FIELD_ENCRYPTION_KEY: second });
    expect(await used()).to.equal(200);
    await running.stop('SIGTERM');
    outputs.push(running.output());
    expect(await rotate({ FIELD_ENCRYPTION_KEY: second })).to.include({ current: 3 });
    await provider.stop();
    for (const output of outputs) expect(output).not.to.contain(OWN_KEY);
    const files = await readdir(folder.path, { withFileTypes: true, recursive: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      const path = join(file.parentPath, file.name);
      expect((await readFile(path)).includes(OWN_KEY), path).to.equal(false);
    }
  });
});
