import type { Block, Line } from '../../document/document.ts';
import { lineOf, linesOfBlock } from '../flow.ts';
import type { PlacedDrawing } from './drawings.ts';
import type { SheetTexts } from './sheetTables.ts';

/** Columns beyond which a sheet's lines are those of its tables: each row has a tab for every column. */
const COLUMNS_MAX = 200;

/**
 * The lines of a sheet: a row each, with a tab between columns, so that all rows keep the columns that they
 * have in the sheet, whatever tables the sheet falls into. Columns that no row fills are left out.
 */
export function sheetLines(
  { rows }: SheetTexts,
  drawings: readonly PlacedDrawing[],
  blocks: readonly Block[],
): readonly Line[] {
  const used = new Set([...rows.values()].flatMap((cells) => [...cells.keys()]));
  if (used.size > COLUMNS_MAX) return blocks.flatMap(linesOfBlock);
  const columns = [...used].sort((a, b) => a - b);
  const placed = [...rows].map(([row, cells]) => ({ row, lines: [rowLine(columns, cells)] }));
  const drawn = drawings.map((drawing) => ({ row: drawing.row, lines: drawing.blocks.flatMap(linesOfBlock) }));
  return [...placed, ...drawn].sort((a, b) => a.row - b.row).flatMap(({ lines }) => lines);
}

function rowLine(columns: readonly number[], cells: ReadonlyMap<number, string>): Line {
  const texts = columns.map((column) => cells.get(column) ?? '');
  const filled = texts.findLastIndex((text) => text !== '') + 1;
  return lineOf(texts.slice(0, filled).join('\t'));
}
