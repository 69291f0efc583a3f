import type { Block, TableBlock, TableCell } from '../../document/document.ts';
import { inlineStretches, type InlineStretch, type TextRange } from '../../document/inlineStretches.ts';
import { groupedBy } from '../../kernel/lists.ts';
import { linesOfBlock } from '../../document/markupLines.ts';
import type { FlowBlock, PageCut } from './pageCuts.ts';

/** A cut of one block, not before its first line. */
type BlockCut = Omit<PageCut, 'block'>;

/** The stretches of a block that is cut, each for a page of its own. Headers of tables stand on each. */
export function stretchesOf(block: Block, cuts: readonly BlockCut[]): readonly FlowBlock[] {
  const stretches = block.kind === 'table' ? tableStretches(block, cuts) : textStretches(block, cuts);
  return stretches.map((stretch) => ({ block: stretch, lines: linesOfBlock(stretch) }));
}

function textStretches(block: Exclude<Block, TableBlock>, cuts: readonly BlockCut[]): readonly Block[] {
  const ranges = rangesOf(block.text, cuts);
  const continued = (index: number): Pick<typeof block, 'continues'> =>
    index === 0 ? {} : { continues: cuts[index - 1]?.at === 0 ? 'line' : 'text' };
  if (block.kind === 'code' || block.kind === 'image')
    return ranges.map(({ from, to }, index) => ({
      ...block,
      text: block.text.slice(from, to),
      ...continued(index),
    }));
  const { text, markdown, kind } = block;
  return inlineStretches({ text, markdown, ranges, isBlock: kind !== 'heading' }).map((stretch, index) => ({
    ...block,
    ...stretch,
    ...continued(index),
  }));
}

/** The ranges of a text between the cuts; a line feed that parts two of them is in none. */
function rangesOf(text: string, cuts: readonly BlockCut[]): readonly TextRange[] {
  const ranges: TextRange[] = [];
  let [from, line, start] = [0, 0, 0];
  for (const cut of cuts) {
    for (; line < cut.line; line += 1) start = text.indexOf('\n', start) + 1;
    const next = start + cut.at;
    ranges.push({ from, to: cut.at === 0 ? next - 1 : next });
    from = next;
  }
  return [...ranges, { from, to: text.length }];
}

/** Characters of header rows that are repeated at most. */
const HEADER_CHARACTERS_MAX = 1500;

/** A stretch of a table before its cells are known. */
interface RowRange {
  /** The first row, and the one after the last. */
  readonly from: number;
  readonly to: number;
  /** Header rows that stand above its own. */
  readonly headers: number;
  readonly continues: TableBlock['continues'];
}

function tableStretches(table: TableBlock, cuts: readonly BlockCut[]): readonly TableBlock[] {
  const amid = groupedBy(
    cuts.filter(({ at }) => at > 0),
    ({ line }) => line,
  );
  const all = amid.size === 0 ? table.cells : table.cells.flatMap((cell) => unspanned(cell, amid));
  const header = headerOf(table, all);
  const ranges = rowRanges(table, cuts, header.length === 0 ? 0 : table.headerRows);
  const cells = ranges.map(({ headers }): TableCell[] => (headers === 0 ? [] : [...header]));
  const begins = beginnings(table.rows, ranges);
  for (const [row, own] of groupedBy(all, (cell) => cell.row)) {
    const places = amid.get(row)?.map(({ at }) => at);
    const parts =
      places === undefined
        ? own.flatMap((cell) => partsOf(cell, begins, ranges))
        : rowStretches(own, { places, first: begins[row] ?? 0 });
    for (const { at, cell } of parts) cells[at]?.push(cellIn(cell, ranges[at]));
  }
  return ranges.map((range, index) => ({
    ...table,
    rows: range.to - range.from + range.headers,
    cells: cells[index] ?? [],
    headerRows: index === 0 ? table.headerRows : range.headers,
    ...(range.continues !== undefined && { continues: range.continues }),
  }));
}

const cellIn = (cell: TableCell, range: RowRange | undefined): TableCell => ({
  ...cell,
  row: cell.row - (range?.from ?? 0) + (range?.headers ?? 0),
});

/** A part of a cell, and the number of the stretch that it is in. */
interface Put {
  readonly at: number;
  readonly cell: TableCell;
}

/** The cells of header rows as they are repeated; none where they are long. */
function headerOf({ headerRows }: TableBlock, cells: readonly TableCell[]): readonly TableCell[] {
  const header = cells.filter(({ row }) => row < headerRows);
  const characters = header.reduce((sum, { text, columnSpan }) => sum + (text.length + 1) * columnSpan, 0);
  return characters > HEADER_CHARACTERS_MAX
    ? []
    : header.map((cell) => ({ ...cell, rowSpan: Math.min(cell.rowSpan, headerRows - cell.row) }));
}

function rowRanges(table: TableBlock, cuts: readonly BlockCut[], headers: number): readonly RowRange[] {
  const first: BlockCut = { line: 0, at: 0 };
  return [first, ...cuts].map(({ line, at }, index): RowRange => {
    const next = cuts[index];
    const to = next === undefined ? table.rows : next.line + Number(next.at > 0);
    if (index === 0) return { from: 0, to, headers: 0, continues: table.continues };
    const isBelow = line >= table.headerRows;
    return { from: line, to, headers: isBelow ? headers : 0, continues: at > 0 ? 'cell' : 'table' };
  });
}

/** Of each row the first range that it is in. */
function beginnings(rows: number, ranges: readonly RowRange[]): readonly number[] {
  let at = 0;
  return Array.from({ length: rows }, (_, row) => {
    while ((ranges[at]?.to ?? Infinity) <= row) at += 1;
    return at;
  });
}

/** A cell of rows that are whole, by the ranges that these are in: over several it is in each of them. */
function partsOf(cell: TableCell, begins: readonly number[], ranges: readonly RowRange[]): readonly Put[] {
  const parts: Put[] = [];
  const end = cell.row + cell.rowSpan;
  const first = begins[cell.row] ?? 0;
  for (let at = first; at <= (begins[end - 1] ?? first); at += 1) {
    const { from, to } = ranges[at] ?? { from: 0, to: 0 };
    const [row, below] = [Math.max(cell.row, from), Math.min(end, to)];
    const rest = at > first && { continues: true as const };
    if (below > row) parts.push({ at, cell: { ...cell, row, rowSpan: below - row, ...rest } });
  }
  return parts;
}

/** A cell over rows that are cut amid, as cells of one place each: as it reads in rows. */
function unspanned(cell: TableCell, amid: ReadonlyMap<number, unknown>): readonly TableCell[] {
  const { row, column, rowSpan, columnSpan } = cell;
  if (rowSpan === 1 && columnSpan === 1) return [cell];
  const rows = Array.from({ length: rowSpan }, (_, below) => row + below);
  if (!rows.some((one) => amid.has(one))) return [cell];
  return rows.flatMap((one) =>
    Array.from({ length: columnSpan }, (_, beside) => ({
      ...cell,
      row: one,
      column: column + beside,
      rowSpan: 1,
      columnSpan: 1,
    })),
  );
}

interface CutRow {
  /** Where its line is cut. */
  readonly places: readonly number[];
  /** The first stretch that it is in. */
  readonly first: number;
}

/** The cells of a row that is cut. */
function rowStretches(cells: readonly TableCell[], { places, first }: CutRow): readonly Put[] {
  const byColumn = [...cells].sort((a, b) => a.column - b.column);
  let [start, column] = [0, 0];
  return byColumn.flatMap((cell) => {
    start += cell.column - column;
    const offsets = rawOffsets(
      cell.text,
      places.map((place) => place - start),
    );
    start += cell.text.replace(/\s+/g, ' ').length;
    column = cell.column;
    return cellStretches(cell, offsets).map((stretch, index) => ({
      at: first + index,
      cell: { ...cell, markdown: undefined, ...stretch },
    }));
  });
}

function cellStretches(
  { text, markdown }: TableCell,
  offsets: readonly number[],
): readonly Partial<InlineStretch>[] {
  const ranges = [...offsets, text.length].map((to, index) => ({ from: offsets[index - 1] ?? 0, to }));
  const filled = ranges.filter(({ from, to }) => to > from);
  const stretches: readonly Partial<InlineStretch>[] =
    markdown === undefined
      ? filled.map(({ from, to }) => ({ text: text.slice(from, to) }))
      : inlineStretches({ text, markdown, ranges: filled, isBlock: false });
  const byRange = new Map(filled.map((range, index) => [range, stretches[index]]));
  return ranges.map((range) => byRange.get(range) ?? { text: '' });
}

/** Offsets into a text from those into the same with each white space as one sign; in order. */
function rawOffsets(text: string, offsets: readonly number[]): readonly number[] {
  const spaces = text.matchAll(/\s\s+/g);
  let space = spaces.next();
  let left = 0;
  return offsets.map((offset) => {
    while (space.done !== true && space.value.index - left < offset) {
      left += space.value[0].length - 1;
      space = spaces.next();
    }
    return Math.min(text.length, Math.max(0, offset + (offset > 0 ? left : 0)));
  });
}
