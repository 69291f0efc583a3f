import { z } from 'zod';
import type { JsonObject } from '../../domain/kernel/json.ts';
import {
  holderOf,
  rejectionReason,
  reviewKeptUntil,
  type ReviewMove as DomainMove,
  type ReviewRejection,
  reviewReason,
} from '../../domain/review.ts';
import type { Clock } from '../../domain/ports/log.ts';
import { ABSENT_MAX, type KnownReview, type ReviewCommands } from '../commands/reviews.ts';
import type { Queries, ReadYourWrites } from '../queries/queries.ts';
import { neverRejected, problem, type Sentences, workFailure } from '../server/problems.ts';
import { JSON_TYPE } from '../server/jsonBody.ts';
import { type AnyRequest, KEPT_A_DAY, type RawBody, routesOver } from '../server/routes.ts';
import {
  checkKnown,
  instantOut,
  orAbsent,
  pageFacts,
  pageOf,
  booleanText,
  listQuery,
  plainText,
  tenantIdText,
  whoOut,
} from './schemas/basics.ts';
import { checkOutcome, citation, originsOut } from './schemas/reviewSchemas.ts';
import { page, validationErrorItem, warning } from './schemas/workSchemas.ts';
import { reviewsOfTenant } from '../../projections/reviews.ts';

/** What these routes need. */
export interface ReviewsDeps {
  readonly queries: Pick<Queries, 'balanceOfTenant' | 'reviewsOfTenant'>;
  readonly reads: ReadYourWrites;
  readonly reviews: ReviewCommands;
  readonly clock: Clock;
}

const { get, post, remove } = routesOver<ReviewsDeps>();

const reviewParams = z.object({ review_id: plainText(1, 128) });

const reviewStatus = z.enum(['open', 'leased', 'decided', 'rejected', 'expired']).meta({
  description:
    '`leased`: somebody is looking at it. `rejected`: a person has refused the result. `expired`: its result is no ' +
    'longer kept, so nobody can decide.',
});

const reasonOfRejection = rejectionReason.meta({
  id: 'ReviewRejectionReason',
  description:
    '`illegible`: the document cannot be read. `wrong_document`: it is another document than was expected. ' +
    '`value_missing`: it does not say a value that is needed.',
});

const counted = z
  .strictObject({
    read: z.int().meta({ description: 'Values that were not in doubt and were kept.' }),
    confirmed: z.int().meta({ description: 'Values in doubt that were kept.' }),
    corrected: z.int().meta({ description: 'Values that a person gave.' }),
  })
  .meta({ id: 'ReviewCounts' });

const facts = {
  review_id: z.string(),
  operation_id: z.string(),
  tenant_id: z.string(),
  project_id: z.string(),
  task_id: z.string(),
  status: reviewStatus,
  generation: z.int().meta({ description: 'Starts at 1; opening the review again makes the next.' }),
  opened_at: instantOut,
  expires_at: instantOut.meta({
    description: 'Deadline to decide; for a decided review, when the decision and the document are removed.',
  }),
  lease: z
    .strictObject({
      held_by: whoOut,
      lease_until: instantOut,
    })
    .nullable()
    .meta({ description: 'null: nobody is looking at it now.' }),
};

const reviewItem = z
  .strictObject({
    ...facts,
    document_id: z.string(),
    file_name: z.string().nullable(),
    erased_at: instantOut
      .nullable()
      .meta({ description: 'When its document was erased; null while it is not.' }),
    pages: z.int(),
    reasons: z.array(reviewReason),
    least_confidence: z
      .number()
      .nullable()
      .meta({ description: '0 to 1, of the least sure value in doubt; null: no doubt is about confidence.' }),
    decided_at: instantOut.nullable().meta({ description: 'When it was decided or rejected.' }),
    decided_by: z.string().nullable().meta({ description: 'ID of the key that decided or rejected it.' }),
    counts: counted.nullable(),
    rejection_reason: reasonOfRejection
      .nullable()
      .meta({ description: 'Why it was rejected; null while it is not.' }),
  })
  .meta({ id: 'ReviewItem' });

const reviewList = pageOf(reviewItem, 'ReviewList');

const reviewsQuery = z.object({
  tenant_id: tenantIdText,
  status: z.enum(['open', 'leased', 'decided', 'rejected']).optional(),
  decided: booleanText
    .optional()
    .meta({ description: 'true: decided or rejected ones; false: those that can be decided.' }),
  ...listQuery(reviewsOfTenant),
});

const decisionOut = z
  .strictObject({
    generation: z.int(),
    counts: counted,
    origins: originsOut,
    absent: z.array(z.string()).meta({
      description:
        'JSON Pointers to required values that the document does not say: the answer is `partial`.',
    }),
    note: z.string().nullable(),
    decided_by: whoOut,
    decided_at: instantOut,
  })
  .meta({ id: 'ReviewDecision' });

const rejectionOut = z
  .strictObject({
    generation: z.int(),
    reason: reasonOfRejection,
    note: z.string().nullable().meta({ description: 'null: there is none, or it was erased.' }),
    rejected_by: whoOut,
    rejected_at: instantOut,
  })
  .meta({ id: 'ReviewRejection' });

const move = z
  .strictObject({
    kind: z.enum(['decided', 'rejected', 'reopened']),
    generation: z.int(),
    at: instantOut,
    by: whoOut,
    counts: counted.nullable().meta({ description: 'null: it is no decision.' }),
    reason: reasonOfRejection.nullable().meta({ description: 'null: it is no rejection.' }),
  })
  .meta({ id: 'ReviewMove' });

const reviewBody = z
  .strictObject({
    ...facts,
    document: z
      .strictObject({
        document_id: z.string(),
        file_name: z.string().nullable(),
        mime_type: z.string(),
        pages: z.array(page),
      })
      .nullable()
      .meta({ id: 'ReviewDocument', description: 'null once it is no longer kept.' }),
    reasons: z
      .array(
        z
          .strictObject({
            code: reviewReason,
            path: z.string().meta({ description: 'JSON Pointer into `result`; empty: all of it.' }),
            confidence: z.number().optional(),
          })
          .meta({ id: 'ReviewReason' }),
      )
      .meta({ description: 'Why a person has to look at it, and at what.' }),
    schema: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: 'Decisions must fit this schema.' }),
    result: z.record(z.string(), z.unknown()).nullable().meta({
      description: 'The last decision, or else the result as read; null once it is no longer kept.',
    }),
    citations: z.array(citation).meta({
      description:
        'Where the values of `result` are in the document; a value that a person gave has `by: "person"`.',
    }),
    warnings: z.array(warning),
    checks: z.array(checkOutcome).meta({
      description: 'What came of the rules of the config, for the result that was read.',
    }),
    validation_errors: z.array(validationErrorItem),
    decision: decisionOut
      .nullable()
      .meta({ description: 'The last decision; in an open or rejected review, the earlier one.' }),
    rejection: rejectionOut.nullable().meta({ description: 'null: it is not rejected.' }),
    history: z
      .array(move)
      .meta({ description: 'What people did to it, the first one first; of more than 50 the last.' }),
  })
  .meta({ id: 'Review' });
type ReviewBody = z.input<typeof reviewBody>;

const NOTE_MAX = 2_000;
const PATH_MAX = 2_000;
const generationIn = orAbsent(z.int().min(1)).meta({
  description:
    'The generation that you looked at; if it is not the open one, 409 `review_decided`. Default: the open one.',
});
const decisionRequest = z
  .strictObject({
    result: z
      .record(z.string(), z.unknown())
      .meta({ description: 'The complete result, in the form of the schema.' }),
    absent: z
      .array(plainText(1, PATH_MAX))
      .max(ABSENT_MAX)
      .nullish()
      .meta({
        description:
          'JSON Pointers to required values that `result` leaves out because the document does not say them. The ' +
          'operation is then `partial`.',
      }),
    note: orAbsent(plainText(1, NOTE_MAX).nullable()),
    generation: generationIn,
  })
  .meta({ id: 'ReviewDecisionRequest' });

const rejectionRequest = z
  .strictObject({
    reason: reasonOfRejection,
    note: orAbsent(plainText(1, NOTE_MAX).nullable()),
    generation: generationIn,
  })
  .meta({ id: 'ReviewRejectionRequest' });

const findReview = async (
  { reviews }: ReviewsDeps,
  { caller }: Pick<AnyRequest, 'caller'>,
  reviewId: string,
): Promise<KnownReview> => {
  const known = await reviews.find(reviewId);
  const isTheirs = caller.role !== 'tenant' || known?.accepted.tenant_id === caller.tenant_id;
  if (known === undefined || !isTheirs) throw problem('review_not_found', 'There is no such review.');
  return known;
};

const leaseOf = ({ state }: KnownReview, now: string): ReviewBody['lease'] => {
  const held_by = holderOf(state, now);
  return held_by === undefined ? null : { held_by, lease_until: state.lease?.lease_until ?? now };
};

const decisionFacts = ({ state: { decision } }: KnownReview) => {
  if (decision === null) return null;
  const { generation, decided_by, decided_at, read, confirmed, corrected } = decision;
  return { generation, counts: { read, confirmed, corrected }, decided_by, decided_at };
};

const rejectionOf = ({ state: { rejection } }: KnownReview): ReviewBody['rejection'] => {
  if (rejection === null) return null;
  const { generation, reason, note, rejected_by, rejected_at } = rejection;
  return { generation, reason, note, rejected_by, rejected_at };
};

/** A member of the history; earlier releases did not keep who opened a review again. */
const moveOf = ({ type, data }: DomainMove): ReviewBody['history'][number] => {
  const { generation } = data;
  const none = { generation, counts: null, reason: null };
  switch (type) {
    case 'ReviewDecided': {
      const { read, confirmed, corrected, decided_at: at, decided_by: by } = data;
      return { ...none, kind: 'decided', at, by, counts: { read, confirmed, corrected } };
    }
    case 'ReviewRejected':
      return { ...none, kind: 'rejected', at: data.rejected_at, by: data.rejected_by, reason: data.reason };
    case 'ReviewReopened':
      return { ...none, kind: 'reopened', at: data.reopened_at, by: data.reopened_by ?? null };
  }
};

/** Members of a review whose document is no longer kept. */
const nothingOf = ({ needed }: KnownReview) => ({
  document: null,
  schema: null,
  result: null,
  decision: null,
  reasons: needed.reasons.map((code) => ({ code, path: '' })),
  citations: [],
  warnings: [],
  checks: [],
  validation_errors: [],
});

/**
 * The review as it stands. What was read and decided is not parsed here: its members come as bytes, of which the first
 * belong to the decision if there is one. Its shape is held by specs, as the operation's is.
 */
const reviewAnswer = async (
  { reviews, clock }: ReviewsDeps,
  known: KnownReview,
): Promise<ReviewBody | RawBody> => {
  const { review_id, accepted, state, opened_at } = known;
  const { operation_id, tenant_id, project_id, task_id } = accepted;
  const status = reviews.statusOf(known);
  const shown = status === 'expired' ? undefined : await reviews.show(known);
  const facts = {
    review_id,
    operation_id,
    tenant_id,
    project_id,
    task_id,
    generation: state.generation,
    opened_at,
    status: shown === undefined ? 'expired' : status,
    expires_at: reviewKeptUntil(state, opened_at),
    lease: leaseOf(known, clock.now()),
    rejection: rejectionOf(known),
    history: state.history.map(moveOf),
  } as const;
  if (shown === undefined) return { ...facts, ...nothingOf(known) };
  const text = JSON.stringify({ ...facts, decision: decisionFacts(known) });
  const opening = `${text.slice(0, state.decision === null ? -1 : -2)},`;
  return { contentType: JSON_TYPE, opening, body: shown };
};

const REJECTIONS = {
  review_leased: 'Somebody else looks at this review. Wait until `lease_until`, or choose another one.',
  review_decided:
    'What you looked at is not open: it was decided or rejected. Read the review again, and reopen it to decide ' +
    'otherwise.',
  review_expired: 'The review was not decided in time, or its document was erased.',
} as const satisfies Sentences<ReviewRejection>;

const MOVES = ['review_not_found', 'review_expired', 'busy'] as const;

export const listReviews = get(
  '/v1/reviews',
  {
    summary: 'Results that a person has to look at, newest first',
    description: 'Without `status`, expired ones are listed too.',
    access: 'any',
    tenant: 'query',
    serviceActsForAll: true,
    query: reviewsQuery,
    reply: { status: 200, schema: reviewList },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async (request, { queries, clock }) => {
    const { tenant_id } = request.query;
    const found = await queries.reviewsOfTenant({ ...request.query, now: clock.now() });
    await checkKnown({ queries }, tenant_id, { isEmpty: found.total === 0 });
    const shown = found.items.map(
      ({ kept_until, held_by, lease_until, read, confirmed, corrected, rejection, ...item }) => ({
        ...item,
        least_confidence: item.least_confidence === null ? null : item.least_confidence / 10_000,
        reasons: item.reasons.split(' ') as z.input<typeof reviewItem>['reasons'],
        status: item.status as z.input<typeof reviewStatus>,
        expires_at: kept_until,
        lease:
          item.status !== 'leased' || held_by === null || lease_until === null
            ? null
            : { held_by, lease_until },
        rejection_reason: rejection as z.input<typeof reviewItem>['rejection_reason'],
        counts:
          read === null || confirmed === null || corrected === null ? null : { read, confirmed, corrected },
      }),
    );
    return { items: shown, ...pageFacts(request.query, found) };
  },
);

export const getReview = get(
  '/v1/reviews/{review_id}',
  {
    summary: 'A result that a person has to look at, and why',
    description:
      'With the schema, the place of each value, and the decision. The file is at `…/file`. A review expires if it ' +
      'is not decided within a day; a decision is kept for 30 days.',
    access: 'any',
    params: reviewParams,
    reply: { status: 200, schema: reviewBody },
    problems: ['review_not_found'],
  },
  async (request, deps) => reviewAnswer(deps, await findReview(deps, request, request.params.review_id)),
);

export const getReviewFile = get(
  '/v1/reviews/{review_id}/file',
  {
    summary: 'The file that a review is about',
    description: 'The bytes as they were sent; the type is `document.mime_type` of the review.',
    access: 'any',
    params: reviewParams,
    reply: { status: 200, contentType: 'application/octet-stream' },
    problems: ['review_not_found', 'review_expired'],
  },
  async (request, deps): Promise<RawBody> => {
    const known = await findReview(deps, request, request.params.review_id);
    const body = deps.reviews.statusOf(known) === 'expired' ? undefined : await deps.reviews.file(known);
    if (body === undefined) throw problem('review_expired', REJECTIONS.review_expired);
    request.answer.header('Content-Disposition', 'attachment');
    return { contentType: 'application/octet-stream', body };
  },
);

export const leaseReview = post(
  '/v1/reviews/{review_id}/lease',
  {
    summary: 'Say that you look at a review',
    description:
      'For 15 minutes nobody with another key can decide; each repeat starts the 15 minutes again. While somebody ' +
      'else has the lease: 409 `review_leased` with `lease_until`.',
    access: 'any',
    params: reviewParams,
    reply: { status: 200, schema: reviewBody },
    problems: [...MOVES, 'review_leased', 'review_decided'],
  },
  async (request, deps) => {
    const known = await findReview(deps, request, request.params.review_id);
    const outcome = await deps.reviews.lease(known, request.meta);
    if (outcome.kind === 'problem') throw workFailure(outcome);
    const { state } = request.doneOr(outcome, REJECTIONS);
    return reviewAnswer(deps, { ...known, state });
  },
);

export const releaseReview = remove(
  '/v1/reviews/{review_id}/lease',
  {
    summary: 'Say that you no longer look at a review',
    description:
      'The next person then need not wait. If somebody else has the lease, or nobody has it, nothing happens.',
    access: 'any',
    params: reviewParams,
    reply: { status: 204 },
    problems: MOVES,
  },
  async (request, deps) => {
    const known = await findReview(deps, request, request.params.review_id);
    const outcome = await deps.reviews.release(known, request.meta);
    if (outcome.kind === 'problem') throw workFailure(outcome);
    request.doneOr(outcome, { ...REJECTIONS, review_leased: neverRejected, review_decided: neverRejected });
    return undefined;
  },
);

export const decideReview = post(
  '/v1/reviews/{review_id}/decision',
  {
    summary: 'Decide what the document says',
    description:
      'Send the complete result, also the values that stay. If it does not fit the schema: 422 ' +
      '`output_schema_mismatch` with `validation_errors`. Then the operation is `succeeded` with this result, and ' +
      '`meta.origins` has the origin of each value. A required value that the document does not say is named in ' +
      '`absent`: then the operation is `partial`, with a `validation_errors` item for it. Nothing is billed. A ' +
      'repeat of the same decision gets the same ' +
      'answer; another decision gets 409 `review_decided` until the review is opened again. You need no lease, but ' +
      'while somebody else has one, the answer is 409 `review_leased`.',
    access: 'any',
    idempotency: KEPT_A_DAY,
    params: reviewParams,
    body: decisionRequest,
    reply: { status: 200, schema: reviewBody },
    problems: [...MOVES, 'review_leased', 'review_decided', 'output_schema_mismatch'],
  },
  async (request, deps) => {
    const { result, absent, note = null, generation } = request.body;
    const known = await findReview(deps, request, request.params.review_id);
    const said = { result: result as JsonObject, absent: [...new Set(absent)], note };
    const verdict = { ...said, generation, signal: request.signal };
    const outcome = await deps.reviews.decide(known, verdict, request.meta);
    if (outcome.kind === 'problem') throw workFailure(outcome);
    const { state } = request.doneOr(outcome, REJECTIONS);
    return reviewAnswer(deps, { ...known, state });
  },
);

export const rejectReview = post(
  '/v1/reviews/{review_id}/reject',
  {
    summary: 'Reject a result: nobody can decide what the document says',
    description:
      'The operation is then `failed` with `review_rejected` and your `reason`. Nothing is billed, and nothing is ' +
      'given back: the result as read stays readable until it expires. A repeat gets the same answer. As with a ' +
      'decision you need no lease, but while somebody else has one, the answer is 409 `review_leased`.',
    access: 'any',
    idempotency: KEPT_A_DAY,
    params: reviewParams,
    body: rejectionRequest,
    reply: { status: 200, schema: reviewBody },
    problems: [...MOVES, 'review_leased', 'review_decided'],
  },
  async (request, deps) => {
    const { reason, note = null, generation } = request.body;
    const known = await findReview(deps, request, request.params.review_id);
    const outcome = await deps.reviews.reject(known, { reason, note, generation }, request.meta);
    if (outcome.kind === 'problem') throw workFailure(outcome);
    const { state } = request.doneOr(outcome, REJECTIONS);
    return reviewAnswer(deps, { ...known, state });
  },
);

export const reopenReview = post(
  '/v1/reviews/{review_id}/reopen',
  {
    summary: 'Doubt a decision or a rejection: the review is open again',
    description:
      'The operation is `needs_review` again, and the decision is the result to look at. An open review does not ' +
      'change, and `expires_at` stays the same. The decision about a split whose parts are a batch by it stays: 409 ' +
      '`review_decided`.',
    access: 'any',
    params: reviewParams,
    reply: { status: 200, schema: reviewBody },
    problems: [...MOVES, 'review_decided'],
  },
  async (request, deps) => {
    const known = await findReview(deps, request, request.params.review_id);
    const outcome = await deps.reviews.reopen(known, request.meta);
    if (outcome.kind === 'problem') throw workFailure(outcome);
    const { state } = request.doneOr(outcome, {
      ...REJECTIONS,
      review_leased: neverRejected,
      review_decided: neverRejected,
    });
    return reviewAnswer(deps, { ...known, state });
  },
);
