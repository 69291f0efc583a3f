import type { PageSummary } from '@quire/engine/document/document';
import {
  type Extraction,
  type ExtractionEngine,
  type ExtractionSettings,
  extractionSettings,
  type RangedWork,
} from '@quire/engine/ports/extractionEngine';
import type { LearnedPrompt } from '@quire/engine/ports/artifacts';
import { type ArtifactFile, readArtifactFile } from '@quire/engine/learning/artifactFile';
import type { ModelExtractionResult } from '@quire/engine/ports/modelWork';
import { schemaHash } from '@quire/engine/learning/artifact';
import { checkSchemaRules } from '@quire/engine/extraction/schema/schemaRules';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { Check, CheckOutcome, DuplicatesRule, PinnedLookup } from '../../domain/rules/checks.ts';
import { type Duplicate, duplicatesOf } from '../rules/duplicates.ts';
import type { RulesAnswer, RulesWorker } from '../rules/rulesWork.ts';
import type { PlatformModels } from '../platformModels.ts';
import { type FindsTables, pinnedLookups } from './masterTables.ts';
import type { OperationTask } from './operationInput.ts';
import { type DeliverDeps, deliverWork } from './deliverWork.ts';
import {
  isOfMissingPages,
  keptWork,
  withDefaultTags,
  type Delivered,
  type WorkAnswer,
  type WorkDone,
  type WorkRequest,
  type WorkTask,
} from './work.ts';
import {
  type ChannelName,
  type ChannelPaths,
  type ChosenModels,
  formPaths,
  type ModelChannel,
  type ModelDeps,
  modelsByFormat,
  type OwnKeyUse,
} from './models.ts';
import { unlessOverrun } from './countPages.ts';
import { misfit, modelProblem, parseProblem, workProblem, type WorkProblem } from './workProblem.ts';
import { doubtsIn, type Question } from '../../domain/doubts.ts';
import { asksForSomebody, type ReviewPolicy } from '../../domain/review.ts';
import { billedAs } from '../../domain/rating.ts';
import { deploymentFor, type DeploymentScope } from '../../domain/deployment.ts';
import { type MergedChannel, overriddenBy, savedRulesOf } from '../../domain/savedConfig.ts';
import { type Artifacts, type Deployments, TamperedArtifact } from './deployments.ts';
import { judgedBy, type LooksUp } from '../rules/lookups.ts';
import { resultWarnings } from '../rules/resultWarnings.ts';
import type { SavedConfigs } from './savedConfigs.ts';
import type { Tags } from '../../domain/kernel/tags.ts';

/** Where a page's text comes from, in the words of the interface: who recognised it is in `meta`. */
const SOURCES = {
  text_layer: 'text',
  markup: 'text',
  ocr: 'recognised',
  model: 'recognised',
  both: 'both',
} as const satisfies Record<PageSummary['source'], string>;

/** Hundredths of a point are finer than any screen. */
const points = (length: number | null): number | null =>
  length === null ? null : Math.round(length * 100) / 100;

/** What answers say of each page: `meta.pages`. */
export const pageAnswers = (pages: readonly PageSummary[]): readonly JsonObject[] =>
  pages.map(({ page, status, source, detail, width, height, rotation = 0 }) => ({
    page,
    status,
    source: SOURCES[source],
    detail,
    width: points(width),
    height: points(height),
    rotation,
  }));

export interface ExtractRequest extends WorkRequest {
  readonly schema: JsonObject;
  readonly mode: 'fast' | 'standard' | 'robust';
  readonly settings: ExtractionSettings;
  readonly allow_partial: boolean;
  /** When a person has to look at the result. */
  readonly review?: ReviewPolicy | undefined;
  /** What its config says has to be true of the result. */
  readonly checks?: readonly Check[] | undefined;
  /** In which tables its config has values of the result looked up. */
  readonly lookups?: readonly PinnedLookup[] | undefined;
  /** By what its config tells documents to be the same; left out: not at all. */
  readonly duplicates?: DuplicatesRule | undefined;
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
  readonly rules: RulesWorker;
  readonly lookUp: LooksUp;
  /** Of an extraction in which models take part, their calls included. */
  readonly deadlineMs: Readonly<Record<ExtractRequest['mode'], number>>;
  /** Of one without. */
  readonly localDeadlinesMs: Readonly<Record<ExtractRequest['mode'], number>>;
}

/** What was read, and what the rules of the config say of it. */
interface Read {
  readonly extraction: Extraction;
  readonly status: WorkDone['status'];
  readonly judged: RulesAnswer | undefined;
  /** Earlier documents that say the same; undefined: nobody asks for them. */
  readonly duplicates: readonly Duplicate[] | undefined;
}

const outcomeAnswer = ({ paths: _, lookup, ...outcome }: CheckOutcome): JsonObject =>
  lookup === undefined ? outcome : { ...outcome, lookup: { ...lookup } };

/** The body of the answer, without the bill and members known only after it. */
const bodyOf = (
  { extraction, status, judged, duplicates }: Read,
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
    warnings: [
      ...extraction.warnings.map((warning) => ({ ...warning })),
      ...use.warnings,
      ...resultWarnings({
        schema: request.schema,
        value: extraction.value,
        mimeType: extraction.mimeType,
        file_name: request.file.file_name,
        pages: extraction.pages.length,
        hasText: extraction.warnings.every(({ code }) => code !== 'no_text_found'),
      }).map((warning) => ({ ...warning })),
    ],
    pages: pageAnswers(extraction.pages),
    citations: request.settings.citations ? extraction.citations.map((citation) => ({ ...citation })) : [],
    ...(judged === undefined ? {} : { checks: judged.checks.map(outcomeAnswer) }),
    ...(duplicates && { duplicates: duplicates.map((one) => ({ ...one })) }),
    read_by: extraction.readBy === undefined ? null : { ...extraction.readBy },
  },
});

const promptIn = ({ learned }: ExtractRequest): LearnedPrompt | undefined =>
  learned?.kind === 'llm' ? learned : undefined;

/** What is asked of the engine. */
const engineWork = (
  deps: ExtractDeps,
  request: ExtractRequest,
  { models: { llm, ocr }, kept, signal, long }: WorkTask,
) => ({
  path: request.file.path,
  fileName: request.file.file_name,
  effort: request.mode,
  pagesMax: long?.pagesMax ?? deps.pagesMax,
  pages: request.opening.pages,
  password: request.opening.password,
  deadlineMs:
    llm === null && ocr === null
      ? deps.localDeadlinesMs[request.mode]
      : deps.deadlineMs[request.mode] * (long?.times ?? 1),
  signal,
  share: request.tenant_id,
  kept,
  schema: request.schema,
  settings: request.settings,
  learned: request.learned?.kind === 'local' ? request.learned : undefined,
});

/** The local engine, unless a model takes part. */
const extracted = (
  deps: ExtractDeps,
  request: ExtractRequest,
  task: WorkTask,
): Promise<ModelExtractionResult> => {
  const { llm, ocr } = task.models;
  const work = engineWork(deps, request, task);
  if (llm !== null || ocr !== null) {
    const models = { llm, ocr, onCall: task.onCall, learned: promptIn(request) };
    return deps.modelWork.extract(work, models, keptWork(task));
  }
  const ranges = task.long?.ranges;
  const named = { file: request.file, what: 'extract', request: work, schema: request.schema } as const;
  return unlessOverrun(deps.overruns, named, () =>
    ranges == null
      ? deps.engine.extract({ ...work, onPagesRead: task.keeping?.onPages })
      : deps.ranged.extract({ ...work, ...ranges }),
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
  if (answer.kind !== 'ok') return parseProblem(answer);
  return doneWith(deps, request, { task, extraction: answer.extraction });
};

const doneWith = async (
  deps: ExtractDeps,
  request: ExtractRequest,
  { task, extraction }: { readonly task: WorkTask; readonly extraction: Extraction },
): Promise<WorkDone | WorkProblem> => {
  const isCut = extraction.warnings.some(isOfMissingPages);
  const judged = await judgedBy(deps, request, extraction.value);
  const found = await duplicatesOf(deps, { request, work: task, result: extraction.value });
  if (found.kind === 'busy')
    return workProblem('busy', 'Duplicates cannot be told now. Send the request again in a moment.');
  const { duplicates } = found;
  const question = questionOf(extraction, request, { judged, duplicates });
  if (!isCut && !request.allow_partial && !isAskedFor(extraction, question)) return mismatch(extraction);
  const fits = extraction.validationErrors.length === 0;
  const status = fits && !isCut ? 'success' : 'partial';
  const use = task.keyUse();
  return {
    kind: 'done',
    status,
    question,
    body: bodyOf(
      { extraction, status, judged, duplicates },
      { task, use },
      question ? cited(request) : request,
    ),
  };
};

/** A person who looks at the result has to see where its values stand. */
const cited = (request: ExtractRequest): ExtractRequest => ({
  ...request,
  settings: { ...request.settings, citations: true },
});

/** The question to a person about a reading; undefined: nobody has to look at it. */
const questionOf = (
  { value, citations, warnings, validationErrors: errors }: Extraction,
  { review, schema, file, duplicates: rule }: ExtractRequest,
  { judged, duplicates = [] }: Pick<Read, 'judged' | 'duplicates'>,
): Question | undefined => {
  if (review === undefined) return undefined;
  const { checks = [] } = judged ?? {};
  const duplicated = duplicates.flatMap(({ by }) => (by === 'file' ? [''] : (rule?.values ?? [])));
  const read = { value, citations, warnings, errors, checks, duplicated, file_sha256: file.sha256 };
  const doubts = doubtsIn(read, review);
  return doubts.length === 0 ? undefined : { schema, doubts };
};

const mismatch = ({ validationErrors: validation_errors }: Extraction): WorkProblem =>
  workProblem(
    'output_schema_mismatch',
    'What the document says does not fit the schema, and nothing was billed. Send ' +
      'allow_partial=true to get what fits.',
    { validation_errors },
  );

/** Whether all fits, or what does not is missing, and a person is asked for it. */
const isAskedFor = ({ validationErrors }: Extraction, question: Question | undefined): boolean =>
  validationErrors.length === 0 ||
  (question?.doubts.some(({ code }) => code === 'missing_required') === true &&
    validationErrors.every(({ keyword }) => keyword === 'required'));

/** The answer as the interface has it: what was done, and what it cost. */
const extractionAnswer = (delivered: Delivered): Delivered => {
  const { body, meta } = extractionEnds(delivered);
  const done = delivered.body;
  return { ...delivered, body: { ...done, ...body, meta: { ...(done['meta'] as JsonObject), ...meta } } };
};

/** Members of an answer that are known only once it is billed. */
export const extractionEnds = ({ cost, free_pages }: Pick<Delivered, 'cost' | 'free_pages'>) => ({
  body: { cost: { ...cost } },
  meta: { free_pages },
});

/** An own key without a model is for the model that the artifact was learned with. */
const taughtChannel = ({ llm, learned }: ExtractRequest): ModelChannel =>
  learned?.kind === 'llm' && llm.provider_model === undefined
    ? { ...llm, provider_model: learned.model }
    : llm;

/** An artifact of a model is of no use to the local engine. */
const checkTaught = ({ learned }: ExtractRequest, { llm }: ChosenModels): WorkProblem | undefined =>
  learned?.kind !== 'llm' || llm !== null
    ? undefined
    : misfit(
        ['body', 'llm_api_key'],
        `This artifact was learned with ${learned.model}: send llm_api_key for it or for a model like it.`,
      );

const atRates = ({ settings }: ExtractRequest, chosen: ChosenModels): ChosenModels => ({
  ...chosen,
  billing_type: billedAs(chosen.billing_type, settings.models_for),
});

/** What another process needs to know to do the same: the keys go apart. */
const taskOf = ({ llm, ocr, ...request }: ExtractRequest): OperationTask => ({
  kind: 'extract',
  schema: request.schema,
  mode: request.mode,
  allow_partial: request.allow_partial,
  ...request.settings,
  review: request.review,
  checks: request.checks === undefined ? undefined : [...request.checks],
  lookups: request.lookups === undefined ? undefined : [...request.lookups],
  duplicates: request.duplicates,
  config: request.config,
  artifact_id: request.artifact_id,
  llm,
  ocr,
});

/** Data from a document by the caller's schema: held, done, stored, settled, answered. */
export const extractDocument =
  (deps: ExtractDeps) =>
  async (request: ExtractRequest): Promise<WorkAnswer> => {
    const runs = { llm: true, ocr: request.mode === 'robust' };
    const { ocr, channelPaths: paths } = request;
    const channels = { llm: taughtChannel(request), ocr, runs, paths };
    const models = await modelsByFormat(
      deps,
      channels,
      (one) => checkTaught(request, one) ?? atRates(request, one),
    );
    if (models.unpaged.kind === 'problem') return models.unpaged;
    const answer = await deliverWork(deps, request, {
      operation: 'extract',
      endpoint: 'extract',
      mode: request.mode,
      effort: request.mode,
      models,
      idPrefix: 'ext',
      lastsMs: Math.max(deps.deadlineMs[request.mode], deps.localDeadlinesMs[request.mode]),
      brokenAs: 'extraction_failed',
      task: taskOf(request),
      run: (task) => run(deps, request, task),
    });
    return answer.kind === 'delivered' ? extractionAnswer(answer) : answer;
  };

/** Where saved configs, artifacts and deployments are found, and what does the work. */
interface ExtractFieldsDeps {
  readonly savedConfigs: Pick<SavedConfigs, 'resolve'>;
  readonly tables: FindsTables;
  readonly artifacts: Pick<Artifacts, 'find' | 'isErased' | 'load'>;
  readonly deployments: Pick<Deployments, 'stateOf'>;
  readonly extract: (request: ExtractRequest) => Promise<WorkAnswer>;
}

type Mode = 'fast' | 'standard' | 'balanced' | 'robust';

/** A request's own fields for an extraction; missing ones come from its config, then the defaults. */
export interface ExtractFields {
  /** As it came: not checked yet. */
  readonly schema: unknown;
  readonly mode: Mode | undefined;
  readonly artifact_id: string | undefined;
  readonly config_id: string | undefined;
  readonly settings: ExtractionSettings;
  readonly allow_partial: boolean;
  readonly review?: ReviewPolicy | undefined;
  readonly llm: ModelChannel;
  readonly ocr: ModelChannel;
  readonly channelPaths?: ChannelPaths;
  /** Where `config_id` stands in the request; left out: in the form. */
  readonly configPath?: readonly string[];
  /** Whose active deployment counts where nothing else says what to extract. */
  readonly deployed?: Pick<DeploymentScope, 'project_id' | 'task_id' | 'environment'>;
}

type Checked = Extract<ReturnType<typeof checkSchemaRules>, { readonly kind: 'ok' }>;

const checkedSchema = (schema: unknown): Checked | WorkProblem => {
  if (schema === undefined) return workProblem('missing_schema', 'Send the field schema: a JSON Schema.');
  const verdict = checkSchemaRules(schema);
  return verdict.kind === 'ok' ? verdict : workProblem(verdict.kind, verdict.detail);
};

/** A request with what its saved config says beneath it, field by field. */
interface Completed extends Pick<ExtractRequest, 'checks' | 'lookups' | 'duplicates'> {
  readonly kind: 'completed';
  readonly fields: ExtractFields;
  readonly config: ExtractRequest['config'];
  /** Of the config. */
  readonly tags?: Tags | undefined;
}

/** A channel of the config and of the request together. */
const mergedChannel = (
  name: ChannelName,
  { misplaced, ...merged }: MergedChannel,
  asked: ExtractFields,
): ModelChannel => {
  const { channelPaths = formPaths, configPath = ['body', 'config_id'] } = asked;
  const { issues } = asked[name];
  if (misplaced.length === 0) return { ...merged, issues };
  const type = 'own_key_conflict';
  const msg = `The config's own key is not for this: send a key with it (${name}_api_key), or leave it out.`;
  const conflict = misplaced.map((member) => ({ loc: channelPaths(name, member), msg, type }));
  const key = { loc: [...configPath, name, 'api_key'], msg: 'This key is for another place.', type };
  return { ...merged, issues, conflict: [...conflict, key] };
};

/** Whether citations are wanted is said by each request itself. */
const savedSettings = extractionSettings.omit({ citations: true });

const completed = async (
  deps: ExtractFieldsDeps,
  fields: ExtractFields,
  tenantId: string,
): Promise<Completed | WorkProblem> => {
  const { config_id, llm, ocr } = fields;
  if (config_id === undefined) return { kind: 'completed', fields, config: null };
  const own = { llm: llm.api_key !== undefined, ocr: ocr.api_key !== undefined };
  const saved = await deps.savedConfigs.resolve(config_id, tenantId, own);
  if (saved.kind === 'problem') return saved;
  const { version } = saved;
  const asked = { ...fields, ...fields.settings };
  const merged = overriddenBy<Mode>({ ...version, llm: saved.llm, ocr: saved.ocr }, asked);
  const channels = {
    llm: mergedChannel('llm', merged.llm, fields),
    ocr: mergedChannel('ocr', merged.ocr, fields),
  };
  const config = { config_id, version: version.version };
  const { schema, mode, artifact_id, review, tags } = merged;
  const settings = { ...fields.settings, ...savedSettings.parse(merged) };
  const said = { schema, mode, artifact_id, review, settings };
  const { checks, lookups, duplicates } = savedRulesOf(version);
  const rules = {
    checks: checks ?? undefined,
    lookups: await pinnedLookups(deps.tables, tenantId, lookups),
    duplicates: duplicates ?? undefined,
  };
  return { kind: 'completed', fields: { ...fields, ...said, ...channels }, config, tags, ...rules };
};

/** The artifact of the scope's active deployment, where a request says nothing of what to extract. */
const deployedArtifact = async (
  deps: ExtractFieldsDeps,
  { schema, config_id, deployed }: ExtractFields,
  { tenant_id, file }: WorkRequest,
): Promise<string | undefined> => {
  if (deployed === undefined || schema !== undefined || config_id !== undefined) return undefined;
  const state = await deps.deployments.stateOf({ tenant_id, ...deployed });
  return deploymentFor(state, file.sha256)?.artifact_id;
};

interface Trained {
  readonly kind: 'trained';
  readonly artifact_id: string;
  readonly file: ArtifactFile;
}

/** An artifact of the tenant, and what is in it. */
export const trainedBy = async (
  { artifacts }: Pick<ExtractFieldsDeps, 'artifacts'>,
  tenantId: string,
  artifact_id: string,
): Promise<Trained | WorkProblem> => {
  const unknown = workProblem('artifact_not_found', 'There is no such artifact of this tenant.');
  const found = await artifacts.find(tenantId, artifact_id);
  if (found === undefined) return unknown;
  try {
    return { kind: 'trained', artifact_id, file: readArtifactFile(await artifacts.load(found)) };
  } catch (error) {
    if (error instanceof TamperedArtifact && (await artifacts.isErased(found))) return unknown;
    throw error;
  }
};

/** Worked examples of another schema would teach a model another answer: they are left out. */
export const learnedFor = (schema: JsonObject, trained: Trained | undefined) => {
  const learned = trained?.file.learned;
  const fits = learned?.kind !== 'llm' || learned.schema_hash === schemaHash(schema);
  return { artifact_id: trained?.artifact_id ?? null, learned: fits ? learned : undefined };
};

/** Everything that the request names was found. */
interface Found extends Completed {
  readonly trained: Trained | undefined;
}

const foundFor = async (
  deps: ExtractFieldsDeps,
  asked: ExtractFields,
  work: WorkRequest,
): Promise<Found | WorkProblem> => {
  const whole = await completed(deps, asked, work.tenant_id);
  if (whole.kind === 'problem') return whole;
  const { fields } = whole;
  const artifactId = fields.artifact_id ?? (await deployedArtifact(deps, fields, work));
  const trained = artifactId === undefined ? undefined : await trainedBy(deps, work.tenant_id, artifactId);
  return trained?.kind === 'problem' ? trained : { ...whole, trained };
};

/** Field by field: what the request says, then its config, then its artifact, then the defaults. */
const requestOf = (
  { fields, config, trained, checks, lookups, duplicates }: Found,
  work: WorkRequest,
): { readonly kind: 'asked'; readonly request: ExtractRequest } | WorkProblem => {
  const checked = checkedSchema(fields.schema ?? trained?.file.schema);
  if (checked.kind === 'problem') return checked;
  const { schema } = checked;
  const mode = fields.mode ?? trained?.file.mode ?? 'standard';
  const { settings, allow_partial, review, llm, ocr, channelPaths } = fields;
  return {
    kind: 'asked',
    request: {
      ...work,
      schema,
      mode: mode === 'balanced' ? 'standard' : mode,
      settings,
      allow_partial,
      review: review !== undefined && asksForSomebody(review) ? review : undefined,
      checks,
      lookups,
      duplicates,
      config,
      ...learnedFor(schema, trained),
      llm,
      ocr,
      channelPaths,
    },
  };
};

/** Extracts by what a request says itself and what it names. What a person may have to look at is for the queue. */
export const extractByFields =
  (deps: ExtractFieldsDeps) =>
  async (fields: ExtractFields, work: WorkRequest): Promise<WorkAnswer> => {
    const found = await foundFor(deps, fields, work);
    if (found.kind === 'problem') return found;
    const asked = requestOf(found, work);
    if (asked.kind === 'problem') return asked;
    const tagged = withDefaultTags(work.tags, work.caller, found.tags);
    if (tagged.kind === 'problem') return tagged;
    const request = { ...asked.request, tags: tagged.tags };
    const isForQueue = request.review !== undefined && work.isWaited !== true;
    if (isForQueue && work.handOver === undefined) return { kind: 'to_queue' };
    return deps.extract(request);
  };
