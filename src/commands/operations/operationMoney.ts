import type { AcceptedOperation, OperationEventOf, OperationWork } from '../../../domain/operation.ts';
import { NO_END, suffixOf } from '../../../domain/leased.ts';
import type { CloseDeps, OpenHold, WorkMoney } from '../queue/closeWork.ts';
import { billOf, placeHold, type BillingDeps, type WorkToBill } from '../work/billedWork.ts';
import { recordEnd, type DoWorkDeps } from '../work/heldWork.ts';
import { dropInputs, type OperationInputDeps } from './operationInput.ts';
import type { Operations } from './operations.ts';

export interface OperationMoneyDeps
  extends BillingDeps, CloseDeps, Pick<OperationInputDeps, 'objects'>, Pick<DoWorkDeps, 'facts'> {
  readonly clock: BillingDeps['clock'];
  readonly operations: Operations;
}

/** What an operation is billed by. */
export const workToBill = (
  accepted: AcceptedOperation,
  billing_type = accepted.billing_type,
): WorkToBill => ({
  operation: accepted.kind,
  operation_id: accepted.work_id,
  tenant_id: accepted.tenant_id,
  mode: accepted.mode,
  billing_type,
  pages: accepted.pages,
  caller: { key_id: accepted.api_key_id, role: accepted.api_key_role },
  correlation_id: accepted.correlation_id,
});

/**
 * Bills an operation from the hold that it succeeded with. Only in logs of older releases may that hold be gone before
 * it was billed: then it is placed anew, under its own ID.
 */
const billed = async (
  deps: OperationMoneyDeps,
  accepted: AcceptedOperation,
  {
    success,
    holds,
  }: {
    readonly success: OperationEventOf<'OperationSucceeded'>['data'];
    readonly holds: readonly OpenHold[];
  },
): Promise<boolean> => {
  const { project_id, task_id, document_id, tenant_id } = accepted;
  const { billing_type, hold_id, usage_id, outcome: status, duration_ms, result_sha256 } = success;
  const work = workToBill(accepted, billing_type);
  const delivered = { status, duration_ms, ...(result_sha256 !== undefined && { result_sha256 }) };
  const open = holds.find((hold) => hold.hold_id === hold_id);
  const held_as = open?.billing_type ?? billing_type;
  const settlement = { hold_id, usage_id, scope: { project_id, task_id, document_id }, delivered, held_as };
  let bill = await billOf(deps, work, settlement);
  if (bill.kind === 'hold_not_open' && hold_id !== null) {
    const anew = await placeHold(deps, work, { hold_id, expires_at: NO_END, reopens: true });
    if (anew.kind === 'held') bill = await billOf(deps, work, { ...settlement, held_as: billing_type });
  }
  if (bill.kind !== 'billed') return false;
  if (bill.position !== undefined) deps.wrote(tenant_id, bill.position);
  await recordEnd(deps, work, { kind: 'completed', free_pages: bill.free_pages, status, duration_ms });
  return true;
};

/** How operations are billed and closed. */
export const operationMoney = (deps: OperationMoneyDeps): WorkMoney<OperationWork> => ({
  streams: deps.operations,
  isHeldFor: ({ operation_id }, work_id) =>
    /^(ext|cnv)_/.test(work_id) && suffixOf(work_id) === suffixOf(operation_id),
  idOf: ({ operation_id }) => operation_id,
  bill: (accepted, success, holds) => billed(deps, accepted, { success, holds }),
  unbilled: async ({ accepted, status, failure, attempts }) => {
    const code = status === 'cancelled' ? 'request_aborted' : (failure?.code ?? 'internal_error');
    if (attempts > 0) await recordEnd(deps, workToBill(accepted), { kind: 'failed', code });
  },
  drop: ({ operation_id }) => dropInputs(deps.objects, operation_id),
});
