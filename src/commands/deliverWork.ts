import type { ModelCall } from '@quire/engine/ports/modelWork';
import {
  keptFile,
  type DocumentParser,
  type Inspection,
  type KeptFile,
} from '@quire/engine/ports/documentParser';
import { hasPagesToSee } from '@quire/engine/document/pages';
import {
  type BillingDeps,
  type CalledFor,
  type Delivered,
  type ToQueue,
  type WorkAnswer,
  type LongWork,
  inPlace,
  placeHold,
  release,
  settleDone,
  TO_QUEUE,
  type WorkDone,
  type WorkPlan,
  type WorkRequest,
  type WorkTask,
  type WorkToBill,
} from './work.ts';
import { type Overruns, unlessOverrun } from './countPages.ts';
import { heldElsewhere, misfit, parseProblem, reused, workProblem, type WorkProblem } from './workProblem.ts';
import type { BillingType, DeliveredWork } from '../../domain/account/messages.ts';
import type { Clock } from '../../domain/ports/log.ts';
import { type ChosenModels, ownKeyUse } from './models.ts';
import { requestText } from './operationInput.ts';
import { resultShelf, type StoredResult } from './storedResult.ts';
import type { KeptFacts, UsageLog, WorkEndFact } from './usageLog.ts';
import type { UsageState } from '../../domain/workEvents.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import { holdIdFor, suffixOf } from '../../domain/leased.ts';
import { KEPT_MS, type NamedWork, refusalOf, workNamedBy } from './queue.ts';
import type { HeavySlots } from './slots.ts';

/** Records what a call of a model used. Throws when nothing but this process will remember it. */
export type LogCall = (work: CalledFor, call: ModelCall) => Promise<void>;

/** The calls of one piece of work. */
interface CallLog {
  readonly onCall: (call: ModelCall) => void;
  /** Those that were made so far. */
  readonly made: readonly ModelCall[];
  /** Resolves when all that were made so far are recorded; throws when one is not. */
  readonly logged: () => Promise<void>;
}

/** Logs each call as soon as it has ended: what a provider was paid for is known even if all else fails. */
export const callLog = (log: LogCall, work: Omit<CalledFor, 'earlier'>): CallLog => {
  const logs: Promise<PromiseSettledResult<void>>[] = [];
  const made: ModelCall[] = [];
  return {
    made,
    onCall: (call) => {
      made.push(call);
      // Nobody waits for it before `logged`, and a rejection that nobody waits for ends the process.
      logs.push(Promise.allSettled([log({ ...work, earlier: logs.length }, call)]).then(([one]) => one));
    },
    logged: async () => {
      const failed = (await Promise.all(logs)).find((one) => one.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
  };
};

export interface CountFileDeps {
  readonly parser: DocumentParser;
  /** Most pages of one call, and of an operation. */
  readonly pagesMax: number;
  readonly longPagesMax: number;
  readonly inspectDeadlineMs: number;
  /** Left out: nothing is remembered. */
  readonly overruns?: Overruns | undefined;
}

/** A request, and the file that it keeps open while it is worked on. */
interface AskedWork {
  readonly request: WorkRequest;
  readonly plan: WorkPlan;
  readonly kept: KeptFile;
}

export type CountedFile = Extract<Inspection, { readonly kind: 'ok' }>;

/** A document that is too long to wait for, and may not be too long for an operation. */
const tooLong = (pages: number, { pagesMax, longPagesMax }: CountFileDeps): WorkProblem =>
  workProblem(
    'too_many_pages',
    `The document has ${String(pages)} pages; at most ${String(pagesMax)} are read while you wait. ` +
      `Send the request with the header Prefer: respond-async, which reads up to ${String(longPagesMax)}.`,
    { pages, max_pages: pagesMax },
  );

/**
 * Opens the file of a request as it asks, and counts the pages that it will bill. Without `isWaited` nobody waits
 * for the answer, and it may be long.
 */
export const countedFile = async (
  deps: CountFileDeps,
  { request: { file, opening, signal, tenant_id }, plan: { effort }, kept }: AskedWork,
  { isWaited }: { readonly isWaited: boolean },
): Promise<CountedFile | WorkProblem> => {
  const { parser, inspectDeadlineMs } = deps;
  const pagesMax = isWaited ? deps.pagesMax : deps.longPagesMax;
  const asked = {
    path: file.path,
    fileName: file.file_name,
    effort,
    kept,
    pagesMax,
    pages: opening.pages,
    password: opening.password,
    deadlineMs: inspectDeadlineMs,
    signal,
    share: tenant_id,
  };
  const named = { file, what: 'inspect', request: asked } as const;
  const counted = await unlessOverrun(deps.overruns, named, () => parser.inspect(asked));
  if (counted.kind === 'ok') return counted;
  if (counted.kind === 'too_many_pages' && isWaited) return tooLong(counted.pages, deps);
  return counted.kind === 'no_such_page'
    ? misfit([...opening.at, 'pages'], counted.detail)
    : parseProblem(counted);
};

export interface DoWorkDeps {
  readonly clock: Clock;
  readonly usage: Pick<UsageLog, 'requested' | 'stateOf' | 'isErased'>;
  /** Takes how work ended to the log, now or later. */
  readonly facts: Pick<KeptFacts, 'record'>;
  /** Records what a call of a model used. */
  readonly logCall: LogCall;
}

/** Work on a document, and what it is billed by. */
interface Work {
  readonly request: WorkRequest;
  readonly plan: WorkPlan;
  readonly bill: WorkToBill;
  readonly document_id: string;
  readonly hold_id: string | null;
  /** As in `CalledFor`. */
  readonly free: boolean;
}

/** Work on a file that is open, with the models for its format. */
export type NewWork = Work & {
  readonly models: ChosenModels;
  readonly mime_type: string;
  /** Of the whole document; the chosen ones are billed. */
  readonly document_pages: number;
  readonly kept: KeptFile;
  /** It was billed and has ended before: it is done again for its result alone. */
  readonly isPaid?: boolean;
  /** Of work that is tried again when it fails; left out: there is one. */
  readonly attempt?: number;
  readonly long?: LongWork | undefined;
  readonly keeping?: WorkTask['keeping'];
};

/** Gives what tells the whole milliseconds that passed since this call. */
export const stopwatch = () => {
  const began = performance.now();
  return () => Math.round(performance.now() - began);
};

/** How work ended that succeeded. Where there is no hold there is no burn, and it says itself what is kept of it. */
export const completedEnd = (
  { status, duration_ms, result_sha256 }: DeliveredWork,
  { free_pages, hold_id }: { readonly free_pages: number; readonly hold_id: string | null },
): WorkEndFact['end'] => ({
  kind: 'completed',
  status,
  free_pages,
  duration_ms,
  ...(hold_id === null && result_sha256 !== undefined && { result_sha256 }),
});

/** A burn says how its work ended, so a usage event that is late is only late. */
export const recordEnd = (
  { facts, clock }: Pick<DoWorkDeps, 'facts' | 'clock'>,
  { operation, operation_id, tenant_id, pages, correlation_id, caller }: WorkToBill,
  end: WorkEndFact['end'],
): Promise<void> =>
  facts.record({
    kind: 'work_end',
    operation,
    operation_id,
    tenant_id,
    pages,
    correlation_id,
    end,
    ended_at: clock.now(),
    actor: { key_id: caller.key_id, role: caller.role },
  });

interface Thrown {
  readonly kind: 'thrown';
  readonly error: unknown;
}

const thrown = (error: unknown): Thrown => ({ kind: 'thrown', error });

/** Does the work, and logs its calls of models, whatever came of it. Nothing is billed or given back. */
export const doWork = async (deps: DoWorkDeps, work: NewWork): Promise<WorkDone | WorkProblem | Thrown> => {
  const { request, plan, bill, document_id, models, kept, attempt, long, keeping } = work;
  const calls = callLog(deps.logCall, {
    bill,
    document_id,
    task_id: request.task_id,
    free_tier: work.free,
    ...(attempt !== undefined && { attempt }),
  });
  const tried = async () => {
    if (work.isPaid !== true && !(await deps.usage.requested(work))) return ENDED_ELSEWHERE;
    const { signal } = request;
    const { onCall, made } = calls;
    const done = await plan.run({
      operation_id: bill.operation_id,
      document_id,
      kept,
      models,
      signal,
      onCall,
      long,
      keeping,
      keyUse: () => ownKeyUse(models, made),
      elapsedMs: stopwatch(),
    });
    return request.signal.aborted ? parseProblem({ kind: 'aborted' }) : done;
  };
  const ran = await tried().catch(thrown);
  // Before it is settled: the cost of paid work must not be lost.
  const unlogged = await calls.logged().then(() => undefined, thrown);
  return unlogged ?? ran;
};

/** Another process has ended the work: whatever came of it now could not be delivered. */
const ENDED_ELSEWHERE = workProblem(
  'busy',
  'The work has ended elsewhere. Send the request again in a moment.',
);

/** What work is billed by, from a request and the IDs that were made for it. */
export const workOf = (
  request: WorkRequest,
  plan: WorkPlan,
  ids: Pick<StoredResult, 'operation_id' | 'document_id' | 'pages'> & { readonly billing_type: BillingType },
) => ({
  request,
  plan,
  document_id: ids.document_id,
  bill: {
    operation: plan.operation,
    operation_id: ids.operation_id,
    tenant_id: request.tenant_id,
    mode: plan.mode,
    billing_type: ids.billing_type,
    completion_window: request.completion_window,
    pages: ids.pages,
    project_id: request.project_id,
    task_id: request.task_id,
    tags: request.tags,
    caller: request.caller,
    correlation_id: request.correlation_id,
    fingerprint: request.idempotency?.fingerprint,
  },
});

/** The IDs of work: new ones, or those that follow from what its caller named it. */
interface WorkIds {
  readonly operation_id: string;
  readonly document_id: string;
  readonly usage_id: string;
  /** undefined: a new one. */
  readonly hold_id: string | undefined;
  /** It was billed, and its result is lost: the same work is done again for nothing. */
  readonly paid?: UsageState['requested'];
  /** The hold lasts as long at least, ms. */
  readonly lastsMs: number;
}

/** A result, and the digest under which it is stored; undefined if it is not stored. */
interface Result {
  readonly stored: StoredResult;
  readonly digest: string | undefined;
}

/** IDs of work that its caller did not name. */
const newIds = (
  { clock }: Pick<DeliverDeps, 'clock'>,
  { document }: WorkRequest,
  prefix: WorkPlan['idPrefix'],
): WorkIds => ({
  operation_id: clock.newId(prefix),
  document_id: document?.document_id ?? clock.newId('doc'),
  usage_id: clock.newId('use'),
  hold_id: undefined,
  lastsMs: 0,
});

/** IDs of work that its caller named. */
const namedIds = (work_id: string, { document }: WorkRequest, fingerprint: string) => {
  const suffix = suffixOf(work_id);
  return {
    operation_id: work_id,
    document_id: document?.document_id ?? `doc_${suffix}`,
    usage_id: `use_${suffix}`,
    hold_id: holdIdFor(work_id, fingerprint),
  };
};

/** What is looked up in the object store for a key. */
interface Lookup extends NonNullable<WorkRequest['idempotency']> {
  readonly plan: WorkPlan;
  readonly work_id: string;
  readonly usage: UsageState;
}

/** The result that an earlier, interrupted request stored for a key's work; a problem: it is another's. */
const storedFor = async (
  deps: Pick<DeliverDeps, 'objects' | 'clock' | 'usage'>,
  { tenant_id }: WorkRequest,
  { plan, fingerprint, idempotency_key, work_id, usage }: Lookup,
): Promise<Result | WorkProblem | undefined> => {
  const shelf = resultShelf(deps.objects);
  if (usage.requested !== null) {
    const result = await shelf.any(work_id);
    return result === undefined || result.stored.fingerprint === fingerprint ? result : reused();
  }
  const stored = await shelf.former({ tenant_id, endpoint: plan.endpoint, idempotency_key });
  if (stored?.fingerprint !== fingerprint) return undefined;
  if (Date.parse(deps.clock.now()) - Date.parse(stored.stored_at) >= KEPT_MS) return undefined;
  const { requested } = await deps.usage.stateOf({ ...stored, operation: plan.operation });
  return requested === null ? undefined : { stored, digest: undefined };
};

export interface DeliverDeps extends BillingDeps, CountFileDeps, DoWorkDeps {
  readonly objects: ObjectStore;
  readonly slots: HeavySlots;
  /** Work for which no slot is free goes to the queue, and its caller waits; left out: it is refused. */
  readonly handsOver?: true;
  /** Told of a result that was answered and could not be kept. */
  readonly onUnkept?: ((error: unknown) => void) | undefined;
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
  const code = done.kind === 'thrown' ? plan.brokenAs : done.code;
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
  work: Work,
  { stored, digest: result_sha256 }: Result,
): Promise<Delivered | WorkProblem | LookAgain> => {
  const { bill } = work;
  const { status, duration_ms, document_id, hold_id, usage_id } = stored;
  const delivered = { status, duration_ms, ...(result_sha256 !== undefined && { result_sha256 }) };
  const settled = await settleDone(deps, bill, { hold_id, usage_id, document_id, delivered });
  if (settled.kind === 'hold_not_open') {
    // It was released before it was settled, so it can no longer be settled.
    await recordEnd(deps, bill, { kind: 'failed', code: 'busy' });
    return LOOK_AGAIN;
  }
  if (settled.kind === 'problem') {
    if (settled.code !== 'busy')
      await failedHere(deps, { bill, hold_id }, { code: settled.code, reason: 'failed' });
    return settled;
  }
  if (settled.position !== undefined) deps.wrote(bill.tenant_id, settled.position);
  const { free_pages, cost, delivered: paid } = settled;
  await recordEnd(deps, bill, completedEnd(paid, { free_pages, hold_id }));
  const answered = await paidFor(deps, { stored, digest: result_sha256 }, paid.result_sha256);
  return 'kind' in answered ? answered : { kind: 'delivered', body: answered.body, cost, free_pages };
};

/** Whether a file is the one that work was paid for: its bytes, and the pages that were counted. */
const isSameFile = (
  paid: NonNullable<UsageState['requested']>,
  { file: { sha256 } }: WorkRequest,
  { pages }: CountedFile,
): boolean => paid.document_sha256 === sha256 && paid.pages === pages;

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
    operation_id,
    document_id,
    pages: file.pages,
    billing_type: models.billing_type,
  });
  const known = { ...named, kept, models, mime_type: file.mimeType, document_pages: file.total };
  if (ids.paid != null) {
    if (!isSameFile(ids.paid, request, file)) return reused();
    return { ...known, hold_id: hold_id ?? null, free: false, isPaid: true };
  }
  const hold = await placeHold(deps, named.bill, { hold_id, lastsMs: Math.max(plan.lastsMs, ids.lastsMs) });
  if (hold.kind === 'problem') return hold;
  if (hold.kind === 'other_hold') return heldElsewhere(hold);
  if (hold.kind === 'held') return { ...known, hold_id: hold.hold_id, free: hold.free };
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
    // What its key names now may be the work that the other process has paid for.
    if (done === ENDED_ELSEWHERE) return LOOK_AGAIN;
    return done.kind === 'problem' ? done : { kind: 'worked', held, done };
  } finally {
    asked.kept.close();
  }
};

/** The work from its start: count pages, hold, run, store the result, settle, answer. */
const deliverNew = async (deps: DeliverDeps, named: Named): Promise<Delivered | WorkProblem | LookAgain> => {
  if (named.request.gone !== undefined) return named.request.gone;
  const elapsedMs = stopwatch();
  const outcome = await worked(deps, named);
  if (outcome.kind !== 'worked') return outcome;
  const { done, held } = outcome;
  const { status, body } = done;
  const { idempotency, opening } = named.request;
  const stored: StoredResult = {
    operation_id: held.bill.operation_id,
    pages: held.bill.pages,
    document_id: held.document_id,
    usage_id: named.ids.usage_id,
    hold_id: held.hold_id,
    fingerprint: idempotency?.fingerprint ?? '',
    stored_at: deps.clock.now(),
    status,
    duration_ms: elapsedMs(),
    request: requestText(held.plan.task, opening.pages),
    body,
  };
  const digest = idempotency === null ? await keptIfPossible(deps, stored) : await keep(deps, held, stored);
  return finish(deps, held, { stored, digest });
};

/** Stores the result before it is settled, so that a retry after a crash pays once. */
const keep = async (deps: DeliverDeps, work: Work, stored: StoredResult): Promise<string> => {
  try {
    return await resultShelf(deps.objects).put(stored);
  } catch (error) {
    await failedHere(deps, work, { code: work.plan.brokenAs, reason: 'failed' });
    throw error;
  }
};

/** Without a key nobody asks for it again but people: work that cannot be kept is answered all the same. */
const keptIfPossible = (deps: DeliverDeps, stored: StoredResult): Promise<string | undefined> =>
  resultShelf(deps.objects)
    .put(stored)
    .catch((error: unknown) => {
      deps.onUnkept?.(error);
      return undefined;
    });

/** Settles and answers a result that an earlier, interrupted request has stored. */
const finishStored = (
  deps: DeliverDeps,
  { request, plan }: Pick<Work, 'request' | 'plan'>,
  result: Result,
): Promise<Delivered | WorkProblem | LookAgain> => {
  const { stored } = result;
  const { paged } = plan.models;
  // Usage events name the rates; the bill is at those of the hold.
  const billing_type = paged.kind === 'models' ? paged.billing_type : 'full_service';
  const work = workOf(request, plan, { ...stored, billing_type });
  return finish(deps, { ...work, hold_id: stored.hold_id, free: false }, result);
};

/** How often a key is looked up: other requests of the same key may be ahead each time. */
const LOOKS = 4;

/**
 * Delivers billed work once. The log says what the key names: work of another request or on an erased document is
 * refused, an operation is answered as one, and what an earlier, interrupted request has stored is settled and
 * answered. Otherwise the work is done. The account decides whether it is billed or given up, whichever of several
 * requests comes first, and nothing is burned unless it is delivered.
 */
const deliverKeyed = async (
  deps: DeliverDeps,
  request: WorkRequest,
  { plan, ...key }: NonNullable<WorkRequest['idempotency']> & { readonly plan: WorkPlan },
): Promise<Delivered | ToQueue | WorkProblem> => {
  const { tenant_id } = request;
  let lastsMs = 0;
  for (let look = 1; look <= LOOKS; look += 1) {
    const found = await workNamedBy(deps, { ...key, tenant_id }, plan.endpoint);
    const refused = await refusalOf(deps, found, key.fingerprint);
    if (refused !== undefined) return refused;
    if (found.accepted !== null) return TO_QUEUE;
    const stored = await storedFor(deps, request, { ...key, ...found, plan });
    if (stored !== undefined && 'code' in stored) return stored;
    const began = Date.parse(deps.clock.now());
    const ids = { ...idsOf(found, request, key), lastsMs };
    const answer =
      stored === undefined
        ? await inPlace(deps, request, () => deliverNew(deps, { request, plan, ids }))
        : await finishStored(deps, { request, plan }, stored);
    if (answer.kind !== 'look_again') return answer;
    // Its hold may have run out before it was done: the next one lasts twice as long as that took.
    lastsMs = 2 * (Date.parse(deps.clock.now()) - began);
  }
  return workProblem(
    'busy',
    'Other requests with this Idempotency-Key are ahead. Send it again in a moment.',
  );
};

const idsOf = (
  { work_id, usage: { requested, end } }: Pick<NamedWork, 'work_id' | 'usage'>,
  request: WorkRequest,
  { fingerprint }: NonNullable<WorkRequest['idempotency']>,
) => ({
  ...namedIds(work_id, request, fingerprint),
  paid: end?.happened === 'Completed' ? requested : null,
});

export const deliverWork = async (
  deps: DeliverDeps,
  request: WorkRequest,
  plan: WorkPlan,
): Promise<WorkAnswer> => {
  if (request.handOver !== undefined) return request.handOver(request, plan);
  const { idempotency } = request;
  if (idempotency !== null) return deliverKeyed(deps, request, { plan, ...idempotency });
  const ids = newIds(deps, request, plan.idPrefix);
  const answer = await inPlace(deps, request, () => deliverNew(deps, { request, plan, ids }));
  return answer.kind === 'look_again' ? givenUp() : answer;
};
