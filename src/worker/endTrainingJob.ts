import { canonicalJson, sha256 } from '../../domain/kernel/chain.ts';
import { laterBy } from '../../domain/kernel/instant.ts';
import type { TrainingOutcome } from '../../domain/ports/trainer.ts';
import type { GiveUpTrainingJob } from '../../domain/trainingJob/commands.ts';
import { artifactIdOfJob } from '../../domain/trainingJob/identity.ts';
import type { Artifact, Artifacts } from '../commands/training/artifacts.ts';
import { closeJob } from '../commands/training/closeTrainingJob.ts';
import { trainingInputs, type JobSecretDeps } from '../commands/training/trainingInput.ts';
import type { TrainingMoneyDeps } from '../commands/training/trainingMoney.ts';
import type { JobName } from '../commands/training/trainingJobs.ts';
import { systemMeta } from '../commands/writer/commandMeta.ts';
import type { HeldLease, LeaseDeps } from './heldLease.ts';

interface EndDeps extends LeaseDeps, TrainingMoneyDeps, JobSecretDeps {
  readonly artifacts: Artifacts;
}

type Trained = Extract<TrainingOutcome, { readonly kind: 'trained' }>;

/** Why an owner stops before the end. */
type GivenUp = Pick<GiveUpTrainingJob['data'], 'reason' | 'lasting' | 'code' | 'detail'>;

/** Pause before another attempt, ms, times the attempts so far. */
const RETRY_MS = 10_000;

/** Ends a job that nobody will end any more. */
export const reapJob = async (
  deps: TrainingMoneyDeps & JobSecretDeps & Pick<LeaseDeps, 'jobs'>,
  job: JobName,
): Promise<boolean> => {
  const meta = systemMeta(deps, job.job_id);
  const outcome = await deps.jobs.handle(job, { type: 'ReapTrainingJob', meta });
  if (outcome.kind !== 'done') return false;
  if (outcome.position !== undefined) deps.wrote(job.tenant_id, outcome.position);
  return closeJob(deps, outcome.state);
};

const schemaDigest = async (deps: EndDeps, { job }: HeldLease): Promise<string> =>
  sha256(canonicalJson((await trainingInputs(deps.objects).load(job.job_id, job.input_sha256)).schema));

/** The bytes first, then the event: an artifact that is known is whole. */
export const publish = async (
  deps: EndDeps,
  held: HeldLease,
  trained: Trained,
): Promise<Artifact | undefined> => {
  const { job_id, tenant_id, project_id, task_id } = held.job;
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
export const succeed = async (deps: EndDeps, held: HeldLease, found: Artifact): Promise<void> => {
  const { job, lease_id } = held;
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
  if (outcome.kind !== 'done') return;
  if (outcome.position !== undefined) deps.wrote(job.tenant_id, outcome.position);
  await closeJob(deps, outcome.state);
};

/** Stops before the end: for another attempt, or for good. */
export const giveUp = async (
  deps: EndDeps,
  { job, lease_id, attempt }: HeldLease,
  why: GivenUp,
): Promise<void> => {
  const meta = systemMeta(deps, job.job_id);
  const pause = why.reason === 'shutdown' ? 0 : RETRY_MS * attempt;
  const retry_at = laterBy(meta.now, pause);
  const { reason, lasting, code, detail } = why;
  const data = { lease_id, retry_at, reason, lasting, code, detail };
  const outcome = await deps.jobs.handle(job, { type: 'GiveUpTrainingJob', data, meta });
  if (outcome.kind !== 'done') return;
  if (outcome.position !== undefined) deps.wrote(job.tenant_id, outcome.position);
  if (outcome.state.status === 'failed') await closeJob(deps, outcome.state);
};
