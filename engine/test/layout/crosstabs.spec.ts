import { expect } from 'chai';
import type { PlacedWord, Rule } from '../../layout/content.ts';
import { line, markdown, pageOf } from '../support/drawnPages.ts';

type Cells = readonly (readonly [x: number, text: string])[];

const rowAt = (y: number, cells: Cells): readonly PlacedWord[] =>
  cells.flatMap(([x, text]) => line(text, [x, y]));
const endingAt = (y: number, cells: Cells): readonly PlacedWord[] =>
  cells.flatMap(([x, text]) => line(text, [x - 5 * text.length, y]));
const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const across = (y: number, [from, to]: readonly [number, number]): Rule => [from, y, to, y];
const down = (x: number, [from, to]: readonly [number, number]): Rule => [x, from, x, to];

describe('columns of numbers', () => {
  it('are two where numbers stand so close that only other rows part them', () => {
    const counts: readonly (readonly string[])[] = [
      ['Frogs', '0', '1', '-100.0'],
      ['Newts', '14', '113', '-7.7'],
      ['Toads', '85', '100', '5.0'],
      ['Carps', '29', '31', '-6.5'],
      ['Perch', '7', '9', '-2.2'],
    ];
    const words = counts.map(([name = '', ...numbers], i) => [
      ...line(name, [54, 100 + 14 * i]),
      ...endingAt(
        100 + 14 * i,
        numbers.map((text, at) => [[180, 260, 294][at] ?? 0, text]),
      ),
    ]);
    expect(markdown(pageOf(words))).to.contain(row('Frogs', '0', '1', '-100.0'));
  });

  it('go on under heads of groups that stand above their grid', () => {
    const edges = [50, 150, 200, 250, 300, 350, 450];
    const words = [
      rowAt(102, [[190, '2006'], [292, '2007']]),
      rowAt(114, [[54, 'Goods'], [154, 'Tons'], [204, 'Share'], [254, 'Tons'], [304, 'Share']]),
      ...['Fish', 'Salt', 'Wood'].map((name, i) =>
        rowAt(130 + 16 * i, [[54, name], [154, `1${i}`], [204, `3${i}`], [254, `5${i}`], [304, `7${i}`]]),
      ),
    ]; // prettier-ignore
    const rules = [
      ...[112, 127, 143, 159, 175].map((y) => across(y, [50, 350])),
      ...edges.slice(0, 6).map((x) => down(x, [112, 175])),
    ];
    expect(markdown(pageOf(words, rules))).to.contain(row('', '2006', '2006', '2007', '2007'));
  });
});

describe('rows', () => {
  it('have labels of several lines whose last stands level with their numbers', () => {
    const labels = [
      ['Exports of primary', 'goods'],
      ['Exports of metals', 'and of timber', 'and stone'],
      ['Imports of woven', 'cloth'],
    ];
    let y = 100;
    const words = labels.flatMap((lines, i) =>
      lines.map((text, at) => {
        y += 12;
        const numbers: Cells = at === lines.length - 1 ? [[200, `${12 + i}`], [260, `${30 + i}`]] : [];
        return rowAt(y, [[54, text], ...numbers]);
      }),
    ); // prettier-ignore
    const head = rowAt(98, [[54, 'Kind'], [200, '2006'], [260, '2007']]); // prettier-ignore
    const rules = [95, 110, 134, 170, 194].map((at) => across(at, [50, 300]));
    expect(markdown(pageOf([head, ...words], rules))).to.contain(
      [
        row('Exports of primary goods', '12', '30'),
        row('Exports of metals and of timber and stone', '13', '31'),
        row('Imports of woven cloth', '14', '32'),
      ].join('\n'),
    );
  });

  it('of two tables whose boxes of headings stand side by side are theirs alone', () => {
    const boxes: readonly (readonly number[])[] = [
      [50, 120, 180, 280],
      [292, 370, 430, 540],
    ];
    const rules = boxes.flatMap((xs) => {
      const ends = [xs[0] ?? 0, xs.at(-1) ?? 0] as const;
      return [across(100, ends), across(114, ends), ...xs.map((x) => down(x, [100, 114]))];
    });
    const words = [
      rowAt(102, [[54, 'Begins'], [124, 'Spots'], [184, 'Amount'], [296, 'Month'], [374, 'Spots'], [434, 'Amount']]),
      rowAt(116, [[54, '02/17/20'], [124, '21'], [240, '$7,495'], [296, 'February'], [374, '21'], [434, '$7,495']]),
      rowAt(128, [[54, '02/24/20'], [124, '9'], [240, '$2,295'], [296, 'March'], [374, '9'], [434, '$2,295']]),
      rowAt(140, [[293, 'Totals'], [374, '30'], [434, '$9,790']]),
    ]; // prettier-ignore
    const read = markdown(pageOf(words, rules));
    expect(read).to.contain([row('02/17/20', '21', '$7,495'), row('02/24/20', '9', '$2,295')].join('\n'));
    expect(read).to.contain([row('March', '9', '$2,295'), row('Totals', '30', '$9,790')].join('\n'));
  });

  it('are those of the table, where the page around it is ruled up to the edges of the paper', () => {
    const bars = [40, 60, 64, 220, 260].map((y) => across(y, [-14, 610]));
    const frame: readonly Rule[] = [down(0, [-10, 810]), ...bars];
    const edges = [50, 180, 280, 450].map((x) => down(x, [100, 170]));
    const words = [
      rowAt(46, [[54, 'Ships in the harbours']]),
      rowAt(84, [[210, '2006'], [310, '2007']]),
      rowAt(104, [[54, 'Region'], [200, 'Ships'], [300, 'Share']]),
      rowAt(124, [[54, 'North'], [200, '12'], [300, '3.5']]),
      rowAt(144, [[54, 'South'], [200, '13'], [300, '4.5']]),
      rowAt(200, [[54, 'Source: the harbours']]),
    ]; // prettier-ignore
    const rules = [...frame, ...edges, ...[100, 120, 140, 170].map((y) => across(y, [50, 450]))];
    const read = markdown(pageOf(words, rules));
    expect(read).to.contain(row('Region', 'Ships', 'Share'));
    expect(read).not.to.contain('| Ships in the harbours');
  });
});
