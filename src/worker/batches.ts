import type { BudgetReached } from '../../domain/account/budgetMessages.ts';
import { type BatchState, operationIdOfDocument, requestOfDocument } from '../../domain/batch.ts';
import type { Clock } from '../../domain/ports/log.ts';
import type { OperationState } from '../../domain/operation.ts';
import { isAbandoned, isOver } from '../../domain/leased.ts';
import type { Batches, BatchName } from '../commands/batches.ts';
import { type OperationCommands, type OperationName, operationProblems } from '../commands/operations.ts';
import { batchInputs, dropInputs, LostInput, type OperationInputDeps } from '../commands/operationInput.ts';
import { type Uploads, withFetched, type WorkSubject } from '../commands/fetchUpload.ts';
import type { WorkRequest } from '../commands/work.ts';
import { workProblem, type WorkProblem } from '../commands/workProblem.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import type { TaskBeginner } from './operations.ts';
import { asCredits, laterBy } from '../../domain/kernel/amounts.ts';
import type { BatchCounts, BatchProgress } from '../../projections/batches.ts';
import { each, repeatedly, workAtOnce, type WorkTurns } from './queue.ts';

interface FeedDeps extends OperationInputDeps {
  readonly batches: Batches;
  readonly operations: Pick<OperationCommands, 'accept' | 'abandon' | 'cancel' | 'streams'>;
  readonly uploads: Uploads;
  /** Batches that wait for a budget: until when nothing of each is fed. */
  readonly pauses: Map<string, string>;
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
  tags: accepted.tags,
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
  const mayPass = answer.is_lasting !== true && PASSING.has(answer.code);
  if (answer.code === 'request_aborted' || mayPass) return 'later';
  return { code: answer.code, problem: answer };
};

/** How long a batch waits before it asks its budget again, ms: what is held may come back, or its limit be raised. */
const ASKED_AGAIN_MS = 30_000;

/**
 * Until when a batch waits, where a budget has no room for one of its documents now; undefined: it does not wait. That
 * is for room which comes while documents of the batch may still be begun: then the budget begins anew.
 */
const pausedUntil = ({ problem }: Refusal, { expires_at }: Accepted, now: string): string | undefined => {
  if (problem?.code !== 'budget_reached') return undefined;
  const { resets_at, limit_credits, required_credits } = problem.members as BudgetRefusal;
  if (resets_at === null || resets_at >= expires_at || required_credits > limit_credits) return undefined;
  const again = laterBy(now, ASKED_AGAIN_MS);
  return again < resets_at ? again : resets_at;
};

type BudgetRefusal = Pick<BudgetReached, 'resets_at' | 'limit_credits' | 'required_credits'>;

/** As `accepted`, unless the batch waits for a budget; it does from the first document on that has no room. */
const acceptedOrWaiting = async (
  deps: FeedDeps,
  batch: Accepted,
  of: Parameters<typeof accepted>[2],
): Promise<Fed> => {
  if (isPaused(deps, batch.batch_id)) return 'later';
  const fed = await accepted(deps, batch, of);
  const until = typeof fed === 'object' ? pausedUntil(fed, batch, deps.clock.now()) : undefined;
  if (until === undefined) return fed;
  deps.pauses.set(batch.batch_id, until);
  return 'later';
};

const isPaused = ({ pauses, clock }: Pick<FeedDeps, 'pauses' | 'clock'>, batchId: string): boolean => {
  const until = pauses.get(batchId);
  return until !== undefined && clock.now() < until;
};

/** What becomes of one document that was begun. */
const fedOne = async (
  deps: FeedDeps,
  { batch_id, index }: BatchPlace,
  signal: AbortSignal,
): Promise<{ readonly fed: Fed; readonly batch: Accepted | null }> => {
  const state = await deps.batches.stateOf(batch_id);
  const batch = state.accepted;
  if (batch === null || state.ended !== null || state.refused.has(index)) return { fed: 'later', batch };
  const operation_id = operationIdOfDocument({ ...batch, index });
  const operation = await deps.operations.streams.stateOf(operation_id);
  // Whatever its age: its ID is the only one that a document of a batch has.
  if (operation.accepted !== null) return { fed: 'fed', batch };
  const over = overAs(state.cancelled_at, batch, { operation, now: deps.clock.now() });
  if (over !== undefined) return { fed: over, batch };
  const input = await inputOf(deps, batch);
  const fed = 'code' in input ? input : await acceptedOrWaiting(deps, batch, { index, input, signal });
  if (fed === 'fed') await cancelledToo(deps, batch, operation_id);
  return { fed, batch };
};

/** Why a document is not to be accepted any more; undefined: it is. */
const overAs = (
  cancelled_at: string | null,
  { expires_at }: Accepted,
  { operation, now }: { readonly operation: OperationState; readonly now: string },
): Refusal | undefined => {
  if (cancelled_at !== null) return { code: 'cancelled' };
  if (isOver(expires_at, now)) return { code: 'expired' };
  // Given up by somebody who died before it was told.
  return isAbandoned(operation) ? { code: LOST.code, problem: LOST } : undefined;
};

/** A decision about the batch made meanwhile holds for a document that was just accepted, too. */
const cancelledToo = async (
  deps: FeedDeps,
  { tenant_id, batch_id }: Accepted,
  operation_id: string,
): Promise<void> => {
  const { cancelled_at, ended } = await deps.batches.stateOf(batch_id);
  if (cancelled_at === null && ended === null) return;
  await deps.operations.cancel({ tenant_id, operation_id }, systemMeta(deps, operation_id));
};

const LOST = workProblem('internal_error', 'What this batch was to do is gone. Send the request again.');

/** The request of a batch; a refusal for all of its documents if it is gone. */
const inputOf = async (deps: FeedDeps, batch: Accepted): Promise<Input | Refusal> => {
  try {
    const { batch_id: id, tenant_id, input_sha256 } = batch;
    return await batchInputs(deps).load({ id, tenant_id }, input_sha256);
  } catch (error) {
    if (!(error instanceof LostInput)) throw error;
    deps.onError(error);
    return { code: LOST.code, problem: LOST };
  }
};

/**
 * Refuses a document: its operation is closed first, so that nobody accepts it later; its message is stored, and
 * then the refusal is recorded. A document accepted meanwhile is not refused.
 */
const refuse = async (
  deps: FeedDeps,
  batch: Accepted,
  { index, refusal: { code, problem } }: { readonly index: number; readonly refusal: Refusal },
): Promise<void> => {
  const operation_id = operationIdOfDocument({ ...batch, index });
  if (!(await deps.operations.abandon({ operation_id, tenant_id: batch.tenant_id }))) return;
  if (problem !== undefined) await operationProblems(deps.objects).put(operation_id, problem);
  const data = { refused: [{ index, code }] };
  const meta = systemMeta(deps, batch.correlation_id);
  const outcome = await deps.batches.handle(batch, { type: 'RefuseDocuments', data, meta });
  if (outcome.kind === 'done' && outcome.position !== undefined)
    deps.wrote(batch.tenant_id, outcome.position);
};

/** A document of a batch, by its place in the list. */
interface BatchPlace {
  readonly tenant_id: string;
  readonly batch_id: string;
  readonly index: number;
}

/**
 * Makes an operation of a document that was begun. Its ID follows from its place in the list, so it is accepted, held
 * and billed once however many workers feed it, and whichever of them die. A document that cannot be begun now is
 * left to a later look.
 */
const feedDocument = async (deps: FeedDeps, place: BatchPlace, signal: AbortSignal): Promise<void> => {
  const { fed, batch } = await fedOne(deps, place, signal);
  if (batch !== null && typeof fed === 'object')
    await refuse(deps, batch, { index: place.index, refusal: fed });
};

/** What read models know of batches. They may be late: the streams decide. */
interface BatchLists {
  /** Those with documents to begin and fewer than this many in the queue, but `except`; tenants take turns. */
  readonly toBegin: (
    openMax: number,
    limit: number,
    except: readonly string[],
  ) => Promise<readonly (BatchName & { readonly open: number })[]>;
  /** Documents begun before `before` without an outcome, of batches but `except`. */
  readonly left: (
    before: string,
    limit: number,
    except: readonly string[],
  ) => Promise<readonly (BatchName & { readonly index: number })[]>;
  /** Operations of cancelled batches that nobody has started. */
  readonly toCancel: (limit: number) => Promise<readonly OperationName[]>;
  /** Those whose documents all have their outcome. */
  readonly toEnd: (limit: number) => Promise<readonly BatchName[]>;
  readonly progress: (batchId: string) => Promise<BatchProgress | undefined>;
}

interface BatchWorkerDeps extends Omit<FeedDeps, 'pauses'> {
  readonly lists: BatchLists;
  /** How often batches are looked at, ms. */
  readonly pollMs?: number;
  /** After this long a document that was begun and came to nothing is anyone's, ms. */
  readonly leftMs?: number;
  /** Whose turn it is to have a document counted; left out: by the time that it took. */
  readonly turns?: WorkTurns;
}

export interface BatchWorker {
  /** One look at all batches: cancels, begins, takes over, feeds, ends. Gives how many things it did. */
  readonly look: () => Promise<number>;
  readonly start: () => void;
  /** Ends after the documents that are being fed. */
  readonly stop: () => Promise<void>;
}

/**
 * Documents of one batch in the queue at once: enough to keep a fleet busy, and few enough that other work of the
 * tenant is not behind a thousand of them, that files are not copied long before they are read, and that a cancelled
 * batch has little to give back.
 */
export const QUEUED_MAX = 50;
/** Documents that are begun by one event: what a worker that dies leaves to others. */
const BEGUN_AT_ONCE = 10;
/**
 * Documents that are counted at once, with one place for a tenant that has none: a batch of hostile files delays
 * only its own tenant.
 */
export const FED_AT_ONCE = 3;
const PAGE = 50;
/** As many as the open batches of a tenant may have in the queue. */
const LEFT_PAGE = 500;
const LEFT_MS = 30_000;

const placeIn = ({ batch_id, index }: BatchPlace): string => `${batch_id}/${String(index)}`;

/** Claims some documents of a batch; undefined: none. */
const beginSome = async (
  deps: BatchWorkerDeps,
  { open, ...name }: BatchName & { readonly open: number },
): Promise<readonly BatchPlace[]> => {
  const meta = systemMeta(deps, name.batch_id);
  const data = { count: Math.min(BEGUN_AT_ONCE, QUEUED_MAX - open) };
  const outcome = await deps.batches.handle(name, { type: 'BeginDocuments', data, meta });
  if (outcome.kind !== 'done') return [];
  if (outcome.position !== undefined) deps.wrote(name.tenant_id, outcome.position);
  return outcome.events.flatMap((event) =>
    event.type === 'BatchDocumentsBegun'
      ? Array.from({ length: event.data.count }, (_, at) => ({ ...name, index: event.data.first + at }))
      : [],
  );
};

/** An operation of a cancelled batch, unless somebody has started it meanwhile. */
const cancelQueued = async (
  { operations, ...deps }: BatchWorkerDeps,
  name: OperationName,
): Promise<boolean> => {
  const { status, attempts } = await operations.streams.stateOf(name.operation_id);
  if (status !== 'queued' || attempts > 0) return false;
  const done = await operations.cancel(name, systemMeta(deps, name.operation_id));
  return done.kind === 'answered' && done.cancelled;
};

const outcomesIn = ({ queued: _, running: __, ...ended }: BatchCounts) => ended;

const endOne = async (deps: BatchWorkerDeps, name: BatchName): Promise<boolean> => {
  const progress = await deps.lists.progress(name.batch_id);
  if (progress === undefined) return false;
  const { counts, pages, credits_charged } = progress;
  const data = { ...outcomesIn(counts), pages, credits_charged: asCredits(credits_charged) };
  const meta = systemMeta(deps, name.batch_id);
  const outcome = await deps.batches.handle(name, { type: 'EndBatch', data, meta });
  if (outcome.kind !== 'done' || outcome.state.accepted === null) return false;
  if (outcome.position !== undefined) deps.wrote(name.tenant_id, outcome.position);
  await dropInputs(deps.objects, name.batch_id);
  return true;
};

/** Documents tried a while ago may be tried again; otherwise those that cannot begin would be tried each time. */
const triedAgo = (tried: Map<string, number>, nowMs: number, leftMs: number) => {
  for (const [document, at] of tried) if (nowMs - at >= leftMs) tried.delete(document);
  return (place: BatchPlace): boolean => {
    if (tried.has(placeIn(place))) return false;
    tried.set(placeIn(place), nowMs);
    return true;
  };
};

/** Documents on their way to the queue, by their place; tenants take turns by the time that theirs take. */
const feeding = (deps: FeedDeps & Pick<BatchWorkerDeps, 'turns'>, shutdown: AbortSignal) => {
  const waiting = new Map<string, BatchPlace>();
  const working = workAtOnce<BatchPlace>({
    idOf: placeIn,
    waiting: () => Promise.resolve([...waiting.values()]),
    run: async (place) => {
      waiting.delete(placeIn(place));
      await feedDocument(deps, place, shutdown).catch(deps.onError);
      return 'ran';
    },
    onError: deps.onError,
    shutdown,
    places: FED_AT_ONCE,
    turns: deps.turns,
  });
  return {
    add: (places: readonly BatchPlace[]): void => {
      for (const place of places) waiting.set(placeIn(place), place);
    },
    takeUp: working.takeUp,
    settled: working.settled,
    ran: working.ran,
  };
};

/** Batches that wait now. Those whose time is over are forgotten. */
const stillPaused = (pauses: Map<string, string>, now: string): readonly string[] => {
  for (const [batchId, until] of pauses) if (until <= now) pauses.delete(batchId);
  return [...pauses.keys()];
};

const looking = (
  deps: BatchWorkerDeps & FeedDeps,
  feed: ReturnType<typeof feeding>,
  shutdown: AbortSignal,
) => {
  const tried = new Map<string, number>();
  const { lists, clock, pauses, leftMs = LEFT_MS } = deps;
  return async (): Promise<number> => {
    const now = clock.now();
    const paused = stillPaused(pauses, now);
    const cancelled = await each(deps, await lists.toCancel(PAGE), (one) => cancelQueued(deps, one));
    const left = await lists.left(laterBy(now, -leftMs), LEFT_PAGE, paused);
    feed.add(left.filter(triedAgo(tried, performance.now(), leftMs)));
    const waiting = shutdown.aborted ? [] : await lists.toBegin(QUEUED_MAX, PAGE, paused);
    const begun = await each(deps, waiting, async (one) => {
      const places = await beginSome(deps, one);
      feed.add(places);
      return places.length > 0;
    });
    await feed.takeUp();
    const ended = await each(deps, await lists.toEnd(PAGE), (one) => endOne(deps, one));
    return cancelled + begun + ended;
  };
};

/**
 * Turns documents of batches into operations, a few at a time, and says when a batch has ended. Any number of
 * workers may do so at once: each begins other documents, because the batch's stream has an order.
 */
export const batchWorker = (deps: BatchWorkerDeps): BatchWorker => {
  const shutdown = new AbortController();
  const feedDeps = { ...deps, pauses: new Map<string, string>() };
  const feed = feeding(feedDeps, shutdown.signal);
  const look = looking(feedDeps, feed, shutdown.signal);
  const loop = repeatedly(look, deps.pollMs ?? 1_000, deps.onError);
  return {
    look: async () => {
      const before = feed.ran();
      const done = await look();
      await feed.settled();
      return done + feed.ran() - before;
    },
    start: loop.start,
    stop: async () => {
      shutdown.abort();
      await loop.stop();
      await feed.settled();
    },
  };
};
