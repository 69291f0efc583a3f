import { expect } from 'chai';
import { percentOf, successOf, timeOf } from '../../src/pages/overview/figures.ts';

const NONE = { tenant_id: 't', running: 0, pages: 0, median_ms: null, p95_ms: null };
const ended = (succeeded: number, partial: number, failed: number) =>
  successOf({ ...NONE, succeeded, partial, failed, counted_from: null, failures: [] });

describe('the figures of the overview', () => {
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
