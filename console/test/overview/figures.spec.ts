import { expect } from 'chai';
import fc from 'fast-check';
import {
  daysLeft,
  percentOf,
  spentOn,
  successOf,
  timeOf,
  type Day,
} from '../../src/pages/overview/figures.ts';

const day = (used_credits: number): Day => ({
  ...{ day: '2026-01-01', used_credits, granted_credits: 0, adjusted_credits: 0, balance_credits: null },
  categories: [],
});

const NONE = { tenant_id: 't', running: 0, pages: 0, median_ms: null, p95_ms: null };
const ended = (succeeded: number, partial: number, failed: number) =>
  successOf({ ...NONE, succeeded, partial, failed, counted_from: null, failures: [] });

describe('the figures of the overview', () => {
  it('tell when the balance is used up, at the pace since the first day on which credits were spent', () => {
    // 300 in 3 days: 100 a day
    expect(daysLeft(1_000, [0, 0, 100, 0, 200].map(day))).to.equal(10);
    expect(daysLeft(0, [day(5)])).to.equal(0);
    expect(daysLeft(-20, [day(5)])).to.equal(0);
    expect(daysLeft(1_000, [day(0)])).to.equal(undefined);
    expect(daysLeft(1_000, [])).to.equal(undefined);
  });

  it('last as long as what is available covers the pace, whatever was spent', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(10_000), { minLength: 1, maxLength: 30 }),
        fc.nat(1_000_000),
        (spent, available) => {
          const days = spent.map(day);
          const left = daysLeft(available, days);
          const first = spent.findIndex((credits) => credits > 0);
          if (first < 0) return left === undefined;
          const pace = spentOn(days) / (spent.length - first);
          return left !== undefined && Math.abs(left * pace - available) < 1e-6 * (available + 1);
        },
      ),
    );
  });

  it('count what gave something as success, and nothing where nothing ended', () => {
    expect(ended(0, 0, 0)).to.equal(undefined);
    expect(ended(2, 1, 1)).to.equal(75);
    expect(percentOf(100)).to.equal('100 %');
    expect(percentOf((9_999 / 10_000) * 100)).to.equal('99.9 %');
    expect(percentOf(66.666)).to.equal('66.7 %');
  });

  it('show times in the unit that people would say', () => {
    expect([840, 12_400, 119_000, 600_000].map(timeOf)).to.deep.equal(['0.8 s', '12 s', '119 s', '10 min']);
  });
});
