import { around, median, type Row } from '../content.ts';
import { isMarker } from '../listMarkers.ts';
import { segmentOf } from '../segments.ts';
import { cellLine, grownRun, sharedRun, spansOf } from './alignedRuns.ts';
import { votedColumns } from './columnVotes.ts';
import { logicalRows } from './logicalRows.ts';
import { tableBlock, type Span, type TableBlock } from './tableCells.ts';

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
    const row = prepared[at];
    const found = tableFrom(prepared, at);
    if (found !== undefined) {
      flow.push({ kind: 'table', table: found.table });
      at += found.rows;
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

interface Found {
  readonly table: TableBlock;
  /** How many rows it takes. */
  readonly rows: number;
}

/** The table that begins with a row: of the rows that share its columns, else of those that grow them. */
function tableFrom(rows: readonly Row[], start: number): Found | undefined {
  const first = rows[start];
  if (first === undefined || first.segments.length < 2) return undefined;
  for (const run of [sharedRun(rows, start), grownRun(rows, start)]) {
    const table = run === undefined ? undefined : tableOfRun(run);
    if (run !== undefined && table !== undefined) return { table, rows: run.length };
  }
  return undefined;
}

function tableOfRun(rows: readonly Row[]): TableBlock | undefined {
  const lines = rows.map(cellLine);
  const multi = lines.filter(({ segments }) => segments.length >= 2);
  const columns = columnsOf(lines);
  if (columns.length < 2 || multi.length < (columns.length === 2 ? 3 : 2)) return undefined;
  if (columns.length > 2 && multi.length === 2 && rows.length > 5) return undefined;
  const long = columns.filter((column) => isLongColumn(column, multi)).length;
  if (long >= 2) return undefined;
  const cells = logicalRows(lines, { columns, rules: [] });
  const places = new Set(cells.map(({ row }) => row)).size * columns.length;
  if (cells.length < 0.4 * places) return undefined;
  return tableBlock(cells, around(rows.map(({ box }) => box)));
}

/** Columns by vote, or where all lines together leave gaps if these are more. */
function columnsOf(lines: readonly Row[]): readonly Span[] {
  const voted = votedColumns(lines);
  const covered = spansOf(lines);
  return covered.length > voted.length ? covered : voted;
}

function isLongColumn({ from, to }: Span, rows: readonly Row[]): boolean {
  const lengths = rows.flatMap(({ segments }) =>
    segments
      .filter(({ box }) => box[0] >= from - 1 && box[2] <= to + 1)
      .map(({ words }) => words.reduce((sum, { text }) => sum + text.length + 1, 0)),
  );
  return median(lengths) > PROSE_CHARACTERS;
}
