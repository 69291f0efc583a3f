import type { Layout, Segment } from '../places/layout.ts';

/** A check box with the text behind it. */
export interface Box {
  readonly isTicked: boolean;
  readonly text: string;
  readonly segment: Segment;
  /** Range of mark and text in the segment. */
  readonly from: number;
  readonly to: number;
  /** Where its text stands. */
  readonly value: { readonly segment: Segment; readonly from: number; readonly to: number };
}

const MARK = /[☐☑☒✓✔✗✘□■]|\[[ xX]?\]|\([xX]\)/gu;
const TICKED = /[☑☒✓✔✗✘■]|[[(][xX]/u;
const BOXES_MAX = 2000;
const TEXT_MAX = 120;

/** Whether a text begins with the mark of a box. */
export const opensBox = (text: string): boolean => text.search(MARK) === 0;

/** The boxes of a document, each with the words up to the next one; an empty mark has the next text of its row. */
export function boxesOf({ segments }: Layout): readonly Box[] {
  return segments.flatMap((segment) => boxesIn(segment, segments[segment.index + 1])).slice(0, BOXES_MAX);
}

/** The boxes of one segment, given the next. */
export function boxesIn(segment: Segment, next: Segment | undefined): readonly Box[] {
  const marks = [...segment.text.matchAll(MARK)];
  return marks.map(({ 0: mark, index }, i): Box => {
    const to = marks[i + 1]?.index ?? segment.text.length;
    const own = segment.text.slice(index + mark.length, to).trim();
    const isAlone = own === '' && next?.row === segment.row && !opensBox(next.text);
    const text = isAlone ? next.text : own;
    const value = isAlone
      ? { segment: next, from: 0, to: next.text.length }
      : { segment, from: index + mark.length, to };
    return { isTicked: TICKED.test(mark), text: text.slice(0, TEXT_MAX), segment, from: index, to, value };
  });
}
