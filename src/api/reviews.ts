import { z } from 'zod';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { holderOf, reviewKeptUntil, type ReviewRejection, reviewReason } from '../../domain/review.ts';
import type { Clock } from '../../domain/ports/log.ts';
import type { KnownReview, ReviewCommands } from '../commands/reviews.ts';
import type { Queries, ReadYourWrites } from '../queries/queries.ts';
import { neverRejected, problem, type Sentences, workFailure } from '../server/problems.ts';
import { type AnyRequest, KEPT_A_DAY, type RawBody, routesOver } from '../server/routes.ts';
import {
  checkKnown,
  instantOut,
  orAbsent,
  pageOf,
  pagingQuery,
  plainText,
  tenantIdText,
  whoOut,
} from './basics.ts';
import { originsOut } from './reviewSchemas.ts';
import { citation, page, validationErrorItem, warning } from './workSchemas.ts';

/** What these routes need. */
export interface ReviewsDeps {
  readonly queries: Pick<Queries, 'balanceOfTenant' | 'reviewsOfTenant'>;
  readonly reads: ReadYourWrites;
  readonly reviews: ReviewCommands;
  readonly clock: Clock;
}

const { get, post, remove } = routesOver<ReviewsDeps>();

const reviewParams = z.object({ review_id: plainText(1, 128) });

const reviewStatus = z.enum(['open', 'leased', 'decided', 'expired']).meta({
  description:
    '`leased`: somebody is looking at it. `expired`: its result is no longer kept, so nobody can decide.',
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
    decided_at: instantOut.nullable(),
    decided_by: z.string().nullable(),
    counts: counted.nullable(),
  })
  .meta({ id: 'ReviewItem' });

const reviewList = pageOf(reviewItem, 'ReviewList');

const reviewsQuery = z.object({
  tenant_id: tenantIdText,
  status: z.enum(['open', 'leased', 'decided']).optional(),
  ...pagingQuery,
});

const decisionOut = z
  .strictObject({
    generation: z.int(),
    counts: counted,
    origins: originsOut,
    note: z.string().nullable(),
    decided_by: whoOut,
    decided_at: instantOut,
  })
  .meta({ id: 'ReviewDecision' });

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
    citations: z
      .array(citation)
      .meta({ description: 'Where the values that were read are in the document.' }),
    warnings: z.array(warning),
    validation_errors: z.array(validationErrorItem),
    decision: decisionOut
      .nullable()
      .meta({ description: 'The last decision; in an open review, the earlier one.' }),
  })
  .meta({ id: 'Review' });
type ReviewBody = z.input<typeof reviewBody>;

const NOTE_MAX = 2_000;
const decisionRequest = z
  .strictObject({
    result: z
      .record(z.string(), z.unknown())
      .meta({ description: 'The complete result, in the form of the schema.' }),
    note: orAbsent(plainText(1, NOTE_MAX).nullable()),
    generation: orAbsent(z.int().min(1)).meta({
      description:
        'The generation that you looked at; if it is not the open one, 409 `review_decided`. Default: the open one.',
    }),
  })
  .meta({ id: 'ReviewDecisionRequest' });

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

type Standing = NonNullable<Awaited<ReturnType<ReviewCommands['standing']>>>;

const decisionOf = ({ state }: KnownReview, found: Standing | undefined): ReviewBody['decision'] => {
  if (state.decision === null || found?.decision == null) return null;
  const { generation, decided_by, decided_at, read, confirmed, corrected } = state.decision;
  const { origins, note } = found.decision;
  return { generation, counts: { read, confirmed, corrected }, origins, note, decided_by, decided_at };
};

type Answer = Pick<ReviewBody, 'result'> & {
  readonly validation_errors: ReviewBody['validation_errors'] | null;
  readonly meta: Pick<ReviewBody, 'citations' | 'warnings'> & NonNullable<ReviewBody['document']>;
};

/** What was read, and what was decided; its shape is held by specs, as the operation's is. */
const contentOf = (known: KnownReview, found: Standing | undefined) => {
  if (found === undefined) {
    const reasons = known.needed.reasons.map((code) => ({ code, path: '' }));
    const nothing = { citations: [], warnings: [], validation_errors: [], decision: null };
    return { document: null, schema: null, result: null, reasons, ...nothing };
  }
  const { meta, result, validation_errors } = found.answer as unknown as Answer;
  const { document_id, file_name, mime_type, pages, citations, warnings } = meta;
  return {
    document: { document_id, file_name, mime_type, pages },
    reasons: [...found.doubts],
    schema: found.schema,
    result: found.decision?.result ?? result,
    ...{ citations, warnings, validation_errors: validation_errors ?? [] },
    decision: decisionOf(known, found),
  };
};

const reviewAnswer = async ({ reviews, clock }: ReviewsDeps, known: KnownReview): Promise<ReviewBody> => {
  const { review_id, accepted, state, opened_at } = known;
  const { operation_id, tenant_id, project_id, task_id } = accepted;
  const status = reviews.statusOf(known);
  const found = status === 'expired' ? undefined : await reviews.standing(known);
  return {
    ...{ review_id, operation_id, tenant_id, project_id, task_id, generation: state.generation, opened_at },
    status: found === undefined ? 'expired' : status,
    expires_at: reviewKeptUntil(state, opened_at),
    lease: leaseOf(known, clock.now()),
    ...contentOf(known, found),
  };
};

const REJECTIONS = {
  review_leased: 'Somebody else looks at this review. Wait until `lease_until`, or choose another one.',
  review_decided:
    'What you looked at is not open: it was decided. Read the review again, and reopen it to decide otherwise.',
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
    const { limit, offset, tenant_id } = request.query;
    const { items, total } = await queries.reviewsOfTenant({ ...request.query, now: clock.now() });
    await checkKnown({ queries }, tenant_id, { isEmpty: total === 0 });
    const shown = items.map(({ kept_until, held_by, lease_until, read, confirmed, corrected, ...item }) => ({
      ...item,
      reasons: item.reasons.split(' ') as z.input<typeof reviewItem>['reasons'],
      status: item.status as z.input<typeof reviewStatus>,
      expires_at: kept_until,
      lease:
        item.status !== 'leased' || held_by === null || lease_until === null
          ? null
          : { held_by, lease_until },
      counts:
        read === null || confirmed === null || corrected === null ? null : { read, confirmed, corrected },
    }));
    return { items: shown, total, limit, offset };
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
      '`meta.origins` has the origin of each value. Nothing is billed. A repeat of the same decision gets the same ' +
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
    const { result, note = null, generation } = request.body;
    const known = await findReview(deps, request, request.params.review_id);
    const verdict = { result: result as JsonObject, note, generation, signal: request.signal };
    const outcome = await deps.reviews.decide(known, verdict, request.meta);
    if (outcome.kind === 'problem') throw workFailure(outcome);
    const { state } = request.doneOr(outcome, REJECTIONS);
    return reviewAnswer(deps, { ...known, state });
  },
);

export const reopenReview = post(
  '/v1/reviews/{review_id}/reopen',
  {
    summary: 'Doubt a decision: the review is open again',
    description:
      'The operation is `needs_review` again, and the decision is the result to look at. An open review does not ' +
      'change, and `expires_at` stays the same.',
    access: 'any',
    params: reviewParams,
    reply: { status: 200, schema: reviewBody },
    problems: MOVES,
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
