import { type DocumentEvent, documentStream, isDocumentId, uploadKeyOf } from '../../domain/document.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { CreatedJob } from '../../domain/trainingJob.ts';
import type { OperationState } from '../../domain/operation.ts';
import type { Clock, EventStore, TextVault } from '../../domain/ports/log.ts';
import type { ObjectStore, ReplayStore } from '../../domain/ports/services.ts';
import { metaOf, systemMeta } from '../writer/commandMeta.ts';
import { ownDocument, ownUpload, type UploadReader } from './fetchUpload.ts';
import { dropAll, dropInputs } from './operationInput.ts';
import { operationProblems } from './operations.ts';
import { expireReview, reviewFolderOf } from './reviews.ts';
import { reviewIdOf, reviewStream } from '../../domain/review.ts';
import { resultFolderOf } from './storedResult.ts';
import {
  type ExampleStreams,
  type JobName,
  TamperedInput,
  type TrainingInput,
  trainingInputKeyOf,
  trainingInputs,
  type TrainingJobs,
} from './training.ts';
import type { Documents } from './uploads.ts';
import type { UploadStock } from './slots.ts';
import { type WorkProblem, workProblem } from './workProblem.ts';

/** A document, and whose it is. */
export interface DocumentName {
  readonly document_id: string;
  readonly tenant_id: string;
}

interface WithdrawDeps {
  readonly documents: Documents;
  readonly stock: Pick<UploadStock, 'forget'>;
  /** Training jobs that were given a document, as the read models know; `open`: only those that have not ended. */
  readonly learningFrom: (
    document: DocumentName,
    which: { readonly open: boolean },
  ) => Promise<readonly JobName[]>;
  readonly cancelJob: (job: JobName, meta: CommandMeta) => Promise<unknown>;
  readonly clock: Pick<Clock, 'now' | 'uuid'>;
  /** Removes what sets of examples and their runs keep of a document. */
  readonly forgetInEvaluations: (documentId: string) => Promise<void>;
  /** Waits until the read models have what was written for the tenant up to there. */
  readonly settle: (tenantId: string, position: bigint | undefined) => Promise<void>;
}

const inUse = (detail: string): WorkProblem => workProblem('document_in_use', detail);

const OPEN = { open: true };

/**
 * A job that is created at the same moment looks for removals once it is in the log, and this looks for jobs
 * once the removal is there: so one of both sees the other, and no job learns from what was removed.
 */
const withdrawn = async (
  { documents, learningFrom, cancelJob, settle, clock }: WithdrawDeps,
  event: Extract<DocumentEvent, { readonly type: 'UploadRemoved' | 'DocumentErased' }>,
  meta: CommandMeta,
): Promise<WorkProblem | undefined> => {
  const { document_id, tenant_id } = event.data;
  const document = { document_id, tenant_id };
  await settle(tenant_id, undefined);
  if ((await learningFrom(document, OPEN)).length > 0)
    return inUse(
      'A training job learns from this document. Remove it once the job has ended, or cancel the job.',
    );
  const outcome = await documents.record(event, meta);
  if (outcome.kind !== 'done')
    return workProblem('busy', 'The event log did not take it in time. Send the request again in a moment.');
  await settle(tenant_id, outcome.position);
  for (const job of await learningFrom(document, OPEN))
    await cancelJob(job, metaOf({ clock }, meta.actor, meta.correlation_id));
  return undefined;
};

export interface RemoveUploadDeps extends WithdrawDeps {
  readonly objects: Pick<ObjectStore, 'remove'>;
}

/**
 * Removes the file of an upload permanently, or closes its URL if none came. The event is written first: a file
 * that a failure leaves in storage is refused to everybody, and removed by the repeat or by the sweeper. Work that
 * already has the file continues with it.
 */
export const removeUpload =
  (deps: RemoveUploadDeps) =>
  async (by: UploadReader, documentId: string, meta: CommandMeta): Promise<WorkProblem | undefined> => {
    const own = await ownUpload(deps.documents, by, isDocumentId(documentId) ? documentId : undefined);
    if (own.kind === 'problem') return own;
    const { document_id, tenant_id } = own.presigned;
    const data = { document_id, tenant_id, reason: 'asked', removed_at: meta.now } as const;
    const refused =
      own.removed === null ? await withdrawn(deps, { type: 'UploadRemoved', data }, meta) : undefined;
    if (refused !== undefined) return refused;
    await deps.objects.remove(uploadKeyOf(documentId));
    deps.stock.forget(tenant_id, documentId);
    await deps.forgetInEvaluations(document_id);
    return undefined;
  };

export interface ForgetExamplesDeps {
  readonly objects: ObjectStore;
  readonly jobs: Pick<TrainingJobs, 'stateOf'>;
  readonly examples: ExampleStreams;
  readonly clock: Pick<Clock, 'now' | 'uuid'>;
}

/** How often the input of a job is read again if others take examples from it at the same time. */
const TRIES = 8;

/** The input of a job without the examples of a document; undefined: there are none in it, or it is gone. */
const inputWithout = async (
  objects: ObjectStore,
  document_id: string,
  { job_id, input_sha256 }: { readonly job_id: string; readonly input_sha256: string },
): Promise<TrainingInput | undefined> => {
  try {
    const input = await trainingInputs(objects).load(job_id, input_sha256);
    const examples = input.examples.filter((example) => example.document_id !== document_id);
    return examples.length === input.examples.length ? undefined : { ...input, examples };
  } catch (error) {
    if (error instanceof TamperedInput) return undefined;
    throw error;
  }
};

/** Puts a job's input in the place of another; false: it was another one by then. */
const replaced = async (
  { objects, examples, clock }: ForgetExamplesDeps,
  { accepted, document_id }: { readonly accepted: CreatedJob; readonly document_id: string },
  { of_sha256, input }: { readonly of_sha256: string; readonly input: TrainingInput },
): Promise<boolean> => {
  const { job_id, tenant_id } = accepted;
  const input_sha256 = await trainingInputs(objects).put(job_id, input);
  const outcome = await examples.handle({
    type: 'EraseExamples',
    data: { job_id, tenant_id, document_ids: [document_id], input_sha256, of_sha256 },
    meta: systemMeta({ clock }, `erase-${document_id}`),
  });
  if (outcome.kind === 'done') {
    await objects.remove(trainingInputKeyOf(job_id, of_sha256));
    return true;
  }
  // Nobody can name it any more, unless somebody has: the input that it was made of is another one now.
  if (outcome.kind === 'rejected' && (await examples.keptOf(accepted)).input_sha256 !== input_sha256)
    await objects.remove(trainingInputKeyOf(job_id, input_sha256));
  return false;
};

/** What became of the examples of a document; `open`: their job has not ended. */
export type ForgottenExamples = 'taken' | 'nothing' | 'open';

/**
 * Takes the examples of an erased document from a job that has ended. The kept ones are stored under their own
 * digest, and named in the log, before the old input is removed: the sweeper removes what a crash leaves of either.
 */
export const forgetExamples = async (
  deps: ForgetExamplesDeps,
  document_id: string,
  { job_id }: JobName,
): Promise<ForgottenExamples> => {
  const { accepted, finished_at } = await deps.jobs.stateOf(job_id);
  if (accepted === null || finished_at === null) return 'open';
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const { input_sha256, erased } = await deps.examples.keptOf(accepted);
    if (erased.includes(document_id)) return 'nothing';
    const input = await inputWithout(deps.objects, document_id, { job_id, input_sha256 });
    if (input === undefined) return 'nothing';
    if (await replaced(deps, { accepted, document_id }, { of_sha256: input_sha256, input })) return 'taken';
  }
  throw new Error(`the examples of ${job_id} could not be erased now`);
};

/** Work on a document, as the read models know. */
interface WorkOnDocument {
  /** Of the extraction or conversion. */
  readonly work_id: string;
  /** null for work whose caller waited. */
  readonly operation_id: string | null;
  readonly is_open: boolean;
}

interface ForgetReviewDeps extends Pick<ForgetExamplesDeps, 'objects' | 'clock'> {
  readonly store: EventStore;
  readonly operations: { readonly stateOf: (operationId: string) => Promise<OperationState> };
  readonly forgetTexts: TextVault['forget'];
}

export interface EraseDocumentDeps extends WithdrawDeps, ForgetExamplesDeps, ForgetReviewDeps {
  readonly replays: Pick<ReplayStore, 'forget'>;
  readonly workOn: (document: DocumentName) => Promise<readonly WorkOnDocument[]>;
  /** Those of the documents that wait in a batch for their turn. */
  readonly awaitedOf: (documentIds: readonly string[]) => Promise<ReadonlySet<string>>;
}

const isWorkedOn = async (
  { settle, workOn, awaitedOf }: EraseDocumentDeps,
  document: DocumentName,
): Promise<boolean> => {
  await settle(document.tenant_id, undefined);
  const [work, awaited] = [await workOn(document), await awaitedOf([document.document_id])];
  return awaited.has(document.document_id) || work.some(({ is_open }) => is_open);
};

/**
 * Ends the review of an operation before anything of it is removed: a decision that is under way meets the end of its
 * stream.
 */
export const forgetReview = async (deps: ForgetReviewDeps, operationId: string): Promise<void> => {
  const operation = await deps.operations.stateOf(operationId);
  if ((await expireReview(deps, operation, { erased: true })) !== undefined)
    throw new Error(`the review of ${operationId} could not be ended now`);
  const stream = reviewStream(reviewIdOf(operationId));
  const { accepted, success } = operation;
  if (accepted !== null && success?.review !== undefined)
    await deps.forgetTexts({ tenant_id: accepted.tenant_id, stream });
  await dropAll(deps.objects, reviewFolderOf(reviewIdOf(operationId)));
};

/** Removes everything that was made of a document that is erased. Once more does no harm. */
const forgetDocument = async (deps: EraseDocumentDeps, document: DocumentName): Promise<void> => {
  const { objects, replays, stock } = deps;
  const { document_id, tenant_id } = document;
  await objects.remove(uploadKeyOf(document_id));
  await deps.forgetTexts({ tenant_id, stream: documentStream(document_id) });
  stock.forget(tenant_id, document_id);
  for (const { work_id, operation_id } of await deps.workOn(document)) {
    if (operation_id !== null) await forgetReview(deps, operation_id);
    await dropAll(objects, resultFolderOf(work_id));
    if (operation_id === null) continue;
    await operationProblems(objects).remove(operation_id);
    await dropInputs(objects, operation_id);
  }
  for (const job of await deps.learningFrom(document, { open: false }))
    await forgetExamples(deps, document_id, job);
  await deps.forgetInEvaluations(document_id);
  await replays.forget(tenant_id);
};

/**
 * Erases what a document says, wherever it is kept: its file, results, examples, kept answers and its name. Its bill
 * and usage stay. It is written down first, so that what a crash leaves is removed by the repeat or by the sweeper.
 */
export const eraseDocument =
  (deps: EraseDocumentDeps) =>
  async (by: UploadReader, documentId: string, meta: CommandMeta): Promise<WorkProblem | undefined> => {
    const own = await ownDocument(deps.documents, by, isDocumentId(documentId) ? documentId : undefined);
    if (own.kind === 'problem') return own;
    const document = { document_id: documentId, tenant_id: own.tenant_id };
    if (own.erased === null) {
      if (await isWorkedOn(deps, document))
        return inUse(
          'Work on this document waits or runs. Erase it once that has ended, or cancel the operation or batch.',
        );
      const data = { ...document, erased_at: meta.now };
      const refused = await withdrawn(deps, { type: 'DocumentErased', data }, meta);
      if (refused !== undefined) return refused;
    }
    await forgetDocument(deps, document);
    return undefined;
  };
