import type { PlacedWord, Row, Segment } from '../content.ts';
import { segmentOf } from '../segments.ts';
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

/** A segment that lies over several columns, in as many cells as its words and the gaps between them show. */
function parted(segment: Segment, columns: readonly Span[]): readonly Segment[] {
  const { from, to } = columnsUnder(columns, segment.box);
  if (to - from < 2) return [segment];
  const parts: PlacedWord[][] = [];
  let before: PlacedWord | undefined;
  for (const word of segment.words) {
    const isNext =
      before !== undefined &&
      word.box[0] - before.box[2] >= CELL_GAP * segment.size &&
      columnsUnder(columns, word.box).from > columnsUnder(columns, before.box).from;
    if (isNext || parts.length === 0) parts.push([word]);
    else parts.at(-1)?.push(word);
    before = word;
  }
  return parts.length < 2 ? [segment] : parts.map(segmentOf);
}
