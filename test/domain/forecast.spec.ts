import { expect } from 'chai';
import fc from 'fast-check';
import { DAYS_LEFT_MAX, daysLeft, forecastOf, paceStart } from '../../domain/forecast.ts';
import { holds } from '../../engine/test/support/properties.ts';

const TODAY = '2026-03-31';

describe('how long credits last', () => {
  it('is told in whole days at the pace of a week and of four weeks, today included', () => {
    const used = [
      ['2026-03-31', 30],
      ['2026-03-25', 40],
      ['2026-03-24', 70],
      ['2026-03-04', 140],
      ['2026-03-03', 1_000],
    ] as const;
    // 70 credits within 7 days, and 280 within 28: ten a day each.
    expect(forecastOf(1_005, used, TODAY)).to.deep.equal({
      days_left_at_7_days: 100,
      days_left_at_28_days: 100,
    });
    expect(forecastOf(1_009, used.slice(1), TODAY)).to.deep.equal({
      days_left_at_7_days: 176,
      days_left_at_28_days: 113,
    });
  });

  it('is not told where nothing was used in the days of the pace', () => {
    expect(forecastOf(1_000, [], TODAY)).to.deep.equal({
      days_left_at_7_days: null,
      days_left_at_28_days: null,
    });
    expect(forecastOf(1_000, [['2026-03-10', 28]], TODAY)).to.deep.equal({
      days_left_at_7_days: null,
      days_left_at_28_days: 1_000,
    });
    expect(forecastOf(0, [], TODAY).days_left_at_7_days).to.equal(null);
  });

  it('is no day where nothing is left, or less than that, and leaves later days out', () => {
    expect(daysLeft(0, 5, 7)).to.equal(0);
    expect(daysLeft(-5, 5, 7)).to.equal(0);
    expect(forecastOf(10, [['2026-04-01', 5]], TODAY).days_left_at_7_days).to.equal(null);
  });

  it('begins with the first day of the pace, also over the end of a month and a leap day', () => {
    expect(paceStart('2026-03-01', 1)).to.equal('2026-03-01');
    expect(paceStart('2026-03-03', 7)).to.equal('2026-02-25');
    expect(paceStart('2028-03-01', 28)).to.equal('2028-02-03');
  });

  const credits = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
  holds(
    'is the most days that credits last at the pace, exactly, up to a hundred years',
    fc.property(credits, credits, fc.constantFrom(7, 28), (available, used, days) => {
      const left = BigInt(daysLeft(available, used, days) ?? -1);
      const [have, pace] = [BigInt(available) * BigInt(days), BigInt(used)];
      const isMost = (left + 1n) * pace > have || left === BigInt(DAYS_LEFT_MAX);
      expect(left * pace <= have && isMost).to.equal(true);
    }),
  );
});
