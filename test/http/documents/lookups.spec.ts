import { randomUUID } from 'node:crypto';
import { utils, write } from '@e965/xlsx';
import { expect } from 'chai';
import { until } from '../../../engine/test/support/until.ts';
import { tableFolderOf } from '../../../domain/rules/masterTable.ts';
import { runAudit } from '../../../src/audit/runAudit.ts';
import { formOf, issuesIn, type CallOptions, type Reply } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { reviewedTenant } from './later/reviewing.ts';

const VENDORS =
  'number,name,city\n1001,Acme GmbH,Berlin\n1002,Müller & Söhne KG,Köln\n1003,Acme GmbH,Hamburg\n';
const SCHEMA = {
  type: 'object',
  properties: {
    customer: { type: 'string' },
    items: { type: 'array', items: { type: 'object', properties: { article: { type: 'string' } } } },
  },
};

interface Outcome {
  readonly name: string;
  readonly passed: boolean | null;
  readonly message?: string;
  readonly lookup: Readonly<Record<string, unknown>>;
}

const csv = (text: string): Blob => new Blob([text], { type: 'text/csv' });
const text = (...lines: readonly string[]): Blob => new Blob([`${lines.join('\n')}\n`]);
const outcomesIn = ({ body }: Reply): readonly Outcome[] =>
  (body['meta'] as { readonly checks: readonly Outcome[] }).checks;

describe('tables, and look-ups in them', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi({ HEAVY_CONCURRENCY: '4' });
  });
  after(() => api.stop());

  const sent = (
    tenant_id: string,
    file: Blob,
    {
      name = 'vendors.csv',
      fields = {},
      ...options
    }: CallOptions & {
      readonly name?: string;
      readonly fields?: Readonly<Record<string, string>>;
    } = {},
  ): Promise<Reply> =>
    api.call('post', '/v1/tables', { form: formOf({ tenant_id, ...fields }, file, name), ...options });

  const published = async (...asked: Parameters<typeof sent>): Promise<Reply['body']> => {
    const reply = await sent(...asked);
    expect(reply.status, reply.text).to.equal(201);
    return reply.body;
  };

  const leftOf = async (tableId: unknown): Promise<readonly string[]> => {
    const left: string[] = [];
    for await (const { key } of api.objects.list(tableFolderOf(String(tableId)))) left.push(key);
    return left;
  };

  const newTenant = async () => {
    const tenant = await reviewedTenant(api);
    const { tenant_id, call } = tenant;
    const publish = (lookups: readonly object[], more: object = {}) =>
      api.call('post', '/v1/configs', {
        json: { tenant_id, schema: SCHEMA, mode: 'fast', lookups, ...more },
      });
    const config = async (...asked: Parameters<typeof publish>): Promise<string> => {
      const reply = await publish(...asked);
      expect(reply.status, reply.text).to.equal(200);
      return String(reply.body['config_id']);
    };
    const read = (config_id: string, file: Blob) =>
      call('post', '/v1/extract', { form: formOf({ config_id }, file) });
    return { ...tenant, publish, config, read };
  };

  describe('tables', () => {
    it('are published from CSV and XLSX, listed, read by cursor, and removed', async () => {
      const { tenant_id, call } = await newTenant();
      const table = await published(tenant_id, csv(VENDORS));
      expect(table).to.deep.include({ version: 1, tenant_id, name: 'vendors', rows: 3 });
      expect(table['columns']).to.deep.equal(['number', 'name', 'city']);
      const table_id = String(table['table_id']);

      const book = utils.book_new();
      const sheet = utils.aoa_to_sheet([
        ['number', 'name'],
        ['007', 'Bond'],
      ]);
      sheet['B3'] = { t: 's', v: 'shown', f: 'WEBSERVICE("http://example.com")' };
      sheet['!ref'] = 'A1:B3';
      utils.book_append_sheet(book, sheet, 'Vendors');
      const xlsx = new Blob([
        new Uint8Array(write(book, { type: 'buffer', bookType: 'xlsx' }) as Uint8Array),
      ]);
      const next = await published(tenant_id, xlsx, { name: 'new.xlsx', fields: { table_id } });
      expect(next).to.deep.include({ table_id, version: 2, name: 'vendors', rows: 2 });

      const latest = await call('get', `/v1/tables/${table_id}`);
      expect(latest.body['items']).to.deep.equal([
        ['007', 'Bond'],
        ['', 'shown'],
      ]);
      const first = await call('get', `/v1/tables/${table_id}?version=1&limit=2`);
      expect(first.body).to.deep.include({ version: 1, next_cursor: '2' });
      expect(first.body['items']).to.deep.equal([
        ['1001', 'Acme GmbH', 'Berlin'],
        ['1002', 'Müller & Söhne KG', 'Köln'],
      ]);
      const rest = await call('get', `/v1/tables/${table_id}?version=1&limit=2&cursor=2`);
      expect(rest.body).to.deep.include({ next_cursor: null, items: [['1003', 'Acme GmbH', 'Hamburg']] });
      const none = await call('get', `/v1/tables/${table_id}?limit=0`);
      expect(none.body).to.deep.include({ items: [], next_cursor: null });

      const listed = await call('get', `/v1/tables?tenant_id=${tenant_id}`);
      const { items: _, next_cursor: __, ...facts } = latest.body;
      expect(listed.body).to.deep.include({ total: 1, items: [facts] });

      expect((await api.call('delete', `/v1/tables/${table_id}`)).status).to.equal(204);
      expect((await call('get', `/v1/tables/${table_id}`)).code).to.equal('table_not_found');
      expect((await call('get', `/v1/tables?tenant_id=${tenant_id}`)).body['total']).to.equal(0);
      expect(await leftOf(table_id)).to.deep.equal([]);
      expect((await api.call('delete', `/v1/tables/${table_id}`)).status).to.equal(204);
    });

    it('keep formulas of CSV as the texts that they are', async () => {
      const { tenant_id, call } = await newTenant();
      const evil = 'a;b\n=1+1;"=HYPERLINK(""http://x"")"\n+49;@SUM(A1)\n';
      const { table_id } = await published(tenant_id, csv(evil));
      expect((await call('get', `/v1/tables/${String(table_id)}`)).body['items']).to.deep.equal([
        ['=1+1', '=HYPERLINK("http://x")'],
        ['+49', '@SUM(A1)'],
      ]);
    });

    it('get no version for what they have already, and one table for one key, also when it is raced', async () => {
      const { tenant_id, call } = await newTenant();
      const headers = { 'idempotency-key': randomUUID() };
      const all = await Promise.all([1, 2, 3].map(() => sent(tenant_id, csv(VENDORS), { headers })));
      const repeated = await sent(tenant_id, csv(VENDORS), { headers });
      expect(repeated.status, repeated.text).to.equal(201);
      const { table_id } = repeated.body;
      for (const { status, body, code } of all)
        if (status === 201) expect(body['table_id']).to.equal(table_id);
        else expect([status, code]).to.deep.equal([409, 'request_in_progress']);
      expect((await call('get', `/v1/tables?tenant_id=${tenant_id}`)).body['total']).to.equal(1);

      const fields = { table_id: String(table_id) };
      expect(await published(tenant_id, csv(VENDORS), { fields })).to.include({ version: 1 });
      const raced = await Promise.all(
        ['a\n1\n', 'a\n2\n', 'a\n3\n'].map((one) => published(tenant_id, csv(one), { fields })),
      );
      expect(raced.map(({ version }) => version).sort()).to.deep.equal([2, 3, 4]);
    });

    it('are refused with the reason', async () => {
      const { tenant_id, key } = await newTenant();
      const other = await newTenant();
      const mine = await published(tenant_id, csv(VENDORS));
      const wide = Array.from({ length: 10_000 }, (_, at) => `c${String(at)}`).join(',');
      for (const [file, status, code, limit] of [
        [csv(`a\n${'x'.repeat(1_001)}\n`), 422, 'table_beyond_limits', 'cell_characters'],
        [csv(`${wide}\n${wide}\n`), 422, 'table_beyond_limits', 'columns'],
        [csv(`a\n${'x\n'.repeat(100_001)}`), 422, 'table_beyond_limits', 'rows'],
        [
          csv(`a,b,c,d,e\n${`${'x'.repeat(1_000)},`.repeat(4)}y\n`),
          422,
          'table_beyond_limits',
          'row_characters',
        ],
        [csv(`a\n${`${'x'.repeat(999)}\n`.repeat(1_010)}`), 413, 'file_too_large', undefined],
        [csv('a,,c\n1,2,3\n'), 422, 'validation_error', undefined],
        [csv('a,a\n1,2\n'), 422, 'validation_error', undefined],
        [csv('a,b\n'), 422, 'validation_error', undefined],
        [csv('a,b\n1,2,3\n'), 422, 'validation_error', undefined],
        [csv(''), 400, 'empty_file', undefined],
        [new Blob(['%PDF-1.7\n']), 400, 'unsupported_file_type', undefined],
        [new Blob(['PK\u0003\u0004 no archive']), 400, undefined, undefined],
      ] as const) {
        const reply = await sent(tenant_id, file);
        expect(reply.status, reply.text).to.equal(status);
        if (code !== undefined) expect(reply.code).to.equal(code);
        expect(reply.body['limit']).to.equal(limit);
      }
      expect((await sent(tenant_id, csv(VENDORS), { key })).code).to.equal('admin_required');
      expect((await api.call('post', '/v1/tables', { form: formOf({ tenant_id }) })).code).to.equal(
        'missing_file',
      );
      const fields = { table_id: String(mine['table_id']) };
      expect((await sent(other.tenant_id, csv(VENDORS), { fields })).code).to.equal('table_not_found');
      const path = `/v1/tables/${fields.table_id}`;
      expect((await other.call('get', path)).code).to.equal('table_not_found');
      expect((await other.call('delete', path)).code).to.equal('admin_required');
      expect((await api.call('get', `${path}?cursor=x`)).code).to.equal('validation_error');
      expect((await api.call('get', `${path}?version=2`)).code).to.equal('table_not_found');
      expect((await api.call('delete', '/v1/tables/tbl_nobody')).code).to.equal('table_not_found');
    });

    it('go with their tenant', async () => {
      const { tenant_id } = await newTenant();
      const { table_id } = await published(tenant_id, csv(VENDORS));
      expect((await api.call('delete', `/v1/admin/tenants/${tenant_id}/data`)).status).to.be.oneOf([
        200, 202,
      ]);
      await until(
        async () => (await api.call('get', `/v1/tables/${String(table_id)}`)).code === 'table_not_found',
      );
      await until(async () => (await leftOf(table_id)).length === 0);
    });
  });

  describe('look-ups', () => {
    const INVOICE = text('Invoice number: Q-1001', 'Customer: ACME gmbh.', 'Total: 120.50 EUR');

    it('find the same text first, else what is most like it, with the version that counted', async () => {
      const { tenant_id, config, read, call } = await newTenant();
      const { table_id } = await published(tenant_id, csv(VENDORS));
      const config_id = await config([{ field: 'customer', table_id, column: 'name' }]);
      const same = await read(config_id, INVOICE);
      expect(same.status, same.text).to.equal(200);
      const lookup = {
        table_id,
        table_version: 1,
        column: 'name',
        score: 1,
        row: 1,
        match: 'Acme GmbH',
        values: { number: '1001', name: 'Acme GmbH', city: 'Berlin' },
        equal_rows: 2,
      };
      expect(outcomesIn(same)).to.deep.equal([{ name: '/customer', passed: true, lookup }]);

      const alike = outcomesIn(await read(config_id, text('Customer: Mueller & Söhne KG')));
      expect(alike[0]).to.deep.include({ name: '/customer', passed: true });
      expect(alike[0]?.lookup).to.include({ row: 2, match: 'Müller & Söhne KG' });

      await published(tenant_id, csv(`${VENDORS}1004,Acme GmbH & Co,Ulm\n`), {
        fields: { table_id: String(table_id) },
      });
      const later = outcomesIn(await read(config_id, INVOICE));
      expect(later[0]?.lookup).to.include({ table_version: 2, row: 1 });
      expect((await call('get', `/v1/tables/${String(table_id)}?version=1`)).body['rows']).to.equal(3);

      const { body } = await call('get', `/v1/configs/${config_id}`);
      expect(body['versions'])
        .to.have.nested.property('[0].lookups')
        .that.deep.equals([{ field: 'customer', table_id, column: 'name' }]);
    });

    it('bring doubtful values to a person, with their places in lists', async () => {
      const { tenant_id, config, extracted, review } = await newTenant();
      const { table_id } = await published(tenant_id, csv('article,text\nA-100,Nail\nB-200,Screw\n'));
      const config_id = await config(
        [{ field: 'invoice_number', table_id, column: 'article', min_score: 0.9 }],
        {
          review: { rules: true },
          schema: { type: 'object', properties: { invoice_number: { type: 'string' } } },
        },
      );
      const reply = await extracted({ config_id, schema: '', mode: '', review: '' });
      expect(reply.status, reply.text).to.equal(202);
      const asked = await review(String(reply.body['review_id']));
      expect(asked.body['reasons']).to.deep.equal([{ code: 'lookup_doubtful', path: '/invoice_number' }]);
      expect(asked.body['checks']).to.have.nested.property('[0].lookup.table_id', table_id);
    });

    it('of a missing value tell nothing; in a table that was removed they are doubtful', async () => {
      const { tenant_id, config, read } = await newTenant();
      const { table_id } = await published(tenant_id, csv(VENDORS));
      const config_id = await config([
        { field: '/customer', table_id, column: 'name' },
        { field: 'items[].article', table_id, column: 'number' },
      ]);
      const found = outcomesIn(await read(config_id, INVOICE));
      expect(found.map(({ name, passed }) => [name, passed])).to.deep.equal([
        ['/customer', true],
        ['/items/*/article', null],
      ]);
      await api.call('delete', `/v1/tables/${String(table_id)}`);
      const gone = outcomesIn(await read(config_id, INVOICE));
      expect(gone[0]).to.deep.include({
        name: '/customer',
        passed: false,
        message: 'The table was removed.',
      });
      expect(gone[0]?.lookup).to.include({ table_version: null, row: null });
    });

    it('are refused with their place if they can never find anything', async () => {
      const { tenant_id, publish } = await newTenant();
      const other = await newTenant();
      const { table_id } = await published(tenant_id, csv(VENDORS));
      const foreign = await published(other.tenant_id, csv(VENDORS));
      const good = { field: 'customer', table_id, column: 'name' };
      for (const [over, loc] of [
        [{ field: 'custumer' }, 'body.lookups.0.field'],
        [{ field: 'items' }, 'body.lookups.0.field'],
        [{ field: 'items[]' }, 'body.lookups.0.field'],
        [{ field: 'items[].price' }, 'body.lookups.0.field'],
        [{ field: '[]' }, 'body.lookups.0.field'],
        [{ column: 'nmae' }, 'body.lookups.0.column'],
        [{ min_score: 1.1 }, 'body.lookups.0.min_score'],
      ] as const) {
        const reply = await publish([{ ...good, ...over }]);
        expect(reply.status, JSON.stringify(over)).to.equal(422);
        expect(issuesIn(reply).map((issue) => issue.split(' ')[0])).to.deep.equal([loc]);
      }
      for (const id of [String(foreign['table_id']), 'tbl_nobody'])
        expect((await publish([{ ...good, table_id: id }])).code).to.equal('table_not_found');
    });
  });

  it('leave nothing that an audit finds fault with', async () => {
    const { report } = await runAudit({ feed: api.log, dense: true });
    expect(report.findings, JSON.stringify(report)).to.deep.equal([]);
  });
});
