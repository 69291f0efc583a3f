import type { Cell, Grid } from './grid.ts';
import type { Headed } from '../columns/headed.ts';

/** A stretch of rows under one header. */
export interface Part {
  readonly grid: Grid;
  readonly from: number;
  readonly to: number;
  readonly mapped: Headed['mapped'];
  /** What names the rows together: the title of the table, or what the rows before it went on with. */
  readonly group: Cell | undefined;
}
