import type { Block, Box, TableCell } from '../../document/document.ts';
import { around, type PlacedWord } from '../content.ts';
import { rowsOf } from '../segments.ts';
import { joinLines, lineText } from '../textOf.ts';

export type TableBlock = Extract<Block, { readonly kind: 'table' }>;

/** Words of a table with the places that they cover. */
export interface PlacedCell {
  readonly row: number;
  readonly column: number;
  readonly rowSpan: number;
  readonly columnSpan: number;
  readonly words: readonly PlacedWord[];
}

/** A span on one axis. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The table of its cells; without empty rows and columns. undefined when less than 2 x 2 is left. */
export function tableBlock(cells: readonly PlacedCell[], box: Box): TableBlock | undefined {
  const filled = cells.filter(({ words }) => words.length > 0);
  const rows = compact(filled.map(({ row, rowSpan }) => ({ from: row, to: row + rowSpan })));
  const columns = ownColumns(filled);
  if (rows.count < 2 || columns.count < 2) return undefined;
  const placed = filled.map((cell): TableCell => {
    const row = rows.place(cell.row);
    const column = columns.place(cell.column);
    const { text, markdown } = cellText(cell.words);
    return {
      text,
      markdown,
      box: around(cell.words.map((word) => word.box)),
      row,
      column,
      rowSpan: Math.max(1, rows.place(cell.row + cell.rowSpan) - row),
      columnSpan: Math.max(1, columns.place(cell.column + cell.columnSpan) - column),
    };
  });
  const sorted = placed.sort((a, b) => a.row - b.row || a.column - b.column);
  return { kind: 'table', rows: rows.count, columns: columns.count, headerRows: 1, cells: sorted, box };
}

/** Numbers the columns that some cell has for itself: what wider cells alone reach into is a gap. */
function ownColumns(cells: readonly PlacedCell[]): ReturnType<typeof compact> {
  const own = new Set(cells.flatMap(({ column, columnSpan }) => (columnSpan === 1 ? [column] : [])));
  for (const { column, columnSpan } of cells) {
    const covered = Array.from({ length: columnSpan }, (_, index) => column + index);
    if (!covered.some((at) => own.has(at))) own.add(column);
  }
  return compact([...own].map((at) => ({ from: at, to: at + 1 })));
}

/** Numbers the places at which something begins, so that empty ones vanish. */
function compact(spans: readonly Span[]): { readonly count: number; place(at: number): number } {
  const starts = [...new Set(spans.map(({ from }) => from))].sort((a, b) => a - b);
  return { count: starts.length, place: (at) => starts.filter((start) => start < at).length };
}

/** A cell of one look says nothing by it, as headers and sums are bold: words that stand out of their cell do. */
function cellText(words: readonly PlacedWord[]): { readonly text: string; readonly markdown: string } {
  const base = { bold: words.every(({ bold }) => bold), italic: words.every(({ italic }) => italic) };
  const { text, markdown } = joinLines(
    rowsOf(words).map((row) => lineText(row, { base, plain: 0 })),
    () => true,
  );
  return { text, markdown };
}

/**
 * The columns that words leave free between them: maximal spans of the axis covered by words, with gaps
 * of at least `gap` points. Lines that lie across several (headings over columns) are left out by the
 * caller.
 */
export function coveredSpans(boxes: readonly Box[], gap: number): readonly Span[] {
  const spans: { from: number; to: number }[] = [];
  for (const box of [...boxes].sort((a, b) => a[0] - b[0])) {
    const x0 = box[0];
    const x1 = box[2];
    const last = spans.at(-1);
    if (last !== undefined && x0 - last.to < gap) last.to = Math.max(last.to, x1);
    else spans.push({ from: x0, to: x1 });
  }
  return spans;
}

/** The indexes of the columns that a box covers: from the first to the last that it overlaps. */
export function columnsUnder(columns: readonly Span[], box: Box): Span {
  const x0 = box[0];
  const x1 = box[2];
  let [first, last] = [-1, -1];
  columns.forEach(({ from, to }, index) => {
    if (!(x0 < to - 0.5 && x1 > from + 0.5)) return;
    if (first < 0) first = index;
    last = index;
  });
  const from = first < 0 ? nearestColumn(columns, (x0 + x1) / 2) : first;
  return { from, to: Math.max(from, last) + 1 };
}

function nearestColumn(columns: readonly Span[], x: number): number {
  let best = 0;
  columns.forEach(({ from, to }, index) => {
    const there = columns[best];
    if (there === undefined) return;
    const distance = Math.abs((from + to) / 2 - x);
    if (distance < Math.abs((there.from + there.to) / 2 - x)) best = index;
  });
  return best;
}
