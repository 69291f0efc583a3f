import { canonicalJson, sha256 } from '../../../domain/kernel/chain.ts';
import { artifactIdOfJob, type TrainingWork } from '../../../domain/trainingJob.ts';
import { closeWork } from '../../commands/queue/closeWork.ts';
import type { Artifact, Artifacts } from '../../commands/training/artifacts.ts';
import { trainingInputs, type JobSecretDeps } from '../../commands/training/trainingInput.ts';
import { jobMoney, type TrainingMoneyDeps } from '../../commands/training/trainingMoney.ts';
import { systemMeta } from '../../commands/writer/commandMeta.ts';
import type { HeldWork, QueueDeps } from '../queue/heartbeat.ts';
import { retryAt } from '../queue/leaseTimes.ts';
import { stateAfter } from '../queue/queueWorker.ts';

/** A job that this worker owns. */
export type HeldJob = HeldWork<TrainingWork>;

export interface EndDeps extends QueueDeps, TrainingMoneyDeps, JobSecretDeps {
  readonly clock: QueueDeps['clock'];
  readonly objects: JobSecretDeps['objects'];
  readonly artifacts: Artifacts;
}

import type { Trained } from './trainer.ts';

/** Why an owner stops before the end. */
interface GivenUp {
  readonly reason: 'failed' | 'shutdown';
  readonly lasting: boolean;
  readonly code: string;
  readonly detail: string;
}

const schemaDigest = async (deps: EndDeps, { accepted: job }: HeldJob): Promise<string> =>
  sha256(canonicalJson((await trainingInputs(deps.objects).load(job.job_id, job.input_sha256)).schema));

/** The bytes first, then the event: an artifact that is known is whole. */
export const publish = async (
  deps: EndDeps,
  held: HeldJob,
  trained: Trained,
): Promise<Artifact | undefined> => {
  const { job_id, tenant_id, project_id, task_id } = held.accepted;
  const { baseline_score, best_score, per_field } = trained;
  const kept = await deps.artifacts.keep(trained.artifact);
  const schema_sha256 = await schemaDigest(deps, held);
  const meta = systemMeta(deps, job_id);
  return deps.artifacts.publish(
    {
      ...{ artifact_id: artifactIdOfJob(job_id), job_id, tenant_id, project_id, task_id },
      ...kept,
      schema_sha256,
      ...{ baseline_score, best_score, per_field: [...per_field] },
      published_at: meta.now,
    },
    meta,
  );
};

/** Ends the job well, and charges for it. A job that was lost or cancelled meanwhile stays as it is. */
export const succeed = async (
  deps: EndDeps,
  { name, accepted, lease_id }: HeldJob,
  found: Artifact,
): Promise<void> => {
  const { artifact_id, baseline_score, best_score, per_field } = found;
  const { max_metric_calls } = accepted;
  const outcome = await deps.jobs.handle(name, {
    type: 'Succeed',
    meta: systemMeta(deps, name.job_id),
    data: {
      ...{ lease_id, artifact_id, baseline_score, best_score, per_field },
      progress: { metric_calls: max_metric_calls, max_metric_calls },
    },
  });
  const state = stateAfter<TrainingWork>(deps, name, outcome);
  if (state !== undefined) await closeWork(deps, jobMoney(deps), { name, state });
};

/** Stops before the end: for another attempt, or for good. */
export const giveUp = async (
  deps: EndDeps,
  { name, lease_id, attempt }: HeldJob,
  { reason, lasting, code, detail }: GivenUp,
): Promise<void> => {
  const meta = systemMeta(deps, name.job_id);
  const retry_at = retryAt(meta.now, reason, attempt);
  const data = { lease_id, retry_at, reason, lasting, code, detail };
  const outcome = await deps.jobs.handle(name, { type: 'GiveUp', data, meta });
  const state = stateAfter<TrainingWork>(deps, name, outcome);
  if (state?.status === 'failed') await closeWork(deps, jobMoney(deps), { name, state });
};
