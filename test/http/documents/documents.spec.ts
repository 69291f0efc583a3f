import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { expect } from 'chai';
import { encryptedPdf } from '../../../engine/test/support/pdfs.ts';
import { formOf, INVOICE, INVOICE_SCHEMA, issuesIn, type CallOptions } from '../support/client.ts';
import { testApi, type TestApi } from '../support/testApi.ts';
import { until } from '../../../engine/test/support/until.ts';

const text = (content: string) => new Blob([content], { type: 'text/plain' });

describe('documents over HTTP', () => {
  let api: TestApi;
  let key: string;
  before(async () => {
    api = await testApi();
    key = await api.newKey('docs-1');
  });

  const extract = (
    fields: Record<string, string>,
    file: Blob | undefined = INVOICE,
    options: CallOptions = {},
  ) =>
    api.call('post', '/v1/extract', {
      key,
      form: formOf({ schema: INVOICE_SCHEMA, ...fields }, file),
      ...options,
    });

  /** Nothing is left behind by a request, however it ended. */
  afterEach(async () => {
    await untilFiles(0);
  });

  describe('POST /v1/extract', () => {
    it('gives data, where it was read, and what it cost', async () => {
      const reply = await extract({ mode: 'fast', project_id: 'p', task_id: 't' });
      expect(reply.status, reply.text).to.equal(200);
      expect(reply.body['status']).to.equal('success');
      expect(reply.body['result']).to.include({ invoice_number: 'Q-1001' });
      expect(reply.body['cost']).to.deep.equal({ credits_used: 0, pages: 1, balance_remaining: 0 });
      expect(reply.body['meta']).to.include({
        file_name: 'invoice.txt',
        mode: 'fast',
        billing_type: 'full_service',
        model: 'local/default',
        free_pages: 1,
      });
      const balance = await api.call('get', '/v1/billing/balance/docs-1');
      expect(balance.body['free_pages_remaining']).to.equal(49);
      expect(balance.body['held_credits']).to.equal(0);
    });

    it('takes the same request once, and replays it', async () => {
      const headers = { 'idempotency-key': randomUUID() };
      const first = await extract({}, INVOICE, { headers });
      const again = await extract({}, INVOICE, { headers });
      expect(again.headers.get('idempotent-replayed')).to.equal('true');
      expect(again.text).to.equal(first.text);
      const other = await extract({}, text('Invoice number: Z-9\n'), { headers });
      expect(other.code).to.equal('idempotency_key_reused');
    });

    it('knows a request again whose schema has other white space, or its members in another order', async () => {
      const headers = { 'idempotency-key': randomUUID() };
      const { properties, type } = JSON.parse(INVOICE_SCHEMA) as Record<string, unknown>;
      const first = await extract({}, INVOICE, { headers });
      const spaced = JSON.stringify({ properties, type }, null, 2);
      const again = await extract({ schema: spaced }, INVOICE, { headers });
      expect([again.status, again.text]).to.deep.equal([200, first.text]);
      expect(again.headers.get('idempotent-replayed')).to.equal('true');
      const other = JSON.stringify({ type, properties: { total: { type: 'number' } } });
      expect((await extract({ schema: other }, INVOICE, { headers })).code).to.equal(
        'idempotency_key_reused',
      );
    });

    it('takes the schema as a file, before the document or after it', async () => {
      const schema = new Blob([INVOICE_SCHEMA], { type: 'application/json' });
      for (const parts of [['file', 'schema'] as const, ['schema', 'file'] as const]) {
        const form = new FormData();
        for (const part of parts)
          if (part === 'file') form.set('file', INVOICE, 'invoice.txt');
          else form.set('schema', schema, 'invoice.schema.json');
        const reply = await api.call('post', '/v1/extract', { key, form });
        expect(reply.status, reply.text).to.equal(200);
        expect(reply.body['result']).to.include({ invoice_number: 'Q-1001' });
      }
      const twice = formOf({ schema: INVOICE_SCHEMA }, INVOICE);
      twice.append('schema', schema, 'a.json');
      expect(issuesIn(await api.call('post', '/v1/extract', { key, form: twice }))).to.deep.equal([
        'body.schema duplicate',
      ]);
      const long = formOf({}, INVOICE);
      long.append('schema', new Blob(['x'.repeat(400_000)]), 'a.json');
      expect((await api.call('post', '/v1/extract', { key, form: long })).code).to.equal('body_too_large');
    });

    it('refuses a schema beyond its limits with 422, and says where and which', async () => {
      const schema = JSON.stringify({ type: 'object', properties: { child: { $ref: '#' } } });
      const reply = await extract({ schema });
      expect([reply.status, reply.code]).to.deep.equal([422, 'invalid_schema']);
      expect(reply.body).to.include({ type: '/docs/problems/invalid_schema' });
      expect(reply.body['detail']).to.match(
        /^At #\/properties\/child.* only items of a list may be recursive/,
      );
    });

    it('pays once, also when the answer and the replay cache were lost', async () => {
      const tenant = 'docs-4';
      const options = { key: await api.newKey(tenant), headers: { 'idempotency-key': randomUUID() } };
      await api.sell(tenant, 10_000);
      const long = text('Invoice number: A-2\n'.padEnd(3000 * 51, 'Lorem ipsum dolor sit amet.\n'));
      const first = await extract({}, long, options);
      expect(first.body['cost']).to.include({ credits_used: 40, pages: 51 });
      await api.forgetReplays();
      const again = await extract({}, long, options);
      expect(again.headers.get('idempotent-replayed')).to.equal(null);
      expect(again.body).to.deep.equal(first.body);
      const balance = await api.call('get', `/v1/billing/balance/${tenant}`);
      expect(balance.body).to.include({ total_credits_used: 40, held_credits: 0, free_pages_remaining: 0 });
    });

    it('burns nothing when what it is about cannot be stored', async () => {
      const tenant = 'docs-5';
      const options = { key: await api.newKey(tenant), headers: { 'idempotency-key': randomUUID() } };
      api.faults.objectsAway = true;
      try {
        // The name of the file is kept beside the log, before the log has its event.
        expect((await extract({}, INVOICE, options)).code).to.equal('not_ready');
      } finally {
        api.faults.objectsAway = false;
      }
      const balance = await api.call('get', `/v1/billing/balance/${tenant}`);
      expect(balance.body).to.include({ free_pages_remaining: 50, held_credits: 0 });
      expect((await extract({}, INVOICE, options)).status).to.equal(200);
    });

    it('bills pages beyond the free ones, and not those of service and admin keys', async () => {
      const tenant = 'docs-2';
      const own = await api.newKey(tenant);
      await api.sell(tenant, 10_000);
      const long = text('Invoice number: A-1\n'.padEnd(3000 * 60, 'Lorem ipsum dolor sit amet.\n'));
      const quoted = await api.call(
        'get',
        `/v1/billing/quote?tenant_id=${tenant}&operation=extract&billing_type=full_service&pages=60`,
      );
      const billed = await extract({}, long, { key: own });
      expect(billed.body['cost']).to.deep.equal({ credits_used: 400, pages: 60, balance_remaining: 9600 });
      expect((billed.body['cost'] as Record<string, unknown>)['credits_used']).to.equal(
        quoted.body['credits'],
      );
      const usage = await api.call('get', `/v1/billing/usage/${tenant}`);
      expect(
        (usage.body['items'] as { credits_delta: number }[]).map((item) => item.credits_delta),
      ).to.have.members([0, -400]);
      const free = await extract({ tenant_id: tenant }, INVOICE, {
        key: await api.newKey('docs-svc', 'service'),
      });
      expect(free.body['cost']).to.deep.equal({ credits_used: 0, pages: 1, balance_remaining: null });
    });

    it('refuses work that the balance does not cover, and burns nothing', async () => {
      const tenant = 'docs-3';
      const own = await api.newKey(tenant);
      const long = text('x'.repeat(3000 * 60));
      expect((await extract({}, long, { key: own })).body).to.include({
        code: 'insufficient_credits',
        required_credits: 400,
        available_credits: 0,
      });
      const balance = await api.call('get', `/v1/billing/balance/${tenant}`);
      expect(balance.body).to.include({ free_pages_remaining: 50, held_credits: 0, total_credits_used: 0 });
    });

    const REQUIRED = JSON.stringify({
      type: 'object',
      properties: { invoice_number: { type: 'string' }, name_of_the_vessel: { type: 'string' } },
      required: ['name_of_the_vessel'],
    });

    it('refuses output that does not fit, and gives it with allow_partial', async () => {
      const refused = await extract({ schema: REQUIRED });
      expect(refused.code).to.equal('output_schema_mismatch');
      expect(refused.body['validation_errors']).to.have.lengthOf(1);
      const partial = await extract({ schema: REQUIRED, allow_partial: 'true', citations: 'false' });
      expect(partial.body['status']).to.equal('partial');
      expect(partial.body['validation_errors']).to.have.lengthOf(1);
      expect((partial.body['meta'] as Record<string, unknown>)['citations']).to.deep.equal([]);
    });

    const OWN = { llm_api_key: 'sk-1', llm_provider_model: 'openai/gpt' };
    for (const [why, fields, code] of [
      ['a schema that is not JSON', { schema: '{' }, 'invalid_schema'],
      ['a schema that is no object schema', { schema: '{"type":"array"}' }, 'invalid_schema'],
      [
        'a schema that points elsewhere',
        { schema: '{"type":"object","properties":{"a":{"$ref":"http://x/y"}}}' },
        'invalid_schema',
      ],
      ['no schema', { schema: '' }, 'missing_schema'],
      ['an artifact', { artifact_id: 'art_1' }, 'artifact_not_found'],
      ['a saved config', { config_id: 'cfg-1' }, 'config_not_found'],
      ['a key without a model, for the model is local', { llm_api_key: 'sk-1' }, 'validation_error'],
      [
        'a local model with a key',
        { llm_api_key: 'sk-1', llm_provider_model: 'local/default' },
        'validation_error',
      ],
      [
        'a provider that is not known',
        { llm_api_key: 'sk-1', llm_provider_model: 'acme/gpt' },
        'unknown_model_provider',
      ],
      ['a mode that does not exist', { mode: 'slow' }, 'validation_error'],
      ['a flag that is neither', { allow_partial: 'maybe' }, 'validation_error'],
      ['a temperature out of range', { ...OWN, llm_temperature: '2.1' }, 'validation_error'],
      ['retries out of range', { ...OWN, llm_num_retries: '11' }, 'validation_error'],
      ['pages that are none', { pages: '3-1' }, 'validation_error'],
      ['a confidence above 1', { min_confidence: '1.1' }, 'validation_error'],
      ['a confidence below 0', { min_confidence: '-0.1' }, 'validation_error'],
      ['a confidence that is no number', { min_confidence: 'high' }, 'validation_error'],
      ['models for something else', { models_for: 'some' }, 'validation_error'],
      ['a field that does not exist', { shema: '{}' }, 'validation_error'],
    ] as const)
      it(`refuses ${why}`, async () => {
        expect((await extract(fields)).code).to.equal(code);
      });

    it('ignores own-model fields without a key, empty ones, and keys of channels that do not run', async () => {
      for (const fields of [
        { llm_provider_model: 'openai/gpt' },
        { llm_api_key: '', llm_provider_model: 'openai/gpt' },
        { ocr_api_key: 'sk-1', ocr_provider_model: 'mistral/ocr', mode: 'fast' },
      ]) {
        const reply = await extract(fields);
        expect((reply.body['meta'] as Record<string, unknown>)['billing_type'], reply.text).to.equal(
          'full_service',
        );
      }
    });

    it('takes balanced as an old name of standard', async () => {
      const reply = await extract({ mode: 'balanced' });
      expect((reply.body['meta'] as Record<string, unknown>)['mode']).to.equal('standard');
    });
  });

  describe('POST /v1/to-markdown', () => {
    const convert = (fields: Record<string, string>, file: Blob, name?: string) =>
      api.call('post', '/v1/to-markdown', { key, form: formOf(fields, file, name) });

    it('gives markdown and plain text', async () => {
      const reply = await convert({ conversion_mode: 'fast' }, text('# Title\n\nA *word*.\n'), 'a.md');
      expect(reply.status, reply.text).to.equal(200);
      expect(reply.body['markdown']).to.equal('# Title\n\nA *word*.\n');
      expect(reply.body['plain_text']).to.include('A word.');
      expect(reply.body['meta']).to.include({ page_count: 1, mode: 'fast', billing_type: 'full_service' });
    });

    it('refuses a mode that does not exist', async () => {
      expect((await convert({ conversion_mode: 'slow' }, INVOICE)).code).to.equal('validation_error');
    });
  });

  describe('an upload', () => {
    const post = (raw: string, contentType: string) =>
      api.call('post', '/v1/extract', { key, raw, headers: { 'content-type': contentType } });

    it('must be a form with a file that has bytes', async () => {
      expect((await extract({}, new Blob([]))).code).to.equal('empty_file');
      expect(
        (await api.call('post', '/v1/extract', { key, form: formOf({ schema: INVOICE_SCHEMA }) })).code,
      ).to.equal('missing_file');
      expect((await post('{}', 'application/json')).code).to.equal('unsupported_media_type');
      expect((await post('x', 'multipart/form-data')).code).to.equal('unsupported_media_type');
    });

    it('must end where it says', async () => {
      const part = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nInvoice';
      expect(issuesIn(await post(part, 'multipart/form-data; boundary=b'))).to.deep.equal(['body multipart']);
      expect((await post('', 'multipart/form-data; boundary=b')).code).to.equal('validation_error');
      const header =
        '--b\r\ncontent-disposition: form-data; name="file"; filename="a\u0000.txt"\r\n\r\nx\r\n--b--';
      expect((await post(header, 'multipart/form-data; boundary=b')).code).to.equal('validation_error');
    });

    it('may not be too large, whether it says so or not', async () => {
      const large = await extract({}, text('x'.repeat(1_000_001)));
      expect(large.code).to.equal('file_too_large');
      expect(large.body['max_bytes']).to.equal(1_000_000);
      expect((await extract({}, text('x'.repeat(5_000_000)))).code).to.equal('file_too_large');
    });

    it('may have one file, named file, and each field once', async () => {
      const twice = formOf({ schema: INVOICE_SCHEMA }, INVOICE);
      twice.append('file', INVOICE, 'b.txt');
      expect((await api.call('post', '/v1/extract', { key, form: twice })).code).to.equal('validation_error');
      const misnamed = formOf({ schema: INVOICE_SCHEMA });
      misnamed.append('document', INVOICE, 'b.txt');
      expect(issuesIn(await api.call('post', '/v1/extract', { key, form: misnamed }))).to.deep.equal([
        'body.document extra_forbidden',
      ]);
      const doubled = formOf({ schema: INVOICE_SCHEMA }, INVOICE);
      doubled.append('schema', '{}');
      expect(issuesIn(await api.call('post', '/v1/extract', { key, form: doubled }))).to.deep.equal([
        'body.schema duplicate',
      ]);
    });

    it('is not what its name says, but what its bytes are', async () => {
      const pdf = encryptedPdf('secret');
      const convert = (file: Blob, name: string) =>
        api.call('post', '/v1/to-markdown', { key, form: formOf({}, file, name) });
      expect((await convert(new Blob([new Uint8Array(pdf)]), 'a.txt')).code).to.equal('unreadable_file');
      const program = new Blob([
        new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, ...new Uint8Array(2048)]),
      ]);
      expect((await convert(program, 'a.pdf')).code).to.equal('unsupported_file_type');
      const cut = new Blob(['%PDF-1.7\n1 0 obj\n<< /Type /Catalog']);
      expect((await convert(cut, 'a.pdf')).code).to.equal('unreadable_file');
    });

    it('of too many pages is refused', async () => {
      const reply = await extract({}, text('x'.repeat(3000 * 101)));
      expect(reply.body).to.include({ code: 'too_many_pages', pages: 101, max_pages: 100 });
      expect(reply.body['detail']).to.include('Prefer: respond-async');
    });

    it('keeps no folder of the caller in its name', async () => {
      const reply = await api.call('post', '/v1/extract', {
        key,
        form: formOf({ schema: INVOICE_SCHEMA }, INVOICE, '../../etc/passwd.txt'),
      });
      const { file_name } = reply.body['meta'] as Record<string, unknown>;
      expect(file_name).to.equal('passwd.txt');
    });

    it('that is broken off leaves nothing behind', async () => {
      const { hostname, port } = new URL(api.url);
      const socket = connect(Number(port), hostname);
      const head = `POST /v1/extract HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-length: 100000\r\n`;
      const part = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n';
      socket.write(`${head}content-type: multipart/form-data; boundary=b\r\n\r\n${part}${'x'.repeat(5000)}`);
      await untilFiles(1);
      socket.destroy();
      await untilFiles(0);
    });
  });

  const untilFiles = async (count: number): Promise<void> => {
    await until(async () => (await readdir(api.uploadDir)).length === count);
  };

  it('wait for a worker, or answer busy, when all heavy slots are taken', async () => {
    const own = await api.newKey('docs-busy');
    await api.sell('docs-busy', 1_000);
    let isOver = false;
    const asked = Promise.all(Array.from({ length: 12 }, () => extract({}, INVOICE, { key: own }))).finally(
      () => (isOver = true),
    );
    await until(async () => {
      await api.operations.drain();
      return isOver;
    });
    const replies = await asked;
    const busy = replies.filter(({ code }) => code === 'busy');
    expect(busy.length + replies.filter(({ status }) => status === 200).length).to.equal(12);
    for (const { headers } of busy) expect(headers.get('retry-after')).to.equal('1');
    const { body } = await api.call('get', '/v1/operations?tenant_id=docs-busy', { key: own });
    expect(body['total'], 'work for which no slot was free').to.be.at.least(1);
  });
});
