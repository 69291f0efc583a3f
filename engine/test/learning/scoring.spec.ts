import { expect } from 'chai';
import fc from 'fast-check';
import type { Json } from '../../kernel/json.ts';
import { sameValue } from '../../learning/scoring/agreement.ts';
import { bestPairs } from '../../kernel/assignment.ts';
import { interval } from '../../learning/scoring/bootstrap.ts';
import { documentFolds, layoutFolds, validationFolds } from '../../learning/scoring/folds.ts';
import { onlyLabelled } from '../../learning/scoring/labelled.ts';
import { compared, f1 } from '../../learning/scoring/scoring.ts';
import { holds } from '../support/properties.ts';

const counts = (expected: Json, got: Json): readonly number[] => {
  const { tp, fp, fn } = compared({ expected, got }, '', () => undefined);
  return [tp, fp, fn];
};

describe('counting leaves', () => {
  const cases: readonly (readonly [string, Json, Json, readonly number[]])[] = [
    ['reads texts by letters and digits', { n: 'INV-1' }, { n: 'inv 1' }, [1, 0, 0]],
    ['reads days however they are written', { d: '5 March 2031' }, { d: '2031-03-05' }, [1, 0, 0]],
    ['counts a wrong value as one too many and one missing', { t: 5 }, { t: 6 }, [0, 1, 1]],
    ['counts nothing for null where nothing is expected', { t: 5 }, { t: 5, n: null }, [1, 0, 0]],
    ['counts what nobody expected', { t: 5 }, { t: 5, n: 'x' }, [1, 1, 0]],
    ['counts what is missing', { t: 5, n: 'x' }, {}, [0, 0, 2]],
    [
      'pairs rows in any order',
      {
        i: [
          { a: 'x', q: 1 },
          { a: 'y', q: 2 },
        ],
      },
      {
        i: [
          { a: 'y', q: 2 },
          { a: 'x', q: 3 },
        ],
      },
      [3, 1, 1],
    ],
    [
      'counts a row too many',
      { i: [{ a: 'x', q: 1 }] },
      {
        i: [
          { a: 'x', q: 1 },
          { a: 'z', q: 9 },
        ],
      },
      [2, 2, 0],
    ],
    ['goes into objects', { a: { b: true, c: 'k' } }, { a: { b: true, c: 'l' } }, [1, 1, 1]],
  ];
  for (const [name, expected, got, wanted] of cases)
    it(name, () => {
      expect(counts(expected, got)).to.deep.equal(wanted);
    });

  const labelled: readonly (readonly [string, Json, Json, readonly number[]])[] = [
    ['leaves out a field that nobody labelled', { t: 5 }, { t: 5, n: 'x' }, [1, 0, 0]],
    ['counts what is labelled as absent', { t: 5, n: null }, { t: 5, n: 'x' }, [1, 1, 0]],
    ['leaves out fields inside of objects', { a: { b: 1 } }, { a: { b: 1, c: 2 }, d: { e: 3 } }, [1, 0, 0]],
    [
      'leaves out columns that no row is labelled with, and counts a row too many by the others',
      { i: [{ a: 'x' }, { a: 'y', q: 2 }] },
      {
        i: [
          { a: 'x', q: 1, z: 9 },
          { a: 'y', q: 2, z: 9 },
          { a: 'w', q: 3, z: 9 },
        ],
      },
      [3, 3, 0],
    ],
    ['counts all of the rows where none are expected', { i: [] }, { i: [{ a: 'x', q: 1 }] }, [0, 2, 0]],
    ['counts what stands in the place of an object', { a: { b: 1 } }, { a: 'x' }, [0, 0, 1]],
    ['is not misled by names that every object knows', { t: 5 }, { t: 5, toString: 'x' }, [1, 0, 0]],
  ];
  for (const [name, expected, got, wanted] of labelled)
    it(`of an evaluation ${name}`, () => {
      expect(counts(expected, onlyLabelled(expected, got) ?? null)).to.deep.equal(wanted);
    });

  it('of an evaluation does not follow an example that is nested as deep as it may be by the stack', () => {
    let [expected, got]: readonly [Json, Json] = [1, 1];
    for (let depth = 0; depth < 64; depth += 1) [expected, got] = [{ a: expected }, { a: got, b: 2 }];
    expect(counts(expected, onlyLabelled(expected, got) ?? null)).to.deep.equal([1, 0, 0]);
  });

  const cell = fc.constantFrom(null, 'a', 'b', 'c', 1, 2);
  const tables = fc.array(fc.record({ x: cell, y: cell, z: cell }), { maxLength: 5 });
  holds(
    'pairs rows in the best way of all',
    fc.property(tables, tables, (expected, got) => {
      const tp = (a: Json, b: Json) => counts(a, b)[0] ?? 0;
      const best = (i: number, free: readonly number[]): number =>
        i === expected.length
          ? 0
          : Math.max(
              best(i + 1, free),
              ...free.map(
                (j) =>
                  tp(expected[i]!, got[j]!) +
                  best(
                    i + 1,
                    free.filter((k) => k !== j),
                  ),
              ),
            );
      expect(counts({ i: expected }, { i: got })[0]).to.equal(best(0, [...got.keys()]));
    }),
  );

  it('looks at each row of two long lists a bounded number of times', () => {
    const LENGTH = 1_500;
    let reads = 0;
    const rowsOf = (text: (n: number) => string) =>
      Array.from({ length: LENGTH }, (_, n) => ({
        get name() {
          reads += 1;
          return `row ${text(n)}`;
        },
        amount: n,
      }));
    const same = [rowsOf(String), rowsOf((n) => String(n).replace('7', '8'))] as const;
    expect(counts({ i: same[0] }, { i: same[1] })[0]).to.be.greaterThan(2 * LENGTH - 600);
    expect(reads).to.be.lessThan(500 * LENGTH);
    reads = 0;
    const other = [rowsOf((n) => `a${String(n)}`), rowsOf((n) => `b${String(n)}`)] as const;
    expect(counts({ i: other[0] }, { i: other[1] })).to.deep.equal([LENGTH, LENGTH, LENGTH]);
    expect(reads).to.be.lessThan(500 * LENGTH);
  });

  it('takes amounts within half a cent', () => {
    expect(sameValue(12.5, 12.504)).to.equal(true);
    expect(sameValue(12.5, 12.51)).to.equal(false);
  });

  const rows = fc.array(fc.record({ a: fc.string({ minLength: 1 }), n: fc.integer() }));
  holds(
    'gives 1 to what equals the truth, and never more than 1',
    fc.property(rows, rows, (truth, other) => {
      const same = compared({ expected: truth, got: truth }, '', () => undefined);
      expect(f1(same)).to.equal(1);
      const score = f1(compared({ expected: truth, got: other }, '', () => undefined));
      expect(score).to.be.within(0, 1);
    }),
    0.1,
  );
});

describe('pairing', () => {
  const all = (weights: readonly (readonly number[])[], row = 0, taken: readonly number[] = []): number => {
    if (row === weights.length) return 0;
    const ways = weights[row]!.map((weight, column) =>
      taken.includes(column) ? -Infinity : weight + all(weights, row + 1, [...taken, column]),
    );
    return Math.max(...ways);
  };

  const row = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 4, maxLength: 4 });
  holds(
    'finds the best sum that trying all pairs finds',
    fc.property(fc.array(row, { minLength: 1, maxLength: 4 }), (weights) => {
      const pairs = bestPairs(weights);
      expect(new Set(pairs.map(([, column]) => column)).size).to.equal(weights.length);
      expect(pairs.reduce((sum, [i, j]) => sum + weights[i]![j]!, 0)).to.equal(all(weights));
    }),
    0.2,
  );
});

describe('holding out', () => {
  const groups = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 2, maxLength: 60 });

  holds(
    'never learns from what it scores, and scores each document once',
    fc.property(groups, fc.nat(), (layouts, seed) => {
      const folds = documentFolds(layouts, seed);
      for (const { learn, held } of [...folds, ...validationFolds(layouts, 0.2, seed)])
        expect(held.some((place) => learn.includes(place))).to.equal(false);
      expect(folds.flatMap(({ held }) => held).sort((a, b) => a - b)).to.deep.equal(layouts.map((_, i) => i));
    }),
    0.1,
  );

  holds(
    'leaves whole layouts out',
    fc.property(groups, (layouts) => {
      for (const { learn, held } of layoutFolds(layouts)) {
        const learned = new Set(learn.map((place) => layouts[place]));
        expect(held.some((place) => learned.has(layouts[place]))).to.equal(false);
      }
    }),
    0.1,
  );

  it('holds out a share once from thirty examples on, and at least three', () => {
    const layouts = Array.from({ length: 40 }, (_, i) => i % 2);
    expect(validationFolds(layouts, 0.2, 1).map(({ held }) => held.length)).to.deep.equal([8]);
    expect(validationFolds(layouts, 0.01, 1).map(({ held }) => held.length)).to.deep.equal([3]);
    expect(validationFolds(layouts.slice(0, 10), 0.2, 1)).to.have.length(5);
  });

  it('draws an interval around the score, the same for the same seed', () => {
    const documents = Array.from({ length: 20 }, (_, i) => ({ tp: 3 + (i % 3), fp: i % 2, fn: 1 }));
    const { low, high, level } = interval(documents, 5);
    expect(level).to.equal(0.95);
    expect(low).to.be.below(high);
    expect(interval(documents, 5)).to.deep.equal({ level, low, high });
  });
});
