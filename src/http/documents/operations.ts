import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { OperationState } from '../../../domain/operation/decider.ts';
import { conversionAnswer } from '../../commands/work/convertDocument.ts';
import { extractionAnswer } from '../../commands/work/extractDocument.ts';
import type { Cost } from '../../commands/work/billedWork.ts';
import type { WorkRequest } from '../../commands/work/work.ts';
import type { ApiDeps } from '../apiDeps.ts';
import type { RouteRequest } from '../defineRoute.ts';
import { workFailure } from '../doneOrProblem.ts';
import { problem } from '../problems.ts';
import { PROBLEMS, type ProblemCode } from '../../problemTable.ts';
import { settleReads } from '../reads/settledReads.ts';
import type { OperationBody } from '../wire/operations.ts';

type AnyRequest = RouteRequest<unknown, unknown, unknown>;
type Known = OperationState & { readonly accepted: NonNullable<OperationState['accepted']> };
type Begin = Parameters<ApiDeps['operations']['accept']>[2];

const OPERATION_ID = /^op_[A-Za-z0-9-]{1,64}$/;

/** An operation of the tenant, from the log. 404 for another tenant's: it does not say that there is one. */
const findOperation = async (
  { operations }: ApiDeps,
  { caller }: Pick<AnyRequest, 'caller'>,
  operationId: string,
): Promise<Known> => {
  const state = OPERATION_ID.test(operationId) ? await operations.streams.stateOf(operationId) : undefined;
  const accepted = state?.accepted ?? null;
  const isTheirs = caller.role !== 'tenant' || accepted?.tenant_id === caller.tenant_id;
  if (state === undefined || accepted === null || !isTheirs)
    throw problem('operation_not_found', 'There is no such operation.');
  return { ...state, accepted };
};

interface Billed {
  readonly cost: Cost;
  readonly free_pages: number;
}

/** What it cost; undefined: it is not billed yet. */
const billed = async ({ queries }: ApiDeps, { accepted }: Known): Promise<Billed | undefined> => {
  const { hold_id, operation_id, pages } = accepted;
  if (hold_id === null) return { cost: { credits_used: 0, pages, balance_remaining: null }, free_pages: 0 };
  const row = await queries.costOfOperation(operation_id);
  if (row?.credits_charged == null) return undefined;
  const cost = { credits_used: row.credits_charged, pages, balance_remaining: row.balance_after };
  return { cost, free_pages: row.free_pages ?? 0 };
};

const resultOf = async (
  { operations }: ApiDeps,
  { accepted }: Known,
  bill: Billed,
): Promise<JsonObject | null> => {
  const stored = await operations.result(accepted);
  if (stored === undefined) return null;
  const delivered = { kind: 'delivered', body: stored.body, ...bill } as const;
  return (accepted.kind === 'extract' ? extractionAnswer(delivered) : conversionAnswer(delivered)).body;
};

/** The problem that an operation ended with, or why there is none; its sentence is kept for a day. */
export const problemAnswer = async (
  { operations }: ApiDeps,
  operationId: string,
  code: string,
): Promise<NonNullable<OperationBody['error']>> => {
  const known: ProblemCode = code in PROBLEMS ? (code as ProblemCode) : 'internal_error';
  const { status, title } = PROBLEMS[known];
  const stored = await operations.problem(operationId);
  return { code, status, title, detail: stored?.detail ?? `${title}.`, ...stored?.members };
};

const endedAs = ({ status, success }: Known): OperationBody['status'] =>
  success?.outcome === 'partial' ? 'partial' : status;

/** An operation as it stands, with what came of it. */
export const operationAsItStands = async (deps: ApiDeps, state: Known): Promise<OperationBody> => {
  const { accepted, success, failure, pages_done, started_at, finished_at } = state;
  const { operation_id, kind, tenant_id, project_id, task_id, document_id, accepted_at, pages } = accepted;
  const bill = success === null ? undefined : await billed(deps, state);
  // Done, but not paid for yet: the reaper sees to that.
  const unpaid = success !== null && bill === undefined;
  return {
    ...{ operation_id, operation: kind, tenant_id, project_id, task_id, document_id },
    status: unpaid ? 'running' : endedAs(state),
    pages: { done: pages_done, total: pages },
    result: bill === undefined ? null : await resultOf(deps, state, bill),
    error: failure === null ? null : await problemAnswer(deps, operation_id, failure),
    cost: bill?.cost ?? null,
    ...{ accepted_at, started_at, finished_at: unpaid ? null : finished_at },
  };
};

/** An operation and how far it is. */
export const operationStatus = async (
  deps: ApiDeps,
  request: Pick<AnyRequest, 'answer' | 'caller'>,
  operationId: string,
): Promise<OperationBody> => {
  const state = await findOperation(deps, request, operationId);
  if (state.success !== null) await settleReads(deps.reads, request, state.accepted.tenant_id);
  return operationAsItStands(deps, state);
};

/** Accepts work to be done later. Throws the problem that answers why not. */
export const acceptLater = async (
  deps: ApiDeps,
  request: AnyRequest,
  { work, endpoint, begin }: { readonly work: WorkRequest; readonly endpoint: string; readonly begin: Begin },
): Promise<OperationBody> => {
  const accepted = await deps.operations.accept(work, endpoint, begin);
  if (accepted.kind === 'problem') throw workFailure(accepted);
  request.answer.status(202);
  if (accepted.replayed) request.answer.header('Idempotent-Replayed', 'true');
  const state = await deps.operations.streams.stateOf(accepted.operation_id);
  if (state.accepted === null) throw new Error('an operation that was accepted is not in the log');
  return operationAsItStands(deps, { ...state, accepted: state.accepted });
};

/** Cancels an operation that has not ended. */
export const cancelOperationOf = async (
  deps: ApiDeps,
  request: Pick<AnyRequest, 'answer' | 'meta' | 'caller'>,
  operationId: string,
): Promise<OperationBody & { readonly cancelled: boolean }> => {
  const { accepted } = await findOperation(deps, request, operationId);
  const done = await deps.operations.cancel(accepted, request.meta);
  if (done.kind === 'problem') throw workFailure(done);
  return { ...(await operationStatus(deps, request, operationId)), cancelled: done.cancelled };
};
