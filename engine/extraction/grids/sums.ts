import type { Field } from '../fields/fields.ts';
import type { RowFindings } from '../tables/rowValues.ts';
import type { Place } from '../columns/headed.ts';

/** Rows that a sum is of, at least. */
const ADDENDS_MIN = 2;
/** What rounding adds to a sum, for each row. */
const ROUNDING = 0.006;

/**
 * Rows without those that add up all rows above them, from the first or from the sum before: as many numbers
 * of a row do so as there are columns of numbers, and at least two.
 */
export function withoutSums(
  rows: readonly RowFindings[],
  mapped: ReadonlyMap<Field, Place>,
): readonly RowFindings[] {
  const numeric = [...mapped.keys()].filter(
    (field) => (field.type === 'number' || field.type === 'integer') && !counts(rows, field),
  );
  if (numeric.length < 2) return rows;
  const kept: RowFindings[] = [];
  let sums = new Map<Field, number>();
  let addends = 0;
  for (const row of rows) {
    if (addends >= ADDENDS_MIN && isSum(row, numeric, { sums, addends })) {
      sums = new Map();
      addends = 0;
      continue;
    }
    kept.push(row);
    addends += 1;
    for (const field of numeric) sums.set(field, (sums.get(field) ?? 0) + (valueIn(row, field) ?? 0));
  }
  return kept;
}

/** A column that counts its rows, whose third number is always the sum of the first two, adds nothing up. */
const counts = (rows: readonly RowFindings[], field: Field): boolean =>
  rows.length >= COUNTED && rows.slice(0, COUNTED).every((row, i) => valueIn(row, field) === i + 1);

const COUNTED = 3;

interface Above {
  readonly sums: ReadonlyMap<Field, number>;
  readonly addends: number;
}

function isSum(row: RowFindings, numeric: readonly Field[], { sums, addends }: Above): boolean {
  const said = numeric.filter((field) => valueIn(row, field) !== undefined);
  const fits = said.filter((field) => {
    const value = valueIn(row, field) ?? 0;
    return value !== 0 && Math.abs(value - (sums.get(field) ?? 0)) <= ROUNDING * addends;
  });
  return fits.length >= 2 && fits.length >= said.length - 1;
}

function valueIn(row: RowFindings, { pointer }: Field): number | undefined {
  const value = row.get(pointer)?.value;
  return typeof value === 'number' ? value : undefined;
}
