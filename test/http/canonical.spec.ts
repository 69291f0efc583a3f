import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { formOf, INVOICE, INVOICE_SCHEMA, issuesIn, type Reply } from './support/client.ts';
import { testApi, type TestApi } from './support/testApi.ts';
import { presigned, put } from './documents/uploads.suite.ts';

const SCHEMA = JSON.parse(INVOICE_SCHEMA) as object;
const INVOICE_TEXT = await INVOICE.text();

const resultOf = ({ body }: Reply) => body['result'] as Readonly<Record<string, unknown>>;

describe('the canonical envelope and uploaded documents', () => {
  let api: TestApi;
  let key: string;
  const tenant_id = `canon-${randomUUID()}`;
  before(async () => {
    api = await testApi();
    key = await api.newKey(tenant_id);
    await api.sell(tenant_id, 100_000);
  });

  const upload = async (body = INVOICE_TEXT) => {
    const json = { tenant_id, file_name: 'invoice.txt', content_type: 'text/plain' };
    const target = presigned(await api.call('post', '/v1/uploads/presign', { key, json }));
    expect((await put(target.url, body, target.headers)).status).to.equal(200);
    return target;
  };
  const envelope = (over: object = {}) => ({
    schema_version: '1.0',
    operation: 'inference.extract',
    scope: { tenant_id },
    payload: { schema: SCHEMA },
    ...over,
  });
  const send = (over: object = {}, options: object = {}) =>
    api.call('post', '/v1/canonical', { key, json: envelope(over), ...options });
  const ocr = (over: object, options: object = {}) =>
    api.call('post', '/v1/ocr/to-markdown', { key, json: { tenant_id, ...over }, ...options });
  const balance = async () =>
    (await api.call('get', `/v1/billing/balance/${tenant_id}`)).body['balance_credits'] as number;
  /** Free pages are used up first: from then on every page costs. */
  const useFreePages = async () => {
    const pages = Array.from({ length: 50 }, (_, page) => `Page ${page}\n${'word '.repeat(590)}`).join('\n');
    const form = formOf({ conversion_mode: 'fast' }, new Blob([pages], { type: 'text/plain' }));
    const reply = await api.call('post', '/v1/to-markdown', { key, form });
    expect(reply.status, reply.text).to.equal(200);
  };

  it('extracts what was uploaded, as the plain endpoint does, for the same bill', async () => {
    await useFreePages();
    const { file_uri, document_id } = await upload();
    const before = await balance();
    const form = formOf({ schema: INVOICE_SCHEMA }, INVOICE);
    const plain = await api.call('post', '/v1/extract', { key, form });
    const between = await balance();
    const reply = await send({ resource: { file_uri } });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.body).to.include({ schema_version: '1.0', operation: 'inference.extract' });
    expect(reply.body['request_id']).to.equal(reply.headers.get('x-request-id'));
    const result = resultOf(reply);
    expect(JSON.stringify(result['result'])).to.equal(JSON.stringify(plain.body['result']));
    expect((result['meta'] as { document_id: string }).document_id).to.equal(document_id);
    expect(before - between).to.equal(40);
    expect(between - (await balance())).to.equal(40);
  });

  it('gives equal bytes and equal bills for a conversion by form, envelope and file_uri', async () => {
    const { file_uri, document_id } = await upload();
    const form = formOf({}, INVOICE);
    const plain = await api.call('post', '/v1/to-markdown', { key, form });
    const byUri = await ocr({ file_uri });
    const byEnvelope = await send({
      operation: 'inference.to_markdown',
      resource: { document_id },
      payload: {},
    });
    const answers = [plain.body, byUri.body, resultOf(byEnvelope)];
    const bills = answers.map((body) => (body['meta'] as { cost: object }).cost);
    for (const member of ['markdown', 'plain_text'])
      expect(new Set(answers.map((body) => body[member])).size, member).to.equal(1);
    expect(bills.map((cost) => (cost as { credits_used: number }).credits_used)).to.deep.equal([40, 40, 40]);
  });

  it('registers an uploaded document once, under the ID that presign gave', async () => {
    const { file_uri, document_id } = await upload();
    await send({ resource: { file_uri } });
    await send({ resource: { file_uri } });
    await ocr({ file_uri });
    const { body } = await api.call('get', `/v1/documents?tenant_id=${tenant_id}&source=canonical`, { key });
    const items = body['items'] as readonly { document_id: string; source: string }[];
    expect(items.filter((item) => item.document_id === document_id)).to.have.length(1);
  });

  it('replays with an Idempotency-Key, and refuses another body', async () => {
    const { file_uri } = await upload();
    const headers = { 'idempotency-key': randomUUID() };
    for (const call of [
      (over: object) => send({ resource: { file_uri }, ...over }, { headers }),
      (over: object) => ocr({ file_uri, ...over }, { headers }),
    ]) {
      const first = await call({});
      expect(first.status, first.text).to.equal(200);
      const again = await call({});
      expect(again.headers.get('idempotent-replayed')).to.equal('true');
      expect(again.text).to.equal(first.text);
    }
    expect((await ocr({ file_uri, mode: 'fast' }, { headers })).code).to.equal('idempotency_key_reused');
  });

  it('tells what is wrong with an envelope', async () => {
    const { file_uri } = await upload();
    const resource = { file_uri };
    expect((await send({ schema_version: '2.0', resource })).code).to.equal('unsupported_schema_version');
    for (const operation of ['inference.unknown', 'toString', '__proto__'])
      expect((await send({ operation, resource })).code).to.equal('unknown_operation');
    expect(issuesIn(await send())).to.deep.equal(['body.resource.file_uri missing']);
    expect(issuesIn(await send({ resource, payload: { schema: SCHEMA, mod: 'fast' } }))).to.deep.equal([
      'body.payload.mod extra_forbidden',
    ]);
    expect(issuesIn(await send({ resource, scope: {} }))).to.deep.equal(['body.scope.tenant_id missing']);
    expect((await send({ resource, payload: {} })).code).to.equal('missing_schema');
    expect((await send({ resource, payload: { schema: 'x' } })).code).to.equal('invalid_schema');
  });

  it('names members of own models where they stand', async () => {
    const { file_uri } = await upload();
    const payload = { schema: SCHEMA, llm_api_key: 'sk-1' };
    expect(issuesIn(await send({ resource: { file_uri }, payload }))).to.deep.equal([
      'body.payload.llm_api_key value_error',
    ]);
    const wrong = { ...payload, llm_provider_model: 'openai/gpt', llm_temperature: 'hot' };
    expect(issuesIn(await send({ resource: { file_uri }, payload: wrong }))).to.deep.equal([
      'body.payload.llm_temperature invalid_type',
    ]);
    const unused = await ocr({ file_uri, ocr: { api_key: 'sk-1', temperature: 9 } });
    const { warnings } = unused.body['meta'] as { readonly warnings: readonly { readonly code: string }[] };
    expect(warnings.map(({ code }) => code)).to.deep.equal(['own_key_not_used']);
    expect((await ocr({ file_uri, ocr: { api_key: '', provider_model: 'openai/x' } })).status).to.equal(200);
  });

  it('knows only documents of the tenant that were uploaded', async () => {
    const other = await api.newKey(`canon-other-${randomUUID()}`);
    const { file_uri } = await upload();
    const json = envelope({ resource: { file_uri } });
    expect((await api.call('post', '/v1/canonical', { key: other, json })).code).to.equal('tenant_mismatch');
    const theirs = { ...json, scope: { tenant_id: `canon-none-${randomUUID()}` } };
    const service = await api.newKey('canon-service', 'service');
    expect((await api.call('post', '/v1/canonical', { key: service, json: theirs })).code).to.equal(
      'document_not_found',
    );
    expect((await ocr({ file_uri: 'quire://uploads/doc_nothing' })).code).to.equal('document_not_found');
    const waiting = presigned(
      await api.call('post', '/v1/uploads/presign', { key, json: { tenant_id, file_name: 'a.txt' } }),
    );
    expect((await ocr({ file_uri: waiting.file_uri })).code).to.equal('missing_file');
  });

  it('is not billed for a service key', async () => {
    const { file_uri } = await upload();
    const service = await api.newKey('canon-service-2', 'service');
    const before = await balance();
    const reply = await send({ resource: { file_uri } }, { key: service });
    expect(resultOf(reply)['cost']).to.deep.include({ credits_used: 0, balance_remaining: null });
    expect(await balance()).to.equal(before);
  });

  it('counts extractions against the heavy bucket, everything else against the general one', async () => {
    const limited = `limited-${randomUUID()}`;
    const own = await api.newKey(limited);
    const scope = { tenant_id: limited };
    const bucketOf = async (operation: string) => {
      const json = envelope({ operation, scope });
      const { headers } = await api.call('post', '/v1/canonical', { key: own, json });
      return Number(headers.get('ratelimit-limit'));
    };
    expect(await bucketOf('inference.extract')).to.equal(20);
    expect(await bucketOf('inference.to_markdown')).to.equal(200);
    expect(await bucketOf('inference.unknown')).to.equal(200);
  });
});
