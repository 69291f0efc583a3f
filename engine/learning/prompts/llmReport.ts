import type { FieldScore } from '../../ports/training.ts';
import { rounded } from '../scoring/bootstrap.ts';
import type { ScoredAnswer, Counts } from '../../ports/documentTools.ts';
import type { LlmArtifact } from './llmArtifact.ts';
import { added, f1, NONE } from '../scoring/scoring.ts';

/** F1 over all leaves of these answers, 0 to 1. */
export const totalOf = (answers: readonly ScoredAnswer[]): number =>
  f1(answers.map(({ counts }) => counts).reduce(added, NONE));

const byPath = (answers: readonly ScoredAnswer[]): ReadonlyMap<string, Counts> => {
  const sums = new Map<string, Counts>();
  for (const { path, counts } of answers.flatMap(({ leaves }) => leaves))
    sums.set(path, added(sums.get(path) ?? NONE, counts));
  return sums;
};

/** How two prompts fared on the same held-out examples, over all leaves and for each path. */
export const reportOfPrompts = (
  baseline: readonly ScoredAnswer[],
  best: readonly ScoredAnswer[],
): LlmArtifact['metrics'] => {
  const [before, after] = [byPath(baseline), byPath(best)];
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  const per_field = paths.map((path): FieldScore => ({
    path,
    baseline: rounded(f1(before.get(path) ?? NONE)),
    best: rounded(f1(after.get(path) ?? NONE)),
  }));
  const [from, to] = [totalOf(baseline), totalOf(best)];
  return {
    baseline_score: rounded(from),
    best_score: rounded(to),
    per_field,
    held_out: baseline.length,
    better: to > from,
  };
};
