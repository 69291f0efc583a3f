import type { BatchState } from '../../../domain/batch/decider.ts';
import { operationIdOfDocument, requestOfDocument } from '../../../domain/batch/identity.ts';
import type { Clock } from '../../../domain/ports/clock.ts';
import { isOver } from '../../../domain/queue/lease.ts';
import { batchInputs } from '../../commands/batches/batchInput.ts';
import type { Batches } from '../../commands/batches/batches.ts';
import type { OperationCommands } from '../../commands/operations/operationCommands.ts';
import { LostInput, type OperationInputDeps } from '../../commands/operations/operationInput.ts';
import { operationProblems } from '../../commands/operations/operationResult.ts';
import { withFetched, type WorkSubject } from '../../commands/uploads/fetchedFile.ts';
import type { Uploads } from '../../commands/uploads/uploads.ts';
import type { WorkRequest } from '../../commands/work/work.ts';
import { workProblem, type WorkProblem } from '../../commands/work/workProblem.ts';
import { systemMeta } from '../../commands/writer/commandMeta.ts';
import type { TaskBeginner } from '../operations/beginTask.ts';

export interface FeedDeps extends OperationInputDeps {
  readonly batches: Batches;
  readonly operations: Pick<OperationCommands, 'accept' | 'cancel' | 'streams'>;
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
  batchId: string,
  { index, input, signal }: { readonly index: number; readonly input: Input; readonly signal: AbortSignal },
): Promise<Fed> => {
  const state = await deps.batches.stateOf(batchId);
  const batch = state.accepted;
  if (batch === null || state.ended !== null || state.refused.has(index)) return 'later';
  const operation_id = operationIdOfDocument({ ...batch, index });
  // Whatever its age: its ID is the only one that a document of a batch has.
  if ((await deps.operations.streams.stateOf(operation_id)).accepted !== null) return 'fed';
  if (state.cancelled_at !== null) return { code: 'cancelled' };
  if (isOver(batch.expires_at, deps.clock.now())) return { code: 'expired' };
  const fed = await accepted(deps, batch, { index, input, signal });
  if (fed !== 'fed') return fed;
  const { cancelled_at } = await deps.batches.stateOf(batchId);
  if (cancelled_at !== null)
    await deps.operations.cancel({ ...batch, operation_id }, systemMeta(deps, operation_id));
  return 'fed';
};

const LOST = workProblem('internal_error', 'What this batch was to do is gone. Send the request again.');

/** The request of a batch; a refusal for all of its documents where it is gone. */
const inputOf = async (deps: FeedDeps, batch: Accepted): Promise<Input | Refusal> => {
  try {
    return await batchInputs(deps).load(batch, batch.input_sha256);
  } catch (error) {
    if (!(error instanceof LostInput)) throw error;
    deps.onError(error);
    return { code: LOST.code, problem: LOST };
  }
};

/** Tells which documents came to nothing; their sentences are stored first. */
const tellRefused = async (
  deps: FeedDeps,
  batch: Accepted,
  refusals: ReadonlyMap<number, Refusal>,
): Promise<void> => {
  if (refusals.size === 0) return;
  const problems = operationProblems(deps.objects);
  for (const [index, { problem }] of refusals)
    if (problem !== undefined) await problems.put(operationIdOfDocument({ ...batch, index }), problem);
  const refused = [...refusals].map(([index, { code }]) => ({ index, code }));
  const meta = systemMeta(deps, batch.correlation_id);
  const outcome = await deps.batches.handle(batch, { type: 'RefuseDocuments', data: { refused }, meta });
  if (outcome.kind === 'done' && outcome.position !== undefined)
    deps.wrote(batch.tenant_id, outcome.position);
};

/**
 * Makes operations of documents that were begun, one by one. The ID of each follows from its place in the list, so
 * it is accepted, held and billed once however many workers feed it, and whichever of them die. What cannot be fed
 * now is left to whoever looks a while later.
 */
export const feedDocuments = async (
  deps: FeedDeps,
  batch: Accepted,
  { indexes, shutdown }: { readonly indexes: readonly number[]; readonly shutdown: AbortSignal },
): Promise<void> => {
  const input = await inputOf(deps, batch);
  const refusals = new Map<number, Refusal>();
  for (const index of indexes) {
    if (shutdown.aborted) break;
    const one = { index, signal: shutdown };
    const fed = 'code' in input ? input : await fedQuietly(deps, batch.batch_id, { ...one, input });
    if (typeof fed === 'object') refusals.set(index, fed);
  }
  await tellRefused(deps, batch, refusals);
};

/** What one document throws is told, and leaves the others alone. */
const fedQuietly = async (
  deps: FeedDeps,
  ...document: [string, Parameters<typeof fedOne>[2]]
): Promise<Fed> => {
  try {
    return await fedOne(deps, ...document);
  } catch (error) {
    deps.onError(error);
    return 'later';
  }
};
