import { around, median, type Row, type Segment } from '../content.ts';
import { isMarker } from '../listMarkers.ts';
import { segmentOf } from '../segments.ts';
import { cellLine, grownRun, sharedRun, spansOf } from './alignedRuns.ts';
import { votedColumns } from './columnVotes.ts';
import { OFF_GROUP } from './headerLines.ts';
import { addressRows, labelRows } from './labelBlocks.ts';
import { logicalRows } from './logicalRows.ts';
import { recordCells } from './recordLines.ts';
import { tableBlock, type Span, type TableBlock } from './tableCells.ts';

/** Longer cells in several columns are prose with gaps in it. */
const PROSE_CHARACTERS = 70;

export type Flowing =
  | { readonly kind: 'row'; readonly row: Row }
  | { readonly kind: 'table'; readonly table: TableBlock };

/** Rows as they come, with those that line up in columns as tables. */
export function withAlignedTables(rows: readonly Row[]): readonly Flowing[] {
  const prepared = rows.map(withMarkerJoined);
  const flow: Flowing[] = [];
  let at = 0;
  while (at < prepared.length) {
    const addresses = addressRows(prepared, at);
    if (addresses !== undefined) {
      flow.push(...addresses.rows.map((row) => ({ kind: 'row', row }) as const));
      at += addresses.taken;
      continue;
    }
    const labels = labelRows(prepared, at);
    const found = labels > 0 ? undefined : tableFrom(prepared, at);
    if (found !== undefined) {
      flow.push({ kind: 'table', table: found.table });
      at += found.rows;
    } else {
      const rowsOfText = prepared.slice(at, at + Math.max(1, labels));
      flow.push(...rowsOfText.map((one) => ({ kind: 'row', row: one }) as const));
      at += rowsOfText.length;
    }
  }
  return flow;
}

/** A bullet or a number and what it marks are one. */
function withMarkerJoined(row: Row): Row {
  const [first, second, ...rest] = row.segments;
  if (first === undefined || second === undefined) return row;
  const text = first.words.map((word) => word.text).join(' ');
  if (!isMarker(text) && !(rest.length === 0 && headsSection(text, second))) return row;
  return { ...row, segments: [segmentOf([...first.words, ...second.words]), ...rest] };
}

/** A section's number before its title: a bold text alone, that begins in upper case. */
const headsSection = (number: string, { words }: Segment): boolean =>
  /^\d{1,2}(?:\.\d{1,2}){0,4}\.?$/.test(number) &&
  words.every(({ bold }) => bold) &&
  /^\p{Lu}\p{L}/u.test(words[0]?.text ?? '');

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

function recordTable(rows: readonly Row[], lines: readonly Row[]): TableBlock | undefined {
  const cells = recordCells(lines);
  return cells === undefined ? undefined : tableBlock(cells, around(rows.map(({ box }) => box)));
}

function tableOfRun(rows: readonly Row[]): TableBlock | undefined {
  const lines = rows.map(cellLine);
  const multi = lines.filter(({ segments }) => segments.length >= 2);
  const columns = columnsOf(lines);
  if (columns.length < 2 || areTooFew(multi, rows, columns)) return undefined;
  const long = columns.filter((column) => isLongColumn(column, multi)).length;
  if (long >= 2) return undefined;
  const records = recordTable(rows, lines);
  if (records !== undefined) return records;
  const cells = logicalRows(lines, { columns, rules: [] });
  const places = new Set(cells.map(({ row }) => row)).size * columns.length;
  if (cells.length < 0.4 * places) return undefined;
  return tableBlock(cells, around(rows.map(({ box }) => box)));
}

/**
 * Columns by vote, or where all lines together leave gaps if these are more. A first line that heads groups of columns
 * stands over the gaps between them, and is no column of its own.
 */
function columnsOf(lines: readonly Row[]): readonly Span[] {
  const [head, ...below] = lines;
  if (head !== undefined && below.length > 2) {
    const own = columnsBy(below);
    if (headsGroups(head, below[0], own)) return own;
  }
  return columnsBy(lines);
}

/** Whether each text of a line stands over the middle of several columns, all of which the line below fills. */
function headsGroups(head: Row, below: Row | undefined, columns: readonly Span[]): boolean {
  if (below === undefined || below.segments.length < columns.length || columns.length < 3) return false;
  return head.segments.every(({ box }) => {
    const middle = (box[0] + box[2]) / 2;
    return (
      columns.every(({ from, to }) => Math.abs((from + to) / 2 - middle) > OFF_GROUP) &&
      columns.some((first, i) =>
        columns.slice(i + 1).some(({ to }) => Math.abs((first.from + to) / 2 - middle) <= OFF_GROUP),
      )
    );
  });
}

function columnsBy(lines: readonly Row[]): readonly Span[] {
  const voted = votedColumns(lines);
  const covered = spansOf(lines);
  return covered.length > voted.length ? covered : voted;
}

/** Two rows with gaps are a table of three columns or more, where little else stands between them. */
function areTooFew(multi: readonly Row[], rows: readonly Row[], columns: readonly Span[]): boolean {
  if (multi.length > 2) return false;
  return multi.length < 2 || columns.length < 3 || rows.length > 5 || multi.every(isSetWide);
}

/** Of the font's height: spaces between the words of a line that is set to a width grow so wide. */
const SET_WIDE = 2;

/** Words at spaces that are all alike, as where a line of prose is set to the width of its column. */
function isSetWide({ segments }: Row): boolean {
  const gaps = segments.slice(1).map(({ box, size }, i) => (box[0] - (segments[i]?.box[2] ?? box[0])) / size);
  return segments.length > 3 && Math.max(...gaps) < SET_WIDE;
}

function isLongColumn({ from, to }: Span, rows: readonly Row[]): boolean {
  const lengths = rows.flatMap(({ segments }) =>
    segments
      .filter(({ box }) => box[0] >= from - 1 && box[2] <= to + 1)
      .map(({ words }) => words.reduce((sum, { text }) => sum + text.length + 1, 0)),
  );
  return median(lengths) > PROSE_CHARACTERS;
}
