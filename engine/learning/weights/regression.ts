import { BIAS, BY_RULES, BY_SCORER, FEATURES, LABEL_SCORE } from './hashing.ts';
import { seeded, shuffled } from '../seeded.ts';

/** A value to choose, as the model sees it. */
export interface Choice {
  readonly general: ArrayLike<number>;
  readonly position: ArrayLike<number>;
  readonly anchors: ArrayLike<number>;
  readonly byRules: boolean;
  readonly labelScore: number;
  /** 0..1: how the shipped scorer likes it. */
  readonly liking: number;
}

/** The choices of one document. None of them is right where the document does not say the value. */
export interface Case {
  readonly choices: readonly Choice[];
  /** Places of the right ones. */
  readonly right: readonly number[];
}

/**
 * What is believed before any example: the rules' choice is the right one (logit +1 against "nothing"), all
 * others are not. With these weights alone the model chooses exactly what the rules choose.
 */
export const PRIOR: ReadonlyMap<number, number> = new Map([
  [BY_RULES, 4],
  [LABEL_SCORE, 0.5],
  [BIAS, -3],
  [BY_SCORER, 2],
]);

const EPOCHS = 8;
const RATE = 0.3;
/** Pull back to the prior, per step. */
const PULL = 0.004;
/** Wrong choices that a step looks at: some by lot, and those that the model likes best. */
const BY_LOT = 40;
const LIKED = 25;
/** The epochs before which the wrong choices that the model likes are looked up. */
const LOOKED_UP = new Set([1, 3, 5]);

/** The logit of a choice against "nothing stands there"; positions count by `share`, 0..1. */
export function logit(weights: Float64Array, choice: Choice, share: number): number {
  const { general, position, anchors, byRules, labelScore, liking } = choice;
  const prior =
    (byRules ? at(weights, BY_RULES) : 0) +
    labelScore * at(weights, LABEL_SCORE) +
    liking * at(weights, BY_SCORER);
  const near = sumOf(weights, general) + sumOf(weights, anchors);
  return prior + at(weights, BIAS) + near + share * sumOf(weights, position);
}

const at = (weights: Float64Array, place: number): number => weights[place] ?? 0;

function sumOf(weights: Float64Array, places: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < places.length; i += 1) sum += weights[places[i] ?? 0] ?? 0;
  return sum;
}

/** A document as the steps go through it: its right choices and the wrong ones that they look at. */
interface Looked {
  readonly right: readonly Choice[];
  readonly byLot: readonly Choice[];
  liked: readonly Choice[];
}

/**
 * One conditional logistic regression: p(choice) = e^logit / (1 + Σ e^logit) over the choices of a document,
 * stochastic gradient, towards the prior. Where several choices are right they share their document's weight
 * by what the model believes of them, evenly at first.
 */
export function regression(cases: readonly Case[], seed: number): Float64Array {
  const weights = new Float64Array(FEATURES);
  for (const [place, weight] of PRIOR) weights[place] = weight;
  const next = seeded(seed);
  const wrong = cases.map(wrongOf);
  const looked = cases.map(({ choices, right }, i): Looked => ({
    right: right.flatMap((place) => choices[place] ?? []),
    byLot: drawn(wrong[i] ?? [], next),
    liked: [],
  }));
  for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
    if (LOOKED_UP.has(epoch))
      for (const [i, one] of looked.entries()) one.liked = mostLiked(wrong[i] ?? [], one, weights);
    const rate = RATE / (1 + epoch / 4);
    for (const one of shuffled(looked, next)) step(weights, one, rate);
  }
  return weights;
}

function wrongOf({ choices, right }: Case): readonly Choice[] {
  const known = new Set(right);
  return choices.filter((_, i) => !known.has(i));
}

function drawn(wrong: readonly Choice[], next: () => number): readonly Choice[] {
  const lot = Array.from(
    { length: Math.min(BY_LOT, wrong.length) },
    () => wrong[Math.floor(next() * wrong.length)],
  );
  return [...new Set([...wrong.filter(({ byRules }) => byRules), ...lot.filter((one) => one !== undefined)])];
}

function mostLiked(wrong: readonly Choice[], { byLot }: Looked, weights: Float64Array): readonly Choice[] {
  const logits = Float64Array.from(wrong, (choice) => logit(weights, choice, 1));
  const known = new Set(byLot);
  const places = Array.from(logits.keys()).sort((a, b) => at(logits, b) - at(logits, a) || a - b);
  return places
    .slice(0, LIKED)
    .flatMap((place) => wrong[place] ?? [])
    .filter((choice) => !known.has(choice));
}

function step(weights: Float64Array, { right, byLot, liked }: Looked, rate: number): void {
  const chosen = [...right, ...byLot, ...liked];
  const odds = Float64Array.from(chosen, (choice) => logit(weights, choice, 1));
  const most = odds.reduce((a, b) => Math.max(a, b), 0);
  let [all, ofRight] = [Math.exp(-most), 0];
  for (let i = 0; i < odds.length; i += 1) {
    const odd = Math.exp(at(odds, i) - most);
    odds[i] = odd;
    all += odd;
    if (i < right.length) ofRight += odd;
  }
  for (const [i, choice] of chosen.entries()) {
    const odd = at(odds, i);
    const gradient = (i < right.length ? odd / ofRight : 0) - odd / all;
    if (Math.abs(gradient) > 1e-4) move(weights, choice, rate * gradient);
  }
  for (const [place, prior] of PRIOR)
    weights[place] = at(weights, place) + rate * PULL * (prior - at(weights, place));
}

function move(weights: Float64Array, choice: Choice, by: number): void {
  moveAll(weights, choice.general, by);
  moveAll(weights, choice.position, by);
  moveAll(weights, choice.anchors, by);
  if (choice.byRules) weights[BY_RULES] = at(weights, BY_RULES) + by;
  weights[LABEL_SCORE] = at(weights, LABEL_SCORE) + by * choice.labelScore;
  weights[BY_SCORER] = at(weights, BY_SCORER) + by * choice.liking;
  weights[BIAS] = at(weights, BIAS) + by;
}

const KEPT = 1 - RATE * PULL;

function moveAll(weights: Float64Array, places: ArrayLike<number>, by: number): void {
  for (let i = 0; i < places.length; i += 1) {
    const place = places[i] ?? 0;
    weights[place] = by + KEPT * (weights[place] ?? 0);
  }
}
