import { hasEnded, type TrainingJobState } from '../../../domain/trainingJob/decider.ts';
import type { JobName, TrainingJobs } from '../../commands/training/trainingJobs.ts';
import type { QueuedWork } from '../queue/queuedWork.ts';

/** Training jobs as a queue has them. */
export const queuedJobs = (jobs: TrainingJobs): QueuedWork<JobName, TrainingJobState> => ({
  idOf: ({ job_id }) => job_id,
  stateOf: jobs.stateOf,
  hasEnded,
  start: (job, data, meta) => jobs.handle(job, { type: 'StartTrainingJob', data, meta }),
  reap: (job, meta) => jobs.handle(job, { type: 'ReapTrainingJob', meta }),
});
