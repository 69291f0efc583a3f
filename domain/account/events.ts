import { z } from 'zod';
import { event } from '../kernel/event.ts';
import {
  credits,
  creditsFromZero,
  currencyCode,
  day,
  decimalText,
  instant,
  minorFromZero,
  pages,
  tenantId,
} from '../kernel/units.ts';
import { billingType, category, extractionMode, operation, plan, taxBasis } from './words.ts';

/** `provider` + `provider_txn_id`: the identity of a sale or refund, unique across all tenants. */
const paymentIdentity = { provider: z.string(), provider_txn_id: z.string() };

/** Who asked for the work, and for what: members that reports group by. */
const usageScope = {
  project_id: z.string(),
  task_id: z.string(),
  document_id: z.string().nullable(),
  job_id: z.string().nullable(),
  api_key_id: z.string().nullable(),
};

/** How an extraction or conversion ended: its burn says it, so that its usage event can always be written. */
const delivered = z.strictObject({
  status: z.enum(['success', 'partial']),
  duration_ms: z.number().int().min(0),
  /** Of the stored result that was paid for; left out where none is stored, and by older burns. */
  result_sha256: z.string().optional(),
});
export type DeliveredWork = z.output<typeof delivered>;

/** Always the first event of an account. */
const accountOpened = event('AccountOpened', { tenant_id: tenantId, created_at: instant });

const planSet = event('PlanSet', {
  plan,
  previous_plan: plan,
  reason: z.string().nullable(),
  set_at: instant,
});

/** A sale: `credits` > 0. Without money the amounts are null and reports count the sale as such. */
export const creditsGranted = event('CreditsGranted', {
  grant_id: z.string(),
  ...paymentIdentity,
  credits: creditsFromZero,
  currency: currencyCode,
  gross_amount_minor: minorFromZero.nullable(),
  vat_amount_minor: minorFromZero,
  provider_fee_minor: minorFromZero,
  price_list_version: z.number().int().min(1),
  /** Major units of `currency` per 1,000 credits, on that price list. */
  price_per_1000_credits: decimalText,
  tax_basis: taxBasis,
  /** USD per 1 unit of `currency`, booked at the sale; null when none was known. */
  fx_rate_to_usd: decimalText.nullable(),
  fx_rate_date: day.nullable(),
  /** Digest of the caller's payload: the same identity with another payload is refused. */
  fingerprint: z.string(),
  invoice_ref: z.string().nullable(),
  note: z.string().nullable(),
  occurred_at: instant,
  created_at: instant,
  balance_after: credits,
});

/** All or part of a sale taken back. `credits` ≥ 0: 0 is money only. */
export const creditsRefunded = event('CreditsRefunded', {
  refund_id: z.string(),
  grant_id: z.string(),
  ...paymentIdentity,
  credits: creditsFromZero,
  currency: currencyCode,
  gross_amount_minor: minorFromZero,
  vat_amount_minor: minorFromZero,
  /** Fee that the payment provider gave back. */
  provider_fee_minor: minorFromZero,
  fingerprint: z.string(),
  reason: z.string().nullable(),
  occurred_at: instant,
  created_at: instant,
  balance_after: credits,
});

/** Credits given (+) or clawed back (−) by a person. */
const creditsAdjusted = event('CreditsAdjusted', {
  adjustment_id: z.string(),
  idempotency_key: z.string().max(80).nullable(),
  fingerprint: z.string(),
  credits,
  reason: z.string(),
  allow_negative: z.boolean(),
  created_at: instant,
  balance_after: credits,
});

/** Credits and free pages set aside for one operation until it is settled or released. */
const creditsHeld = event('CreditsHeld', {
  hold_id: z.string(),
  operation_id: z.string(),
  operation,
  category,
  extraction_mode: extractionMode.nullable(),
  billing_type: billingType,
  pages,
  free_pages: pages,
  credits_per_page: creditsFromZero,
  /** What the hold may burn at most. */
  credits: creditsFromZero,
  billing_config_version: z.number().int().min(1),
  created_at: instant,
  expires_at: instant,
});

const holdReleased = event('HoldReleased', {
  hold_id: z.string(),
  reason: z.enum(['failed', 'cancelled', 'expired', 'shutdown']),
  released_at: instant,
});

/**
 * Credits used by delivered work. It settles an open hold (`hold_id`), or is a charge under
 * `idempotency_key`. `credits` = paid pages × `credits_per_page`; a flat charge has 0 pages.
 */
const creditsBurned = event('CreditsBurned', {
  usage_id: z.string(),
  operation_id: z.string(),
  hold_id: z.string().nullable(),
  idempotency_key: z.string().nullable(),
  fingerprint: z.string().nullable(),
  operation,
  category,
  extraction_mode: extractionMode.nullable(),
  billing_type: billingType,
  pages,
  free_pages: pages,
  credits_per_page: creditsFromZero,
  credits: creditsFromZero,
  billing_config_version: z.number().int().min(1),
  ...usageScope,
  /** What the usage event has to say beside. Left out by charges, training jobs and older burns. */
  delivered: delivered.optional(),
  created_at: instant,
  balance_after: credits,
});

export const accountEvent = z.discriminatedUnion('type', [
  accountOpened,
  planSet,
  creditsGranted,
  creditsRefunded,
  creditsAdjusted,
  creditsHeld,
  holdReleased,
  creditsBurned,
]);
export type AccountEvent = z.output<typeof accountEvent>;
export type AccountEventOf<Type extends AccountEvent['type']> = Extract<AccountEvent, { type: Type }>;
