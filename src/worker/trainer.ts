import type { Document } from '../../domain/document/document.ts';
import type { DocumentParser } from '../../domain/ports/documentParser.ts';
import type { LocalLearner } from '../../domain/ports/localLearner.ts';
import type {
  Trainer,
  TrainingContext,
  TrainingExample,
  TrainingOutcome,
  TrainingTask,
} from '../../domain/ports/trainer.ts';
import { artifactBytes } from '../../domain/training/artifactFile.ts';
import { parseProblem } from '../commands/workProblem.ts';
import { eachOf } from '../modelWork/eachOf.ts';

export interface TrainerDeps {
  readonly parser: Pick<DocumentParser, 'parse'>;
  readonly learner: LocalLearner;
  /** Most pages of one example. */
  readonly pagesMax: number;
  readonly parseDeadlineMs: number;
  readonly learnDeadlineMs: number;
}

type Failed = Extract<TrainingOutcome, { readonly kind: 'failed' }>;
type ReadExample = { readonly document: Document; readonly expected: TrainingExample['expected'] } | Failed;

/** Documents that are read at the same time. */
const READ_AT_ONCE = 2;

const failed = (code: string, detail: string, lasting: boolean): Failed => ({
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
  { parser, pagesMax, parseDeadlineMs }: TrainerDeps,
  { task, example }: { readonly task: TrainingTask; readonly example: TrainingExample },
  { source, signal }: TrainingContext,
): Promise<ReadExample> => {
  checkGoesOn(signal);
  const { document_id, expected } = example;
  const fetched = await source.fetch(task.tenant_id, document_id);
  if (fetched.kind === 'problem') return failed(fetched.code, `${document_id}: ${fetched.detail}`, true);
  const { file } = fetched;
  try {
    const parsed = await parser.parse({
      path: file.path,
      fileName: file.file_name,
      effort: task.mode,
      pagesMax,
      deadlineMs: parseDeadlineMs,
      signal,
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

const learned = async (
  { learner, learnDeadlineMs }: TrainerDeps,
  {
    task,
    examples,
  }: { readonly task: TrainingTask; readonly examples: readonly Exclude<ReadExample, Failed>[] },
  { onProgress, signal }: TrainingContext,
): Promise<TrainingOutcome> => {
  const { schema, seed, validation_split: validationSplit, mode } = task;
  const result = await learner.learn(
    { examples, schema, options: { seed, validationSplit } },
    { deadlineMs: learnDeadlineMs, signal, onProgress },
  );
  if (result.kind === 'aborted') throw new Error('the training was given up');
  if (result.kind === 'failed') return failed('extraction_failed', result.detail, true);
  const { artifact, report } = result;
  const { baseline_score, best_score, per_field } = report;
  return {
    kind: 'trained',
    artifact: artifactBytes({ schema, mode, learned: artifact }),
    baseline_score,
    best_score,
    per_field: per_field.map(({ path, baseline, best }) => ({ path, baseline, best })),
  };
};

/** Reads the examples one by one, then teaches the local engine beside the API. */
export const trainer = (deps: TrainerDeps): Trainer => ({
  run: async (task, context) => {
    if (task.llm !== null)
      return failed('unknown_model_provider', 'Prompts of language models are not trained here yet.', true);
    const read = await eachOf(task.examples, READ_AT_ONCE, (example) =>
      readExample(deps, { task, example }, context),
    );
    const wrong = read.find(isFailed);
    if (wrong !== undefined) return wrong;
    const examples = read.filter((one): one is Exclude<ReadExample, Failed> => !isFailed(one));
    return learned(deps, { task, examples }, context);
  },
});
