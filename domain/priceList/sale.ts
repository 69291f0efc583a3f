import type { GrantCredits } from '../account/commands.ts';
import { fingerprint } from '../kernel/fingerprint.ts';
import { DAY_MS, epochMs } from '../kernel/instants.ts';
import { asCredits } from '../kernel/units.ts';
import { activePriceList, priceListVersion, type PriceListState, type PriceListVersion } from './decider.ts';
import type { PriceListEntry } from './events.ts';
import { amountFor, creditsFor, isPriced, priceInMinor } from './pricing.ts';

/** A sale as the caller states it, with the defaults of the interface filled in. */
export interface SaleRequest {
  readonly tenant_id: string;
  readonly provider: string;
  readonly provider_txn_id: string;
  readonly credits: number | null;
  readonly currency: string;
  readonly gross_amount_minor: number | null;
  readonly vat_amount_minor: number;
  readonly provider_fee_minor: number;
  readonly price_list_version: number | null;
  /** null: now. */
  readonly occurred_at: string | null;
  readonly invoice_ref: string | null;
  readonly note: string | null;
}

/** What the price list says about a sale: these members of `GrantCredits`. */
export type PricedSale = Pick<
  GrantCredits['data'],
  | 'credits'
  | 'currency'
  | 'gross_amount_minor'
  | 'vat_amount_minor'
  | 'provider_fee_minor'
  | 'price_list_version'
  | 'price_per_1000_credits'
  | 'tax_basis'
  | 'occurred_at'
>;

/** `expected_minor` is the gross amount that the credits cost, with the VAT that the caller stated. */
export type SaleRejection =
  | { readonly code: 'currency_not_offered'; readonly currency: string; readonly offered: readonly string[] }
  | { readonly code: 'price_mismatch'; readonly expected_minor: number }
  | { readonly code: 'price_list_version_unknown' }
  | { readonly code: 'invalid_sale'; readonly member: keyof SaleRequest; readonly reason: InvalidSale };

/** What makes a sale meaningless whatever the price list says. */
export type InvalidSale =
  'credits_or_amount_required' | 'not_above_zero' | 'above_gross' | 'in_the_future' | 'out_of_range';

export type SaleCheck =
  | { readonly kind: 'priced'; readonly sale: PricedSale }
  | { readonly kind: 'rejected'; readonly rejection: SaleRejection };

/** A webhook may arrive so long after the version that the customer saw was superseded. */
export const PRICE_LIST_GRACE_MS = DAY_MS;
/** A payment provider's clock may be so far ahead of ours. */
export const CLOCK_SKEW_MS = 5 * 60_000;

const rejected = (rejection: SaleRejection): SaleCheck => ({ kind: 'rejected', rejection });
const invalid = (member: keyof SaleRequest, reason: InvalidSale): SaleRejection => ({
  code: 'invalid_sale',
  member,
  reason,
});

/** Digest of what the caller sent: it binds the payment's identity to this sale. */
export const saleFingerprint = ({ provider, ...request }: SaleRequest): string =>
  fingerprint({ kind: 'sale', ...request, provider: provider.toLowerCase() });

/**
 * Checks a sale against the price list that is active, or that the caller names. `now` is when it is
 * recorded. The count that the customer was shown is what is granted; it is derived only when left out.
 */
export const checkSale = (lists: PriceListState, request: SaleRequest, now: string): SaleCheck => {
  const occurred_at = request.occurred_at ?? now;
  const nonsense = nonsenseIn(request, epochMs(occurred_at) - epochMs(now));
  if (nonsense !== undefined) return rejected(nonsense);
  const list = listFor(lists, request.price_list_version, occurred_at);
  if (list === undefined) return rejected({ code: 'price_list_version_unknown' });
  const { currency } = request;
  const entry = list.entries.find((candidate) => candidate.currency === currency);
  if (entry === undefined) {
    const offered = list.entries.map((candidate) => candidate.currency);
    return rejected({ code: 'currency_not_offered', currency, offered });
  }
  const credits = countOf(request, entry);
  if (typeof credits !== 'number') return rejected(credits);
  const { gross_amount_minor, vat_amount_minor, provider_fee_minor } = request;
  return {
    kind: 'priced',
    sale: {
      credits: asCredits(credits),
      currency,
      gross_amount_minor,
      vat_amount_minor,
      provider_fee_minor,
      price_list_version: list.version,
      price_per_1000_credits: entry.price_per_1000_credits,
      tax_basis: entry.tax_basis,
      occurred_at,
    },
  };
};

const nonsenseIn = (request: SaleRequest, aheadMs: number): SaleRejection | undefined => {
  const { credits, gross_amount_minor: gross } = request;
  if (credits === null && gross === null) return invalid('credits', 'credits_or_amount_required');
  if (credits !== null && credits <= 0) return invalid('credits', 'not_above_zero');
  if (request.vat_amount_minor > (gross ?? 0)) return invalid('vat_amount_minor', 'above_gross');
  if (request.provider_fee_minor > (gross ?? 0)) return invalid('provider_fee_minor', 'above_gross');
  return aheadMs > CLOCK_SKEW_MS ? invalid('occurred_at', 'in_the_future') : undefined;
};

/** The active version, or the one named if it was in force at that time or at most 24 h before. */
const listFor = (
  lists: PriceListState,
  version: number | null,
  occurredAt: string,
): PriceListVersion | undefined => {
  if (version === null) return activePriceList(lists);
  const named = priceListVersion(lists, version);
  if (named === undefined || epochMs(occurredAt) < epochMs(named.published_at)) return undefined;
  if (named.superseded_at === null) return named;
  return epochMs(occurredAt) <= epochMs(named.superseded_at) + PRICE_LIST_GRACE_MS ? named : undefined;
};

/** The count that is granted, or why amount and count do not belong together. */
const countOf = (request: SaleRequest, entry: PriceListEntry): number | SaleRejection => {
  const { gross_amount_minor: gross } = request;
  if (gross === null) return request.credits ?? invalid('credits', 'credits_or_amount_required');
  const vat = BigInt(entry.tax_basis === 'inclusive' ? 0 : request.vat_amount_minor);
  const amount = BigInt(gross) - vat;
  const price = priceInMinor(entry);
  const count = request.credits === null ? creditsFor(amount, price) : BigInt(request.credits);
  if (count > BigInt(Number.MAX_SAFE_INTEGER)) return invalid('gross_amount_minor', 'out_of_range');
  if (gross > 0 && isPriced(count, amount, price)) return Number(count);
  const expected_minor = Number(amountFor(count, price) + vat);
  return Number.isSafeInteger(expected_minor)
    ? { code: 'price_mismatch', expected_minor }
    : invalid('credits', 'out_of_range');
};
