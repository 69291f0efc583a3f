import type { Command } from '../kernel/command.ts';
import type { Credits } from '../kernel/units.ts';
import type { AccountEvent, AccountEventOf } from './events.ts';
import type { Plan } from './words.ts';

/** Opens the account if it is not open yet; a repeat does nothing. */
export type OpenAccount = Command<'OpenAccount', { readonly tenant_id: string }>;

export type SetPlan = Command<
  'SetPlan',
  { readonly tenant_id: string; readonly plan: Plan; readonly reason: string | null }
>;

/** Whose account it is. */
interface OfTenant {
  readonly tenant_id: string;
}

/** The members of an event but those that the account decides. */
type Asked<Type extends AccountEvent['type'], Decided extends string> = Omit<
  AccountEventOf<Type>['data'],
  Decided
>;

/** A sale whose price was checked already (`priceList/sale.ts`). IDs and times come from the caller. */
export type GrantCredits = Command<
  'GrantCredits',
  OfTenant & Asked<'CreditsGranted', 'balance_after' | 'created_at'>
>;

type DerivedOfRefund = 'credits' | 'currency' | 'gross_amount_minor' | 'vat_amount_minor';
type Refund = AccountEventOf<'CreditsRefunded'>['data'];

/** A refund of a sale of this account; what is null is derived as `api.md` §5 says. */
export type RefundCredits = Command<
  'RefundCredits',
  OfTenant &
    Asked<'CreditsRefunded', 'grant_id' | 'balance_after' | 'created_at' | DerivedOfRefund> & {
      readonly [Member in DerivedOfRefund]: Refund[Member] | null;
    } & { readonly original_provider: string; readonly original_provider_txn_id: string }
>;

export type AdjustCredits = Command<
  'AdjustCredits',
  OfTenant & Asked<'CreditsAdjusted', 'balance_after' | 'created_at'>
>;

/**
 * Sets aside free pages first, then credits for the rest. Work with a price of its own, not by the page,
 * has 0 pages and `flat_credits`.
 */
export type HoldCredits = Command<
  'HoldCredits',
  OfTenant &
    Asked<'CreditsHeld', 'free_pages' | 'credits' | 'created_at'> & {
      /** Free pages a tenant has in all, by the billing config named. */
      readonly free_pages_allowance: number;
      /** What work without pages costs. */
      readonly flat_credits?: Credits;
      /** True: a tenant on plan `free` is rejected with `plan_required`. */
      readonly paid_plan_required?: boolean;
      /** At most so many holds without an end (`NO_END`) at once, this one counted; left out: any number. */
      readonly open_max?: number;
      /** True: work whose hold was released before may be held anew, to settle what was delivered. */
      readonly reopens?: boolean;
    }
>;

/** The price of a page, and why it is that. */
export type PagePrice = Pick<
  AccountEventOf<'CreditsHeld'>['data'],
  'billing_type' | 'credits_per_page' | 'billing_config_version'
>;

/** Puts an open hold to a higher price; one that is as high already stays as it is. */
export type RaiseHold = Command<
  'RaiseHold',
  OfTenant & { readonly hold_id: string; readonly price: PagePrice }
>;

/** What a burn is for. */
type BurnScope = 'usage_id' | 'project_id' | 'task_id' | 'document_id' | 'job_id' | 'api_key_id';
type Burn = AccountEventOf<'CreditsBurned'>['data'];

/**
 * Closes an open hold by a burn; pages ≤ those held, free ones first. A flat hold is burned whole. With `price` the
 * hold is put to that price first, in the same decision.
 */
export type SettleHold = Command<
  'SettleHold',
  OfTenant &
    Pick<Burn, BurnScope | 'pages' | 'delivered'> & { readonly hold_id: string; readonly price?: PagePrice }
>;

export type ReleaseHold = Command<'ReleaseHold', OfTenant & Asked<'HoldReleased', 'released_at'>>;

/** A flat burn without a hold, at most once per `idempotency_key` of the tenant. */
export type ChargeCredits = Command<
  'ChargeCredits',
  OfTenant &
    Pick<
      Burn,
      BurnScope | 'credits' | 'operation' | 'category' | 'billing_type' | 'billing_config_version'
    > & {
      readonly idempotency_key: string;
      readonly fingerprint: string;
      /** True: a tenant on plan `free` is rejected with `plan_required`. */
      readonly paid_plan_required: boolean;
    }
>;

export type AccountCommand =
  | OpenAccount
  | SetPlan
  | GrantCredits
  | RefundCredits
  | AdjustCredits
  | HoldCredits
  | RaiseHold
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
  /** The hold was settled or released already, or never existed; or its operation was. */
  | { readonly code: 'hold_not_open' }
  /** As many holds without an end are open as may be. */
  | { readonly code: 'too_many_open'; readonly open_max: number }
  /** Settling more pages than were held. */
  | { readonly code: 'burn_exceeds_hold' };
