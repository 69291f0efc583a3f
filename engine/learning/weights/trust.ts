/** What is known of a choice before it is made: how far it leads, whether its label and its layout are known. */
export interface Signals {
  /** Logit of the best option against "nothing stands there". */
  readonly score: number;
  /** Its lead over the best option of another value. */
  readonly lead: number;
  /** A label names it that named the field in several examples. */
  readonly isLabelKnown: boolean;
  readonly isLayoutKnown: boolean;
}

/** A choice on a document that was left out, and whether it was right. */
export interface Trial {
  readonly signals: Signals;
  readonly isRight: boolean;
}

/** Weights of the signals: the chance that a choice is right is logistic(Σ weight × signal). */
export type Trust = readonly number[];

/** Logits beyond say nothing more. */
const LOGIT_MAX = 10;
const LOGIT_UNIT = 4;

const clipped = (logit: number): number => Math.max(-LOGIT_MAX, Math.min(LOGIT_MAX, logit)) / LOGIT_UNIT;

const terms = ({ score, lead, isLabelKnown, isLayoutKnown }: Signals): readonly number[] => [
  1,
  clipped(score),
  clipped(lead),
  isLabelKnown ? 1 : 0,
  isLayoutKnown ? 1 : 0,
];

/** What is believed of choices before any was tried. */
export const PRIOR_TRUST: Trust = [-1, 1, 1, 0.5, 0.5];

/** 0..1: the chance that a choice is right. */
export function trustIn(trust: Trust, signals: Signals): number {
  const sum = terms(signals).reduce((all, term, i) => all + term * (trust[i] ?? 0), 0);
  return 1 / (1 + Math.exp(-sum));
}

const STEPS = 300;
const RATE = 0.5;
/** The prior counts as much as so many trials. */
const PRIOR_TRIALS = 4;

/** Fits trust to choices that were tried on documents left out: logistic regression, held to the prior. */
export function trustFrom(trials: readonly Trial[]): Trust {
  const weights = [...PRIOR_TRUST];
  const rows = trials.map(({ signals, isRight }) => ({
    row: terms(signals),
    right: isRight ? 1 : 0,
    signals,
  }));
  for (let step = 0; step < STEPS; step += 1) {
    const gradient = weights.map((weight, i) => PRIOR_TRIALS * ((PRIOR_TRUST[i] ?? 0) - weight) * 0.25);
    for (const { row, right, signals } of rows) {
      const missing = right - trustIn(weights, signals);
      for (const [i, term] of row.entries()) gradient[i] = (gradient[i] ?? 0) + missing * term;
    }
    for (const [i, slope] of gradient.entries())
      weights[i] = (weights[i] ?? 0) + (RATE * slope) / (PRIOR_TRIALS + rows.length);
  }
  return weights.map((weight) => Math.round(weight * 1_000) / 1_000);
}
