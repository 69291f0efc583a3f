import type { LearningLimits, LearningResult, LocalLearner, TrainingProgress } from '../ports/training.ts';
import type { ChildPool } from '../isolation/children/childPool.ts';
import type { JobOutcome } from '../isolation/children/jobs.ts';

/** What a child that is killed for its time or its memory is called to the caller. */
const FAILURES: Readonly<Record<'timed_out' | 'starved' | 'out_of_memory' | 'died', string>> = {
  timed_out: 'The training did not end in time: give fewer or shorter examples.',
  starved: 'The server had too much to do to train.',
  out_of_memory: 'The training needs more memory than one job may use: give fewer or shorter examples.',
  died: 'The training ended before its time.',
};

const resultOf = (outcome: JobOutcome): LearningResult => {
  switch (outcome.kind) {
    case 'answered':
      return outcome.answer as LearningResult;
    case 'aborted':
      return { kind: 'aborted' };
    case 'failed':
      throw new Error(`a learning job failed: ${outcome.message}`);
    default:
      return { kind: 'failed', detail: FAILURES[outcome.kind] };
  }
};

/** Learning in the children of a pool, one job at a time each. */
export const localLearner = (pool: ChildPool): LocalLearner => ({
  learn: async (task, { onProgress, ...limits }: LearningLimits) => {
    const told = (progress: unknown): void => onProgress(progress as TrainingProgress);
    return resultOf(await pool.run({ kind: 'learn', ...task }, { ...limits, onProgress: told }));
  },
});
