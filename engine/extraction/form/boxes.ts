import type { Layout, Row, Segment } from '../places/layout.ts';
import { above } from './neighbours.ts';

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

const MARK = /[☐☑☒✓✔✗✘□■❏❑❒○◯●◉]|\[[ xX]?\]|\([ xX•]\)|_{1,20}[xX✓✔]_{1,20}/gu;
const TICKED = /[☑☒✓✔✗✘■●◉]|[[(_][xX•]/u;
/** Lists have them before their items too. */
const ROUND = /^[○◯●◉]$/u;
const BOXES_MAX = 2000;
const TEXT_MAX = 120;
/** Texts of a row with boxes behind their words. */
const ROW_MAX = 24;

/** Whether a text begins with the mark of a box. */
export const opensBox = (text: string): boolean => text.search(MARK) === 0 && !ROUND.test(text.charAt(0));

/** The boxes of a document, each with the words up to the next one. */
export const boxesOf = (layout: Layout): readonly Box[] =>
  layout.segments.flatMap((segment) => boxesIn(segment, layout)).slice(0, BOXES_MAX);

type Mark = readonly [from: number, to: number];

/** The marks of a text; round ones are boxes only where one of them is filled, and one is not. */
function marksOf(text: string): readonly Mark[] {
  const isChoice = /[○◯]/u.test(text) && /[●◉]/u.test(text);
  return [...text.matchAll(MARK)].flatMap(({ 0: mark, index }): readonly Mark[] =>
    ROUND.test(mark) && !isChoice ? [] : [[index, index + mark.length]],
  );
}

/** What stands before the first box of a text, up to the colon if there is one; undefined where there is no box. */
export function beforeBoxes(text: string): string | undefined {
  const first = text.search(MARK);
  return first < 0 ? undefined : text.slice(0, text.lastIndexOf(':', first) + 1 || first);
}

/** Where the words before a mark begin: behind the mark before it, or behind a label. */
const startBefore = (text: string, at: number, before: Mark | undefined): number =>
  before?.[1] ?? text.lastIndexOf(':', at) + 1;

/** Whether the marks of a row stand behind their words: `Quay ☒ Dock ☐`. */
function areBehind({ row }: Segment, { rows }: Layout): boolean {
  const segments = rows[row]?.segments ?? [];
  if (segments.length > ROW_MAX) return false;
  const marked = segments.map((segment) => ({ segment, marks: marksOf(segment.text) }));
  const all = marked.filter(({ marks }) => marks.length > 0);
  const isAfterText = (place: number): boolean => marked[place - 1]?.marks.length === 0;
  return (
    all.reduce((sum, { marks }) => sum + marks.length, 0) > 1 &&
    marked.every(({ segment: { text }, marks }, place) =>
      marks.every(
        ([from, to], i) =>
          (text.slice(startBefore(text, from, marks[i - 1]), from).trim() !== '' ||
            (i === 0 && isAfterText(place))) &&
          (i < marks.length - 1 || text.slice(to).trim() === ''),
      ),
    ) &&
    marked.at(-1) === all.at(-1)
  );
}

/**
 * The boxes of one segment. A mark without words has the next text of its row; at the row's end, the first; several
 * of them in a row, the heads of their columns.
 */
export function boxesIn(segment: Segment, layout: Layout): readonly Box[] {
  const marks = marksOf(segment.text);
  const isBehind = marks.length > 0 && areBehind(segment, layout);
  return marks.map(([start, end], i): Box => {
    const isTicked = TICKED.test(segment.text.slice(start, end));
    const [from, to] = isBehind
      ? [startBefore(segment.text, start, marks[i - 1]), start]
      : [end, marks[i + 1]?.[0] ?? segment.text.length];
    const isBare = segment.text.slice(from, to).trim() === '';
    const before = isBehind ? layout.segments[segment.index - 1] : undefined;
    const other = isBare ? (before ?? besideBox(segment, layout)) : undefined;
    const value =
      other === undefined ? { segment, from, to } : { segment: other, from: 0, to: other.text.length };
    const text = value.segment.text.slice(value.from, value.to).trim().slice(0, TEXT_MAX);
    return { isTicked, text, segment, from: Math.min(from, start), to: Math.max(to, end), value };
  });
}

/** Whether a text is the mark of a box and nothing else. */
const isMark = ({ text }: Segment): boolean => text.replace(MARK, '').trim() === '';

/** The nearest text above that has no box. */
export const overBoxes = (segment: Segment, layout: Layout): Segment | undefined =>
  above(segment, layout).find(({ text }) => marksOf(text).length === 0);

/** Whether a row has several boxes, and but one text before them: its texts are the heads of columns. */
function isOfTable({ segments: [first, ...others] }: Row): boolean {
  if (first === undefined || others.length > ROW_MAX) return false;
  return others.every(isMark) && others.length > (isMark(first) ? 0 : 1);
}

function besideBox(segment: Segment, layout: Layout): Segment | undefined {
  const row = layout.rows[segment.row];
  if (row !== undefined && isOfTable(row)) return overBoxes(segment, layout);
  const next = layout.segments[segment.index + 1];
  const beside = next?.row === segment.row ? next : row?.segments[0];
  return beside === undefined || opensBox(beside.text) ? undefined : beside;
}
