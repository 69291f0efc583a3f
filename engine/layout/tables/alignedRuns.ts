import { heightOf, median, widthOf, type Row } from '../content.ts';
import { segmentsOf } from '../segments.ts';
import { votedColumns } from './columnVotes.ts';
import { endsForm } from './labelBlocks.ts';
import { coveredSpans, type Span } from './tableCells.ts';

/** Of the font's height: words of one cell stand closer. */
const CELL_GAP = 0.6;
/** A run is grown row by row, each time from all of its rows: so many at most. */
const GROWN_MAX = 120;

/** Rows are asked for again and again: each is looked at with those above it, and as part of runs that fail. */
const cellLines = new WeakMap<Row, Row>();

/** A row with the gaps that part words of neighbouring cells. */
export function cellLine(row: Row): Row {
  const known = cellLines.get(row);
  if (known !== undefined) return known;
  const words = row.segments.flatMap((segment) => segment.words);
  const line = { ...row, segments: segmentsOf(words, CELL_GAP) };
  cellLines.set(row, line);
  return line;
}

/** Rows of one table stand closer than this many heights of a line. */
const ROW_GAP = 2.2;
/** Of the width of the rows above: a line without gaps that is longer is prose. */
const PROSE_WIDTH = 0.6;

/** The rows from here that leave free what most of them leave free. */
export function sharedRun(rows: readonly Row[], start: number): readonly Row[] | undefined {
  const stretch = stretchFrom(rows, start);
  const columns = votedColumns(stretch.map(cellLine));
  if (columns.length < 2) return undefined;
  const end = stretch.findIndex((row) => row.segments.length >= 2 && !sharesGaps(row, columns));
  const run = end < 0 ? [...stretch] : stretch.slice(0, end);
  return withoutTail(run, columns);
}

/** Rows that stand close, those of one segment no longer than a cell or a group's name is. */
function stretchFrom(rows: readonly Row[], start: number): readonly Row[] {
  const stretch: Row[] = [];
  let [from, to] = [Infinity, -Infinity];
  for (let i = start; i < rows.length; i += 1) {
    const row = rows[i];
    const last = stretch.at(-1);
    if (row === undefined || (last !== undefined && isApart(last, row))) break;
    if (beginsOther(stretch, row, rows[i + 1])) break;
    const isSingle = isOneText(row, stretch);
    if (isSingle && (widthOf(row.box) > PROSE_WIDTH * (to - from) || row.box[0] < from - 2)) break;
    if (!isSingle) [from, to] = [Math.min(from, row.box[0]), Math.max(to, row.box[2])];
    stretch.push(row);
  }
  return stretch;
}

/** Of the cells of a row without wide gaps: those that begin or end where cells of the rows above do. */
const TIGHT_SHARE = 0.6;

/** Whether a row has no gaps: neither wide ones nor narrow ones between the cells of a table. */
function isOneText(row: Row, above: readonly Row[]): boolean {
  if (row.segments.length >= 2) return false;
  const cells = cellLine(row);
  const count = cells.segments.length;
  if (count < 3 || count > CELLS_MAX) return true;
  return levelCells(cells, above.slice(-LOOKED_BACK).map(cellLine)) < TIGHT_SHARE * count;
}

/** Points that a cell may be off the edge or the middle of the cells of its column. */
const OFF = 2;
/** So many rows above tell how a table stands. */
const LOOKED_BACK = 4;
/** A row of more cells is not compared: each is with each, and no form has so many. */
const CELLS_MAX = 60;

/**
 * Whether a row begins another table: none of its cells stands level with one of the row above, while that row
 * stands as those above it and the row below as this one.
 */
function beginsOther(run: readonly Row[], row: Row, next: Row | undefined): boolean {
  const last = run.at(-1);
  if (last === undefined || next === undefined || run.length < 2) return false;
  if (endsForm(run, row, next)) return true;
  const cells = [last, row, next].map(({ segments }) => segments.length);
  if (Math.min(...cells.slice(0, 2)) < 2 || Math.max(...cells) > CELLS_MAX) return false;
  if (levelCells(row, [last]) > 0) return false;
  const before = run.slice(-1 - LOOKED_BACK, -1).filter(({ segments }) => segments.length <= CELLS_MAX);
  return isLike(last, before) && isLike(row, [next]);
}

const isLike = (row: Row, others: readonly Row[]): boolean => levelCells(row, others) >= 2;

/** How many cells of a row stand level with one of other rows: at an edge, or in the middle. */
const levelCells = ({ segments }: Row, others: readonly Row[]): number =>
  segments.filter(({ box: a }) =>
    others.some((other) =>
      other.segments.some(
        ({ box: b }) =>
          Math.abs(a[0] - b[0]) <= OFF ||
          Math.abs(a[2] - b[2]) <= OFF ||
          Math.abs(a[0] + a[2] - b[0] - b[2]) <= 2 * OFF,
      ),
    ),
  ).length;

/** Whether a row has gaps where columns part, and more of them than it has words there. */
function sharesGaps({ segments }: Row, columns: readonly Span[]): boolean {
  let shared = 0;
  let crossed = 0;
  columns.slice(1).forEach(({ from }, index) => {
    const place = (from + (columns[index]?.to ?? from)) / 2;
    const before = segments.filter(({ box }) => box[0] < place).at(-1);
    if (before === undefined) return;
    if (before.box[2] > place) crossed += 1;
    else if (segments.some(({ box }) => box[0] > place)) shared += 1;
  });
  return shared > 0 && shared >= crossed;
}

/** The longest run of rows from here that grow columns row by row; undefined when there is none. */
export function grownRun(rows: readonly Row[], start: number): readonly Row[] | undefined {
  const [first, ...others] = rows.slice(start, start + GROWN_MAX);
  if (first === undefined) return undefined;
  const run: Row[] = [first];
  let columns = spansOf(run);
  for (const [index, row] of others.entries()) {
    if (beginsOther(run, row, others[index + 1])) break;
    const next = columnsWith(row, { run, columns, after: others[index + 1] });
    if (next === undefined) break;
    columns = next;
    run.push(row);
  }
  return withoutTail(run, columns);
}

interface Growing {
  readonly run: readonly Row[];
  readonly columns: readonly Span[];
  readonly after: Row | undefined;
}

/** The columns of the run with one more row; undefined when the row is no part of it. */
function columnsWith(row: Row, { run, columns, after }: Growing): readonly Span[] | undefined {
  const last = run.at(-1);
  if (last === undefined || isApart(last, row)) return undefined;
  if (row.segments.length < 2) return fitsBetween(row, columns, after) ? columns : undefined;
  const next = spansOf([...run, row]);
  return next.length < 2 || next.length < columns.length - 1 ? undefined : next;
}

const isApart = (last: Row, row: Row): boolean =>
  row.box[1] - last.box[3] > ROW_GAP * Math.min(heightOf(last.box), heightOf(row.box)) ||
  row.box[1] < last.box[1] - 1;

/** Where rows with gaps leave them, all together. */
export const spansOf = (rows: readonly Row[]): readonly Span[] => {
  const multi = rows.filter(({ segments }) => segments.length >= 2).flatMap(({ segments }) => segments);
  return coveredSpans(
    multi.map(({ box }) => box),
    0.4 * median(multi.map(({ size }) => size)),
  );
};

/** A row of one segment goes on when it lies within a column, or heads a group and rows follow. */
function fitsBetween({ segments }: Row, columns: readonly Span[], next: Row | undefined): boolean {
  const [only] = segments;
  if (only === undefined) return false;
  const [x0, , x1] = only.box;
  const within = columns.some(({ from, to }) => x0 >= from - 2 && x1 <= to + 2);
  return within && (next === undefined || next.segments.length >= 2 || x1 - x0 < 200);
}

/** A run up to its last row of cells, and the lines on which a cell of that goes on. */
function withoutTail(run: readonly Row[], columns: readonly Span[]): readonly Row[] | undefined {
  const last = run.findLastIndex(({ segments }) => segments.length >= 2);
  let end = last + 1;
  while (end < run.length && isContinuation(run, { at: end, last, columns })) end += 1;
  return end < 2 ? undefined : run.slice(0, end);
}

/** More lines are prose that stands under a column by chance. */
const TAIL_MAX = 6;

interface Tail {
  readonly at: number;
  /** The last row of cells. */
  readonly last: number;
  readonly columns: readonly Span[];
}

/** Whether a line stands closely below the one before; from the second line on, in one column that is not the first. */
function isContinuation(run: readonly Row[], { at, last, columns }: Tail): boolean {
  const [row, before] = [run[at], run[at - 1]];
  if (row === undefined || before === undefined || columns.length < 3 || at - last > TAIL_MAX) return false;
  if (row.box[1] - before.box[3] >= 0.5 * heightOf(row.box)) return false;
  if (at === last + 1) return true;
  const own = columns.findIndex(({ from, to }) => row.box[0] >= from - 2 && row.box[2] <= to + 2);
  return own > 0 && Math.abs(row.box[0] - before.box[0]) <= OFF;
}
