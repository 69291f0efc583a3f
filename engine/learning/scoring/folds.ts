import { seeded, shuffled } from '../seeded.ts';

/** Examples to learn from and examples to score, by their places. */
export interface Fold {
  readonly learn: readonly number[];
  readonly held: readonly number[];
}

const FOLDS_MAX = 5;
/** From so many examples on a part of them is held out once; below, each is held out in turn. */
const HOLD_OUT_FROM = 30;
const HELD_MIN = 3;

const foldsBy = (count: number, parts: number, partOf: (place: number) => number): readonly Fold[] => {
  const places = Array.from({ length: count }, (_, i) => i);
  return Array.from({ length: parts }, (_, part) => ({
    learn: places.filter((i) => partOf(i) !== part),
    held: places.filter((i) => partOf(i) === part),
  })).filter(({ learn, held }) => learn.length > 0 && held.length > 0);
};

/** Each example is held out once, those of one layout spread over the parts. `groups`: layout of each. */
export function documentFolds(groups: readonly number[], seed: number): readonly Fold[] {
  const parts = Math.min(FOLDS_MAX, groups.length);
  const dealt = new Map(byLayout(groups, seed).map((place, i) => [place, i % parts]));
  return foldsBy(groups.length, parts, (place) => dealt.get(place) ?? 0);
}

/** Whole layouts are held out; none where there is one layout alone. */
export function layoutFolds(groups: readonly number[]): readonly Fold[] {
  const layouts = [...new Set(groups)];
  const parts = Math.min(FOLDS_MAX, layouts.length);
  if (parts < 2) return [];
  return foldsBy(groups.length, parts, (place) => layouts.indexOf(groups[place] ?? 0) % parts);
}

/** How an artifact is scored: by a share held out once, or by each example in turn where there are few. */
export function validationFolds(groups: readonly number[], share: number, seed: number): readonly Fold[] {
  const count = groups.length;
  if (count < HOLD_OUT_FROM || share <= 0) return documentFolds(groups, seed);
  const held = Math.max(HELD_MIN, Math.round(share * count));
  const order = byLayout(groups, seed);
  const chosen = new Set(
    Array.from({ length: held }, (_, i) => order[Math.floor(((i + 0.5) * count) / held)]),
  );
  return foldsBy(count, 2, (place) => (chosen.has(place) ? 0 : 1)).slice(0, 1);
}

/** Places in an order that the seed decides, those of one layout together. */
function byLayout(groups: readonly number[], seed: number): readonly number[] {
  const order = shuffled(
    groups.map((_, i) => i),
    seeded(seed),
  );
  return [...order].sort((a, b) => (groups[a] ?? 0) - (groups[b] ?? 0));
}
