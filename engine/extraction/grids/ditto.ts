import type { Field } from '../fields/fields.ts';
import type { RowFindings } from '../tables/rowValues.ts';
import { isEmpty } from './grid.ts';
import type { Part } from './part.ts';

/** So many of a column's cells are white, where white stands for what is above it. */
const WHITE_SHARE = 0.25;

/**
 * Members whose value is printed once for several rows: those of rows that hold rows, and what stands in the
 * first column, where white follows a first value.
 */
export function dittoFields({ grid, from, to, mapped }: Part, outer: ReadonlySet<Field>): readonly Field[] {
  const places = [...mapped].filter(([{ type }]) => type !== 'boolean');
  const first = Math.min(...places.map(([, { column }]) => column));
  return places.flatMap(([field, { column }]) => {
    if (outer.has(field)) return [field];
    if (column !== first || field.type === 'number' || grid.isTurned) return [];
    const cells = grid.rows.slice(from, to).map((row) => row[column]);
    const white = cells.filter(isEmpty).length;
    return !isEmpty(cells[0]) && white >= WHITE_SHARE * cells.length ? [field] : [];
  });
}

/** A row with the values that the row above it gives to its white cells. */
export function withDitto(
  row: RowFindings,
  ditto: readonly Field[],
  before: RowFindings | undefined,
): RowFindings {
  const added = ditto.flatMap(({ pointer }) => {
    const value = row.has(pointer) ? undefined : before?.get(pointer);
    return value === undefined ? [] : [[pointer, value] as const];
  });
  return added.length === 0 ? row : new Map([...row, ...added]);
}
