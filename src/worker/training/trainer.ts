import type { PackedDocument } from '@quire/engine/document/document';
import type { DocumentParser } from '@quire/engine/ports/documentParser';
import type { LocalLearner } from '@quire/engine/ports/localLearner';
import type {
  Trainer,
  TrainingContext,
  TrainingExample,
  TrainingOutcome,
  TrainingTask,
} from '../../../domain/ports/trainer.ts';
import { modelNamed } from '@quire/engine/models/modelName';
import type { LlmTrainer } from '@quire/engine/ports/llmTraining';
import type { ModelAccess } from '@quire/engine/ports/modelProvider';
import { artifactBytes, type ArtifactFile } from '@quire/engine/learning/artifactFile';
import { readLlmArtifact } from '@quire/engine/learning/prompts/llmArtifact';
import { callLog, type LogCall } from '../../commands/work/callLog.ts';
import { DEFAULT_RETRIES } from '../../commands/models/models.ts';
import { SYSTEM } from '../../commands/writer/commandMeta.ts';
import type { PlatformModels } from '../../platformModels.ts';
import { parseProblem } from '../../commands/work/workProblem.ts';
import { eachOf } from '@quire/engine/models/byModel/eachOf';

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

export type Failed = Extract<TrainingOutcome, { readonly kind: 'failed' }>;
export type Trained = Extract<TrainingOutcome, { readonly kind: 'trained' }>;
type ReadExample =
  { readonly document: PackedDocument; readonly expected: TrainingExample['expected'] } | Failed;

/** Documents that are read at the same time. */
const READ_AT_ONCE = 2;

export const failed = (code: string, detail: string, lasting = false): Failed => ({
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
    const { code, detail } = parseProblem(parsed, 'extraction_failed');
    return failed(code, `${document_id}: ${detail}`, parsed.kind !== 'timed_out');
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
