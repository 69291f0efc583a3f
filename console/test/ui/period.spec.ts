import { expect } from 'chai';
import { playground } from '../../src/texts/playground.ts';
import { monthOf, periodOf, secondsLeft } from '../../src/ui/period.ts';

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

describe('the time that is left', () => {
  it('is told from the second page on, at the pace so far', () => {
    const said = (done: number, ms: number) =>
      playground.run.pagesDone(done, 7, secondsLeft({ done, total: 7, ms }));
    expect(said(0, 9_000)).to.equal('Page 1 of 7');
    expect(said(1, 5_000)).to.equal('Page 2 of 7, 30 s left');
    expect(said(2, 8_000)).to.equal('Page 3 of 7, 20 s left');
    expect(said(1, 60_000)).to.equal('Page 2 of 7, 6 min left');
    expect(said(6, 60)).to.equal('Page 7 of 7, 1 s left');
    expect(said(7, 60_000)).to.equal('Page 7 of 7');
  });
});
