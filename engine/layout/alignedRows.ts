import { heightOf, type PlacedWord, type Row, type Segment } from './content.ts';
import { segmentOf } from './segments.ts';
import { columnsUnder, type PlacedCell, type Span } from './tableCells.ts';

/** Lines of one cell stand closer than this share of their height, from the bottom of one to the next top. */
const WRAPPED_GAP = 0.55;

/** A line that goes on fills at most this share of the cells above it. */
const MOST_GO_ON = 0.67;

/**
 * Rows of segments as cells under given columns. A line that goes on with the cells above it (it stands
 * close, has fewer cells and none in the first column or none that is a number) is joined to them.
 */
export function alignedCells(rows: readonly Row[], columns: readonly Span[]): readonly PlacedCell[] {
  const cells: PlacedCell[] = [];
  let current: PlacedCell[] = [];
  let last: Row | undefined;
  let number = -1;
  for (const row of rows) {
    const here = cellsOf(row, columns);
    if (last !== undefined && goesOn(here, current, { last, row })) {
      current = current.map((cell) => {
        const more = here.find((other) => other.column === cell.column);
        return more === undefined ? cell : { ...cell, words: [...cell.words, ...more.words] };
      });
    } else {
      cells.push(...current);
      number += 1;
      current = here.map((cell) => ({ ...cell, row: number }));
    }
    last = row;
  }
  cells.push(...current);
  return cells;
}

function cellsOf({ segments }: Row, columns: readonly Span[]): readonly PlacedCell[] {
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

interface Neighbours {
  readonly last: Row;
  readonly row: Row;
}

function goesOn(
  here: readonly PlacedCell[],
  above: readonly PlacedCell[],
  { last, row }: Neighbours,
): boolean {
  const gap = row.box[1] - last.box[3];
  if (gap > WRAPPED_GAP * heightOf(last.box) || here.length > MOST_GO_ON * above.length) return false;
  const within = here.every((cell) =>
    above.some((other) => other.column === cell.column && other.columnSpan === cell.columnSpan),
  );
  return (
    within &&
    here.every(({ words }) => !/^[-+(]?[\d.,\s]+[)%]?$/.test(words.map((word) => word.text).join('')))
  );
}
