import type { Word } from '../../document/document.ts';
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

/**
 * The values that the name of a group gives to the members that it is for, the first that its text fits, and those
 * that texts above the table give by the name of the member: "Ward: North".
 */
export function groupFindings(
  group: Cell | undefined,
  grouping: Grouping & { readonly about: readonly Cell[] },
): readonly (readonly [string, Finding])[] {
  const labelled = labelledFindings(
    group === undefined ? grouping.about : [group, ...grouping.about],
    grouping,
  );
  if (group === undefined || isEmpty(group) || isLabelled(group, grouping)) return labelled;
  const reading = { source: grouping.source, evidence: EVIDENCE };
  for (const field of groupFields(grouping)) {
    if (labelled.some(([pointer]) => pointer === field.pointer)) continue;
    const named = cellValue(field, group, reading);
    if (named !== undefined) return [...labelled, [field.pointer, named]];
  }
  return labelled;
}

/** For each member without a column the nearest text that names it before a colon. */
const labelledFindings = (
  cells: readonly Cell[],
  grouping: Grouping,
): readonly (readonly [string, Finding])[] =>
  grouping.fields
    .filter((field) => !grouping.mapped.has(field) && field.type !== 'boolean')
    .flatMap((field) => {
      const own = cells.flatMap((cell) => afterLabel(cell, field, grouping.matcher) ?? [])[0];
      const value = cellValue(field, own, { source: grouping.source, evidence: EVIDENCE });
      return value === undefined ? [] : [[field.pointer, value] as const];
    });

const isLabelled = (cell: Cell, { fields, matcher }: Grouping): boolean =>
  fields.some((field) => afterLabel(cell, field, matcher) !== undefined);

/** "Ward: North" names the field itself before its colon. */
function afterLabel(cell: Cell, field: Field, matcher: HeaderMatcher): Cell | undefined {
  const colon = cell.text.indexOf(':');
  if (colon < 0 || matcher(field, cell.text.slice(0, colon)) < NAMED) return undefined;
  const text = cell.text.slice(colon + 1).trim();
  const count = text.split(' ').length;
  return text === '' ? undefined : { ...cell, text, words: afterColon(cell.words.slice(-count), text) };
}

/** The colon may begin the first word of the value: ":90-94". */
const afterColon = ([first, ...rest]: readonly Word[], text: string): readonly Word[] =>
  first === undefined ? [] : [{ ...first, text: text.split(' ')[0] ?? '' }, ...rest];
