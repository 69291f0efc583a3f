import type { Json } from '../kernel/json.ts';
import type { TrainingReport } from '../ports/artifacts.ts';
import { interval, rounded } from './scoring/bootstrap.ts';
import type { Gated } from './weights/gates.ts';
import type { Example } from './rounds.ts';
import { added, f1, NONE } from './scoring/scoring.ts';
import type { Counts } from '../ports/documentTools.ts';
import { countsOf, valueIn, type Target } from './targets.ts';
import { remembered } from '../kernel/once.ts';

/** A target of a document that was held out: what the rules say of it, and what the artifact says. */
export interface Held {
  readonly example: Example;
  readonly target: Target;
  readonly rules: Json | undefined;
  readonly got: Json | undefined;
}

interface Sums {
  baseline: Counts;
  best: Counts;
}

const sumsAt = <Key>(sums: Map<Key, Sums>, key: Key): Sums =>
  remembered(sums, key, () => ({ baseline: NONE, best: NONE }));

/** Scores of rules and artifact on held-out documents, over all leaves and for each path. */
export function reportOf(
  held: readonly Held[],
  { unseen }: Gated,
  { folds, seed }: { readonly folds: number; readonly seed: number },
): TrainingReport {
  const paths = new Map<string, Sums>();
  const documents = new Map<Example, Sums>();
  for (const { example, target, rules, got } of held) {
    const expected = valueIn(example.expected, target.pointer);
    const document = sumsAt(documents, example);
    for (const [side, value] of [
      ['baseline', rules],
      ['best', got],
    ] as const) {
      const counts = countsOf(target, { expected, got: value }, (path, leaf) => {
        const sums = sumsAt(paths, path);
        sums[side] = added(sums[side], leaf);
      });
      document[side] = added(document[side], counts);
    }
  }
  const all = [...documents.values()];
  const baseline_score = scoreOf(all.map(({ baseline }) => baseline));
  const best_score = scoreOf(all.map(({ best }) => best));
  const unseen_templates =
    unseen === undefined ? null : { baseline: rounded(f1(unseen.rules)), best: rounded(f1(unseen.model)) };
  return {
    baseline_score,
    best_score,
    per_field: [...paths].map(([path, { baseline, best }]) => ({
      path,
      baseline: rounded(f1(baseline)),
      best: rounded(f1(best)),
    })),
    confidence_interval: interval(
      all.map(({ best }) => best),
      seed,
    ),
    unseen_templates,
    validation: { kind: folds > 1 ? 'cross_validation' : 'hold_out', documents: all.length },
    better:
      best_score > baseline_score &&
      (unseen_templates === null || unseen_templates.best >= unseen_templates.baseline),
  };
}

const scoreOf = (documents: readonly Counts[]): number => rounded(f1(documents.reduce(added, NONE)));
