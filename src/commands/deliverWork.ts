import type { DocumentParser, Inspection } from '../../domain/ports/documentParser.ts';
import type { EventStore } from '../../domain/ports/eventStore.ts';
import type { ObjectStore } from '../../domain/ports/objectStore.ts';
import { placeHold, release, type BillingDeps, type WorkToBill } from './billedWork.ts';
import { callLog, type LogCall } from './callLog.ts';
import type { HeavySlots } from './heavySlots.ts';
import { settleDone } from './settleDone.ts';
import { resultShelf, type StoredResult, type WorkIdentity } from './storedResult.ts';
import type { UsageLog } from './usageLog.ts';
import type { Delivered, WorkDone, WorkPlan, WorkRequest } from './work.ts';
import { parseProblem, workProblem, type WorkProblem } from './workProblem.ts';

export interface DeliverDeps extends BillingDeps {
  readonly store: EventStore;
  readonly objects: ObjectStore;
  readonly parser: DocumentParser;
  readonly usage: UsageLog;
  readonly slots: HeavySlots;
  /** Logs what a call of a model used. */
  readonly logCall: LogCall;
  /** Told of a usage event that was not written: it costs a record, never work that was billed. */
  readonly onError?: (error: unknown) => void;
  /** Most pages of one call. */
  readonly pagesMax: number;
  readonly inspectDeadlineMs: number;
  /** Notes where a tenant's reads must have got to, to see this. */
  readonly wrote: (tenantId: string, position: bigint) => void;
}

interface Work {
  readonly request: WorkRequest;
  readonly plan: WorkPlan;
  readonly bill: WorkToBill;
  readonly document_id: string;
  readonly hold_id: string | null;
  /** As in `CalledFor`. */
  readonly free: boolean;
}

const inspect = (deps: DeliverDeps, { file, signal, tenant_id }: WorkRequest): Promise<Inspection> =>
  deps.parser.inspect({
    path: file.path,
    fileName: file.file_name,
    effort: 'fast',
    pagesMax: deps.pagesMax,
    deadlineMs: deps.inspectDeadlineMs,
    signal,
    share: tenant_id,
  });

/** What became of the work is known by now; a usage log that fails does not change it. */
const quietly = async ({ onError }: DeliverDeps, recorded: Promise<void>): Promise<void> => {
  await recorded.catch((error: unknown) => onError?.(error));
};

/** Does the work under its hold. Whatever fails gives the hold back, and so does a caller that left. */
const runHeld = async (
  deps: DeliverDeps,
  work: Work & { readonly mime_type: string },
): Promise<WorkDone | WorkProblem> => {
  const { request, plan, bill, document_id } = work;
  const calls = callLog((of, call) => quietly(deps, deps.logCall(of, call)), {
    bill,
    document_id,
    task_id: request.task_id,
    free_tier: work.free,
  });
  const attempt = async () => {
    await deps.usage.requested(work);
    const { onCall } = calls;
    const { operation_id } = bill;
    const done = await plan.run({ operation_id, document_id, signal: request.signal, onCall });
    return request.signal.aborted ? parseProblem({ kind: 'aborted' }, plan.timedOut) : done;
  };
  const done = await attempt().catch((error: unknown) => ({ kind: 'thrown', error }) as const);
  await calls.logged();
  if (done.kind === 'done') return done;
  const cancelled = request.signal.aborted;
  await release(deps, bill, { hold_id: work.hold_id, reason: cancelled ? 'cancelled' : 'failed' });
  const code = done.kind === 'thrown' ? plan.timedOut : done.code;
  await quietly(deps, deps.usage.failed(bill, code));
  if (done.kind === 'thrown') throw done.error;
  return done;
};

const finish = async (
  deps: DeliverDeps,
  work: Work,
  stored: StoredResult,
): Promise<Delivered | WorkProblem> => {
  const { project_id, task_id } = work.request;
  const scope = { project_id, task_id, document_id: stored.document_id };
  const bill = await settleDone(deps, work.bill, { ...stored, scope });
  if (bill.kind === 'problem') return bill;
  if (bill.position !== undefined) deps.wrote(work.bill.tenant_id, bill.position);
  const { status, duration_ms } = stored;
  const { free_pages } = bill;
  await quietly(deps, deps.usage.completed(work.bill, { status, free_pages, duration_ms }));
  return { kind: 'delivered', body: stored.body, cost: bill.cost, free_pages };
};

const identityOf = (
  { tenant_id, idempotency }: WorkRequest,
  { endpoint }: WorkPlan,
): WorkIdentity | undefined => (idempotency === null ? undefined : { tenant_id, endpoint, ...idempotency });

const workOf = (
  request: WorkRequest,
  plan: WorkPlan,
  ids: Pick<StoredResult, 'operation_id' | 'document_id' | 'pages'>,
) => ({
  request,
  plan,
  document_id: ids.document_id,
  bill: {
    operation: plan.operation,
    operation_id: ids.operation_id,
    tenant_id: request.tenant_id,
    mode: plan.mode,
    billing_type: plan.models.billing_type,
    pages: ids.pages,
    caller: request.caller,
    correlation_id: request.correlation_id,
  },
});

/** The work from its start: count pages, hold, run, store the result, settle, answer. */
const deliverNew = async (
  deps: DeliverDeps,
  request: WorkRequest,
  plan: WorkPlan,
): Promise<Delivered | WorkProblem> => {
  const began = performance.now();
  const file = await inspect(deps, request);
  if (file.kind !== 'ok') return parseProblem(file, plan.timedOut);
  const ids = {
    operation_id: deps.clock.newId(plan.idPrefix),
    document_id: request.document?.document_id ?? deps.clock.newId('doc'),
    pages: file.pages,
  };
  const named = workOf(request, plan, ids);
  const hold = await placeHold(deps, named.bill);
  if (hold.kind === 'problem') return hold;
  if (hold.kind === 'hold_not_open') throw new Error('a new operation has a hold already');

  const work: Work = { ...named, hold_id: hold.hold_id, free: hold.free };
  const done = await runHeld(deps, { ...work, mime_type: file.mimeType });
  if (done.kind === 'problem') return done;

  const identity = identityOf(request, plan);
  const stored: StoredResult = {
    ...ids,
    usage_id: deps.clock.newId('use'),
    hold_id: hold.hold_id,
    fingerprint: identity?.fingerprint ?? '',
    stored_at: deps.clock.now(),
    status: done.status,
    duration_ms: Math.round(performance.now() - began),
    body: done.body,
  };
  if (identity !== undefined) await keep(deps, work, { identity, stored });
  return finish(deps, work, stored);
};

/** Stores the result before it is settled, so that a retry after a crash pays once. */
const keep = async (
  deps: DeliverDeps,
  work: Work,
  { identity, stored }: { readonly identity: WorkIdentity; readonly stored: StoredResult },
): Promise<void> => {
  try {
    await resultShelf(deps.objects).put(identity, stored);
  } catch (error) {
    await release(deps, work.bill, { hold_id: work.hold_id, reason: 'failed' });
    throw error;
  }
};

/**
 * Delivers billed work once: a result that an earlier, interrupted request stored is settled and
 * answered; otherwise the work is done. Nothing is burned unless it is delivered.
 */
export const deliverWork = async (
  deps: DeliverDeps,
  request: WorkRequest,
  plan: WorkPlan,
): Promise<Delivered | WorkProblem> => {
  const free = deps.slots.take(request.tenant_id);
  if (free === undefined)
    return workProblem(
      'busy',
      'The server is working on as many documents as it can. Try again in a moment.',
    );
  try {
    const identity = identityOf(request, plan);
    const stored = identity && (await resultShelf(deps.objects).find(identity, deps.clock.now()));
    if (stored === undefined) return await deliverNew(deps, request, plan);
    return await finish(
      deps,
      { ...workOf(request, plan, stored), hold_id: stored.hold_id, free: false },
      stored,
    );
  } finally {
    free();
  }
};
