import type { Piece } from './blocks.ts';
import type { Modifier } from './docProperties.ts';
import { tablePieces, type SourceCell, type Slot } from './tables.ts';

/** A row as the text has it: its cells, and what its mark says of their edges. */
export interface DocRow {
  readonly cells: readonly (readonly Piece[])[];
  readonly modifiers: readonly Modifier[];
}

/** The edges of a row's cells, one more than cells, and how they are merged. */
interface Edges {
  /** Twips (1/20 point) from the left margin. */
  readonly at: readonly number[];
  readonly merges: readonly number[];
}

const DEFINITION = 0xd608;
const HEADER = 0x3404;
const CELL_BYTES = 20;
/** Edges nearer than this, in twips, are one: rows are drawn by hand. */
const SAME_EDGE = 40;
const TO_LEFT = 0b10;
const VERTICAL = 0b110_0000;
const FROM_ABOVE = 0b010_0000;

/** A table from its rows: edges that differ between rows make cells span columns. */
export function docTable(rows: readonly DocRow[]): readonly Piece[] {
  const edges = rows.map(edgesOf);
  const grid = gridOf(edges);
  let above: ReadonlyMap<number, { rowSpan: number }> = new Map();
  const slots = rows.map((row, index) => {
    const laid = layRow(row, { edges: edges[index] ?? { at: [], merges: [] }, grid, above });
    above = laid.open;
    return laid.slots;
  });
  const headers = rows.findIndex(({ modifiers }) => !isHeader(modifiers));
  return tablePieces(slots, headers > 0 ? headers : null);
}

const isHeader = (modifiers: readonly Modifier[]): boolean =>
  modifiers.some(({ code, value }) => code === HEADER && value[0] === 1);

function edgesOf({ cells, modifiers }: DocRow): Edges {
  const value = modifiers.findLast(({ code }) => code === DEFINITION)?.value;
  const count = value?.[0] ?? 0;
  if (value === undefined || count < cells.length || value.length < 3 + count * 2)
    return { at: Array.from({ length: cells.length + 1 }, (_, index) => index * 1440), merges: [] };
  const at = Array.from({ length: count + 1 }, (_, index) => value.readInt16LE(1 + index * 2));
  const from = 1 + (count + 1) * 2;
  const merges = Array.from({ length: count }, (_, index) => {
    const cell = from + index * CELL_BYTES;
    return cell + 2 <= value.length ? value.readUInt16LE(cell) : 0;
  });
  return { at, merges };
}

function gridOf(rows: readonly Edges[]): readonly number[] {
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

interface Laying {
  readonly edges: Edges;
  readonly grid: readonly number[];
  readonly above: ReadonlyMap<number, { rowSpan: number }>;
}

function layRow({ cells }: DocRow, { edges, grid, above }: Laying) {
  const slots: Slot[] = [];
  const open = new Map<number, { rowSpan: number }>();
  let last: OpenCell | undefined;
  const columnAt = (index: number): number => nearest(grid, edges.at[index] ?? 0);
  if (columnAt(0) > 0) slots.push({ kind: 'gap', columns: columnAt(0) });
  for (const [index, pieces] of cells.entries()) {
    const column = columnAt(index);
    const columnSpan = Math.max(1, columnAt(index + 1) - column);
    const merge = edges.merges[index] ?? 0;
    const upper = (merge & VERTICAL) === FROM_ABOVE ? above.get(column) : undefined;
    if (upper !== undefined) {
      upper.rowSpan += 1;
      open.set(column, upper);
      slots.push({ kind: 'gap', columns: columnSpan });
    } else if ((merge & TO_LEFT) !== 0 && last !== undefined) last.columnSpan += columnSpan;
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
