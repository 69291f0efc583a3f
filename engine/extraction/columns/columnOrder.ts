/** What may stand in which column: an item a field, a flag a column. */
export type MayStand = readonly (readonly boolean[])[];

/** Places of fields and columns that are looked at. */
const FIELDS_MAX = 40;
const COLUMNS_MAX = 60;
/** Counts beyond it are all "many". */
const MANY = 1e12;

/**
 * The column of each field where fields and columns come in one order: those that are the same in every way to
 * place all fields. undefined where no way is there. Bounded by fields times columns.
 */
export function columnsInOrder(may: MayStand, columns: number): readonly (number | undefined)[] | undefined {
  const fields = may.length;
  if (fields === 0 || fields > FIELDS_MAX || columns > COLUMNS_MAX || fields > columns) return undefined;
  const after = waysAfter(may, columns);
  const all = at(after, 0, 0);
  if (all === 0) return undefined;
  const before = waysBefore(may, columns);
  return may.map((row, field) => {
    const column = row.findIndex(
      (fits, one) => fits && at(before, field, one) * at(after, field + 1, one + 1) === all,
    );
    return column < 0 || all >= MANY ? undefined : column;
  });
}

const at = (ways: readonly (readonly number[])[], field: number, column: number): number =>
  ways[field]?.[column] ?? 0;

/** [f][c]: ways to place the fields from f on in the columns from c on. */
function waysAfter(may: MayStand, columns: number): readonly (readonly number[])[] {
  const ways: number[][] = Array.from({ length: may.length + 1 }, () => Array<number>(columns + 2).fill(0));
  ways[may.length]?.fill(1, 0, columns + 1);
  for (let field = may.length - 1; field >= 0; field -= 1)
    for (let column = columns - 1; column >= 0; column -= 1) {
      const own = may[field]?.[column] === true ? at(ways, field + 1, column + 1) : 0;
      (ways[field] ?? [])[column] = Math.min(MANY, own + at(ways, field, column + 1));
    }
  return ways;
}

/** [f][c]: ways to place the fields before f in the columns before c. */
function waysBefore(may: MayStand, columns: number): readonly (readonly number[])[] {
  const ways: number[][] = Array.from({ length: may.length + 1 }, () => Array<number>(columns + 1).fill(0));
  ways[0]?.fill(1);
  for (let field = 1; field <= may.length; field += 1)
    for (let column = 1; column <= columns; column += 1) {
      const own = may[field - 1]?.[column - 1] === true ? at(ways, field - 1, column - 1) : 0;
      (ways[field] ?? [])[column] = Math.min(MANY, own + at(ways, field, column - 1));
    }
  return ways;
}
