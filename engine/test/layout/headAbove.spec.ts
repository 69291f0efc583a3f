import { expect } from 'chai';
import type { Rule } from '../../layout/content.ts';
import { line, markdown, pageOf } from '../support/drawnPages.ts';

const row = (y: number, cells: readonly string[]) =>
  cells.map((text, i) => line(text, [[50, 200, 350][i] ?? 0, y]));
const under = (...heights: readonly number[]): readonly Rule[] => heights.map((y): Rule => [48, y, 450, y]);
const body = [
  ...row(120, ['Mill', 'Ada Low', '12']),
  ...row(140, ['Church', 'Bo Renn', '30']),
  ...row(160, ['Manor', 'Cy Dow', '7']),
];

describe('a table with a rule below each row', () => {
  it('begins with the row above its first rule', () => {
    const words = [...row(100, ['Pond', 'Keeper', 'Frogs']), ...body];
    expect(markdown(pageOf(words, under(114, 134, 154, 174)))).to.equal(
      '| Pond | Keeper | Frogs |\n| --- | --- | --- |\n| Mill | Ada Low | 12 |\n' +
        '| Church | Bo Renn | 30 |\n| Manor | Cy Dow | 7 |\n',
    );
  });

  it('does not begin with a text above it that is no row', () => {
    const words = [line('Ponds of the parish and what lives there', [50, 100]), ...body];
    expect(markdown(pageOf(words, under(114, 134, 154, 174)))).to.contain('| Mill | Ada Low | 12 |\n| --- |');
  });

  it('does not begin with a row that stands further off', () => {
    const words = [...row(60, ['Pond', 'Keeper', 'Frogs']), ...body];
    expect(markdown(pageOf(words, under(114, 134, 154, 174)))).to.contain('| Mill | Ada Low | 12 |\n| --- |');
  });
});
