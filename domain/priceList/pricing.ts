import {
  divideDown,
  divideHalfEven,
  divideUp,
  fraction,
  parseDecimal,
  times,
  type Fraction,
} from '../kernel/rounding.ts';
import type { PriceListEntry } from './events.ts';

/** `p`: the exact price of 1,000 credits in minor units of the entry's currency. */
export const priceInMinor = (entry: Pick<PriceListEntry, 'price_per_1000_credits' | 'minor_unit_digits'>) =>
  times(parseDecimal(entry.price_per_1000_credits), fraction(10n ** BigInt(entry.minor_unit_digits)));

const magnitude = (n: bigint): bigint => (n < 0n ? -n : n);
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/**
 * Whether a count of credits is what an amount `A` in minor units buys at price `p`:
 * `|credits × p − A × 1000| < max(p, 1000)`, less than one credit or one minor unit apart. Exact: both
 * sides are multiplied by the denominator of `p`.
 */
export const isPriced = (credits: bigint, amountMinor: bigint, price: Fraction): boolean => {
  const { numerator: p, denominator: scale } = price;
  const apart = magnitude(credits * p - amountMinor * 1_000n * scale);
  return apart < larger(p, 1_000n * scale);
};

/** Credits that an amount buys: `floor(A × 1000 / p)`, at least 1. */
export const creditsFor = (amountMinor: bigint, { numerator: p, denominator: scale }: Fraction): bigint =>
  larger(1n, divideDown(amountMinor * 1_000n * scale, p));

/** The amount that a count costs, half-even to whole minor units; at least the one unit that is not 0. */
export const amountFor = (credits: bigint, { numerator: p, denominator: scale }: Fraction): bigint => {
  const nearest = divideHalfEven(credits * p, 1_000n * scale);
  return nearest > 0n ? nearest : divideUp(credits * p, 1_000n * scale);
};
