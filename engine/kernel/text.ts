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
