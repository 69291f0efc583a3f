import type { CommandMeta } from '../kernel/command.ts';
import type { Credits } from '../kernel/units.ts';
import type { AccountEventOf } from './events.ts';
import type { BillingType, Category, ExtractionMode, Operation, Plan } from './words.ts';

interface Command<Type extends string, Data> {
  readonly type: Type;
  readonly data: Data;
  readonly meta: CommandMeta;
}

/** Opens the account if it is not open yet; a repeat does nothing. */
export type OpenAccount = Command<'OpenAccount', { readonly tenant_id: string }>;

export type SetPlan = Command<
  'SetPlan',
  { readonly tenant_id: string; readonly plan: Plan; readonly reason: string | null }
>;

/** A sale whose price was checked already (`priceList/sale.ts`). IDs and times come from the caller. */
export type GrantCredits = Command<
  'GrantCredits',
  { readonly tenant_id: string } & Omit<
    AccountEventOf<'CreditsGranted'>['data'],
    'balance_after' | 'created_at'
  >
>;

/** A refund of a sale of this account; what is null is derived as `api.md` §5 says. */
export type RefundCredits = Command<
  'RefundCredits',
  {
    readonly tenant_id: string;
    readonly refund_id: string;
    readonly provider: string;
    readonly provider_txn_id: string;
    readonly original_provider: string;
    readonly original_provider_txn_id: string;
    readonly credits: Credits | null;
    readonly currency: string | null;
    readonly gross_amount_minor: number | null;
    readonly vat_amount_minor: number | null;
    readonly provider_fee_minor: number;
    readonly fingerprint: string;
    readonly reason: string | null;
    readonly occurred_at: string;
  }
>;

export type AdjustCredits = Command<
  'AdjustCredits',
  {
    readonly tenant_id: string;
    readonly adjustment_id: string;
    readonly idempotency_key: string | null;
    readonly fingerprint: string;
    readonly credits: Credits;
    readonly reason: string;
    readonly allow_negative: boolean;
  }
>;

/**
 * Sets aside free pages first, then credits for the rest. Work with a price of its own, not by the page,
 * has 0 pages and `flat_credits`.
 */
export type HoldCredits = Command<
  'HoldCredits',
  {
    readonly tenant_id: string;
    readonly hold_id: string;
    readonly operation_id: string;
    readonly operation: Operation;
    readonly category: Category;
    readonly extraction_mode: ExtractionMode | null;
    readonly billing_type: BillingType;
    readonly pages: number;
    readonly credits_per_page: Credits;
    /** Free pages a tenant has in all, by the billing config named. */
    readonly free_pages_allowance: number;
    readonly billing_config_version: number;
    /** What work without pages costs. */
    readonly flat_credits?: Credits;
    /** True: a tenant on plan `free` is rejected with `plan_required`. */
    readonly paid_plan_required?: boolean;
    readonly expires_at: string;
  }
>;

/** Closes an open hold by a burn; pages ≤ those held, free ones first. A flat hold is burned whole. */
export type SettleHold = Command<
  'SettleHold',
  {
    readonly tenant_id: string;
    readonly usage_id: string;
    readonly hold_id: string;
    readonly pages: number;
    readonly project_id: string;
    readonly task_id: string;
    readonly document_id: string | null;
    readonly job_id: string | null;
    readonly api_key_id: string | null;
  }
>;

export type ReleaseHold = Command<
  'ReleaseHold',
  {
    readonly tenant_id: string;
    readonly hold_id: string;
    readonly reason: AccountEventOf<'HoldReleased'>['data']['reason'];
  }
>;

/** A flat burn without a hold, at most once per `idempotency_key` of the tenant. */
export type ChargeCredits = Command<
  'ChargeCredits',
  {
    readonly tenant_id: string;
    readonly usage_id: string;
    readonly idempotency_key: string;
    readonly fingerprint: string;
    readonly credits: Credits;
    readonly operation: Operation;
    readonly category: Category;
    readonly billing_type: BillingType;
    readonly billing_config_version: number;
    /** True: a tenant on plan `free` is rejected with `plan_required`. */
    readonly paid_plan_required: boolean;
    readonly project_id: string;
    readonly task_id: string;
    readonly document_id: string | null;
    readonly job_id: string | null;
    readonly api_key_id: string | null;
  }
>;

export type AccountCommand =
  | OpenAccount
  | SetPlan
  | GrantCredits
  | RefundCredits
  | AdjustCredits
  | HoldCredits
  | SettleHold
  | ReleaseHold
  | ChargeCredits;

/** Why an account said no. The codes are those of the interface, or map to one. */
export type AccountRejection =
  | { readonly code: 'idempotency_key_reused' }
  /** A total would pass 2^53 − 1, beyond which numbers are not exact. */
  | { readonly code: 'credits_out_of_range' }
  | { readonly code: 'original_grant_not_found' }
  | { readonly code: 'refund_mismatch'; readonly reason: 'tenant' | 'currency' }
  | {
      readonly code: 'refund_exceeds_original';
      readonly refundable_credits: Credits;
      readonly refundable_amount_minor: number | null;
    }
  | {
      readonly code: 'insufficient_balance';
      readonly available_credits: Credits;
      readonly max_refundable_credits?: Credits;
    }
  | {
      readonly code: 'insufficient_credits';
      readonly required_credits: Credits;
      readonly available_credits: Credits;
    }
  | { readonly code: 'plan_required'; readonly plan: Plan; readonly required_plan: Plan }
  /** The hold was settled or released already, or never existed; or its operation was billed already. */
  | { readonly code: 'hold_not_open' }
  /** Settling more pages than were held. */
  | { readonly code: 'burn_exceeds_hold' };
