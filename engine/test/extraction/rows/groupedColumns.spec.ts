import { expect } from 'chai';
import { extract } from '../../../extraction/extract.ts';
import type { TableBlock } from '../../../document/document.ts';
import { gridsOf } from '../../../extraction/grids/tableGrids.ts';
import { headerTexts } from '../../../extraction/grids/headerRows.ts';
import { laidOut, type Placed } from '../../support/laidOut.ts';

const PLACES = [240, 290, 340, 400, 450, 500] as const;
const cells = (y: number, texts: readonly string[]): readonly Placed[] =>
  texts.map((text, i) => [PLACES[i] ?? 0, y, text, 'right']);
const counts: readonly (readonly [string, readonly string[]])[] = [
  ['Frogs', ['1', '2', '50', '13', '14', '25']],
  ['Newts', ['5', '6', '17', '17', '18', '12']],
  ['Toads', ['9', '8', '11', '26', '25', '20']],
];

describe('columns under names of groups', () => {
  it('are told where the same headings come again below each name, with rows that no header names', () => {
    const document = laidOut([
      [
        [248, 80, 'Week to date'],
        [410, 80, 'Year to date'],
        ...cells(94, ['2017', '2016', '%', '2017', '2016', '%']),
        ...counts.flatMap(([label, numbers], i): readonly Placed[] => [
          [40, 110 + 14 * i, label],
          ...cells(110 + 14 * i, numbers),
        ]),
      ],
    ]);
    const row = {
      animal: { type: 'string' },
      week_to_date_2016: { type: 'integer' },
      year_to_date_2017: { type: 'integer' },
    };
    const items = { type: 'object', properties: row };
    const schema = { type: 'object', properties: { seen: { type: 'array', items } } };
    expect(extract(document, schema).value['seen']).to.deep.equal([
      { animal: 'Frogs', week_to_date_2016: 2, year_to_date_2017: 13 },
      { animal: 'Newts', week_to_date_2016: 6, year_to_date_2017: 17 },
      { animal: 'Toads', week_to_date_2016: 8, year_to_date_2017: 26 },
    ]);
  });

  it('are not told by a title that stands over parts of two groups', () => {
    const texts = [
      ['', '', 'Animals', 'Animals', '', ''],
      ['', 'Week to date', 'Week to date', 'Year to date', 'Year to date', '2 Year'],
      ['', '2017', '2016', '2017', '2016', '% Chg'],
      ...counts.map(([label, [one = '', two = '', , three = '', four = '']]) => [
        label,
        one,
        two,
        three,
        four,
        '-2.5',
      ]),
    ];
    const [page] = laidOut([[]]).pages;
    const pages = page === undefined ? [] : [{ ...page, blocks: [tableBetween(texts)] }];
    const [grid] = gridsOf({ mimeType: 'application/pdf', pages, warnings: [] });
    expect(grid === undefined ? [] : headerTexts(grid, 2, 3)).to.deep.equal([
      '',
      'Week to date 2017',
      'Week to date 2016',
      'Year to date 2017',
      'Year to date 2016',
      '2 Year % Chg',
    ]);
  });

  it('end where lines of a form begin', () => {
    const document = laidOut([
      [
        ...cells(80, ['Animal', 'Week', 'Year']),
        ...counts.flatMap(([label, [one = '', , , two = '']], i) => cells(96 + 14 * i, [label, one, two])),
        [40, 150, 'About the keeper:'],
        [60, 164, 'Name Ada Low'],
        [60, 178, 'Town Ely'],
        ...cells(192, ['Seen', '4', '5']),
      ],
    ]);
    const count = { type: 'integer' };
    const items = { type: 'object', properties: { animal: { type: 'string' }, week: count, year: count } };
    const schema = { type: 'object', properties: { seen: { type: 'array', items } } };
    expect(extract(document, schema).value['seen']).to.have.length(3);
  });
});

/** A table whose neighbours of one text in a row are one cell. */
function tableBetween(texts: readonly (readonly string[])[]): TableBlock {
  const found = texts.flatMap((row, at) =>
    row.flatMap((text, column) => {
      if (text === '' || row[column - 1] === text) return [];
      const columnSpan = row.filter((one) => one === text).length;
      return [{ text, markdown: text, box: null, row: at, column, rowSpan: 1, columnSpan }];
    }),
  );
  const columns = texts[0]?.length ?? 0;
  return { kind: 'table', rows: texts.length, columns, headerRows: 1, cells: found, box: null };
}
