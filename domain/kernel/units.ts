import { z } from 'zod';

/** Whole credits; 1,000 credits are 1.00 USD of list value. May be negative in a delta. */
export type Credits = number & { readonly __unit: 'credits' };

/** A brand is of the types alone: a transform would run for every number of every event that is written or read. */
const asCreditsSchema = (schema: z.ZodNumber) => schema as unknown as z.ZodType<Credits, number>;

/** Within the range in which numbers are exact. */
const safeInteger = z.int();
const fromZero = safeInteger.min(0);

/** Any whole number of credits, also negative. */
export const credits = asCreditsSchema(safeInteger);
/** Credits ≥ 0. */
export const creditsFromZero = asCreditsSchema(fromZero);
/** Money in minor units of the `currency` beside it, ≥ 0. */
export const minorFromZero = fromZero;
/** Whole pages, ≥ 0. */
export const pages = fromZero;
/** RFC 3339 UTC with milliseconds. */
export const instant = z.iso.datetime({ precision: 3 });
/** A UTC day, `YYYY-MM-DD`. */
export const day = z.iso.date();
/** An exact decimal as text, never a float: `"0.92"`. */
export const decimalText = z.string().regex(/^\d{1,18}(\.\d{1,18})?$/);
/** 1 to 128 of letters, digits and `. _ : @ -`, the first one alphanumeric. */
export const tenantId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/);
/** ISO 4217 code, upper case. */
export const currencyCode = z.string().regex(/^[A-Z]{3}$/);

/** A total would leave the range in which numbers are exact. */
export class CreditsOutOfRange extends RangeError {
  override readonly name = 'CreditsOutOfRange';
}

/** Brands a whole number as credits. Throws CreditsOutOfRange beyond 2^53: never wrap silently. */
export const asCredits = (n: number): Credits => {
  if (!Number.isSafeInteger(n))
    throw new CreditsOutOfRange(`${String(n)} is not a safe whole number of credits`);
  return (n === 0 ? 0 : n) as Credits;
};

/** Whether a total that moves by so much is still a number that is exact. */
export const staysExact = (total: Credits, by: Credits): boolean => Number.isSafeInteger(total + by);

export const NO_CREDITS = asCredits(0);
export const plus = (a: Credits, b: Credits): Credits => asCredits(a + b);
export const minus = (a: Credits, b: Credits): Credits => asCredits(a - b);
export const negated = (a: Credits): Credits => asCredits(0 - a);
