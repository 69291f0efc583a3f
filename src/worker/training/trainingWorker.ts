import { z } from 'zod';
import type { ExampleSource, Trainer, TrainingOutcome, TrainingTask } from '../../../domain/ports/trainer.ts';
import {
  artifactIdOfJob,
  fieldScore,
  type Progress,
  score,
  type TrainingWork,
} from '../../../domain/trainingJob.ts';
import {
  openJobSecret,
  TamperedInput,
  trainingInputs,
  type TrainingInput,
} from '../../commands/training/trainingInput.ts';
import { jobMoney } from '../../commands/training/trainingMoney.ts';
import type { JobName } from '../../commands/training/trainingJobs.ts';
import { heartbeat, type StopReason } from '../queue/heartbeat.ts';
import { queueWorker, type QueueWorker, type QueueWorkerDeps } from '../queue/queueWorker.ts';
import { giveUp, publish, succeed, type EndDeps, type HeldJob } from './endTrainingJob.ts';
import { failed, type Failed } from './trainer.ts';

export interface TrainingWorkerDeps extends EndDeps, QueueWorkerDeps<JobName> {
  readonly clock: QueueWorkerDeps<JobName>['clock'];
  readonly trainer: Trainer;
  readonly source: ExampleSource;
}

type Stopped = { readonly kind: 'stopped'; readonly reason: StopReason };

/** A trainer is another's code: what it says is checked before it is written down for ever. */
const trainedResult = z.object({
  artifact: z.instanceof(Uint8Array).refine((bytes) => bytes.byteLength > 0),
  baseline_score: score,
  best_score: score,
  per_field: z.array(fieldScore),
});

/** The model that takes part, with the caller's key where it gave one. */
const modelOf = async (
  deps: TrainingWorkerDeps,
  { accepted: job }: HeldJob,
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

const count = (n: number): number => (Number.isFinite(n) ? Math.max(0, Math.trunc(n)) : 0);

const train = async (
  deps: TrainingWorkerDeps,
  held: HeldJob,
  shutdown: AbortSignal,
): Promise<TrainingOutcome | Stopped> => {
  const { accepted: job, attempt } = held;
  const input = await trainingInputs(deps.objects).load(job.job_id, job.input_sha256);
  const llm = await modelOf(deps, held, input.llm);
  if (llm !== null && 'kind' in llm) return llm;
  const { job_id, tenant_id, optimizer_tier, max_metric_calls } = job;
  const task = { ...input, llm, job_id, tenant_id, attempt, optimizer_tier, max_metric_calls };
  let progress: Progress = { metric_calls: 0, max_metric_calls };
  const beat = heartbeat<TrainingWork>({ ...deps, streams: deps.jobs }, held, {
    standing: () => ({ done: progress.metric_calls, of: progress.max_metric_calls }),
    reached: () => ({ progress }),
    shutdown,
  });
  const { signal } = beat;
  const onProgress = ({ metric_calls, max_metric_calls: most }: Progress): void => {
    progress = { metric_calls: count(metric_calls), max_metric_calls: count(most) };
  };
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
  deps: TrainingWorkerDeps,
  held: HeldJob,
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
const runHeld = async (deps: TrainingWorkerDeps, held: HeldJob, shutdown: AbortSignal): Promise<void> => {
  try {
    const earlier = await deps.artifacts.published(artifactIdOfJob(held.name.job_id));
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

/** Takes training jobs from the queue. */
export const trainingWorker = (deps: TrainingWorkerDeps): QueueWorker =>
  queueWorker<TrainingWork>(deps, {
    money: jobMoney(deps),
    runHeld: (held, shutdown) => runHeld(deps, held, shutdown),
  });
