import type { z } from 'zod';
import { eachOf } from '@quire/engine/models/byModel/modelWorkDeps';
import type { SchemaValidator } from '@quire/engine/ports/extractionEngine';
import { sha256 } from '../../domain/kernel/chain.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { Question } from '../../domain/doubts.ts';
import { isOver } from '../../domain/leased.ts';
import type { AcceptedOperation, OperationState } from '../../domain/operation.ts';
import type { Clock, EventStore } from '../../domain/ports/log.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import type { TrainingExample } from '../../domain/ports/trainer.ts';
import type { decisionsOfTenant } from '../../projections/reviews.ts';
import {
  isDecided,
  type NeededReview,
  operationIdOfReview,
  type rejectionReason,
  review,
  reviewEvent,
  reviewIdOf,
  type ReviewKind,
  reviewKeptUntil,
  type ReviewState,
  reviewStatusOf,
  type ReviewStatus,
  reviewStream,
} from '../../domain/review.ts';
import { streamsOf } from '../writer/commandHandler.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import type { Outcome } from '../writer/decideBatch.ts';
import { withSealed } from '../writer/vault.ts';
import type { keepRequestFile, RequestFile } from './fetchUpload.ts';
import { dropAll, operationFileKeyOf } from './operationInput.ts';
import type { ReviewAnswer, ReviewWork, ReviewWorker, Said, StoredReview } from './reviewWork.ts';
import { type BodyEnds, resultKeyOf } from './storedResult.ts';
import { misfit, workProblem, type WorkProblem } from './workProblem.ts';

/** Where questions and decisions lie. */
export const REVIEWS_PREFIX = 'reviews/';
export const reviewFolderOf = (reviewId: string): string => `${REVIEWS_PREFIX}${reviewId}/`;

const objectKeyOf = (reviewId: string, digest: string): string => `${reviewFolderOf(reviewId)}${digest}`;

/** Keeps what a person is asked, under its digest. Gives what the success of the operation says of it. */
export const askPerson = async (
  objects: Pick<ObjectStore, 'put'>,
  operationId: string,
  question: Question,
): Promise<NeededReview> => {
  const bytes = new TextEncoder().encode(JSON.stringify(question));
  const question_sha256 = sha256(bytes);
  await objects.put(objectKeyOf(reviewIdOf(operationId), question_sha256), bytes);
  const reasons = [...new Set(question.doubts.map(({ code }) => code))];
  const least = question.doubts.reduce((so, { confidence = Infinity }) => Math.min(so, confidence), Infinity);
  const asked = { reasons, question_sha256 };
  return least > 1 ? asked : { ...asked, least_confidence: Math.round(least * 10_000) / 10_000 };
};

/** An operation whose result a person has to look at, and how far that is. */
export interface KnownReview {
  readonly review_id: string;
  readonly accepted: AcceptedOperation;
  readonly needed: NeededReview;
  readonly result_sha256: string;
  /** When the result was stored. */
  readonly opened_at: string;
  readonly state: ReviewState;
}

export interface ReviewDeps {
  readonly store: EventStore;
  readonly operations: { readonly stateOf: (operationId: string) => Promise<OperationState> };
  readonly objects: ObjectStore;
  readonly schemas: Pick<SchemaValidator, 'validate'>;
  readonly worker: ReviewWorker;
  readonly clock: Pick<Clock, 'now'>;
  /** Makes the batch that decided parts of a stack become; false: not now, and somebody else does it later. */
  readonly acceptParts: (operation: Pick<OperationState, 'accepted' | 'success'>) => Promise<boolean>;
  /** Notes where a tenant's reads must have got to, to see this. */
  readonly wrote: (tenantId: string, position: bigint) => void;
}

const rules = { decider: review, codec: eventCodec(reviewEvent), streamOf: reviewStream };

/** The streams of reviews. */
const reviewStreams = (store: EventStore) => streamsOf<ReviewKind>(rules, store);

/** The review of an operation, as the log has it; undefined: nobody has to look at it. */
export const reviewOf = async (
  { store }: Pick<ReviewDeps, 'store'>,
  { accepted, success }: Pick<OperationState, 'accepted' | 'success'>,
): Promise<KnownReview | undefined> => {
  if (accepted === null || success?.review === undefined || success.result_sha256 === undefined)
    return undefined;
  const review_id = reviewIdOf(accepted.operation_id);
  return {
    review_id,
    accepted,
    needed: success.review,
    result_sha256: success.result_sha256,
    opened_at: success.succeeded_at,
    state: await reviewStreams(store).stateOf(review_id),
  };
};

const REVIEW_ID = /^rev_[A-Za-z0-9-]{1,64}$/;

const expired = (): WorkProblem =>
  workProblem('review_expired', 'The review was not decided in time, or its document was erased.');

/** What is stored of it: the last decision, or the question and the reading; undefined: no longer kept, or erased. */
export const storedReview = async (
  { objects }: { readonly objects: Pick<ObjectStore, 'get'> },
  { review_id, accepted, needed, result_sha256, state }: KnownReview,
): Promise<StoredReview | undefined> => {
  if (state.decision !== null) {
    const decision = await objects.get(objectKeyOf(review_id, state.decision.decision_sha256));
    return decision && { decision };
  }
  const question = await objects.get(objectKeyOf(review_id, needed.question_sha256));
  const result = question && (await objects.get(resultKeyOf(accepted.work_id, result_sha256)));
  return result && { question, result };
};

/** Whether anything is stored of it: no object is read. */
const isKept = async ({ objects }: Pick<ReviewDeps, 'objects'>, known: KnownReview): Promise<boolean> => {
  const { review_id, needed, state } = known;
  const digest = state.decision?.decision_sha256 ?? needed.question_sha256;
  for await (const { key } of objects.list(reviewFolderOf(review_id)))
    if (key === objectKeyOf(review_id, digest)) return true;
  return false;
};

/** Has work done on what is stored of a review; undefined: no longer kept, or erased. */
const worked = <Work extends ReviewWork>(
  deps: Pick<ReviewDeps, 'objects' | 'worker'>,
  known: KnownReview,
  work: Work,
): Promise<ReviewAnswer<Work['kind']> | undefined> =>
  deps.worker.run(known.accepted.tenant_id, work, () => storedReview(deps, known));

/** Absent values that are looked at: a validator tells of a hundred errors at most. */
export const ABSENT_MAX = 50;

/** Why a result is none, by its schema; what a person says is absent may be missing. */
const misfits = async (
  { schemas }: ReviewDeps,
  schema: JsonObject,
  { result, absent, signal, share }: Verdict & { readonly share: string },
): Promise<WorkProblem | undefined> => {
  const checked = await schemas.validate(schema, result, { signal, share });
  if (checked.kind === 'unavailable') return workProblem('busy', checked.detail);
  if (checked.kind === 'invalid_schema')
    throw new Error(`a schema that was used cannot be: ${checked.detail}`);
  const missing = new Set(
    checked.errors.flatMap(({ path, keyword }) => (keyword === 'required' ? [path] : [])),
  );
  const there = absent.findIndex((path) => !missing.has(path));
  if (there >= 0)
    return misfit(['body', 'absent', there], 'This is no required value that `result` leaves out.');
  const validation_errors = checked.errors.filter(
    ({ path, keyword }) => keyword !== 'required' || !absent.includes(path),
  );
  if (validation_errors.length === 0) return undefined;
  return workProblem(
    'output_schema_mismatch',
    'What was decided does not fit the schema of the extraction.',
    { validation_errors },
  );
};

/** A person's decision about a document. */
interface Verdict extends Said {
  /** The generation that the person has looked at; undefined: the one that is open. */
  readonly generation: number | undefined;
  readonly signal: AbortSignal;
}

/** A person's refusal of a result. */
interface Refusal {
  readonly reason: z.output<typeof rejectionReason>;
  readonly note: string | null;
  readonly generation: number | undefined;
}

type Done = Outcome<ReviewKind>;

const commandOf = ({ review_id, accepted, opened_at }: KnownReview, meta: CommandMeta) => ({
  review_id,
  operation_id: accepted.operation_id,
  tenant_id: accepted.tenant_id,
  opened_at,
  by: meta.actor.key_id,
});

/** A command as of its decision: what was looked up before it may have taken long, and others went on meanwhile. */
const decidedNow = ({ clock }: Pick<ReviewDeps, 'clock'>, meta: CommandMeta): CommandMeta => ({
  ...meta,
  now: clock.now(),
});

/** Why the decided parts are none; undefined: each page has its place. */
const misplaced = (page: number | undefined): WorkProblem | undefined => {
  if (page === undefined) return undefined;
  const message = `page ${String(page)} is missing, twice there, or elsewhere`;
  const error = { path: '/documents', keyword: 'pages', message, params: { page }, actual: null };
  return workProblem(
    'output_schema_mismatch',
    `Each page of the stack belongs to one document, in the order of the pages: look at page ${String(page)}.`,
    { validation_errors: [error] },
  );
};

/** What the event of a decision says only where there is something to say. */
const alsoDecided = (absent: number, then_batch_id: string | null) => ({
  ...(absent > 0 && { absent }),
  ...(then_batch_id !== null && { then_batch_id }),
});

/** Its parts are documents of a batch by now, which stays as it is. */
const partsSent = ({ state }: KnownReview): WorkProblem | undefined =>
  state.decision?.then_batch_id === undefined
    ? undefined
    : workProblem(
        'review_decided',
        `The decided parts are the batch ${state.decision.then_batch_id}, so this decision stays.`,
      );

/** Keeps what was decided, then says so: whatever a crash leaves between the two is repeated, or swept. */
const decided = async (
  deps: ReviewDeps,
  known: KnownReview,
  { verdict, meta }: { readonly verdict: Verdict; readonly meta: CommandMeta },
): Promise<Done | WorkProblem> => {
  const { review_id, accepted, state } = known;
  const { result, absent, note, generation = state.generation } = verdict;
  const said = JSON.stringify({ result, absent, note } satisfies Said);
  const ready = await worked(deps, known, { kind: 'decide', said });
  if (ready === undefined) return expired();
  const refused = await misfits(deps, ready.schema, { ...verdict, share: accepted.tenant_id });
  const unfit = refused ?? misplaced(ready.misplaced);
  if (unfit !== undefined) return unfit;
  const { decision_sha256, schema_sha256, counts, bytes, then_batch_id } = ready;
  await deps.objects.put(objectKeyOf(review_id, decision_sha256), bytes);
  const outcome = await reviewStreams(deps.store).handle(
    review_id,
    {
      type: 'Decide',
      meta: decidedNow(deps, meta),
      data: {
        ...commandOf(known, meta),
        generation,
        decision_sha256,
        schema_sha256,
        document_id: accepted.document_id,
        document_sha256: accepted.file_sha256 ?? '',
        before_sha256: state.decision?.decision_sha256 ?? known.result_sha256,
        ...counts,
        ...alsoDecided(absent.length, then_batch_id),
      },
    },
    accepted.tenant_id,
  );
  // Its document was erased meanwhile, and all that lay there then.
  if (outcome.kind === 'rejected' && (await reviewStreams(deps.store).stateOf(review_id)).expired)
    await dropAll(deps.objects, reviewFolderOf(review_id));
  return outcome;
};

/** Refuses the result: its operation has failed by it, and what was read stays until it expires. */
const rejected = async (
  deps: ReviewDeps,
  known: KnownReview,
  { refusal, meta }: { readonly refusal: Refusal; readonly meta: CommandMeta },
): Promise<Done | WorkProblem> => {
  const { review_id, accepted, state } = known;
  const { tenant_id } = accepted;
  if (!(await isKept(deps, known))) return expired();
  const owner = { tenant_id, stream: reviewStream(review_id) };
  const { reason, note, generation = state.generation } = refusal;
  const data = await withSealed(deps.store, owner, { ...commandOf(known, meta), reason, note, generation });
  const command = { type: 'Reject', data, meta: decidedNow(deps, meta) } as const;
  return reviewStreams(deps.store).handle(review_id, command, tenant_id);
};

/** What routes call for reviews. */
export const reviewCommands = (deps: ReviewDeps) => {
  const { store, operations, objects, clock, wrote } = deps;
  const noted = (known: KnownReview, outcome: Done): Done => {
    if (outcome.kind === 'done' && outcome.position !== undefined)
      wrote(known.accepted.tenant_id, outcome.position);
    return outcome;
  };
  const partsOf = async ({ accepted }: KnownReview): Promise<boolean> =>
    accepted.kind === 'split' && deps.acceptParts(await operations.stateOf(accepted.operation_id));
  const simple = (type: 'Lease' | 'Release' | 'Reopen') => async (known: KnownReview, meta: CommandMeta) => {
    if (!(await isKept(deps, known))) return expired();
    const sent = type === 'Reopen' ? partsSent(known) : undefined;
    if (sent !== undefined) return sent;
    const data = commandOf(known, meta);
    const { tenant_id } = known.accepted;
    const command = { type, data, meta: decidedNow(deps, meta) };
    return noted(known, await reviewStreams(store).handle(known.review_id, command, tenant_id));
  };
  return {
    /** undefined: there is none. */
    find: async (reviewId: string): Promise<KnownReview | undefined> =>
      REVIEW_ID.test(reviewId)
        ? reviewOf(deps, await operations.stateOf(operationIdOfReview(reviewId)))
        : undefined,
    ofOperation: (state: Pick<OperationState, 'accepted' | 'success'>) => reviewOf(deps, state),
    statusOf: ({ state, opened_at }: KnownReview): ReviewStatus =>
      reviewStatusOf(state, { opened_at, now: clock.now() }),
    /** The last members of a review as callers get it (`ReviewWorker`); undefined: no longer kept, or erased. */
    show: (known: KnownReview) => worked(deps, known, { kind: 'show' }),
    /** The machine's answer with what a person has decided in the place of its result; undefined: nobody has. */
    decided: (known: KnownReview, ends: BodyEnds) =>
      isDecided(known.state) ? worked(deps, known, { kind: 'answer', ends }) : Promise.resolve(undefined),
    /** Its file; undefined: no longer kept, or erased. */
    file: ({ accepted }: KnownReview) =>
      objects.open(operationFileKeyOf(accepted.operation_id, accepted.file_sha256)),
    lease: simple('Lease'),
    release: simple('Release'),
    reopen: simple('Reopen'),
    decide: async (known: KnownReview, verdict: Verdict, meta: CommandMeta): Promise<Done | WorkProblem> => {
      const outcome = await decided(deps, known, { verdict, meta });
      if (outcome.kind === 'problem') return outcome;
      // What cannot be done now the reaper does.
      if (outcome.kind === 'done') await partsOf(known).catch(() => false);
      return noted(known, outcome);
    },
    reject: async (known: KnownReview, refusal: Refusal, meta: CommandMeta): Promise<Done | WorkProblem> => {
      const outcome = await rejected(deps, known, { refusal, meta });
      return outcome.kind === 'problem' ? outcome : noted(known, outcome);
    },
  };
};
export type ReviewCommands = ReturnType<typeof reviewCommands>;

/**
 * Says in the review of an operation that it has expired, when it is time or when its document was `erased`. Gives
 * until when the file, the request and the decisions of the operation may be needed; undefined: no more, as nobody has
 * to look at it, or its review has said so.
 */
export const expireReview = async (
  { store, clock }: Pick<ReviewDeps, 'store'> & { readonly clock: Pick<Clock, 'now' | 'uuid'> },
  operation: Pick<OperationState, 'accepted' | 'success'>,
  { erased = false } = {},
): Promise<string | undefined> => {
  const known = await reviewOf({ store }, operation);
  if (known === undefined || known.state.expired) return undefined;
  const { review_id, accepted, opened_at, state } = known;
  const { operation_id, tenant_id } = accepted;
  const meta = systemMeta({ clock }, `sweep-${review_id}`);
  const until = reviewKeptUntil(state, opened_at);
  if (!erased && !isOver(until, meta.now)) return until;
  const data = { review_id, operation_id, tenant_id, opened_at, ...(erased && { erased }) };
  const outcome = await reviewStreams(store).handle(review_id, { type: 'Expire', data, meta }, tenant_id);
  return outcome.kind === 'done' && outcome.state.expired ? undefined : meta.now;
};

/** Which decisions of people are taken as what documents say. */
export interface DecisionsRequest {
  /** Of the saved config that the document was read with; left out: of any, and of none. */
  readonly config_id?: string | undefined;
  /** RFC 3339 UTC; `decided_until` is exclusive. */
  readonly decided_from?: string | undefined;
  readonly decided_until?: string | undefined;
}

export interface DecidedExamples {
  readonly examples: readonly TrainingExample[];
  /** Documents that were decided and are no example: their file is no longer kept, or there are too many. */
  readonly left_out: number;
}

type DecidedDeps = Pick<ReviewDeps, 'store' | 'objects' | 'clock' | 'operations' | 'worker'> & {
  readonly decisions: ReturnType<typeof decisionsOfTenant>;
  readonly keepFile: ReturnType<typeof keepRequestFile>;
};

/** Decisions that are looked at, the last ones. */
const DECISIONS_MAX = 2_000;
/** Decisions that are read at once. */
const AT_ONCE = 8;
/** Examples that a set may have. */
const EXAMPLES_MAX = 1_000;

/** What a person said of a document, and where the file lay that was decided. */
interface DecidedDocument extends RequestFile {
  readonly expected: JsonObject;
}

/** A person's decision about a document; undefined: no longer kept, or read with another config. */
const saidOf = async (
  deps: DecidedDeps,
  operationId: string,
  configId: string | undefined,
): Promise<DecidedDocument | undefined> => {
  const known = await reviewOf(deps, await deps.operations.stateOf(operationId));
  if (known === undefined || !isDecided(known.state) || known.accepted.kind !== 'extract') return undefined;
  const said = await worked(deps, known, { kind: 'said' });
  if (said === undefined || (configId !== undefined && said.config_id !== configId)) return undefined;
  const { operation_id, document_id, file_sha256 } = known.accepted;
  const expected = JSON.parse(new TextDecoder().decode(said.result)) as JsonObject;
  return { document_id, key: operationFileKeyOf(operation_id, file_sha256), expected };
};

/**
 * Decided documents of a tenant as examples, each once, by what was decided last. A file that came with its request
 * becomes an upload.
 */
export const decidedExamples =
  (deps: DecidedDeps) =>
  async (tenant_id: string, asked: DecisionsRequest, meta: CommandMeta): Promise<DecidedExamples> => {
    const { config_id, decided_from: from = null, decided_until: until = null } = asked;
    const now = deps.clock.now();
    const decided = await deps.decisions({ tenant_id, now, from, until, limit: DECISIONS_MAX });
    const said = await eachOf(decided, AT_ONCE, ({ operation_id }) => saidOf(deps, operation_id, config_id));
    const documents = new Map<string, DecidedDocument>();
    for (const one of said)
      if (one !== undefined && !documents.has(one.document_id)) documents.set(one.document_id, one);
    const first = [...documents.values()].slice(0, EXAMPLES_MAX);
    const kept = await eachOf(first, AT_ONCE, (one) => deps.keepFile(one, meta));
    const examples = first
      .filter((_, at) => kept[at] === true)
      .map(({ document_id, expected }) => ({ document_id, expected }));
    return { examples, left_out: documents.size - examples.length };
  };
