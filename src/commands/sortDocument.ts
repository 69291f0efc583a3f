import type { DocumentWarning, PackedDocument, PageSummary } from '@quire/engine/document/document';
import type { ParseFailure } from '@quire/engine/ports/documentParser';
import type { DocumentTools } from '@quire/engine/ports/documentTools';
import { extractionSettings, type RangedWork } from '@quire/engine/ports/extractionEngine';
import { LOCAL_MODEL } from '@quire/engine/ports/modelProvider';
import type { DocumentClass, DocumentSorter } from '@quire/engine/ports/sorting';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { Tags } from '../../domain/kernel/tags.ts';
import { asksForSomebody, type PartsPolicy } from '../../domain/review.ts';
import { batchIdOfSplit, placedInBatch, questionAbout, type StackPart } from '../../domain/split.ts';
import { WORKS } from '../../domain/workEvents.ts';
import { plannedWork } from './batches.ts';
import { unlessOverrun } from './countPages.ts';
import { type DeliverDeps, deliverWork } from './deliverWork.ts';
import { type ExtractFields, pageAnswers } from './extract.ts';
import type { ChosenModels } from './models.ts';
import type { OperationTask } from './operationInput.ts';
import type { SavedConfigs } from './savedConfigs.ts';
import {
  type Delivered,
  isOfMissingPages,
  type WorkAnswer,
  type WorkDone,
  type WorkRequest,
  type WorkTask,
  withDefaultTags,
} from './work.ts';
import { misfit, parseProblem, type WorkProblem } from './workProblem.ts';

/** Telling what a document is, or parting a stack of them. */
export interface SortRequest extends WorkRequest {
  readonly what: 'classify' | 'split';
  readonly classes: readonly DocumentClass[];
  /** Of a split: when a person has to look at its parts; left out: never. */
  readonly review?: PartsPolicy | undefined;
  /** Of a split: what the parts of some classes get, each as a document of a batch; left out: nothing. */
  readonly then?: readonly PartsTask[] | undefined;
}

/** What the parts of some classes get, and the tags that it is billed with. */
interface PartsTask {
  readonly classes: readonly string[];
  readonly task: Extract<OperationTask, { readonly kind: 'extract' }>;
  readonly tags?: Tags | undefined;
}

export interface SortDeps extends DeliverDeps {
  readonly sorter: DocumentSorter;
  readonly tools: Pick<DocumentTools, 'joined'>;
  readonly ranged: RangedWork;
  readonly localDeadlinesMs: Readonly<Record<'standard', number>>;
}

/** No model takes part, so nobody's key is used. */
const HERE: ChosenModels = {
  kind: 'models',
  billing_type: 'full_service',
  model: LOCAL_MODEL,
  ocr_model: null,
  llm: null,
  ocr: null,
  own: [],
  ocrKey: 'ocr',
};

/** The document, read as it is for other work; a long one in ranges of its pages. */
const read = async (
  deps: SortDeps,
  request: SortRequest,
  { kept, signal, long }: WorkTask,
): Promise<{ readonly kind: 'ok'; readonly document: PackedDocument } | ParseFailure> => {
  const work = {
    path: request.file.path,
    fileName: request.file.file_name,
    effort: 'standard',
    pagesMax: long?.pagesMax ?? deps.pagesMax,
    pages: request.opening.pages,
    password: request.opening.password,
    deadlineMs: deps.localDeadlinesMs.standard,
    signal,
    share: request.tenant_id,
    kept,
  } as const;
  const ranges = long?.ranges;
  const named = { file: request.file, what: 'read', request: work } as const;
  if (ranges == null) return unlessOverrun(deps.overruns, named, () => deps.parser.read(work));
  const found = await deps.ranged.read({ ...work, ...ranges });
  if (found.kind !== 'ok') return found;
  const { deadlineMs, share } = work;
  const parts = found.parts.map(({ packed }) => packed);
  return deps.tools.joined(parts, { deadlineMs, signal, share });
};

/** What came of sorting, and what follows from it. */
interface Told extends Pick<WorkDone, 'question' | 'then_batch_id'> {
  readonly kind: 'ok';
  readonly members: JsonObject;
}

const sorted = async (
  deps: SortDeps,
  request: SortRequest,
  {
    operation_id,
    document,
    signal,
  }: Pick<WorkTask, 'operation_id' | 'signal'> & { readonly document: PackedDocument },
): Promise<Told | ParseFailure> => {
  const { what, classes, tenant_id } = request;
  const limits = { deadlineMs: deps.localDeadlinesMs.standard, signal, share: tenant_id };
  if (what === 'classify') {
    const told = await deps.sorter.classify({ document, classes }, limits);
    return told.kind === 'ok' ? { kind: 'ok', members: plain(told.classified) } : told;
  }
  const told = await deps.sorter.split({ document, classes }, limits);
  return told.kind === 'ok' ? parted(request, operation_id, told.documents) : told;
};

/** The parts of a stack: as documents of a batch, unless a person has to look at them first. */
const parted = (
  { classes, review, then = [], file }: SortRequest,
  split_id: string,
  parts: readonly (StackPart & { readonly confidence: number })[],
): Told => {
  const into = { batch_id: batchIdOfSplit(split_id), sent: then.flatMap((one) => one.classes) };
  const placed = placedInBatch(parts, into);
  const names = classes.map(({ name }) => name);
  const question = questionAbout(parts, { review, file_sha256: file.sha256, classes: names, into });
  const then_batch_id = question === undefined ? (placed.batch_id ?? undefined) : undefined;
  return { kind: 'ok', members: plain(placed), question, then_batch_id };
};

const plain = (members: object): JsonObject => ({ ...members });

interface Sorted {
  readonly members: JsonObject;
  readonly document: {
    readonly mimeType: string;
    readonly pages: readonly PageSummary[];
    readonly warnings: readonly DocumentWarning[];
  };
}

const bodyOf = (
  { what, file }: SortRequest,
  { operation_id, document_id, elapsedMs, models }: WorkTask,
  { members, document }: Sorted,
): JsonObject => ({
  ...members,
  meta: {
    [WORKS[what].id]: operation_id,
    document_id,
    file_name: file.file_name,
    mime_type: document.mimeType,
    page_count: document.pages.length,
    pages: pageAnswers(document.pages),
    model: models.model,
    duration_ms: elapsedMs(),
    warnings: document.warnings.map((warning) => ({ ...warning })),
  },
});

const run = async (deps: SortDeps, request: SortRequest, task: WorkTask): Promise<WorkDone | WorkProblem> => {
  const opened = await read(deps, request, task);
  if (opened.kind !== 'ok') return parseProblem(opened);
  const { document } = opened;
  const told = await sorted(deps, request, { ...task, document });
  if (told.kind !== 'ok') return parseProblem(told);
  const { question, then_batch_id } = told;
  return {
    kind: 'done',
    question,
    then_batch_id,
    status: document.warnings.some(isOfMissingPages) ? 'partial' : 'success',
    body: bodyOf(request, task, { members: told.members, document }),
  };
};

/** Members of an answer that are known only once it is billed. */
export const sortingEnds = ({ cost, free_pages }: Pick<Delivered, 'cost' | 'free_pages'>) => ({
  body: {},
  meta: { cost: { ...cost }, free_pages },
});

const answerOf = (delivered: Delivered): Delivered => {
  const { body } = delivered;
  return {
    ...delivered,
    body: { ...body, meta: { ...(body['meta'] as JsonObject), ...sortingEnds(delivered).meta } },
  };
};

/** A class as another process finds it in storage. */
const taskClass = ({ examples, schema, name, description }: DocumentClass) => ({
  name,
  description,
  schema: schema && { ...schema },
  examples: examples && [...examples],
});

const taskThen = ({ classes, task, tags }: PartsTask) => ({ classes: [...classes], task, tags });

/** What a document is, or where the documents of a stack begin: held, done, stored, settled, answered. */
export const sortDocument =
  (deps: SortDeps) =>
  async (request: SortRequest): Promise<WorkAnswer> => {
    const { what, classes, review, then } = request;
    const follows = { ...(review && { review }), ...(then && { then: then.map(taskThen) }) };
    const answer = await deliverWork(deps, request, {
      operation: what,
      endpoint: WORKS[what].endpoint,
      mode: 'default',
      effort: 'standard',
      models: { paged: HERE, unpaged: HERE },
      idPrefix: WORKS[what].prefix,
      lastsMs: 2 * deps.localDeadlinesMs.standard,
      brokenAs: 'sorting_failed',
      task: { kind: what, classes: classes.map(taskClass), ...follows },
      run: (task) => run(deps, request, task),
    });
    return answer.kind === 'delivered' ? answerOf(answer) : answer;
  };

/** A class as a request names it: what is asked of its documents may be that of a saved config. */
export interface AskedClass extends Omit<DocumentClass, 'schema'> {
  readonly config_id?: string | undefined;
}

interface SortFieldsDeps {
  readonly savedConfigs: Pick<SavedConfigs, 'resolve'>;
  /** Plans what the parts of a class get: their saved config completes it. */
  readonly extract: (fields: ExtractFields, work: WorkRequest) => Promise<WorkAnswer>;
  readonly sort: (request: SortRequest) => Promise<WorkAnswer>;
}

/** Keys of the config's own models are not used, so they need not be opened. */
const NO_KEYS = { llm: true, ocr: true };

/** Characters of all schemas that classes name together: each class carries its own through the queue. */
const SCHEMA_CHARACTERS_MAX = 2_097_152;
const TOO_LONG =
  'The schemas of the configs of these classes have together more than 2 MiB. Name fewer, or describe the classes.';

const completed = async (
  { savedConfigs }: SortFieldsDeps,
  asked: readonly AskedClass[],
  tenantId: string,
): Promise<{ readonly kind: 'classes'; readonly classes: readonly DocumentClass[] } | WorkProblem> => {
  const classes: DocumentClass[] = [];
  const schemas = new Map<string, JsonObject | undefined>();
  let characters = 0;
  for (const { config_id, ...one } of asked) {
    if (config_id === undefined) {
      classes.push(one);
      continue;
    }
    if (!schemas.has(config_id)) {
      const saved = await savedConfigs.resolve(config_id, tenantId, NO_KEYS);
      if (saved.kind === 'problem') return saved;
      schemas.set(config_id, saved.version.schema ?? undefined);
    }
    const schema = schemas.get(config_id);
    characters += schema === undefined ? 0 : JSON.stringify(schema).length;
    if (characters > SCHEMA_CHARACTERS_MAX) return misfit(['body', 'classes'], TOO_LONG);
    classes.push({ ...one, schema });
  }
  return { kind: 'classes', classes };
};

/** What a request says. `then` has the saved config of each class whose parts go on. */
interface AskedSorting {
  readonly what: SortRequest['what'];
  readonly classes: readonly AskedClass[];
  readonly review?: PartsPolicy | undefined;
  readonly then?: ReadonlyMap<string, string> | undefined;
}

const fieldsOf = (config_id: string, name: string): ExtractFields => ({
  schema: undefined,
  mode: undefined,
  artifact_id: undefined,
  config_id,
  configPath: ['body', 'then', name],
  allow_partial: false,
  settings: extractionSettings.parse({ citations: true }),
  llm: {},
  ocr: {},
});

/** Completes what the parts of each class get, as a batch does: all that a config cannot be used for is refused. */
const planned = async (
  { extract }: SortFieldsDeps,
  { classes, then }: AskedSorting,
  work: WorkRequest,
): Promise<{ readonly kind: 'then'; readonly then: readonly PartsTask[] } | WorkProblem> => {
  const names = new Set(classes.map(({ name }) => name));
  const tasks = new Map<string, PartsTask & { readonly classes: string[] }>();
  let characters = 0;
  for (const [name, config_id] of then ?? []) {
    if (!names.has(name)) return misfit(['body', 'then', name], 'There is no such class in `classes`.');
    const known = tasks.get(config_id);
    if (known !== undefined) {
      known.classes.push(name);
      continue;
    }
    const plan = await plannedWork(work, (one) => extract(fieldsOf(config_id, name), one));
    if (plan.kind === 'problem') return plan;
    const { task, tags } = plan;
    if (task.kind !== 'extract') throw new Error('a part of a stack is extracted');
    characters += JSON.stringify(task.schema).length;
    if (characters > SCHEMA_CHARACTERS_MAX) return misfit(['body', 'then'], TOO_LONG);
    tasks.set(config_id, { classes: [name], task, tags });
  }
  return { kind: 'then', then: [...tasks.values()] };
};

/** What follows the answer; nothing: it is all. */
const followingOf = (
  { review }: AskedSorting,
  then: readonly PartsTask[],
): Pick<SortRequest, 'review' | 'then'> => ({
  ...(review !== undefined && asksForSomebody(review) && { review }),
  ...(then.length > 0 && { then }),
});

/** Sorts by classes that name saved configs of the tenant. Whatever follows the answer is for the queue. */
export const sortByFields =
  (deps: SortFieldsDeps) =>
  async (asked: AskedSorting, work: WorkRequest): Promise<WorkAnswer> => {
    const found = await completed(deps, asked.classes, work.tenant_id);
    if (found.kind === 'problem') return found;
    const plan = await planned(deps, asked, work);
    if (plan.kind === 'problem') return plan;
    const tagged = withDefaultTags(work.tags, work.caller);
    if (tagged.kind === 'problem') return tagged;
    const follows = followingOf(asked, plan.then);
    const isForQueue = Object.keys(follows).length > 0 && work.isWaited !== true;
    if (isForQueue && work.handOver === undefined) return { kind: 'to_queue' };
    return deps.sort({ ...work, tags: tagged.tags, what: asked.what, classes: found.classes, ...follows });
  };
