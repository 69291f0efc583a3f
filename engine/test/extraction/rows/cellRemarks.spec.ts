import { expect } from 'chai';
import { tableOf, type Document, type Word } from '../../../document/document.ts';
import { extract } from '../../../extraction/extract.ts';

const word = (text: string, [x, y]: readonly [number, number], size: number): Word => ({
  text,
  box: [x, y, x + 5 * text.length, y + size],
  confidence: 1,
  fontSize: size,
  bold: false,
});

/** A payment with a line below its name, in letters of a size. */
function statement(size: number): Document {
  const box = [100, 40, 200, 64] as const;
  const table = tableOf(
    [
      ['Payee', 'Amount'],
      ['Grove Mill by card', '12.50'],
      ['Orme', '8.00'],
    ],
    1,
  );
  const cells = table.cells.map((cell) => (cell.text === 'Grove Mill by card' ? { ...cell, box } : cell));
  const lines = [
    [word('Grove', [100, 40], 10), word('Mill', [130, 40], 10)],
    [word('by', [100, 54], size), word('card', [112, 54], size)],
  ].map((words) => ({ text: words.map(({ text }) => text).join(' '), box: null, words }));
  const page = { page: 1, width: 595, height: 842, lines, blocks: [{ ...table, cells }] };
  return {
    mimeType: 'application/pdf',
    pages: [{ ...page, status: 'ok', source: 'text_layer', detail: null }],
    warnings: [],
  };
}

const payments = {
  type: 'array',
  items: { type: 'object', properties: { payee: { type: 'string' }, amount: { type: 'number' } } },
};
const payeesIn = (document: Document) =>
  extract(document, { type: 'object', properties: { payments } }).value['payments'];

describe('a cell of several lines', () => {
  it('says its name without the remark that is set smaller below it', () => {
    expect(payeesIn(statement(8))).to.deep.equal([
      { payee: 'Grove Mill', amount: 12.5 },
      { payee: 'Orme', amount: 8 },
    ]);
  });

  it('says all of its lines where they are set alike', () => {
    expect(payeesIn(statement(10))).to.deep.equal([
      { payee: 'Grove Mill by card', amount: 12.5 },
      { payee: 'Orme', amount: 8 },
    ]);
  });
});
