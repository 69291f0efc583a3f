import { type BatchState, operationIdOfDocument, requestOfDocument } from '../../domain/batch.ts';
import type { Clock } from '../../domain/ports/log.ts';
import type { OperationState } from '../../domain/operation.ts';
import { isAbandoned, isOver } from '../../domain/leased.ts';
import type { Batches, BatchName } from '../commands/batches.ts';
import { type OperationCommands, type OperationName, operationProblems } from '../commands/operations.ts';
import {
  batchInputs,
  dropInputs,
  LostInput,
  operationFileKeyOf,
  type OperationInputDeps,
  type StackParts,
  stackPartsOn,
} from '../commands/operationInput.ts';
import type { Tags } from '../../domain/kernel/tags.ts';
import { type Uploads, withFetched, type WorkSubject } from '../commands/fetchUpload.ts';
import type { WorkRequest } from '../commands/work.ts';
import { type WorkProblem, workProblem } from '../commands/workProblem.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import type { bringTo, TaskBeginner } from './operations.ts';
import { asCredits, laterBy } from '../../domain/kernel/amounts.ts';
import type { BatchCounts, BatchProgress } from '../../projections/batches.ts';
import { type BatchPlace, budgetPauses, type BudgetPauses, placeIn, type Refusal } from './budgetPauses.ts';
import { each, repeatedly, workAtOnce, type WorkTurns } from './queue.ts';

interface FeedDeps extends OperationInputDeps {
  readonly batches: Batches;
  readonly operations: Pick<OperationCommands, 'accept' | 'abandon' | 'cancel' | 'streams'>;
  readonly uploads: Uploads;
  readonly usage: { readonly isErased: (documentId: string) => Promise<boolean> };
  /** Brings the file of a stack to this machine. */
  readonly bring: ReturnType<typeof bringTo>;
  readonly pauses: BudgetPauses;
  /** Does what an accepted request asked for, as the synchronous call does. */
  readonly begin: TaskBeginner;
  readonly clock: Clock;
  readonly wrote: (tenantId: string, position: bigint) => void;
  readonly onError: (error: unknown) => void;
}

type Accepted = NonNullable<BatchState['accepted']>;
/** What a document gets; `stack`: the file that it is a part of, and the tags that it has there. */
type Input = Awaited<ReturnType<ReturnType<typeof batchInputs>['load']>> & {
  readonly stack?: Pick<StackParts, 'file' | 'source'> & { readonly tags: Tags | undefined };
};

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
  completion_window: accepted.completion_window,
  tags: input.stack === undefined ? accepted.tags : input.stack.tags,
  caller: { key_id: accepted.api_key_id, role: accepted.api_key_role },
  correlation_id: accepted.correlation_id,
  idempotency: { idempotency_key: requestOfDocument({ batch_id, index }).idempotency_key, fingerprint },
  opening: { pages: input.pages, password: input.secrets.password, at: input.at },
  signal,
});

const erasedStack = (): WorkProblem =>
  workProblem('document_not_found', 'The document that this is a part of was erased.');

/** Does work on the file that a stack came in, which lies beside the request of its split. */
const onStack = async <T>(
  deps: FeedDeps,
  asked: {
    readonly batch: Accepted;
    readonly stack: NonNullable<Input['stack']>;
    readonly document_id: string;
  },
  work: (subject: WorkSubject) => Promise<T>,
): Promise<T | WorkProblem> => {
  const { batch, stack, document_id } = asked;
  const { split, batch_id, project_id, task_id } = batch;
  if (await deps.usage.isErased(document_id)) return erasedStack();
  const { operation_id = '', file_sha256 } = split ?? {};
  const stream = await deps.objects.open(operationFileKeyOf(operation_id, file_sha256));
  if (stream === undefined) return LOST;
  const local = await deps.bring(stream);
  try {
    if (local.sha256 !== file_sha256) throw new Error(`the file of ${batch_id} is another than was split`);
    const file = { ...stack.file, path: local.path, sha256: local.sha256 };
    const document = { document_id, source: stack.source ?? 'upload' } as const;
    return await work({ file, document, project_id, task_id });
  } finally {
    await local.discard();
  }
};

/** Accepts a document as the operation that its place in the list names. */
const accepted = async (
  deps: FeedDeps,
  batch: Accepted,
  { index, input, signal }: { readonly index: number; readonly input: Input; readonly signal: AbortSignal },
): Promise<Fed> => {
  const { tenant_id, project_id, task_id, batch_id, document_ids } = batch;
  const document_id = document_ids[index];
  const fetch = { tenant_id, document_id, project_id, task_id, source: 'upload' } as const;
  const begun = (subject: WorkSubject) => {
    const { sha256, bytes, file_name } = subject.file;
    const whole = { ...input, file: { sha256, bytes, file_name }, source: fetch.source };
    const { endpoint } = requestOfDocument({ batch_id, index });
    return deps.operations.accept(workOf(batch, index, { subject, input, signal }), endpoint, (work) =>
      deps.begin(whole, work),
    );
  };
  const { stack } = input;
  const answer =
    stack === undefined
      ? await withFetched(deps.uploads, fetch, begun)
      : await onStack(deps, { batch, stack, document_id: document_id ?? '' }, begun);
  if (answer.kind !== 'problem') return 'fed';
  const mayPass = answer.is_lasting !== true && PASSING.has(answer.code);
  if (answer.code === 'request_aborted' || mayPass) return 'later';
  return { code: answer.code, problem: answer };
};

/** As `accepted`, unless the document waits for a budget. */
const acceptedOrWaiting = async (
  deps: FeedDeps,
  batch: Accepted,
  of: Parameters<typeof accepted>[2],
): Promise<Fed> => {
  const place = { batch_id: batch.batch_id, index: of.index };
  if (deps.pauses.waits(place)) return 'later';
  const fed = await accepted(deps, batch, of);
  if (typeof fed === 'object' && deps.pauses.refused(place, batch.expires_at, fed)) return 'later';
  if (fed !== 'later') deps.pauses.over(place);
  return fed;
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
  if (over !== undefined) return { fed: waitedFor(deps, { batch_id, index }, over), batch };
  const input = await inputOf(deps, batch, index);
  const fed = 'code' in input ? input : await acceptedOrWaiting(deps, batch, { index, input, signal });
  if (fed === 'fed') await cancelledToo(deps, batch, operation_id);
  return { fed, batch };
};

/** A document that waited for a budget until nothing may be begun was refused by that budget. */
const waitedFor = ({ pauses }: FeedDeps, place: Omit<BatchPlace, 'tenant_id'>, over: Refusal): Refusal => {
  const refusal = pauses.over(place);
  return over.code === 'expired' && refusal !== undefined ? refusal : over;
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

/** What the parts of a stack get, by their place. */
const inputOfPart = async (
  deps: FeedDeps,
  { batch_id: id, tenant_id, input_sha256 }: Accepted,
  index: number,
): Promise<Input> => {
  const { file, source, parts, tasks } = await stackPartsOn(deps.objects).load(id, input_sha256);
  const part = parts[index];
  const task = tasks[part?.task ?? 0];
  if (part === undefined || task === undefined) throw new LostInput(`${id} has no such part`);
  const input = await batchInputs(deps).load({ id, tenant_id }, task.input_sha256);
  return { ...input, pages: part.pages, stack: { file, source, tags: task.tags } };
};

/** The request for a document of a batch; a refusal if it is gone. */
const inputOf = async (deps: FeedDeps, batch: Accepted, index: number): Promise<Input | Refusal> => {
  try {
    const { batch_id: id, tenant_id, input_sha256 } = batch;
    return batch.split === undefined
      ? await batchInputs(deps).load({ id, tenant_id }, input_sha256)
      : await inputOfPart(deps, batch, index);
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

interface LeftDocument extends BatchPlace {
  readonly cancelled_at: string | null;
}

/** What read models know of batches. They may be late: the streams decide. */
interface BatchLists {
  /** Those with documents to begin and fewer than this many in the queue, but `except`; tenants take turns. */
  readonly toBegin: (
    openMax: number,
    limit: number,
    except: readonly string[],
  ) => Promise<readonly (BatchName & { readonly open: number })[]>;
  /**
   * Documents begun before `before` without an outcome, but `except`: batches, and documents by their place. Of a
   * cancelled batch all that were begun.
   */
  readonly left: (
    before: string,
    limit: number,
    except: readonly string[],
  ) => Promise<readonly LeftDocument[]>;
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

/** The file of a stack goes with the last of its parts, or with the review if a person may look at it. */
const dropStack = async ({ operations, objects }: BatchWorkerDeps, operation_id: string): Promise<void> => {
  const { success } = await operations.streams.stateOf(operation_id);
  if (success?.review === undefined) await dropInputs(objects, operation_id);
};

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
  const { split } = outcome.state.accepted;
  if (split !== undefined) await dropStack(deps, split.operation_id);
  return true;
};

/** Documents tried a while ago may be tried again; otherwise those that cannot begin would be tried each time. */
const triedAgo = (tried: Map<string, number>, nowMs: number, leftMs: number) => {
  for (const [document, at] of tried) if (nowMs - at >= leftMs) tried.delete(document);
  return (place: LeftDocument): boolean => {
    // Its end is another try.
    const name = `${placeIn(place)} ${place.cancelled_at ?? ''}`;
    if (tried.has(name)) return false;
    tried.set(name, nowMs);
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

const looking = (
  deps: BatchWorkerDeps & FeedDeps,
  feed: ReturnType<typeof feeding>,
  shutdown: AbortSignal,
) => {
  const tried = new Map<string, number>();
  const { lists, clock, pauses, leftMs = LEFT_MS } = deps;
  return async (): Promise<number> => {
    const now = clock.now();
    const paused = pauses.names();
    const cancelled = await each(deps, await lists.toCancel(PAGE), (one) => cancelQueued(deps, one));
    const left = await lists.left(laterBy(now, -leftMs), LEFT_PAGE, paused);
    feed.add(pauses.inOrder(left.filter(triedAgo(tried, performance.now(), leftMs))));
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
  const feedDeps = { ...deps, pauses: budgetPauses(deps) };
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
