import { z } from 'zod';
import { laterBy } from '../../domain/kernel/instant.ts';
import type { ExampleSource, Trainer, TrainingOutcome, TrainingTask } from '../../domain/ports/trainer.ts';
import { fieldScore, score } from '../../domain/trainingJob/events.ts';
import { artifactIdOfJob } from '../../domain/trainingJob/identity.ts';
import type { Artifacts } from '../commands/training/artifacts.ts';
import {
  openJobSecret,
  TamperedInput,
  trainingInputs,
  type JobSecretDeps,
  type TrainingInput,
} from '../commands/training/trainingInput.ts';
import type { TrainingMoneyDeps } from '../commands/training/trainingMoney.ts';
import type { JobName } from '../commands/training/trainingJobs.ts';
import { systemMeta } from '../commands/writer/commandMeta.ts';
import { giveUp, publish, reapJob, succeed } from './endTrainingJob.ts';
import { heartbeat, type HeldLease, type LeaseDeps, type StopReason } from './heldLease.ts';
import { leaseMs } from './lease.ts';

export interface TrainingWorkDeps extends LeaseDeps, TrainingMoneyDeps, JobSecretDeps {
  readonly artifacts: Artifacts;
  readonly trainer: Trainer;
  readonly source: ExampleSource;
  /** Names this worker in the log. */
  readonly worker: string;
  readonly onError: (error: unknown) => void;
}

/** `ran`: it was this worker's, whatever became of it. */
export type JobRun = 'ran' | 'not_ours' | 'reaped';

type Failed = Extract<TrainingOutcome, { readonly kind: 'failed' }>;
type Stopped = { readonly kind: 'stopped'; readonly reason: StopReason };

const failed = (code: string, detail: string, lasting = false): Failed => ({
  kind: 'failed',
  code,
  detail,
  lasting,
});

/** A trainer is another's code: what it says is checked before it is written down for ever. */
const trainedResult = z.object({
  artifact: z.instanceof(Uint8Array).refine((bytes) => bytes.byteLength > 0),
  baseline_score: score,
  best_score: score,
  per_field: z.array(fieldScore),
});

const claim = async (deps: TrainingWorkDeps, job: JobName): Promise<HeldLease | 'not_ours' | 'exhausted'> => {
  const meta = systemMeta(deps, job.job_id);
  const lease_id = deps.clock.newId('lease');
  const lease_until = laterBy(meta.now, leaseMs(0));
  const outcome = await deps.jobs.handle(job, {
    type: 'StartTrainingJob',
    data: { lease_id, lease_until, worker: deps.worker },
    meta,
  });
  if (outcome.kind === 'rejected')
    return outcome.rejection.code === 'attempts_exhausted' ? 'exhausted' : 'not_ours';
  if (outcome.kind !== 'done' || outcome.state.job === null) return 'not_ours';
  if (outcome.position !== undefined) deps.wrote(job.tenant_id, outcome.position);
  return { job: outcome.state.job, lease_id, attempt: outcome.state.attempts, started_at: meta.now };
};

/** The model that takes part, with the caller's key where it gave one. */
const modelOf = async (
  deps: TrainingWorkDeps,
  { job }: HeldLease,
  llm: TrainingInput['llm'],
): Promise<TrainingTask['llm'] | Failed> => {
  if (llm === null) return null;
  const { provider_model, api_base, secret_id } = llm;
  if (secret_id === null) return { provider_model, api_base, api_key: null };
  const api_key = await openJobSecret(deps, { tenant_id: job.tenant_id, secret_id });
  if (api_key === undefined)
    return failed('field_encryption_not_configured', 'The provider key of this job cannot be opened.', true);
  return { provider_model, api_base, api_key };
};

const train = async (
  deps: TrainingWorkDeps,
  held: HeldLease,
  shutdown: AbortSignal,
): Promise<TrainingOutcome | Stopped> => {
  const { job } = held;
  const input = await trainingInputs(deps.objects).load(job.job_id, job.input_sha256);
  const llm = await modelOf(deps, held, input.llm);
  if (llm !== null && 'kind' in llm) return llm;
  const { job_id, tenant_id, optimizer_tier, max_metric_calls } = job;
  const { attempt } = held;
  const task = { ...input, llm, job_id, tenant_id, attempt, optimizer_tier, max_metric_calls };
  const beat = heartbeat(deps, held, shutdown);
  const { signal, onProgress } = beat;
  const stopped = new Promise<Stopped>((resolve) => {
    const stop = () => resolve({ kind: 'stopped', reason: signal.reason as StopReason });
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
  const running = deps.trainer.run(task, { source: deps.source, onProgress, signal });
  try {
    const outcome = await Promise.race([running, stopped]);
    // Whoever was stopped may still throw, and nobody listens.
    if (outcome.kind === 'stopped') running.catch(() => undefined);
    return outcome;
  } catch (error) {
    if (signal.aborted) return { kind: 'stopped', reason: signal.reason as StopReason };
    throw error;
  } finally {
    await beat.stop();
  }
};

const stoppedBy = ({ reason }: Stopped): (Failed & { reason: 'failed' | 'shutdown' }) | undefined => {
  if (reason === 'lost') return undefined;
  if (reason === 'shutdown') return { ...failed('shutdown', 'The worker was shut down.'), reason };
  return { ...failed('timed_out', 'The job took longer than jobs may.', true), reason: 'failed' };
};

const thrown = (error: unknown): Failed =>
  error instanceof TamperedInput
    ? failed('storage_error', 'What the job was to learn from is not in storage any more.', true)
    : failed('internal_error', 'Something broke on our side.');

const finish = async (
  deps: TrainingWorkDeps,
  held: HeldLease,
  outcome: TrainingOutcome | Stopped,
): Promise<void> => {
  if (outcome.kind === 'stopped') {
    const why = stoppedBy(outcome);
    if (why !== undefined) await giveUp(deps, held, why);
    return;
  }
  if (outcome.kind === 'failed') {
    await giveUp(deps, held, { ...outcome, reason: 'failed' });
    return;
  }
  const result = trainedResult.safeParse(outcome);
  if (!result.success) throw new Error('the trainer gave no artifact with scores from 0 to 1');
  const published = await publish(deps, held, outcome);
  if (published !== undefined) await succeed(deps, held, published);
};

/** Does the work of a job that is ours; an artifact that an earlier owner published is taken as it is. */
const runHeld = async (deps: TrainingWorkDeps, held: HeldLease, shutdown: AbortSignal): Promise<void> => {
  try {
    const earlier = await deps.artifacts.published(artifactIdOfJob(held.job.job_id));
    if (earlier !== undefined) {
      await succeed(deps, held, earlier);
      return;
    }
    await finish(deps, held, await train(deps, held, shutdown));
  } catch (error) {
    deps.onError(error);
    await giveUp(deps, held, { ...thrown(error), reason: 'failed' });
  }
};

/**
 * Claims a job and does it to its end: trained, failed, or given up for another attempt. Whatever this
 * process does not get to, the lease hands to the next worker and the reaper.
 */
export const runTrainingJob = async (
  deps: TrainingWorkDeps,
  job: JobName,
  shutdown: AbortSignal,
): Promise<JobRun> => {
  const held = await claim(deps, job);
  if (held === 'not_ours') return held;
  if (held === 'exhausted') return (await reapJob(deps, job)) ? 'reaped' : 'not_ours';
  await runHeld(deps, held, shutdown);
  return 'ran';
};
