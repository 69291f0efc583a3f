import { expect } from 'chai';
import { CALIBRATION, calibratedSingle } from '../../../extraction/singles/calibration.ts';

describe('the confidence of single values', () => {
  it('is a share for every kind of evidence, and never rises while the label says the field less', () => {
    for (const [kind, ...tables] of CALIBRATION)
      for (const shares of tables)
        for (const [i, share] of shares.entries()) {
          expect(share, kind).to.be.within(0, 0.99);
          expect(share, kind).to.be.at.most(shares[i - 1] ?? 1);
        }
  });

  it('of a text right of a label without a mark is below what is sure, and of one in a cell is surer', () => {
    const way = { origin: 'labels', isFree: true, isKnown: false } as const;
    expect(calibratedSingle({ ...way, kind: 'beside' }, 1)).to.be.below(0.5);
    expect(calibratedSingle({ ...way, kind: 'cell' }, 1)).to.be.at.least(0.8);
  });

  it('does not fall where rules and labels agree', () => {
    for (const [kind] of CALIBRATION) {
      const way = { kind, isFree: false, isKnown: false };
      const both = calibratedSingle({ ...way, origin: 'both' }, 1);
      expect(both, kind).to.be.at.least(calibratedSingle({ ...way, origin: 'labels' }, 1));
    }
  });
});
