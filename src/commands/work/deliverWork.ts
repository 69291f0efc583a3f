import type { BillingType } from '../../../domain/account/words.ts';
import { hasPagesToSee } from '@quire/engine/document/pages';
import { keptFile } from '@quire/engine/ports/keptFile';
import type { ObjectStore } from '../../../domain/ports/objectStore.ts';
import { placeHold, release, settleDone, type BillingDeps } from './billedWork.ts';
import {
  doWork,
  recordEnd,
  stopwatch,
  workOf,
  type DoWorkDeps,
  type NewWork,
  type Work,
} from './heldWork.ts';
import { countedFile, type AskedWork, type CountedFile, type CountFileDeps } from './countedFile.ts';
import type { HeavySlots } from './heavySlots.ts';
import { resultShelf, type StoredResult, type WorkIdentity } from './storedResult.ts';
import type { Delivered, HandedOver, WorkDone, WorkPlan, WorkRequest } from './work.ts';
import { workProblem, type WorkProblem } from './workProblem.ts';

export interface DeliverDeps extends BillingDeps, CountFileDeps, DoWorkDeps {
  readonly objects: ObjectStore;
  readonly slots: HeavySlots;
  /** Notes where a tenant's reads must have got to, to see this. */
  readonly wrote: (tenantId: string, position: bigint) => void;
}

/** Does the work under its hold. Whatever fails gives the hold back, and so does a caller that left. */
const runHeld = async (deps: DeliverDeps, work: NewWork): Promise<WorkDone | WorkProblem> => {
  const { request, plan, bill, hold_id } = work;
  const done = await doWork(deps, work);
  if (done.kind === 'done') return done;
  await release(deps, bill, { hold_id, reason: request.signal.aborted ? 'cancelled' : 'failed' });
  const code = done.kind === 'thrown' ? plan.timedOut : done.code;
  await recordEnd(deps, bill, { kind: 'failed', code });
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
  const { status, duration_ms } = stored;
  const delivered = { status, duration_ms };
  const bill = await settleDone(deps, work.bill, { ...stored, scope, delivered });
  if (bill.kind === 'problem') return bill;
  if (bill.position !== undefined) deps.wrote(work.bill.tenant_id, bill.position);
  const { free_pages } = bill;
  await recordEnd(deps, work.bill, { kind: 'completed', free_pages, ...delivered });
  return { kind: 'delivered', body: stored.body, cost: bill.cost, free_pages };
};

const identityOf = (
  { tenant_id, idempotency }: WorkRequest,
  { endpoint }: WorkPlan,
): WorkIdentity | undefined => (idempotency === null ? undefined : { tenant_id, endpoint, ...idempotency });

/**
 * The hold at the rates of what was done. An own key that was never used pays for nothing: its hold gives way
 * to one at full service, and work that the account cannot pay so is not delivered.
 */
const heldAs = async (
  deps: DeliverDeps,
  work: NewWork,
  billing_type: BillingType,
): Promise<NewWork | WorkProblem> => {
  if (billing_type === work.bill.billing_type) return work;
  const bill = { ...work.bill, billing_type };
  await release(deps, work.bill, { hold_id: work.hold_id, reason: 'cancelled' });
  const hold = await placeHold(deps, bill);
  if (hold.kind === 'held') return { ...work, bill, hold_id: hold.hold_id };
  if (hold.kind !== 'problem') throw new Error('an operation has a hold beside the one that was released');
  await recordEnd(deps, bill, { kind: 'failed', code: hold.code });
  return hold;
};

/** A new operation on a file, with its models and its hold. */
const heldFor = async (
  deps: DeliverDeps,
  { request, plan, kept }: AskedWork,
  file: CountedFile,
): Promise<NewWork | WorkProblem> => {
  const models = hasPagesToSee(file.mimeType) ? plan.models.paged : plan.models.unpaged;
  if (models.kind === 'problem') return models;
  const ids = {
    operation_id: deps.clock.newId(plan.idPrefix),
    document_id: request.document?.document_id ?? deps.clock.newId('doc'),
    pages: file.pages,
  };
  const named = workOf(request, plan, { ...ids, billing_type: models.billing_type });
  const hold = await placeHold(deps, named.bill);
  if (hold.kind === 'problem') return hold;
  if (hold.kind !== 'held') throw new Error('a new operation has a hold already');
  const known = { mime_type: file.mimeType, document_pages: file.total };
  return { ...named, ...known, kept, models, hold_id: hold.hold_id, free: hold.free };
};

/** Work that was done, and what it was held for. */
type Worked = { readonly kind: 'worked'; readonly held: NewWork; readonly done: WorkDone };

/** Counts, holds and works on a file that is opened once, and put away however that ends. */
const worked = async (
  deps: DeliverDeps,
  { request, plan }: Pick<Work, 'request' | 'plan'>,
): Promise<Worked | WorkProblem> => {
  const asked = { request, plan, kept: keptFile() };
  try {
    const file = await countedFile(deps, asked, { isWaited: true });
    if (file.kind === 'problem') return file;
    const held = await heldFor(deps, asked, file);
    if ('code' in held) return held;
    const done = await runHeld(deps, held);
    return done.kind === 'problem' ? done : { kind: 'worked', held, done };
  } finally {
    asked.kept.close();
  }
};

/** The work from its start: count pages, hold, run, store the result, settle, answer. */
const deliverNew = async (
  deps: DeliverDeps,
  request: WorkRequest,
  plan: WorkPlan,
): Promise<Delivered | WorkProblem> => {
  const elapsedMs = stopwatch();
  const outcome = await worked(deps, { request, plan });
  if (outcome.kind === 'problem') return outcome;
  const { done } = outcome;
  const work = await heldAs(deps, outcome.held, done.billing_type);
  if ('code' in work) return work;

  const identity = identityOf(request, plan);
  const { operation_id, pages } = work.bill;
  const stored: StoredResult = {
    ...{ operation_id, pages, document_id: work.document_id },
    usage_id: deps.clock.newId('use'),
    hold_id: work.hold_id,
    fingerprint: identity?.fingerprint ?? '',
    stored_at: deps.clock.now(),
    status: done.status,
    billing_type: done.billing_type,
    duration_ms: elapsedMs(),
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
): Promise<Delivered | HandedOver | WorkProblem> => {
  if (request.handOver !== undefined) return request.handOver(request, plan);
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
    const { paged } = plan.models;
    const asked = paged.kind === 'models' ? paged.billing_type : 'full_service';
    const work = workOf(request, plan, { ...stored, billing_type: stored.billing_type ?? asked });
    return await finish(deps, { ...work, hold_id: stored.hold_id, free: false }, stored);
  } finally {
    free();
  }
};
