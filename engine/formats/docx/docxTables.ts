import { spanOf, tablePieces, type Piece, type Slot } from '../pieces/blocks.ts';
import { isUnfilled, type DocxReader } from './docxReader.ts';
import { toggle, valueOf } from './docxStyles.ts';
import { childAt, elementsOf, type XmlElement } from '../office/xmlTree.ts';

interface OpenCell {
  readonly pieces: readonly Piece[];
  columnSpan: number;
  rowSpan: number;
}

/** A number stands for columns without a cell. */
type OpenRow = readonly (OpenCell | number)[];

/** A table with the cells that go on below (`w:vMerge`) or to the right made one. */
export function docxTable(table: XmlElement, reader: DocxReader): readonly Piece[] {
  reader.boxes += 1;
  const rows = rowsIn(table).filter((row) => childAt(row, 'w:trPr', 'w:del') === undefined);
  let above: ReadonlyMap<number, OpenCell> = new Map();
  const read = rows.map((row) => {
    const { slots, open } = readRow(row, above, reader);
    above = open;
    return slots;
  });
  reader.boxes -= 1;
  return tablePieces(
    read.map((slots) => slots.map(slotOf)),
    headerRowsOf(table, rows),
  );
}

const slotOf = (slot: OpenCell | number): Slot =>
  typeof slot === 'number' ? { kind: 'gap', columns: slot } : { kind: 'cell', cell: slot };

function readRow(
  row: XmlElement,
  above: ReadonlyMap<number, OpenCell>,
  reader: DocxReader,
): { readonly slots: OpenRow; readonly open: ReadonlyMap<number, OpenCell> } {
  const open = new Map<number, OpenCell>();
  let column = columnsBefore(row);
  const slots: (OpenCell | number)[] = column > 0 ? [column] : [];
  for (const cell of cellsIn(row)) {
    const properties = childAt(cell, 'w:tcPr');
    const columnSpan = spanOf(Number(valueOf(properties, 'w:gridSpan') ?? '1'));
    const merge = mergeOf(properties, 'w:vMerge');
    const upper = merge === 'continue' ? above.get(column) : undefined;
    const last = slots.at(-1);
    if (upper !== undefined) {
      upper.rowSpan += 1;
      open.set(column, upper);
      slots.push(columnSpan);
    } else if (mergeOf(properties, 'w:hMerge') === 'continue' && typeof last === 'object') {
      last.columnSpan += columnSpan;
    } else {
      const opened = { pieces: reader.readPieces(cell), columnSpan, rowSpan: 1 };
      slots.push(opened);
      if (merge !== undefined) open.set(column, opened);
    }
    column += columnSpan;
  }
  return { slots, open };
}

/** Columns that a row leaves out at its start. */
function columnsBefore(row: XmlElement): number {
  const columns = Number(valueOf(childAt(row, 'w:trPr'), 'w:gridBefore') ?? '0');
  return columns > 0 ? spanOf(columns) : 0;
}

function mergeOf(properties: XmlElement | undefined, name: string): 'restart' | 'continue' | undefined {
  if (childAt(properties, name) === undefined) return undefined;
  return valueOf(properties, name) === 'restart' ? 'restart' : 'continue';
}

/** Rows that repeat on each page are headers; else the first is, unless the table's look denies it. */
function headerRowsOf(table: XmlElement, rows: readonly XmlElement[]): number {
  const end = rows.findIndex((row) => toggle(childAt(row, 'w:trPr'), 'w:tblHeader') !== true);
  if (end > 0) return end;
  const look = childAt(table, 'w:tblPr', 'w:tblLook')?.attributes;
  return look?.['w:firstRow'] === '0' ? 0 : 1;
}

const WRAPPERS = new Set(['w:sdt', 'w:sdtContent', 'w:customXml', 'w:ins', 'w:moveTo']);

const wrapped = (parent: XmlElement, name: string): readonly XmlElement[] =>
  elementsOf(parent).flatMap((child) => {
    if (child.name === name) return [child];
    if (!WRAPPERS.has(child.name)) return [];
    const within = wrapped(child, name);
    return isUnfilled(child) ? within.map(emptied) : within;
  });

/** A cell or row keeps its place. */
const emptied = (element: XmlElement): XmlElement => ({
  ...element,
  children: element.children.filter((child) => typeof child !== 'string' && child.name !== 'w:p'),
});

const rowsIn = (table: XmlElement): readonly XmlElement[] => wrapped(table, 'w:tr');
const cellsIn = (row: XmlElement): readonly XmlElement[] => wrapped(row, 'w:tc');
