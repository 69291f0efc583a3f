import type { TrainingJobState } from '../../../domain/trainingJob/decider.ts';
import { closeJob } from '../../commands/training/closeTrainingJob.ts';
import type { JobName } from '../../commands/training/trainingJobs.ts';
import { reapWork, runClaimed } from '../queue/claim.ts';
import {
  queueWorker,
  type QueueLists,
  type QueueWorker,
  type QueueWorkerDeps,
} from '../queue/queueWorker.ts';
import { queuedJobs } from './queuedJobs.ts';
import { runHeld, type TrainingWorkDeps } from './runTrainingJob.ts';

export type JobLists = QueueLists<JobName>;
export type TrainingWorkerDeps = TrainingWorkDeps & QueueWorkerDeps<JobName>;

/** Takes training jobs from the queue that their streams are. */
export const trainingWorker = (deps: TrainingWorkerDeps): QueueWorker => {
  const { jobs } = deps;
  const work = queuedJobs(jobs);
  const close = (state: TrainingJobState) => closeJob(deps, state);
  return queueWorker(deps, {
    idOf: work.idOf,
    run: (name, shutdown) =>
      runClaimed(deps, work, {
        name,
        close,
        runHeld: (held, state) => runHeld(deps, { held, state }, shutdown),
      }),
    reap: (name) => reapWork(deps, work, { name, close }),
    settle: async ({ job_id }) => close(await jobs.stateOf(job_id)),
    isKnown: async ({ job_id }) => (await jobs.stateOf(job_id)).job !== null,
  });
};
