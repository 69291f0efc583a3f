import { z } from 'zod';

/**
 * ISO 4217 currencies in use, by the digits of their minor unit. Not from `Intl`: Node's tables give
 * digits for display (HUF 0, IQD 0), which differ from the standard's.
 */
const BY_DIGITS: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  2: `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD
    CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ
    GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK
    MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB
    SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN
    UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG`,
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

const DIGITS: ReadonlyMap<string, number> = new Map(
  Object.entries(BY_DIGITS).flatMap(([digits, codes]) =>
    codes.split(/\s+/).map((code): [string, number] => [code, Number(digits)]),
  ),
);

/** Digits of the currency's minor unit (cents: 2); undefined for a code that ISO 4217 does not list. */
export const minorUnitDigits = (currency: string): number | undefined => DIGITS.get(currency);

/** The instant a number of milliseconds after another, or before it if negative. */
export const laterBy = (instant: string, ms: number): string =>
  new Date(Date.parse(instant) + ms).toISOString();

/** A decimal as a whole number of units of 10^−scale: exact, never a float. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/** Reads decimal text such as `-12.345`. Throws RangeError for anything else. */
export const parseDecimal = (text: string): Decimal => {
  const match = DECIMAL.exec(text);
  if (match === null) throw new RangeError(`${text} is not a decimal`);
  const [, sign = '', whole = '0', fraction = ''] = match;
  const units = BigInt(whole + fraction);
  return { units: sign === '-' ? -units : units, scale: fraction.length };
};

export const powerOfTen = (exponent: number): bigint => 10n ** BigInt(exponent);

const absolute = (n: bigint): bigint => (n < 0n ? -n : n);

/** ⌊a ÷ b⌋ for b > 0: towards minus infinity. */
export const divideDown = (a: bigint, b: bigint): bigint => {
  const quotient = a / b;
  return a % b !== 0n && a < 0n ? quotient - 1n : quotient;
};

/** a ÷ b for b > 0, to the nearest whole number; a half goes to the even neighbour. */
export const divideHalfEven = (a: bigint, b: bigint): bigint => {
  const down = divideDown(a, b);
  const twice = 2n * (a - down * b);
  if (twice === b) return down % 2n === 0n ? down : down + 1n;
  return twice > b ? down + 1n : down;
};

/** A decimal in units of 10^−scale, rounded half-even where digits are lost. */
export const atScale = (decimal: Decimal, scale: number): bigint =>
  scale >= decimal.scale
    ? decimal.units * powerOfTen(scale - decimal.scale)
    : divideHalfEven(decimal.units, powerOfTen(decimal.scale - scale));

/** Decimal text of whole units of 10^−scale, with exactly `scale` digits after the point. */
export const decimalOf = (units: bigint, scale: number): string => {
  const digits = absolute(units)
    .toString()
    .padStart(scale + 1, '0');
  const sign = units < 0n ? '-' : '';
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
};

/** List value of credits in USD as text, cents at least: 1,000 credits are `1.00`, 5 are `0.005`. */
export const listValueUsd = (credits: number): string => decimalOf(BigInt(credits), 3).replace(/0$/, '');

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

/** Most credits of one movement (10^12): a sum of nine thousand of the largest is still exact. */
export const MOVEMENT_MAX = 1_000_000_000_000;

/** Whether a total may move by so much in one movement, and is still a number that is exact. */
export const staysExact = (total: Credits, by: Credits): boolean =>
  Math.abs(by) <= MOVEMENT_MAX && Number.isSafeInteger(total + by);

export const NO_CREDITS = asCredits(0);
export const plus = (a: Credits, b: Credits): Credits => asCredits(a + b);
export const minus = (a: Credits, b: Credits): Credits => asCredits(a - b);
export const negated = (a: Credits): Credits => asCredits(0 - a);

/** Whether two rates are one number, however many zeros they end in. */
export const isSameDecimal = (a: string | undefined, b: string | undefined): boolean => {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  const [left, right] = [parseDecimal(a), parseDecimal(b)];
  return left.units * powerOfTen(right.scale) === right.units * powerOfTen(left.scale);
};
