import { fromTheLeft, type Grid, type GridRow } from './grid.ts';

/** A record for each column: so many records and members a table of records has at least and at most. */
const RECORDS_MIN = 2;
const MEMBERS_MIN = 2;
const PLACES_MAX = 300;

/** Tables whose first column names what stands right of it, turned so that each record is a row. */
export const turnedGrids = (grids: readonly Grid[]): readonly Grid[] => grids.flatMap(turned);

function turned(grid: Grid): readonly Grid[] {
  const { columns, rows } = grid;
  if (columns <= RECORDS_MIN || columns > PLACES_MAX) return [];
  if (rows.length < MEMBERS_MIN || rows.length > PLACES_MAX) return [];
  const own = Array.from({ length: columns }, (_, column): GridRow => rows.map((row) => row[column]));
  const overColumns = (row: number): GridRow => fromTheLeft(own[row] ?? []);
  const apart = { follows: false, continues: false, isTurned: true };
  return [{ ...grid, ...apart, rows: own, columns: rows.length, overColumns }];
}
