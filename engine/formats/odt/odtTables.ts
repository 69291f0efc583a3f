import {
  RefusedDocument,
  COLUMNS_MAX,
  PLACES_MAX,
  spanOf,
  tablePieces,
  type Piece,
  type Slot,
} from '../pieces/blocks.ts';
import { isFilled } from './odtColours.ts';
import type { OdtReader } from './odtRuns.ts';
import { elementsOf, type XmlElement } from '../office/xmlTree.ts';

const ROW_GROUPS = new Set(['table:table-rows', 'table:table-row-group', 'table:table-header-rows']);
const REPEATS_MAX = 10_000;

/** A table; rows and cells that repeat stand as often as they say. */
export function odtTable(table: XmlElement, reader: OdtReader): readonly Piece[] {
  const rows = rowsIn(table);
  const headers = rows.filter(({ isHeader }) => isHeader).length;
  const slots: (readonly Slot[])[] = [];
  let places = 0;
  for (const { row } of rows) {
    const read = onOwnPaper([table, row], reader, () => slotsOf(row, reader));
    const repeats = repeatsOf(row, 'table:number-rows-repeated');
    places += repeats * Math.max(1, read.length);
    if (places > PLACES_MAX) throw tooLarge();
    for (let repeat = 0; repeat < repeats; repeat += 1) slots.push(read);
  }
  return tablePieces(slots, headers > 0 ? headers : null);
}

const tooLarge = (): RefusedDocument => new RefusedDocument('The document has a table that is too large.');

interface Row {
  readonly row: XmlElement;
  readonly isHeader: boolean;
}

const rowsIn = (parent: XmlElement, isHeader = false): readonly Row[] =>
  elementsOf(parent).flatMap((child) => {
    if (child.name === 'table:table-row') return [{ row: child, isHeader }];
    if (!ROW_GROUPS.has(child.name)) return [];
    return rowsIn(child, isHeader || child.name === 'table:table-header-rows');
  });

/**
 * A covered cell is a place without a cell; those that the cell to their left covers are counted by its
 * span already.
 */
function slotsOf(row: XmlElement, reader: OdtReader): readonly Slot[] {
  const slots: Slot[] = [];
  let counted = 0;
  for (const cell of elementsOf(row)) {
    const repeats = repeatsOf(cell, 'table:number-columns-repeated');
    if (cell.name === 'table:covered-table-cell') {
      const columns = Math.max(0, repeats - counted);
      counted = Math.max(0, counted - repeats);
      if (columns > 0) slots.push({ kind: 'gap', columns });
    } else if (cell.name === 'table:table-cell') {
      const slot = cellSlot(cell, reader);
      counted = slot.cell.columnSpan - 1;
      for (let repeat = 0; repeat < repeats; repeat += 1) slots.push(slot);
    }
    if (slots.length > COLUMNS_MAX) throw tooLarge();
  }
  return slots;
}

function cellSlot(cell: XmlElement, reader: OdtReader): Extract<Slot, { kind: 'cell' }> {
  const columnSpan = spanOf(Number(cell.attributes['table:number-columns-spanned'] ?? '1'));
  const rowSpan = spanOf(Number(cell.attributes['table:number-rows-spanned'] ?? '1'));
  const pieces = onOwnPaper([cell], reader, () => reader.readPieces(cell));
  return { kind: 'cell', cell: { pieces, columnSpan, rowSpan } };
}

/** Reads what stands in elements that may have a colour behind their text. */
function onOwnPaper<T>(around: readonly XmlElement[], reader: OdtReader, read: () => T): T {
  const { onPaper, styles } = reader;
  reader.onPaper = onPaper && !around.some((element) => isFilled(element, styles));
  const answer = read();
  reader.onPaper = onPaper;
  return answer;
}

function repeatsOf({ attributes }: XmlElement, name: string): number {
  const repeats = Number(attributes[name] ?? '1');
  if (repeats > REPEATS_MAX) throw tooLarge();
  return Number.isSafeInteger(repeats) && repeats > 0 ? repeats : 1;
}
