import { expect } from 'chai';
import { balancesOf, barsOf, firstDay, type Day } from '../../src/pages/usage/days.ts';

const of = (category: string, credits: number) => ({
  category,
  operations: 1,
  pages: 1,
  free_pages: 0,
  credits,
});
const day = (name: string, balance_credits: number | null, ...categories: Day['categories']): Day => ({
  day: name,
  used_credits: categories.reduce((sum, { credits }) => sum + credits, 0),
  granted_credits: 0,
  adjusted_credits: 0,
  balance_credits,
  categories,
});

describe('the charts of usage', () => {
  it('stack each day by category, the largest of all days first, free use left out', () => {
    const days = [
      day('2026-01-30', 90, of('extraction', 10), of('free', 0)),
      day('2026-01-31', 40, of('training', 40), of('extraction', 10)),
    ];
    expect(barsOf(days)).to.deep.equal({
      days: [
        { day: '2026-01-30', values: { extraction: 10, free: 0 } },
        { day: '2026-01-31', values: { training: 40, extraction: 10 } },
      ],
      categories: ['training', 'extraction'],
    });
  });

  it('draw no balance that is not known', () => {
    expect(balancesOf([day('2026-01-30', null), day('2026-01-31', -5)])).to.deep.equal([
      { day: '2026-01-31', value: -5 },
    ]);
  });

  it('begin so many days ago that today is the last', () => {
    const noon = Date.parse('2026-03-01T12:00:00Z');
    expect([firstDay(noon, 1), firstDay(noon, 30)]).to.deep.equal(['2026-03-01', '2026-01-31']);
  });
});
