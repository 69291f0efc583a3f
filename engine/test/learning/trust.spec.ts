import { expect } from 'chai';
import { followedFrom, type Attempt } from '../../learning/weights/attempts.ts';
import { logit, regression } from '../../learning/weights/regression.ts';
import { NEVER } from '../../learning/weights/sides.ts';
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

describe('how far a learned leaf is followed in layouts that no example had', () => {
  const right = { tp: 1, fp: 0, fn: 0 };
  const wrong = { tp: 0, fp: 1, fn: 1 };
  const signals = { score: 4, lead: 4, isLabelKnown: true, isLayoutKnown: false };
  const attempt = (pointer: string, isRight: boolean): Attempt => ({
    pointer,
    side: 'unseen',
    rules: isRight ? wrong : right,
    model: isRight ? right : wrong,
    trial: { signals, isRight },
    isRefusal: false,
    isMendable: isRight,
    isOpen: false,
    isOfLeaf: true,
  });
  const fromOf = (pointer: string, unseen: readonly Attempt[]): number => {
    const own = unseen.filter((one) => one.pointer === pointer);
    return followedFrom({ known: [], unseen: own }, { known: [], unseen }, PRIOR_TRUST).unseen.from;
  };

  it('is what all leaves show together, where it shows too little itself', () => {
    const all = [attempt('/a', true), attempt('/b', true), attempt('/c', true)];
    expect(fromOf('/a', all)).to.be.at.most(0.5);
    expect(
      fromOf('/nothing tried', [...all, { ...attempt('/nothing tried', true), trial: undefined }]),
    ).to.be.at.most(0.5);
  });

  it('is nowhere where it lost, whatever others show, and where all show too little', () => {
    const all = ['/a', '/b', '/c', '/d', '/e', '/f'].map((pointer) => attempt(pointer, true));
    expect(fromOf('/g', [...all, attempt('/g', false)])).to.equal(NEVER);
    const one = { ...attempt('/a', true), isMendable: false };
    expect(fromOf('/a', [one])).to.equal(NEVER);
    expect(fromOf('/a', [one, attempt('/b', false), attempt('/c', true)])).to.equal(NEVER);
  });

  it('is surely enough where the rules missed its value in an example, though nothing left out was won by it', () => {
    const missed = { ...attempt('/a', true), model: wrong, trial: undefined };
    expect(fromOf('/a', [missed])).to.be.within(0.55, 0.8);
    expect(fromOf('/a', [{ ...missed, isMendable: false }])).to.equal(NEVER);
    expect(fromOf('/a', [missed, attempt('/a', false)])).to.equal(NEVER);
  });
});

describe('before any example', () => {
  it('what the rules choose wins, then what the shipped scorer likes best', () => {
    const weights = regression([], 1);
    const logitOf = (byRules: boolean, liking: number): number =>
      logit(weights, { general: [], position: [], anchors: [], byRules, labelScore: 0, liking }, 1);
    expect(logitOf(true, 0)).to.be.above(logitOf(false, 1));
    expect(logitOf(false, 0.9)).to.be.above(logitOf(false, 0.2));
  });
});
