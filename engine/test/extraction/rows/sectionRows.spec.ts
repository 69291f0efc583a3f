import { expect } from 'chai';
import { extract } from '../../../extraction/extract.ts';
import { laidOut, type Placed } from '../../support/laidOut.ts';

const text = { type: 'string' };
const integer = { type: 'integer' };

/** A table without rules: its sections are named by lines alone; the third bib is the sum of the first two. */
const page: readonly Placed[] = [
  [40, 40, 'Hill run of Ostrava'],
  [40, 80, 'Pos.'],
  [80, 80, 'Bib'],
  [120, 80, 'Runner'],
  [260, 80, 'Club'],
  [400, 80, 'Time'],
  ...(
    [
      ['Category seniors men', ['1', '114', 'Marek Rinald', 'Valley Walkers', '34:12']],
      ['', ['2', '87', 'Fabian Test', 'Brent Athletics', '34:55']],
      ['', ['3', '201', 'Nikola Zorz', 'High Mountain', '35:40']],
      ['Category seniors women', ['1', '33', 'Sara Bellin', 'Brent Athletics', '39:08']],
      ['', ['2', '46', 'Julie Moret', 'Adige Runners', '40:21']],
    ] as const
  ).flatMap(([section, cells], i): readonly Placed[] => [
    ...(section === '' ? [] : [[40, 88 + 28 * i, section] as const]),
    ...cells.map((cell, column): Placed => [[40, 80, 120, 260, 400][column] ?? 0, 101 + 28 * i, cell]),
  ]),
];

describe('lines that stand like a table in sections', () => {
  const properties = {
    results: {
      type: 'array',
      items: {
        type: 'object',
        properties: { category: text, pos: integer, bib: integer, runner: text, club: text, time: text },
      },
    },
  };
  const { results } = extract(laidOut([page]), { type: 'object', properties }).value as {
    results?: readonly Record<string, unknown>[];
  };

  it('are rows under the names of their sections', () => {
    expect(results?.map(({ category, bib }) => `${String(bib)} ${String(category)}`)).to.deep.equal([
      '114 Category seniors men',
      '87 Category seniors men',
      '201 Category seniors men',
      '33 Category seniors women',
      '46 Category seniors women',
    ]);
  });

  it('keep all their cells', () => {
    expect(results?.[3]).to.deep.equal({
      category: 'Category seniors women',
      pos: 1,
      bib: 33,
      runner: 'Sara Bellin',
      club: 'Brent Athletics',
      time: '39:08',
    });
  });
});
