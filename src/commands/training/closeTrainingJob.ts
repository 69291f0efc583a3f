import type { CommandMeta } from '../../../domain/kernel/command.ts';
import type { TrainingJobState } from '../../../domain/trainingJob/decider.ts';
import { dropJobSecret, type JobSecretDeps } from './trainingInput.ts';
import type { JobName, TrainingJobs } from './trainingJobs.ts';
import { closeJobHold, type TrainingMoneyDeps } from './trainingMoney.ts';
import { workProblem, type WorkProblem } from '../work/workProblem.ts';

type CloseDeps = TrainingMoneyDeps & Pick<JobSecretDeps, 'objects'>;

/** Ends a job's money, and forgets the key that it was given. False: the reaper has to ask again. */
export const closeJob = async (deps: CloseDeps, state: TrainingJobState): Promise<boolean> => {
  const closed = await closeJobHold(deps, state);
  if (state.job?.billing_type === 'byok') await dropJobSecret(deps, state.job.job_id);
  return closed;
};

/** Cancels a job and gives its hold back. `cancelled` is false for one that had ended already. */
export const cancelTrainingJob =
  (deps: CloseDeps & { readonly jobs: TrainingJobs }) =>
  async (
    job: JobName,
    meta: CommandMeta,
  ): Promise<{ readonly kind: 'answered'; readonly cancelled: boolean } | WorkProblem> => {
    const outcome = await deps.jobs.handle(job, { type: 'CancelTrainingJob', meta });
    if (outcome.kind === 'rejected') return { kind: 'answered', cancelled: false };
    if (outcome.kind !== 'done')
      return workProblem('busy', 'The job could not be cancelled now. Send the request again in a moment.');
    if (outcome.position !== undefined) deps.wrote(job.tenant_id, outcome.position);
    // What cannot be closed now is closed by the reaper: the job is cancelled whatever happens here.
    await closeJob(deps, outcome.state).catch(() => false);
    return { kind: 'answered', cancelled: true };
  };
