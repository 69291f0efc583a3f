import type { Block, TableCell } from './document.ts';

export type TableBlock = Extract<Block, { readonly kind: 'table' }>;

/** The texts of a table by row and column; a spanning cell stands in each place that it covers. */
export function tableGrid(
  table: TableBlock,
  textOf: (cell: TableCell) => string = ({ text }) => text,
): readonly (readonly string[])[] {
  const grid = Array.from({ length: table.rows }, () => Array<string>(table.columns).fill(''));
  for (const cell of table.cells) {
    for (const row of grid.slice(cell.row, cell.row + cell.rowSpan))
      row.fill(textOf(cell), cell.column, cell.column + cell.columnSpan);
  }
  return grid;
}

/** A table from its rows of texts, without spans and boxes. Short rows are filled with empty cells. */
export function tableOf(rows: readonly (readonly string[])[], headerRows: number): TableBlock {
  const columns = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
  const cells = rows.flatMap((texts, row) =>
    texts.map((text, column) => ({ text, box: null, row, column, rowSpan: 1, columnSpan: 1 })),
  );
  return { kind: 'table', rows: rows.length, columns, headerRows, cells, box: null };
}
