import { z } from 'zod';
import { accept, type Command, type Decider, event, reject, type StreamKind } from './kernel/decider.ts';
import { type AccountEventOf, taxBasis } from './account/messages.ts';
import {
  asCredits,
  type Credits,
  currencyCode,
  type Decimal,
  decimalText,
  instant,
  parseDecimal,
  powerOfTen,
} from './kernel/amounts.ts';

/** What 1,000 credits cost in one currency, in major units. */
const priceListEntry = z.strictObject({
  currency: currencyCode,
  price_per_1000_credits: decimalText,
  tax_basis: taxBasis,
  /** Exponent of the currency's minor unit by ISO 4217. */
  minor_unit_digits: z.number().int().min(0).max(4),
});

export type PriceListEntry = z.output<typeof priceListEntry>;

/** The whole set of entries; replaces the version before, which stays as it was. */
const priceListPublished = event('PriceListPublished', {
  version: z.number().int().min(1),
  entries: z.array(priceListEntry).min(1),
  note: z.string().nullable(),
  published_at: instant,
  published_by: z.string(),
});

export const priceListEvent = z.discriminatedUnion('type', [priceListPublished]);

type PriceListEvent = z.output<typeof priceListEvent>;

/** The one stream of price lists. */
export const PRICE_LIST_STREAM = 'priceList';

/** Replaces the whole list, all currencies at once. */
export type PublishPriceList = Command<
  'PublishPriceList',
  {
    readonly entries: readonly PriceListEntry[];
    /** The version that the publisher saw; another one by now is a conflict. null: do not check. */
    readonly expected_version: number | null;
    readonly note: string | null;
  }
>;

interface PriceListRejection {
  readonly code: 'version_conflict';
  readonly version: number;
}

type PriceList = Extract<PriceListEvent, { type: 'PriceListPublished' }>['data'];

/** Every list ever published, version n at index n − 1. */
export interface PriceListState {
  readonly versions: readonly PriceList[];
}

/** The list that prices now; undefined before the first publication. */
export const activePriceList = ({ versions }: PriceListState): PriceList | undefined => versions.at(-1);

/** A list stays usable for sales that happened while it was active, or at most this long after, ms. */
const GRACE_MS = 24 * 60 * 60 * 1000;
const SECOND_MS = 1000;

/**
 * The list that prices a sale: the active one, or the version named if it was active at `occurredAt` or
 * was superseded at most 24 hours before (a webhook may arrive after a publish). Times are RFC 3339.
 */
export const priceListFor = (
  { versions }: PriceListState,
  version: number | null,
  occurredAt: string,
): PriceList | undefined => {
  if (version === null || version === versions.length) return versions.at(-1);
  const list = versions[version - 1];
  const next = versions[version];
  if (list === undefined || next === undefined) return undefined;
  const occurred = Date.parse(occurredAt);
  // Providers tell times in whole seconds: a list that was published within that second was active in it.
  const latest = occurred % SECOND_MS === 0 ? occurred + SECOND_MS - 1 : occurred;
  const started = Date.parse(list.published_at);
  return latest >= started && occurred <= Date.parse(next.published_at) + GRACE_MS ? list : undefined;
};

/** The members of a grant that a price list decides. */
type Priced = Pick<
  AccountEventOf<'CreditsGranted'>['data'],
  'price_list_version' | 'price_per_1000_credits' | 'tax_basis'
>;

export type PriceListKind = StreamKind<PriceListState, PublishPriceList, PriceListEvent, PriceListRejection>;

/** Lists are published, never changed. */
export const priceList: Decider<PriceListKind> = {
  initialState: { versions: [] },
  decide: ({ versions }, { data, meta }) => {
    const version = versions.length;
    if (data.expected_version !== null && data.expected_version !== version)
      return reject({ code: 'version_conflict', version });
    return accept({
      type: 'PriceListPublished',
      data: {
        version: version + 1,
        entries: [...data.entries],
        note: data.note,
        published_at: meta.now,
        published_by: meta.actor.key_id,
      },
    });
  },
  evolve: ({ versions }, { data }) => ({ versions: [...versions, data] }),
};

/** The part of a sale that is checked against a price list. */
export interface SaleOffer {
  readonly currency: string;
  /** Those that have a price: without a bonus. */
  readonly credits: number | null;
  readonly gross_amount_minor: number | null;
  readonly vat_amount_minor: number;
  /** Taken off the list price. */
  readonly discount_minor: number;
  readonly price_list_version: number | null;
  readonly occurred_at: string;
}

export type SaleRejection =
  | { readonly code: 'currency_not_offered'; readonly currency: string }
  | { readonly code: 'ambiguous_minor_units'; readonly currency: string }
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

/**
 * Currencies whose amounts providers send in other units than those of ISO 4217: Stripe sends ISK and UGX in hundredths
 * and MGA whole, Adyen CLP and ISK in hundredths and CVE and IDR whole. Credits cannot be derived from such an amount.
 */
const AMBIGUOUS = new Set(['CLP', 'CVE', 'IDR', 'ISK', 'MGA', 'UGX']);

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

/** What credits cost by an entry of the list, in whole minor units of its currency; a part of one counts as one. */
export const listAmount = (credits: number, entry: PriceListEntry): number =>
  exactly(amountFor(credits, priceInMinor(entry)));

const atLeastZero = (n: bigint): bigint => (n > 0n ? n : 0n);

/** The entry of a list that an offer is priced by, or why it has none. */
const entryFor = (list: PriceList, { currency, credits }: SaleOffer): PriceListEntry | SaleRejection => {
  const entry = list.entries.find((one) => one.currency === currency);
  if (entry === undefined) return { code: 'currency_not_offered', currency };
  return credits === null && AMBIGUOUS.has(currency) ? { code: 'ambiguous_minor_units', currency } : entry;
};

/**
 * Checks a sale against its price list: list price − discount = the amount. List prices exclude VAT unless the
 * entry says otherwise, and a discount is of the same amount as they are. A sale without money has only a count.
 * Money of 0 without a discount buys nothing: credits given away are an adjustment, not a sale. Expects `credits`
 * or `gross_amount_minor`, and VAT ≤ gross.
 */
export const priceSale = (lists: PriceListState, offer: SaleOffer): SalePricing => {
  const list = priceListFor(lists, offer.price_list_version, offer.occurred_at);
  if (list === undefined) return { kind: 'rejected', rejection: { code: 'price_list_version_unknown' } };
  const entry = entryFor(list, offer);
  if ('code' in entry) return { kind: 'rejected', rejection: entry };

  const priced: Priced = {
    price_list_version: list.version,
    price_per_1000_credits: entry.price_per_1000_credits,
    tax_basis: entry.tax_basis,
  };
  const gross = offer.gross_amount_minor;
  if (gross === null) return { kind: 'priced', credits: asCredits(offer.credits ?? 0), priced };

  const price = priceInMinor(entry);
  const { discount_minor: discount, vat_amount_minor: vat } = offer;
  const untaxed = entry.tax_basis === 'inclusive' ? 0 : vat;
  const amount = gross - untaxed + discount;
  const credits = offer.credits ?? creditsFor(amount, price);
  if (gross + discount > 0 && isPriceOf(credits, amount, price))
    return { kind: 'priced', credits: asCredits(credits), priced };
  const expected_minor = exactly(atLeastZero(amountFor(credits, price) - BigInt(discount)) + BigInt(untaxed));
  return { kind: 'rejected', rejection: { code: 'price_mismatch', expected_minor } };
};
