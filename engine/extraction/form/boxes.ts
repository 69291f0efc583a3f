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

/** The boxes of a document, each with the words up to the next one. */
export const boxesOf = (layout: Layout): readonly Box[] =>
  layout.segments.flatMap((segment) => boxesIn(segment, layout)).slice(0, BOXES_MAX);

/** The boxes of one segment. A mark without words has the next text of its row; at the row's end, the first. */
export function boxesIn(segment: Segment, layout: Layout): readonly Box[] {
  const marks = [...segment.text.matchAll(MARK)];
  return marks.map(({ 0: mark, index }, i): Box => {
    const to = marks[i + 1]?.index ?? segment.text.length;
    const from = index + mark.length;
    const other = segment.text.slice(from, to).trim() === '' ? besideBox(segment, layout) : undefined;
    const value =
      other === undefined ? { segment, from, to } : { segment: other, from: 0, to: other.text.length };
    const text = value.segment.text.slice(value.from, value.to).trim().slice(0, TEXT_MAX);
    return { isTicked: TICKED.test(mark), text, segment, from: index, to, value };
  });
}

function besideBox({ index, row }: Segment, { segments, rows }: Layout): Segment | undefined {
  const next = segments[index + 1];
  if (next?.row === row) return opensBox(next.text) ? undefined : next;
  const first = rows[row]?.segments[0];
  return first === undefined || opensBox(first.text) ? undefined : first;
}
