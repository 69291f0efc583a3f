import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  startScriptedProvider,
  type ScriptedProvider,
} from '../../../engine/test/support/scriptedProvider.ts';
import { answers, USAGE } from '../../../engine/test/support/scriptedProvider/steps.ts';
import { startEsdbDouble, type EsdbDouble } from '../../support/esdbDouble/esdbDouble.ts';
import { objectSweeper } from '../../../src/worker/sweeping.ts';
import { formOf, INVOICE, INVOICE_SCHEMA, issuesIn, type Client } from '../support/client.ts';
import { startApi, testApi, type TestApi } from '../support/testApi.ts';

const SCHEMA = JSON.parse(INVOICE_SCHEMA) as object;
const OWN_KEY = 'sk-saved-config-0123456789abcdef';

const publish = (api: Client, json: object) => api.call('post', '/v1/configs', { json });
const extract = (api: Client, key: string, fields: Readonly<Record<string, string>>) =>
  api.call('post', '/v1/extract', { key, form: formOf(fields, INVOICE) });

describe('saved configs', () => {
  let provider: ScriptedProvider;
  let api: TestApi;
  let key: string;
  const tenant_id = `cfg-${randomUUID()}`;
  before(async () => {
    provider = await startScriptedProvider();
    api = await startApi({
      LLM_ALLOW_PRIVATE_NETWORK: 'true',
      FIELD_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    });
    key = await api.newKey(tenant_id);
    provider.script(OWN_KEY, answers({ invoice_number: 'Q-1001', total: 120.5 }, USAGE));
  });
  after(async () => {
    await api.stop();
    await provider.stop();
  });

  const llm = () => ({
    provider_model: 'openai_compatible/large',
    api_key: OWN_KEY,
    api_base: provider.url,
    temperature: 0.5,
  });
  const published = async (over: object = {}) => {
    const reply = await publish(api, { tenant_id, schema: SCHEMA, ...over });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.text).not.to.contain(OWN_KEY);
    return reply.body as { readonly config_id: string; readonly version: number };
  };

  it('are published with a version each time, and used by their latest', async () => {
    const first = await published({ name: 'invoices', mode: 'balanced' });
    expect(first.config_id).to.match(/^cfg-[0-9A-Za-z]+$/u);
    expect(first).to.include({ version: 1, tenant_id, name: 'invoices', mode: 'standard', llm: null });
    const { config_id } = first;
    expect(await published({ config_id, mode: 'fast' })).to.include({ config_id, version: 2, name: null });
    const reply = await extract(api, key, { config_id });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.body['meta']).to.include({ config_id, config_version: 2, mode: 'fast' });
    expect(reply.body['result']).to.include({ invoice_number: 'Q-1001' });
  });

  it('give way to what a request says itself, field by field; empty text is nothing', async () => {
    const { config_id } = await published({ mode: 'fast' });
    const other = JSON.stringify({ type: 'object', properties: { total: { type: 'number' } } });
    const reply = await extract(api, key, { config_id, mode: 'robust', schema: other });
    expect(reply.body['meta']).to.include({ mode: 'robust', config_version: 1 });
    expect(reply.body['result']).to.have.all.keys('total');
    const empty = await extract(api, key, { config_id, mode: '', schema: '' });
    expect(empty.body['meta']).to.include({ mode: 'fast' });
  });

  it('say how sure values have to be, unless the request does', async () => {
    const { config_id } = await published({ mode: 'fast', min_confidence: 1 });
    const strict = await extract(api, key, { config_id });
    expect(strict.body['result'], strict.text).to.deep.equal({});
    const lenient = await extract(api, key, { config_id, min_confidence: '0' });
    expect(lenient.body['result'], lenient.text).to.include({ invoice_number: 'Q-1001' });
    const later = await published({ config_id, mode: 'fast' });
    expect(later).to.include({ version: 2, min_confidence: null });
    expect((await publish(api, { tenant_id, min_confidence: 2 })).code).to.equal('validation_error');
  });

  it('carry an own key, which works at own-key rates and is never shown', async () => {
    const { config_id } = await published({ llm: llm() });
    const shown = await publish(api, {
      config_id,
      tenant_id,
      schema: SCHEMA,
      llm: { ...llm(), api_key: '' },
    });
    expect(shown.body['llm']).to.deep.equal({
      provider_model: 'openai_compatible/large',
      api_base: provider.url,
      max_tokens: null,
      temperature: 0.5,
      num_retries: null,
      has_api_key: true,
      api_key_last4: 'cdef',
    });
    const reply = await extract(api, key, { config_id });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.body['meta']).to.include({ billing_type: 'byok', model: 'openai_compatible/large' });
    const asked = provider.requests.findLast((request) => request.key === OWN_KEY);
    expect(asked?.body['temperature']).to.equal(0.5);
  });

  it('never send their key to another provider or another address', async () => {
    const { config_id } = await published({ llm: llm() });
    const thief = await startScriptedProvider();
    thief.script('*', answers({ invoice_number: 'stolen' }));
    const asked = provider.requests.length;
    for (const [stolen, ...members] of [
      [{ llm_api_base: thief.url }, 'llm_api_base'],
      [{ llm_provider_model: 'openai/gpt' }, 'llm_provider_model'],
      [
        { llm_provider_model: 'hosted_vllm/x', llm_api_base: thief.url },
        'llm_provider_model',
        'llm_api_base',
      ],
    ] as const) {
      const reply = await extract(api, key, { config_id, ...stolen });
      expect([reply.status, reply.code], reply.text).to.deep.equal([422, 'validation_error']);
      expect(issuesIn(reply)).to.deep.equal([
        ...members.map((member) => `body.${member} own_key_conflict`),
        'body.config_id.llm.api_key own_key_conflict',
      ]);
    }
    expect(provider.requests).to.have.length(asked);
    const { body } = await api.call('get', `/v1/billing/balance/${tenant_id}`);
    expect(body['held_credits']).to.equal(0);
    expect(thief.requests).to.deep.equal([]);
    await thief.stop();
  });

  it('lose a key that their channel left behind', async () => {
    const { config_id } = await published({ llm: llm() });
    const moved = { provider_model: 'openai_compatible/large', api_base: `${provider.url}/elsewhere` };
    const reply = await publish(api, { config_id, tenant_id, schema: SCHEMA, llm: moved });
    expect(reply.body['llm']).to.include({ has_api_key: false, api_key_last4: null });
  });

  it('keep a channel that a new version does not name, and end it for null', async () => {
    const { config_id } = await published({ llm: llm(), mode: 'fast' });
    const version = async (over: object) => (await published({ config_id, ...over })) as object;
    const kept = { provider_model: 'openai_compatible/large', temperature: 0.5, has_api_key: true };
    expect(((await version({ mode: 'standard' })) as { llm: object }).llm).to.include(kept);
    expect(((await version({ llm: {} })) as { llm: object }).llm).to.include(kept);
    const reply = await extract(api, key, { config_id });
    expect(reply.body['meta']).to.include({ billing_type: 'byok', config_version: 3 });
    expect(await version({ llm: null })).to.include({ llm: null });
    expect(await version({})).to.include({ llm: null });
    expect((await extract(api, key, { config_id })).body['meta']).to.include({
      billing_type: 'full_service',
    });
  });

  it('name an artifact that is there: 404 when they are published, not when they are used', async () => {
    const reply = await publish(api, { tenant_id, schema: SCHEMA, artifact_id: 'art_of_nobody' });
    expect([reply.status, reply.code]).to.deep.equal([404, 'artifact_not_found']);
  });

  it('are of one tenant: others get 404', async () => {
    const { config_id } = await published();
    const other = await api.newKey(`cfg-other-${randomUUID()}`);
    expect((await extract(api, other, { config_id })).code).to.equal('config_not_found');
    const stranger = { config_id, tenant_id: 'cfg-stranger', schema: SCHEMA };
    expect((await publish(api, stranger)).code).to.equal('config_not_found');
    expect((await publish(api, { ...stranger, config_id: 'cfg-nothing' })).code).to.equal('config_not_found');
  });

  it('are revoked for good, with their keys', async () => {
    const { config_id } = await published({ llm: llm() });
    const secrets = async () => {
      const keys: string[] = [];
      for await (const object of api.objects.list('secrets/')) keys.push(object.key);
      return keys.length;
    };
    const before = await secrets();
    const revoke = () => api.call('delete', `/v1/configs/${config_id}`);
    expect((await revoke()).status).to.equal(204);
    expect(await secrets()).to.equal(before - 1);
    expect((await revoke()).status).to.equal(204);
    expect((await extract(api, key, { config_id })).code).to.equal('config_not_found');
    expect((await publish(api, { config_id, tenant_id, schema: SCHEMA })).code).to.equal('config_not_found');
    expect((await api.call('delete', '/v1/configs/cfg-nothing')).code).to.equal('config_not_found');
  });

  it('are checked when they are published', async () => {
    const base = { tenant_id, schema: SCHEMA };
    const code = async (over: object) => (await publish(api, { ...base, ...over })).code;
    expect(await code({ schema: { type: 'array' } })).to.equal('invalid_schema');
    expect(await code({ llm: { provider_model: 'acme/x' } })).to.equal('unknown_model_provider');
    expect(await code({ llm: { ...llm(), api_base: 'http://169.254.169.254' } })).to.equal('unsafe_api_base');
    const issue = async (over: object) => issuesIn(await publish(api, { ...base, ...over }));
    expect(await issue({ llm: { api_key: OWN_KEY } })).to.deep.equal(['body.llm.provider_model value_error']);
    expect(await issue({ llm: { provider_model: 'azure/x', api_key: OWN_KEY } })).to.deep.equal([
      'body.llm.api_base value_error',
    ]);
    expect(await issue({ llm: { provider_model: 'mistral/mistral-ocr-1' } })).to.deep.equal([
      'body.llm.provider_model value_error',
    ]);
    expect(await issue({ llm: { ...llm(), temperature: 3 } })).to.deep.equal([
      'body.llm.temperature too_big',
    ]);
  });

  it('work through the envelope', async () => {
    const { config_id } = await published();
    const json = { tenant_id, file_name: 'a.txt' };
    const { body } = await api.call('post', '/v1/uploads/presign', { key, json });
    await fetch(String(body['upload_url']), {
      method: 'PUT',
      body: INVOICE,
      headers: body['headers'] as Record<string, string>,
    });
    const reply = await api.call('post', '/v1/canonical', {
      key,
      json: {
        schema_version: '1.0',
        operation: 'inference.extract',
        scope: { tenant_id },
        resource: { file_uri: body['file_uri'], config_id },
      },
    });
    expect(reply.status, reply.text).to.equal(200);
    expect((reply.body['result'] as { meta: object }).meta).to.include({ config_id, config_version: 1 });
  });

  it('leave no key behind, where a process died before it removed what a change or the end left over', async () => {
    const secrets = async () => {
      const found: string[] = [];
      for await (const { key: object } of api.objects.list('secrets/')) found.push(object);
      return found;
    };
    const before = await secrets();
    const added = async () => (await secrets()).filter((one) => !before.includes(one));
    const json = { tenant_id, url: 'https://a.example.com/', events: ['*'] };
    const hook = await api.call('post', '/v1/webhooks', { json });
    const [gone, stays] = [await published({ llm: llm() }), await published({ llm: llm() })];
    const old = await added();
    await published({ config_id: stays.config_id, llm: llm() });
    await api.call('delete', `/v1/configs/${gone.config_id}`);
    await api.call('delete', `/v1/webhooks/${String(hook.body['webhook_id'])}`);
    const live = await added();
    expect([old.length, live.length]).to.deep.equal([3, 1]);
    // As a process leaves them that dies between the event and the removal.
    for (const one of old) await api.objects.put(one, Buffer.from('sealed'));
    for (let days = 0; days < 3; days += 1) {
      // An object is as old as the machine's clock says: what was set aside just now is a day old then.
      api.wait(25 * 3_600_000);
      await objectSweeper(api.swept).sweep();
    }
    expect(await added()).to.deep.equal(live);
    const reply = await extract(api, key, { config_id: stays.config_id });
    expect(reply.status, reply.text).to.equal(200);
  });
});

describe('saved configs without a secret to encrypt with', () => {
  it('carry no own keys: 503, and nothing is published', async () => {
    const api = await testApi();
    const llm = { provider_model: 'openai/gpt', api_key: OWN_KEY };
    const reply = await publish(api, { tenant_id: 'cfg-plain', llm });
    expect([reply.status, reply.code]).to.deep.equal([503, 'field_encryption_not_configured']);
    expect((await publish(api, { tenant_id: 'cfg-plain', schema: SCHEMA })).status).to.equal(200);
  });
});

describe('processes that share an event log, without a secret to encrypt with', () => {
  let double: EsdbDouble;
  let api: TestApi;
  let key: string;
  const tenant_id = 'shared-plain';
  before(async () => {
    double = await startEsdbDouble();
    api = await startApi({ EVENTSTORE_URL: double.connectionString });
    key = await api.newKey(tenant_id);
  });
  after(async () => {
    await api.stop();
    await double.close();
  });

  const fields = { schema: INVOICE_SCHEMA, llm_provider_model: 'openai/gpt', llm_api_key: OWN_KEY };
  const later = { headers: { Prefer: 'respond-async' } };
  const ASKED = {
    webhooks: () =>
      api.call('post', '/v1/webhooks', { json: { tenant_id, url: 'https://a.example.com/', events: ['*'] } }),
    'own keys of work for later': () =>
      api.call('post', '/v1/extract', { key, form: formOf(fields, INVOICE), ...later }),
  };
  for (const [what, ask] of Object.entries(ASKED))
    it(`refuses ${what}: no process opens what another one sealed`, async () => {
      const { status, code, text } = await ask();
      expect([status, code], text).to.deep.equal([503, 'field_encryption_not_configured']);
      expect(text).to.contain('FIELD_ENCRYPTION_KEY');
    });

  it('takes work for later that has nothing to seal', async () => {
    const { status, text } = await api.call('post', '/v1/extract', {
      key,
      form: formOf({ schema: INVOICE_SCHEMA }, INVOICE),
      ...later,
    });
    expect(status, text).to.equal(202);
  });
});
