import { z } from 'zod';
import { event } from '../kernel/event.ts';
import { currencyCode, decimalText, instant } from '../kernel/units.ts';
import { taxBasis } from '../account/words.ts';

/** What 1,000 credits cost in one currency, in major units. */
export const priceListEntry = z.strictObject({
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
export type PriceListEvent = z.output<typeof priceListEvent>;

/** The one stream of price lists. */
export const PRICE_LIST_STREAM = 'priceList';
