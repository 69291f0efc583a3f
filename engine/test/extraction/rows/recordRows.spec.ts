import { expect } from 'chai';
import type { JsonObject } from '../../../kernel/json.ts';
import { extract } from '../../../extraction/extract.ts';
import { laidOut, type Placed } from '../../support/laidOut.ts';

const repair = {
  defect: { type: 'string' },
  mended_by: { type: 'string' },
  due: { type: 'string', format: 'date' },
};
const schema = {
  type: 'object',
  properties: { repairs: { type: 'array', items: { type: 'object', properties: repair } } },
};
const rowsIn = (placed: readonly Placed[], properties: JsonObject = repair) =>
  extract(laidOut([placed]), {
    type: 'object',
    properties: { repairs: { type: 'array', items: { type: 'object', properties } } },
  }).value['repairs'];

const REPAIRS = [
  ['Loose slate', 'Ada Low', '2022-03-04'],
  ['Cracked step', 'Bo Renn', '2022-05-06'],
] as const;
const rows = REPAIRS.map(([defect, mended_by, due]) => ({ defect, mended_by, due }));

const block = ([defect = '', by = '', due = '']: readonly string[], y: number): readonly Placed[] => [
  [40, y, `Defect: ${defect}`],
  [40, y + 16, `Mended by: ${by}`],
  [300, y + 16, `Due: ${due}`],
];

describe('rows that are printed as blocks of labels and values', () => {
  it('begin where the first label comes again', () => {
    const placed = REPAIRS.flatMap((one, i) => block(one, 100 + 80 * i));
    expect(rowsIn(placed)).to.deep.equal(rows);
    const { citations } = extract(laidOut([placed]), schema);
    expect(citations.find(({ path }) => path === '/repairs/1/defect')?.text).to.equal('Cracked step');
  });

  it('begin after labels that stand at the head of the document', () => {
    const placed: readonly Placed[] = [
      [40, 40, 'Due: 2022-01-31'],
      ...REPAIRS.flatMap((one, i) => block(one, 100 + 80 * i)),
    ];
    expect(rowsIn(placed)).to.deep.equal(rows);
  });

  it('leave out the member that one of them has not', () => {
    const third = [...REPAIRS, ['Dry rot', 'Cy Hart', '']];
    const placed = third.flatMap((one, i) =>
      block(one, 100 + 80 * i).filter(([, , text]) => text !== 'Due: '),
    );
    expect(rowsIn(placed)).to.deep.equal([...rows, { defect: 'Dry rot', mended_by: 'Cy Hart' }]);
  });

  it('have the text above them for the member that has no label', () => {
    const placed = REPAIRS.flatMap((one, i): readonly Placed[] => [
      [40, 84 + 90 * i, `Chapel of St ${['Bride', 'Clement'][i] ?? ''}`],
      ...block(one, 100 + 90 * i),
    ]);
    expect(rowsIn(placed, { place: { type: 'string' }, ...repair })).to.deep.equal(
      rows.map((row, i) => ({ place: ['Chapel of St Bride', 'Chapel of St Clement'][i], ...row })),
    );
  });

  it('are no table whose header is a line of labels and values', () => {
    const meeting = {
      committee: { type: 'string' },
      date: { type: 'string', format: 'date' },
      time: { type: 'string' },
    };
    const placed = ['Works', 'Finance'].flatMap((name, i): readonly Placed[] => [
      [40, 84 + 60 * i, name],
      [40, 100 + 60 * i, `Date: 2024-03-0${i + 4}`],
      [300, 100 + 60 * i, `Time: 1${i + 7}:30`],
    ]);
    expect(rowsIn(placed, meeting)).to.deep.equal([
      { committee: 'Works', date: '2024-03-04', time: '17:30' },
      { committee: 'Finance', date: '2024-03-05', time: '18:30' },
    ]);
  });

  it('are none where only one block stands', () => {
    expect(rowsIn(block([...REPAIRS[0]], 100))).to.equal(undefined);
  });

  it('are none where the labels say few of the members', () => {
    const placed = REPAIRS.map(([, , due], i): Placed => [40, 100 + 20 * i, `Due: ${due}`]);
    expect(rowsIn(placed)).to.equal(undefined);
  });
});
