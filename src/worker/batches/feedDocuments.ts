import { type BatchState, operationIdOfDocument, requestOfDocument } from '../../../domain/batch.ts';
import type { Clock } from '../../../domain/ports/log.ts';
import type { OperationState } from '../../../domain/operation.ts';
import { isAbandoned, isOver } from '../../../domain/leased.ts';
import type { Batches } from '../../commands/batches/batches.ts';
import type { OperationCommands } from '../../commands/operations/operationCommands.ts';
import { batchInputs, LostInput, type OperationInputDeps } from '../../commands/operations/operationInput.ts';
import { operationProblems } from '../../commands/operations/operationResult.ts';
import { withFetched, type WorkSubject } from '../../commands/uploads/fetchedFile.ts';
import type { Uploads } from '../../commands/uploads/uploads.ts';
import type { WorkRequest } from '../../commands/work/work.ts';
import { workProblem, type WorkProblem } from '../../commands/work/workProblem.ts';
import { systemMeta } from '../../commands/writer/commandMeta.ts';
import type { TaskBeginner } from '../operations/beginTask.ts';

export interface FeedDeps extends OperationInputDeps {
  readonly batches: Batches;
  readonly operations: Pick<OperationCommands, 'accept' | 'abandon' | 'cancel' | 'streams'>;
  readonly uploads: Uploads;
  /** Does what an accepted request asked for, as the synchronous call does. */
  readonly begin: TaskBeginner;
  readonly clock: Clock;
  readonly wrote: (tenantId: string, position: bigint) => void;
  readonly onError: (error: unknown) => void;
}

type Accepted = NonNullable<BatchState['accepted']>;
type Input = Awaited<ReturnType<ReturnType<typeof batchInputs>['load']>>;

/** Why a document came to nothing. */
interface Refusal {
  readonly code: string;
  /** Left out where the code says it all. */
  readonly problem?: WorkProblem;
}

/** `fed`: it is an operation. `later`: it is tried again. */
type Fed = 'fed' | 'later' | Refusal;

/** Problems that may be gone the next time. */
const PASSING: ReadonlySet<string> = new Set(['busy', 'storage_error', 'rate_limited', 'internal_error']);

const workOf = (
  { tenant_id, batch_id, fingerprint, ...accepted }: Accepted,
  index: number,
  { subject, input, signal }: { subject: WorkSubject; input: Input; signal: AbortSignal },
): WorkRequest => ({
  ...subject,
  tenant_id,
  caller: { key_id: accepted.api_key_id, role: accepted.api_key_role },
  correlation_id: accepted.correlation_id,
  idempotency: { idempotency_key: requestOfDocument({ batch_id, index }).idempotency_key, fingerprint },
  opening: { pages: input.pages, password: input.secrets.password, at: input.at },
  signal,
});

/** Accepts a document as the operation that its place in the list names. */
const accepted = async (
  deps: FeedDeps,
  batch: Accepted,
  { index, input, signal }: { readonly index: number; readonly input: Input; readonly signal: AbortSignal },
): Promise<Fed> => {
  const { tenant_id, project_id, task_id, batch_id, document_ids } = batch;
  const document_id = document_ids[index];
  const fetch = { tenant_id, document_id, project_id, task_id, source: 'upload' } as const;
  const answer = await withFetched(deps.uploads, fetch, (subject) => {
    const { sha256, bytes, file_name } = subject.file;
    const whole = { ...input, file: { sha256, bytes, file_name }, source: fetch.source };
    const { endpoint } = requestOfDocument({ batch_id, index });
    return deps.operations.accept(workOf(batch, index, { subject, input, signal }), endpoint, (work) =>
      deps.begin(whole, work),
    );
  });
  if (answer.kind !== 'problem') return 'fed';
  if (answer.code === 'request_aborted' || PASSING.has(answer.code)) return 'later';
  return { code: answer.code, problem: answer };
};

/** What becomes of one document that was begun. */
const fedOne = async (
  deps: FeedDeps,
  { batch_id, index }: BatchPlace,
  signal: AbortSignal,
): Promise<{ readonly fed: Fed; readonly batch: Accepted | null }> => {
  const state = await deps.batches.stateOf(batch_id);
  const batch = state.accepted;
  if (batch === null || state.ended !== null || state.refused.has(index)) return { fed: 'later', batch };
  const operation_id = operationIdOfDocument({ ...batch, index });
  const operation = await deps.operations.streams.stateOf(operation_id);
  // Whatever its age: its ID is the only one that a document of a batch has.
  if (operation.accepted !== null) return { fed: 'fed', batch };
  const over = overAs(state.cancelled_at, batch, { operation, now: deps.clock.now() });
  if (over !== undefined) return { fed: over, batch };
  const input = await inputOf(deps, batch);
  const fed = 'code' in input ? input : await accepted(deps, batch, { index, input, signal });
  if (fed === 'fed') await cancelledToo(deps, batch, operation_id);
  return { fed, batch };
};

/** Why a document is not to be accepted any more; undefined: it is. */
const overAs = (
  cancelled_at: string | null,
  { expires_at }: Accepted,
  { operation, now }: { readonly operation: OperationState; readonly now: string },
): Refusal | undefined => {
  if (cancelled_at !== null) return { code: 'cancelled' };
  if (isOver(expires_at, now)) return { code: 'expired' };
  // Given up by somebody who died before it was told.
  return isAbandoned(operation) ? { code: LOST.code, problem: LOST } : undefined;
};

/** What was decided about the batch meanwhile holds for a document that was just accepted, too. */
const cancelledToo = async (
  deps: FeedDeps,
  { tenant_id, batch_id }: Accepted,
  operation_id: string,
): Promise<void> => {
  const { cancelled_at, ended } = await deps.batches.stateOf(batch_id);
  if (cancelled_at === null && ended === null) return;
  await deps.operations.cancel({ tenant_id, operation_id }, systemMeta(deps, operation_id));
};

const LOST = workProblem('internal_error', 'What this batch was to do is gone. Send the request again.');

/** The request of a batch; a refusal for all of its documents where it is gone. */
const inputOf = async (deps: FeedDeps, batch: Accepted): Promise<Input | Refusal> => {
  try {
    const { batch_id: id, tenant_id, input_sha256 } = batch;
    return await batchInputs(deps).load({ id, tenant_id }, input_sha256);
  } catch (error) {
    if (!(error instanceof LostInput)) throw error;
    deps.onError(error);
    return { code: LOST.code, problem: LOST };
  }
};

/**
 * Refuses a document: its operation is closed first, so that nobody accepts it later; its sentence is stored, and
 * then it is told. One that was accepted meanwhile is not refused.
 */
const refuse = async (
  deps: FeedDeps,
  batch: Accepted,
  { index, refusal: { code, problem } }: { readonly index: number; readonly refusal: Refusal },
): Promise<void> => {
  const operation_id = operationIdOfDocument({ ...batch, index });
  if (!(await deps.operations.abandon({ operation_id, tenant_id: batch.tenant_id }))) return;
  if (problem !== undefined) await operationProblems(deps.objects).put(operation_id, problem);
  const data = { refused: [{ index, code }] };
  const meta = systemMeta(deps, batch.correlation_id);
  const outcome = await deps.batches.handle(batch, { type: 'RefuseDocuments', data, meta });
  if (outcome.kind === 'done' && outcome.position !== undefined)
    deps.wrote(batch.tenant_id, outcome.position);
};

/** A document of a batch, by its place in the list. */
export interface BatchPlace {
  readonly tenant_id: string;
  readonly batch_id: string;
  readonly index: number;
}

/**
 * Makes an operation of a document that was begun. Its ID follows from its place in the list, so it is accepted, held
 * and billed once however many workers feed it, and whichever of them die. What cannot be fed now is left to whoever
 * looks a while later.
 */
export const feedDocument = async (deps: FeedDeps, place: BatchPlace, signal: AbortSignal): Promise<void> => {
  const { fed, batch } = await fedOne(deps, place, signal);
  if (batch !== null && typeof fed === 'object')
    await refuse(deps, batch, { index: place.index, refusal: fed });
};
