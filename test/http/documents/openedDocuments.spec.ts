import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { encryptedPdf, plainPdf } from '../../../engine/test/support/pdfs.ts';
import { formOf, INVOICE, INVOICE_SCHEMA, issuesIn, type CallOptions } from '../support/client.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

describe('what a request asks of a document', () => {
  let api: TestApi;
  let key: string;
  before(async () => {
    api = await testApi();
    key = await api.newKey('docs-opened');
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
  const convert = (fields: Record<string, string>, file: Blob, name?: string) =>
    api.call('post', '/v1/to-markdown', { key, form: formOf(fields, file, name) });

  it('leaves out what is less sure than asked for, and says that it was seen', async () => {
    const all = await extract({ min_confidence: '0' });
    expect(all.body['result']).to.have.property('invoice_number', 'Q-1001');
    const none = await extract({ min_confidence: '1', citations: 'false' });
    expect(none.status, none.text).to.equal(200);
    expect(none.body['result']).to.deep.equal({});
    const { warnings: told } = none.body['meta'] as {
      readonly warnings: readonly { readonly code: string }[];
    };
    expect(told.at(-1)).to.have.property('code', 'nothing_found');
    const warnings = told.filter(({ code }) => code !== 'nothing_found');
    expect(warnings).to.have.lengthOf(Object.keys(all.body['result'] as object).length);
    expect(warnings[0]).to.include({
      code: 'low_confidence',
      path: '/invoice_number',
      value: 'Q-1001',
      page: 1,
      bbox: null,
    });
  });

  it('misses a required value that is not sure enough', async () => {
    const required = JSON.stringify({
      type: 'object',
      properties: { invoice_number: { type: 'string' } },
      required: ['invoice_number'],
    });
    const refused = await extract({ schema: required, min_confidence: '1' });
    expect(refused.code, refused.text).to.equal('output_schema_mismatch');
  });

  it('reads and bills the pages that are asked for', async () => {
    const own = await api.newKey('docs-pages');
    const pages = ['Invoice number: A-1', 'Invoice number: B-2', 'Invoice number: C-3'];
    const pdf = new Blob([new Uint8Array(plainPdf(pages))], { type: 'application/pdf' });
    const reply = await extract({ pages: '2', mode: 'fast' }, pdf, { key: own });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.body['result']).to.have.property('invoice_number', 'B-2');
    expect(reply.body['cost']).to.deep.include({ pages: 1 });
    expect(reply.body).to.have.nested.property('meta.pages[0].page', 2);
    const { document_id } = reply.body['meta'] as { readonly document_id: string };
    const documents = await api.call('get', '/v1/documents?tenant_id=docs-pages', { key: own });
    expect(documents.body['items'], documents.text).to.have.nested.property('[0].pages', 3);
    expect(documents.body['items']).to.have.nested.property('[0].document_id', document_id);
    const beyond = await extract({ pages: '1,4' }, pdf, { key: own });
    expect(issuesIn(beyond)).to.deep.equal(['body.pages value_error']);
    expect(beyond.text).to.contain('There is no page 4: the document has 3 pages.');
    const balance = await api.call('get', '/v1/billing/balance/docs-pages');
    expect(balance.body).to.include({ free_pages_remaining: 49, held_credits: 0 });
  });

  it('delivers of a long text what is on the pages that are billed, and cites those', async () => {
    const own = await api.newKey('docs-texts');
    const lines = Array.from({ length: 200 }, (_, i) => `Line ${i} of a text without any empty line in it.`);
    lines[150] = 'Invoice number: T-7';
    const long = new Blob([lines.join('\n')], { type: 'text/plain' });
    const whole = await extract({}, long, { key: own });
    expect(whole.body['cost']).to.deep.include({ pages: 4 });
    expect(whole.body['result']).to.have.property('invoice_number', 'T-7');
    expect(whole.body).to.have.nested.property('meta.citations[0].page', 3);
    expect((await extract({ pages: '3' }, long, { key: own })).body['result']).to.have.property(
      'invoice_number',
      'T-7',
    );
    const other = await extract({ pages: '1-2,4' }, long, { key: own });
    expect(other.body['result']).not.to.have.property('invoice_number');
    expect(other.body['cost']).to.deep.include({ pages: 3 });
    const parts: string[] = [];
    for (const pages of ['1', '2', '3', '4']) {
      const { body } = await convert({ pages }, long);
      expect(body).to.have.nested.property('meta.page_count', 1);
      parts.push(String(body['markdown']).trimEnd());
    }
    expect(parts.join('\n')).to.equal(lines.join('\n'));
    expect(Math.max(...parts.map(({ length }) => length))).to.be.at.most(3300);
  });

  it('opens an encrypted PDF with its password, which is not kept', async () => {
    const password = 'open sesame';
    const headers = { 'idempotency-key': randomUUID() };
    const pdf = new Blob([new Uint8Array(encryptedPdf(password))], {
      type: 'application/pdf',
    });
    const opening = (fields: Record<string, string>) =>
      api.call('post', '/v1/to-markdown', {
        key,
        form: formOf(fields, pdf, 'a.pdf'),
        headers,
      });
    expect((await opening({})).code).to.equal('unreadable_file');
    expect((await opening({ password: 'another' })).code).to.equal('wrong_password');
    const opened = await opening({ password });
    expect(opened.body['markdown'], opened.text).to.equal('secret\n');
    const replayed = await opening({ password: 'another' });
    expect(replayed.headers.get('idempotent-replayed')).to.equal('true');
  });

  it('proposes a schema of the labels of the document, beside blocks or alone', async () => {
    const letter = new Blob(['Invoice No.: A-17\nTotal: 12.50\n'], { type: 'text/plain' });
    const alone = await convert({ include: 'proposed_schema' }, letter, 'a.txt');
    expect(alone.body['proposed_schema'], alone.text).to.deep.equal({
      type: 'object',
      properties: {
        invoice_no: { type: 'string', description: 'Invoice No.' },
        total: { type: 'number', description: 'Total' },
      },
    });
    expect(alone.body).not.to.have.property('pages');
    const both = await convert({ include: 'proposed_schema,blocks' }, letter, 'a.txt');
    expect(both.body['proposed_schema']).to.deep.equal(alone.body['proposed_schema']);
    expect(both.body['pages']).to.have.length(1);
    const markdownToo = await convert({ include: 'proposed_schema,page_markdown' }, letter, 'a.txt');
    const [page] = markdownToo.body['pages'] as object[];
    expect(page).to.have.keys('page', 'markdown');
  });

  it('gives blocks, page by page, and tables as HTML', async () => {
    const table = '<table><tr><th colspan="2">A & B</th></tr><tr><td>1</td><td>2 < 3</td></tr></table>';
    const html = new Blob([`<h2>Title</h2><p>Text</p>${table}`], { type: 'text/html' });
    const reply = await convert({ include: 'blocks, page_markdown', table_format: 'html' }, html, 'a.html');
    const rows = [
      '<table>',
      '<tr><th colspan="2">A &amp; B</th></tr>',
      '<tr><td>1</td><td>2 &lt; 3</td></tr>',
    ];
    const markdown = `## Title\n\nText\n\n${[...rows, '</table>'].join('\n')}\n`;
    expect(reply.body['markdown'], reply.text).to.equal(markdown);
    const cell = (text: string, [row, column]: readonly [number, number], column_span = 1) => ({
      text,
      row,
      column,
      row_span: 1,
      column_span,
      bbox: null,
    });
    expect(reply.body['pages']).to.deep.equal([
      {
        page: 1,
        markdown,
        blocks: [
          { type: 'heading', bbox: null, text: 'Title', level: 2 },
          { type: 'paragraph', bbox: null, text: 'Text' },
          {
            type: 'table',
            bbox: null,
            rows: 2,
            columns: 2,
            header_rows: 1,
            cells: [cell('A & B', [0, 0], 2), cell('1', [1, 0]), cell('2 < 3', [1, 1])],
          },
        ],
      },
    ]);
    const plain = await convert({}, html, 'a.html');
    expect(plain.body).not.to.have.property('pages');
    expect(plain.body['markdown']).to.contain('| A & B | A & B |');
    expect((await convert({ include: 'words' }, html)).code).to.equal('validation_error');
    expect((await convert({ table_format: 'latex' }, html)).code).to.equal('validation_error');
  });

  it('says what became of each page, and warns', async () => {
    const pdf = new Blob([new Uint8Array(plainPdf(['Some text', '']))], { type: 'application/pdf' });
    const reply = await convert({ conversion_mode: 'fast' }, pdf, 'a.pdf');
    const { meta } = reply.body as { readonly meta: Record<string, readonly object[]> };
    const size = { width: 400, height: 200, rotation: 0 };
    expect(meta['pages'], reply.text).to.deep.equal([
      { page: 1, status: 'ok', source: 'text', detail: null, ...size },
      { page: 2, status: 'skipped', source: 'text', detail: 'The page has no text layer.', ...size },
    ]);
    const blank = new Blob([new Uint8Array(plainPdf(['']))], { type: 'application/pdf' });
    const nothing = await convert({}, blank, 'a.pdf');
    expect(nothing.body, nothing.text).to.have.nested.property('meta.warnings[0].code', 'no_text_found');
    expect(nothing.body).to.have.nested.property('meta.pages[0].status', 'empty');
  });
});
