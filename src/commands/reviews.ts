import { z } from 'zod';
import { eachOf } from '@quire/engine/models/byModel/modelWorkDeps';
import type { SchemaValidator } from '@quire/engine/ports/extractionEngine';
import { canonicalJson, sha256 } from '../../domain/kernel/chain.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { Doubt, Question } from '../../domain/doubts.ts';
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
  origin,
  originsOf,
  review,
  reviewEvent,
  reviewIdOf,
  type ReviewKind,
  reviewKeptUntil,
  reviewReason,
  type ReviewState,
  reviewStatusOf,
  type ReviewStatus,
  reviewStream,
} from '../../domain/review.ts';
import { streamsOf } from '../writer/commandHandler.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import type { Outcome } from '../writer/decideBatch.ts';
import { operationFileKeyOf } from './operationInput.ts';
import { resultShelf } from './storedResult.ts';
import { workProblem, type WorkProblem } from './workProblem.ts';

const object = z.record(z.string(), z.unknown()).transform((value) => value as JsonObject);

const storedQuestion = z.object({
  schema: object,
  doubts: z.array(
    z
      .object({ code: reviewReason, path: z.string(), confidence: z.number().optional() })
      .transform(({ confidence, ...doubt }): Doubt =>
        confidence === undefined ? doubt : { ...doubt, confidence },
      ),
  ),
});

/** All that a decision is about, complete in itself: the document alone lies elsewhere. */
const storedDecision = storedQuestion.extend({
  /** The machine's answer, as the operation has it. */
  answer: object,
  result: object,
  /** Of each leaf of the result, by its JSON Pointer. */
  origins: z.record(z.string(), origin),
  note: z.string().nullable(),
});
export type StoredDecision = z.output<typeof storedDecision>;

/** Where questions and decisions lie. */
export const REVIEWS_PREFIX = 'reviews/';
export const reviewFolderOf = (reviewId: string): string => `${REVIEWS_PREFIX}${reviewId}/`;

const bytesOf = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** Questions and decisions of reviews, each under its digest, by which events name it. */
export const reviewShelf = (objects: Pick<ObjectStore, 'put' | 'get'>) => {
  const put = async (reviewId: string, value: object): Promise<string> => {
    const bytes = bytesOf(value);
    const digest = sha256(bytes);
    await objects.put(`${reviewFolderOf(reviewId)}${digest}`, bytes);
    return digest;
  };
  const read = async <S extends z.ZodType>(schema: S, reviewId: string, digest: string) => {
    const bytes = await objects.get(`${reviewFolderOf(reviewId)}${digest}`);
    return bytes && schema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  };
  return {
    /** Keeps what a person is asked. Gives what the success of the operation says of it. */
    ask: async (operationId: string, question: Question): Promise<NeededReview> => ({
      reasons: [...new Set(question.doubts.map(({ code }) => code))],
      question_sha256: await put(reviewIdOf(operationId), question),
    }),
    question: (reviewId: string, digest: string) => read(storedQuestion, reviewId, digest),
    decide: (reviewId: string, decision: StoredDecision): Promise<string> => put(reviewId, decision),
    /** undefined if it is no longer kept, or was erased. */
    decision: (reviewId: string, digest: string) => read(storedDecision, reviewId, digest),
  };
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

/** What there is to look at: the machine's answer, and what was decided last. */
interface Standing extends Question {
  readonly answer: JsonObject;
  readonly decision: StoredDecision | null;
}

export interface ReviewDeps {
  readonly store: EventStore;
  readonly operations: { readonly stateOf: (operationId: string) => Promise<OperationState> };
  readonly objects: ObjectStore;
  readonly schemas: Pick<SchemaValidator, 'validate'>;
  readonly clock: Pick<Clock, 'now'>;
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
    ...{ review_id, accepted, needed: success.review, result_sha256: success.result_sha256 },
    opened_at: success.succeeded_at,
    state: await reviewStreams(store).stateOf(review_id),
  };
};

const REVIEW_ID = /^rev_[A-Za-z0-9-]{1,64}$/;

const expired = (): WorkProblem =>
  workProblem('review_expired', 'The review was not decided in time, or its document was erased.');

/** The question and the reading; undefined: no longer kept, or erased. */
const standing = async (
  { objects }: Pick<ReviewDeps, 'objects'>,
  { review_id, accepted, needed, result_sha256, state }: KnownReview,
): Promise<Standing | undefined> => {
  const shelf = reviewShelf(objects);
  if (state.decision !== null) {
    const decision = await shelf.decision(review_id, state.decision.decision_sha256);
    return (
      decision && { schema: decision.schema, doubts: decision.doubts, answer: decision.answer, decision }
    );
  }
  const question = await shelf.question(review_id, needed.question_sha256);
  const stored = question && (await resultShelf(objects).find(accepted.work_id, result_sha256));
  return stored && { ...question, answer: stored.body, decision: null };
};

const misfits = async (
  { schemas }: ReviewDeps,
  { schema }: Question,
  {
    result,
    signal,
    share,
  }: { readonly result: JsonObject; readonly signal: AbortSignal; readonly share: string },
): Promise<WorkProblem | undefined> => {
  const checked = await schemas.validate(schema, result, { signal, share });
  if (checked.kind === 'unavailable') return workProblem('busy', checked.detail);
  if (checked.kind === 'invalid_schema')
    throw new Error(`a schema that was used cannot be: ${checked.detail}`);
  if (checked.errors.length === 0) return undefined;
  return workProblem(
    'output_schema_mismatch',
    'What was decided does not fit the schema of the extraction.',
    {
      validation_errors: checked.errors,
    },
  );
};

/** A person's decision about a document. */
interface Verdict {
  readonly result: JsonObject;
  readonly note: string | null;
  /** The generation that the person has looked at; undefined: the one that is open. */
  readonly generation: number | undefined;
  readonly signal: AbortSignal;
}

type Done = Outcome<ReviewKind>;

const commandOf = ({ review_id, accepted, opened_at }: KnownReview, meta: CommandMeta) => ({
  ...{ review_id, operation_id: accepted.operation_id, tenant_id: accepted.tenant_id, opened_at },
  by: meta.actor.key_id,
});

/** A command as of its decision: what was looked up before it may have taken long, and others went on meanwhile. */
const decidedNow = ({ clock }: Pick<ReviewDeps, 'clock'>, meta: CommandMeta): CommandMeta => ({
  ...meta,
  now: clock.now(),
});

/** Keeps what was decided, then says so: whatever a crash leaves between the two is repeated, or swept. */
const decided = async (
  deps: ReviewDeps,
  known: KnownReview,
  { verdict, meta }: { readonly verdict: Verdict; readonly meta: CommandMeta },
): Promise<Done | WorkProblem> => {
  const { review_id, accepted, state } = known;
  const found = await standing(deps, known);
  if (found === undefined) return expired();
  const { result, note, generation = state.generation, signal } = verdict;
  const misfit = await misfits(deps, found, { result, signal, share: accepted.tenant_id });
  if (misfit !== undefined) return misfit;
  const { schema, doubts, answer } = found;
  const machine = (answer['result'] ?? {}) as JsonObject;
  const origins = originsOf(
    result,
    machine,
    doubts.map(({ path }) => path),
  );
  const decision_sha256 = await reviewShelf(deps.objects).decide(review_id, {
    ...{ schema, doubts: [...doubts], answer, result, origins, note },
  });
  const count = (one: string) => Object.values(origins).filter((each) => each === one).length;
  return reviewStreams(deps.store).handle(
    review_id,
    {
      type: 'Decide',
      meta: decidedNow(deps, meta),
      data: {
        ...commandOf(known, meta),
        ...{ generation, decision_sha256, document_id: accepted.document_id },
        document_sha256: accepted.file_sha256 ?? '',
        schema_sha256: sha256(canonicalJson(schema)),
        before_sha256: state.decision?.decision_sha256 ?? known.result_sha256,
        ...{ read: count('read'), confirmed: count('confirmed'), corrected: count('corrected') },
      },
    },
    accepted.tenant_id,
  );
};

/** What routes call for reviews. */
export const reviewCommands = (deps: ReviewDeps) => {
  const { store, operations, objects, clock, wrote } = deps;
  const noted = (known: KnownReview, outcome: Done): Done => {
    if (outcome.kind === 'done' && outcome.position !== undefined)
      wrote(known.accepted.tenant_id, outcome.position);
    return outcome;
  };
  const simple = (type: 'Lease' | 'Release' | 'Reopen') => async (known: KnownReview, meta: CommandMeta) => {
    if ((await standing(deps, known)) === undefined) return expired();
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
    standing: (known: KnownReview) => standing(deps, known),
    decided: (known: KnownReview) => decidedAnswer(deps, known),
    /** Its file; undefined: no longer kept, or erased. */
    file: ({ accepted }: KnownReview) =>
      objects.open(operationFileKeyOf(accepted.operation_id, accepted.file_sha256)),
    lease: simple('Lease'),
    release: simple('Release'),
    reopen: simple('Reopen'),
    decide: async (known: KnownReview, verdict: Verdict, meta: CommandMeta): Promise<Done | WorkProblem> => {
      const outcome = await decided(deps, known, { verdict, meta });
      return outcome.kind === 'problem' ? outcome : noted(known, outcome);
    },
  };
};
export type ReviewCommands = ReturnType<typeof reviewCommands>;

/**
 * Says in the review of an operation that it has expired, when it is time. Gives whether nobody needs the file, the
 * request and the decisions of the operation any more: nobody has to look at it, or its review has said so.
 */
export const expireReview = async (
  { store, clock }: Pick<ReviewDeps, 'store'> & { readonly clock: Pick<Clock, 'now' | 'uuid'> },
  operation: Pick<OperationState, 'accepted' | 'success'>,
): Promise<boolean> => {
  const known = await reviewOf({ store }, operation);
  if (known === undefined || known.state.expired) return true;
  const { review_id, accepted, opened_at, state } = known;
  const { operation_id, tenant_id } = accepted;
  const meta = systemMeta({ clock }, `sweep-${review_id}`);
  if (!isOver(reviewKeptUntil(state, opened_at), meta.now)) return false;
  const data = { review_id, operation_id, tenant_id, opened_at };
  const outcome = await reviewStreams(store).handle(review_id, { type: 'Expire', data, meta }, tenant_id);
  return outcome.kind === 'done' && outcome.state.expired;
};

/** The machine's answer with what a person has decided in the place of its result; undefined: nobody has. */
export const decidedAnswer = async (
  deps: Pick<ReviewDeps, 'objects'>,
  known: KnownReview,
): Promise<JsonObject | undefined> => {
  if (!isDecided(known.state)) return undefined;
  const found = await standing(deps, known);
  if (found?.decision == null) return undefined;
  const { answer, result, origins } = found.decision;
  const meta = { ...(answer['meta'] as JsonObject), origins };
  return { ...answer, status: 'success', result, validation_errors: null, meta };
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
  /** Documents that were decided and are no example: their file came with the request, or there are too many. */
  readonly left_out: number;
}

type DecidedDeps = Pick<ReviewDeps, 'store' | 'objects' | 'clock' | 'operations'> & {
  readonly decisions: ReturnType<typeof decisionsOfTenant>;
};

/** Decisions that are looked at, the last ones. */
const DECISIONS_MAX = 2_000;
/** Decisions that are read at once. */
const AT_ONCE = 8;
/** Examples that a set may have. */
const EXAMPLES_MAX = 1_000;

/** A person's decision about a document; undefined: no longer kept, or read with another config. */
const saidOf = async (
  deps: DecidedDeps,
  operationId: string,
  configId: string | undefined,
): Promise<JsonObject | undefined> => {
  const known = await reviewOf(deps, await deps.operations.stateOf(operationId));
  if (known === undefined || !isDecided(known.state)) return undefined;
  const decision = (await standing(deps, known))?.decision;
  if (decision == null) return undefined;
  const read = (decision.answer['meta'] as JsonObject | undefined)?.['config_id'];
  return configId === undefined || read === configId ? decision.result : undefined;
};

/** Decided documents of a tenant as examples, each once, by what was decided last. */
export const decidedExamples =
  (deps: DecidedDeps) =>
  async (tenant_id: string, asked: DecisionsRequest): Promise<DecidedExamples> => {
    const { config_id, decided_from: from = null, decided_until: until = null } = asked;
    const now = deps.clock.now();
    const decided = await deps.decisions({ tenant_id, now, from, until, limit: DECISIONS_MAX });
    const examples = new Map<string, TrainingExample>();
    const others = new Set<string>();
    const said = await eachOf(decided, AT_ONCE, ({ operation_id }) => saidOf(deps, operation_id, config_id));
    for (const [at, { document_id, is_kept }] of decided.entries()) {
      const expected = said[at];
      if (expected === undefined || examples.has(document_id) || others.has(document_id)) continue;
      if (is_kept && examples.size < EXAMPLES_MAX) examples.set(document_id, { document_id, expected });
      else others.add(document_id);
    }
    return { examples: [...examples.values()], left_out: others.size };
  };
