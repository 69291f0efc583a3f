import { hasPagesToSee } from '@quire/engine/document/pages';
import { keptFile } from '@quire/engine/ports/keptFile';
import type { BillingType } from '../../../domain/account/messages.ts';
import type { ObjectStore } from '../../../domain/ports/services.ts';
import { placeHold, release, settleDone, type BillingDeps } from './billedWork.ts';
import { countedFile, type AskedWork, type CountedFile, type CountFileDeps } from './countedFile.ts';
import type { HeavySlots } from './heavySlots.ts';
import {
  doWork,
  recordEnd,
  stopwatch,
  workOf,
  type DoWorkDeps,
  type NewWork,
  type Work,
} from './heldWork.ts';
import { keyed, newIds, storedFor, type Result, type WorkIds } from './keyedWork.ts';
import { resultShelf, type StoredResult } from './results/storedResult.ts';
import type { Delivered, HandedOver, WorkDone, WorkPlan, WorkRequest } from './work.ts';
import { reused, workProblem, type WorkProblem } from './workProblem.ts';

export interface DeliverDeps extends BillingDeps, CountFileDeps, DoWorkDeps {
  readonly objects: ObjectStore;
  readonly slots: HeavySlots;
  /** Notes where a tenant's reads must have got to, to see this. */
  readonly wrote: (tenantId: string, position: bigint) => void;
}

/** This use of the key is over, or another request is ahead: what it names now has to be looked up again. */
interface LookAgain {
  readonly kind: 'look_again';
}
const LOOK_AGAIN: LookAgain = { kind: 'look_again' };

const givenUp = (): WorkProblem =>
  workProblem(
    'busy',
    'The work took longer than credits are set aside for, and nothing was billed. Send the request again.',
  );

/** Tells that the work failed, if it is this request that has ended it: it gave the hold back. */
const failedHere = async (
  deps: DeliverDeps,
  { bill, hold_id }: Pick<NewWork, 'bill' | 'hold_id'>,
  { code, reason }: { readonly code: string; readonly reason: 'failed' | 'cancelled' },
): Promise<void> => {
  if (await release(deps, bill, { hold_id, reason })) await recordEnd(deps, bill, { kind: 'failed', code });
};

/** Does the work under its hold. Whatever fails gives the hold back, and so does a caller that left. */
const runHeld = async (deps: DeliverDeps, work: NewWork): Promise<WorkDone | WorkProblem> => {
  const { request, plan } = work;
  const done = await doWork(deps, work);
  if (done.kind === 'done') return done;
  const code = done.kind === 'thrown' ? plan.timedOut : done.code;
  await failedHere(deps, work, { code, reason: request.signal.aborted ? 'cancelled' : 'failed' });
  if (done.kind === 'thrown') throw done.error;
  return done;
};

/** The result that was paid for: another request may have been first, with one of its own. */
const paidFor = async (
  { objects }: DeliverDeps,
  { stored, digest }: Result,
  paid: string | undefined,
): Promise<StoredResult | WorkProblem> => {
  if (paid === undefined || paid === digest) return stored;
  const other = await resultShelf(objects).find(stored.operation_id, paid);
  if (other === undefined) return stored;
  return other.fingerprint === stored.fingerprint ? other : reused();
};

/** Settles a result and answers with the one that was paid for: another request may have been first. */
const finish = async (
  deps: DeliverDeps,
  work: Work & { readonly held_as?: BillingType },
  { stored, digest: result_sha256 }: Result,
): Promise<Delivered | WorkProblem | LookAgain> => {
  const { bill, held_as } = work;
  const { project_id, task_id } = work.request;
  const { status, duration_ms, document_id, hold_id, usage_id } = stored;
  const delivered = { status, duration_ms, ...(result_sha256 !== undefined && { result_sha256 }) };
  const scope = { project_id, task_id, document_id };
  const settling = { hold_id, usage_id, scope, delivered, ...(held_as !== undefined && { held_as }) };
  const settled = await settleDone(deps, bill, settling);
  if (settled.kind === 'hold_not_open') {
    // It was given back before it was settled, so nobody can settle it any more.
    await recordEnd(deps, bill, { kind: 'failed', code: 'busy' });
    return LOOK_AGAIN;
  }
  if (settled.kind === 'problem') {
    if (settled.code !== 'busy')
      await failedHere(deps, { bill, hold_id }, { code: settled.code, reason: 'failed' });
    return settled;
  }
  if (settled.position !== undefined) deps.wrote(bill.tenant_id, settled.position);
  const { free_pages, cost, result_sha256: paid } = settled;
  await recordEnd(deps, bill, { kind: 'completed', free_pages, status, duration_ms });
  const answered = await paidFor(deps, { stored, digest: result_sha256 }, paid);
  return 'kind' in answered ? answered : { kind: 'delivered', body: answered.body, cost, free_pages };
};

/** The work on a file, with its models and its hold. */
const heldFor = async (
  deps: DeliverDeps,
  { request, plan, kept, ids }: AskedWork & { readonly ids: WorkIds },
  file: CountedFile,
): Promise<NewWork | WorkProblem | LookAgain> => {
  const models = hasPagesToSee(file.mimeType) ? plan.models.paged : plan.models.unpaged;
  if (models.kind === 'problem') return models;
  const { operation_id, document_id, hold_id } = ids;
  const named = workOf(request, plan, {
    ...{ operation_id, document_id, pages: file.pages, billing_type: models.billing_type },
  });
  const known = { mime_type: file.mimeType, document_pages: file.total };
  if (ids.isPaid)
    return { ...named, ...known, kept, models, hold_id: hold_id ?? null, free: false, isPaid: true };
  const hold = await placeHold(deps, named.bill, hold_id === undefined ? undefined : { hold_id });
  if (hold.kind === 'problem') return hold;
  if (hold.kind === 'other_hold') return reused();
  if (hold.kind === 'held')
    return { ...named, ...known, kept, models, hold_id: hold.hold_id, free: hold.free };
  // A process that died has given it back, or it ran out: that is written down, and the key names other work.
  if (!hold.isBilled) await recordEnd(deps, named.bill, { kind: 'failed', code: 'busy' });
  return LOOK_AGAIN;
};

/** Work that was done, and what it was held for. */
type Worked = { readonly kind: 'worked'; readonly held: NewWork; readonly done: WorkDone };

interface Named extends Pick<Work, 'request' | 'plan'> {
  readonly ids: WorkIds;
}

/** Counts, holds and works on a file that is opened once, and put away however that ends. */
const worked = async (deps: DeliverDeps, named: Named): Promise<Worked | WorkProblem | LookAgain> => {
  const asked = { ...named, kept: keptFile() };
  try {
    const file = await countedFile(deps, asked, { isWaited: true });
    if (file.kind === 'problem') return file;
    const held = await heldFor(deps, asked, file);
    if ('code' in held || 'kind' in held) return held;
    const done = await runHeld(deps, held);
    return done.kind === 'problem' ? done : { kind: 'worked', held, done };
  } finally {
    asked.kept.close();
  }
};

/** The work from its start: count pages, hold, run, store the result, settle, answer. */
const deliverNew = async (deps: DeliverDeps, named: Named): Promise<Delivered | WorkProblem | LookAgain> => {
  const elapsedMs = stopwatch();
  const outcome = await worked(deps, named);
  if (outcome.kind !== 'worked') return outcome;
  const { done, held } = outcome;
  const { status, billing_type, body } = done;
  const work = { ...held, bill: { ...held.bill, billing_type }, held_as: held.bill.billing_type };
  const { idempotency } = named.request;
  const stored: StoredResult = {
    ...{ operation_id: work.bill.operation_id, pages: work.bill.pages, document_id: work.document_id },
    ...{ usage_id: named.ids.usage_id, hold_id: work.hold_id, fingerprint: idempotency?.fingerprint ?? '' },
    ...{ stored_at: deps.clock.now(), status, billing_type, duration_ms: elapsedMs(), body },
  };
  const digest = idempotency === null ? undefined : await keep(deps, work, stored);
  return finish(deps, work, { stored, digest });
};

/** Stores the result before it is settled, so that a retry after a crash pays once. */
const keep = async (deps: DeliverDeps, work: Work, stored: StoredResult): Promise<string> => {
  try {
    return await resultShelf(deps.objects).put(stored);
  } catch (error) {
    await failedHere(deps, work, { code: work.plan.timedOut, reason: 'failed' });
    throw error;
  }
};

/** Settles and answers a result that an earlier, interrupted request has stored. */
const finishStored = (
  deps: DeliverDeps,
  { request, plan }: Pick<Work, 'request' | 'plan'>,
  result: Result,
): Promise<Delivered | WorkProblem | LookAgain> => {
  const { stored } = result;
  const { paged } = plan.models;
  const asked = paged.kind === 'models' ? paged.billing_type : 'full_service';
  const work = workOf(request, plan, { ...stored, billing_type: stored.billing_type ?? asked });
  // What it was held at is not known here; only a request that gave a key of its own may have held it at less.
  return finish(deps, { ...work, held_as: asked, hold_id: stored.hold_id, free: false }, result);
};

/** How often a key is looked up: other requests of the same key may be ahead each time. */
const LOOKS = 4;

/**
 * Delivers billed work once: what an earlier, interrupted request has stored is settled and answered, if the log
 * knows that it was asked for; otherwise the work is done. The account decides whether the work is billed or given
 * up, whoever of several requests comes first, and nothing is burned unless it is delivered.
 */
const deliverKeyed = async (
  deps: DeliverDeps,
  request: WorkRequest,
  named: NonNullable<WorkRequest['idempotency']> & { readonly plan: WorkPlan },
): Promise<Delivered | WorkProblem> => {
  const { plan } = named;
  for (let look = 1; look <= LOOKS; look += 1) {
    const found = { ...named, ...(await keyed(deps, request, named)) };
    const stored = await storedFor(deps, request, found);
    if (stored !== undefined && 'code' in stored) return stored;
    const isPaid = found.state.end?.happened === 'Completed';
    const answer =
      stored === undefined
        ? await deliverNew(deps, { request, plan, ids: { ...found.ids, isPaid } })
        : await finishStored(deps, { request, plan }, stored);
    if (answer.kind !== 'look_again') return answer;
  }
  return workProblem(
    'busy',
    'Other requests with this Idempotency-Key are ahead. Send it again in a moment.',
  );
};

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
    const { idempotency } = request;
    if (idempotency !== null) return await deliverKeyed(deps, request, { plan, ...idempotency });
    const answer = await deliverNew(deps, { request, plan, ids: newIds(deps, request, plan.idPrefix) });
    return answer.kind === 'look_again' ? givenUp() : answer;
  } finally {
    free();
  }
};
