import { added, f1, NONE } from './scoring.ts';
import type { Counts } from '../../ports/documentTools.ts';
import { seeded } from '../seeded.ts';

const RESAMPLES = 1_000;
export const LEVEL = 0.95;

export interface Interval {
  readonly level: number;
  readonly low: number;
  readonly high: number;
}

/** Interval of F1 over documents drawn again with replacement (percentile bootstrap). */
export function interval(documents: readonly Counts[], seed: number): Interval {
  const next = seeded(seed);
  const scores = Array.from({ length: RESAMPLES }, () => {
    let sum = NONE;
    for (let i = 0; i < documents.length; i += 1)
      sum = added(sum, documents[Math.floor(next() * documents.length)] ?? NONE);
    return f1(sum);
  }).sort((a, b) => a - b);
  const at = (share: number): number => rounded(scores[Math.round(share * (RESAMPLES - 1))] ?? 0);
  return { level: LEVEL, low: at((1 - LEVEL) / 2), high: at((1 + LEVEL) / 2) };
}

/** Scores are told in ten-thousandths. */
export const rounded = (score: number): number => Math.round(score * 10_000) / 10_000;
