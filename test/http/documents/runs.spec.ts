import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { read, utils } from '@e965/xlsx';
import { until } from '../../../engine/test/support/until.ts';
import { XLSX_TYPE } from '../../../src/exports/xlsx.ts';
import { formOf, INVOICE, INVOICE_SCHEMA } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { presigned, put } from './uploads.suite.ts';

const DAY_MS = 24 * 3_600_000;
const SECRET = 'sk-not-to-be-kept';
type Row = Readonly<Record<string, unknown>>;

describe('runs', () => {
  let api: TestApi;
  before(async () => {
    // Its clock is moved on: it is no one else's.
    api = await startApi({ RESULT_RETENTION_DAYS: '3' });
  });
  after(() => api.stop());

  const newTenant = async () => {
    const tenant_id = `runs-${randomUUID()}`;
    const key = await api.newKey(tenant_id);
    await api.sell(tenant_id, 10_000);
    const get = (path: string, as = key) => api.call('get', path, { key: as });
    const extract = async (fields: Record<string, string> = {}, headers: Record<string, string> = {}) => {
      const form = formOf({ schema: INVOICE_SCHEMA, ...fields }, INVOICE);
      const reply = await api.call('post', '/v1/extract', { key, form, headers });
      expect(reply.status, reply.text).to.be.oneOf([200, 202]);
      return reply;
    };
    const listed = async (query = '') => {
      const reply = await get(`/v1/runs?tenant_id=${tenant_id}${query}`);
      expect(reply.status, reply.text).to.equal(200);
      return { total: reply.body['total'], items: reply.body['items'] as readonly Row[] };
    };
    const run = (id: unknown, as = key) => get(`/v1/runs/${String(id)}`, as);
    return { tenant_id, key, get, extract, listed, run };
  };
  const idOf = ({ body }: { readonly body: Row }) => (body['meta'] as Row)['extraction_id'];

  it('have the result of a call whose caller waited, as it was answered, with its request', async () => {
    const tenant = await newTenant();
    for (const headers of [{}, { 'Idempotency-Key': 'k' }]) {
      const answer = await tenant.extract({ mode: 'fast', tags: '{"team":"claims"}' }, headers);
      const { status, body, text } = await tenant.run(idOf(answer));
      expect(status, text).to.equal(200);
      expect(body['result']).to.deep.equal(answer.body);
      expect(body).to.deep.include({
        kind: 'extract',
        status: 'succeeded',
        operation_id: null,
        file_name: 'invoice.txt',
        tags: { team: 'claims' },
        error: null,
        cost: answer.body['cost'],
      });
      expect(body['request']).to.deep.include({
        operation: 'extract',
        mode: 'fast',
        schema: JSON.parse(INVOICE_SCHEMA) as unknown,
        config_id: null,
      });
      const until = Date.parse(String(body['finished_at'])) + 3 * DAY_MS;
      expect(Date.parse(String(body['kept_until']))).to.equal(until);
    }
    expect((await tenant.listed()).total).to.equal(2);
  });

  it('are CSV or a workbook by Accept, as operations are', async () => {
    const tenant = await newTenant();
    const id = String(idOf(await tenant.extract()));
    const csv = await api.call('get', `/v1/runs/${id}`, {
      key: tenant.key,
      headers: { accept: 'text/csv' },
    });
    expect(csv.status, csv.text).to.equal(200);
    const [head = '', line = '', ...rest] = csv.text.trim().split('\r\n');
    expect(head).to.match(/^document_id,file_name,operation_id,status,error,pages,credits_used,/);
    expect(line).to.include('invoice.txt').and.to.include('succeeded');
    expect(rest).to.deep.equal([]);
    const path = `${api.url}/v1/runs/${id}`;
    const reply = await fetch(path, { headers: { 'x-api-key': tenant.key, accept: XLSX_TYPE } });
    expect(reply.headers.get('content-type')).to.equal(XLSX_TYPE);
    const workbook = read(new Uint8Array(await reply.arrayBuffer()));
    expect(workbook.SheetNames[0]).to.equal('Results');
    const [row] = utils.sheet_to_json<Row>(workbook.Sheets['Results'] ?? {});
    expect(row).to.include({ file_name: 'invoice.txt', status: 'succeeded' });
    const other = await newTenant();
    const foreign = await api.call('get', `/v1/runs/${id}`, {
      key: other.key,
      headers: { accept: 'text/csv' },
    });
    expect([foreign.status, foreign.code]).to.deep.equal([404, 'run_not_found']);
  });

  it('have the markdown of a conversion, whose request says what it included', async () => {
    const tenant = await newTenant();
    const form = formOf({ include: 'blocks', conversion_mode: 'fast' }, INVOICE);
    const answer = await api.call('post', '/v1/to-markdown', { key: tenant.key, form });
    const { body } = await tenant.run((answer.body['meta'] as Row)['conversion_id']);
    expect(body['result']).to.deep.equal(answer.body);
    expect(body['request']).to.deep.equal({
      operation: 'to_markdown',
      mode: 'fast',
      include: ['blocks'],
      table_format: 'markdown',
    });
  });

  it('follow work that nobody waits for: queued, then done with its result; cancelled', async () => {
    const tenant = await newTenant();
    const later = { prefer: 'respond-async' };
    const { body: operation } = await tenant.extract({}, later);
    const operation_id = String(operation['operation_id']);
    const [row] = (await tenant.listed()).items;
    expect(row).to.include({ status: 'queued', operation_id, finished_at: null, kept_until: null });
    await until(async () => {
      await api.operations.drain();
      return (await tenant.listed('&status=succeeded')).total === 1;
    });
    const { body: done } = await tenant.get(`/v1/operations/${operation_id}`);
    const { body } = await tenant.run(row?.['run_id']);
    expect((await tenant.run(operation_id)).body).to.deep.equal(body);
    expect(body['result']).to.deep.equal(done['result']);
    expect(body).to.deep.include({ status: 'succeeded', cost: done['cost'] });
    expect(body['request']).to.include({ operation: 'extract', mode: 'standard' });

    const { body: given } = await tenant.extract({}, later);
    await api.call('post', `/v1/operations/${String(given['operation_id'])}/cancel`, { key: tenant.key });
    const [cancelled] = (await tenant.listed('&status=cancelled')).items;
    expect(cancelled).to.include({ operation_id: given['operation_id'], problem_code: 'request_aborted' });
  });

  it('say why work failed, and have no result then', async () => {
    const tenant = await newTenant();
    const schema = '{"type":"object","properties":{"iban":{"type":"string"}},"required":["iban"]}';
    const form = formOf({ schema }, INVOICE);
    const refused = await api.call('post', '/v1/extract', { key: tenant.key, form });
    expect(refused.code).to.equal('output_schema_mismatch');
    const [row] = (await tenant.listed('&status=failed')).items;
    expect(row).to.include({ problem_code: refused.code, credits_used: null, kept_until: null });
    const { body } = await tenant.run(row?.['run_id']);
    expect(body).to.include({ result: null, request: null, cost: null });
    expect(body['error']).to.include({ code: refused.code, status: 422 });
  });

  it('are found by document, config, key, tag, time and part of a name', async () => {
    const tenant = await newTenant();
    const json = {
      tenant_id: tenant.tenant_id,
      name: 'Invoices',
      schema: JSON.parse(INVOICE_SCHEMA) as unknown,
    };
    const config_id = String((await api.call('post', '/v1/configs', { json })).body['config_id']);
    const first = await tenant.extract({ tags: '{"team":"claims"}' });
    const second = await api.call('post', '/v1/extract', {
      key: tenant.key,
      form: formOf({ config_id }, INVOICE, 'Straße 7.txt'),
    });
    const [newest] = (await tenant.listed()).items;
    const found = async (query: string) => (await tenant.listed(query)).items.map(({ run_id }) => run_id);
    expect(newest).to.include({ config_id, config_version: 1, file_name: 'Straße 7.txt' });
    expect(await found(`&config_id=${config_id}`)).to.deep.equal([idOf(second)]);
    expect(await found(`&document_id=${String(newest?.['document_id'])}`)).to.deep.equal([idOf(second)]);
    expect(await found('&tag=team:claims')).to.deep.equal([idOf(first)]);
    expect(await found(`&q=${encodeURIComponent('STRASSE 7')}`)).to.deep.equal([]);
    expect(await found(`&q=${encodeURIComponent('straße')}`)).to.deep.equal([idOf(second)]);
    expect(await found('&q=claims')).to.deep.equal([idOf(first)]);
    expect(await found(`&key_id=${String(newest?.['key_id'])}`)).to.have.length(2);
    expect(await found('&key_id=key_other')).to.deep.equal([]);
    expect(await found(`&from=${String(newest?.['requested_at'])}`)).to.deep.equal([idOf(second)]);
    expect(await found('&to=2020-01-01')).to.deep.equal([]);
    expect(await found('&kind=training')).to.deep.equal([]);
    expect(await found('&sort=requested_at&limit=1')).to.deep.equal([idOf(first)]);
    expect(await found('&filter[config_id]=' + config_id)).to.deep.equal([idOf(second)]);
    for (const wrong of ['&kind=nothing', '&from=2026-02-01&to=2026-01-01', '&sort=tags', '&nothing=1'])
      expect((await tenant.get(`/v1/runs?tenant_id=${tenant.tenant_id}${wrong}`)).status, wrong).to.equal(
        422,
      );
  });

  it('are saved as CSV with every row', async () => {
    const tenant = await newTenant();
    await tenant.extract();
    await tenant.extract();
    const reply = await api.call('get', `/v1/runs?tenant_id=${tenant.tenant_id}&limit=1`, {
      key: tenant.key,
      headers: { accept: 'text/csv' },
    });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.text.trim().split('\r\n')).to.have.length(3);
  });

  it('keep no key of a model and no password', async () => {
    const tenant = await newTenant();
    await tenant.extract({ ocr_api_key: SECRET, password: SECRET, ocr_max_tokens: '7' });
    for await (const { key } of api.objects.list('results/'))
      expect(Buffer.from((await api.objects.get(key))!).includes(SECRET), key).to.equal(false);
  });

  it("are the tenant's own: to others there are none", async () => {
    const [one, other] = [await newTenant(), await newTenant()];
    const id = idOf(await one.extract());
    expect((await other.run(id)).code).to.equal('run_not_found');
    expect((await other.get(`/v1/runs?tenant_id=${one.tenant_id}`)).code).to.equal('tenant_mismatch');
    for (const wrong of ['ext_nothing', 'op_x', '..%2f..%2fx', 'ext_%00', `ext_${'x'.repeat(100)}`])
      expect((await one.run(wrong)).status, wrong).to.be.oneOf([404, 422]);
    const service = await api.newKey(`service-${randomUUID()}`, 'service');
    expect((await one.run(id, service)).status).to.equal(200);
    expect((await api.call('get', '/v1/runs?tenant_id=nobody-at-all')).code).to.equal('tenant_not_found');
  });

  it('of service keys are kept too, and cost nothing', async () => {
    const tenant = await newTenant();
    const service = await api.newKey(`service-${randomUUID()}`, 'service');
    const form = formOf({ tenant_id: tenant.tenant_id, schema: INVOICE_SCHEMA }, INVOICE);
    const answer = await api.call('post', '/v1/extract', { key: service, form });
    const { body } = await tenant.run(idOf(answer));
    expect(body['result']).to.deep.equal(answer.body);
    expect(body).to.deep.include({ credits_used: null, cost: answer.body['cost'] });

    const headers = { prefer: 'respond-async' };
    expect((await api.call('post', '/v1/extract', { key: service, form, headers })).status).to.equal(202);
    await api.operations.drain();
    const { items } = await tenant.listed();
    expect(items).to.have.length(2);
    for (const { kept_until, finished_at, credits_used } of items)
      expect([Date.parse(String(kept_until)), credits_used]).to.deep.equal([
        Date.parse(String(finished_at)) + 3 * DAY_MS,
        null,
      ]);
  });

  it('lose their result and request with their document, and stay in the list without its name', async () => {
    const tenant = await newTenant();
    const id = idOf(await tenant.extract());
    const document_id = String((await tenant.run(id)).body['document_id']);
    const erased = await api.call('delete', `/v1/documents/${document_id}`, { key: tenant.key });
    expect(erased.status, erased.text).to.equal(204);
    const { body } = await tenant.run(id);
    expect(body).to.include({ result: null, request: null, kept_until: null, file_name: null });
    expect(body['status']).to.equal('succeeded');
    for await (const { key } of api.objects.list(`results/${String(id)}/`)) expect.fail(key);
  });

  it('answer a call all the same when its result cannot be kept, and say so', async () => {
    const tenant = await newTenant();
    const { beforePut } = api.faults;
    api.faults.beforePut = (key) =>
      key.startsWith('results/') ? Promise.reject(new Error('there is no room')) : Promise.resolve();
    const service = await api.newKey(`service-${randomUUID()}`, 'service');
    const form = formOf({ tenant_id: tenant.tenant_id, schema: INVOICE_SCHEMA }, INVOICE);
    const unbilled = () => api.call('post', '/v1/extract', { key: service, form });
    const both = async () => [await tenant.extract(), await unbilled()];
    const answers = await both().finally(() => {
      api.faults.beforePut = beforePut;
    });
    for (const answer of answers) {
      expect(answer.status, answer.text).to.equal(200);
      const { body } = await tenant.run(idOf(answer));
      expect(body).to.include({ status: 'succeeded', result: null, kept_until: null });
      expect(body['cost']).to.deep.equal(answer.body['cost']);
    }
    const rows = (await tenant.listed()).items;
    expect(rows.map(({ kept_until }) => kept_until)).to.deep.equal([null, null]);
    const metrics = await api.call('get', '/metrics', { key: null });
    expect(metrics.text).to.match(/quire_results_unkept_total 2\n/);
  });

  it('keep an upload beside them: its file is read again as it was sent', async () => {
    const tenant = await newTenant();
    const { key, tenant_id } = tenant;
    const json = { tenant_id, file_name: 'a.txt', content_type: 'text/plain' };
    const made = presigned(await api.call('post', '/v1/uploads/presign', { key, json }));
    const path = `/v1/documents/${made.document_id}/file`;
    expect((await tenant.get(path)).code).to.equal('missing_file');
    await put(made.url, 'Total: 12.50 EUR', made.headers);
    const file = await tenant.get(path);
    expect(file.status, file.text).to.equal(200);
    expect(file.text).to.equal('Total: 12.50 EUR');
    expect(file.headers.get('content-disposition')).to.equal('attachment');
    expect((await (await newTenant()).get(path)).code).to.equal('document_not_found');
    await api.call('delete', `/v1/uploads/${made.document_id}`, { key });
    expect((await tenant.get(path)).code).to.equal('document_not_found');
    const sent = String((await tenant.run(idOf(await tenant.extract()))).body['document_id']);
    expect((await tenant.get(`/v1/documents/${sent}/file`)).code).to.equal('document_not_found');
  });

  it('are answered until the days of the tenant are over, and their bill stays', async () => {
    const tenant = await newTenant();
    const id = idOf(await tenant.extract());
    api.wait(3 * DAY_MS);
    const { body } = await tenant.run(id);
    expect(body).to.include({ result: null, request: null, kept_until: null, status: 'succeeded' });
    expect(body['cost']).to.include({ pages: 1 });
  });
});
