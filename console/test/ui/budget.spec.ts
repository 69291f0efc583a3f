import { expect } from 'chai';
import fc from 'fast-check';
import { holds } from '../../../engine/test/support/properties.ts';
import {
  levelsIn,
  levelsText,
  nearestFirst,
  nearnessOf,
  scopeWords,
  wholePercent,
  type Budget,
} from '../../src/ui/budget.ts';

const budget = (over: Partial<Budget>): Budget => ({
  budget_id: 'bgt_1',
  tenant_id: 'acme',
  name: 'Claims',
  scope: {},
  period: 'month',
  time_zone: 'UTC',
  limit_credits: 100,
  on_reached: 'refuse',
  alert_at: [0.8, 1],
  used_credits: 0,
  held_credits: 0,
  left_credits: 100,
  alerted: [],
  period_start: null,
  resets_at: null,
  parent: null,
  refusals: [],
  expected_end_at_7_days: null,
  expected_end_at_28_days: null,
  created_at: '2026-01-31T00:00:00.000Z',
  updated_at: '2026-01-31T00:00:00.000Z',
  ...over,
});

describe('budgets on a page', () => {
  it('stand in the order of their use, one without credits among those that are used up', () => {
    const all = [
      budget({ name: 'half', used_credits: 30, held_credits: 20 }),
      budget({ name: 'none', limit_credits: 0 }),
      budget({ name: 'over', used_credits: 120 }),
      budget({ name: 'near', used_credits: 80 }),
    ];
    expect(nearestFirst(all).map(({ name }) => name)).to.deep.equal(['over', 'none', 'near', 'half']);
    expect(nearestFirst(all).map(nearnessOf)).to.deep.equal(['full', 'full', 'near', 'within']);
  });

  it('say 100 % of a limit that is reached, and of no other', () => {
    const parts = [
      { used_credits: 0 },
      { used_credits: 19, held_credits: 10 },
      { used_credits: 999_999_999_999, limit_credits: 1_000_000_000_000 },
      { held_credits: 100 },
      { used_credits: 1_250 },
      { limit_credits: 0 },
    ];
    expect(parts.map((part) => wholePercent(budget(part)))).to.deep.equal([
      '0 %',
      '29 %',
      '99 %',
      '100 %',
      '1,250 %',
      '100 %',
    ]);
  });

  it('name the key that they limit, and its ID where no name is known', () => {
    const ofKey = budget({ scope: { key_id: 'key_1' } });
    expect(scopeWords(ofKey, new Map([['key_1', 'robot']]))).to.equal('Key \u2068robot\u2069');
    expect(scopeWords(ofKey, new Map())).to.equal('Key \u2068key_1\u2069');
    expect(scopeWords(budget({}), new Map())).to.equal('All work');
  });
});

describe('what is typed into the form of a budget', () => {
  it('are alert levels in any order, each once', () => {
    expect(levelsIn('100, 80 %;50')).to.deep.equal([0.5, 0.8, 1]);
    expect(levelsIn('80,80')).to.deep.equal([0.8]);
    expect(levelsIn('')).to.deep.equal([]);
    for (const wrong of ['0', '1000.1', '12.55', 'half', Array.from({ length: 21 }, (_, n) => n + 1).join()])
      expect(levelsIn(wrong), wrong).to.equal(undefined);
  });

  const level = fc.integer({ min: 1, max: 10_000 }).map((tenths) => tenths / 1_000);
  holds(
    'are the levels that were there before, if nobody changes them',
    fc.property(fc.uniqueArray(level, { maxLength: 20 }), (levels) => {
      expect(levelsIn(levelsText(levels))).to.deep.equal(levels.toSorted((a, b) => a - b));
    }),
  );
});
