import { DOCUMENT_PAGES_MAX } from '../../../domain/billingConfig/limits.ts';
import type { CommandMeta } from '../../../domain/kernel/command.ts';
import type { OperationState } from '../../../domain/operation/decider.ts';
import type { OperationEventOf } from '../../../domain/operation/events.ts';
import { fullHoldIdOfOperation } from '../../../domain/operation/identity.ts';
import { settleDone, type BillingDeps, type WorkToBill } from '../work/billedWork.ts';
import { recordEnd, type DoWorkDeps } from '../work/heldWork.ts';
import { releaseHold } from '../work/holds.ts';
import { workProblem, type WorkProblem } from '../work/workProblem.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import { operationInputs, type OperationInputDeps } from './operationInput.ts';
import { dropParts } from './operationParts.ts';
import type { OperationName, Operations } from './operations.ts';

type Accepted = OperationEventOf<'OperationAccepted'>['data'];

export interface CloseDeps extends BillingDeps, OperationInputDeps, Pick<DoWorkDeps, 'facts'> {
  readonly operations: Operations;
  readonly wrote: (tenantId: string, position: bigint) => void;
}

/** What an operation is billed by. */
export const billOf = (accepted: Accepted, billing_type = accepted.billing_type): WorkToBill => ({
  operation: accepted.kind,
  operation_id: accepted.work_id,
  tenant_id: accepted.tenant_id,
  mode: accepted.mode,
  billing_type,
  pages: accepted.pages,
  caller: { key_id: accepted.api_key_id, role: accepted.api_key_role },
  correlation_id: accepted.correlation_id,
});

const settled = async (
  deps: CloseDeps,
  accepted: Accepted,
  success: OperationEventOf<'OperationSucceeded'>['data'],
): Promise<boolean> => {
  const { project_id, task_id, document_id, tenant_id } = accepted;
  const { billing_type, hold_id, usage_id, outcome: status, duration_ms } = success;
  const bill = billOf(accepted, billing_type);
  const scope = { project_id, task_id, document_id };
  const delivered = { status, duration_ms };
  const settlement = await settleDone(deps, bill, { hold_id, usage_id, scope, delivered });
  if (settlement.kind === 'problem') return false;
  if (settlement.position !== undefined) deps.wrote(tenant_id, settlement.position);
  await recordEnd(deps, bill, { kind: 'completed', free_pages: settlement.free_pages, ...delivered });
  return true;
};

const givenBack = async (
  deps: CloseDeps,
  accepted: Accepted,
  { status, failure, attempts }: OperationState,
): Promise<boolean> => {
  const { operation_id, tenant_id, hold_id } = accepted;
  const isCancelled = status === 'cancelled';
  const reason = isCancelled ? 'cancelled' : 'failed';
  let closed = true;
  if (hold_id !== null)
    for (const one of [hold_id, fullHoldIdOfOperation(operation_id)]) {
      const done = await releaseHold(
        deps,
        { tenant_id, hold_id: one, reason },
        systemMeta(deps, operation_id),
      );
      closed = closed && done;
    }
  const code = isCancelled ? 'request_aborted' : (failure ?? 'internal_error');
  if (attempts > 0) await recordEnd(deps, billOf(accepted), { kind: 'failed', code });
  return closed;
};

/**
 * Ends an operation's money, once, whoever does it and however often: one that succeeded is charged, any other
 * gives its hold back. Then its request and file are forgotten. False: the reaper has to ask again.
 */
export const closeOperation = async (deps: CloseDeps, state: OperationState): Promise<boolean> => {
  const { accepted, success } = state;
  if (accepted === null) return true;
  const closed =
    success === null ? await givenBack(deps, accepted, state) : await settled(deps, accepted, success);
  if (!closed) return false;
  if (accepted.pages > DOCUMENT_PAGES_MAX) await dropParts(deps.objects, accepted.operation_id);
  await operationInputs(deps).drop(accepted.operation_id, accepted.input_sha256);
  return true;
};

/** Cancels an operation and gives its hold back. `cancelled` is false for one that had ended already. */
export const cancelOperation =
  (deps: CloseDeps) =>
  async (
    operation: OperationName,
    meta: CommandMeta,
  ): Promise<{ readonly kind: 'answered'; readonly cancelled: boolean } | WorkProblem> => {
    const outcome = await deps.operations.handle(operation, { type: 'CancelOperation', meta });
    if (outcome.kind === 'rejected') return { kind: 'answered', cancelled: false };
    if (outcome.kind !== 'done')
      return workProblem(
        'busy',
        'The operation could not be cancelled now. Send the request again in a moment.',
      );
    if (outcome.position !== undefined) deps.wrote(operation.tenant_id, outcome.position);
    // What cannot be closed now is closed by the reaper: the operation is cancelled whatever happens here.
    await closeOperation(deps, outcome.state).catch(() => false);
    return { kind: 'answered', cancelled: true };
  };
