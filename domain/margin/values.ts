import { minorUnitDigits } from '../kernel/currencies.ts';
import { divideDown, divideHalfEven, parseDecimal, powerOfTen } from '../kernel/rounding.ts';

/**
 * Money of a lot in micro-USD: `amount` is gross − VAT at the booking rate, `implied` the same at the rate
 * that the price list implies, `fee` and `vat` at the booking rate, and `net` what remains: gross − VAT − fee.
 */
export interface Values {
  readonly net: bigint;
  readonly amount: bigint;
  readonly implied: bigint;
  readonly fee: bigint;
  readonly vat: bigint;
}

export const NOTHING: Values = { net: 0n, amount: 0n, implied: 0n, fee: 0n, vat: 0n };

export const plusValues = (a: Values, b: Values): Values => ({
  net: a.net + b.net,
  amount: a.amount + b.amount,
  implied: a.implied + b.implied,
  fee: a.fee + b.fee,
  vat: a.vat + b.vat,
});

export const minusValues = (a: Values, b: Values): Values => ({
  net: a.net - b.net,
  amount: a.amount - b.amount,
  implied: a.implied - b.implied,
  fee: a.fee - b.fee,
  vat: a.vat - b.vat,
});

/** ⌊value × part ÷ of⌋ of each; all of it for the whole. */
export const shareOf = (values: Values, part: number, of: number): Values => {
  if (part === of) return values;
  if (part === 0) return NOTHING;
  const [p, q] = [BigInt(part), BigInt(of)];
  const share = (value: bigint) => (value === 0n ? 0n : divideDown(value * p, q));
  return {
    net: share(values.net),
    amount: share(values.amount),
    implied: share(values.implied),
    fee: share(values.fee),
    vat: share(values.vat),
  };
};

/** Money in minor units of a currency. */
export interface Minor {
  readonly gross: number;
  readonly vat: number;
  readonly fee: number;
}

/** How money of one sale becomes micro-USD. */
export interface Booking {
  readonly currency: string;
  /** USD for 1 unit of the currency. */
  readonly fx_rate: string;
  /** Major units of the currency for 1,000 credits, which are 1 USD of list value. */
  readonly price: string;
}

const MICRO = 6;

/** Each total rounded half-even once (docs/explanation/margin-report.md). */
export const valuesOf = ({ gross, vat, fee }: Minor, { currency, fx_rate, price }: Booking): Values => {
  const digits = minorUnitDigits(currency) ?? 2;
  const rate = parseDecimal(fx_rate);
  const listed = parseDecimal(price);
  const booked = (minor: bigint) =>
    divideHalfEven(minor * rate.units * powerOfTen(MICRO), powerOfTen(digits + rate.scale));
  const [g, v, f] = [BigInt(gross), BigInt(vat), BigInt(fee)];
  return {
    net: booked(g - v - f),
    amount: booked(g - v),
    implied: divideHalfEven((g - v) * powerOfTen(MICRO + listed.scale), powerOfTen(digits) * listed.units),
    fee: booked(f),
    vat: booked(v),
  };
};
