import { z } from 'zod';
import { type Command, event } from '../kernel/decider.ts';
import {
  type Credits,
  credits,
  creditsFromZero,
  currencyCode,
  day,
  decimalText,
  instant,
  minorFromZero,
  pages,
  tenantId,
} from '../kernel/amounts.ts';
import { sha256 } from '../kernel/chain.ts';
import { tagged } from '../kernel/tags.ts';
import { type BudgetCommand, budgetEvents, type BudgetRejection } from './budgetMessages.ts';

/** `expires_at` of a hold that no clock ends: the work that it is for ends it. */
export const NO_END = '9999-12-31T23:59:59.999Z';

/** What a tenant may do. A first sale moves `free` to `paid`. */
export const plan = z.enum(['free', 'paid', 'enterprise']);

export type Plan = z.output<typeof plan>;

/** Work on a document, which is billed by the page. */
export const ratedOperation = z.enum(['extract', 'to_markdown', 'classify', 'split']);

export type RatedOperation = z.output<typeof ratedOperation>;

/** Work that is billed. */
export const operation = z.enum([...ratedOperation.options, 'training', 'examples_export']);

export const isRated = (name: z.output<typeof operation>): name is RatedOperation =>
  ratedOperation.options.some((one) => one === name);

/** How reports group consumption. */
const category = z.enum(['extraction', 'ai_prefill', 'training', 'ocr']);

export type Category = z.output<typeof category>;

export const billingType = z.enum(['full_service', 'byok']);

export type BillingType = z.output<typeof billingType>;

/** Modes of extraction (`fast`, `standard`, `robust`), of conversion (`default`, `fast`), of the rest (`default`). */
export const extractionMode = z.enum(['fast', 'standard', 'robust', 'default']);

export type ExtractionMode = z.output<typeof extractionMode>;

/** Within what time work may be done that need not be done at once. */
export const completionWindow = z.enum(['24h']);

export type CompletionWindow = z.output<typeof completionWindow>;

/** Work that may wait has a rate of its own; left out by other work, and by older releases. */
export const mayWait = { completion_window: completionWindow.optional() };

/** The window as a member of an event; none where the work may not wait. */
export const withWindow = (completion_window: CompletionWindow | null | undefined) =>
  completion_window == null ? {} : { completion_window };

export const taxBasis = z.enum(['exclusive', 'inclusive']);

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

/** How work on a document ended: its burn says it, so that its usage event can always be written. */
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

/** Further facts of a sale: left out where nothing is known of them, and by older releases. */
const furtherFacts = {
  /** Coupon or code that the discount was given for. */
  discount_code: z.string().optional(),
  /** The provider's payout that the payment is in. */
  payout_id: z.string().optional(),
  /** VAT in percent, as decimal text: `19`. */
  tax_rate: decimalText.optional(),
  /** Country whose VAT it is: ISO 3166-1, two letters. */
  tax_country: z.string().optional(),
};

/** A sale: `credits` > 0. Without money the amounts are null and reports count the sale as such. */
export const creditsGranted = event('CreditsGranted', {
  grant_id: z.string(),
  ...paymentIdentity,
  /** All that were sold, the bonus among them. */
  credits: creditsFromZero,
  /** Part of `credits` that has no price. Left out: none. */
  bonus_credits: creditsFromZero.optional(),
  currency: currencyCode,
  gross_amount_minor: minorFromZero.nullable(),
  /** Taken off the list price. Left out: nothing. */
  discount_minor: minorFromZero.optional(),
  vat_amount_minor: minorFromZero,
  provider_fee_minor: minorFromZero,
  ...furtherFacts,
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

const saleDetails = z.strictObject({
  vat_amount_minor: minorFromZero.optional(),
  provider_fee_minor: minorFromZero.optional(),
  invoice_ref: z.string().optional(),
  ...furtherFacts,
});

/** Facts of a sale that became known after it. */
export type SaleDetails = z.output<typeof saleDetails>;

/** Facts of a sale that it did not say: each once, and none of them above 0 or other than empty before. */
const saleDetailsAdded = event('SaleDetailsAdded', {
  /** The sale. */
  grant_id: z.string(),
  details: saleDetails,
  created_at: instant,
});

/** The rate of a sale, booked after it: one that was not known then, or in place of a wrong one. */
const saleRateBooked = event('SaleRateBooked', {
  /** The sale. */
  grant_id: z.string(),
  /** USD per 1 unit of its currency, and the day that this rate is of. */
  fx_rate_to_usd: decimalText,
  fx_rate_date: day,
  /** Those before; null where none was known. */
  previous_rate: decimalText.nullable(),
  previous_rate_date: day.nullable(),
  /** Of the sale: its lot has them only with a rate. */
  price_per_1000_credits: decimalText,
  sale_occurred_at: instant,
  /** Why somebody corrected it; null: a rate became known. */
  reason: z.string().nullable(),
  created_at: instant,
});

/** State of a dispute: `opened` took back what was there, `won` gave it back again, `lost` ended it. */
export const disputeStatus = z.enum(['opened', 'won', 'lost']);

export type DisputeStatus = z.output<typeof disputeStatus>;

/** State of a dispute, and the fee that its provider keeps, minor units of the sale's currency; 0: not known. */
const dispute = z.strictObject({ status: disputeStatus, fee_minor: minorFromZero });

export type Dispute = z.output<typeof dispute>;

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
  /** The customer's bank took it: a dispute, as it was first told. Left out by other refunds and older releases. */
  dispute: dispute.optional(),
  fingerprint: z.string(),
  reason: z.string().nullable(),
  occurred_at: instant,
  created_at: instant,
  balance_after: credits,
});

/** News of a dispute: another state, or its fee. Both are those from now on. */
const disputeChanged = event('DisputeChanged', {
  /** The refund that the dispute is, and its sale. */
  refund_id: z.string(),
  grant_id: z.string(),
  ...paymentIdentity,
  status: disputeStatus,
  previous_status: disputeStatus,
  currency: currencyCode,
  fee_minor: minorFromZero,
  previous_fee_minor: minorFromZero,
  created_at: instant,
});

/** All or part of a refund undone: its credits and its money belong to the sale again. `credits` ≥ 0. */
export const refundReversed = event('RefundReversed', {
  reversal_id: z.string(),
  refund_id: z.string(),
  /** The sale that was refunded. */
  grant_id: z.string(),
  ...paymentIdentity,
  credits: creditsFromZero,
  currency: currencyCode,
  gross_amount_minor: minorFromZero,
  vat_amount_minor: minorFromZero,
  /** Of the fee that the refund gave back. */
  provider_fee_minor: minorFromZero,
  /** A dispute was won: it has the dispute's transaction. Left out by other reversals and older releases. */
  dispute: z.literal(true).optional(),
  fingerprint: z.string(),
  reason: z.string().nullable(),
  occurred_at: instant,
  created_at: instant,
  balance_after: credits,
});

/** A name for one transfer, in both accounts. */
const transfer = { transfer_id: z.string(), credits: creditsFromZero, created_at: instant };

/** Credits that left for another tenant, oldest lots first, with what was paid for them. `credits` > 0. */
const creditsTransferredOut = event('CreditsTransferredOut', {
  ...transfer,
  to_tenant_id: tenantId,
  /** Credits of this sale go first: they are brought back for its refund. Left out: the oldest. */
  of_grant: z.string().optional(),
  idempotency_key: z.string().nullable(),
  fingerprint: z.string(),
  reason: z.string(),
  balance_after: credits,
});

/** The same credits and lots, arrived. */
const creditsTransferredIn = event('CreditsTransferredIn', {
  ...transfer,
  from_tenant_id: tenantId,
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
  ...mayWait,
  pages,
  free_pages: pages,
  credits_per_page: creditsFromZero,
  /** What the hold may burn at most. */
  credits: creditsFromZero,
  billing_config_version: z.number().int().min(1),
  /** Digest of the request that the caller's key names. Left out without a key, and by older releases. */
  fingerprint: z.string().optional(),
  /** Its price counts these examples of a training job. Left out by other work, and by older releases. */
  taken_for: z.strictObject({ examples: z.number().int().min(1), examples_sha256: z.string() }).optional(),
  /** Who asked for the work, and for what, as its burn will say. Left out by older releases. */
  project_id: usageScope.project_id.optional(),
  task_id: usageScope.task_id.optional(),
  api_key_id: z.string().optional(),
  ...tagged,
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
  /** Of a charge, or of the hold that it settles; null where that has none. */
  fingerprint: z.string().nullable(),
  operation,
  category,
  extraction_mode: extractionMode.nullable(),
  billing_type: billingType,
  ...mayWait,
  pages,
  free_pages: pages,
  credits_per_page: creditsFromZero,
  credits: creditsFromZero,
  billing_config_version: z.number().int().min(1),
  ...usageScope,
  ...tagged,
  /** Further members for the usage event. Left out by charges, training jobs and older burns. */
  delivered: delivered.optional(),
  created_at: instant,
  balance_after: credits,
});

export const accountEvent = z.discriminatedUnion('type', [
  accountOpened,
  planSet,
  creditsGranted,
  saleDetailsAdded,
  saleRateBooked,
  creditsRefunded,
  refundReversed,
  disputeChanged,
  creditsTransferredOut,
  creditsTransferredIn,
  creditsAdjusted,
  creditsHeld,
  holdReleased,
  creditsBurned,
  ...budgetEvents,
]);

export type AccountEvent = z.output<typeof accountEvent>;

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

/** Adds what is new to a sale that the account has; what it says already changes nothing. */
export type AddSaleDetails = Command<
  'AddSaleDetails',
  OfTenant & PaymentIdentity & { readonly details: SaleDetails }
>;

/** Books the rate of a sale that has none, or, with a reason, another one. */
export type BookSaleRate = Command<
  'BookSaleRate',
  OfTenant &
    Pick<AccountEventOf<'SaleRateBooked'>['data'], 'grant_id' | 'fx_rate_to_usd' | 'fx_rate_date' | 'reason'>
>;

type DerivedOfRefund =
  | 'credits'
  | 'currency'
  | 'gross_amount_minor'
  | 'vat_amount_minor'
  | 'provider_fee_minor';

type Refund = AccountEventOf<'CreditsRefunded'>['data'];

/**
 * A refund of a sale of this account; what is null is derived as `api.md` §5 says. As a dispute it takes at most the
 * credits that are there.
 */
export type RefundCredits = Command<
  'RefundCredits',
  OfTenant &
    Asked<'CreditsRefunded', 'grant_id' | 'balance_after' | 'created_at' | DerivedOfRefund> & {
      readonly [Member in DerivedOfRefund]: Refund[Member] | null;
    } & { readonly original_provider: string; readonly original_provider_txn_id: string }
>;

type Reversal = AccountEventOf<'RefundReversed'>['data'];

/** A refund of this account undone, named by its ID and its transaction. Without amounts: all that is left of it. */
export type ReverseRefund = Command<
  'ReverseRefund',
  OfTenant &
    Pick<
      Reversal,
      'reversal_id' | 'refund_id' | 'provider' | 'provider_txn_id' | 'fingerprint' | 'reason' | 'occurred_at'
    > & {
      readonly refund_provider_txn_id: string;
      readonly credits: Reversal['credits'] | null;
      readonly gross_amount_minor: number | null;
    }
>;

/** News of a dispute that the account has; what it says already changes nothing. */
export type TellDispute = Command<
  'TellDispute',
  OfTenant &
    PaymentIdentity &
    Dispute & {
      /** Minor units; null: not told. */
      readonly gross_amount_minor: number | null;
      /** For the reversal, if it is won. */
      readonly reversal_id: string;
    }
>;

type TransferOut = AccountEventOf<'CreditsTransferredOut'>['data'];

/** Sends credits to another tenant, at most those that are available; null: all of these. */
export type SendCredits = Command<
  'SendCredits',
  OfTenant &
    Omit<TransferOut, 'credits' | 'created_at' | 'balance_after'> & { readonly credits: Credits | null }
>;

/** Takes in what another tenant sent, once. `left_at`: when it left the other account. */
export type ReceiveCredits = Command<
  'ReceiveCredits',
  OfTenant & Asked<'CreditsTransferredIn', 'created_at' | 'balance_after'> & { readonly left_at: string }
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
      /** Most holds without an end (`NO_END`) at once, including this one; left out: any number. */
      readonly open_max?: number;
      /** True: work whose hold was released may be held again, to settle what was delivered. */
      readonly reopens?: boolean;
      /** True: another hold of the operation may be open that the same request took at another price. */
      readonly beside?: boolean;
    }
>;

/** The price of a page, and why it is that. */
export type PagePrice = Pick<
  AccountEventOf<'CreditsHeld'>['data'],
  'billing_type' | 'credits_per_page' | 'billing_config_version'
>;

/** What a burn is for. */
type BurnScope = 'usage_id' | 'project_id' | 'task_id' | 'document_id' | 'job_id' | 'api_key_id';

type Burn = AccountEventOf<'CreditsBurned'>['data'];

/**
 * Closes an open hold by a burn at the price of the hold and with its tags; pages ≤ those held, free ones first. A flat
 * hold is burned whole.
 */
export type SettleHold = Command<
  'SettleHold',
  OfTenant & Pick<Burn, BurnScope | 'pages' | 'delivered'> & { readonly hold_id: string }
>;

export type ReleaseHold = Command<'ReleaseHold', OfTenant & Asked<'HoldReleased', 'released_at'>>;

/** A flat burn without a hold, at most once per `idempotency_key` of the tenant. */
export type ChargeCredits = Command<
  'ChargeCredits',
  OfTenant &
    Pick<
      Burn,
      BurnScope | 'tags' | 'credits' | 'operation' | 'category' | 'billing_type' | 'billing_config_version'
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
  | AddSaleDetails
  | BookSaleRate
  | RefundCredits
  | ReverseRefund
  | TellDispute
  | SendCredits
  | ReceiveCredits
  | AdjustCredits
  | HoldCredits
  | SettleHold
  | ReleaseHold
  | ChargeCredits
  | BudgetCommand;

/** Why an account said no. The codes are those of the interface, or map to one. */
export type AccountRejection =
  /** `members`: those that contradict what is known of the sale; left out where it is for something else. */
  | { readonly code: 'idempotency_key_reused'; readonly members?: readonly string[] }
  /** One movement is at most `MOVEMENT_MAX`, and no total passes 2^53 − 1, so that all numbers are exact. */
  | { readonly code: 'credits_out_of_range' }
  /** A tenant cannot send credits to itself. */
  | { readonly code: 'transfer_to_itself' }
  /** Credits would arrive before they left. */
  | { readonly code: 'transfer_too_early' }
  | { readonly code: 'original_grant_not_found' }
  | { readonly code: 'refund_mismatch'; readonly reason: 'tenant' | 'currency' }
  | {
      readonly code: 'refund_exceeds_original';
      readonly refundable_credits: Credits;
      readonly refundable_amount_minor: number | null;
    }
  | { readonly code: 'refund_not_found' }
  | {
      readonly code: 'reversal_exceeds_refund';
      readonly reversible_credits: Credits;
      readonly reversible_amount_minor: number;
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
  | { readonly code: 'burn_exceeds_hold' }
  | BudgetRejection;

export type AccountEventOf<Type extends AccountEvent['type']> = Extract<AccountEvent, { type: Type }>;

/** The stream of a tenant's credit account. */
export const accountStream = (tenantId: string): string => `account-${tenantId}`;

export interface PaymentIdentity {
  readonly provider: string;
  readonly provider_txn_id: string;
}

/** One text for one payment: the provider without case, and its transaction, apart by a control character. */
export const paymentKey = ({ provider, provider_txn_id }: PaymentIdentity): string =>
  `${provider.toLowerCase()}\u001f${provider_txn_id}`;

/** The stream whose first event claims the payment, for all tenants. */
export const paymentStream = (identity: PaymentIdentity): string => `payment-${sha256(paymentKey(identity))}`;
