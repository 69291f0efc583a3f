import type { OperationWork } from '../../../domain/operation.ts';
import { closeWork } from '../../commands/queue/closeWork.ts';
import { LostInput } from '../../commands/operations/operationInput.ts';
import { operationMoney } from '../../commands/operations/operationMoney.ts';
import { operationProblems } from '../../commands/operations/operationResult.ts';
import { workProblem, type WorkProblem } from '../../commands/work/workProblem.ts';
import { systemMeta } from '../../commands/writer/commandMeta.ts';
import { heartbeat } from '../queue/heartbeat.ts';
import { retryAt } from '../queue/leaseTimes.ts';
import { queueWorker, stateAfter, type QueueWorker } from '../queue/queueWorker.ts';

import { attempted, type HeldOperation, type OperationWorkerDeps, type Stored } from './operationAttempt.ts';

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

/** Says that the work is done, by its owner; only then it is billed. */
const succeed = async (
  deps: OperationWorkerDeps,
  { name, accepted, lease_id }: HeldOperation,
  { stored, digest }: Stored,
): Promise<void> => {
  const { status: outcome, billing_type = accepted.billing_type, hold_id, usage_id, duration_ms } = stored;
  const result = digest === undefined ? {} : { result_sha256: digest };
  const decided = await deps.operations.handle(name, {
    type: 'Succeed',
    meta: systemMeta(deps, name.operation_id),
    data: { lease_id, outcome, billing_type, hold_id, usage_id, duration_ms, ...result },
  });
  const state = stateAfter<OperationWork>(deps, name, decided);
  if (state !== undefined) await closeWork(deps, operationMoney(deps), { name, state });
};

/** Stops before the end: for another attempt, or for good. */
const giveUp = async (
  deps: OperationWorkerDeps,
  { name, lease_id, attempt }: HeldOperation,
  { problem, reason }: { readonly problem: WorkProblem; readonly reason: 'failed' | 'shutdown' },
): Promise<void> => {
  if (reason === 'failed') await operationProblems(deps.objects).put(name.operation_id, problem);
  const lasting = !PASSING.has(problem.code);
  const meta = systemMeta(deps, name.operation_id);
  const retry_at = retryAt(meta.now, reason, attempt);
  const data = { lease_id, retry_at, reason, lasting, code: problem.code };
  const outcome = await deps.operations.handle(name, { type: 'GiveUp', data, meta });
  const state = stateAfter<OperationWork>(deps, name, outcome);
  if (state?.status === 'failed') await closeWork(deps, operationMoney(deps), { name, state });
};

const failedWork = (error: unknown): WorkProblem =>
  error instanceof LostInput
    ? workProblem('document_not_found', 'What this operation was to work on is gone. Send the request again.')
    : workProblem('internal_error', 'The work failed on our side.');

/** Does an operation that was claimed to its end: delivered and billed, failed, or given up for another attempt. */
const runHeld = async (
  deps: OperationWorkerDeps,
  held: HeldOperation,
  shutdown: AbortSignal,
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
      pages_done = Math.min(pages, done);
    };
    const done = await attempted(deps, held, { signal: heart.signal, onPages }).catch((error: unknown) => {
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

/** Takes operations from the queue. */
export const operationWorker = (deps: OperationWorkerDeps): QueueWorker =>
  queueWorker<OperationWork>(deps, {
    money: operationMoney(deps),
    runHeld: (held, shutdown) => runHeld(deps, held, shutdown),
  });
