import { expect } from 'chai';
import { line, markdown, pageOf } from '../support/drawnPages.ts';

const PLACES = [200, 260, 320, 380, 440, 500] as const;
const row = (y: number, label: string, cells: readonly string[]) => [
  line(label, [50, y]),
  ...cells.map((text, i) => line(text, [PLACES[i] ?? 0, y])),
];
const body = [
  ...row(132, 'Frogs', ['1', '2', '50', '3', '4', '25']),
  ...row(144, 'Newts', ['5', '6', '17', '7', '8', '12']),
  ...row(156, 'Toads', ['9', '8', '11', '6', '5', '20']),
];
const years = ['2017', '2016', '% off', '2017', '2016', '% off'];

describe('names of groups of columns', () => {
  it('stand over the headings that come again below each, wherever they are centred', () => {
    const words = [
      line('Week', [258, 108]),
      line('Year to date', [425, 108]),
      ...years.map((text, i) => line(text, [PLACES[i] ?? 0, 120])),
      ...body,
    ];
    expect(markdown(pageOf(words))).to.contain(
      '|  | Week | Week | Week | Year to date | Year to date | Year to date |\n' +
        '| --- | --- | --- | --- | --- | --- | --- |\n' +
        '|  | 2017 | 2016 | % off | 2017 | 2016 | % off |\n' +
        '| Frogs | 1 | 2 | 50 | 3 | 4 | 25 |',
    );
  });

  it('are none where they are alike themselves: headings that wrap', () => {
    const words = [
      line('Weight', [260, 108]),
      line('Weight', [440, 108]),
      ...['Sold', 'left', 'Price', 'Sold', 'left', 'Price'].map((text, i) =>
        line(text, [PLACES[i] ?? 0, 120]),
      ),
      ...body,
    ];
    expect(markdown(pageOf(words))).to.contain(
      '|  | Sold | Weight left | Price | Sold | Weight left | Price |',
    );
  });
});
