import type { HttpRun } from './httpClient.ts';
import { median, medianRun } from '../../../engine/test/bench/measure.ts';

/** Runs of one side, one a round. */
export interface SideRuns {
  readonly side: string;
  readonly runs: readonly HttpRun[];
}

const spread = (values: readonly number[], digits: number): string =>
  `${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)}`;

/** A row a side: medians, and what it is of `base` in the same round, for rounds differ more than sides. */
export const comparison = (sides: readonly SideRuns[], base: readonly HttpRun[]) =>
  sides.map(({ side, runs }) => {
    const { perSecond, p50Ms, p99Ms, cpuMs } = medianRun(runs);
    const inRound = (figure: 'perSecond' | 'p99Ms' | 'cpuMs') =>
      runs.map((run, n) => (run[figure] ?? Number.NaN) / (base[n]?.[figure] ?? Number.NaN));
    const rates = runs.map((run) => run.perSecond);
    return {
      side,
      'req/s': Math.round(perSecond),
      spread: spread(rates, 0),
      'p50 / p99 ms': `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)}`,
      ratio: median(inRound('perSecond')).toFixed(2),
      'its spread': spread(inRound('perSecond'), 2),
      'ratio of p99': median(inRound('p99Ms')).toFixed(2),
      'CPU ms/req': cpuMs?.toFixed(3) ?? 'unknown',
      'ratio of CPU': median(inRound('cpuMs')).toFixed(2),
      failed: runs.reduce((sum, run) => sum + run.failed, 0),
    };
  });
