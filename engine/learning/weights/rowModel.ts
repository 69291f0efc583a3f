import type { Json, JsonObject } from '../../kernel/json.ts';
import { inSegment } from '../../extraction/candidates.ts';
import { coerced } from '../../extraction/fields/coerced.ts';
import type { Field } from '../../extraction/fields/fields.ts';
import { gridRows } from '../../extraction/grids/gridRows.ts';
import { overlap, type Row, type Segment } from '../../extraction/places/layout.ts';
import { findItems } from '../../extraction/lists/itemRows.ts';
import { signedRow } from '../../extraction/lists/listedRows.ts';
import type { SignedRow } from '../../extraction/lists/rowValues.ts';
import { numbersApart } from '../../extraction/places/segmentParts.ts';
import type { Source } from '../../extraction/source.ts';
import { sameValue, squeezed } from '../scoring/agreement.ts';
import { wordsOfLabel } from './surroundings.ts';
import { remembered, once } from '../../kernel/once.ts';

/** What was learned of a list of rows: what its columns are headed, and what stands below the last row. */
export interface RowModel {
  /** Headers by the column's pointer below the row. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly ends: readonly string[];
}

export interface RowLesson {
  readonly source: Source;
  readonly expected: Json | undefined;
}

/** A header counts when this share of the documents whose rows were found has it. */
const VOTES_SHARE = 0.3;
const HEADERS_MAX = 4;
const ENDS_MAX = 8;
const ROWS_ABOVE_MAX = 8;
const ROWS_BELOW_MAX = 4;

/** What one document says: the header of each column, and what stands below its last row. */
interface Observed {
  readonly headers: ReadonlyMap<string, string>;
  readonly ends: readonly string[];
}

/** Finding rows is costly and does not change from one round to the next. */
const observedIn = once((_: Source) => new Map<string, Observed | undefined>());

/** Learns the headers of columns from where the expected rows stand; undefined where none were found. */
export function learnRows(
  pointer: string,
  fields: readonly Field[],
  lessons: readonly RowLesson[],
): RowModel | undefined {
  const observed = lessons.flatMap(
    (lesson) => remembered(observedIn(lesson.source), pointer, () => observe(fields, lesson)) ?? [],
  );
  if (observed.length === 0) return undefined;
  const least = Math.max(1, VOTES_SHARE * observed.length);
  const headers = fields.map((field): readonly [string, readonly string[]] => {
    const said = observed.flatMap((one) => one.headers.get(field.pointer) ?? []);
    return [field.pointer, elected(said, least).slice(0, HEADERS_MAX)];
  });
  const ends = elected(
    observed.flatMap((one) => one.ends),
    least,
  );
  return { headers: new Map(headers), ends: ends.slice(0, ENDS_MAX) };
}

function observe(fields: readonly Field[], { source, expected }: RowLesson): Observed | undefined {
  const cells = cellsOf(fields, asRows(expected), source);
  if (cells.length === 0) return undefined;
  const headers = fields.map((field): readonly [string, string] => [
    field.pointer,
    headerOf(
      cells.flatMap((row) => row.get(field.pointer) ?? []),
      source,
    ),
  ]);
  return { headers: new Map(headers.filter(([, header]) => header !== '')), ends: endsBelow(cells, source) };
}

function elected(said: readonly string[], least: number): readonly string[] {
  const votes = new Map<string, number>();
  for (const text of said) votes.set(text, (votes.get(text) ?? 0) + 1);
  return [...votes]
    .filter(([, count]) => count >= least)
    .sort(([a, one], [b, two]) => two - one || (a < b ? -1 : 1))
    .map(([text]) => text);
}

const asRows = (expected: Json | undefined): readonly JsonObject[] =>
  Array.isArray(expected)
    ? expected.filter(
        (row): row is JsonObject => typeof row === 'object' && row !== null && !Array.isArray(row),
      )
    : [];

/** Where the members of a row stand, by pointer. */
type Cells = ReadonlyMap<string, Segment>;

/** For each expected row the line that says most of it: at least two members, or all there are. */
function cellsOf(fields: readonly Field[], rows: readonly JsonObject[], source: Source): readonly Cells[] {
  const lines = source.layout.rows.map(({ segments }) => segments.flatMap(numbersApart));
  const used = new Set<number>();
  return rows.flatMap((row) => {
    const wanted = fields.flatMap((field) => {
      const value = row[field.pointer.slice(1)];
      return value === undefined || value === null ? [] : [{ field, value }];
    });
    const found = lines.map((line, i) =>
      used.has(i) ? new Map<string, Segment>() : said(wanted, line, source),
    );
    const best = found.reduce((most, one, i) => (one.size > (found[most]?.size ?? 0) ? i : most), 0);
    const cells = found[best];
    if (cells === undefined || cells.size < Math.min(2, wanted.length) || cells.size === 0) return [];
    used.add(best);
    return [cells];
  });
}

interface Wanted {
  readonly field: Field;
  readonly value: Json;
}

/** The members that a line says, each by a segment of its own, from the right: amounts stand there. */
function said(wanted: readonly Wanted[], line: readonly Segment[], source: Source): Map<string, Segment> {
  const cells = new Map<string, Segment>();
  const free = new Set(line);
  for (const { field, value } of wanted) {
    const segment = [...free].find((one) => says(one, { field, value }, source));
    if (segment === undefined) continue;
    cells.set(field.pointer, segment);
    free.delete(segment);
  }
  return cells;
}

const START_CHARACTERS_MIN = 4;

function says(segment: Segment, { field, value }: Wanted, { conventions }: Source): boolean {
  const typed = inSegment(segment, conventions).some((candidate) => {
    const got = coerced(field, candidate.value);
    return got !== undefined && sameValue(value, got);
  });
  if (typed || typeof value !== 'string') return typed;
  const [whole, part] = [squeezed(value), squeezed(segment.text)];
  return whole === part || (part.length >= START_CHARACTERS_MIN && whole.startsWith(part));
}

/** The words over a column: the nearest text without numbers above its first cell. */
function headerOf(cells: readonly Segment[], { layout }: Source): string {
  const first = cells.reduce<Segment | undefined>(
    (top, cell) => (top === undefined || cell.row < top.row ? cell : top),
    undefined,
  );
  if (first === undefined) return '';
  const last = Math.max(0, first.row - ROWS_ABOVE_MAX);
  for (let row = first.row - 1; row >= last; row -= 1) {
    const above = layout.rows[row]?.segments.find((one) => isOver(one, cells));
    if (above !== undefined) return wordsOver(above, cells);
  }
  return '';
}

const isOver = (one: Segment, cells: readonly Segment[]): boolean =>
  one.page === cells[0]?.page &&
  !/\d/.test(one.text) &&
  /\p{L}/u.test(one.text) &&
  cells.some((cell) => overlap(one, cell) > 0.1);

/** Headers that stand close read as one segment: only the words over the column's cells count. */
function wordsOver(header: Segment, cells: readonly Segment[]): string {
  const x0 = Math.min(...cells.map((cell) => cell.x0));
  const x1 = Math.max(...cells.map((cell) => cell.x1));
  const over = header.words.filter(({ box }) => box !== null && box[0] < x1 + 2 && box[2] > x0 - 2);
  const text = over.length === 0 ? header.text : over.map((word) => word.text).join(' ');
  return wordsOfLabel(text).join(' ');
}

/** Labels of the lines with numbers right below the last row: they end the list. */
function endsBelow(cells: readonly Cells[], { layout }: Source): readonly string[] {
  const last = Math.max(...cells.flatMap((row) => [...row.values()].map((segment) => segment.row)));
  return layout.rows.slice(last + 1, last + 1 + ROWS_BELOW_MAX).flatMap((row) => endOf(row) ?? []);
}

/** What a line of a label and an amount says. */
function endOf({ segments }: Row): string | undefined {
  const label = segments.find(({ text }) => /\p{L}{3}/u.test(text));
  const words = wordsOfLabel(label?.text ?? '').join(' ');
  return words !== '' && segments.length <= 3 && segments.some(({ text }) => /\d/.test(text))
    ? words
    : undefined;
}

/** The rows that learned headers find; what the rules know of headers still counts. */
export function rowsBy(
  { headers, ends }: RowModel,
  fields: readonly Field[],
  source: Source,
): readonly SignedRow[] {
  const taught = fields.map((field) => ({
    ...field,
    phrases: [...field.phrases, ...(headers.get(field.pointer) ?? []).map((text) => text.split(' '))],
  }));
  const asked = { fields: taught, outer: new Set<Field>(), called: { phrases: [], description: '' } };
  const told = { ...source, endsRows: (row: Row) => ends.includes(endOf(row) ?? '') };
  const { rows } = gridRows(asked, told);
  return (rows.length > 0 ? rows : findItems(taught, told)).map((row) => signedRow(row, 'examples'));
}
