import type { PlacedWord, Row, Segment } from '../content.ts';
import { segmentOf } from '../segments.ts';
import { areTwoNumbers } from './cellLines.ts';
import { columnsUnder, type PlacedCell, type Span } from './tableCells.ts';

/** The cells of one line under given columns; all are of row 0. */
export function cellsOfRow({ segments }: Row, columns: readonly Span[]): readonly PlacedCell[] {
  const cells: PlacedCell[] = [];
  for (const { words, box } of segments.flatMap((segment) => parted(segment, columns))) {
    const { from, to } = columnsUnder(columns, box);
    const last = cells.at(-1);
    if (last !== undefined && last.column + last.columnSpan > from) {
      const end = Math.max(last.column + last.columnSpan, to);
      cells[cells.length - 1] = { ...last, columnSpan: end - last.column, words: [...last.words, ...words] };
    } else cells.push({ row: 0, column: from, rowSpan: 1, columnSpan: to - from, words });
  }
  return cells;
}

/** Words of neighbouring cells stand at least so many heights of their font apart. */
const CELL_GAP = 0.45;

/** A gap that is so many times as wide as the narrowest of its segment parts cells too, where it is wide enough. */
const WIDER = 1.4;
const WIDE_ENOUGH = 0.3;

/** How wide a gap parts the cells of a segment. */
function partingGap({ words, size }: Segment): number {
  const gaps = words.slice(1).map(({ box }, i) => box[0] - (words[i]?.box[2] ?? box[0]));
  const unlike = gaps.length < 2 ? Infinity : WIDER * Math.min(...gaps);
  return Math.min(CELL_GAP * size, Math.max(WIDE_ENOUGH * size, unlike));
}

/** A segment that lies over several columns, in as many cells as its words and the gaps between them show. */
function parted(segment: Segment, columns: readonly Span[]): readonly Segment[] {
  const { from, to } = columnsUnder(columns, segment.box);
  if (to - from < 2) return [segment];
  const gap = partingGap(segment);
  const parts: PlacedWord[][] = [];
  let before: PlacedWord | undefined;
  for (const word of segment.words) {
    const isNext =
      before !== undefined &&
      (word.box[0] - before.box[2] >= gap || areTwoNumbers(before, word)) &&
      columnsUnder(columns, word.box).from > columnsUnder(columns, before.box).from;
    if (isNext || parts.length === 0) parts.push([word]);
    else parts.at(-1)?.push(word);
    before = word;
  }
  return parts.length < 2 ? [segment] : parts.map(segmentOf);
}
