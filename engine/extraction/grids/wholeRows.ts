import type { Cell, Grid, GridRow } from './grid.ts';

/** A grid, and the row of it that goes on with the last row of the grid before; undefined for none. */
export interface CutGrid {
  readonly grid: Grid;
  readonly cutAt: number | undefined;
}

/** Grids with the rows whole that the end of a page cuts in two: they stand where they begin. */
export function withWholeRows(cut: readonly CutGrid[]): readonly Grid[] {
  const whole: Grid[] = [];
  for (const { grid, cutAt } of cut) {
    const before = whole.at(-1);
    const [last, rest] = [before?.rows.at(-1), cutAt === undefined ? undefined : grid.rows[cutAt]];
    if (before === undefined || last === undefined || rest === undefined) whole.push(grid);
    else {
      whole[whole.length - 1] = { ...before, rows: [...before.rows.slice(0, -1), joined(last, rest)] };
      whole.push({ ...grid, rows: grid.rows.filter((row) => row !== rest) });
    }
  }
  return whole;
}

const joined = (row: GridRow, rest: GridRow): GridRow =>
  row.map((cell, column) => withMore(cell, rest[column]));

/** What stands on the next page has no place on the page that is cited. */
const withMore = (cell: Cell | undefined, more: Cell | undefined): Cell | undefined =>
  cell === undefined || more === undefined
    ? cell
    : {
        ...cell,
        text: `${cell.text} ${more.text}`,
        words: [...cell.words, ...more.words.map((word) => ({ ...word, box: null }))],
      };
