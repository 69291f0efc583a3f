import { expect } from 'chai';
import { PRIOR_TRUST, trustFrom, trustIn, type Signals, type Trial } from '../../learning/weights/trust.ts';

const signalsAt = (score: number): Signals => ({
  score,
  lead: score,
  isLabelKnown: false,
  isLayoutKnown: false,
});

const trials = (count: number, isRight: (score: number) => boolean): readonly Trial[] =>
  Array.from({ length: count }, (_, i) => {
    const score = -8 + (16 * i) / (count - 1);
    return { signals: signalsAt(score), isRight: isRight(score) };
  });

describe('the chance that a learned choice is right', () => {
  it('is believed before any trial, and rises with score and lead', () => {
    expect(trustFrom([])).to.deep.equal(PRIOR_TRUST);
    expect(trustIn(PRIOR_TRUST, signalsAt(4))).to.be.above(trustIn(PRIOR_TRUST, signalsAt(0)));
  });

  it('is what trials on documents left out show', () => {
    const [low, high] = [trustFrom(trials(200, () => false)), trustFrom(trials(200, () => true))];
    expect(trustIn(low, signalsAt(4))).to.be.below(0.1);
    expect(trustIn(high, signalsAt(-4))).to.be.above(0.9);
    const late = trustFrom(trials(200, (score) => score > 4));
    expect(trustIn(late, signalsAt(0))).to.be.below(0.3);
    expect(trustIn(late, signalsAt(8))).to.be.above(0.7);
  });

  it('is a number for a choice without a rival', () => {
    const alone = { ...signalsAt(3), lead: Number.POSITIVE_INFINITY };
    expect(trustIn(PRIOR_TRUST, alone)).to.be.within(0.5, 1);
  });
});
