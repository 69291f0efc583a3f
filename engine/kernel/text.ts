/** Text for comparing: without case and diacritics. */
export const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/ł/g, 'l')
    .replace(/ø/g, 'o')
    .replace(/æ/g, 'ae')
    .replace(/œ/g, 'oe');

/** A pattern for one of some pieces of patterns, the first that fits. */
export const oneOf = (pieces: readonly string[]): string => `(?:${pieces.join('|')})`;

/**
 * A text without the characters at its end that `isMark` knows. Linear, which a pattern like `/x+$/` is not:
 * that looks at every run of x again from each of its characters.
 */
export function withoutEnd(text: string, isMark: RegExp): string {
  let end = text.length;
  while (end > 0 && isMark.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The digits of a number without zeros at its ends: where its point is, is for its exponent to say. */
const digitsOf = (text: string): string =>
  withoutEnd((text.split(/e/i, 1)[0] ?? '').replace(/\D/g, '').replace(/^0+/, ''), /0/);

/**
 * The number that a decimal text says (`-12.50`, `1e3`), where JSON prints the same number again; undefined where
 * a double would be another one: `9007199254740993`, `1e400`.
 */
export function exactNumber(text: string): number | undefined {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) return undefined;
  return digitsOf(text) === digitsOf(value.toExponential()) ? value : undefined;
}
