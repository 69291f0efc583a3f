import type { Block, TableCell } from '../../document/document.ts';
import { tableGrid, type TableBlock } from '../../document/tableGrid.ts';
import { RefusedDocument, withLabel, type Piece, type TextPiece } from './blocks.ts';
import { inlineOfRuns, inlineOfTitle, plainRun, type Inline } from './runs.ts';

/** A cell as a file gives it, before the rows are laid on a grid. */
export interface SourceCell {
  readonly pieces: readonly Piece[];
  readonly columnSpan: number;
  readonly rowSpan: number;
}

/** A cell or, where a row starts late or is covered from above, so many columns without one. */
export type Slot =
  { readonly kind: 'cell'; readonly cell: SourceCell } | { readonly kind: 'gap'; readonly columns: number };

/** Word allows 63 columns, Writer 1,024. */
export const COLUMNS_MAX = 1024;
export const PLACES_MAX = 1_000_000;
/** With the text of each cell in every place that it covers. */
const CHARACTERS_MAX = 20_000_000;

/** Columns that a file may claim for one cell. */
export const spanOf = (span: number): number =>
  Number.isSafeInteger(span) && span > 1 ? Math.min(span, COLUMNS_MAX) : 1;

/**
 * Rows of slots as a table. A table of one cell is only a frame: it is what stands in it. Where the
 * rows do not say how many are headers, the first is.
 */
export function tablePieces(rows: readonly (readonly Slot[])[], headerRows: number | null): readonly Piece[] {
  const frame = frameOf(rows);
  if (frame !== undefined) return frame.pieces;
  const columns = rows.reduce((widest, row) => Math.max(widest, columnsIn(row)), 0);
  if (columns > COLUMNS_MAX || columns * rows.length > PLACES_MAX)
    throw new RefusedDocument('The document has a table that is too large.');
  const headers = Math.min(rows.length, headerRows ?? 1);
  const cells = rows.flatMap((slots, row) => cellsOf(slots, row, row < headers));
  const characters = cells.reduce((sum, cell) => sum + cell.text.length * cell.rowSpan * cell.columnSpan, 0);
  if (characters > CHARACTERS_MAX) throw new RefusedDocument('The document has a table that is too large.');
  if (cells.every(({ text }) => text === '')) return [];
  const block: TableBlock = {
    kind: 'table',
    rows: rows.length,
    columns,
    headerRows: headers,
    cells: cells.map((cell) => ({ ...cell, rowSpan: Math.min(cell.rowSpan, rows.length - cell.row) })),
    box: null,
  };
  return [{ kind: 'block', block }];
}

function frameOf(rows: readonly (readonly Slot[])[]): SourceCell | undefined {
  const slots = rows.flat();
  const [only] = slots;
  return rows.length === 1 && slots.length === 1 && only?.kind === 'cell' ? only.cell : undefined;
}

const widthOf = (slot: Slot): number => (slot.kind === 'cell' ? slot.cell.columnSpan : slot.columns);
const columnsIn = (slots: readonly Slot[]): number => slots.reduce((sum, slot) => sum + widthOf(slot), 0);

function cellsOf(slots: readonly Slot[], row: number, isHeader: boolean): readonly TableCell[] {
  let column = 0;
  return slots.flatMap((slot) => {
    const at = column;
    column += widthOf(slot);
    return slot.kind === 'cell' ? [cellAt(slot.cell, { row, column: at, isHeader })] : [];
  });
}

interface Place {
  readonly row: number;
  readonly column: number;
  readonly isHeader: boolean;
}

function cellAt({ pieces, rowSpan, columnSpan }: SourceCell, { row, column, isHeader }: Place): TableCell {
  const parts = pieces
    .map((piece) => inlineOfPiece(piece, isHeader))
    .filter(({ text }) => text.trim() !== '');
  const text = parts.map((part) => part.text).join('\n');
  const markdown = parts.map((part) => part.markdown).join('\n');
  return { text, markdown, box: null, row, column, rowSpan, columnSpan };
}

function inlineOfPiece(piece: Piece, isHeader: boolean): Inline {
  if (piece.kind === 'block') return inlineOfBlock(piece.block);
  const runs = withLabel(cellLabel(piece), piece.runs);
  return isHeader ? inlineOfTitle(runs) : inlineOfRuns(runs);
}

/** A cell is one line, so its items keep a bullet to be told apart. */
const cellLabel = ({ role, label }: TextPiece): TextPiece['label'] =>
  role.kind === 'list_item' && (label === null || label.text === '') ? { number: null, text: '•' } : label;

/** A table in a cell is its texts, row by row. */
function inlineOfBlock(block: Block): Inline {
  if (block.kind !== 'table') return inlineOfRuns([plainRun(block.text)]);
  const rows = tableGrid({
    ...block,
    cells: block.cells.map((cell) => ({ ...cell, rowSpan: 1, columnSpan: 1 })),
  });
  const text = rows.map((row) => row.filter((cell) => cell !== '').join(' ')).join('\n');
  return inlineOfRuns([plainRun(text)]);
}
