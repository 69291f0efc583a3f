import type { PackedDocument } from '@quire/engine/document/document';
import type { DocumentParser } from '@quire/engine/ports/documentParser';
import type { LocalLearner, LlmTrainer } from '@quire/engine/ports/training';
import { modelNamed, type ModelAccess } from '@quire/engine/ports/modelProvider';
import { artifactBytes, type ArtifactFile } from '@quire/engine/learning/artifactFile';
import { readLlmArtifact } from '@quire/engine/learning/prompts/llmArtifact';
import { eachOf } from '@quire/engine/models/byModel/modelWorkDeps';
import { z } from 'zod';
import { canonicalJson, sha256 } from '../../domain/kernel/chain.ts';
import {
  artifactIdOfJob,
  fieldScore,
  type Progress,
  score,
  type TrainingWork,
} from '../../domain/trainingJob.ts';
import { closeWork } from '../commands/queue.ts';
import type { Artifact, Artifacts } from '../commands/deployments.ts';
import {
  jobMoney,
  type JobName,
  type JobSecretDeps,
  openJobSecret,
  TamperedInput,
  type TrainingInput,
  trainingInputs,
  type TrainingMoneyDeps,
} from '../commands/training.ts';
import { SYSTEM, systemMeta } from '../writer/commandMeta.ts';
import {
  heartbeat,
  type HeldWork,
  type QueueDeps,
  queueWorker,
  type QueueWorker,
  type QueueWorkerDeps,
  retryAt,
  stateAfter,
  type StopReason,
} from './queue.ts';
import type {
  ExampleSource,
  Trainer,
  TrainingContext,
  TrainingExample,
  TrainingOutcome,
  TrainingTask,
} from '../../domain/ports/trainer.ts';
import { callLog, type LogCall } from '../commands/deliverWork.ts';
import { DEFAULT_RETRIES } from '../commands/models.ts';
import type { PlatformModels } from '../platformModels.ts';
import { parseProblem } from '../commands/workProblem.ts';

/** A job that this worker owns. */
type HeldJob = HeldWork<TrainingWork>;

interface EndDeps extends QueueDeps, TrainingMoneyDeps, JobSecretDeps {
  readonly clock: QueueDeps['clock'];
  readonly objects: JobSecretDeps['objects'];
  readonly artifacts: Artifacts;
}

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
const publish = async (deps: EndDeps, held: HeldJob, trained: Trained): Promise<Artifact | undefined> => {
  const { job_id, tenant_id, project_id, task_id } = held.accepted;
  const { baseline_score, best_score, per_field } = trained;
  const kept = await deps.artifacts.keep(trained.artifact);
  const schema_sha256 = await schemaDigest(deps, held);
  const meta = systemMeta(deps, job_id);
  return deps.artifacts.publish(
    {
      artifact_id: artifactIdOfJob(job_id),
      job_id,
      tenant_id,
      project_id,
      task_id,
      ...kept,
      schema_sha256,
      baseline_score,
      best_score,
      per_field: [...per_field],
      published_at: meta.now,
    },
    meta,
  );
};

/** Ends the job well, and charges for it. A job that was lost or cancelled meanwhile stays as it is. */
const succeed = async (
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
      lease_id,
      artifact_id,
      baseline_score,
      best_score,
      per_field,
      progress: { metric_calls: max_metric_calls, max_metric_calls },
    },
  });
  const state = stateAfter<TrainingWork>(deps, name, outcome);
  if (state !== undefined) await closeWork(deps, jobMoney(deps), { name, state });
};

/** Stops before the end: for another attempt, or permanently. */
const giveUp = async (
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

interface TrainerDeps {
  readonly parser: Pick<DocumentParser, 'read'>;
  readonly learner: LocalLearner;
  /** Most pages of one example. */
  readonly pagesMax: number;
  /** Of reading an example, by the mode of the job. */
  readonly parseDeadlinesMs: Readonly<Record<TrainingTask['mode'], number>>;
  readonly learnDeadlineMs: number;
  readonly llmTrainer: LlmTrainer;
  readonly platformModels: PlatformModels;
  readonly logCall: LogCall;
}

type Failed = Extract<TrainingOutcome, { readonly kind: 'failed' }>;
type Trained = Extract<TrainingOutcome, { readonly kind: 'trained' }>;
type ReadExample =
  | { readonly document: PackedDocument; readonly expected: TrainingExample['expected'] }
  | Failed;

/** Documents that are read at the same time. */
const READ_AT_ONCE = 2;

const failed = (code: string, detail: string, lasting = false): Failed => ({
  kind: 'failed',
  code,
  detail,
  lasting,
});

/** Reading stops where the work was given up; the worker knows why. */
const checkGoesOn = (signal: AbortSignal): void => {
  if (signal.aborted) throw new Error('the training was given up');
};

const readExample = async (
  { parser, pagesMax, parseDeadlinesMs }: TrainerDeps,
  { task, example }: { readonly task: TrainingTask; readonly example: TrainingExample },
  { source, signal }: TrainingContext,
): Promise<ReadExample> => {
  checkGoesOn(signal);
  const { document_id, expected } = example;
  const fetched = await source.fetch(task.tenant_id, document_id);
  if (fetched.kind === 'problem') return failed(fetched.code, `${document_id}: ${fetched.detail}`, true);
  const { file } = fetched;
  try {
    const parsed = await parser.read({
      path: file.path,
      fileName: file.file_name,
      effort: task.mode,
      pagesMax,
      deadlineMs: parseDeadlinesMs[task.mode],
      signal,
      share: task.tenant_id,
    });
    if (parsed.kind === 'ok') return { document: parsed.document, expected };
    checkGoesOn(signal);
    const { code, detail } = parseProblem(parsed);
    return failed(code, `${document_id}: ${detail}`, parsed.kind !== 'starved');
  } finally {
    await file.discard();
  }
};

const isFailed = (read: ReadExample): read is Failed => 'kind' in read;

interface Lesson {
  readonly task: TrainingTask;
  readonly examples: readonly Exclude<ReadExample, Failed>[];
}

/** Scores of an outcome, and its bytes with what they are for. */
const trained = (
  { schema, mode }: TrainingTask,
  learned: ArtifactFile['learned'],
  scores: Pick<Trained, 'baseline_score' | 'best_score' | 'per_field'>,
): TrainingOutcome => {
  const { baseline_score, best_score, per_field } = scores;
  return {
    kind: 'trained',
    artifact: artifactBytes({ schema, mode, learned }),
    baseline_score,
    best_score,
    per_field: per_field.map(({ path, baseline, best }) => ({ path, baseline, best })),
  };
};

const byExamples = async (
  { learner, learnDeadlineMs }: TrainerDeps,
  { task, examples }: Lesson,
  { onProgress, signal }: TrainingContext,
): Promise<TrainingOutcome> => {
  const { schema, seed, validation_split: validationSplit } = task;
  const result = await learner.learn(
    { examples, schema, options: { seed, validationSplit } },
    { deadlineMs: learnDeadlineMs, signal, share: task.tenant_id, onProgress },
  );
  if (result.kind === 'aborted') throw new Error('the training was given up');
  if (result.kind === 'failed') return failed('extraction_failed', result.detail, true);
  return trained(task, result.artifact, result.report);
};

/** The model that is to be taught; null: the local engine. */
const accessOf = ({ platformModels }: TrainerDeps, { llm }: TrainingTask): ModelAccess | Failed | null => {
  if (llm === null) return null;
  const { extraction } = platformModels;
  const name = llm.provider_model ?? extraction.name;
  const ref = modelNamed(name);
  if (ref === undefined) return failed('unknown_model_provider', `There is no model "${name}" here.`, true);
  if (llm.api_key !== null)
    return {
      ref,
      apiKey: llm.api_key,
      apiBase: llm.api_base ?? undefined,
      owner: 'caller',
      retries: DEFAULT_RETRIES,
    };
  if (ref.provider === 'local') return null;
  if (name === extraction.name && extraction.access !== null) return extraction.access;
  return failed(
    'unknown_model_provider',
    `This installation has no key for ${name}: send llm_api_key.`,
    true,
  );
};

/** Logs what teaching a model used, each call as soon as it has ended. Another attempt pays for calls of its own. */
const lessonCalls = ({ logCall }: TrainerDeps, { job_id, tenant_id, attempt }: TrainingTask) =>
  callLog(logCall, {
    bill: {
      tenant_id,
      operation: 'training',
      operation_id: job_id,
      correlation_id: job_id,
      caller: SYSTEM,
    },
    document_id: null,
    task_id: 'default',
    free_tier: false,
    attempt,
  });

const byPrompts = async (
  deps: TrainerDeps,
  access: ModelAccess,
  { lesson: { task, examples }, context }: { readonly lesson: Lesson; readonly context: TrainingContext },
): Promise<TrainingOutcome> => {
  const { schema, max_metric_calls, validation_split, seed } = task;
  const texts = examples.map(({ document, expected }) => ({ text: document.markdown, expected }));
  const calls = lessonCalls(deps, task);
  const { onProgress, signal } = context;
  try {
    const outcome = await deps.llmTrainer.train(
      { schema, examples: texts, access, max_metric_calls, validation_split, seed },
      { onCall: calls.onCall, onProgress, signal, share: task.tenant_id },
    );
    if (outcome.kind === 'failed') return outcome;
    const learned = readLlmArtifact(JSON.parse(new TextDecoder().decode(outcome.artifact)));
    return trained(task, learned, outcome);
  } finally {
    await calls.logged();
  }
};

/** Reads the examples, then teaches: the local engine beside the API, a language model by its prompt. */
export const trainer = (deps: TrainerDeps): Trainer => ({
  run: async (task, context) => {
    const access = accessOf(deps, task);
    if (access !== null && 'kind' in access) return access;
    const read = await eachOf(task.examples, READ_AT_ONCE, (example) =>
      readExample(deps, { task, example }, context),
    );
    const wrong = read.find(isFailed);
    if (wrong !== undefined) return wrong;
    const examples = read.filter((one): one is Exclude<ReadExample, Failed> => !isFailed(one));
    const lesson = { task, examples };
    return access === null ? byExamples(deps, lesson, context) : byPrompts(deps, access, { lesson, context });
  },
});

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
    // A stopped attempt may still throw, and nobody listens.
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
