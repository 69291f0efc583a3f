import type { Field } from '../fields/fields.ts';
import type { Grid } from '../grids/grid.ts';

/** A grid whose columns were told by a header. */
export interface Headed {
  readonly grid: Grid;
  /** The last row of its header; −1 where it has none. */
  readonly header: number;
  /** Rows of the header. */
  readonly depth: number;
  readonly mapped: ReadonlyMap<Field, Place>;
  /** Mean over all fields of how well a header names them. */
  readonly score: number;
}

/** The column of a field, and how well its header names it. */
export interface Place {
  readonly column: number;
  readonly score: number;
}
