import type { Field } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';
import type { Source } from '../source.ts';
import { cellValue } from './cellValues.ts';
import { cellsIn, isEmpty, type Cell, type Grid, type GridRow } from './grid.ts';
import type { Headed } from '../columns/headed.ts';
import type { HeaderMatcher } from './likeness.ts';

/** What names a group may fill these. */
interface Grouping {
  readonly fields: readonly Field[];
  readonly outer: ReadonlySet<Field>;
  readonly mapped: Headed['mapped'];
  readonly matcher: HeaderMatcher;
  readonly source: Source;
}

const NAMED = 0.6;
const EVIDENCE = { label: 0.6, margin: 0.2, agreement: 0 };

/** The members of rows that hold rows and have no column; of plain rows, the only one without a column. */
export function groupFields({
  fields,
  outer,
  mapped,
}: Pick<Grouping, 'fields' | 'outer' | 'mapped'>): readonly Field[] {
  const left = fields.filter((field) => !mapped.has(field));
  if (outer.size > 0) return left.filter((field) => outer.has(field));
  return left.length === 1 && left[0]?.type !== 'boolean' ? left : [];
}

/**
 * The cell that stands alone in its row and names the rows below it. In a table of two columns that may be a
 * row without its value; it is a name where a member without a column waits for one.
 */
export function mayBeGroup(
  row: GridRow,
  { grid, mapped, fields }: { readonly grid: Grid } & Pick<Grouping, 'mapped' | 'fields'>,
): Cell | undefined {
  const [only, ...others] = cellsIn(row);
  if (only === undefined || others.length > 0 || grid.isTurned) return undefined;
  return grid.columns > 2 || fields.some((field) => !mapped.has(field)) ? only : undefined;
}

/** The values that the name of a group gives to the members that it is for: the first that its text fits. */
export function groupFindings(
  group: Cell | undefined,
  grouping: Grouping,
): readonly (readonly [string, Finding])[] {
  if (group === undefined || isEmpty(group)) return [];
  const reading = { source: grouping.source, evidence: EVIDENCE };
  for (const field of groupFields(grouping)) {
    const named = cellValue(field, afterLabel(group, field, grouping.matcher), reading);
    if (named !== undefined) return [[field.pointer, named]];
  }
  return [];
}

/** "Ward: North" names the field itself before its colon. */
function afterLabel(cell: Cell, field: Field, matcher: HeaderMatcher): Cell {
  const colon = cell.text.indexOf(':');
  if (colon < 0 || matcher(field, cell.text.slice(0, colon)) < NAMED) return cell;
  const text = cell.text.slice(colon + 1).trim();
  const count = text.split(' ').length;
  return text === '' ? cell : { ...cell, text, words: cell.words.slice(-count) };
}
