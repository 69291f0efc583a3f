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
