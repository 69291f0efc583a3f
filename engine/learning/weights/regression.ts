import { BIAS, BY_RULES, FEATURES, LABEL_SCORE } from './hashing.ts';
import { seeded, shuffled } from '../seeded.ts';

/** A value to choose, as the model sees it. */
export interface Choice {
  readonly general: ArrayLike<number>;
  readonly position: ArrayLike<number>;
  readonly anchors: ArrayLike<number>;
  readonly byRules: boolean;
  readonly labelScore: number;
}

/** The choices of one document. None of them is right where the document does not say the value. */
export interface Case {
  readonly choices: readonly Choice[];
  /** Places of the right ones. */
  readonly right: readonly number[];
}

export type WeightAt = (place: number) => number;

/**
 * What is believed before any example: the rules' choice is the right one (logit +1 against "nothing"), all
 * others are not. With these weights alone the model chooses exactly what the rules choose.
 */
export const PRIOR: ReadonlyMap<number, number> = new Map([
  [BY_RULES, 4],
  [LABEL_SCORE, 0.5],
  [BIAS, -3],
]);

const EPOCHS = 8;
const RATE = 0.12;
/** Pull back to the prior, per step. */
const PULL = 0.004;
/** Wrong choices that a step looks at: some by lot, and those that the model likes best. */
const BY_LOT = 40;
const LIKED = 25;
/** The epochs before which the wrong choices that the model likes are looked up. */
const LOOKED_UP = new Set([1, 3, 5]);

/** The logit of a choice against "nothing stands there"; positions count by `share`, 0..1. */
export function logit(weightAt: WeightAt, choice: Choice, share: number): number {
  const { general, position, anchors } = choice;
  const prior = (choice.byRules ? weightAt(BY_RULES) : 0) + choice.labelScore * weightAt(LABEL_SCORE);
  return (
    prior +
    weightAt(BIAS) +
    sumOf(weightAt, general) +
    share * sumOf(weightAt, position) +
    sumOf(weightAt, anchors)
  );
}

function sumOf(weightAt: WeightAt, places: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < places.length; i += 1) sum += weightAt(places[i] ?? 0);
  return sum;
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
  const byLot = cases.map((one) => drawn(one, next));
  let liked = cases.map((): readonly number[] => []);
  for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
    if (LOOKED_UP.has(epoch)) liked = cases.map((one) => mostLiked(one, weights));
    const rate = RATE / (1 + epoch / 4);
    const order = shuffled(
      cases.map((_, i) => i),
      next,
    );
    for (const i of order) {
      const one = cases[i];
      if (one === undefined) continue;
      const looked = [...new Set([...one.right, ...(byLot[i] ?? []), ...(liked[i] ?? [])])];
      step(weights, { ...one, looked }, rate);
    }
  }
  return weights;
}

const isWrong = ({ right }: Case): ((place: number) => boolean) => {
  const known = new Set(right);
  return (place) => !known.has(place);
};

function drawn(one: Case, next: () => number): readonly number[] {
  const wrong = one.choices.map((_, i) => i).filter(isWrong(one));
  const rules = wrong.filter((i) => one.choices[i]?.byRules === true);
  const lot = Array.from(
    { length: Math.min(BY_LOT, wrong.length) },
    () => wrong[Math.floor(next() * wrong.length)],
  );
  return [...rules, ...lot.filter((place) => place !== undefined)];
}

function mostLiked(one: Case, weights: Float64Array): readonly number[] {
  const logits = one.choices.map((choice) => logit((place) => weights[place] ?? 0, choice, 1));
  return one.choices
    .map((_, i) => i)
    .filter(isWrong(one))
    .sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0) || a - b)
    .slice(0, LIKED);
}

interface Looked extends Case {
  readonly looked: readonly number[];
}

function step(weights: Float64Array, { choices, right, looked }: Looked, rate: number): void {
  const chosen = looked.flatMap((place) => choices[place] ?? []);
  const isRight = looked.map((place) => right.includes(place));
  const logits = chosen.map((choice) => logit((place) => weights[place] ?? 0, choice, 1));
  const most = logits.reduce((a, b) => Math.max(a, b), 0);
  const odds = logits.map((value) => Math.exp(value - most));
  const all = odds.reduce((a, b) => a + b, Math.exp(-most));
  const ofRight = odds.reduce((sum, value, i) => (isRight[i] === true ? sum + value : sum), 0);
  for (const [i, choice] of chosen.entries()) {
    const odd = odds[i] ?? 0;
    const wanted = isRight[i] === true ? odd / ofRight : 0;
    const gradient = wanted - odd / all;
    if (Math.abs(gradient) > 1e-4) move(weights, choice, rate * gradient);
  }
  for (const [place, prior] of PRIOR)
    weights[place] = (weights[place] ?? 0) + rate * PULL * (prior - (weights[place] ?? 0));
}

function move(weights: Float64Array, choice: Choice, by: number): void {
  for (const places of [choice.general, choice.position, choice.anchors]) {
    for (let i = 0; i < places.length; i += 1) {
      const place = places[i] ?? 0;
      const weight = weights[place] ?? 0;
      weights[place] = weight + by - RATE * PULL * weight;
    }
  }
  if (choice.byRules) weights[BY_RULES] = (weights[BY_RULES] ?? 0) + by;
  weights[LABEL_SCORE] = (weights[LABEL_SCORE] ?? 0) + by * choice.labelScore;
  weights[BIAS] = (weights[BIAS] ?? 0) + by;
}
