import { accept, type Decision, reject } from '../kernel/decider.ts';
import {
  asCredits,
  type Credits,
  divideHalfEven,
  minus,
  NO_CREDITS,
  plus,
  staysExact,
} from '../kernel/amounts.ts';
import {
  type AccountEvent,
  type AccountRejection,
  type GrantCredits,
  paymentKey,
  type RefundCredits,
} from './messages.ts';
import { contradictionsOf } from './saleDetails.ts';
import { type AccountState, availableIn, opening, paymentAt, refundAt, type SaleState } from './state.ts';

type AccountDecision = Decision<AccountEvent, AccountRejection>;

/** The same payment again: facts that are new are added by a command of their own. */
const again = (earlier: SaleState | undefined, data: GrantCredits['data']): AccountDecision => {
  if (earlier === undefined) return reject({ code: 'idempotency_key_reused' });
  if (earlier.sale.fingerprint === data.fingerprint) return accept();
  const members = contradictionsOf(earlier.sale, data);
  return members.length === 0 ? accept() : reject({ code: 'idempotency_key_reused', members });
};

/** A sale. A first sale moves the plan from free to paid. */
export const grantCredits = (state: AccountState, { data, meta }: GrantCredits): AccountDecision => {
  const key = paymentKey(data);
  const earlier = paymentAt(state, key);
  if (earlier !== undefined) return again(earlier.sale, data);

  const isExact = [state.balance, state.purchased].every((total) => staysExact(total, data.credits));
  if (!isExact) return reject({ code: 'credits_out_of_range' });

  const { tenant_id, ...sale } = data;
  const balance_after = plus(state.balance, data.credits);
  const events: AccountEvent[] = [
    ...opening(state, tenant_id, meta),
    { type: 'CreditsGranted', data: { ...sale, created_at: meta.now, balance_after } },
  ];
  if (state.plan === 'free' && !state.hasSales)
    events.push({
      type: 'PlanSet',
      data: { plan: 'paid', previous_plan: 'free', reason: 'first sale', set_at: meta.now },
    });
  return accept(...events);
};

/** What a refund takes back, or its reversal gives again: credits, and money in minor units of the sale's currency. */
export interface Amounts {
  readonly credits: Credits;
  readonly gross: number;
  readonly vat: number;
  readonly fee: number;
}

/** What of a sale is not refunded yet; a sale without money has 0 of it. */
export const remainingOf = ({ sale, ...refunded }: SaleState): Amounts => ({
  credits: minus(sale.credits, refunded.refunded_credits),
  gross: (sale.gross_amount_minor ?? 0) - refunded.refunded_gross_minor,
  vat: sale.vat_amount_minor - refunded.refunded_vat_minor,
  fee: sale.provider_fee_minor - refunded.refunded_fee_minor,
});

/** ⌊whole × part ÷ of⌋, exact; 0 of nothing. */
export const shareOf = (whole: number, part: number, of: number): number =>
  of === 0 ? 0 : Number((BigInt(whole) * BigInt(part)) / BigInt(of));

/**
 * The share of what was refunded so far and is refunded now, half-even, less what was taken of it: so that the parts
 * add up to the whole.
 */
const cumulated = (whole: number, refunded: { readonly gross: number; readonly taken: number }, of: number) =>
  of === 0 ? 0 : Number(divideHalfEven(BigInt(whole) * BigInt(refunded.gross), BigInt(of))) - refunded.taken;

/**
 * A derived share of VAT, held between two bounds: no more than the refund's money can carry, and no less
 * than what the money that stays behind could not carry: the last refund of a sale must not have more VAT than money.
 */
const carriedVat = (share: number, gross: number, remaining: Amounts): number => {
  const leftBehind = remaining.gross - gross;
  return Math.min(gross, remaining.vat, Math.max(share, remaining.vat - leftBehind));
};

/**
 * All credits that are left of a sale, less those of its bonus that were used: a bonus has no price, so that it is
 * taken back only as far as it is there. `available`: credits that the account can give back.
 */
const allThatIsThere = (of: SaleState, available: number): number => {
  const { credits: left } = remainingOf(of);
  const bonus = shareOf(of.sale.bonus_credits ?? 0, left, of.sale.credits);
  return Math.max(left - bonus, Math.min(left, Math.max(0, available)));
};

/**
 * Fills what the caller left out, in proportion to the money and never more than remains: credits rounded down, VAT and
 * fee by what was refunded so far and is now. All remaining money takes all that remains, so a sale and its full refund
 * come to zero.
 */
const amountsOf = (data: RefundCredits['data'], of: SaleState, available: number): Amounts => {
  const remaining = remainingOf(of);
  const gross = data.gross_amount_minor ?? 0;
  const all = gross > 0 && gross === remaining.gross;
  const total = of.sale.gross_amount_minor ?? 0;
  const part = Math.min(remaining.credits, shareOf(of.sale.credits, gross, total));
  const credits = all ? allThatIsThere(of, available) : part;
  const due = (whole: number, left: number) => {
    const refunded = { gross: total - remaining.gross + gross, taken: whole - left };
    return all ? left : Math.min(left, Math.max(0, cumulated(whole, refunded, total)));
  };
  return {
    credits: data.credits ?? asCredits(credits),
    gross,
    vat: data.vat_amount_minor ?? carriedVat(due(of.sale.vat_amount_minor, remaining.vat), gross, remaining),
    fee: data.provider_fee_minor ?? Math.min(gross, due(of.sale.provider_fee_minor, remaining.fee)),
  };
};

/**
 * A dispute takes back the credits that are there, of those that its money is for, and the money in any case: all that
 * is left of the sale's where no amount is told. One that was won when it is told of first takes nothing.
 */
const disputedOf = (data: RefundCredits['data'], of: SaleState, available: number): Amounts => {
  if (data.dispute?.status === 'won') return { credits: NO_CREDITS, gross: 0, vat: 0, fee: 0 };
  const gross = data.gross_amount_minor ?? remainingOf(of).gross;
  const due = amountsOf({ ...data, gross_amount_minor: gross }, of, available);
  const isUnpaid = (of.sale.gross_amount_minor ?? 0) === 0;
  const credits = isUnpaid ? remainingOf(of).credits : due.credits;
  return { ...due, credits: asCredits(Math.min(credits, Math.max(0, available))) };
};

const wantedOf = (data: RefundCredits['data'], of: SaleState, available: number): Amounts =>
  (data.dispute === undefined ? amountsOf : disputedOf)(data, of, available);

const exceeds = (wanted: Amounts, remaining: Amounts): boolean =>
  wanted.credits > remaining.credits ||
  wanted.gross > remaining.gross ||
  wanted.vat > Math.min(remaining.vat, wanted.gross) ||
  wanted.fee > remaining.fee;

/** What the sale still has comes first, then what the account can give back. */
const beyondLimits = (state: AccountState, of: SaleState, wanted: Amounts): AccountRejection | undefined => {
  const remaining = remainingOf(of);
  if (exceeds(wanted, remaining))
    return {
      code: 'refund_exceeds_original',
      refundable_credits: remaining.credits,
      refundable_amount_minor: of.sale.gross_amount_minor === null ? null : remaining.gross,
    };
  const available_credits = availableIn(state);
  const most = Math.max(0, available_credits);
  if (wanted.credits <= most) return undefined;
  const max_refundable_credits = asCredits(Math.min(most, remaining.credits));
  return { code: 'insufficient_balance', available_credits, max_refundable_credits };
};

const disputeIn = ({ dispute }: RefundCredits['data']) => (dispute === undefined ? {} : { dispute });

/** Credits that a refund takes where all are there; 0 for one that is more than what is left of its sale. */
export const creditsDue = (data: RefundCredits['data'], of: SaleState): number => {
  const wanted = wantedOf(data, of, Number.MAX_SAFE_INTEGER);
  return exceeds(wanted, remainingOf(of)) ? 0 : wanted.credits;
};

/** Order of checks: repeat, 404, mismatch, exceeds, balance. */
export const refundCredits = (state: AccountState, { data, meta }: RefundCredits): AccountDecision => {
  const key = paymentKey(data);
  // A repeat is answered with what is left of its sale.
  if (refundAt(state, key)?.refund.fingerprint === data.fingerprint) return accept();
  if (paymentAt(state, key) !== undefined) return reject({ code: 'idempotency_key_reused' });

  const of = paymentAt(
    state,
    paymentKey({ provider: data.original_provider, provider_txn_id: data.original_provider_txn_id }),
  )?.sale;
  if (of === undefined) return reject({ code: 'original_grant_not_found' });
  if (data.currency !== null && data.currency !== of.sale.currency)
    return reject({ code: 'refund_mismatch', reason: 'currency' });

  const wanted = wantedOf(data, of, availableIn(state));
  const rejection = beyondLimits(state, of, wanted);
  if (rejection !== undefined) return reject(rejection);
  return accept({
    type: 'CreditsRefunded',
    data: {
      refund_id: data.refund_id,
      grant_id: of.sale.grant_id,
      provider: data.provider,
      provider_txn_id: data.provider_txn_id,
      credits: wanted.credits,
      currency: of.sale.currency,
      gross_amount_minor: wanted.gross,
      vat_amount_minor: wanted.vat,
      provider_fee_minor: wanted.fee,
      ...disputeIn(data),
      fingerprint: data.fingerprint,
      reason: data.reason,
      occurred_at: data.occurred_at,
      created_at: meta.now,
      balance_after: minus(state.balance, wanted.credits),
    },
  });
};
