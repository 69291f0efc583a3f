import type { Piece } from './blocks.ts';
import { RefusedDocument } from './blocks.ts';
import type { OdtReader } from './odtRuns.ts';
import { spanOf, tablePieces, type Slot } from './tables.ts';
import { elementsOf, type XmlElement } from './xmlTree.ts';

const ROW_GROUPS = new Set(['table:table-rows', 'table:table-row-group', 'table:table-header-rows']);
const REPEATS_MAX = 10_000;

/** A table; rows and cells that repeat stand as often as they say. */
export function odtTable(table: XmlElement, reader: OdtReader): readonly Piece[] {
  const rows = rowsIn(table);
  const headers = rows.filter(({ isHeader }) => isHeader).length;
  const slots = rows.flatMap(({ row }) => {
    const read = slotsOf(row, reader);
    return Array.from({ length: repeatsOf(row, 'table:number-rows-repeated') }, () => read);
  });
  return tablePieces(slots, headers > 0 ? headers : null);
}

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
  let counted = 0;
  return elementsOf(row).flatMap((cell): readonly Slot[] => {
    const repeats = repeatsOf(cell, 'table:number-columns-repeated');
    if (cell.name === 'table:covered-table-cell') {
      const columns = Math.max(0, repeats - counted);
      counted = Math.max(0, counted - repeats);
      return columns === 0 ? [] : [{ kind: 'gap', columns }];
    }
    if (cell.name !== 'table:table-cell') return [];
    const columnSpan = spanOf(Number(cell.attributes['table:number-columns-spanned'] ?? '1'));
    const rowSpan = spanOf(Number(cell.attributes['table:number-rows-spanned'] ?? '1'));
    counted = columnSpan - 1;
    const slot: Slot = { kind: 'cell', cell: { pieces: reader.readPieces(cell), columnSpan, rowSpan } };
    return Array.from({ length: repeats }, () => slot);
  });
}

function repeatsOf({ attributes }: XmlElement, name: string): number {
  const repeats = Number(attributes[name] ?? '1');
  if (repeats > REPEATS_MAX) throw new RefusedDocument('The document has a table that is too large.');
  return Number.isSafeInteger(repeats) && repeats > 0 ? repeats : 1;
}
