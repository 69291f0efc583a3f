import { expect } from 'chai';
import fc from 'fast-check';
import {
  DAYS_LEFT_MAX,
  daysLeft,
  expectedEnd,
  forecastOf,
  NO_USE,
  PACE_DAYS_MAX,
  paceStart,
  type RecentUse,
  useAt,
} from '../../domain/account/forecast.ts';
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

describe('when something is used up', () => {
  const NOW = `${TODAY}T12:00:00.000Z`;
  const used = (...burns: readonly (readonly [at: string, credits: number])[]) => {
    let [total, recent]: [number, RecentUse] = [0, NO_USE];
    for (const [at, credits] of burns) {
      recent = useAt(recent, at, total);
      total += credits;
    }
    return { total, recent };
  };
  const counted_since = '2026-01-01T00:00:00.000Z';
  const late = used(['2026-03-10', 210], ['2026-03-26', 30], ['2026-03-31', 40]);

  it('is told at the pace of a week and of four weeks, today included', () => {
    // Ten credits a day, within 7 days and within 28.
    expect(expectedEnd({ left: 25, ...late, counted_since, resets_at: null }, NOW)).to.deep.equal({
      expected_end_at_7_days: '2026-04-03T00:00:00.000Z',
      expected_end_at_28_days: '2026-04-03T00:00:00.000Z',
    });
  });

  it('goes by the days since counting began, if those are fewer', () => {
    const young = { left: 70, ...used(['2026-03-31', 70]), resets_at: null };
    expect(expectedEnd({ ...young, counted_since: NOW }, NOW).expected_end_at_28_days).to.equal(
      '2026-04-01T12:00:00.000Z',
    );
    const second = { ...young, counted_since: '2026-03-30T23:59:59.999Z' };
    expect(expectedEnd(second, NOW).expected_end_at_7_days).to.equal('2026-04-02T12:00:00.000Z');
  });

  it('is never where it begins anew by then, where nothing was used, and beyond a hundred years', () => {
    const never = { expected_end_at_7_days: null, expected_end_at_28_days: null };
    const resets_at = '2026-04-03T00:00:00.000Z';
    expect(expectedEnd({ left: 25, ...late, counted_since, resets_at }, NOW)).to.deep.equal(never);
    expect(expectedEnd({ left: 24, ...late, counted_since, resets_at }, NOW).expected_end_at_7_days).to.equal(
      '2026-04-02T21:36:00.000Z',
    );
    expect(expectedEnd({ left: 1, ...used(), counted_since, resets_at: null }, NOW)).to.deep.equal(never);
    const left = Number.MAX_SAFE_INTEGER;
    expect(expectedEnd({ left, ...late, counted_since, resets_at: null }, NOW)).to.deep.equal(never);
  });

  it('is now where nothing is left', () => {
    for (const left of [0, -1])
      expect(
        expectedEnd({ left, ...used(), counted_since, resets_at: null }, NOW).expected_end_at_7_days,
      ).to.equal(NOW);
  });

  const DAY = 86_400_000;
  const START = Date.parse('2025-11-20T00:00:00.000Z');
  const burn = fc.record({
    hours: fc.integer({ min: -40, max: 400 }),
    credits: fc.integer({ min: 1, max: 999 }),
  });

  /** As the sentence of the docs says it, from the list of all burns; slow, and exact in fractions of whole numbers. */
  const plainEnd = (
    burns: readonly { readonly at: number; readonly credits: number }[],
    { left, since, now, resets }: { left: number; since: number; now: number; resets: number },
    pace: number,
  ): string | null => {
    const dayOf = (ms: number) => Math.floor(ms / DAY);
    const latest = Math.max(...burns.map(({ at }) => dayOf(at)));
    // What is booked late counts on the latest day before it.
    const counted = burns.map(({ credits }, n) => ({
      credits,
      day: Math.max(...burns.slice(0, n + 1).map(({ at }) => dayOf(at))),
    }));
    let sum = 0;
    let days = 0;
    for (let day = dayOf(now); day > dayOf(now) - pace && (days === 0 || day >= dayOf(since)); day -= 1) {
      days += 1;
      for (const one of counted) if (one.day === day && day > latest - PACE_DAYS_MAX) sum += one.credits;
    }
    if (sum === 0) return null;
    const end = now + Math.floor((left * days * DAY) / sum);
    return end < resets ? new Date(end).toISOString() : null;
  };

  holds(
    'is what the list of all burns gives, whatever day each is of, with clocks that are set back',
    fc.property(
      fc.array(burn, { minLength: 1, maxLength: 40 }),
      fc.record({ left: fc.integer({ min: 1, max: 5_000 }), since: fc.integer({ min: 0, max: 50 }) }),
      fc.record({ later: fc.integer({ min: -30, max: 900 }), resets: fc.integer({ min: 1, max: 60 }) }),
      (steps, { left, since: days }, { later, resets: within }) => {
        let at = START;
        const burns = steps.map(({ hours, credits }) => ({ at: (at += hours * 3_600_000), credits }));
        const recentUse = used(...burns.map((one) => [new Date(one.at).toISOString(), one.credits] as const));
        const now = at + later * 3_600_000;
        const [since, resets] = [START + days * DAY, now + within * DAY];
        const [counted, resets_at] = [new Date(since).toISOString(), new Date(resets).toISOString()];
        const told = expectedEnd(
          { left, ...recentUse, counted_since: counted, resets_at },
          new Date(now).toISOString(),
        );
        const plain = { left, since, now, resets };
        expect([told.expected_end_at_7_days, told.expected_end_at_28_days]).to.deep.equal([
          plainEnd(burns, plain, 7),
          plainEnd(burns, plain, 28),
        ]);
      },
    ),
  );
});
