import { parseDecimal, powerOfTen, type Decimal } from '../kernel/rounding.ts';
import { asCredits, type Credits } from '../kernel/units.ts';
import { priceListFor, type Priced, type PriceListState } from './decider.ts';
import type { PriceListEntry } from './events.ts';

/** The part of a sale that is checked against a price list. */
export interface SaleOffer {
  readonly currency: string;
  readonly credits: number | null;
  readonly gross_amount_minor: number | null;
  readonly vat_amount_minor: number;
  readonly price_list_version: number | null;
  readonly occurred_at: string;
}

export type SaleRejection =
  | { readonly code: 'currency_not_offered'; readonly currency: string }
  | { readonly code: 'price_mismatch'; readonly expected_minor: number }
  | { readonly code: 'price_list_version_unknown' };

type SalePricing =
  | { readonly kind: 'priced'; readonly credits: Credits; readonly priced: Priced }
  | { readonly kind: 'rejected'; readonly rejection: SaleRejection };

/** Price of 1,000 credits in minor units: exact, with the decimals that the list has. */
const priceInMinor = ({ price_per_1000_credits, minor_unit_digits }: PriceListEntry): Decimal => {
  const { units, scale } = parseDecimal(price_per_1000_credits);
  return scale <= minor_unit_digits
    ? { units: units * powerOfTen(minor_unit_digits - scale), scale: 0 }
    : { units, scale: scale - minor_unit_digits };
};

const absolute = (n: bigint): bigint => (n < 0n ? -n : n);

/**
 * `|credits × p − A × 1000| < max(p, 1000)`: within less than one credit or one minor unit. `p` is the
 * price of 1,000 credits and `A` the priced amount, both in minor units. Source: api.md §5.
 */
const isPriceOf = (credits: number, amountMinor: number, price: Decimal): boolean => {
  const one = powerOfTen(price.scale);
  const difference = absolute(BigInt(credits) * price.units - BigInt(amountMinor) * 1000n * one);
  const bound = price.units > 1000n * one ? price.units : 1000n * one;
  return difference < bound;
};

/** A whole number that JSON carries exactly; what is beyond 2^53 − 1 is that much. */
const exactly = (n: bigint): number => Number(n > MAX_EXACT ? MAX_EXACT : n);
const MAX_EXACT = BigInt(Number.MAX_SAFE_INTEGER);

/** ⌊A × 1000 ÷ p⌋ credits, at least 1. */
const creditsFor = (amountMinor: number, price: Decimal): number => {
  const derived = (BigInt(amountMinor) * 1000n * powerOfTen(price.scale)) / price.units;
  return derived < 1n ? 1 : exactly(derived);
};

/** What `credits` cost in whole minor units, rounded up. */
const amountFor = (credits: number, price: Decimal): bigint => {
  const unit = 1000n * powerOfTen(price.scale);
  return (BigInt(credits) * price.units + unit - 1n) / unit;
};

/**
 * Checks a sale against its price list. List prices exclude VAT unless the entry says otherwise. A sale
 * without money has only a count. Money of 0 buys nothing: credits given away are an adjustment, not a
 * sale. Expects `credits` or `gross_amount_minor`, and VAT ≤ gross.
 */
export const priceSale = (lists: PriceListState, offer: SaleOffer): SalePricing => {
  const list = priceListFor(lists, offer.price_list_version, offer.occurred_at);
  if (list === undefined) return { kind: 'rejected', rejection: { code: 'price_list_version_unknown' } };
  const entry = list.entries.find(({ currency }) => currency === offer.currency);
  if (entry === undefined)
    return { kind: 'rejected', rejection: { code: 'currency_not_offered', currency: offer.currency } };

  const priced: Priced = {
    price_list_version: list.version,
    price_per_1000_credits: entry.price_per_1000_credits,
    tax_basis: entry.tax_basis,
  };
  const gross = offer.gross_amount_minor;
  if (gross === null) return { kind: 'priced', credits: asCredits(offer.credits ?? 0), priced };

  const price = priceInMinor(entry);
  const amount = entry.tax_basis === 'inclusive' ? gross : gross - offer.vat_amount_minor;
  const credits = offer.credits ?? creditsFor(amount, price);
  if (gross > 0 && isPriceOf(credits, amount, price))
    return { kind: 'priced', credits: asCredits(credits), priced };
  const net = amountFor(credits, price);
  const expected = entry.tax_basis === 'inclusive' ? net : net + BigInt(offer.vat_amount_minor);
  return { kind: 'rejected', rejection: { code: 'price_mismatch', expected_minor: exactly(expected) } };
};
