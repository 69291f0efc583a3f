import {
  RefusedDocument,
  COLUMNS_MAX,
  tablePieces,
  type Piece,
  type Slot,
  type SourceCell,
} from '../pieces/blocks.ts';

/** A row of a format that says where the edges of its cells are, and not which columns they cover. */
export interface EdgeRow {
  readonly cells: readonly (readonly Piece[])[];
  /** Twips (1/20 point) from the left, one more than there are cells. */
  readonly at: readonly number[];
  /** With what each cell is one. */
  readonly merges: readonly ('left' | 'above' | 'none')[];
  readonly isHeader: boolean;
}

/** Edges nearer than this, in twips, are one: rows are drawn by hand. */
const SAME_EDGE = 40;
const COLUMN = 1440;

/** A table from its rows: edges that differ between rows make cells span columns. */
export function tableOfEdges(source: readonly EdgeRow[]): readonly Piece[] {
  const rows = source.map(withEdges);
  const grid = gridOf(rows);
  // Each cell is looked for in the grid, so both must be of a size that people draw.
  if (grid.length > COLUMNS_MAX + 1 || rows.some(({ cells }) => cells.length > COLUMNS_MAX))
    throw new RefusedDocument('The document has a table that is too large.');
  let above: ReadonlyMap<number, { rowSpan: number }> = new Map();
  const slots = rows.map((row) => {
    const laid = layRow(row, grid, above);
    above = laid.open;
    return laid.slots;
  });
  const headers = rows.findIndex(({ isHeader }) => !isHeader);
  return tablePieces(slots, headers > 0 ? headers : null);
}

/** Without edges for all of its cells, a row has columns of one width. */
const withEdges = (row: EdgeRow): EdgeRow =>
  row.at.length > row.cells.length
    ? { ...row, at: row.at.slice(0, row.cells.length + 1) }
    : { ...row, merges: [], at: Array.from({ length: row.cells.length + 1 }, (_, index) => index * COLUMN) };

function gridOf(rows: readonly EdgeRow[]): readonly number[] {
  const grid: number[] = [];
  for (const edge of rows.flatMap(({ at }) => at).sort((a, b) => a - b)) {
    const last = grid.at(-1);
    if (last === undefined || edge - last > SAME_EDGE) grid.push(edge);
  }
  return grid;
}

interface OpenCell extends SourceCell {
  columnSpan: number;
  rowSpan: number;
}

function layRow(
  { cells, at, merges }: EdgeRow,
  grid: readonly number[],
  above: ReadonlyMap<number, { rowSpan: number }>,
) {
  const slots: Slot[] = [];
  const open = new Map<number, { rowSpan: number }>();
  let last: OpenCell | undefined;
  const columnAt = (index: number): number => nearest(grid, at[index] ?? 0);
  if (columnAt(0) > 0) slots.push({ kind: 'gap', columns: columnAt(0) });
  for (const [index, pieces] of cells.entries()) {
    const column = columnAt(index);
    const columnSpan = Math.max(1, columnAt(index + 1) - column);
    const merge = merges[index];
    const upper = merge === 'above' ? above.get(column) : undefined;
    if (upper !== undefined) {
      upper.rowSpan += 1;
      open.set(column, upper);
      slots.push({ kind: 'gap', columns: columnSpan });
    } else if (merge === 'left' && last !== undefined) last.columnSpan += columnSpan;
    else {
      last = { pieces, columnSpan, rowSpan: 1 };
      open.set(column, last);
      slots.push({ kind: 'cell', cell: last });
    }
  }
  return { slots, open };
}

const nearest = (grid: readonly number[], edge: number): number =>
  Math.max(
    0,
    grid.findLastIndex((at) => at <= edge),
  );
