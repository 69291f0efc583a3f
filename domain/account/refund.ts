import { reject } from '../kernel/decider.ts';
import { divideDown } from '../kernel/rounding.ts';
import { asCredits, minus, negated, type Credits } from '../kernel/units.ts';
import { paymentKey, paymentKeyOf } from '../payment/identity.ts';
import type { RefundCredits } from './commands.ts';
import { covers, fits, reused, sameAgain, type AccountDecision } from './decision.ts';
import { accepted } from './opening.ts';
import { availableIn, type AccountState, type SaleState } from './state.ts';

/** What of a sale is not refunded yet. A sale without money has 0 of it. */
export interface Refundable {
  readonly credits: Credits;
  readonly gross_minor: number;
  readonly vat_minor: number;
  readonly fee_minor: number;
}

export const refundableOf = (sold: SaleState): Refundable => ({
  credits: minus(sold.sale.credits, sold.refunded_credits),
  gross_minor: (sold.sale.gross_amount_minor ?? 0) - sold.refunded_gross_minor,
  vat_minor: sold.sale.vat_amount_minor - sold.refunded_vat_minor,
  fee_minor: sold.sale.provider_fee_minor - sold.refunded_fee_minor,
});

/** A refund, in the order of checks of the interface: repeat, 404, mismatch, exceeds, balance. */
export const refundCredits = (state: AccountState, command: RefundCredits): AccountDecision => {
  const { data } = command;
  const key = paymentKeyOf(data);
  const earlier = state.refunds.get(key);
  if (earlier !== undefined) return sameAgain(earlier, data);
  if (state.sales.has(key)) return reused();

  const sold = state.sales.get(paymentKey(data.original_provider, data.original_provider_txn_id));
  if (sold === undefined) return reject({ code: 'original_grant_not_found' });
  if (data.currency !== null && data.currency !== sold.sale.currency)
    return reject({ code: 'refund_mismatch', reason: 'currency' });
  return refundSale(state, command, sold);
};

const refundSale = (state: AccountState, command: RefundCredits, sold: SaleState): AccountDecision => {
  const left = refundableOf(sold);
  const wanted = wantedOf(command.data, sold.sale, left);
  if (exceeds(wanted, left))
    return reject({
      code: 'refund_exceeds_original',
      refundable_credits: left.credits,
      refundable_amount_minor: sold.sale.gross_amount_minor === null ? null : left.gross_minor,
    });

  const available_credits = availableIn(state);
  if (!covers(available_credits, wanted.credits)) {
    const max_refundable_credits = asCredits(Math.max(0, Math.min(available_credits, left.credits)));
    return reject({ code: 'insufficient_balance', available_credits, max_refundable_credits });
  }
  if (!fits(state, { total: 'purchased', delta: negated(wanted.credits) }))
    return reject({ code: 'credits_out_of_range' });
  return accepted(state, command, creditsRefunded(state, command, { sold, wanted }));
};

/**
 * What the refund takes. Shares are rounded down, and the refund that takes all remaining money takes
 * all remaining credits and VAT, so partial refunds sum up to the sale exactly. A derived share never
 * passes what is left; one that the caller states may, and is refused then.
 */
const wantedOf = (data: RefundCredits['data'], sale: SaleState['sale'], left: Refundable): Refundable => {
  const gross_minor = data.gross_amount_minor ?? 0;
  const share = { gross_minor, of: sale.gross_amount_minor ?? 0, left: left.gross_minor };
  const credits = data.credits ?? asCredits(shareOf(share, sale.credits, left.credits));
  const vat = shareOf(share, sale.vat_amount_minor, left.vat_minor);
  const vat_minor = data.vat_amount_minor ?? Math.min(vat, gross_minor);
  return { credits, gross_minor, vat_minor, fee_minor: data.provider_fee_minor };
};

/** How much money is refunded, of how much in the sale, and how much of it was left. */
interface MoneyShare {
  readonly gross_minor: number;
  readonly of: number;
  readonly left: number;
}

const shareOf = ({ gross_minor, of, left }: MoneyShare, whole: number, remaining: number): number => {
  if (gross_minor === 0 || of === 0) return 0;
  if (gross_minor === left) return remaining;
  const share = Number(divideDown(BigInt(whole) * BigInt(gross_minor), BigInt(of)));
  return Math.min(share, remaining);
};

const exceeds = (wanted: Refundable, left: Refundable): boolean =>
  wanted.credits > left.credits ||
  wanted.gross_minor > left.gross_minor ||
  wanted.vat_minor > Math.min(left.vat_minor, wanted.gross_minor) ||
  wanted.fee_minor > left.fee_minor;

const creditsRefunded = (
  state: AccountState,
  { data, meta }: RefundCredits,
  { sold, wanted }: { readonly sold: SaleState; readonly wanted: Refundable },
) =>
  ({
    type: 'CreditsRefunded',
    data: {
      refund_id: data.refund_id,
      grant_id: sold.sale.grant_id,
      provider: data.provider,
      provider_txn_id: data.provider_txn_id,
      credits: wanted.credits,
      currency: sold.sale.currency,
      gross_amount_minor: wanted.gross_minor,
      vat_amount_minor: wanted.vat_minor,
      provider_fee_minor: wanted.fee_minor,
      fingerprint: data.fingerprint,
      reason: data.reason,
      occurred_at: data.occurred_at,
      created_at: meta.now,
      balance_after: minus(state.balance, wanted.credits),
    },
  }) as const;
