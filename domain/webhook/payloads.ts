import { z } from 'zod';
import { currencyCode, instant, tenantId } from '../kernel/units.ts';
import { keyRole } from '../apiKey/events.ts';

const wholeCredits = z.int();

const ended = { operation_id: z.string() };
const job = { job_id: z.string() };
const paid = { currency: currencyCode, occurred_at: instant };
const key = { key_id: z.string() };

/**
 * What a receiver is told, by type: IDs and figures, no content of documents. A member may be added; one that is
 * renamed, removed or means something else needs another version.
 */
export const WEBHOOK_PAYLOADS = {
  'operation.succeeded': z.strictObject({ ...ended, duration_ms: z.int() }),
  'operation.partial': z.strictObject({ ...ended, duration_ms: z.int() }),
  'operation.failed': z.strictObject({ ...ended, code: z.string() }),
  'operation.cancelled': z.strictObject(ended),
  /** The last event of a batch: each of its documents is an operation, and was told as one. */
  'batch.ended': z.strictObject({
    batch_id: z.string(),
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
  'credits.adjusted': z.strictObject({
    adjustment_id: z.string(),
    credits: wholeCredits,
    balance_credits: wholeCredits,
  }),
  'balance.low': z.strictObject({ balance_credits: wholeCredits, low_balance_credits: wholeCredits }),
  'balance.exhausted': z.strictObject({ balance_credits: wholeCredits }),
  'free_pages.used_up': z.strictObject({ free_pages: z.int() }),
  'key.created': z.strictObject({ ...key, role: keyRole, expires_at: instant.nullable() }),
  'key.revoked': z.strictObject(key),
  'reconciliation.drift': z.strictObject({
    tenants_checked: z.int(),
    tenants_drifting: z.int(),
    drifting: z.array(z.strictObject({ tenant_id: tenantId, drift_credits: wholeCredits })),
  }),
  'audit.finding': z.strictObject({ findings: z.int(), checks: z.array(z.string()) }),
} as const;

export type WebhookEventType = keyof typeof WEBHOOK_PAYLOADS;
export type PayloadOf<Type extends WebhookEventType> = z.output<(typeof WEBHOOK_PAYLOADS)[Type]>;

export const WEBHOOK_EVENT_TYPES = Object.keys(WEBHOOK_PAYLOADS) as readonly WebhookEventType[];

/** About the whole service, so for those who run it: only an admin key may ask for these, by name. */
export const OPERATOR_EVENT_TYPES: readonly WebhookEventType[] = ['reconciliation.drift', 'audit.finding'];

/** In a webhook's `events`: everything about its tenant, types of later releases too. */
export const ALL_TENANT_EVENTS = '*';

/** The version of all payloads. */
export const PAYLOAD_VERSION = '1';
