import type { Field } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';
import type { Source } from '../source.ts';
import type { RowFindings } from '../tables/rowValues.ts';
import { cellValue } from './cellValues.ts';
import { dittoFields, withDitto } from './ditto.ts';
import { cellsIn, isEmpty, type Cell, type GridRow } from './grid.ts';
import { groupFindings, mayBeGroup } from './groups.ts';
import type { Place } from '../columns/headed.ts';
import type { HeaderMatcher } from './likeness.ts';
import type { Part } from './part.ts';
import type { RowChoice } from './rowChoice.ts';

/** What rows are read with. */
export interface Reading {
  readonly fields: readonly Field[];
  readonly outer: ReadonlySet<Field>;
  readonly choice: RowChoice;
  readonly matcher: HeaderMatcher;
  readonly source: Source;
}

/** The rows that fit; a row of one text over several columns names the group of those below. */
export function rowsOf(part: Part, reading: Reading): readonly RowFindings[] {
  const { grid, from, to, mapped } = part;
  const asked = { ...reading, mapped, about: aboutOf(part), ditto: dittoFields(part, reading.outer) };
  const rows: RowFindings[] = [];
  let { group } = part;
  for (const row of grid.rows.slice(from, to)) {
    const named = mayBeGroup(row, { grid, mapped, fields: reading.fields });
    if (named !== undefined) group = named;
    else {
      const found = rowFindings(row, { ...asked, group, before: rows.at(-1) });
      if (found !== undefined) rows.push(found);
    }
  }
  return rows;
}

/** Rows above a header of the same grid that may name what stands below it. */
const ABOVE_MAX = 4;

/** What stands above a part: in its grid, and above that. */
const aboutOf = ({ grid, from }: Part): readonly Cell[] => [
  ...(from > 1 && from <= ABOVE_MAX + 1 ? grid.rows.slice(0, from - 1).flatMap(cellsIn) : []),
  ...grid.about,
];

interface RowReading extends Reading {
  readonly mapped: Part['mapped'];
  readonly group: Cell | undefined;
  readonly about: readonly Cell[];
  readonly ditto: readonly Field[];
  readonly before: RowFindings | undefined;
}

function rowFindings(row: GridRow, reading: RowReading): RowFindings | undefined {
  const { mapped, source, choice, group, ditto, before } = reading;
  if (choice.leavesOut(labelOf(row, mapped))) return undefined;
  const found = valuesOf(row, mapped, source);
  if (found === undefined) return undefined;
  return withDitto(new Map([...found, ...groupFindings(group, reading)]), ditto, before);
}

/** What a row is called: its first text. */
function labelOf(row: GridRow, mapped: Part['mapped']): string {
  const first = row.find((cell) => !isEmpty(cell));
  const columns = [...mapped].filter(([{ type }]) => type === 'string').map(([, { column }]) => column);
  const own = row[Math.min(...columns)]?.text ?? '';
  return /\p{L}/u.test(first?.text ?? '') ? (first?.text ?? '') : own;
}

/** undefined for a row whose cells are of other types than the fields, or that is nearly empty. */
function valuesOf(row: GridRow, mapped: Part['mapped'], source: Source): Map<string, Finding> | undefined {
  const found = new Map<string, Finding>();
  let misfits = 0;
  for (const [field, place] of mapped) {
    const cell = row[place.column];
    const finding = cellValue(field, cell, { source, evidence: evidenceOf(place) });
    if (finding !== undefined) found.set(field.pointer, finding);
    else if (!isEmpty(cell)) misfits += 1;
  }
  if (misfits > found.size) return undefined;
  return found.size >= Math.min(2, mapped.size) ? found : undefined;
}

const evidenceOf = ({ score }: Place): { label: number; margin: number; agreement: number } => ({
  label: 0.5 + 0.4 * score,
  margin: 0.3,
  agreement: 0,
});
