import { once } from '../../kernel/once.ts';
import type { Field } from '../fields/fields.ts';
import { gridRows } from '../grids/gridRows.ts';
import { calledRows } from './calledRows.ts';
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
  return countsApart(rowsByWays(listed, source), listed.fields);
}

/** "2 Almond slice": how many of what a receipt's line has. */
const COUNTED = /^(\d{1,3})\s?[x×]?\s+(?=\p{L})/iu;
/** So many of the lines begin with a count. */
const COUNTED_SHARE = 0.2;

/** The rows with the counts that their texts begin with, where no column has counts; numbers in order are no counts. */
function countsApart(rows: readonly RowFindings[], fields: readonly Field[]): readonly RowFindings[] {
  const [count, name] = ['quantity', 'description'].map((id) =>
    fields.find(({ concept }) => concept?.id === id),
  );
  if (count === undefined || name === undefined || rows.some((row) => row.has(count.pointer))) return rows;
  const counts = rows.map((row) => COUNTED.exec(row.get(name.pointer)?.text ?? ''));
  const numbers = counts.flatMap((match) => (match === null ? [] : [Number(match[1])]));
  const areInOrder = numbers.length > 1 && numbers.every((one, i) => one === (numbers[0] ?? 0) + i);
  if (areInOrder || numbers.length < 2 || numbers.length < COUNTED_SHARE * rows.length) return rows;
  return rows.map((row, i) => {
    const [match, finding] = [counts[i], row.get(name.pointer)];
    if (match === null || match === undefined || finding === undefined) return row;
    const text = finding.text.slice(match[0].length);
    const [first, ...words] = finding.words;
    const quantity = {
      ...finding,
      value: Number(match[1]),
      text: match[1] ?? '',
      words: first === undefined ? [] : [first],
    };
    return new Map([
      ...row,
      [count.pointer, quantity],
      [name.pointer, { ...finding, value: text, text, words }],
    ]);
  });
}

function rowsByWays(listed: Listed, source: Source): readonly RowFindings[] {
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
  if (goods >= 2) return [byLines, byGrids, calledRows];
  return fields.length === 1
    ? [byGrids, byLabel, byRecords, datedEntries, byLines, byNumbers, typedLines]
    : [byGrids, byRecords, datedEntries, byLines, byLabel, byNumbers, calledRows, typedLines];
}

const rowsFor = once((source: Source) => once((fields: readonly Field[]) => findRows(fields, source)));
const recordsFor = once((source: Source) => once((fields: readonly Field[]) => recordRows(fields, source)));

const byLines = ({ fields }: Listed, source: Source): readonly RowFindings[] => rowsFor(source)(fields);
const byRecords = ({ fields }: Listed, source: Source): readonly RowFindings[] => recordsFor(source)(fields);
const byGrids = (listed: Listed, source: Source): readonly RowFindings[] => gridRows(listed, source).rows;
const byLabel = (listed: Listed, source: Source): readonly RowFindings[] => labelledRows(listed, source);
const byNumbers = ({ fields }: Listed, source: Source): readonly RowFindings[] =>
  numberedRows(fields, source);
