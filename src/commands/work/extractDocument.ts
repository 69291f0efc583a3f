import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { Extraction, ExtractionEngine } from '@quire/engine/ports/extractionEngine';
import type { RangedWork } from '@quire/engine/ports/rangedWork';
import type { LearnedPrompt } from '@quire/engine/learning/prompts/learned';
import type { ArtifactFile } from '@quire/engine/learning/artifactFile';
import type { ModelExtractionResult } from '@quire/engine/ports/modelWork';
import type { PlatformModels } from '../../platformModels.ts';
import type { OperationTask } from '../operations/operationInput.ts';
import { deliverWork, type DeliverDeps } from './deliverWork.ts';
import type { Delivered, HandedOver, WorkDone, WorkRequest, WorkTask } from './work.ts';
import type { ChannelPaths, ChosenModels, ModelChannel } from '../models/models.ts';
import type { ModelDeps } from '../models/ownBases.ts';
import { modelsByFormat, type OwnKeyUse } from '../models/ownKeys.ts';
import { unlessOverrun } from './recentFailures.ts';
import { pageAnswers } from './pageAnswers.ts';
import { modelProblem, parseProblem, misfit, workProblem, type WorkProblem } from './workProblem.ts';

export interface ExtractRequest extends WorkRequest {
  readonly schema: JsonObject;
  readonly mode: 'fast' | 'standard' | 'robust';
  readonly allow_partial: boolean;
  readonly citations: boolean;
  /** 0..1; values less sure are left out. undefined: the engine's default. */
  readonly min_confidence: number | undefined;
  /** The saved config that the request was completed by. */
  readonly config: { readonly config_id: string; readonly version: number } | null;
  readonly artifact_id: string | null;
  /** What the artifact taught the local engine, or a model. */
  readonly learned?: ArtifactFile['learned'] | undefined;
  readonly llm: ModelChannel;
  readonly ocr: ModelChannel;
  /** Where the channels' members stand in the request; left out: in the form. */
  readonly channelPaths?: ChannelPaths | undefined;
}

export interface ExtractDeps extends DeliverDeps, ModelDeps {
  readonly engine: ExtractionEngine;
  readonly ranged: RangedWork;
  readonly platformModels: PlatformModels;
  /** Of an extraction in which models take part, their calls included. */
  readonly deadlineMs: Readonly<Record<ExtractRequest['mode'], number>>;
  /** Of one without. */
  readonly localDeadlinesMs: Readonly<Record<ExtractRequest['mode'], number>>;
}

/** The body of the answer, but for the bill and what is known only after it. */
const bodyOf = (
  { extraction, status }: { readonly extraction: Extraction; readonly status: WorkDone['status'] },
  { task: { models, elapsedMs, ...ids }, use }: { readonly task: WorkTask; readonly use: OwnKeyUse },
  request: ExtractRequest,
): JsonObject => ({
  status,
  result: extraction.value,
  validation_errors: status === 'partial' ? extraction.validationErrors.map((error) => ({ ...error })) : null,
  meta: {
    extraction_id: ids.operation_id,
    document_id: ids.document_id,
    file_name: request.file.file_name,
    mime_type: extraction.mimeType,
    mode: request.mode,
    billing_type: use.billing_type,
    model: models.model,
    ocr_model: models.ocr_model,
    config_id: request.config?.config_id ?? null,
    config_version: request.config?.version ?? null,
    artifact_id: request.artifact_id,
    duration_ms: elapsedMs(),
    warnings: [...extraction.warnings.map((warning) => ({ ...warning })), ...use.warnings],
    pages: pageAnswers(extraction.pages),
    citations: request.citations ? extraction.citations.map((citation) => ({ ...citation })) : [],
  },
});

const promptIn = ({ learned }: ExtractRequest): LearnedPrompt | undefined =>
  learned?.kind === 'llm' ? learned : undefined;

/** The local engine, unless a model takes part. */
const extracted = (
  deps: ExtractDeps,
  request: ExtractRequest,
  { models: { llm, ocr }, kept, signal, onCall, long }: WorkTask,
): Promise<ModelExtractionResult> => {
  const isLocal = llm === null && ocr === null;
  const work = {
    path: request.file.path,
    fileName: request.file.file_name,
    effort: request.mode,
    pagesMax: long?.pagesMax ?? deps.pagesMax,
    pages: request.opening.pages,
    password: request.opening.password,
    deadlineMs: (isLocal ? deps.localDeadlinesMs : deps.deadlineMs)[request.mode],
    signal,
    share: request.tenant_id,
    kept,
    schema: request.schema,
    citations: request.citations,
    minConfidence: request.min_confidence,
    learned: request.learned?.kind === 'local' ? request.learned : undefined,
  };
  const ranges = long?.ranges;
  if (ranges == null && !isLocal)
    return deps.modelWork.extract(work, { llm, ocr, onCall, learned: promptIn(request) });
  const named = { file: request.file, what: 'extract', request: work, schema: request.schema } as const;
  return unlessOverrun(deps.overruns, named, () =>
    ranges == null ? deps.engine.extract(work) : deps.ranged.extract({ ...work, ...ranges }),
  );
};

const run = async (
  deps: ExtractDeps,
  request: ExtractRequest,
  task: WorkTask,
): Promise<WorkDone | WorkProblem> => {
  const answer = await extracted(deps, request, task);
  if (answer.kind === 'model_failed') return modelProblem(answer.failure);
  if (answer.kind === 'invalid_schema') return workProblem('invalid_schema', answer.detail);
  if (answer.kind !== 'ok') return parseProblem(answer, 'extraction_failed');
  const { extraction } = answer;
  const fits = extraction.validationErrors.length === 0;
  // What was not looked at for want of time is no fault of the document: what was found is answered.
  const isCut = extraction.warnings.some(({ code }) => code === 'deadline_reached');
  if (!fits && !isCut && !request.allow_partial)
    return workProblem(
      'output_schema_mismatch',
      'What the document says does not fit the schema, and nothing was billed. Send ' +
        'allow_partial=true to get what fits.',
      { validation_errors: extraction.validationErrors },
    );
  const status = fits && !isCut ? 'success' : 'partial';
  const use = task.keyUse();
  return {
    kind: 'done',
    status,
    billing_type: use.billing_type,
    body: bodyOf({ extraction, status }, { task, use }, request),
  };
};

/** The answer as the interface has it: what was done, and what it cost. */
export const extractionAnswer = (delivered: Delivered): Delivered => {
  const { body, meta } = extractionEnds(delivered);
  const done = delivered.body;
  return { ...delivered, body: { ...done, ...body, meta: { ...(done['meta'] as JsonObject), ...meta } } };
};

/** What an answer says that is known only when it is billed. */
export const extractionEnds = ({ cost, free_pages }: Pick<Delivered, 'cost' | 'free_pages'>) => ({
  body: { cost: { ...cost } },
  meta: { free_pages },
});

/** An own key without a model is for the model that the artifact was learned with. */
const taughtChannel = ({ llm, learned }: ExtractRequest): ModelChannel =>
  learned?.kind === 'llm' && llm.provider_model === undefined
    ? { ...llm, provider_model: learned.model }
    : llm;

/** What a model learned is of no use to the local engine. */
const checkTaught = ({ learned }: ExtractRequest, { llm }: ChosenModels): WorkProblem | undefined =>
  learned?.kind !== 'llm' || llm !== null
    ? undefined
    : misfit(
        ['body', 'llm_api_key'],
        `This artifact was learned with ${learned.model}: send llm_api_key for it or for a model like it.`,
      );

/** What another process needs to know to do the same: the keys go apart. */
const taskOf = ({ llm, ocr, ...request }: ExtractRequest): OperationTask => ({
  kind: 'extract',
  schema: request.schema,
  mode: request.mode,
  allow_partial: request.allow_partial,
  citations: request.citations,
  min_confidence: request.min_confidence,
  config: request.config,
  artifact_id: request.artifact_id,
  llm,
  ocr,
});

/** Data from a document by the caller's schema: held, done, stored, settled, answered. */
export const extractDocument =
  (deps: ExtractDeps) =>
  async (request: ExtractRequest): Promise<Delivered | HandedOver | WorkProblem> => {
    const runs = { llm: true, ocr: request.mode === 'robust' };
    const { ocr, channelPaths: paths } = request;
    const channels = { llm: taughtChannel(request), ocr, runs, paths };
    const models = await modelsByFormat(deps, channels, (one) => checkTaught(request, one) ?? one);
    if (models.unpaged.kind === 'problem') return models.unpaged;
    const answer = await deliverWork(deps, request, {
      operation: 'extract',
      endpoint: 'extract',
      mode: request.mode,
      effort: request.mode,
      models,
      idPrefix: 'ext',
      timedOut: 'extraction_failed',
      task: taskOf(request),
      run: (task) => run(deps, request, task),
    });
    return answer.kind === 'delivered' ? extractionAnswer(answer) : answer;
  };
