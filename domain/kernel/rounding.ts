/** An exact fraction. `denominator` > 0. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const magnitude = (n: bigint): bigint => (n < 0n ? -n : n);

const nonZero = (denominator: bigint): bigint => {
  if (denominator === 0n) throw new RangeError('division by zero');
  return denominator;
};

/** Quotient rounded towards negative infinity. */
export const divideDown = (numerator: bigint, denominator: bigint): bigint => {
  const quotient = numerator / nonZero(denominator);
  const exact = quotient * denominator === numerator;
  return !exact && numerator < 0n !== denominator < 0n ? quotient - 1n : quotient;
};

/** Quotient rounded towards positive infinity. */
export const divideUp = (numerator: bigint, denominator: bigint): bigint =>
  -divideDown(-numerator, denominator);

/** Quotient rounded to the nearest whole number, a tie to the even one. */
export const divideHalfEven = (numerator: bigint, denominator: bigint): bigint => {
  const down = divideDown(numerator, denominator);
  const twice = 2n * magnitude(numerator - down * denominator);
  const size = magnitude(denominator);
  if (twice < size) return down;
  if (twice > size) return down + 1n;
  return down % 2n === 0n ? down : down + 1n;
};

export const fraction = (numerator: bigint, denominator = 1n): Fraction =>
  nonZero(denominator) < 0n
    ? { numerator: -numerator, denominator: -denominator }
    : { numerator, denominator };

export const times = (a: Fraction, b: Fraction): Fraction => ({
  numerator: a.numerator * b.numerator,
  denominator: a.denominator * b.denominator,
});

export const over = (a: Fraction, b: Fraction): Fraction =>
  fraction(a.numerator * b.denominator, a.denominator * b.numerator);

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/** Exact value of decimal text such as `"0.92"`. Throws on anything else: no exponent, no sign `+`. */
export const parseDecimal = (text: string): Fraction => {
  const match = DECIMAL.exec(text);
  if (match === null) throw new RangeError(`"${text}" is not decimal text`);
  const [, sign, whole = '', decimals = ''] = match;
  const units = BigInt(whole + decimals);
  return { numerator: sign === '-' ? -units : units, denominator: 10n ** BigInt(decimals.length) };
};

/** Decimal text as a whole number of 10^−`digits`. Throws when it has more decimals than that. */
export const parseScaled = (text: string, digits: number): bigint => {
  const { numerator, denominator } = parseDecimal(text);
  const scaled = numerator * 10n ** BigInt(digits);
  if (scaled % denominator !== 0n) throw new RangeError(`"${text}" has more than ${digits} decimals`);
  return scaled / denominator;
};

/** Decimals that matter in decimal text: trailing zeros do not. */
export const decimalsOf = (text: string): number => (/\.(\d*?)0*$/.exec(text)?.[1] ?? '').length;

/** A whole number of 10^−`digits` as decimal text with exactly `digits` decimals. */
export const formatScaled = (units: bigint, digits: number): string => {
  const text = magnitude(units)
    .toString()
    .padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits);
  const decimals = digits === 0 ? '' : `.${text.slice(text.length - digits)}`;
  return `${units < 0n ? '-' : ''}${whole}${decimals}`;
};

/** Decimal text without zeros that say nothing: `"1.10"` → `"1.1"`, `"2.00"` → `"2"`. */
export const trimZeros = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);

/** A fraction as decimal text with exactly `digits` decimals, rounded half-even. */
export const formatHalfEven = ({ numerator, denominator }: Fraction, digits: number): string =>
  formatScaled(divideHalfEven(numerator * 10n ** BigInt(digits), denominator), digits);
