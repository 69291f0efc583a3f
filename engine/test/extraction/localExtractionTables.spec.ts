import { expect } from 'chai';
import { openFlow } from '../../formats/pieces/flow.ts';
import { textDocument } from '../../formats/text/textDocument.ts';
import { tableOf, type Document } from '../../document/document.ts';
import type { Json } from '../../kernel/json.ts';
import { productsOf } from '../../extraction/grids/goods.ts';
import { extract } from '../../extraction/extract.ts';
import { repairedShape } from '../../extraction/places/layout.ts';
import { laidOut, type Placed } from '../support/laidOut.ts';

const items: Json = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      description: { type: 'string' },
      quantity: { type: 'number' },
      unit_price: { type: 'number' },
      line_total: { type: 'number' },
    },
  },
};
const rowsOf = (document: Document): Json =>
  extract(document, { type: 'object', properties: { items } }).value['items'] ?? null;

const row = (y: number, cells: readonly [string, string, string, string]): readonly Placed[] => [
  [50, y, cells[0]],
  [330, y, cells[1], 'right'],
  [430, y, cells[2], 'right'],
  [540, y, cells[3], 'right'],
];
const bolt = { description: 'Bolt', quantity: 10, unit_price: 0.2, line_total: 2 };
const nut = { description: 'Nut', quantity: 5, unit_price: 0.1, line_total: 0.5 };

describe('items of a table', () => {
  const headers: readonly (readonly [string, string, string, string])[] = [
    ['Description', 'Qty', 'Unit price', 'Amount'],
    ['Bezeichnung', 'Menge', 'Einzelpreis', 'Gesamt'],
    ['Désignation', 'Qté', 'P.U. HT', 'Montant HT'],
    ['Concepto', 'Cant.', 'Precio', 'Importe'],
    ['Descrizione', 'Q.tà', 'Prezzo unitario', 'Importo'],
    ['Omschrijving', 'Aantal', 'Stuksprijs', 'Bedrag'],
    ['Designação', 'Qtd.', 'Preço unitário', 'Valor'],
  ];
  for (const header of headers)
    it(`reads the columns ${header.join(', ')}`, () => {
      const page = [
        ...row(100, header),
        ...row(120, ['Bolt', '10', '0.20', '2.00']),
        ...row(140, ['Nut', '5', '0.10', '0.50']),
        ...row(170, ['', '', 'Total', '2.50']).slice(2),
      ];
      expect(rowsOf(laidOut([page]))).to.deep.equal([bolt, nut]);
    });

  it('joins wrapped lines, and leaves notes of other columns out', () => {
    const page = [
      ...row(100, ['Description', 'Qty', 'Price', 'Amount']),
      ...row(120, ['Bolt with a very', '10', '0.20', '2.00']),
      [50, 132, 'long shank'] as const,
      ...row(160, ['Nut', '5', '0.10', '0.50']),
    ];
    expect(rowsOf(laidOut([page]))).to.deep.equal([
      { ...bolt, description: 'Bolt with a very long shank' },
      nut,
    ]);
  });

  it('has goods that are called as a total, and no totals', () => {
    const page = [
      ...row(100, ['Description', 'Qty', 'Unit price', 'Amount']),
      ...row(120, ['Bolt', '10', '0.20', '2.00']),
      ...row(140, ['Total Station 500', '1', '900.00', '900.00']),
      ...row(160, ['Nut', '5', '0.10', '0.50']),
      [50, 180, 'Total of all items'] as const,
      [330, 180, '16', 'right'] as const,
      [540, 180, '902.50', 'right'] as const,
    ];
    const station = { description: 'Total Station 500', quantity: 1, unit_price: 900, line_total: 900 };
    expect(rowsOf(laidOut([page]))).to.deep.equal([bolt, station, nut]);
  });

  it('parts a quantity from the name that stands close to it', () => {
    const page: readonly Placed[] = [
      [70, 100, 'Qty', 'right'],
      [75, 100, 'Item'],
      [430, 100, 'Rate', 'right'],
      [540, 100, 'Total', 'right'],
      ...(['10 Bolt 0.20 2.00', '5 Nut 0.10 0.50'] as const).flatMap((line, i): readonly Placed[] => {
        const [quantity = '', name = '', price = '', amount = ''] = line.split(' ');
        const y = 120 + 20 * i;
        return [
          [70, y, quantity, 'right'],
          [73, y, name],
          [430, y, price, 'right'],
          [540, y, amount, 'right'],
        ];
      }),
    ];
    expect(rowsOf(laidOut([page]))).to.deep.equal([bolt, nut]);
  });

  it('goes on over the page, where the header is repeated', () => {
    const header = row(50, ['Description', 'Qty', 'Price', 'Amount']);
    const pages = [
      [...header, ...row(70, ['Bolt', '10', '0.20', '2.00'])],
      [...header, ...row(70, ['Nut', '5', '0.10', '0.50'])],
    ];
    expect(rowsOf(laidOut(pages))).to.deep.equal([bolt, nut]);
  });

  it('reads a table without boxes, with its totals in it', async () => {
    const table = tableOf(
      [
        ['Pos.', 'Artikel', 'Menge', 'Preis', 'Betrag'],
        ['1', 'Bolt', '10', '0,20', '2,00'],
        ['2', 'Nut', '5', '0,10', '0,50'],
        ['', '', '', 'Nettobetrag', '2,50'],
        ['', '', '', 'Gesamtbetrag', '2,98'],
      ],
      1,
    );
    const read = await openFlow({ mimeType: 'text/html', blocks: [table] }).read();
    expect(read.kind === 'ok' && rowsOf(read.document)).to.deep.equal([bolt, nut]);
  });

  it('reads columns of plain text', () => {
    const text = [
      'Item                 Qty     Price    Amount',
      'Bolt                  10      0.20      2.00',
      'Nut                    5      0.10      0.50',
      '--------------------------------------------',
      'Total                                   2.50',
    ].join('\n');
    expect(rowsOf(textDocument(text))).to.deep.equal([bolt, nut]);
  });
});

describe('items of a receipt', () => {
  const slip = (lines: readonly (readonly [string, string])[]): Document =>
    laidOut(
      [
        lines.flatMap(([left, right], i): readonly Placed[] => [
          ...(left === '' ? [] : [[10, 20 + 16 * i, left] as const]),
          ...(right === '' ? [] : [[280, 20 + 16 * i, right, 'right'] as const]),
        ]),
      ],
      300,
    );

  it('reads names with amounts, and quantities with prices', () => {
    const lines = [
      ['CORNER SHOP LTD', ''],
      ['2 x TEA', '4.00'],
      ['BREAD', ''],
      ['3 x 1.50', '4.50'],
      ['TOTAL', '8.50'],
      ['CASH', '10.00'],
      ['CHANGE', '1.50'],
    ] as const;
    expect(rowsOf(slip(lines))).to.deep.equal(
      [
        { description: '2 x TEA', quantity: 2, line_total: 4 },
        { description: 'BREAD', quantity: 3, unit_price: 1.5, line_total: 4.5 },
      ].map((item) => (item.quantity === 2 ? { ...item, description: 'TEA' } : item)),
    );
  });

  it('takes no list of amounts without a total for items', () => {
    expect(rowsOf(slip([['Rain in May', '4.00'], ['Rain in June', '4.50']]))).to.equal(null); // prettier-ignore
  });

  it('takes the total, not what was given or came back', () => {
    const lines = [
      ['TEA', '8.50'],
      ['SUBTOTAL', '8.50'],
      ['Amount Due', '8.50'],
      ['CASH', '10.00'],
      ['CHANGE', '1.50'],
    ] as const;
    const { value } = extract(slip(lines), { type: 'object', properties: { total: { type: 'number' } } });
    expect(value).to.deep.equal({ total: 8.5 });
  });
});

describe('what OCR mistakes', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['1O.5O', '10.50'],
    ['l2.S0', '12.50'],
    ['O5/O3/2031', '05/03/2031'],
    ['SOLO', 'SOLO'],
    ['B12', 'B12'],
    ['Oslo.de', 'Oslo.de'],
  ];
  for (const [text, repaired] of cases)
    it(`reads ${text} as ${repaired}`, () => {
      expect(repairedShape(text)).to.equal(repaired);
    });
});

describe('columns that multiply', () => {
  it('are found, whatever stands between them', () => {
    const grid = [
      [1, 10, 7, 0.2, 2],
      [2, 5, 7, 0.1, 0.5],
    ];
    expect(productsOf(grid, 5)).to.deep.include([1, 3, 4]);
    expect(productsOf(grid, 5)).not.to.deep.include([0, 2, 4]);
    expect(productsOf([], 5)).to.deep.equal([]);
  });
});

describe('the address of a receipt', () => {
  it('is read line by line where OCR has broken the postal code', () => {
    const placed: readonly Placed[] = [
      [60, 20, 'CORNER SHOP LTD'],
      [60, 36, '(99-Z)'],
      [40, 52, '12 MILL ROAD,'],
      [70, 68, '4O1OO LEEDS'],
      [50, 84, 'Tel: 01-2345678'],
      [50, 100, 'TOTAL 4.00'],
    ];
    const { pages, ...rest } = laidOut([placed], 300);
    const unsure = pages.map((page) => ({
      ...page,
      lines: page.lines.map((line) => ({
        ...line,
        words: line.words.map((word) => ({ ...word, confidence: 0.9 })),
      })),
    }));
    const schema = { type: 'object', properties: { address: { type: 'string' } } };
    expect(extract({ ...rest, pages: unsure }, schema).value).to.deep.equal({
      address: '12 MILL ROAD, 4O1OO LEEDS',
    });
  });
});
