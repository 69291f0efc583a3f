import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { runAudit } from '../../../src/audit/runAudit.ts';
import { formOf, issuesIn, type CallOptions, type Reply } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { reviewedTenant } from './later/reviewing.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    invoice_number: { type: 'string' },
    customer: { type: 'string' },
    lines: { type: 'array', items: { type: 'object', properties: { text: { type: 'string' } } } },
  },
};

const text = (...lines: readonly string[]): Blob =>
  new Blob([`${lines.join('\n')}\n`], { type: 'text/plain' });
const invoice = (number: string, customer: string, rest = '') =>
  text(`Invoice number: ${number}`, `Customer: ${customer}`, rest);

interface Duplicate {
  readonly by: string;
  readonly document_id: string;
  readonly extraction_id: string;
}

describe('duplicates', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi({ HEAVY_CONCURRENCY: '4' });
  });
  after(() => api.stop());

  const RULE = { values: ['/invoice_number', '/customer'] };

  const newTenant = async (duplicates: object | undefined = RULE, more: object = {}) => {
    const tenant = await reviewedTenant(api);
    const { tenant_id, call } = tenant;
    const json = { tenant_id, schema: SCHEMA, mode: 'fast', duplicates, ...more };
    const saved = await api.call('post', '/v1/configs', { json });
    expect(saved.status, saved.text).to.equal(200);
    const config_id = String(saved.body['config_id']);
    const read = (file: Blob, fields: Record<string, string> = {}, options: CallOptions = {}) =>
      call('post', '/v1/extract', { form: formOf({ config_id, ...fields }, file), ...options });
    return { ...tenant, config_id, read };
  };

  const metaOf = ({ body }: Reply) =>
    body['meta'] as { duplicates?: readonly Duplicate[]; document_id: string; extraction_id: string };
  const told = (reply: Reply) => {
    expect(reply.status, reply.text).to.equal(200);
    return metaOf(reply).duplicates?.map(({ by }) => by);
  };

  it('are told by the file, and by values whatever their signs and spaces', async () => {
    const { read, config_id, call } = await newTenant();
    const first = await read(invoice('Q-1001', 'Acme GmbH'));
    expect(told(first)).to.deep.equal([]);
    const same = await read(invoice('Q-1001', 'Acme GmbH'));
    const { document_id, extraction_id } = metaOf(first);
    const both = metaOf(same).duplicates;
    expect(both?.map((one) => ({ ...one, sighted_at: undefined }))).to.deep.equal(
      ['file', 'values'].map((by) => ({ by, document_id, extraction_id, sighted_at: undefined })),
    );
    expect(told(await read(invoice('Q/1001', 'ACME GMBH', 'Second copy')))).to.deep.equal([
      'values',
      'values',
    ]);
    expect(told(await read(invoice('Q-1002', 'Acme GmbH')))).to.deep.equal([]);
    expect(told(await read(text('Invoice number: Q-1001')))).to.deep.equal([]);
    const { body } = await call('get', `/v1/configs/${config_id}`);
    expect(body['versions']).to.have.nested.property('[0].duplicates').that.deep.equals(RULE);
  });

  it('are not looked for without the rule, and of files alone without values', async () => {
    const without = await newTenant(undefined, { duplicates: null });
    await without.read(invoice('Q-1', 'A'));
    expect(told(await without.read(invoice('Q-1', 'A')))).to.equal(undefined);
    const files = await newTenant({});
    await files.read(invoice('Q-1', 'A'));
    expect(told(await files.read(invoice('Q-1', 'A')))).to.deep.equal(['file']);
    expect(told(await files.read(invoice('Q-1', 'A', 'another')))).to.deep.equal([]);
    // The same bytes, and other pages of them.
    expect(told(await files.read(invoice('Q-1', 'A'), { pages: '1' }))).to.deep.equal([]);
  });

  it('are none of another tenant, of work that failed, and of what is erased', async () => {
    const [tenant, other] = [await newTenant(), await newTenant()];
    const first = await tenant.read(invoice('Q-7', 'Acme'));
    expect(told(await other.read(invoice('Q-7', 'Acme')))).to.deep.equal([]);
    const erased = await api.call('delete', `/v1/documents/${metaOf(first).document_id}`, {
      key: tenant.key,
    });
    expect(erased.status, erased.text).to.equal(204);
    expect(told(await tenant.read(invoice('Q-7', 'Acme')))).to.deep.equal([]);

    const strict = await newTenant(RULE, {
      schema: {
        ...SCHEMA,
        required: ['invoice_number', 'total'],
        properties: { ...SCHEMA.properties, total: { type: 'number' } },
      },
    });
    const failed = await strict.read(invoice('Q-8', 'Acme'));
    expect(failed.code).to.equal('output_schema_mismatch');
    expect(told(await strict.read(invoice('Q-8', 'Acme'), { allow_partial: 'true' }))).to.deep.equal([]);
  });

  it('are no repeats of a request, nor other readings of one upload', async () => {
    const { read, key, tenant_id, config_id } = await newTenant();
    const headers = { 'idempotency-key': randomUUID() };
    expect(told(await read(invoice('Q-9', 'Acme'), {}, { headers }))).to.deep.equal([]);
    await api.forgetReplays();
    expect(told(await read(invoice('Q-9', 'Acme'), {}, { headers }))).to.deep.equal([]);

    const presigned = await api.call('post', '/v1/uploads/presign', {
      key,
      json: { tenant_id, file_name: 'a.txt', content_type: 'text/plain' },
    });
    const { upload_url, file_uri } = presigned.body as { upload_url: string; file_uri: string };
    const put = await fetch(upload_url, {
      method: 'PUT',
      headers: presigned.body['headers'] as Record<string, string>,
      body: invoice('Q-10', 'Acme'),
    });
    expect(put.status).to.equal(200);
    for (let times = 0; times < 2; times += 1) {
      const json = {
        schema_version: '1.0',
        operation: 'inference.extract',
        scope: { tenant_id },
        resource: { file_uri, config_id },
        payload: {},
      };
      const reply = await api.call('post', '/v1/canonical', { key, json });
      expect(reply.status, reply.text).to.equal(200);
      expect(reply.body).to.have.nested.property('result.meta.duplicates').that.deep.equals([]);
    }
  });

  it('that come at once are in an order: only the first is none', async () => {
    const { read } = await newTenant({ values: ['/invoice_number'] });
    const replies = await Promise.all(
      ['a', 'b'].map((rest) => read(invoice('Q-11', 'Acme', `Copy ${rest}`))),
    );
    expect(replies.map((reply) => told(reply)?.length).sort()).to.deep.equal([0, 1]);
  });

  it('bring a result to a person where rules do', async () => {
    const tenant = await newTenant(RULE, { review: { rules: true } });
    const read = (file: Blob) =>
      tenant.extracted({}, { form: formOf({ config_id: tenant.config_id }, file) });
    expect((await read(invoice('Q-12', 'Acme'))).status).to.equal(200);
    const again = await read(invoice('Q-12', 'Acme'));
    expect(again.status, again.text).to.equal(202);
    const review = await tenant.review(String(again.body['review_id']));
    expect(review.body['reasons'], review.text).to.deep.equal([
      { code: 'duplicate', path: '' },
      { code: 'duplicate', path: '/invoice_number' },
      { code: 'duplicate', path: '/customer' },
    ]);
  });

  it('are refused by values that no result can have, and by paths that are none', async () => {
    const { tenant_id } = await reviewedTenant(api);
    for (const [values, issue] of [
      [['/number'], 'body.duplicates.values.0 value_error'],
      [['/customer', '/lines/0/text'], 'body.duplicates.values.1 value_error'],
      [['customer'], 'body.duplicates.values.0 invalid_format'],
      [['/'], 'body.duplicates.values.0 invalid_format'],
      [['/__proto__'], 'body.duplicates.values.0 value_error'],
      [Array.from({ length: 6 }, () => '/customer'), 'body.duplicates.values too_big'],
      [[`/${'x'.repeat(201)}`], 'body.duplicates.values.0 too_big'],
    ] as const) {
      const reply = await api.call('post', '/v1/configs', {
        json: { tenant_id, schema: SCHEMA, duplicates: { values } },
      });
      expect(issuesIn(reply), reply.text).to.deep.equal([issue]);
    }
    const more = await api.call('post', '/v1/configs', { json: { tenant_id, duplicates: { file: true } } });
    expect(more.code).to.equal('validation_error');
  });

  it('leave nothing that an audit finds', async () => {
    expect((await runAudit({ feed: api.log, dense: true })).report.findings).to.deep.equal([]);
  });
});
