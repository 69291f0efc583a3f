import { withoutEnd } from './text.ts';

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
