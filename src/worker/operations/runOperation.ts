import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { keptFile } from '@quire/engine/ports/keptFile';
import { chosenPages } from '@quire/engine/document/pageChoice';
import { hasPagesToSee } from '@quire/engine/document/pages';
import { laterBy } from '../../../domain/kernel/instant.ts';
import type { OperationState } from '../../../domain/operation/decider.ts';
import type { OperationEventOf } from '../../../domain/operation/events.ts';
import { fullHoldIdOfOperation, usageIdOfOperation } from '../../../domain/operation/identity.ts';
import { billOf, closeOperation, type CloseDeps } from '../../commands/operations/closeOperation.ts';
import { LostInput, operationFileKeyOf, operationInputs } from '../../commands/operations/operationInput.ts';
import { operationParts } from '../../commands/operations/operationParts.ts';
import { operationProblems, resultIdentityOf } from '../../commands/operations/operationResult.ts';
import type { OperationName } from '../../commands/operations/operations.ts';
import { writeDigested } from '../../commands/uploads/writeDigested.ts';
import { placeHold, release } from '../../commands/work/billedWork.ts';
import { countedFile, type CountedFile, type CountFileDeps } from '../../commands/work/countedFile.ts';
import { doWork, stopwatch, type DoWorkDeps, type NewWork } from '../../commands/work/heldWork.ts';
import { resultShelf, type StoredResult } from '../../commands/work/storedResult.ts';
import type { HandedOver, LongWork, WorkDone, WorkPlan, WorkRequest } from '../../commands/work/work.ts';
import { workProblem, type WorkProblem } from '../../commands/work/workProblem.ts';
import { systemMeta } from '../../commands/writer/commandMeta.ts';
import { heartbeat, type HeldLease } from '../queue/heartbeat.ts';
import { retryAt } from '../queue/leaseTimes.ts';
import { stateAfter, type QueueDeps } from '../queue/queuedWork.ts';
import type { TaskBeginner } from './beginTask.ts';
import { queuedOperations, renewing, type HeldOperation } from './queuedOperations.ts';

export interface OperationRunDeps extends QueueDeps, CloseDeps, CountFileDeps, DoWorkDeps {
  /** Does what an accepted request asked for, as the synchronous call does. */
  readonly begin: TaskBeginner;
  /** A folder of this machine, for the file while it is worked on. */
  readonly dir: string;
}

/** Problems that may be gone the next time. */
const PASSING: ReadonlySet<string> = new Set([
  'model_provider_error',
  'provider_timeout',
  'storage_error',
  'busy',
  'rate_limited',
  'extraction_failed',
  'conversion_failed',
  'internal_error',
]);

const PDF = 'application/pdf';

type Accepted = OperationEventOf<'OperationAccepted'>['data'];

/** Work that was done, stored and not yet settled. */
interface Stored {
  readonly kind: 'stored';
  readonly stored: StoredResult;
}

/** The hold at the rates of what was done, under an ID that a later attempt finds again. */
const heldAs = async (
  deps: OperationRunDeps,
  { bill, hold_id }: NewWork,
  { done, accepted }: { readonly done: WorkDone; readonly accepted: Accepted },
): Promise<{ readonly kind: 'held'; readonly hold_id: string | null } | WorkProblem> => {
  if (done.billing_type === bill.billing_type || hold_id === null) return { kind: 'held', hold_id };
  await release(deps, bill, { hold_id, reason: 'cancelled' });
  const hold = await placeHold(
    deps,
    { ...bill, billing_type: done.billing_type },
    {
      hold_id: fullHoldIdOfOperation(accepted.operation_id),
      expires_at: laterBy(accepted.expires_at, 24 * 3_600_000),
    },
  );
  if (hold.kind === 'held' || hold.kind === 'problem') return hold;
  return workProblem('busy', 'The account is busy.');
};

interface Working {
  readonly request: WorkRequest;
  readonly plan: WorkPlan;
  /** Told how many pages are done. */
  readonly onPages: (done: number) => void;
}

/** How a document is read that is longer than callers wait for; undefined: as while they wait. */
const longWork = (
  { pagesMax, longPagesMax, objects }: OperationRunDeps,
  { accepted, request, onPages }: Omit<Working, 'plan'> & { readonly accepted: Accepted },
  { mimeType, pages, total }: CountedFile,
): LongWork | undefined => {
  if (pages <= pagesMax) return undefined;
  const chosen = chosenPages(request.opening.pages ?? '1-', total);
  if (mimeType !== PDF || chosen.kind !== 'pages') return { pagesMax: longPagesMax, ranges: null };
  const shelf = operationParts(objects, accepted.operation_id);
  return { pagesMax: longPagesMax, ranges: { numbers: chosen.numbers, shelf, onPages } };
};

/** Works on the file under the hold of the operation, and stores the result. */
const worked = async (
  deps: OperationRunDeps,
  { name: accepted, attempt }: HeldOperation,
  { request, plan, onPages }: Working,
): Promise<Stored | WorkProblem> => {
  const elapsedMs = stopwatch();
  const kept = keptFile();
  try {
    const file = await countedFile(deps, { request, plan, kept }, { isWaited: false });
    if (file.kind === 'problem') return file;
    const models = hasPagesToSee(file.mimeType) ? plan.models.paged : plan.models.unpaged;
    if (models.kind === 'problem') return models;
    const { document_id, hold_id, free } = accepted;
    const long = longWork(deps, { accepted, request, onPages }, file);
    const known = { mime_type: file.mimeType, document_pages: file.total, models, kept, attempt, long };
    const work: NewWork = { request, plan, document_id, hold_id, free, bill: billOf(accepted), ...known };
    const done = await doWork(deps, work);
    if (done.kind === 'thrown') throw done.error;
    if (done.kind === 'problem') return done;
    const held = await heldAs(deps, work, { done, accepted });
    if (held.kind === 'problem') return held;
    const { status, billing_type, body } = done;
    const stored: StoredResult = {
      ...{ operation_id: accepted.work_id, document_id, usage_id: usageIdOfOperation(accepted.operation_id) },
      ...{ hold_id: held.hold_id, fingerprint: accepted.input_sha256, stored_at: deps.clock.now() },
      ...{ pages: accepted.pages, status, billing_type, duration_ms: elapsedMs(), body },
    };
    await resultShelf(deps.objects).put(resultIdentityOf(accepted), stored);
    return { kind: 'stored', stored };
  } finally {
    kept.close();
  }
};

const requestOf = (
  { name: accepted }: HeldOperation,
  input: Awaited<ReturnType<ReturnType<typeof operationInputs>['load']>>,
  { path, signal }: { readonly path: string; readonly signal: AbortSignal },
): WorkRequest => {
  const { tenant_id, api_key_id, api_key_role, correlation_id, document_id, project_id, task_id } = accepted;
  const { file, source, pages, at, secrets } = input;
  return {
    ...{ tenant_id, caller: { key_id: api_key_id, role: api_key_role }, correlation_id, idempotency: null },
    ...{ file: { ...file, path }, project_id, task_id, signal },
    ...(source !== null && { document: { document_id, source } }),
    opening: { pages, password: secrets.password, at },
  };
};

interface Attempt extends Pick<Working, 'onPages'> {
  readonly signal: AbortSignal;
}

/** Brings the file to this machine, and does what was asked for. */
const attempted = async (
  deps: OperationRunDeps,
  lease: HeldOperation,
  { signal, onPages }: Attempt,
): Promise<Stored | WorkProblem> => {
  const { name: accepted } = lease;
  const stored = await resultShelf(deps.objects).find(resultIdentityOf(accepted), deps.clock.now());
  if (stored !== undefined) return { kind: 'stored', stored };
  const input = await operationInputs(deps).load(accepted, accepted.input_sha256);
  const path = join(deps.dir, `operation-${randomUUID()}`);
  try {
    const stream = await deps.objects.open(operationFileKeyOf(accepted.operation_id));
    if (stream === undefined) throw new LostInput(`the file of ${accepted.operation_id} is missing`);
    await writeDigested(stream, path);
    let done: Stored | WorkProblem | undefined;
    const handOver = async (request: WorkRequest, plan: WorkPlan): Promise<HandedOver | WorkProblem> => {
      done = await worked(deps, lease, { request, plan, onPages });
      return done.kind === 'problem' ? done : { kind: 'handed_over' };
    };
    const request = { ...requestOf(lease, input, { path, signal }), handOver };
    const answer = await deps.begin(input, request);
    if (answer.kind === 'problem') return answer;
    if (done === undefined) throw new Error('an operation was begun, and nobody did it');
    return done;
  } finally {
    await rm(path, { force: true });
  }
};

const succeed = async (
  deps: OperationRunDeps,
  { name: accepted, lease_id }: HeldOperation,
  { stored }: Stored,
): Promise<void> => {
  const { status: outcome, billing_type = accepted.billing_type, hold_id, usage_id, duration_ms } = stored;
  const decided = await deps.operations.handle(accepted, {
    type: 'SucceedOperation',
    meta: systemMeta(deps, accepted.operation_id),
    data: { lease_id, outcome, billing_type, hold_id, usage_id, duration_ms },
  });
  const state = stateAfter(deps, accepted, decided);
  if (state !== undefined) await closeOperation(deps, state);
};

/** Stops before the end: for another attempt, or for good. */
const giveUp = async (
  deps: OperationRunDeps,
  { name: accepted, lease_id, attempt }: HeldOperation,
  { problem, reason }: { readonly problem: WorkProblem; readonly reason: 'failed' | 'shutdown' },
): Promise<void> => {
  const { operation_id } = accepted;
  const meta = systemMeta(deps, operation_id);
  const lasting = !PASSING.has(problem.code);
  const retry_at = retryAt(meta.now, reason, attempt);
  if (reason === 'failed') await operationProblems(deps.objects).put(operation_id, problem);
  const data = { lease_id, retry_at, reason, lasting, code: problem.code };
  const outcome = await deps.operations.handle(accepted, { type: 'GiveUpOperation', data, meta });
  const state = stateAfter(deps, accepted, outcome);
  if (state?.status === 'failed') await closeOperation(deps, state);
};

const failedWork = (error: unknown): WorkProblem =>
  error instanceof LostInput
    ? workProblem('document_not_found', 'What this operation was to work on is gone. Send the request again.')
    : workProblem('internal_error', 'The work failed on our side.');

/** Does an operation that was claimed to its end: delivered and billed, failed, or given up for another attempt. */
export const runHeld = async (
  deps: OperationRunDeps,
  { held, state: { accepted } }: { readonly held: HeldLease<OperationName>; readonly state: OperationState },
  shutdown: AbortSignal,
): Promise<void> => {
  if (accepted === null) throw new Error('an operation that was claimed was never accepted');
  const lease: HeldOperation = { ...held, name: accepted };
  let pagesDone = 0;
  const work = { ...queuedOperations(deps.operations), ...renewing(deps.operations, lease, () => pagesDone) };
  const heart = heartbeat(deps, work, { held: lease, shutdown });
  try {
    const onPages = (done: number): void => {
      pagesDone = Math.min(accepted.pages, done);
    };
    const done = await attempted(deps, lease, { signal: heart.signal, onPages }).catch((error: unknown) => {
      deps.onError(error);
      return failedWork(error);
    });
    await heart.stop();
    const stopped = heart.stopped();
    if (stopped === 'lost') return;
    if (done.kind === 'stored') await succeed(deps, lease, done);
    else await giveUp(deps, lease, { problem: done, reason: stopped === 'shutdown' ? 'shutdown' : 'failed' });
  } finally {
    await heart.stop();
  }
};
