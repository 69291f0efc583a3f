import { randomBytes, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  startScriptedProvider,
  type ScriptedProvider,
} from '../../../engine/test/support/scriptedProvider.ts';
import {
  answers,
  USAGE,
  type ScriptedRequest,
  type Step,
} from '../../../engine/test/support/scriptedProvider/steps.ts';
import { startService, type ServiceProcess } from '../../support/serviceProcess.ts';
import { tempFolder } from '../../../engine/test/support/tempFolder.ts';
import { client, formOf, type Client } from '../support/client.ts';
import { until } from '../../../engine/test/support/until.ts';

const SCHEMA = {
  type: 'object',
  properties: { number: { type: 'string' }, total: { type: 'number' } },
};
const OWN_KEY = 'sk-prompt-training-0123456789abcdef';
const BUDGET = 40;

const textOf = (n: number) => `Invoice R-${n}\nNet ${n * 10}.00\nGross ${n * 12}.00\n`;
const expectedOf = (n: number) => ({ number: `R-${n}`, total: n * 12 });

const messagesOf = ({ body }: ScriptedRequest) =>
  body['messages'] as unknown as readonly { readonly role: string; readonly content: string }[];
const isReflection = (request: ScriptedRequest): boolean =>
  (messagesOf(request)[0]?.content ?? '').startsWith('You improve');

/** Takes the net amount for the total until its notes tell it otherwise. */
const reader = (request: ScriptedRequest): Step => {
  if (isReflection(request)) return answers({ notes: 'The total is the gross amount.' }, USAGE);
  const text = messagesOf(request).at(-1)?.content ?? '';
  const knows = (messagesOf(request)[0]?.content ?? '').includes('gross amount');
  const amount = knows ? /Gross (\S+)/u : /Net (\S+)/u;
  return answers({ number: /R-\d+/u.exec(text)?.[0] ?? '', total: Number(amount.exec(text)?.[1]) }, USAGE);
};

describe('a prompt, taught through a job', () => {
  const folder = tempFolder();
  const tenant_id = `prompt-${randomUUID()}`;
  let provider: ScriptedProvider;
  let service: ServiceProcess;
  let api: Client;
  let key: string;
  before(async () => {
    provider = await startScriptedProvider();
    provider.script(OWN_KEY, reader);
    service = await startService(folder.path, {
      LLM_ALLOW_PRIVATE_NETWORK: 'true',
      FIELD_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    });
    api = client(service.url);
    key = await api.newKey(tenant_id);
    await api.sell(tenant_id, 100_000);
  });
  after(async () => {
    await service.stop('SIGTERM');
    await provider.stop();
    folder.remove();
  });

  it('is kept to its budget, logged, charged at own-key rates, and used by its artifact', async () => {
    const examples: object[] = [];
    for (let n = 1; n <= 8; n += 1) {
      const json = { tenant_id, file_name: `${n}.txt`, content_type: 'text/plain' };
      const { body } = await api.call('post', '/v1/uploads/presign', { key, json });
      const headers = body['headers'] as Record<string, string>;
      await fetch(String(body['upload_url']), { method: 'PUT', body: textOf(n), headers });
      examples.push({ document_id: body['document_id'], expected: expectedOf(n) });
    }
    const own = {
      llm_provider_model: 'openai_compatible/reader',
      llm_api_key: OWN_KEY,
      llm_api_base: provider.url,
    };
    const json = {
      tenant_id,
      schema: SCHEMA,
      examples,
      billing_type: 'byok',
      max_metric_calls: BUDGET,
      ...own,
    };
    const created = await api.call('post', '/v1/training/jobs', { key, json });
    expect(created.status, created.text).to.equal(202);
    const job_id = String(created.body['job_id']);
    const status = async () => (await api.call('get', `/v1/training/jobs/${job_id}`, { key })).body;
    await until(async () => !['queued', 'running'].includes(String((await status())['status'])), 50);
    const job = await status();
    expect(job['status'], JSON.stringify(job)).to.equal('succeeded');
    expect(job).to.include({ baseline_score: 0.5, best_score: 1 });
    expect(job['credits_charged']).to.equal(created.body['credits_held']);
    const readings = provider.requests.filter((request) => !isReflection(request));
    expect(readings.length).to.be.at.most(BUDGET);
    const costs = await api.call('get', `/v1/admin/llm-costs/${job_id}`);
    const { calls } = costs.body['totals'] as { calls: number };
    expect(calls).to.equal(provider.requests.length);

    const file = new Blob([textOf(99)], { type: 'text/plain' });
    const use = (fields: Readonly<Record<string, string>>) =>
      api.call('post', '/v1/extract', { key, form: formOf(fields, file, '99.txt') });
    const artifact_id = String(job['artifact_id']);
    const untaught = await use({ ...own, schema: JSON.stringify(SCHEMA) });
    expect(untaught.body['result']).to.include({ total: 990 });
    const taught = await use({ artifact_id, llm_api_key: OWN_KEY, llm_api_base: provider.url });
    expect(taught.status, taught.text).to.equal(200);
    expect(taught.body['result']).to.deep.equal(expectedOf(99));
    expect(taught.body['meta']).to.include({ artifact_id, model: 'openai_compatible/reader' });
    const without = await use({ artifact_id });
    expect([without.status, without.code]).to.deep.equal([422, 'validation_error']);
    expect(without.text).to.contain('openai_compatible/reader');
  });

  it('leaves no key behind', async () => {
    await service.stop('SIGTERM');
    expect(service.output()).not.to.contain(OWN_KEY);
    const files = await readdir(folder.path, { withFileTypes: true, recursive: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      const path = join(file.parentPath, file.name);
      expect((await readFile(path)).includes(OWN_KEY), path).to.equal(false);
    }
  });
});
