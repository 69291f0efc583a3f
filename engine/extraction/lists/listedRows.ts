import { once } from '../../kernel/once.ts';
import type { Field } from '../fields/fields.ts';
import { gridRows } from '../grids/gridRows.ts';
import { citedRows } from './citedWorks.ts';
import { datedEntries } from './datedEntries.ts';
import { labelledRows } from './labelledLists.ts';
import { numberedRows } from './numberedRows.ts';
import { recordRows } from './recordRows.ts';
import type { Listed } from './rowMembers.ts';
import type { Source } from '../source.ts';
import { typedLines } from './typedLines.ts';
import { statementMembers, statementRows } from '../statements/statementRows.ts';
import { findRows, type RowFindings } from '../tables/rowValues.ts';

/** Amounts of goods: their columns are told by arithmetic too. */
const OF_GOODS: ReadonlySet<string> = new Set(['quantity', 'unit_price', 'line_total']);

/** The rows of a list, by the way that answers it best. */
export function listedRows(listed: Listed, source: Source): readonly RowFindings[] {
  const members = statementMembers(listed.fields);
  if (members !== undefined) return statementRows(listed, members, source);
  const cited = citedRows(listed, source);
  if (cited.length > 0) return cited;
  for (const way of waysFor(listed)) {
    const rows = way(listed, source);
    if (rows.length > 0) return rows;
  }
  return [];
}

/** Rows that hold rows are told by tables alone: other ways know of no groups. */
function waysFor({
  fields,
  outer,
}: Listed): readonly ((listed: Listed, source: Source) => readonly RowFindings[])[] {
  if (outer.size > 0) return [byGrids];
  const goods = fields.filter(({ concept }) => OF_GOODS.has(concept?.id ?? '')).length;
  if (goods >= 2) return [byLines, byGrids];
  return fields.length === 1
    ? [byGrids, byLabel, byRecords, datedEntries, byLines, byNumbers, typedLines]
    : [byGrids, byRecords, datedEntries, byLines, byLabel, byNumbers, typedLines];
}

const rowsFor = once((source: Source) => once((fields: readonly Field[]) => findRows(fields, source)));
const recordsFor = once((source: Source) => once((fields: readonly Field[]) => recordRows(fields, source)));

const byLines = ({ fields }: Listed, source: Source): readonly RowFindings[] => rowsFor(source)(fields);
const byRecords = ({ fields }: Listed, source: Source): readonly RowFindings[] => recordsFor(source)(fields);
const byGrids = (listed: Listed, source: Source): readonly RowFindings[] => gridRows(listed, source).rows;
const byLabel = (listed: Listed, source: Source): readonly RowFindings[] => labelledRows(listed, source);
const byNumbers = ({ fields }: Listed, source: Source): readonly RowFindings[] =>
  numberedRows(fields, source);
