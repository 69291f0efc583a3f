import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { openDocumentWorkers, type DocumentWorkers } from '../../isolation/documentWorkers.ts';
import type { Box, Document, Word } from '../../document/document.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { extract } from '../../extraction/extract.ts';
import type { ParseRequest } from '../../ports/documentParser.ts';
import type { Extraction } from '../../ports/extractionEngine.ts';

const fixture = (name: string): string => `test/fixtures/${name}`;
const schema = JSON.parse(readFileSync(fixture('invoice.schema.json'), 'utf8')) as JsonObject;
const request = (name: string): ParseRequest => ({
  path: fixture(name),
  fileName: name,
  effort: 'standard',
  pagesMax: 100,
  deadlineMs: 20_000,
  share: 't',
});

describe('the local engine on the invoices of this repository', () => {
  let workers: DocumentWorkers;
  before(() => {
    workers = openDocumentWorkers({ processes: 1 });
  });
  after(() => workers.close());

  const extraction = async (
    name: string,
    { citations = true, ...more }: { citations?: boolean; schema?: JsonObject } = {},
  ): Promise<Extraction> => {
    const result = await workers.localEngine.extract({
      ...request(name),
      schema,
      settings: { citations },
      ...more,
    });
    if (result.kind !== 'ok') throw new Error(result.kind);
    return result.extraction;
  };
  const parsed = async (name: string): Promise<Document> => {
    const result = await workers.parser.parse(request(name));
    if (result.kind !== 'ok') throw new Error(result.kind);
    return result.document;
  };

  it('reads every value, and leaves out what is not there', async () => {
    const { value, validationErrors } = await extraction('invoice.pdf');
    expect(validationErrors).to.deep.equal([]);
    expect(value).to.deep.equal({
      invoice_number: 'LF-2031-0417',
      invoice_date: '2031-03-17',
      due_date: '2031-04-16',
      seller_name: 'Larkspur & Finch Ltd',
      seller_vat_id: 'GB123456782',
      buyer_name: 'Brindlemere Observatory',
      iban: 'GB33BUKB20201555555555',
      currency: 'GBP',
      net_total: 631,
      tax_total: 126.2,
      grand_total: 757.2,
      line_items: [
        { description: 'Brass telescope mount, polished', quantity: 2, unit_price: 184.5, amount: 369 },
        { description: 'Objective lens cleaning kit', quantity: 5, unit_price: 12.8, amount: 64 },
        { description: 'Star atlas, northern hemisphere', quantity: 3, unit_price: 41, amount: 123 },
        { description: 'Delivery and installation', quantity: 1, unit_price: 75, amount: 75 },
      ],
    });
  });

  it('joins a table over two pages', async () => {
    const { value, pages } = await extraction('invoice-2-pages.pdf');
    const items = value['line_items'] as readonly { readonly amount: number }[];
    expect(pages).to.have.length(2);
    expect(items).to.have.length(30);
    expect(items.reduce((sum, { amount }) => sum + amount, 0)).to.be.closeTo(2334.8, 0.005);
    expect(value).to.include({ net_total: 2334.8, tax_total: 466.96, grand_total: 2801.76 });
  });

  it('cites each value with a box that holds its words', async () => {
    const { citations } = await extraction('invoice-2-pages.pdf');
    const { pages } = await parsed('invoice-2-pages.pdf');
    expect(citations.length).to.be.above(120);
    for (const { text, page, bbox, confidence } of citations) {
      const words = pages[page! - 1]!.lines.flatMap(({ words: all }) => all).filter((word) =>
        isInside(word, bbox!),
      );
      for (const part of text.split(' ')) expect(words.map((word) => word.text)).to.include(part);
      expect(confidence).to.be.within(0, 1);
    }
  });

  it('gives no citations when none are wanted', async () => {
    expect((await extraction('invoice.pdf', { citations: false })).citations).to.deep.equal([]);
  });

  it('reports a required value that is missing, and moves an invalid one out', async () => {
    const properties = {
      invoice_number: { type: 'string', pattern: '^[0-9]+$' },
      grand_total: { type: 'number' },
      passport_number: { type: 'string' },
    };
    const strict = { type: 'object', properties, required: ['passport_number'] };
    const { value, validationErrors } = await extraction('invoice.pdf', { schema: strict });
    expect(value).to.deep.equal({ grand_total: 757.2 });
    expect(validationErrors.map(({ path, keyword, actual }) => ({ path, keyword, actual }))).to.deep.equal([
      { path: '/passport_number', keyword: 'required', actual: null },
      { path: '/invoice_number', keyword: 'pattern', actual: 'LF-2031-0417' },
    ]);
  });

  it('refuses a schema that does not compile', async () => {
    const broken = { type: 'object', properties: { a: { type: 'nonsense' } } };
    const result = await workers.localEngine.extract({
      ...request('invoice.pdf'),
      schema: broken,
      settings: { citations: true },
    });
    expect(result.kind).to.equal('invalid_schema');
  });

  it('is the same to the byte each time', async () => {
    const document = await parsed('invoice.pdf');
    expect(JSON.stringify(extract(document, schema))).to.equal(JSON.stringify(extract(document, schema)));
  });
});

const isInside = ({ box }: Word, [x0, y0, x1, y1]: Box): boolean =>
  box !== null && box[0] >= x0 - 0.01 && box[1] >= y0 - 0.01 && box[2] <= x1 + 0.01 && box[3] <= y1 + 0.01;
