import { canonicalJson, sha256 } from '../../../domain/kernel/chain.ts';
import type { TrainingOutcome } from '../../../domain/ports/trainer.ts';
import type { GiveUpTrainingJob } from '../../../domain/trainingJob/commands.ts';
import type { TrainingJobEventOf } from '../../../domain/trainingJob/events.ts';
import { artifactIdOfJob } from '../../../domain/trainingJob/identity.ts';
import type { Artifact, Artifacts } from '../../commands/training/artifacts.ts';
import { closeJob } from '../../commands/training/closeTrainingJob.ts';
import { trainingInputs, type JobSecretDeps } from '../../commands/training/trainingInput.ts';
import type { TrainingMoneyDeps } from '../../commands/training/trainingMoney.ts';
import type { TrainingJobs } from '../../commands/training/trainingJobs.ts';
import { systemMeta } from '../../commands/writer/commandMeta.ts';
import type { HeldLease } from '../queue/heartbeat.ts';
import { retryAt } from '../queue/leaseTimes.ts';
import { stateAfter, type QueueDeps } from '../queue/queuedWork.ts';

/** A job that this worker owns. */
export type HeldJob = HeldLease<TrainingJobEventOf<'TrainingJobCreated'>['data']>;

export interface EndDeps extends QueueDeps, TrainingMoneyDeps, JobSecretDeps {
  readonly jobs: TrainingJobs;
  readonly artifacts: Artifacts;
}

type Trained = Extract<TrainingOutcome, { readonly kind: 'trained' }>;

/** Why an owner stops before the end. */
type GivenUp = Pick<GiveUpTrainingJob['data'], 'reason' | 'lasting' | 'code' | 'detail'>;

const schemaDigest = async (deps: EndDeps, { name: job }: HeldJob): Promise<string> =>
  sha256(canonicalJson((await trainingInputs(deps.objects).load(job.job_id, job.input_sha256)).schema));

/** The bytes first, then the event: an artifact that is known is whole. */
export const publish = async (
  deps: EndDeps,
  held: HeldJob,
  trained: Trained,
): Promise<Artifact | undefined> => {
  const { job_id, tenant_id, project_id, task_id } = held.name;
  const { baseline_score, best_score, per_field } = trained;
  const kept = await deps.artifacts.keep(trained.artifact);
  const meta = systemMeta(deps, job_id);
  return deps.artifacts.publish(
    {
      ...{ artifact_id: artifactIdOfJob(job_id), job_id, tenant_id, project_id, task_id },
      ...kept,
      schema_sha256: await schemaDigest(deps, held),
      ...{ baseline_score, best_score, per_field: [...per_field] },
      published_at: meta.now,
    },
    meta,
  );
};

/** Ends the job well, and charges for it. A job that was lost or cancelled meanwhile stays as it is. */
export const succeed = async (deps: EndDeps, held: HeldJob, found: Artifact): Promise<void> => {
  const { name: job, lease_id } = held;
  const { artifact_id, baseline_score, best_score, per_field } = found;
  const { max_metric_calls } = job;
  const outcome = await deps.jobs.handle(job, {
    type: 'SucceedTrainingJob',
    meta: systemMeta(deps, job.job_id),
    data: {
      ...{ lease_id, artifact_id, baseline_score, best_score, per_field },
      progress: { metric_calls: max_metric_calls, max_metric_calls },
    },
  });
  const state = stateAfter(deps, job, outcome);
  if (state !== undefined) await closeJob(deps, state);
};

/** Stops before the end: for another attempt, or for good. */
export const giveUp = async (
  deps: EndDeps,
  { name: job, lease_id, attempt }: HeldJob,
  why: GivenUp,
): Promise<void> => {
  const meta = systemMeta(deps, job.job_id);
  const { reason, lasting, code, detail } = why;
  const retry_at = retryAt(meta.now, reason, attempt);
  const data = { lease_id, retry_at, reason, lasting, code, detail };
  const outcome = await deps.jobs.handle(job, { type: 'GiveUpTrainingJob', data, meta });
  const state = stateAfter(deps, job, outcome);
  if (state?.status === 'failed') await closeJob(deps, state);
};
