/** Values of the columns of a table, row by row; undefined where a cell has no number. */
export type Grid = readonly (readonly (number | undefined)[])[];

/** Columns of a table, by their places, that multiply in most rows: quantity × price = amount. */
export interface Product {
  readonly quantity: number;
  readonly price: number;
  readonly amount: number;
}

const ROWS_SHARE = 0.6;
/** What rounding of the price or of the amount may leave, relative and absolute. */
const RELATIVE = 0.002;
const ABSOLUTE = 0.011;

/** All triples of columns that multiply in most of the rows that have all three. */
export function productsOf(grid: Grid): readonly Product[] {
  const columns = grid.reduce((most, row) => Math.max(most, row.length), 0);
  const places = Array.from({ length: columns }, (_, place) => place);
  return places
    .flatMap((quantity) => places.map((price) => ({ quantity, price })))
    .flatMap((pair) => places.map((amount) => ({ ...pair, amount })))
    .filter((product) => new Set(Object.values(product)).size === 3 && multiplies(grid, product));
}

/** Whether the three columns multiply in most of the rows that have all three. */
export function multiplies(grid: Grid, { quantity, price, amount }: Product): boolean {
  let complete = 0;
  let agreeing = 0;
  for (const row of grid) {
    const [q, p, a] = [row[quantity], row[price], row[amount]];
    if (q === undefined || p === undefined || a === undefined) continue;
    complete += 1;
    if (Math.abs(q * p - a) <= ABSOLUTE + RELATIVE * Math.abs(a)) agreeing += 1;
  }
  return complete > 0 && complete * 2 >= grid.length && agreeing >= ROWS_SHARE * complete;
}
