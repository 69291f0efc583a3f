import { queuedWork, type QueuedKind, type QueuedState } from '../queue/queuedWork.ts';
import type { Progress, TrainingJobEvent, TrainingJobEventOf } from './events.ts';

export type CreatedJob = TrainingJobEventOf<'TrainingJobCreated'>['data'];

export interface TrainingWork {
  readonly event: TrainingJobEvent;
  readonly identity: { readonly job_id: string; readonly tenant_id: string };
  readonly accepted: CreatedJob;
  readonly success: TrainingJobEventOf<'TrainingJobSucceeded'>['data'];
  readonly reached: { readonly progress: Progress };
}
export type TrainingJobKind = QueuedKind<TrainingWork>;
export type TrainingJobState = QueuedState<TrainingWork>;

/** Training jobs: the same machine as operations, with a price of their own and an artifact at the end. */
export const trainingJob = queuedWork<TrainingWork>({
  words: {
    accepted: 'TrainingJobCreated',
    started: 'TrainingJobStarted',
    progressed: 'TrainingJobProgressed',
    succeeded: 'TrainingJobSucceeded',
    failed: 'TrainingJobFailed',
    cancelled: 'TrainingJobCancelled',
  },
  identityOf: ({ job_id, tenant_id }) => ({ job_id, tenant_id }),
  begins: ({ max_metric_calls }) => ({ progress: { metric_calls: 0, max_metric_calls } }),
  ends: (_, { progress }) => ({ progress }),
  reachedIn: ({ progress }) => ({ progress }),
  reaped: {
    expired: 'The job did not end in the time that jobs have.',
    worker_lost: 'The job was started several times and never came to its end. Create it again.',
  },
});
