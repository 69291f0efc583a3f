import { expect } from 'chai';
import { extract } from '../../../extraction/extract.ts';
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
});
