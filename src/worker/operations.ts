import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { keptFile, ProcessNotStarted } from '@quire/engine/ports/documentParser';
import { extractionSettings, type PartShelf } from '@quire/engine/ports/extractionEngine';
import { chosenPages, hasPagesToSee } from '@quire/engine/document/pages';
import {
  LostInput,
  operationFileKeyOf,
  type OperationInput,
  type OperationInputDeps,
  operationInputs,
  requestText,
  OPERATIONS_PREFIX,
  type OperationSecrets,
} from '../commands/operationInput.ts';
import type { ConvertRequest } from '../commands/convert.ts';
import type { SortRequest } from '../commands/sortDocument.ts';
import { type ExtractRequest, learnedFor, trainedBy } from '../commands/extract.ts';
import type { Artifacts } from '../commands/deployments.ts';
import {
  type HandedOver,
  type LongWork,
  placeAgain,
  type WorkAnswer,
  type WorkPlan,
  type WorkRequest,
} from '../commands/work.ts';
import { type WorkProblem, workProblem } from '../commands/workProblem.ts';
import { type AcceptedOperation, type OperationWork, usageIdOfOperation } from '../../domain/operation.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import {
  formerPlaceOf,
  operationMoney,
  type OperationMoneyDeps,
  type OperationName,
  operationProblems,
  workToBill,
} from '../commands/operations.ts';
import { writeDigested } from '../commands/uploads.ts';
import {
  countedFile,
  type CountedFile,
  type CountFileDeps,
  doWork,
  type DoWorkDeps,
  type NewWork,
  stopwatch,
} from '../commands/deliverWork.ts';
import { askPerson } from '../commands/reviews.ts';
import { resultShelf, type StoredResult } from '../commands/storedResult.ts';
import {
  heartbeat,
  type HeldWork,
  queueWorker,
  type QueueWorker,
  type QueueWorkerDeps,
  retryAt,
  stateAfter,
} from './queue.ts';
import { closeWork } from '../commands/queue.ts';
import { type HelpDeps, rangeHelper, type RangesDeps, rangesOf } from './pageRanges.ts';
import { systemMeta } from '../writer/commandMeta.ts';

type Answer = Promise<WorkAnswer>;

/** Begins what an accepted request asked for. */
export type TaskBeginner = (
  input: OperationInput & { readonly secrets: OperationSecrets },
  work: WorkRequest,
) => Answer;

interface BeginDeps {
  readonly artifacts: Pick<Artifacts, 'find' | 'isErased' | 'load'>;
  readonly extract: (request: ExtractRequest) => Answer;
  readonly convert: (request: ConvertRequest) => Answer;
  readonly sort: (request: SortRequest) => Answer;
}

/** As the synchronous call begins it: the request was completed by its config when it was accepted. */
export const beginTask =
  (deps: BeginDeps): TaskBeginner =>
  async ({ task, secrets }, work) => {
    if ('classes' in task) {
      const { kind: what, classes, review, then } = task;
      return deps.sort({ ...work, what, classes, review, then });
    }
    const ocr = { ...task.ocr, api_key: secrets.ocr };
    if (task.kind === 'to_markdown') return deps.convert({ ...work, mode: task.mode, form: task.form, ocr });
    const { artifact_id, schema, mode, allow_partial, review, checks, lookups, duplicates, config } = task;
    const llm = { ...task.llm, api_key: secrets.llm };
    const trained = artifact_id === null ? undefined : await trainedBy(deps, work.tenant_id, artifact_id);
    if (trained?.kind === 'problem') return trained;
    const settings = extractionSettings.parse(task);
    const asked = { schema, mode, allow_partial, review, checks, lookups, duplicates, config, settings };
    return deps.extract({ ...work, ...asked, ...learnedFor(schema, trained), llm, ocr });
  };

/** A file that was brought to this machine. */
interface BroughtFile {
  readonly path: string;
  readonly sha256: string;
  readonly discard: () => Promise<void>;
}

interface OperationWorkerDeps
  extends QueueWorkerDeps<OperationName>, OperationMoneyDeps, OperationInputDeps, CountFileDeps, DoWorkDeps {
  readonly clock: QueueWorkerDeps<OperationName>['clock'];
  readonly objects: ObjectStore;
  readonly facts: DoWorkDeps['facts'];
  readonly usage: DoWorkDeps['usage'];
  /** Does what an accepted request asked for, as the synchronous call does. */
  readonly begin: TaskBeginner;
  /** As in `HelpDeps`. */
  readonly longRunning: HelpDeps['longRunning'];
  /** As in `RangesDeps`. */
  readonly onRead?: RangesDeps['onRead'];
  readonly ranged: HelpDeps['ranged'];
  /** Brings a file to this machine, while it is worked on. */
  readonly bring: (chunks: AsyncIterable<Uint8Array>) => Promise<BroughtFile>;
}

/** Brings files to a folder of this machine. */
export const bringTo =
  (dir: string): OperationWorkerDeps['bring'] =>
  async (chunks) => {
    const path = join(dir, `operation-${randomUUID()}`);
    const discard = () => rm(path, { force: true });
    try {
      return { ...(await writeDigested(chunks, path)), discard };
    } catch (error) {
      await discard();
      throw error;
    }
  };

const PDF = 'application/pdf';

/** An operation that this worker owns. */
type HeldOperation = HeldWork<OperationWork>;

/** Work that was done, and under which digest its result is stored; undefined: by an older release. */
interface Stored {
  readonly kind: 'stored';
  readonly stored: StoredResult;
  readonly digest: string | undefined;
}

/**
 * Where the parts of a document are kept while its operation runs, and the answers of models: the worker that takes
 * the operation over continues with them. They belong to the file and request that the operation was accepted for.
 */
const operationParts = (objects: ObjectStore, operationId: string): PartShelf => {
  const keyOf = (name: string) => `${OPERATIONS_PREFIX}${operationId}/parts/${name}`;
  return {
    find: (name) => objects.get(keyOf(name)),
    put: (name, bytes) => objects.put(keyOf(name), bytes),
  };
};

/** No work without its hold: only in logs of older releases may it be missing, and then it is placed. */
const covered = async (
  deps: OperationWorkerDeps,
  accepted: AcceptedOperation,
): Promise<WorkProblem | undefined> => {
  const { hold_id } = accepted;
  if (hold_id === null) return undefined;
  const { holds } = await deps.accounts.stateOf(accepted.tenant_id, 0);
  if (holds.get(hold_id)?.operation_id === accepted.work_id) return undefined;
  const hold = await placeAgain(deps, workToBill(accepted), hold_id);
  // In logs of earlier releases: what took its place, where an own key was never used.
  if (hold.kind === 'held' || hold.kind === 'other_hold') return undefined;
  return hold.kind === 'problem' ? hold : workProblem('internal_error', 'This work was billed before.');
};

/** Ranges of long documents, as this process takes them. */
type Ranges = ReturnType<typeof rangesOf>;

interface Working {
  readonly request: WorkRequest;
  readonly plan: WorkPlan;
  readonly ranges: Ranges;
  /** Told how many pages are done. */
  readonly onPages: (done: number) => void;
}

/** How a document is read that is longer than callers wait for; undefined: as while they wait. */
const longWork = (
  { pagesMax, longPagesMax }: OperationWorkerDeps,
  { request, keeping }: Pick<Working, 'request'> & { readonly keeping: NonNullable<NewWork['keeping']> },
  { mimeType, pages, total }: CountedFile,
): LongWork | undefined => {
  if (pages <= pagesMax) return undefined;
  const long = { pagesMax: longPagesMax, times: Math.ceil(pages / pagesMax) };
  const chosen = chosenPages(request.opening.pages ?? '1-', total);
  if (mimeType !== PDF || chosen.kind !== 'pages') return { ...long, ranges: null };
  return { ...long, ranges: { numbers: chosen.numbers, ...keeping } };
};

/** The file has other pages than were accepted and held for: what is billed would not be what was read. */
const otherFile = ({ pages }: AcceptedOperation, file: CountedFile): WorkProblem =>
  workProblem(
    'unreadable_file',
    `The document had ${String(pages)} pages when it was accepted and has ${String(file.pages)} now. ` +
      'Send the request again.',
  );

/** Works on the file under the hold of the operation, and stores the result. */
const worked = async (
  deps: OperationWorkerDeps,
  { accepted, attempt, name }: HeldOperation,
  { request, plan, ranges, onPages }: Working,
): Promise<Stored | WorkProblem> => {
  const elapsedMs = stopwatch();
  const kept = keptFile();
  const { turns, stop } = ranges.reader({ name, by: 'owner', signal: request.signal });
  try {
    const file = await countedFile(deps, { request, plan, kept }, { isWaited: false });
    if (file.kind === 'problem') return file;
    if (file.pages !== accepted.pages) return otherFile(accepted, file);
    const models = hasPagesToSee(file.mimeType) ? plan.models.paged : plan.models.unpaged;
    if (models.kind === 'problem') return models;
    const { document_id, hold_id, free } = accepted;
    const keeping = { shelf: operationParts(deps.objects, accepted.operation_id), turns, onPages };
    const long = longWork(deps, { request, keeping }, file);
    const known = { mime_type: file.mimeType, document_pages: file.total, models, kept, attempt, long };
    const asked = { request, plan, document_id, hold_id, free, bill: workToBill(accepted) };
    const work: NewWork = { ...asked, ...known, keeping };
    const done = await doWork(deps, work);
    if (done.kind === 'thrown') throw done.error;
    if (done.kind === 'problem') return done;
    const { status, body, question, then_batch_id } = done;
    const stored: StoredResult = {
      operation_id: accepted.work_id,
      document_id,
      usage_id: usageIdOfOperation(accepted.operation_id),
      hold_id,
      fingerprint: accepted.input_sha256,
      stored_at: deps.clock.now(),
      pages: accepted.pages,
      status,
      duration_ms: elapsedMs(),
      ...(question && { review: await askPerson(deps.objects, accepted.operation_id, question) }),
      ...(then_batch_id !== undefined && { then_batch_id }),
      request: requestText(plan.task, request.opening.pages),
      // The last member: it is read as it lies.
      body,
    };
    return { kind: 'stored', stored, digest: await resultShelf(deps.objects).put(stored) };
  } finally {
    stop();
    kept.close();
  }
};

const requestOf = (
  { accepted }: HeldOperation,
  input: OperationInput & { readonly secrets: OperationSecrets },
  { path, signal }: { readonly path: string; readonly signal: AbortSignal },
): WorkRequest => {
  const { tenant_id, api_key_id, api_key_role, correlation_id, document_id, project_id, task_id } = accepted;
  const { tags, completion_window } = accepted;
  const { file, source, pages, at, secrets } = input;
  return {
    tenant_id,
    caller: { key_id: api_key_id, role: api_key_role },
    correlation_id,
    idempotency: null,
    file: { ...file, path },
    project_id,
    task_id,
    completion_window,
    tags,
    signal,
    ...(source !== null && { document: { document_id, source } }),
    opening: { pages, password: secrets.password, at },
  };
};

interface Attempt extends Pick<Working, 'onPages' | 'ranges'> {
  readonly signal: AbortSignal;
}

/** A result that an earlier attempt has stored, where the log knows that there was one. */
const storedBefore = async (
  { objects, usage }: OperationWorkerDeps,
  accepted: AcceptedOperation,
): Promise<Stored | undefined> => {
  const { requested } = await usage.stateOf({ operation: accepted.kind, operation_id: accepted.work_id });
  if (requested === null) return undefined;
  const shelf = resultShelf(objects);
  const found = await shelf.any(accepted.work_id);
  const stored = found?.stored ?? (await shelf.former(formerPlaceOf(accepted)));
  if (stored?.fingerprint !== accepted.input_sha256) return undefined;
  return { kind: 'stored', stored, digest: found?.digest };
};

/** Brings the file to this machine; it has to be the one that was accepted. */
const brought = async (
  { objects, bring }: OperationWorkerDeps,
  { operation_id, file_sha256 }: AcceptedOperation,
  { file }: OperationInput,
): Promise<BroughtFile> => {
  const stream = await objects.open(operationFileKeyOf(operation_id, file_sha256));
  if (stream === undefined) throw new LostInput(`the file of ${operation_id} is missing`);
  const local = await bring(stream);
  if (local.sha256 === file.sha256) return local;
  await local.discard();
  throw new LostInput(`the file of ${operation_id} is another than was accepted`);
};

/** Does what was asked for, on the file that was accepted. */
const attempted = async (
  deps: OperationWorkerDeps,
  lease: HeldOperation,
  { signal, ...working }: Attempt,
): Promise<Stored | WorkProblem> => {
  const { accepted } = lease;
  const stored = await storedBefore(deps, accepted);
  if (stored !== undefined) return stored;
  const uncovered = await covered(deps, accepted);
  if (uncovered !== undefined) return uncovered;
  const { operation_id: id, tenant_id, input_sha256 } = accepted;
  const input = await operationInputs(deps).load({ id, tenant_id }, input_sha256);
  const local = await brought(deps, accepted, input);
  try {
    let done: Stored | WorkProblem | undefined;
    const handOver = async (request: WorkRequest, plan: WorkPlan): Promise<HandedOver | WorkProblem> => {
      done = await worked(deps, lease, { request, plan, ...working });
      return done.kind === 'problem' ? done : { kind: 'handed_over' };
    };
    const request = { ...requestOf(lease, input, { path: local.path, signal }), handOver };
    const answer = await deps.begin(input, request);
    if (answer.kind === 'problem') return answer;
    if (done === undefined) throw new Error('an operation was begun, and nobody did it');
    return done;
  } finally {
    await local.discard();
  }
};

/** Problems that may be gone the next time. */
const PASSING: ReadonlySet<string> = new Set([
  'model_provider_error',
  'provider_timeout',
  'storage_error',
  'busy',
  'rate_limited',
  'extraction_failed',
  'conversion_failed',
  'sorting_failed',
  'internal_error',
]);

/** Says that the work is done, by its owner; only then it is billed. */
const succeed = async (
  deps: OperationWorkerDeps,
  { name, accepted, lease_id }: HeldOperation,
  { stored, digest }: Stored,
): Promise<void> => {
  const { status: outcome, hold_id, usage_id, duration_ms, review, then_batch_id } = stored;
  const { billing_type } = accepted;
  const result = digest === undefined ? {} : { result_sha256: digest };
  const decided = await deps.operations.handle(name, {
    type: 'Succeed',
    meta: systemMeta(deps, name.operation_id),
    data: {
      lease_id,
      outcome,
      billing_type,
      hold_id,
      usage_id,
      duration_ms,
      ...result,
      ...(review && { review }),
      ...(then_batch_id !== undefined && { then_batch_id }),
    },
  });
  const state = stateAfter<OperationWork>(deps, name, decided);
  if (state !== undefined) await closeWork(deps, operationMoney(deps), { name, state });
};

/** Stops before the end: for another attempt, or permanently. */
const giveUp = async (
  deps: OperationWorkerDeps,
  { name, lease_id, attempt }: HeldOperation,
  { problem, reason }: { readonly problem: WorkProblem; readonly reason: 'failed' | 'shutdown' },
): Promise<void> => {
  if (reason === 'failed') await operationProblems(deps.objects).put(name.operation_id, problem);
  const lasting = problem.is_lasting === true || !PASSING.has(problem.code);
  const meta = systemMeta(deps, name.operation_id);
  const retry_at = retryAt(meta.now, reason, attempt);
  const data = { lease_id, retry_at, reason, lasting, code: problem.code };
  const outcome = await deps.operations.handle(name, { type: 'GiveUp', data, meta });
  const state = stateAfter<OperationWork>(deps, name, outcome);
  if (state?.status === 'failed') await closeWork(deps, operationMoney(deps), { name, state });
};

const failedWork = (error: unknown): WorkProblem => {
  if (error instanceof LostInput)
    return workProblem(
      'document_not_found',
      'What this operation was to work on is gone. Send the request again.',
    );
  const failed = workProblem('internal_error', 'The work failed on our side.');
  // Processes were tried several times by then: more attempts keep their caller waiting.
  return error instanceof ProcessNotStarted ? { ...failed, is_lasting: true } : failed;
};

/** Does an operation that was claimed to its end: delivered and billed, failed, or given up for another attempt. */
const runHeld = async (
  deps: OperationWorkerDeps,
  held: HeldOperation,
  { shutdown, ranges }: { readonly shutdown: AbortSignal; readonly ranges: Ranges },
): Promise<void> => {
  const { pages } = held.accepted;
  let pages_done = 0;
  const heart = heartbeat<OperationWork>({ ...deps, streams: deps.operations }, held, {
    standing: () => ({ done: pages_done, of: pages }),
    reached: () => ({ pages_done }),
    shutdown,
  });
  try {
    const onPages = (done: number): void => {
      // A part that is read anew counts from its own beginning.
      pages_done = Math.max(pages_done, Math.min(pages, done));
    };
    const attempt = { signal: heart.signal, ranges, onPages };
    const done = await attempted(deps, held, attempt).catch((error: unknown) => {
      deps.onError(error);
      return failedWork(error);
    });
    await heart.stop();
    const stopped = heart.stopped();
    if (stopped === 'lost') return;
    if (done.kind === 'stored') await succeed(deps, held, done);
    else await giveUp(deps, held, { problem: done, reason: stopped === 'shutdown' ? 'shutdown' : 'failed' });
  } finally {
    await heart.stop();
  }
};

/** The file of an operation that another worker owns, and where its parts lie. */
const fileToHelp =
  (deps: OperationWorkerDeps): HelpDeps['fileOf'] =>
  async (accepted) => {
    const { operation_id: id, tenant_id, input_sha256 } = accepted;
    const input = await operationInputs(deps).load({ id, tenant_id }, input_sha256);
    const { path, discard } = await brought(deps, accepted, input);
    return { path, discard, password: input.secrets.password, shelf: operationParts(deps.objects, id) };
  };

export interface OperationWorker extends QueueWorker {
  /** Reads ranges of a long document that another worker owns, as long as there are any to take. */
  readonly help: () => Promise<void>;
}

/** Takes operations from the queue, and while it has a place for it ranges of long documents that others own. */
export const operationWorker = (deps: OperationWorkerDeps): OperationWorker => {
  const ranges = rangesOf(deps);
  const worker = queueWorker<OperationWork>(deps, {
    money: operationMoney(deps),
    runHeld: (held, shutdown) => runHeld(deps, held, { shutdown, ranges }),
  });
  const hasPlace = (): boolean => {
    const { busy, max } = worker.places();
    return busy < max;
  };
  const helper = rangeHelper(ranges, { ...deps, fileOf: fileToHelp(deps), hasPlace });
  return {
    ...worker,
    help: helper.look,
    start: () => {
      worker.start();
      helper.start();
    },
    stop: async () => {
      await Promise.all([worker.stop(), helper.stop()]);
    },
  };
};
