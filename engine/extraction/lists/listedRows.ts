import type { Called, Field } from '../fields/fields.ts';
import { gridRows } from '../grids/gridRows.ts';
import type { Source } from '../source.ts';
import { findRows, type RowFindings } from '../tables/rowValues.ts';

/** What a list of rows asks for. */
export interface Listed {
  readonly fields: readonly Field[];
  readonly called: Called;
}

/** Amounts of goods: their columns are told by arithmetic too. */
const OF_GOODS: ReadonlySet<string> = new Set(['quantity', 'unit_price', 'line_total']);

/** The rows of a list, by the way that answers it best. */
export function listedRows({ fields, called }: Listed, source: Source): readonly RowFindings[] {
  const goods = fields.filter(({ concept }) => OF_GOODS.has(concept?.id ?? '')).length;
  const ways = goods >= 2 ? [byLines, byGrids] : [byGrids, byLines];
  for (const way of ways) {
    const rows = way({ fields, called }, source);
    if (rows.length > 0) return rows;
  }
  return [];
}

const byLines = ({ fields }: Listed, source: Source): readonly RowFindings[] => findRows(fields, source);
const byGrids = ({ fields, called }: Listed, source: Source): readonly RowFindings[] =>
  gridRows(fields, called, source).rows;
