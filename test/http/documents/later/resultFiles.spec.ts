import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { read, utils, type WorkBook } from '@e965/xlsx';
import { workbookPieces, XLSX_TYPE, type CellValue } from '../../../../src/exports/xlsx.ts';
import { resultFile } from '../../../../src/api/resultFiles.ts';
import type { ResultRows } from '../../../../src/exports/resultTables.ts';
import { inTurn } from '../../../../src/server/csv.ts';
import { Problem } from '../../../../src/server/problems.ts';
import type { RawBody } from '../../../../src/server/routes.ts';
import { until } from '../../../../engine/test/support/until.ts';
import { formOf, issuesIn } from '../../support/client.ts';
import { startApi, type TestApi } from '../../support/testApi.ts';
import { batchTenant } from './batchTenant.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    invoice_number: { type: 'string' },
    invoice_date: { type: ['string', 'null'], format: 'date' },
    total: { type: ['number', 'null'] },
    line_items: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          description: { type: 'string' },
          quantity: { type: 'number' },
          amount: { type: 'number' },
        },
      },
    },
  },
} as const;

const INVOICE = (number: string) =>
  [
    `Invoice number: ${number}`,
    'Invoice date: 2026-03-09',
    '',
    '| Description | Quantity | Amount |',
    '| --- | --- | --- |',
    '| Green tea | 2 | 10.50 |',
    '| =SUM(A1) | 1 | 4.00 |',
    '',
    'Total: 14.50',
    '',
  ].join('\n');

const CSV = { headers: { accept: 'text/csv' } };
const XLSX = { headers: { accept: XLSX_TYPE } };

const book = (bytes: Uint8Array): WorkBook => read(bytes, { cellDates: true, cellStyles: true });
const rowsIn = (workbook: WorkBook, sheet: string): readonly unknown[][] =>
  utils.sheet_to_json<unknown[]>(workbook.Sheets[sheet] ?? {}, { header: 1, defval: null, raw: true });

const bytesOf = async (pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
};

describe('results as tables', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  const bytesAt = async (path: string, { key }: { readonly key: string }): Promise<Uint8Array> => {
    const response = await fetch(`${api.url}${path}`, { headers: { 'x-api-key': key, ...XLSX.headers } });
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal(XLSX_TYPE);
    return new Uint8Array(await response.arrayBuffer());
  };

  const batchOf = async (numbers: readonly string[]) => {
    const tenant = await batchTenant(api);
    const uris: string[] = [];
    for (const number of numbers) uris.push(await tenant.uploaded(INVOICE(number), 'text/markdown'));
    const id = await tenant.created(uris, { mode: 'fast', schema: SCHEMA });
    await tenant.ended(id);
    return { tenant, id };
  };

  it('have a line for each document of a batch, and one for each item of a list', async () => {
    const { tenant, id } = await batchOf(['Q-1', 'Q-2']);
    const reply = await tenant.call('get', `/v1/batches/${id}/results`, CSV);
    expect(reply.headers.get('content-type')).to.contain('text/csv');
    expect(reply.headers.get('content-disposition')).to.equal(`attachment; filename="${id}.csv"`);
    const [head = '', first = '', second = ''] = reply.text.split('\r\n');
    expect(head).to.match(
      /^index,document_id,file_name,operation_id,status,error,pages,credits_used,invoice_number/,
    );
    expect(first).to.contain('Q-1').and.to.contain('2026-03-09').and.to.contain('14.5');
    expect(second).to.contain('Q-2');

    const items = await tenant.call('get', `/v1/batches/${id}/results?table=/line_items`, CSV);
    // A spreadsheet computes nothing of what a document says.
    const lines = items.text.trimEnd().split('\r\n');
    expect(lines[0]).to.equal('index,document_id,file_name,operation_id,row,description,quantity,amount');
    expect(lines.slice(1).map((line) => line.split(',').slice(4).join(','))).to.deep.equal([
      '1,Green tea,2,10.5',
      "2,'=SUM(A1),1,4",
      '1,Green tea,2,10.5',
      "2,'=SUM(A1),1,4",
    ]);
    const later = await tenant.call('get', `/v1/batches/${id}/results?from=1&bom=true`, CSV);
    expect(later.text.split('\r\n')).to.have.lengthOf(3);
    const wrong = await tenant.call('get', `/v1/batches/${id}/results?table=/items`, CSV);
    expect(issuesIn(wrong)).to.deep.equal(['query.table value_error']);
    expect(wrong.text).to.contain('They have /line_items.');
  });

  it('are a workbook with numbers as numbers, dates as dates and a sheet for each list', async () => {
    const { tenant, id } = await batchOf(['0042', 'Q-2']);
    const workbook = book(await bytesAt(`/v1/batches/${id}/results?citations=true`, tenant));
    expect(workbook.SheetNames).to.deep.equal(['Results', 'line_items']);
    const [head = [], first = []] = rowsIn(workbook, 'Results');
    const cell = (title: string) => first[head.indexOf(title)];
    expect(cell('invoice_number')).to.equal('0042');
    expect(cell('total')).to.equal(14.5);
    expect((cell('invoice_date') as Date).toISOString()).to.contain('2026-03-09');
    expect([cell('total (page)'), cell('total (text)')]).to.deep.equal([1, '14.50']);
    expect(cell('total (by)')).to.be.a('string');
    expect(head).not.to.include('line_items');
    const [, , formula] = rowsIn(workbook, 'line_items');
    expect(formula).to.include('=SUM(A1)');
    const places = Object.values(workbook.Sheets['line_items'] ?? {}) as { readonly f?: string }[];
    expect(places.every(({ f }) => f === undefined)).to.equal(true);
  });

  it('are of one operation too, done or not, and of nobody else', async () => {
    const tenant = await batchTenant(api);
    const headers = { prefer: 'respond-async' };
    const asked = await tenant.call('post', '/v1/extract', {
      form: formOf(
        { schema: JSON.stringify(SCHEMA), mode: 'fast' },
        new Blob([INVOICE('Q-7')]),
        'invoice.md',
      ),
      headers,
    });
    expect(asked.status, asked.text).to.equal(202);
    const path = `/v1/operations/${String(asked.body['operation_id'])}`;
    const queued = await tenant.call('get', path, CSV);
    expect(queued.text.split('\r\n')[1]).to.contain(',queued,');
    await api.operations.drain();
    const done = await tenant.call('get', path, CSV);
    expect(done.text).to.contain(',succeeded,').and.to.contain('Q-7');
    expect((await tenant.call('get', path)).body).to.have.nested.property(
      'result.result.invoice_number',
      'Q-7',
    );
    expect(rowsIn(book(await bytesAt(path, tenant)), 'Results')).to.have.lengthOf(2);
    const other = await batchTenant(api);
    expect((await other.call('get', path, CSV)).code).to.equal('operation_not_found');
  });

  it('say what to ask for where a conversion has no tables', async () => {
    const tenant = await batchTenant(api);
    const asked = await tenant.call('post', '/v1/to-markdown', {
      form: formOf({}, new Blob([INVOICE('Q-8')]), 'invoice.md'),
      headers: { prefer: 'respond-async' },
    });
    await api.operations.drain();
    const reply = await tenant.call('get', `/v1/operations/${String(asked.body['operation_id'])}`, XLSX);
    expect(issuesIn(reply)).to.deep.equal(['header.accept value_error']);
    expect(reply.text).to.contain('include=tables');
  });
});

describe('tables of many results', () => {
  const answer = { header: () => undefined } as unknown as Parameters<typeof resultFile>[0]['answer'];
  const askedBy = (signal: AbortSignal) => ({
    prefers: () => undefined,
    answer,
    signal,
    query: { citations: false, bom: false },
  });
  /** Only the first result has a list. */
  const resultsOf = (count: number, read: (place: number) => void): ResultRows =>
    async function* (only) {
      for (let place = 0; place < count; place += 1) {
        if (only?.has(place) === false) continue;
        await Promise.resolve();
        read(place);
        const result = place === 0 ? { number: '0', items: [{ name: 'a' }] } : { number: String(place) };
        yield { facts: { index: place }, result, citations: [] };
      }
    };
  const written = async (file: RawBody): Promise<string> => {
    let text = '';
    for await (const piece of file.body as AsyncIterable<string>) text += piece;
    return text;
  };

  it('are not gone through to their end for a caller who has hung up', async () => {
    const caller = new AbortController();
    const read: number[] = [];
    const rows = resultsOf(100, (place) => {
      read.push(place);
      if (place === 2) caller.abort();
    });
    const refused = await resultFile(askedBy(caller.signal), 'text/csv', { name: 'b', rows }).catch(
      (error: unknown) => error,
    );
    expect(refused).to.be.instanceOf(Problem);
    expect(read).to.deep.equal([0, 1, 2]);
  });

  it('wait for their turn among other exports', async () => {
    const read: number[] = [];
    const { signal } = new AbortController();
    let end: (() => void) | undefined;
    const other = inTurn(() => new Promise<void>((resolve) => (end = resolve)));
    // a turn before this one is followed by a pause
    const endOther = await until(() => end);
    const rows = resultsOf(3, (place) => read.push(place));
    const file = resultFile(askedBy(signal), 'text/csv', { name: 'b', rows });
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    expect(read).to.deep.equal([]);
    endOther();
    await other;
    await file;
    expect(read).to.deep.equal([0, 1, 2]);
  });

  it('read again for a sheet only the results that have rows in it', async () => {
    const read: number[] = [];
    const { signal } = new AbortController();
    const rows = resultsOf(4, (place) => read.push(place));
    await bytesOf(
      (await resultFile(askedBy(signal), XLSX_TYPE, { name: 'b', rows })).body as AsyncIterable<Uint8Array>,
    );
    expect(read).to.deep.equal([0, 1, 2, 3, 0, 1, 2, 3, 0]);
    const table = { ...askedBy(signal), query: { citations: false, bom: false, table: '/items' } };
    expect(await written(await resultFile(table, 'text/csv', { name: 'b', rows }))).to.equal(
      'index,row,name\r\n0,1,a\r\n',
    );
  });
});

describe('a workbook', () => {
  const sheetOf = async (rows: readonly (readonly CellValue[])[], name = 'One') =>
    book(await bytesOf(workbookPieces([{ name, headerRows: 0, rows: () => rows }])));

  it('keeps every text, also what XML has no place for', async () => {
    const texts = ['a\u0000b', '_x0041_', '\ud83d', '😀', ' spaced ', 'two\nlines', '<&>"', '=1+1', '\u000b'];
    const [row] = rowsIn(await sheetOf([texts]), 'One');
    expect(row).to.deep.equal(texts);
  });

  it('takes for a date only what is one', async () => {
    const texts = ['2026-02-29', '1899-01-01', '2024-02-29x', '20240229', '2026-01-01T00:00:00+01:00'];
    const [row = []] = rowsIn(await sheetOf([[...texts, '2024-02-29', '2026-01-02T03:04:05Z']]), 'One');
    expect(row.slice(0, 5)).to.deep.equal(texts);
    expect(row[5]).to.be.instanceOf(Date);
    expect(row[6]).to.be.instanceOf(Date);
  });

  it('is the same bytes for the same rows, with any names of sheets', async () => {
    const sheets = ['a/b', 'A B', 'x'.repeat(40), '', "'quoted'", 'history'].map((name) => ({
      name,
      headerRows: 1,
      rows: () => [['n'], [1.5]],
    }));
    const one = await bytesOf(workbookPieces(sheets));
    expect(Buffer.compare(one, await bytesOf(workbookPieces(sheets)))).to.equal(0);
    expect(new Set(book(one).SheetNames).size).to.equal(6);
    for (const name of book(one).SheetNames) expect(name.length).to.be.within(1, 31);
  });

  it('cuts what is longer than a cell holds, and never amid a letter', async () => {
    const [row = []] = rowsIn(await sheetOf([['😀'.repeat(20_000)]]), 'One');
    expect(String(row[0]).length).to.be.at.most(32_767);
    expect(String(row[0])).to.match(/^(?:😀)+…$/u);
  });
});
