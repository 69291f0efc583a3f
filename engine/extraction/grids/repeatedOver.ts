import { cellsIn, sameText, type Cell, type GridRow } from './grid.ts';

/** One column needs no name over it. */
const PERIOD_MIN = 2;

/**
 * Each column with the name of its group, where the headers below come again for each group in the same order:
 * "2017 2016 %" under every name. undefined where they do not.
 */
export function repeatedOver(row: GridRow, below: GridRow): GridRow | undefined {
  const groups = cellsIn(row.slice(1)).filter((cell) => cell !== row[0]);
  const filled = below.flatMap((cell, column) => ((cell?.text ?? '').trim() === '' ? [] : [column]));
  if (groups.length < 2) return undefined;
  const columns = [filled, filled.slice(1)].find((some) => isRepeated(some, groups.length, below));
  if (columns === undefined) return undefined;
  const period = columns.length / groups.length;
  const over = new Map(
    columns.map((column, i): [number, Cell | undefined] => [column, groups[Math.floor(i / period)]]),
  );
  return row.map((cell, column) => over.get(column) ?? (column === 0 ? cell : undefined));
}

function isRepeated(columns: readonly number[], times: number, row: GridRow): boolean {
  const period = columns.length / times;
  if (!Number.isInteger(period) || period < PERIOD_MIN) return false;
  const text = (i: number): string => row[columns[i] ?? -1]?.text ?? '';
  return columns.every((_, i) => i < period || sameText(text(i), text(i - period)));
}
