import { expect } from 'chai';
import type { Block } from '../../document/document.ts';
import { proposedSchema } from '../../extraction/schema/proposedSchema.ts';

const text = (words: string): Block => ({ kind: 'paragraph', box: null, text: words, markdown: words });

const item = (words: string): Block => ({
  kind: 'list_item',
  ordered: false,
  number: null,
  depth: 0,
  box: null,
  text: words,
  markdown: words,
});

const table = (rows: readonly (readonly string[])[], headerRows: number): Block => ({
  kind: 'table',
  box: null,
  rows: rows.length,
  columns: rows[0]?.length ?? 0,
  headerRows,
  cells: rows.flatMap((row, at) =>
    row.map((words, column) => ({ text: words, row: at, column, rowSpan: 1, columnSpan: 1, box: null })),
  ),
});

const proposed = (...blocks: Block[]) => proposedSchema(blocks).properties;

describe('a proposed schema', () => {
  it('has the labels of lines, with the types of what stands behind them', () => {
    const lines = 'Invoice No.: A-17\nDate: 3 May 2026\nTotal: 1,234.50 EUR\nPhone: 0044 20 7946';
    expect(proposed(text(lines))).to.deep.equal({
      invoice_no: { type: 'string', description: 'Invoice No.' },
      date: { type: 'string', format: 'date', description: 'Date' },
      total: { type: 'number', description: 'Total' },
      phone: { type: 'string', description: 'Phone' },
    });
  });

  it('has several labels of one line, and each name once', () => {
    const found = proposed(item('Date: 2026-05-03  Place: Leeds'), text('Place: York'));
    expect(Object.keys(found)).to.deep.equal(['date', 'place']);
  });

  it('has the rows of a form, and the columns of a register with its header', () => {
    const form = table(
      [
        ['Kundennummer', '4711'],
        ['Straße', 'Hauptstr. 5'],
        ['Fax', ''],
      ],
      0,
    );
    const register = table(
      [
        ['Item', 'Quantity', 'Price'],
        ['Bolt', '4', '1.20'],
        ['Nut', '12', '0.80'],
        ['Total', '', '14.40'],
      ],
      1,
    );
    expect(proposed(form, register)).to.deep.equal({
      kundennummer: { type: 'string', description: 'Kundennummer' },
      strasse: { type: 'string', description: 'Straße' },
      total: { type: 'number', description: 'Total' },
      items: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            item: { type: 'string', description: 'Item' },
            quantity: { type: 'number', description: 'Quantity' },
            price: { type: 'number', description: 'Price' },
          },
        },
      },
    });
  });

  it('has labels and values side by side as fields, which a register of like columns are not', () => {
    const pairs = table(
      [
        ['Surname', 'MCALLISTER', 'Given name', 'IAN'],
        ['Mobile', '+44 7700 900815', 'E-mail', 'ian@mail.example'],
        ['Tag', '0047 TP', 'Weight', '19.5 kg'],
        ['Due', '2025-10-07', 'Route', 'EDI - LIS'],
      ],
      1,
    );
    expect(Object.keys(proposed(pairs))).to.deep.equal([
      'surname',
      'given_name',
      'mobile',
      'e_mail',
      'tag',
      'weight',
      'due',
      'route',
    ]);
    const wages = table(
      [
        ['Personnel number', '00318'],
        ['Date of birth', '16-05-1990'],
        ['Wages', '€ 38,416.00'],
        ['Tax credit applied from 01-01-2025', 'yes'],
      ],
      1,
    );
    expect(Object.keys(proposed(wages))).to.include.members(['personnel_number', 'date_of_birth', 'wages']);
    const staff = table(
      [
        ['Name', 'Born', 'Post', 'Room'],
        ['Ada Low', '1990-02-01', 'Clerk', '12a'],
        ['Ben Renn', '1988-07-21', 'Head', '3'],
        ['Cy Fox', '1979-11-30', 'Driver', '14'],
      ],
      1,
    );
    expect(proposed(staff)['items']).to.have.nested.property('items.properties.room');
  });

  it('names a field of letters that have no Latin form by its place', () => {
    expect(proposed(text('Σύνολο: 12,50'))).to.deep.equal({
      field_1: { type: 'number', description: 'Σύνολο' },
    });
  });

  it('has a header with holes, sums without their rates, and a name once under two spellings', () => {
    const holes: Block = {
      kind: 'table',
      box: null,
      rows: 4,
      columns: 4,
      headerRows: 1,
      cells: [
        [0, 0, 'Item'],
        [0, 2, 'Price'],
        [1, 0, 'Bolt'],
        [1, 2, '1.20'],
        [1, 3, 'A'],
        [2, 0, 'VAT 20%'],
        [2, 2, '0.24'],
        [3, 0, 'Total'],
        [3, 2, '1.44'],
      ].map(([row, column, words]) => ({
        row: Number(row),
        column: Number(column),
        text: String(words),
        rowSpan: 1,
        columnSpan: 1,
        box: null,
      })),
    };
    const found = proposed(holes, text('Total: 1.44\nInvoice No.: 7\nInvoice number: 7'));
    expect(Object.keys(found)).to.have.members(['items', 'vat', 'total', 'invoice_no']);
    expect(found['invoice_no']).to.deep.include({ type: 'string' });
  });

  it('calls a field by the end of its label that is known, and a label alone by the line below it', () => {
    const found = proposed(
      text('Please pay to IBAN: GB33BUKB20201555555555'),
      text('Bill to:'),
      text('Brindle Ltd'),
    );
    expect(Object.keys(found)).to.deep.equal(['iban', 'bill_to']);
  });

  it('takes no sentence for a label, no code, and never more than a reader can use', () => {
    expect(
      proposed(text('We write to you today about this one thing: pay.'), {
        kind: 'code',
        language: null,
        text: 'a: 1',
        box: null,
      }),
    ).to.deep.equal({});
    const long = Array.from({ length: 500 }, (_, at) => `Label${String(at)}: x`).join('\n');
    expect(Object.keys(proposed(text(long)))).to.have.length(80);
    expect(proposed()).to.deep.equal({});
  });
});
