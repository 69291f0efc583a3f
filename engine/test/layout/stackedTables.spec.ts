import { expect } from 'chai';
import type { Rule } from '../../layout/content.ts';
import { line, markdown, pageOf } from '../support/drawnPages.ts';

const row = (y: number, places: readonly number[], cells: readonly string[]) =>
  cells.map((text, i) => line(text, [places[i] ?? 0, y]));
const across = (x1: number, ...heights: readonly number[]): readonly Rule[] =>
  heights.map((y): Rule => [48, y, x1, y]);
const down = (y0: number, y1: number, ...places: readonly number[]): readonly Rule[] =>
  places.map((x): Rule => [x, y0, x, y1]);

describe('tables that stand on each other', () => {
  const fields = [
    ...row(100, [52, 302], ['Pond: Mill', 'Keeper: Ada Low']),
    ...row(120, [52, 302], ['Visit: 4 May', 'Weather: dry']),
  ];
  const body = [
    ...row(140, [52, 202, 302], ['Animal', 'Seen', 'Heard']),
    ...row(160, [52, 202, 302], ['Frog', '12', '30']),
    ...row(180, [52, 202, 302], ['Newt', '3', '0']),
  ];
  const both =
    '| Pond: Mill | Keeper: Ada Low |\n| --- | --- |\n| Visit: 4 May | Weather: dry |\n\n' +
    '| Animal | Seen | Heard |\n| --- | --- | --- |\n| Frog | 12 | 30 |\n| Newt | 3 | 0 |\n';

  it('are two where the lines down end at a rule and the widths differ', () => {
    const rules = [
      ...across(540, 98, 118, 138),
      ...down(98, 138, 48, 298, 540),
      ...across(450, 156, 176, 196),
    ];
    expect(markdown(pageOf([...fields, ...body], rules))).to.equal(both);
  });

  it('are two where other lines go down below the rule', () => {
    const rules = [
      ...across(540, 98, 118, 138, 156, 176, 196),
      ...down(98, 196, 48, 540),
      ...down(98, 138, 298),
      ...down(138, 196, 198, 280),
    ];
    expect(markdown(pageOf([...fields, ...body], rules))).to.equal(both);
  });

  it('are one where the first is a single row: a header over several columns', () => {
    const words = [...row(120, [52, 302], ['Pond', 'Counts of May']), ...body];
    const rules = [
      ...across(540, 118, 138, 156, 176, 196),
      ...down(118, 196, 48, 540),
      ...down(118, 138, 298),
      ...down(138, 196, 198, 280),
    ];
    expect(markdown(pageOf(words, rules)).match(/---/g)?.length).to.equal(3);
  });

  it('are told apart where space alone parts the columns of the one between', () => {
    const words = [
      ...fields,
      ...row(140, [52, 202, 285], ['Animal', 'Seen', 'Heard']),
      ...row(160, [52, 202, 285], ['Frog', '12', '30']),
      ...row(180, [52, 302], ['Counted by: Bo Renn', 'Page: 1']),
      ...row(200, [52, 302], ['Signed: yes', 'Copy: no']),
    ];
    const rules = [
      ...across(540, 98, 118, 138, 156, 178, 198, 218),
      ...down(98, 218, 48, 540),
      ...down(98, 138, 298),
      ...down(178, 218, 298),
    ];
    expect(markdown(pageOf(words, rules))).to.equal(
      both.slice(0, both.indexOf('| Newt')) +
        '\n| Counted by: Bo Renn | Page: 1 |\n| --- | --- |\n| Signed: yes | Copy: no |\n',
    );
  });

  it('are two without rules, where the cells of neither stand level with the other’s', () => {
    const words = [
      ...row(100, [48, 140, 300, 400], ['Order', 'N-7', 'Guest', 'Ada Low']),
      ...row(118, [48, 140, 300, 400], ['Booked', '4 May', 'Class', '2']),
      ...row(136, [48, 140], ['Price in all', '47.90']),
      ...row(154, [54, 104, 184, 230, 330], ['Boat', 'From', 'At', 'To', 'Arrives']),
      ...row(172, [54, 104, 184, 230, 330], ['B 1', 'Lower Quay', '08:04', 'Mill', '09:15']),
      ...row(190, [54, 104, 184, 230, 330], ['B 2', 'Mill', '09:41', 'Manor', '10:36']),
    ];
    expect(markdown(pageOf(words))).to.equal(
      '| Order | N-7 | Guest | Ada Low |\n| --- | --- | --- | --- |\n| Booked | 4 May | Class | 2 |\n' +
        '| Price in all | 47.90 |  |  |\n\n| Boat | From | At | To | Arrives |\n| --- | --- | --- | --- | --- |\n' +
        '| B 1 | Lower Quay | 08:04 | Mill | 09:15 |\n| B 2 | Mill | 09:41 | Manor | 10:36 |\n',
    );
  });
});

describe('a grid whose headings stand above it', () => {
  const grid = [...across(350, 114, 134, 154, 174), ...down(114, 174, 48, 148, 198, 248, 350)];
  const body = [
    ...row(119, [52, 170], ['Gate shut', 'x']),
    ...row(139, [52, 218, 252], ['Boat tied', 'x', 'Rope worn']),
    ...row(159, [52, 170], ['Lamp lit', 'x']),
  ];

  it('begins with them, each over its column', () => {
    const words = [...row(100, [52, 165, 214, 252], ['Check', 'Yes', 'No', 'Remarks']), ...body];
    expect(markdown(pageOf(words, grid))).to.equal(
      '| Check | Yes | No | Remarks |\n| --- | --- | --- | --- |\n| Gate shut | x |  |  |\n' +
        '| Boat tied |  | x | Rope worn |\n| Lamp lit | x |  |  |\n',
    );
  });

  it('does not begin with a sentence above it', () => {
    const words = [line('Checks of the boat house in the month of May', [52, 100]), ...body];
    expect(markdown(pageOf(words, grid))).to.contain('| Gate shut | x |  |  |\n| --- |');
  });
});

describe('a last row with fewer cells', () => {
  const pairs = (last: readonly string[]) => [
    ...row(100, [48, 120, 300, 400], ['Number', '55-04', 'Holder', 'Ada Low']),
    ...row(116, [48, 120, 300, 400], ['From', '4 May', 'Model', 'Sloop 2']),
    ...row(132, [48, 120, 300, 400], ['Plate', '44 LK', 'Due', '418.22']),
    ...row(148, [48, 120], last),
  ];

  it('is a row of its own where its first cell begins in upper case', () => {
    expect(markdown(pageOf(pairs(['Paid', 'yearly'])))).to.contain('| Paid | yearly |  |  |');
  });
});

describe('lines with dots that lead to their end', () => {
  it('are lines of their own', () => {
    const words = [
      'Surname . . . . . . . Low',
      'First name . . . . . . Ada',
      'Town . . . . . . . . . Mill',
    ].map((text, i) => line(text, [48, 100 + 12 * i]));
    expect(markdown(pageOf(words)).trim().split('\n')).to.have.length(3);
  });
});
