import type { Box } from '../../document/document.ts';
import type { Rule } from '../content.ts';

/** Straight lines that hang together: the grid of a table, or the frame of a box. */
export interface RuledRegion {
  readonly box: Box;
  /** Across the region, from top to bottom. */
  readonly horizontal: readonly Rule[];
  readonly vertical: readonly Rule[];
}
