import { expect } from 'chai';
import { monthOf, periodOf } from '../../src/ui/period.ts';

describe('a month of the books', () => {
  it('is the one of a time, or lies before it, also across a year', () => {
    const lastOfMarch = Date.parse('2026-03-31T23:59:59.999Z');
    expect([0, -1, -3, 1].map((after) => monthOf(lastOfMarch, after))).to.deep.equal([
      '2026-03',
      '2026-02',
      '2025-12',
      '2026-04',
    ]);
  });

  it('has its first and its last day', () => {
    expect(periodOf('2028-02', '2026-01')).to.deep.equal({
      month: '2028-02',
      first: '2028-02-01',
      last: '2028-02-29',
    });
  });

  it('is another one where its text is none', () => {
    for (const text of [undefined, '', '2026-13', '2026-1', '02-2026'])
      expect(periodOf(text, '2026-01').month).to.equal('2026-01');
  });
});
