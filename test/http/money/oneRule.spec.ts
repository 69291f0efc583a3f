import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ADMIN_KEY } from '../../support/serviceProcess.ts';
import { formOf, INVOICE, INVOICE_SCHEMA, type Reply } from '../support/client.ts';
import { testApi, type TestApi } from '../support/testApi.ts';
import { presigned, put } from '../documents/uploads.suite.ts';

const NO_ZONE = 'The time has no zone: add Z for UTC, or an offset such as +02:00.';

interface Issue {
  readonly loc: readonly unknown[];
  readonly msg: string;
}

const firstIssue = ({ body, text }: Reply): Issue => {
  const { errors } = body;
  if (!Array.isArray(errors)) throw new Error(`no issues: ${text}`);
  return errors[0] as Issue;
};

describe('one rule for one thing', () => {
  let api: TestApi;
  let key: string;
  const tenant_id = `rule-${randomUUID()}`;
  before(async () => {
    api = await testApi();
    key = await api.newKey(tenant_id);
    await api.sell(tenant_id, 100_000);
  });

  const send = (over: object, as = key) =>
    api.call('post', '/v1/canonical', {
      key: as,
      json: { schema_version: '1.0', scope: { tenant_id }, ...over },
    });
  const upload = async () => {
    const json = { tenant_id, file_name: 'invoice.txt', content_type: 'text/plain' };
    const target = presigned(await api.call('post', '/v1/uploads/presign', { key, json }));
    expect((await put(target.url, await INVOICE.text(), target.headers)).status).to.equal(200);
    return { file_uri: target.file_uri };
  };

  it('lets a service key do for another tenant by the envelope what it may by the plain endpoint', async () => {
    const service = await api.newKey(`rule-service-${randomUUID()}`, 'service');
    const job = { schema: JSON.parse(INVOICE_SCHEMA) as object, examples: [] };
    const plain = await api.call('post', '/v1/training/jobs', { key: service, json: { tenant_id, ...job } });
    expect([plain.status, plain.code]).to.deep.equal([403, 'tenant_mismatch']);
    for (const operation of [
      'training.create',
      'training.get',
      'training.cancel',
      'deployment.activate',
      'deployment.resolve',
      'artifact.get',
      'artifact.list',
    ]) {
      const reply = await send({ operation, payload: operation === 'training.create' ? job : {} }, service);
      expect([reply.status, reply.code], operation).to.deep.equal([403, 'tenant_mismatch']);
    }
    const converted = await send({ operation: 'inference.to_markdown', resource: await upload() }, service);
    expect(converted.status, converted.text).to.equal(200);
  });

  it('takes the payload of the JSON endpoint as well as the fields of the form', async () => {
    const resource = await upload();
    const operation = 'inference.to_markdown';
    for (const payload of [{ mode: 'fast' }, { conversion_mode: 'fast' }, { mode: 'fast', ocr: null }]) {
      const { body, text } = await send({ operation, resource, payload });
      expect(body, text).to.have.nested.property('result.meta.mode', 'fast');
    }
    const both = await send({ operation, resource, payload: { mode: 'fast', conversion_mode: 'default' } });
    expect(firstIssue(both).loc).to.deep.equal(['body', 'payload', 'mode']);
    for (const [name, payload] of [
      ['ocr', { ocr: { provider_model: 'nobody/knows', api_key: 'k' }, ocr_api_key: 'k' }],
      ['llm', { llm: { provider_model: 'nobody/knows', api_key: 'k' }, llm_api_key: 'k' }],
    ] as const) {
      const schema = JSON.parse(INVOICE_SCHEMA) as object;
      const reply = await send({ operation: 'inference.extract', resource, payload: { schema, ...payload } });
      expect(firstIssue(reply).loc).to.deep.equal(['body', 'payload', name]);
    }
    const llm = { provider_model: 'nobody/knows', api_key: 'k' };
    const payload = { schema: JSON.parse(INVOICE_SCHEMA) as object, mode: 'robust', llm };
    const unknown = await send({ operation: 'inference.extract', resource, payload });
    expect(unknown.code, unknown.text).to.equal('unknown_model_provider');
  });

  it('says of a document that came with an extraction why it cannot be used again', async () => {
    const form = formOf({ schema: INVOICE_SCHEMA }, INVOICE);
    const extracted = await api.call('post', '/v1/extract', { key, form });
    const { document_id } = extracted.body['meta'] as { readonly document_id: string };
    const ask = (as: string, scope: object) =>
      send({ operation: 'inference.to_markdown', resource: { document_id }, ...scope }, as);
    const reply = await ask(key, {});
    expect([reply.status, reply.code]).to.deep.equal([404, 'document_not_found']);
    expect(reply.body['detail']).to.include('its file is not kept');
    const other = `rule-other-${randomUUID()}`;
    const theirs = await ask(await api.newKey(other), { scope: { tenant_id: other } });
    expect(theirs.body['detail']).to.include('There is no such document');
  });

  it('never revokes the key that the environment set: 409', async () => {
    for (const name of [ADMIN_KEY, 'key_bootstrap']) {
      const reply = await api.call('delete', `/v1/api-keys/${encodeURIComponent(name)}`);
      expect([reply.status, reply.code], reply.text).to.deep.equal([409, 'last_admin_key']);
      expect(reply.body['detail']).to.include('ADMIN_API_KEY');
    }
  });

  it('says of a time without a zone that it has none', async () => {
    const time = '2026-01-31T08:00:00';
    const query = await api.call('get', `/v1/billing/usage/${tenant_id}?start=${time}`, { key });
    expect(firstIssue(query)).to.include({ msg: NO_ZONE });
    const json = { tenant_id, expires_at: time };
    const body = await api.call('post', '/v1/api-keys', { json });
    expect(firstIssue(body)).to.include({ msg: NO_ZONE });
    const word = await api.call('get', `/v1/billing/usage/${tenant_id}?start=yesterday`, { key });
    expect(firstIssue(word).msg).to.match(/^Expected a day, like 2026-01-31, or an RFC 3339 time/);
  });
});

describe('a repeat of a sale', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });
  const sell = (json: object) => api.call('post', '/v1/billing/credits', { json });
  const sale = () => ({
    tenant_id: `repeat-${randomUUID()}`,
    provider: 'stripe',
    provider_txn_id: randomUUID(),
    credits: 1000,
    gross_amount_minor: 100,
    note: 'first',
    invoice_ref: 'INV-1',
    occurred_at: new Date(Date.now() - 60_000).toISOString(),
  });

  it('is one with another note, another invoice and without its time', async () => {
    const json = sale();
    const first = await sell(json);
    expect(first.body, first.text).to.include({ credited: true });
    const { occurred_at: _, ...untimed } = json;
    for (const again of [
      { ...json, note: 'told again' },
      { ...json, invoice_ref: null },
      { ...untimed, note: null },
      { ...json, credits: null },
    ]) {
      const reply = await sell(again);
      expect(reply.body, reply.text).to.deep.equal({ ...first.body, credited: false });
    }
  });

  it('is none with other credits, money, currency or tenant', async () => {
    const json = { ...sale(), provider_fee_minor: 2 };
    expect((await sell(json)).status).to.equal(200);
    for (const other of [
      { ...json, credits: 1001 },
      { ...json, credits: 1100, gross_amount_minor: 110 },
      { ...json, provider_fee_minor: 1 },
      { ...json, gross_amount_minor: 119, vat_amount_minor: 19 },
      { ...json, tenant_id: `${json.tenant_id}-b` },
    ]) {
      const reply = await sell(other);
      expect(reply.status, reply.text).to.equal(422);
      expect(reply.code, reply.text).to.be.oneOf(['idempotency_key_reused', 'price_mismatch']);
    }
  });

  it('adds what became known after the payment, and refuses what contradicts it by its members', async () => {
    const sold = {
      tenant_id: 'sale-10',
      provider_txn_id: randomUUID(),
      credits: 10_000,
      gross_amount_minor: 1000,
    };
    const first = await sell(sold);
    expect(first.body).to.include({ credited: true, provider_fee_minor: 0 });
    expect(first.body['details_added']).to.deep.equal([]);
    const facts = { provider_fee_minor: 59, payout_id: 'po_1' };
    const fee = await sell({ ...sold, ...facts });
    expect(fee.body).to.include({ credited: false, grant_id: first.body['grant_id'], ...facts });
    expect(fee.body['details_added']).to.have.members(Object.keys(facts));
    const invoice = { invoice_ref: 'INV-1' };
    expect((await sell({ ...sold, ...invoice })).body['details_added']).to.deep.equal(['invoice_ref']);
    const again = await sell({ ...sold, ...facts, ...invoice });
    expect(again.body).to.deep.equal({ ...fee.body, details_added: [] });
    expect((await sell(sold)).body).to.deep.equal(again.body);
    const [row] = (await api.call('get', '/v1/billing/grants/sale-10')).body['items'] as object[];
    expect(row).to.include({ ...facts, ...invoice, credits: 10_000 });
    for (const over of [{ provider_fee_minor: 60 }, { invoice_ref: 'INV-2' }, { payout_id: 'po_2' }]) {
      const reply = await sell({ ...sold, ...facts, ...over });
      expect(reply.body).to.deep.include({ code: 'idempotency_key_reused', members: Object.keys(over) });
    }
    const other = await sell({ ...sold, gross_amount_minor: 900 });
    expect(other.body['members']).to.deep.equal(['gross_amount_minor']);
    const elsewhere = await sell({ ...sold, tenant_id: 'sale-11', credits: 9_000 });
    expect(elsewhere.body['members']).to.deep.equal(['tenant_id']);
  });

  it('is one sale when both are sent at once', async () => {
    const json = sale();
    const both = await Promise.all([sell(json), sell({ ...json, note: 'at once' })]);
    expect(both.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(both.filter(({ body }) => body['credited'] === true)).to.have.length(1);
    expect(new Set(both.map(({ body }) => body['grant_id'])).size).to.equal(1);
  });
});
