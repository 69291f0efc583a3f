import { expect } from 'chai';
import {
  startScriptedProvider,
  type ScriptedProvider,
} from '../../../engine/test/support/scriptedProvider.ts';
import { formOf, INVOICE, type Reply } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { presigned, put } from './uploads.suite.ts';

const SCHEMA = { type: 'object', properties: { total: { type: 'number' } } };
const TENANT = 'once';

describe('a document is opened once for a request', () => {
  let api: TestApi;
  let provider: ScriptedProvider;
  let key: string;
  before(async () => {
    provider = await startScriptedProvider();
    api = await startApi({ LLM_ALLOW_PRIVATE_NETWORK: 'true' });
    key = await api.newKey(TENANT);
    await api.sell(TENANT, 40_000);
  });
  after(async () => {
    await api.stop();
    await provider.stop();
  });

  const form = (path: string, fields: Readonly<Record<string, string>>) =>
    api.call('post', path, { key, form: formOf({ tenant_id: TENANT, ...fields }, INVOICE) });
  const uploaded = async () => {
    const json = { tenant_id: TENANT, file_name: 'a.txt', content_type: 'text/plain' };
    const upload = presigned(await api.call('post', '/v1/uploads/presign', { key, json }));
    expect((await put(upload.url, 'Total: 12.50 EUR', upload.headers)).status).to.equal(200);
    return upload.file_uri;
  };
  const post = (path: string, json: object) => api.call('post', path, { key, json });
  const canonical = async (operation: string, payload: object) =>
    post('/v1/canonical', {
      schema_version: '1.0',
      operation,
      scope: { tenant_id: TENANT },
      resource: { file_uri: await uploaded() },
      payload,
    });
  const byModel = () => {
    provider.script('sk-own', { do: 'answer', with: { total: 1 } });
    const llm = {
      llm_provider_model: 'openai_compatible/m',
      llm_api_key: 'sk-own',
      llm_api_base: provider.url,
    };
    return form('/v1/extract', { schema: JSON.stringify(SCHEMA), ...llm });
  };

  const REQUESTS: readonly (readonly [string, () => Promise<Reply>])[] = [
    ['extract', () => form('/v1/extract', { schema: JSON.stringify(SCHEMA) })],
    ['extract, robust', () => form('/v1/extract', { schema: JSON.stringify(SCHEMA), mode: 'robust' })],
    ['extract by a model', byModel],
    ['toMarkdown', () => form('/v1/to-markdown', {})],
    [
      'ocrToMarkdown',
      async () => post('/v1/ocr/to-markdown', { tenant_id: TENANT, file_uri: await uploaded() }),
    ],
    ['canonical inference.extract', () => canonical('inference.extract', { schema: SCHEMA })],
    ['canonical inference.to_markdown', () => canonical('inference.to_markdown', {})],
  ];
  for (const [name, send] of REQUESTS)
    it(name, async () => {
      const before = api.openings();
      const reply = await send();
      expect(reply.status, reply.text).to.equal(200);
      const { opened, wentOn, kept } = api.openings();
      expect({ opened: opened - before.opened, kept }).to.deep.equal({ opened: 1, kept: 0 });
      expect(wentOn).to.equal(before.wentOn + 1);
    });
});
