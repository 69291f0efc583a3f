/** ISO 4217 currencies whose minor unit is not a hundredth. */
const BY_DIGITS: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

const DIGITS: ReadonlyMap<string, number> = new Map(
  Object.entries(BY_DIGITS).flatMap(([digits, codes]) =>
    codes.split(' ').map((code): [string, number] => [code, Number(digits)]),
  ),
);

/** Decimal digits of a currency's minor unit: 2 for EUR, 0 for JPY. */
export const digitsOf = (currency: string): number => DIGITS.get(currency) ?? 2;

/** An exact decimal: `units` divided by ten to the power of `scale`. */
interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

const DECIMAL = /^([-−+]?)(\d{1,24})(?:\.(\d{1,24}))?$/;

/** Reads "12.50"; undefined for what is no decimal. */
export const decimalOf = (text: string): Decimal | undefined => {
  const [, sign = '', whole, part = ''] = DECIMAL.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  const units = BigInt(whole + part);
  return { units: sign === '-' || sign === '−' ? -units : units, scale: part.length };
};

/** A decimal as text, with all digits of its scale. */
const textOfDecimal = ({ units, scale }: Decimal): string => {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  const split = digits.length - scale;
  const part = scale === 0 ? '' : `.${digits.slice(split)}`;
  return `${units < 0n ? '-' : ''}${digits.slice(0, split)}${part}`;
};

/**
 * An amount as people read it: with the digits of its currency, halves away from zero. What is less than the smallest
 * of them and not nothing is told as that. What is no decimal stays as it is.
 */
export const shortText = (text: string, currency: string): string => {
  const read = decimalOf(text);
  const digits = digitsOf(currency);
  if (read === undefined) return text;
  if (read.scale <= digits)
    return textOfDecimal({ units: read.units * 10n ** BigInt(digits - read.scale), scale: digits });
  const by = 10n ** BigInt(read.scale - digits);
  const isNegative = read.units < 0n;
  const size = isNegative ? -read.units : read.units;
  const units = (size * 2n + by) / (by * 2n);
  if (units === 0n && size > 0n)
    return `${isNegative ? '>-' : '<'}${textOfDecimal({ units: 1n, scale: digits })}`;
  return textOfDecimal({ units: isNegative ? -units : units, scale: digits });
};

/** Most credits that the API takes at once. */
const CREDITS_MAX = 1_000_000_000_000;
const GROUPED = /^(?:\d+|\d{1,3}(?:[, ]\d{3})+)$/;

/** "50,000" as a whole number of credits; undefined: the API takes no such number. */
export const creditsIn = (text: string): number | undefined => {
  const typed = text.trim();
  const credits = Number(typed.replace(/[, ]/g, ''));
  return GROUPED.test(typed) && credits <= CREDITS_MAX ? credits : undefined;
};

/** The same amount with the other sign; what is no decimal stays as it is. */
export const negated = (text: string): string => {
  const read = decimalOf(text);
  return read === undefined ? text : textOfDecimal({ ...read, units: -read.units });
};

interface Priced {
  readonly currency: string;
  readonly price_per_1000_credits: string;
  readonly tax_basis: 'exclusive' | 'inclusive';
}

/** What an amount buys by the price list, as the service derives it: ⌊amount × 1000 ÷ price⌋ credits, at least 1. */
export const creditsFor = (entry: Priced, grossMinor: number, vatMinor: number): number | undefined => {
  const price = decimalOf(entry.price_per_1000_credits);
  const amount = entry.tax_basis === 'inclusive' ? grossMinor : grossMinor - vatMinor;
  if (price === undefined || price.units <= 0n || amount <= 0) return undefined;
  const inMinor = price.units * 10n ** BigInt(digitsOf(entry.currency));
  const credits = (BigInt(amount) * 1000n * 10n ** BigInt(price.scale)) / inMinor;
  return Number(credits < 1n ? 1n : credits);
};

/** What credits cost before tax or with it, as the price list has them, exactly; undefined where the price is none. */
export const priceOf = (
  { price_per_1000_credits }: Pick<Priced, 'price_per_1000_credits'>,
  credits: number,
): string | undefined => {
  const price = decimalOf(price_per_1000_credits);
  return price && textOfDecimal({ units: price.units * BigInt(credits), scale: price.scale + 3 });
};

/** Minor units as a decimal text of the currency: 1190 EUR is "11.90". */
export const majorText = (minor: number, currency: string): string =>
  textOfDecimal({ units: BigInt(minor), scale: digitsOf(currency) });

/** "11.90" in minor units; undefined where it is no amount, or finer than the currency goes. */
export const minorOf = (text: string, currency: string): number | undefined => {
  const read = decimalOf(text);
  const digits = digitsOf(currency);
  if (read === undefined || read.scale > digits) return undefined;
  const minor = read.units * 10n ** BigInt(digits - read.scale);
  return minor > BigInt(Number.MAX_SAFE_INTEGER) || minor < 0n ? undefined : Number(minor);
};

/** Kinds of grants whose money was paid back: they have negative credits, and amounts that are not. */
const PAID_BACK: ReadonlySet<string> = new Set(['refund', 'dispute']);

/** An amount of a grant with the sign of its credits. */
export const signedBy = (kind: string, minor: number): number =>
  PAID_BACK.has(kind) && minor !== 0 ? -minor : minor;
