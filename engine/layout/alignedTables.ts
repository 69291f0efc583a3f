import { around, heightOf, median, type Row } from './content.ts';
import { alignedCells } from './alignedRows.ts';
import { columnsOfRows, coveredSpans, tableBlock, type Span, type TableBlock } from './tableCells.ts';
import { isMarker } from './listMarkers.ts';
import { segmentOf } from './segments.ts';

/** Rows of one table stand closer than this many heights of a line. */
const ROW_GAP = 2.2;
/** Longer cells in several columns are prose with gaps in it. */
const PROSE_CHARACTERS = 70;

export type Flowing =
  { readonly kind: 'row'; readonly row: Row } | { readonly kind: 'table'; readonly table: TableBlock };

/** Rows as they come, with those that line up in columns as tables. */
export function withAlignedTables(rows: readonly Row[]): readonly Flowing[] {
  const prepared = rows.map(withMarkerJoined);
  const flow: Flowing[] = [];
  let at = 0;
  while (at < prepared.length) {
    const run = runFrom(prepared, at);
    const table = run === undefined ? undefined : tableOfRun(run.rows);
    const row = prepared[at];
    if (run !== undefined && table !== undefined) {
      flow.push({ kind: 'table', table });
      at += run.rows.length;
    } else {
      if (row !== undefined) flow.push({ kind: 'row', row });
      at += 1;
    }
  }
  return flow;
}

/** A bullet or a number and what it marks are one. */
function withMarkerJoined(row: Row): Row {
  const [first, second, ...rest] = row.segments;
  if (first === undefined || second === undefined) return row;
  if (!isMarker(first.words.map(({ text }) => text).join(' '))) return row;
  return { ...row, segments: [segmentOf([...first.words, ...second.words]), ...rest] };
}

interface Run {
  readonly rows: readonly Row[];
}

/** The longest run of rows from here that line up; undefined when there is none. */
function runFrom(rows: readonly Row[], start: number): Run | undefined {
  const [first, ...others] = rows.slice(start);
  if (first === undefined || first.segments.length < 2) return undefined;
  const run: Row[] = [first];
  let columns = spansOf(run);
  for (const [index, row] of others.entries()) {
    const next = columnsWith(row, { run, columns, after: others[index + 1] });
    if (next === undefined) break;
    columns = next;
    run.push(row);
  }
  while (run.at(-1)?.segments.length === 1 && !isContinuation(run, columns)) run.pop();
  return run.length < 2 ? undefined : { rows: run };
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

const spansOf = (rows: readonly Row[]): readonly Span[] => {
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

function isContinuation(run: readonly Row[], columns: readonly Span[]): boolean {
  const last = run.at(-1);
  const before = run.at(-2);
  const [only] = last?.segments ?? [];
  if (last === undefined || before === undefined || only === undefined) return false;
  const close = last.box[1] - before.box[3] < 0.5 * heightOf(last.box);
  return close && columns.length > 2 && before.segments.length >= 2;
}

function tableOfRun(rows: readonly Row[]): TableBlock | undefined {
  const multi = rows.filter(({ segments }) => segments.length >= 2);
  const all = spansOf(rows);
  const fullest = columnsOfRows(
    multi,
    0.4 * median(multi.flatMap(({ segments }) => segments.map(({ size }) => size))),
  );
  const columns = fullest.length > all.length ? fullest : all;
  if (columns.length < 2 || multi.length < (columns.length === 2 ? 3 : 2)) return undefined;
  if (columns.length > 2 && multi.length === 2 && rows.length > 5) return undefined;
  const long = columns.filter((column) => isLongColumn(column, multi)).length;
  if (long >= 2) return undefined;
  const cells = alignedCells(rows, columns);
  const places = new Set(cells.map(({ row }) => row)).size * columns.length;
  if (cells.length < 0.4 * places) return undefined;
  return tableBlock(cells, around(rows.map(({ box }) => box)));
}

function isLongColumn({ from, to }: Span, rows: readonly Row[]): boolean {
  const lengths = rows.flatMap(({ segments }) =>
    segments
      .filter(({ box }) => box[0] >= from - 1 && box[2] <= to + 1)
      .map(({ words }) => words.reduce((sum, { text }) => sum + text.length + 1, 0)),
  );
  return median(lengths) > PROSE_CHARACTERS;
}
