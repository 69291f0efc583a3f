import { z } from 'zod';
import { currencyCode, instant, tenantId } from './kernel/amounts.ts';
import { keyRole } from './apiKey.ts';
import type { AnyEvent } from './catalogue.ts';
import type { RecordedEvent } from './kernel/recorded.ts';
import { rejectionReason, reviewIdOf, reviewReason } from './review.ts';
import { forecastOf } from './account/forecast.ts';
import { tagged, type Tags } from './kernel/tags.ts';

const wholeCredits = z.int();

const ended = { operation_id: z.string(), ...tagged };
const reviewed = { review_id: z.string(), operation_id: z.string() };
const job = { job_id: z.string(), ...tagged };
const moved = { transfer_id: z.string(), credits: wholeCredits, balance_credits: wholeCredits };

/** A budget as it stood; `period_start` null: it never begins anew. */
const budget = {
  budget_id: z.string(),
  period_start: instant.nullable(),
  limit_credits: wholeCredits,
  used_credits: wholeCredits,
  held_credits: wholeCredits,
};

const paid = { currency: currencyCode, occurred_at: instant };
const key = { key_id: z.string() };

/**
 * Messages to a receiver, by type: IDs and figures, no content of documents. A member may be added; renaming or
 * removing one, or changing its meaning, needs another version.
 */
export const WEBHOOK_PAYLOADS = {
  'operation.succeeded': z.strictObject({ ...ended, duration_ms: z.int() }),
  'operation.partial': z.strictObject({ ...ended, duration_ms: z.int() }),
  'operation.failed': z.strictObject({ ...ended, code: z.string() }),
  'operation.cancelled': z.strictObject(ended),
  /** In the place of `operation.succeeded`: its result is not final before a person has looked at it. */
  'review.needed': z.strictObject({
    ...reviewed,
    ...tagged,
    duration_ms: z.int(),
    reasons: z.array(reviewReason),
  }),
  /** `generation`: from 1; a review that was opened again is decided again. */
  'review.decided': z.strictObject({
    ...reviewed,
    generation: z.int(),
    read: z.int(),
    confirmed: z.int(),
    corrected: z.int(),
    /** Required values that the document does not say: then the operation is `partial`. */
    absent: z.int(),
  }),
  /** The operation has failed with `review_rejected`. */
  'review.rejected': z.strictObject({ ...reviewed, generation: z.int(), reason: rejectionReason }),
  /** The last event of a batch: each of its documents is an operation, and was told as one. */
  'batch.ended': z.strictObject({
    batch_id: z.string(),
    ...tagged,
    succeeded: z.int(),
    partial: z.int(),
    failed: z.int(),
    cancelled: z.int(),
    pages: z.int(),
    credits_charged: wholeCredits,
  }),
  'training.succeeded': z.strictObject({
    ...job,
    artifact_id: z.string(),
    baseline_score: z.number(),
    best_score: z.number(),
  }),
  'training.failed': z.strictObject({ ...job, code: z.string() }),
  'training.cancelled': z.strictObject(job),
  'credits.granted': z.strictObject({
    ...paid,
    grant_id: z.string(),
    credits: wholeCredits,
    gross_amount_minor: z.int().nullable(),
    balance_credits: wholeCredits,
  }),
  'credits.refunded': z.strictObject({
    ...paid,
    refund_id: z.string(),
    grant_id: z.string(),
    credits: wholeCredits,
    gross_amount_minor: z.int(),
    balance_credits: wholeCredits,
  }),
  /** All or part of a refund was undone: a dispute was won, or the refund failed. */
  'credits.reversed': z.strictObject({
    ...paid,
    reversal_id: z.string(),
    refund_id: z.string(),
    grant_id: z.string(),
    credits: wholeCredits,
    gross_amount_minor: z.int(),
    balance_credits: wholeCredits,
  }),
  /** Credits went to another tenant, or came from one: a person moved them. */
  'credits.sent': z.strictObject(moved),
  'credits.received': z.strictObject(moved),
  'credits.adjusted': z.strictObject({
    adjustment_id: z.string(),
    credits: wholeCredits,
    balance_credits: wholeCredits,
  }),
  /** `low_balance_credits`: the lowest level that it fell below. How many days it lasts; null: nothing was used. */
  'balance.low': z.strictObject({
    balance_credits: wholeCredits,
    low_balance_credits: wholeCredits,
    days_left_at_7_days: z.int().nullable(),
    days_left_at_28_days: z.int().nullable(),
  }),
  'balance.exhausted': z.strictObject({ balance_credits: wholeCredits }),
  /**
   * Use and holds have reached a level of a budget: each once a period. `level`: part of the limit. When the limit is
   * reached at the pace of 7 and 28 days; null: not in this period. Events of older releases do not say it.
   */
  'budget.alert': z.strictObject({
    ...budget,
    level: z.number(),
    expected_end_at_7_days: instant.nullable().optional(),
    expected_end_at_28_days: instant.nullable().optional(),
  }),
  /** Work was refused, for it does not fit a budget: the first refusals of a period, each work once. */
  'budget.reached': z.strictObject({
    ...budget,
    required_credits: wholeCredits,
    resets_at: instant.nullable(),
    operation_id: z.string(),
  }),
  'free_pages.used_up': z.strictObject({ free_pages: z.int() }),
  'key.created': z.strictObject({ ...key, role: keyRole, expires_at: instant.nullable() }),
  'key.revoked': z.strictObject(key),
  /** Sent to one webhook, because a person asked for it. */
  'webhook.test': z.strictObject({ webhook_id: z.string() }),
  'reconciliation.drift': z.strictObject({
    tenants_checked: z.int(),
    tenants_drifting: z.int(),
    drifting: z.array(z.strictObject({ tenant_id: tenantId, drift_credits: wholeCredits })),
  }),
  'audit.finding': z.strictObject({ findings: z.int(), checks: z.array(z.string()) }),
} as const;

export type WebhookEventType = keyof typeof WEBHOOK_PAYLOADS;
type PayloadOf<Type extends WebhookEventType> = z.output<(typeof WEBHOOK_PAYLOADS)[Type]>;

export const WEBHOOK_EVENT_TYPES = Object.keys(WEBHOOK_PAYLOADS) as readonly WebhookEventType[];

/** About the whole service, so for those who run it: only an admin key may ask for these, by name. */
export const OPERATOR_EVENT_TYPES: readonly WebhookEventType[] = ['reconciliation.drift', 'audit.finding'];

/** Sent to the webhook that is tested, whatever it asks for; nobody can ask for it. */
export const TEST_EVENT = 'webhook.test';

/** The types that a webhook can ask for. */
export const ASKED_EVENT_TYPES = WEBHOOK_EVENT_TYPES.filter((type) => type !== TEST_EVENT);

/** In a webhook's `events`: everything about its tenant, types of later releases too. */
export const ALL_TENANT_EVENTS = '*';

/** The version of all payloads. */
export const PAYLOAD_VERSION = '1';

/** One thing to tell receivers. `tenant_id` null: it is about the whole service. */
export type Message = {
  [Type in WebhookEventType]: { readonly type: Type; readonly data: PayloadOf<Type> };
}[WebhookEventType];

type Mapped = {
  readonly [Type in AnyEvent['type']]?: (
    data: Extract<AnyEvent, { readonly type: Type }>['data'],
  ) => Message | undefined;
};

/** Left out of a message where there are none. */
const tagsIn = ({ tags }: { readonly tags?: Tags | undefined }): { readonly tags?: Tags } =>
  tags === undefined ? {} : { tags };

/** What each event tells by itself: a type that is to be told is one line here, and its payload. */
const MESSAGES = {
  OperationSucceeded: ({ operation_id, duration_ms, outcome, review, ...work }) =>
    review === undefined
      ? {
          type: outcome === 'partial' ? 'operation.partial' : 'operation.succeeded',
          data: { operation_id, duration_ms, ...tagsIn(work) },
        }
      : {
          type: 'review.needed',
          data: {
            review_id: reviewIdOf(operation_id),
            operation_id,
            duration_ms,
            reasons: review.reasons,
            ...tagsIn(work),
          },
        },
  ReviewDecided: ({ review_id, operation_id, generation, read, confirmed, corrected, absent = 0 }) => ({
    type: 'review.decided',
    data: { review_id, operation_id, generation, read, confirmed, corrected, absent },
  }),
  ReviewRejected: ({ review_id, operation_id, generation, reason }) => ({
    type: 'review.rejected',
    data: { review_id, operation_id, generation, reason },
  }),
  OperationFailed: ({ operation_id, code, ...work }) => ({
    type: 'operation.failed',
    data: { operation_id, code, ...tagsIn(work) },
  }),
  OperationCancelled: ({ operation_id, abandoned, ...work }) =>
    abandoned === true ? undefined : { type: 'operation.cancelled', data: { operation_id, ...tagsIn(work) } },
  BatchEnded: ({ batch_id, succeeded, partial, failed, cancelled, pages, credits_charged, ...work }) => ({
    type: 'batch.ended',
    data: { batch_id, succeeded, partial, failed, cancelled, pages, credits_charged, ...tagsIn(work) },
  }),
  TrainingJobSucceeded: ({ job_id, artifact_id, baseline_score, best_score, ...work }) => ({
    type: 'training.succeeded',
    data: { job_id, artifact_id, baseline_score, best_score, ...tagsIn(work) },
  }),
  TrainingJobFailed: ({ job_id, code, ...work }) => ({
    type: 'training.failed',
    data: { job_id, code, ...tagsIn(work) },
  }),
  TrainingJobCancelled: ({ job_id, abandoned, ...work }) =>
    abandoned === true ? undefined : { type: 'training.cancelled', data: { job_id, ...tagsIn(work) } },
  CreditsGranted: ({ grant_id, credits, currency, gross_amount_minor, occurred_at, balance_after }) => ({
    type: 'credits.granted',
    data: { grant_id, credits, currency, gross_amount_minor, occurred_at, balance_credits: balance_after },
  }),
  CreditsRefunded: ({ refund_id, grant_id, credits, balance_after: balance_credits, ...money }) => ({
    type: 'credits.refunded',
    data: {
      refund_id,
      grant_id,
      credits,
      balance_credits,
      currency: money.currency,
      gross_amount_minor: money.gross_amount_minor,
      occurred_at: money.occurred_at,
    },
  }),
  RefundReversed: ({ reversal_id, refund_id, grant_id, credits, ...money }) => ({
    type: 'credits.reversed',
    data: {
      reversal_id,
      refund_id,
      grant_id,
      credits,
      balance_credits: money.balance_after,
      currency: money.currency,
      occurred_at: money.occurred_at,
      gross_amount_minor: money.gross_amount_minor,
    },
  }),
  CreditsTransferredOut: ({ transfer_id, credits, balance_after: balance_credits }) => ({
    type: 'credits.sent',
    data: { transfer_id, credits, balance_credits },
  }),
  CreditsTransferredIn: ({ transfer_id, credits, balance_after: balance_credits }) => ({
    type: 'credits.received',
    data: { transfer_id, credits, balance_credits },
  }),
  CreditsAdjusted: ({ adjustment_id, credits, balance_after: balance_credits }) => ({
    type: 'credits.adjusted',
    data: { adjustment_id, credits, balance_credits },
  }),
  BudgetAlerted: ({ alerted_at: _, ...data }) => ({ type: 'budget.alert', data }),
  BudgetReached: ({ budget_id, period_start, limit_credits, used_credits, held_credits, ...asked }) => ({
    type: 'budget.reached',
    data: {
      budget_id,
      period_start,
      limit_credits,
      used_credits,
      held_credits,
      required_credits: asked.required_credits,
      resets_at: asked.resets_at,
      operation_id: asked.operation_id,
    },
  }),
  ApiKeyIssued: ({ key_id, role, expires_at }) => ({
    type: 'key.created',
    data: { key_id, role, expires_at },
  }),
  ApiKeyRevoked: ({ key_id }) => ({ type: 'key.revoked', data: { key_id } }),
  WebhookTested: ({ webhook_id }) => ({ type: 'webhook.test', data: { webhook_id } }),
  DriftFound: ({ tenants_checked, tenants_drifting, drifting }) => ({
    type: 'reconciliation.drift',
    data: { tenants_checked, tenants_drifting, drifting },
  }),
  AuditFound: ({ findings, checks }) => ({ type: 'audit.finding', data: { findings, checks } }),
} as const satisfies Mapped;

/** The events that tell something by themselves. */
export const TOLD_EVENTS = Object.keys(MESSAGES) as readonly (keyof typeof MESSAGES)[];

/** The message of an event by itself, if any. */
export const messageOf = ({ type, data }: AnyEvent): Message | undefined =>
  (MESSAGES as Mapped as Readonly<Record<string, ((data: unknown) => Message | undefined) | undefined>>)[
    type
  ]?.(data);

/** How a balance moved by an event; undefined: it did not. */
const balanceMoveOf = (event: AnyEvent): { readonly before: number; readonly after: number } | undefined => {
  switch (event.type) {
    case 'CreditsGranted':
    case 'RefundReversed':
    case 'CreditsTransferredIn':
    case 'CreditsAdjusted':
      return { before: event.data.balance_after - event.data.credits, after: event.data.balance_after };
    case 'CreditsRefunded':
    case 'CreditsTransferredOut':
    case 'CreditsBurned':
      return { before: event.data.balance_after + event.data.credits, after: event.data.balance_after };
    default:
      return undefined;
  }
};

/** The lowest level that a balance fell below; undefined: none. */
const levelPassed = (
  { before, after }: { readonly before: number; readonly after: number },
  levels: readonly number[],
): number | undefined =>
  levels
    .filter((level) => before >= level && after < level)
    .sort((a, b) => a - b)
    .at(0);

/**
 * The messages of a falling balance: one for each time that it passes a level, or none. `used`: what the tenant used by
 * UTC day, this event included.
 */
export const balanceMessages = (
  event: AnyEvent,
  levels: readonly number[],
  used: () => Iterable<readonly [day: string, credits: number]>,
): readonly Message[] => {
  const move = balanceMoveOf(event);
  if (move === undefined || move.after >= move.before) return [];
  const { before, after: balance_credits } = move;
  const messages: Message[] = [];
  const low_balance_credits = levelPassed(move, levels);
  if (low_balance_credits !== undefined) {
    const today = 'created_at' in event.data ? event.data.created_at.slice(0, 10) : '';
    const forecast = forecastOf(balance_credits, used(), today);
    messages.push({ type: 'balance.low', data: { balance_credits, low_balance_credits, ...forecast } });
  }
  if (before > 0 && balance_credits <= 0)
    messages.push({ type: 'balance.exhausted', data: { balance_credits } });
  return messages;
};

const ACCOUNT_PREFIX = 'account-';

/** The tenant that an event is about; null: none. */
export const tenantToldOf = ({
  stream,
  metadata,
}: Pick<RecordedEvent, 'stream' | 'metadata'>): string | null => {
  if (stream.startsWith(ACCOUNT_PREFIX)) return stream.slice(ACCOUNT_PREFIX.length);
  const tenant = metadata['tenant_id'];
  return typeof tenant === 'string' ? tenant : null;
};

/** The body of a request, byte for byte the same however often it is made. */
export const bodyOf = (
  { type, data }: Message,
  { at, tenant_id }: { readonly at: string; readonly tenant_id: string | null },
): string => JSON.stringify({ type, version: PAYLOAD_VERSION, timestamp: at, tenant_id, data });
