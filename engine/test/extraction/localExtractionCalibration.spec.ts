import { expect } from 'chai';
import { calibrated, confidenceOf } from '../../extraction/finding.ts';

describe('confidence', () => {
  const steps = Array.from({ length: 1001 }, (_, i) => i / 1000);

  it('never falls while the raw score rises', () => {
    for (const [i, raw] of steps.entries()) {
      const before = calibrated(steps[i - 1] ?? 0);
      expect(calibrated(raw), `at ${raw}`).to.be.at.least(before);
    }
  });

  it('is a share', () => {
    for (const raw of [-1, ...steps, 2]) expect(calibrated(raw)).to.be.within(0, 1);
  });

  it('rises with a better label and falls with words that OCR doubts', () => {
    const evidence = { strictness: 1, margin: 0.2, agreement: 0 };
    const word = { text: '1.50', box: null, fontSize: null, bold: false };
    const sure = confidenceOf({ ...evidence, label: 0.9 }, [{ ...word, confidence: 1 }]);
    const weak = confidenceOf({ ...evidence, label: 0.5 }, [{ ...word, confidence: 1 }]);
    const doubted = confidenceOf({ ...evidence, label: 0.9 }, [{ ...word, confidence: 0.4 }]);
    expect(weak).to.be.below(sure);
    expect(doubted).to.be.below(sure);
  });
});
