import { z } from 'zod';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { isDecided, type ReviewState } from '../../domain/review.ts';
import type { KnownReview, ReviewCommands } from '../commands/reviews.ts';
import type { Clock } from '../../domain/ports/log.ts';
import type { OperationCommands, OperationEndpoint, QueuedOperation } from '../commands/operations.ts';
import type { HeavySlots } from '../commands/slots.ts';
import { inProgress, noPlace } from '../commands/workProblem.ts';
import type { Queries, ReadYourWrites } from '../queries/queries.ts';
import type { OperationState } from '../../domain/operation.ts';
import { conversionEnds } from '../commands/convert.ts';
import { extractionEnds } from '../commands/extract.ts';
import { sortingEnds } from '../commands/sortDocument.ts';
import type { Cost, WorkRequest } from '../commands/work.ts';
import { jsonPieces, type JsonPieces, parsedPieces, piecesOf } from '../commands/storedResult.ts';
import { type RawBody, type AnyRequest, routesOver } from '../server/routes.ts';
import { Problem, problem, workFailure } from '../server/problems.ts';
import { type ProblemCode, PROBLEMS } from '../problemTable.ts';
import { JSON_TYPE } from '../server/jsonBody.ts';
import { settleReads } from '../server/answers.ts';
import {
  cancelledOperation,
  type OperationBody,
  operationBody,
  operationList,
  operationParams,
  operationsQuery,
} from './schemas/operationSchemas.ts';
import { checkKnown, pageFacts } from './schemas/basics.ts';
import { FILE_TYPES, FILE_WORDS, fileQuery, wantedFile, workFile } from './resultFiles.ts';

/** What these routes need. */
export interface OperationsDeps {
  readonly queries: Pick<Queries, 'balanceOfTenant' | 'costOfOperation' | 'operationsOfTenant'>;
  readonly reads: ReadYourWrites;
  readonly operations: OperationCommands;
  readonly reviews: Pick<ReviewCommands, 'ofOperation' | 'decided' | 'statusOf'>;
  readonly clock: Clock;
  /** Room for calls that wait for the queue because no place was free for their work. */
  readonly waiting: Pick<HeavySlots, 'take'>;
}

const { get, post } = routesOver<OperationsDeps>();

type Known = OperationState & { readonly accepted: NonNullable<OperationState['accepted']> };
type Begin = Parameters<OperationsDeps['operations']['accept']>[2];

const OPERATION_ID = /^op_[A-Za-z0-9-]{1,64}$/;

/** An operation of the tenant, from the log. 404 for another tenant's: it does not say that there is one. */
const findOperation = async (
  { operations }: OperationsDeps,
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
  /** When it was billed, or ended if it is not billed. */
  readonly at: string;
}

const DAY_MS = 24 * 3_600_000;

/** Its cost; undefined: not billed yet. */
const billed = async (
  { queries }: OperationsDeps,
  { accepted, finished_at }: Known,
): Promise<Billed | undefined> => {
  const { hold_id, operation_id, pages } = accepted;
  const ended_at = finished_at ?? accepted.accepted_at;
  if (hold_id === null) {
    const cost = { credits_used: 0, pages, balance_remaining: null };
    return { cost, free_pages: 0, at: ended_at };
  }
  const row = await queries.costOfOperation(operation_id);
  if (row?.credits_charged == null) return undefined;
  const cost = { credits_used: row.credits_charged, pages, balance_remaining: row.balance_after };
  return { cost, free_pages: row.free_pages ?? 0, at: row.charged_at ?? ended_at };
};

/** What each kind of work answers once it is billed. */
export const ENDS = {
  extract: extractionEnds,
  to_markdown: conversionEnds,
  classify: sortingEnds,
  split: sortingEnds,
} as const;

const resultOf = async (
  { operations, reviews, clock }: OperationsDeps,
  { review, ...state }: Known & { readonly review: KnownReview | undefined },
  bill: Billed,
): Promise<JsonPieces | null> => {
  const ends = ENDS[state.accepted.kind](bill);
  const answer = review && (await reviews.decided(review, ends));
  if (answer !== undefined) return piecesOf(answer);
  const days = (Date.parse(clock.now()) - Date.parse(bill.at)) / DAY_MS;
  // All are kept for a day, so most need not be asked for.
  if (days >= 1 && days >= (await operations.resultDays(state.accepted.tenant_id))) return null;
  return (await operations.result(state, ends)) ?? null;
};

/** The problem that an operation ended with, or why there is none; its message is kept for a day. */
export const problemAnswer = async (
  { operations }: OperationsDeps,
  operationId: string,
  code: string,
): Promise<NonNullable<OperationBody['error']>> => {
  const known: ProblemCode = code in PROBLEMS ? (code as ProblemCode) : 'internal_error';
  const { status, title } = PROBLEMS[known];
  const stored = await operations.problem(operationId);
  return { code, status, title, detail: stored?.detail ?? `${title}.`, ...stored?.members };
};

/** What a person has made of it. */
const reviewedAs = (review: ReviewState): OperationBody['status'] => {
  if (review.rejection !== null) return 'failed';
  if (!isDecided(review)) return 'needs_review';
  return review.decision?.absent === undefined ? 'succeeded' : 'partial';
};

/** The words of a rejection, by its reason. */
const REJECTED: Readonly<Record<NonNullable<ReviewState['rejection']>['reason'], string>> = {
  illegible: 'A person has rejected the result: the document cannot be read.',
  wrong_document: 'A person has rejected the result: it is another document than was expected.',
  value_missing: 'A person has rejected the result: the document does not say a value that is needed.',
  other: 'A person has rejected the result.',
};

const rejectionAnswer = ({
  reason,
}: NonNullable<ReviewState['rejection']>): NonNullable<OperationBody['error']> => {
  const { status, title } = PROBLEMS.review_rejected;
  return { code: 'review_rejected', status, title, detail: REJECTED[reason], reason };
};

/** A review that nobody decided in time says nothing of it: it is what it was before somebody had to look. */
const endedAs = (
  { reviews }: Pick<OperationsDeps, 'reviews'>,
  { status, success }: Known,
  review: KnownReview | undefined,
): OperationBody['status'] => {
  const reviewed = review && reviewedAs(review.state);
  const isPast = review !== undefined && reviews.statusOf(review) === 'expired';
  if (reviewed !== undefined && !(reviewed === 'needs_review' && isPast)) return reviewed;
  return success?.outcome === 'partial' ? 'partial' : status;
};

/** An operation whose result is still stored. */
export type StandingOperation = Omit<OperationBody, 'result'> & { readonly result: JsonPieces | null };

/** What came of an operation, and whether it is paid for: done and not paid, the reaper sees to it. */
const endOf = async (deps: OperationsDeps, state: Known, review: KnownReview | undefined) => {
  const { success, failure, accepted } = state;
  const rejection = review?.state.rejection ?? null;
  const refused = rejection === null ? null : rejectionAnswer(rejection);
  const error = failure === null ? refused : await problemAnswer(deps, accepted.operation_id, failure.code);
  const bill = success === null ? undefined : await billed(deps, state);
  if (bill === undefined)
    return { unpaid: success !== null, result: null, error: refused === null ? error : null, cost: null };
  return { unpaid: false, result: await resultOf(deps, { ...state, review }, bill), error, cost: bill.cost };
};

/** An operation as it stands, with what came of it. */
export const operationAsItStands = async (deps: OperationsDeps, state: Known): Promise<StandingOperation> => {
  const { accepted, reached, started_at, finished_at } = state;
  const { operation_id, kind, tenant_id, project_id, task_id, document_id, accepted_at, pages } = accepted;
  const review = await deps.reviews.ofOperation(state);
  const { unpaid, ...end } = await endOf(deps, state, review);
  return {
    operation_id,
    operation: kind,
    tenant_id,
    project_id,
    task_id,
    document_id,
    tags: accepted.tags ?? {},
    status: unpaid ? 'running' : endedAs(deps, state, review),
    pages: { done: reached?.pages_done ?? 0, total: pages },
    ...end,
    review_id: review?.review_id ?? null,
    accepted_at,
    started_at,
    finished_at: unpaid ? null : finished_at,
  };
};

const json = (members: object): RawBody => ({ contentType: JSON_TYPE, body: jsonPieces(members) });

const standing = async (
  deps: OperationsDeps,
  request: Pick<AnyRequest, 'answer' | 'caller'>,
  operationId: string,
): Promise<StandingOperation> => {
  const state = await findOperation(deps, request, operationId);
  if (state.success !== null) await settleReads(deps.reads, request, state.accepted.tenant_id);
  return operationAsItStands(deps, state);
};

/** The answer of the synchronous call, once it is wanted as a whole. */
export const parsedAnswer = async (result: JsonPieces | null): Promise<JsonObject | null> =>
  result && ((await parsedPieces(result)) as JsonObject);

interface Later {
  readonly work: WorkRequest;
  readonly endpoint: OperationEndpoint;
  readonly begin: Begin;
}

/**
 * Accepts work to be done later. Where the request's key names work whose caller waited, the answer is that of the
 * call. Throws the problem that answers why not.
 */
const acceptLater = async (
  deps: OperationsDeps,
  request: AnyRequest,
  later: Later,
): Promise<OperationBody | JsonObject> => {
  const { work, endpoint, begin } = later;
  const accepted = await deps.operations.accept(work, endpoint, begin);
  if (accepted.kind === 'problem') throw workFailure(accepted);
  if (accepted.kind === 'accepted') return acceptedBody(deps, request, accepted);
  const answer = await begin({ ...work, isWaited: true });
  if (answer.kind === 'problem') throw workFailure(answer);
  if (answer.kind !== 'delivered') throw workFailure(inProgress());
  request.answer.header('Idempotent-Replayed', 'true');
  return answer.body;
};

const acceptedBody = async (
  deps: OperationsDeps,
  request: AnyRequest,
  accepted: QueuedOperation,
): Promise<OperationBody> => {
  request.answer.status(202);
  if (accepted.replayed) request.answer.header('Idempotent-Replayed', 'true');
  const state = await deps.operations.streams.stateOf(accepted.operation_id);
  if (state.accepted === null) throw new Error('an operation that was accepted is not in the log');
  const { result, ...operation } = await operationAsItStands(deps, { ...state, accepted: state.accepted });
  // Only of one that was accepted before there is any.
  return { ...operation, result: result && ((await parsedPieces(result)) as OperationBody['result']) };
};

/** How long a caller waits for work that a person may have to look at, and how often it is looked for, ms. */
const SOON_MS = 60_000;
/** For work that no place was free for, and for callers who say how long: longer than most wait. */
const WAITED_MAX_MS = 10 * 60_000;
const LOOK_MS = { first: 50, most: 1_000 };

/** Refusals of the queue alone: a caller who did not ask for it is told that there is no place. */
const OF_THE_QUEUE: ReadonlySet<string> = new Set([
  'field_encryption_not_configured',
  'upload_quota_exceeded',
]);

/** Accepts work that its caller wanted at once. */
const acceptInstead = (
  deps: OperationsDeps,
  request: AnyRequest,
  later: Soon,
): ReturnType<typeof acceptLater> =>
  acceptLater(deps, request, later).catch((error: unknown) => {
    const isOurs = later.isFull === true && error instanceof Problem && OF_THE_QUEUE.has(String(error.code));
    throw isOurs ? workFailure(noPlace()) : error;
  });

/** A caller who left, and who cannot ask again by a key, is not billed. */
const leftBehind = async (
  deps: OperationsDeps,
  { signal, idempotency_key, tenant_id, meta }: AnyRequest,
  operation_id: string,
): Promise<void> => {
  if (signal.aborted && idempotency_key === null)
    await deps.operations.cancel({ operation_id, tenant_id }, meta);
};

interface Soon extends Later {
  /** As in `ToQueue`. */
  readonly isFull?: true | undefined;
}

/**
 * Accepts work, and waits for its end like a synchronous call: gives the result, or the operation if a person has to
 * look at it or if it takes too long. Throws the problem that it ended with.
 */
export const doneSoon = async (deps: OperationsDeps, request: AnyRequest, later: Soon): Promise<unknown> => {
  if (later.isFull !== true) return awaited(deps, request, later);
  const free = deps.waiting.take(request.tenant_id);
  if (free === undefined) throw workFailure(noPlace());
  try {
    return await awaited(deps, request, later);
  } finally {
    free();
  }
};

/**
 * Accepts work for a caller who asks for an operation: gives that, or the result where they are ready to wait and it is
 * there by then. Throws the problem that answers why not, or that it ended with meanwhile.
 */
export const acceptedOrDone = async (
  deps: OperationsDeps,
  request: AnyRequest,
  later: Later,
): Promise<unknown> => {
  const isWaiting = Number.isFinite(request.waitMs) && request.waitMs > 0;
  const free = isWaiting ? deps.waiting.take(request.tenant_id) : undefined;
  if (free === undefined) return acceptLater(deps, request, later);
  try {
    return await awaited(deps, request, later);
  } finally {
    free();
  }
};

/** Looks at an operation until it ends, its caller leaves, or the time is over. */
const untilEnded = async (
  deps: OperationsDeps,
  request: AnyRequest,
  { begun, waitMs }: { readonly begun: OperationBody; readonly waitMs: number },
): Promise<OperationBody> => {
  let operation = begun;
  const until = performance.now() + waitMs;
  for (
    let look = LOOK_MS.first;
    isOpen(operation) && performance.now() < until;
    look = Math.min(2 * look, LOOK_MS.most)
  ) {
    if (!(await rested(look, request.signal))) break;
    const { result, ...rest } = await standing(deps, request, begun.operation_id);
    operation = { ...rest, result: result && ((await parsedPieces(result)) as OperationBody['result']) };
  }
  return operation;
};

const awaited = async (deps: OperationsDeps, request: AnyRequest, later: Soon): Promise<unknown> => {
  const begun = await acceptInstead(deps, request, later);
  if (!isOperation(begun)) return begun;
  const isFull = later.isFull === true;
  const waitMs = Math.min(request.waitMs, isFull || request.respondAsync ? WAITED_MAX_MS : SOON_MS);
  const operation = await untilEnded(deps, request, { begun, waitMs });
  if (isFull) await leftBehind(deps, request, begun.operation_id);
  const { error, result } = operation;
  if (error !== null) throw new Problem(error.code as ProblemCode, failureOf(error));
  if (operation.status === 'needs_review' || result === null) return operation;
  request.answer.status(200);
  return result;
};

/** No answer of a call that was waited for has an operation. */
const isOperation = (body: OperationBody | JsonObject): body is OperationBody => 'operation_id' in body;

const isOpen = ({ status }: OperationBody): boolean => status === 'queued' || status === 'running';

/** False: the caller has left. */
const rested = (ms: number, signal: AbortSignal): Promise<boolean> =>
  pause(ms, true, { signal }).catch(() => false);

const failureOf = ({
  code: _,
  status: __,
  title: ___,
  detail,
  ...members
}: NonNullable<OperationBody['error']>) => ({
  detail,
  members,
});

/** Cancels an operation that has not ended. */
const cancelOperationOf = async (
  deps: OperationsDeps,
  request: Pick<AnyRequest, 'answer' | 'meta' | 'caller'>,
  operationId: string,
): Promise<RawBody> => {
  const { accepted } = await findOperation(deps, request, operationId);
  const done = await deps.operations.cancel(accepted, request.meta);
  if (done.kind === 'problem') throw workFailure(done);
  return json({ ...(await standing(deps, request, operationId)), cancelled: done.cancelled });
};

export const cancelOperation = post(
  '/v1/operations/{operation_id}/cancel',
  {
    summary: 'Cancel an operation that has not ended',
    description: 'Its hold is released. An operation that had ended does not change: `cancelled` is false.',
    access: 'any',
    params: operationParams,
    reply: { status: 200, schema: cancelledOperation },
    problems: ['operation_not_found', 'busy'],
  },
  (request, deps) => cancelOperationOf(deps, request, request.params.operation_id),
);

export const getOperation = get(
  '/v1/operations/{operation_id}',
  {
    summary: 'The progress and the outcome of an operation',
    description:
      'Results are kept for 24 hours, or for as many days as the operator sets. Meanwhile `result` is the answer of ' +
      'the synchronous call. ' +
      FILE_WORDS +
      ' The tables of a conversion with `include=tables` are a sheet each.',
    access: 'any',
    params: operationParams,
    query: z.object(fileQuery),
    reply: { status: 200, schema: operationBody, alsoContentTypes: FILE_TYPES },
    problems: ['operation_not_found'],
  },
  async (request, deps) => {
    const operation = await standing(deps, request, request.params.operation_id);
    const type = wantedFile(request);
    if (type === undefined) return json(operation);
    const answer = await parsedAnswer(operation.result);
    const { operation_id: name, operation: kind } = operation;
    return workFile(request, type, { name, kind, told: operation, answer });
  },
);

export const listOperations = get(
  '/v1/operations',
  {
    summary: 'The operations of a tenant, newest first',
    description: '`accepted_after` is inclusive.',
    access: 'any',
    tenant: 'query',
    serviceActsForAll: true,
    query: operationsQuery,
    reply: { status: 200, schema: operationList },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async (request, { queries, clock }) => {
    const { tenant_id, operation: kind } = request.query;
    const found = await queries.operationsOfTenant({ ...request.query, kind, now: clock.now() });
    await checkKnown({ queries }, tenant_id, { isEmpty: found.total === 0 });
    const shown = found.items.map(({ kind: operation, credits_charged: credits_used, ...item }) => ({
      ...item,
      operation,
      credits_used,
    }));
    return { items: shown, ...pageFacts(request.query, found) };
  },
);
