import type { Segment } from '../places/layout.ts';

/** How the letters of a text look. */
export interface Look {
  /** Points; 0 where the format has none. */
  readonly size: number;
  readonly bold: boolean;
}

/** Of a value's letters: a label is set smaller than this. */
const SMALLER = 0.88;

export const lookOf = ({ words }: Segment): Look => ({
  size: words[0]?.fontSize ?? 0,
  bold: words.length > 0 && words.every(({ bold }) => bold),
});

/** Whether a text is set in smaller letters than another, as labels are. */
export function isSmaller(one: Segment, than: Segment): boolean {
  const { size } = lookOf(one);
  return size > 0 && size < SMALLER * lookOf(than).size;
}

/** Whether two texts are set in letters of one size and weight. */
export function looksLike(one: Segment, other: Segment): boolean {
  const [a, b] = [lookOf(one), lookOf(other)];
  return a.size > 0 && Math.abs(a.size - b.size) < 0.05 * a.size && a.bold === b.bold;
}
