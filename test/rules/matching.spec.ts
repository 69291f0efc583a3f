import { expect } from 'chai';
import fc from 'fast-check';
import { columnIndex, likeness, plainText } from '../../src/rules/matching.ts';

const NAMES = [
  'Müller & Söhne GmbH',
  'Acme Corporation',
  'Acme Holding',
  'Straßenbau Weiß KG',
  'ACME corporation.',
];

describe('matching values with a column', () => {
  it('finds the same text whatever its case, accents and punctuation, and counts the rows that have it', () => {
    const { find } = columnIndex(NAMES);
    expect(find('muller SOHNE gmbh')).to.deep.equal({ row: 1, score: 1, equal_rows: 1 });
    expect(find('Acme  Corporation')).to.deep.equal({ row: 2, score: 1, equal_rows: 2 });
    expect(find('STRASSENBAU WEISS KG')).to.deep.equal({ row: 4, score: 1, equal_rows: 1 });
  });

  it('gives what is most like a value with its score, in any order of the words', () => {
    const { find } = columnIndex(NAMES);
    expect(find('Acme Corporatoin')).to.deep.equal({ row: 2, score: 0.875, equal_rows: 2 });
    expect(find('GmbH Müller & Söhne')).to.deep.include({ row: 1, score: 0.9999 });
    expect(find('Weiss Strassenbau')).to.deep.include({ row: 4 });
  });

  it('finds nothing where nothing is in common, and for what has neither letters nor digits', () => {
    const { find } = columnIndex(NAMES);
    expect(find('Zyx 77')).to.equal(undefined);
    expect(find(' - ')).to.equal(undefined);
    expect(columnIndex([]).find('Acme')).to.equal(undefined);
    expect(columnIndex(['', '--']).find('--')).to.equal(undefined);
  });

  const texts = fc.array(fc.string({ maxLength: 30 }), { maxLength: 40 });

  it('always finds each text of the column itself, in the first row that has it', () => {
    fc.assert(
      fc.property(texts, (cells) => {
        const { find } = columnIndex(cells);
        for (const cell of cells) {
          const plain = plainText(cell);
          const same = cells.flatMap((one, at) => (plainText(one) === plain ? [at + 1] : []));
          const expected = plain === '' ? undefined : { row: same[0], score: 1, equal_rows: same.length };
          expect(find(cell)).to.deep.equal(expected);
        }
      }),
    );
  });

  /** Texts that have less than half of their letters in common need not share three in a row. */
  const ALIKE = 0.5;

  it('gives the best of a small column, the first of those that are equally good', () => {
    const words = fc.array(fc.constantFrom('acme', 'acne', 'corp', 'crop', 'holding', 'gmbh'), {
      minLength: 1,
      maxLength: 4,
    });
    const cellsOf = fc.array(
      words.map((all) => all.join(' ')),
      { minLength: 1, maxLength: 40 },
    );
    fc.assert(
      fc.property(cellsOf, words, (cells, asked) => {
        const value = asked.join(' ');
        const found = columnIndex(cells).find(value);
        const scores = cells.map((cell) => (cell === value ? 1 : Math.min(likeness(cell, value), 0.9999)));
        const best = Math.max(...scores);
        if (best < ALIKE) expect(found?.score ?? 0).to.be.at.most(best);
        else expect(found).to.deep.include({ row: scores.indexOf(best) + 1, score: best });
      }),
      {
        examples: [
          [
            ['acne', 'corp gmbh'],
            ['holding', 'acme', 'holding'],
          ],
        ],
      },
    );
  });

  it('is the same each time, and likeness does not depend on which text is asked for', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(likeness(a, b)).to.equal(likeness(b, a));
        expect(likeness(a, a)).to.equal(1);
      }),
    );
  });

  it('looks at a bounded number of places, however often the trigrams of a value are in the column', () => {
    const cells = Array.from({ length: 30_000 }, (_, at) => `aaaaaaaaaa aaaaaa ${String(at % 7)}`);
    const others = Array.from({ length: 30_000 }, (_, at) => `vendor number ${String(at)} limited`);
    for (const column of [cells, others]) {
      const { find } = columnIndex(column);
      const found = Array.from({ length: 50 }, (_, at) => find(`aaaaaaaaaaa vendor number ${String(at)}x`));
      expect(found.every((one) => one !== undefined && one.score < 1)).to.equal(true);
    }
  });
});
