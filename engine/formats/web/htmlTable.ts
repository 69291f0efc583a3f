import { RefusedDocument, type Piece } from '../pieces/blocks.ts';
import { COLUMNS_MAX, spanOf, tablePieces, type Slot, type SourceCell } from '../pieces/tables.ts';

/** A table while its rows come in. */
export interface OpenTable {
  readonly rows: { readonly cells: SourceCell[]; isHeader: boolean }[];
}

/** What the attributes of a cell say of the places that it covers. */
export const cellSpans = (
  attributes: Readonly<Record<string, string>>,
): Pick<SourceCell, 'columnSpan' | 'rowSpan'> => ({
  columnSpan: spanOf(Number(attributes['colspan'] ?? 1)),
  rowSpan: spanOf(Number(attributes['rowspan'] ?? 1)),
});

/** The table, or what stands in it where it is only used to place things. */
export function closedTable({ rows }: OpenTable): readonly Piece[] {
  const filled = rows.filter(({ cells }) => cells.length > 0);
  const cells = filled.flatMap((row) => row.cells);
  const isOneColumn = filled.every((row) => row.cells.length < 2);
  if (isOneColumn || cells.some(isLayout)) return cells.flatMap(({ pieces }) => pieces);
  const headers = filled.findIndex(({ isHeader }) => !isHeader);
  return tablePieces(slotsOf(filled.map((row) => row.cells)), headers > 0 ? headers : null);
}

/** Cells of data hold no tables, headings and lists, and few paragraphs. */
const isLayout = ({ pieces }: SourceCell): boolean =>
  pieces.length > 12 ||
  pieces.some((piece) =>
    piece.kind === 'block' ? piece.block.kind === 'table' : piece.role.kind === 'heading',
  );

/** Cells at their columns: those that a cell above covers are gaps. */
function slotsOf(rows: readonly (readonly SourceCell[])[]): readonly (readonly Slot[])[] {
  let covered: number[] = [];
  return rows.map((cells) => {
    const slots: Slot[] = [];
    const next: number[] = covered.map((count) => Math.max(0, count - 1));
    let column = 0;
    const skip = (): void => {
      let columns = 0;
      while ((covered[column + columns] ?? 0) > 0) columns += 1;
      if (columns > 0) slots.push({ kind: 'gap', columns });
      column += columns;
    };
    for (const cell of cells) {
      skip();
      if (column + cell.columnSpan > COLUMNS_MAX)
        throw new RefusedDocument('The document has a table that is too large.');
      slots.push({ kind: 'cell', cell });
      for (let at = column; at < column + cell.columnSpan; at += 1) next[at] = cell.rowSpan - 1;
      column += cell.columnSpan;
    }
    skip();
    covered = Array.from(next, (count) => count);
    return slots;
  });
}
