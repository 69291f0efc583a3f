import type { Piece } from '../pieces/blocks.ts';
import type { Modifier } from './docProperties.ts';
import type { EdgeRow } from '../office/edgeTables.ts';

const DEFINITION = 0xd608;
const HEADER = 0x3404;
const CELL_BYTES = 20;
const TO_LEFT = 0b10;
const VERTICAL = 0b110_0000;
const FROM_ABOVE = 0b010_0000;

/** A row of a Word 97 table, by what its mark says of its cells. */
export function docRow(cells: readonly (readonly Piece[])[], modifiers: readonly Modifier[]): EdgeRow {
  const isHeader = modifiers.some(({ code, value }) => code === HEADER && value[0] === 1);
  const value = modifiers.findLast(({ code }) => code === DEFINITION)?.value;
  const count = value?.[0] ?? 0;
  if (value === undefined || value.length < 3 + count * 2) return { cells, at: [], merges: [], isHeader };
  const from = 1 + (count + 1) * 2;
  return {
    cells,
    at: Array.from({ length: count + 1 }, (_, index) => value.readInt16LE(1 + index * 2)),
    merges: Array.from({ length: count }, (_, index) => mergeAt(value, from + index * CELL_BYTES)),
    isHeader,
  };
}

function mergeAt(value: Buffer, at: number): EdgeRow['merges'][number] {
  const flags = at + 2 <= value.length ? value.readUInt16LE(at) : 0;
  if ((flags & VERTICAL) === FROM_ABOVE) return 'above';
  return (flags & TO_LEFT) === 0 ? 'none' : 'left';
}
