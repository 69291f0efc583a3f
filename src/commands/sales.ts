import {
  type AccountCommand,
  type AccountEventOf,
  type AccountRejection,
  type Dispute,
  type GrantCredits,
  type PaymentIdentity,
  paymentKey,
  type RefundCredits,
  type ReverseRefund,
  type SaleDetails,
} from '../../domain/account/messages.ts';
import { type AccountState, paymentAt, refundAt } from '../../domain/account/state.ts';
import { fxRateOn } from '../../domain/fxRates.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import { fingerprintOf } from '../../domain/kernel/chain.ts';
import { contradictionsOf } from '../../domain/account/saleDetails.ts';
import { remainingOf } from '../../domain/account/payments.ts';
import { reversibleOf } from '../../domain/account/reversals.ts';
import { priceSale, type SaleRejection as PriceRejection } from '../../domain/priceList.ts';
import type { Clock, EventStore } from '../../domain/ports/log.ts';
import type { PaymentClaim } from '../../domain/payment.ts';
import { type ReferenceData, timeInFuture, type TimeInFuture } from './reference.ts';
import type { AccountWriter } from '../writer/accountWriter.ts';
import type { NotNow } from '../writer/decideBatch.ts';
import type { Payments } from './money/payments.ts';
import { derivedMeta } from './money/paymentClaims.ts';
import { asCredits, plus } from '../../domain/kernel/amounts.ts';
import { withTexts } from '../writer/vault.ts';

/** A sale as a caller tells of it; what may be left out follows from the rest or from the price list. */
interface SaleRequest extends PaymentIdentity {
  readonly tenant_id: string;
  /** Those that have a price. */
  readonly credits?: number | null | undefined;
  readonly bonus_credits?: number | null | undefined;
  readonly discount_minor?: number | null | undefined;
  readonly discount_code?: string | null | undefined;
  readonly payout_id?: string | null | undefined;
  readonly tax_rate?: string | null | undefined;
  readonly tax_country?: string | null | undefined;
  readonly currency: string;
  readonly gross_amount_minor?: number | null | undefined;
  readonly vat_amount_minor: number;
  readonly provider_fee_minor: number;
  readonly price_list_version?: number | null | undefined;
  readonly occurred_at?: string | null | undefined;
  readonly invoice_ref?: string | null | undefined;
  readonly note?: string | null | undefined;
}

interface SalesDeps {
  readonly reference: Pick<ReferenceData, 'priceLists' | 'fxRates'>;
  readonly clock: Pick<Clock, 'newId'>;
  readonly payments: Pick<Payments, 'sellCredits' | 'refundCredits'>;
  readonly accounts: Pick<AccountWriter, 'execute'>;
  /** With the texts that lie beside it. */
  readonly store: Pick<EventStore, 'vault'>;
  /** The holder of a payment identity, and its command, by the log. */
  readonly claimantOf: (payment: PaymentIdentity) => Promise<PaymentClaim | undefined>;
}

/** Members that were not sent and those that were null are one payload. */
const digestOf = (kind: string, body: object): string => {
  const members: readonly [string, unknown][] = Object.entries(body);
  return fingerprintOf({ kind, ...Object.fromEntries(members.filter(([, value]) => value != null)) });
};

/** Members that were left out are null from here on. */
const withNulls = (body: SaleRequest, now: string) => ({
  ...body,
  credits: body.credits ?? null,
  gross_amount_minor: body.gross_amount_minor ?? null,
  discount_minor: body.discount_minor ?? 0,
  price_list_version: body.price_list_version ?? null,
  occurred_at: body.occurred_at ?? now,
  invoice_ref: body.invoice_ref ?? null,
  note: body.note ?? null,
});

/** Facts of a sale, left out where nothing is said of them. */
const factsOf = (body: SaleRequest) => {
  const { discount_code, payout_id, tax_rate, tax_country } = body;
  return {
    ...(discount_code == null ? {} : { discount_code }),
    ...(payout_id == null ? {} : { payout_id }),
    ...(tax_rate == null ? {} : { tax_rate }),
    ...(tax_country == null ? {} : { tax_country }),
  };
};

const furtherOf = (body: SaleRequest) => ({
  ...(body.bonus_credits ? { bonus_credits: asCredits(body.bonus_credits) } : {}),
  ...(body.discount_minor ? { discount_minor: body.discount_minor } : {}),
  ...factsOf(body),
});

/** USD per unit of the currency, as booked on the day of the sale; null when none is known. */
const bookedRate = async (
  { reference }: Pick<SalesDeps, 'reference'>,
  currency: string,
  occurredAt: string,
) => {
  const pair = { base: currency, quote: 'USD' };
  const fx = fxRateOn(await reference.fxRates(), pair, occurredAt.slice(0, 10));
  return { fx_rate_to_usd: fx?.rate ?? null, fx_rate_date: fx?.rate_date ?? null };
};

/** A sale as the one that was claimed tells it: credits that were left out follow from the money. */
const askedFor = (body: SaleRequest, claimed: GrantCredits['data']) => ({
  ...body,
  ...furtherOf(body),
  gross_amount_minor: body.gross_amount_minor ?? null,
  credits: body.credits == null ? claimed.credits : body.credits + (body.bonus_credits ?? 0),
});

/** The payment was taken for another sale; `members`: in what they differ, as far as that can be said. */
interface Another {
  readonly code: 'payment_claimed';
  readonly members: readonly string[];
}
const another = (members: readonly string[]): Another => ({ code: 'payment_claimed', members });

/**
 * The sale that was claimed under this identity, asked for again: prices may have changed since then, and
 * a payment that was taken at the old ones stays taken. undefined: the identity is free.
 */
const repeatOf = async (
  { claimantOf }: Pick<SalesDeps, 'claimantOf'>,
  body: SaleRequest,
  meta: CommandMeta,
): Promise<GrantCredits | Another | undefined> => {
  const claim = await claimantOf(body);
  if (claim === undefined) return undefined;
  if (claim.kind !== 'sale') return another([]);
  const sameBody = claim.fingerprint === digestOf('sale', body);
  const { intent } = claim;
  if (intent.type !== 'GrantCredits') return sameBody ? undefined : another([]);
  if (claim.tenant_id !== body.tenant_id) return another(['tenant_id']);
  const members = sameBody ? [] : contradictionsOf(intent.data, askedFor(body, intent.data));
  return members.length === 0 ? { type: intent.type, data: intent.data, meta } : another(members);
};

/** Why a sale is refused before the account is asked. */
type SaleRefusal = PriceRejection | TimeInFuture | Another;
interface Refused<Rejection> {
  readonly kind: 'rejected';
  readonly rejection: Rejection;
}

/**
 * A sale as the account is asked for it: priced by the list, with the day's rate booked. A sale that
 * the list refuses still counts as a repeat if its payment was taken before.
 */
const saleCommand = async (
  deps: SalesDeps,
  body: SaleRequest,
  meta: CommandMeta,
): Promise<GrantCredits | Refused<SaleRefusal>> => {
  const sale = withNulls(body, meta.now);
  const ahead = timeInFuture(sale.occurred_at, meta.now, 'occurred_at');
  if (ahead !== undefined) return { kind: 'rejected', rejection: ahead };
  const pricing = priceSale(await deps.reference.priceLists(), sale);
  // credits that the list gives today may be others than those of the first time
  if (pricing.kind === 'rejected' || sale.credits === null) {
    const repeat = await repeatOf(deps, body, meta);
    if (repeat !== undefined && 'type' in repeat) return repeat;
    if (pricing.kind === 'rejected')
      return repeat === undefined ? pricing : { kind: 'rejected', rejection: repeat };
  }
  const { tenant_id, provider, provider_txn_id, currency, occurred_at } = sale;
  return {
    type: 'GrantCredits',
    meta,
    data: {
      tenant_id,
      grant_id: deps.clock.newId('grt'),
      provider,
      provider_txn_id,
      credits: plus(pricing.credits, asCredits(body.bonus_credits ?? 0)),
      ...furtherOf(body),
      currency,
      gross_amount_minor: sale.gross_amount_minor,
      vat_amount_minor: sale.vat_amount_minor,
      provider_fee_minor: sale.provider_fee_minor,
      ...pricing.priced,
      ...(await bookedRate(deps, currency, occurred_at)),
      fingerprint: digestOf('sale', body),
      invoice_ref: sale.invoice_ref,
      note: sale.note,
      occurred_at,
    },
  };
};

/** The sale that the account has under this identity: this one, or the one that it repeats. */
const saleAt = (state: AccountState, payment: PaymentIdentity): SaleData => {
  const sold = paymentAt(state, paymentKey(payment))?.sale;
  if (sold === undefined) throw new Error('a sale that was done is not in its account');
  return sold.sale;
};

/** A sale or refund that the account has. */
interface Paid {
  readonly kind: 'done';
  readonly balance: number;
  /** Whether this very request moved the balance; false for a repeat. */
  readonly credited: boolean;
  readonly position: bigint | undefined;
}

export type SaleRejection = AccountRejection | SaleRefusal;
type SaleData = AccountEventOf<'CreditsGranted'>['data'];
/** `details_added`: members that this very request added to what was known of the sale. */
type Sold = Paid & { readonly sale: SaleData; readonly details_added: readonly string[] };
type Sale = Sold | Refused<SaleRejection> | NotNow;

/** The facts of a request that its sale may not say yet. A reference is told again where its text is the same. */
const detailsOf = async (
  { store }: Pick<SalesDeps, 'store'>,
  body: SaleRequest,
  { invoice_ref: known }: SaleData,
): Promise<SaleDetails> => {
  const { vat_amount_minor, provider_fee_minor, invoice_ref } = body;
  // What was erased is not told again.
  const text = known === null ? '' : await withTexts<string | null>(store, known);
  const isNew = invoice_ref != null && text !== null && text !== invoice_ref;
  return {
    ...(vat_amount_minor > 0 ? { vat_amount_minor } : {}),
    ...(provider_fee_minor > 0 ? { provider_fee_minor } : {}),
    ...(isNew ? { invoice_ref } : {}),
    ...factsOf(body),
  };
};

/** A repeat, with what it says beyond the sale that it repeats. */
const toldAgain = async (
  deps: SalesDeps,
  { body, meta }: { readonly body: SaleRequest; readonly meta: CommandMeta },
  sold: Sold,
): Promise<Sale> => {
  const details = await detailsOf(deps, body, sold.sale);
  if (Object.keys(details).length === 0) return sold;
  const { tenant_id, provider, provider_txn_id } = body;
  const outcome = await deps.accounts.execute({
    type: 'AddSaleDetails',
    data: { tenant_id, provider, provider_txn_id, details },
    meta: derivedMeta(meta, `details ${meta.now}`),
  });
  if (outcome.kind !== 'done') return outcome;
  const [added] = outcome.events;
  if (added?.type !== 'SaleDetailsAdded') return sold;
  const sale = saleAt(outcome.state, body);
  return { ...sold, sale, position: outcome.position, details_added: Object.keys(added.data.details) };
};

/** Records a sale of credits; a repeat gives the sale that it repeats, with the facts that it adds. */
export const sellCredits =
  (deps: SalesDeps) =>
  async (body: SaleRequest, meta: CommandMeta): Promise<Sale> => {
    const command = await saleCommand(deps, body, meta);
    if ('kind' in command) return command;
    const { outcome, credited } = await deps.payments.sellCredits(command);
    if (outcome.kind !== 'done') return outcome;
    const { kind, state, position } = outcome;
    const sale = saleAt(state, command.data);
    const sold = { kind, sale, balance: state.balance, credited, position, details_added: [] };
    return credited ? sold : toldAgain(deps, { body, meta }, sold);
  };

/** A refund as a caller tells of it; what is left out is derived by the account. */
interface RefundRequest extends PaymentIdentity {
  readonly tenant_id: string;
  readonly original_provider?: string | null | undefined;
  readonly original_provider_txn_id: string;
  readonly credits?: number | null | undefined;
  readonly currency?: string | null | undefined;
  readonly gross_amount_minor?: number | null | undefined;
  readonly vat_amount_minor?: number | null | undefined;
  /** null: in proportion. */
  readonly provider_fee_minor: number | null;
  readonly occurred_at?: string | null | undefined;
  readonly reason?: string | null | undefined;
}

type RefundsDeps = Pick<SalesDeps, 'clock' | 'payments' | 'claimantOf'> & {
  /** Brings credits of the sale back from other tenants; something else than undefined: not now. */
  readonly broughtBack: (command: RefundCredits) => Promise<NotNow | undefined>;
};

const refundCommand = (
  { clock }: RefundsDeps,
  body: RefundRequest,
  { occurred_at, meta }: { readonly occurred_at: string; readonly meta: CommandMeta },
): RefundCredits => ({
  type: 'RefundCredits',
  meta,
  data: {
    tenant_id: body.tenant_id,
    refund_id: clock.newId('rfd'),
    provider: body.provider,
    provider_txn_id: body.provider_txn_id,
    original_provider: body.original_provider ?? body.provider,
    original_provider_txn_id: body.original_provider_txn_id,
    credits: typeof body.credits === 'number' ? asCredits(body.credits) : null,
    currency: body.currency ?? null,
    gross_amount_minor: body.gross_amount_minor ?? null,
    vat_amount_minor: body.vat_amount_minor ?? null,
    provider_fee_minor: body.provider_fee_minor,
    fingerprint: digestOf('refund', body),
    reason: body.reason ?? null,
    occurred_at,
  },
});

/** The refund under this identity, and what is left of its sale. */
const refundIn = (state: AccountState, { data }: RefundCredits) => {
  const done = refundAt(state, paymentKey(data));
  if (done === undefined) throw new Error('a refund that was done is not in its account');
  const { refund, of: sold } = done;
  const { credits, gross } = remainingOf(sold);
  return {
    refund,
    refundable_credits: credits,
    refundable_amount_minor: sold.sale.gross_amount_minor === null ? null : gross,
  };
};

/** A sale that another tenant made is not the same as one that nobody made. */
const isOfAnother = async ({ claimantOf }: RefundsDeps, { data }: RefundCredits): Promise<boolean> => {
  const { original_provider: provider, original_provider_txn_id: provider_txn_id } = data;
  const claimant = await claimantOf({ provider, provider_txn_id });
  return claimant?.kind === 'sale' && claimant.tenant_id !== data.tenant_id;
};

export type RefundRejection = AccountRejection | TimeInFuture | { readonly code: 'sale_of_another_tenant' };
type Refund = (Paid & ReturnType<typeof refundIn>) | Refused<RefundRejection> | NotNow;

/** Records a refund of all or part of a sale; a repeat gives the refund that it repeats. */
export const refundCredits =
  (deps: RefundsDeps) =>
  async (body: RefundRequest, meta: CommandMeta): Promise<Refund> => {
    const occurred_at = body.occurred_at ?? meta.now;
    const ahead = timeInFuture(occurred_at, meta.now, 'occurred_at');
    if (ahead !== undefined) return { kind: 'rejected', rejection: ahead };
    const command = refundCommand(deps, body, { occurred_at, meta });
    const notNow = await deps.broughtBack(command);
    if (notNow !== undefined) return notNow;
    const { outcome, credited } = await deps.payments.refundCredits(command);
    const isUnknown = outcome.kind === 'rejected' && outcome.rejection.code === 'original_grant_not_found';
    if (isUnknown && (await isOfAnother(deps, command)))
      return { kind: 'rejected', rejection: { code: 'sale_of_another_tenant' } };
    if (outcome.kind !== 'done') return outcome;
    const { kind, state, position } = outcome;
    return { kind, ...refundIn(state, command), balance: state.balance, credited, position };
  };

/** A dispute as a caller tells of it. */
interface DisputeRequest extends PaymentIdentity {
  readonly original_provider_txn_id: string;
  readonly status: Dispute['status'];
  readonly gross_amount_minor?: number | null | undefined;
  readonly fee_minor?: number | null | undefined;
}

interface DisputesDeps extends RefundsDeps {
  readonly accounts: Pick<AccountWriter, 'execute'>;
}

/** The dispute as a refund of its sale. All requests about one dispute of one sale are the same refund. */
const disputeCommand = (
  { clock }: Pick<DisputesDeps, 'clock'>,
  body: DisputeRequest,
  { tenant_id, meta }: { readonly tenant_id: string; readonly meta: CommandMeta },
): RefundCredits => {
  const { provider, provider_txn_id, original_provider_txn_id } = body;
  return {
    type: 'RefundCredits',
    meta,
    data: {
      tenant_id,
      refund_id: clock.newId('dsp'),
      provider,
      provider_txn_id,
      original_provider: provider,
      original_provider_txn_id,
      credits: null,
      currency: null,
      gross_amount_minor: body.gross_amount_minor ?? null,
      vat_amount_minor: null,
      provider_fee_minor: 0,
      dispute: { status: body.status, fee_minor: body.fee_minor ?? 0 },
      fingerprint: digestOf('dispute', {
        provider: provider.toLowerCase(),
        provider_txn_id,
        original_provider_txn_id,
      }),
      reason: null,
      occurred_at: meta.now,
    },
  };
};

/** Whose sale was disputed, or why it cannot be said. A dispute that is known names its sale. */
const disputedSale = async (
  { claimantOf }: Pick<DisputesDeps, 'claimantOf'>,
  { provider, provider_txn_id, original_provider_txn_id }: DisputeRequest,
): Promise<{ readonly tenant_id: string } | Refused<RefundRejection>> => {
  const intent = (await claimantOf({ provider, provider_txn_id }))?.intent;
  const isAnother =
    intent?.type === 'RefundCredits' &&
    intent.data.dispute !== undefined &&
    intent.data.original_provider_txn_id !== original_provider_txn_id;
  if (isAnother) {
    const members = ['original_provider_txn_id'];
    return { kind: 'rejected', rejection: { code: 'idempotency_key_reused', members } };
  }
  const sale = await claimantOf({ provider, provider_txn_id: original_provider_txn_id });
  return sale?.kind === 'sale' ? sale : { kind: 'rejected', rejection: { code: 'original_grant_not_found' } };
};

type DisputeDone = Paid & { readonly tenant_id: string } & ReturnType<typeof refundIn>;

/** Records a dispute, or news of one: it takes back what is there, and a dispute that was won gives it back again. */
export const recordDispute =
  (deps: DisputesDeps) =>
  async (
    body: DisputeRequest,
    meta: CommandMeta,
  ): Promise<DisputeDone | Refused<RefundRejection> | NotNow> => {
    const of = await disputedSale(deps, body);
    if ('rejection' in of) return of;
    const { tenant_id } = of;
    const command = disputeCommand(deps, body, { tenant_id, meta });
    const notNow = await deps.broughtBack(command);
    if (notNow !== undefined) return notNow;
    const first = await deps.payments.refundCredits(command);
    if (first.outcome.kind !== 'done') return first.outcome;
    const { provider, provider_txn_id, status, gross_amount_minor = null, fee_minor } = body;
    const told: AccountCommand = {
      type: 'TellDispute',
      data: {
        tenant_id,
        provider,
        provider_txn_id,
        status,
        gross_amount_minor,
        fee_minor: fee_minor ?? 0,
        reversal_id: deps.clock.newId('rev'),
      },
      meta: derivedMeta(meta, `dispute ${meta.now}`),
    };
    const outcome = first.credited ? first.outcome : await deps.accounts.execute(told);
    if (outcome.kind !== 'done') return outcome;
    const { kind, state, position } = outcome;
    const credited = outcome.events.length > 0;
    return { kind, tenant_id, ...refundIn(state, command), balance: state.balance, credited, position };
  };

/** A reversal as a caller tells of it; without amounts it is all that is left of the refund. */
interface ReversalRequest {
  readonly refund_id: string;
  readonly provider_txn_id: string;
  readonly credits?: number | null | undefined;
  readonly gross_amount_minor?: number | null | undefined;
  readonly reason?: string | null | undefined;
}

interface RefundFound extends PaymentIdentity {
  readonly tenant_id: string;
  readonly kind: string;
}

interface ReversalsDeps {
  readonly clock: Pick<Clock, 'newId'>;
  readonly payments: Pick<Payments, 'reverseRefund'>;
  /** A sale, refund or reversal of any tenant, by its ID. */
  readonly grantById: (grantId: string) => Promise<RefundFound | undefined>;
}

const reversalCommand = (
  { clock }: Pick<ReversalsDeps, 'clock'>,
  body: ReversalRequest,
  { refund, meta }: { readonly refund: RefundFound; readonly meta: CommandMeta },
): ReverseRefund => ({
  type: 'ReverseRefund',
  meta,
  data: {
    tenant_id: refund.tenant_id,
    reversal_id: clock.newId('rev'),
    refund_id: body.refund_id,
    refund_provider_txn_id: refund.provider_txn_id,
    provider: refund.provider,
    provider_txn_id: body.provider_txn_id,
    credits: typeof body.credits === 'number' ? asCredits(body.credits) : null,
    gross_amount_minor: body.gross_amount_minor ?? null,
    fingerprint: digestOf('reversal', body),
    reason: body.reason ?? null,
    occurred_at: meta.now,
  },
});

/** The reversal under this identity, what is left of its refund, and what can still be refunded of the sale. */
const reversalIn = (state: AccountState, { data }: ReverseRefund) => {
  const reversal = paymentAt(state, paymentKey(data))?.reversal;
  const refunded = { provider: data.provider, provider_txn_id: data.refund_provider_txn_id };
  const found = refundAt(state, paymentKey(refunded));
  if (reversal === undefined || found === undefined)
    throw new Error('a reversal that was done is not in its account');
  const [left, sold] = [reversibleOf(found.refund, found.of), remainingOf(found.of)];
  return {
    reversal,
    reversible_credits: left.credits,
    reversible_amount_minor: left.gross,
    refundable_credits: sold.credits,
    refundable_amount_minor: found.of.sale.gross_amount_minor === null ? null : sold.gross,
  };
};

type Reversal =
  | (ReturnType<typeof reversalIn> & {
      readonly kind: 'done';
      readonly tenant_id: string;
      readonly balance: number;
      /** Whether this very request moved the balance; false for a repeat. */
      readonly credited: boolean;
      readonly position: bigint | undefined;
    })
  | { readonly kind: 'rejected'; readonly rejection: AccountRejection }
  | NotNow;

export type ReversedRefund = AccountEventOf<'RefundReversed'>['data'];

/** Undoes all or part of a refund; a repeat gives the reversal that it repeats. */
export const reverseRefund =
  (deps: ReversalsDeps) =>
  async (body: ReversalRequest, meta: CommandMeta): Promise<Reversal> => {
    const refund = await deps.grantById(body.refund_id);
    if (refund?.kind !== 'refund') return { kind: 'rejected', rejection: { code: 'refund_not_found' } };
    const command = reversalCommand(deps, body, { refund, meta });
    const { outcome, credited } = await deps.payments.reverseRefund(command);
    if (outcome.kind !== 'done') return outcome;
    const { kind, state, position } = outcome;
    const { tenant_id } = refund;
    return { kind, tenant_id, ...reversalIn(state, command), balance: state.balance, credited, position };
  };
