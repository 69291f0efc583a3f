import type { Field } from '../fields/fields.ts';
import type { Source } from '../source.ts';
import { profileOf, typeFit, type Profile } from './cellValues.ts';
import { cellsIn, type Cell, type Grid, type GridRow } from './grid.ts';
import type { HeaderMatcher } from './likeness.ts';

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

/** Rows of a grid in which its header is looked for. */
const HEADER_ROWS_MAX = 60;
const DEPTH_MAX = 3;
/** A deeper header must say more. */
const DEEPER = 0.015;
/** Below this a header does not name a field. */
const NAMED = 0.45;
/** A column that no header names, taken because nothing else is left for the field. */
const LEFT_OVER = 0.3;

/** What a header is looked for with. */
export interface Asked {
  readonly fields: readonly Field[];
  readonly matcher: HeaderMatcher;
  readonly source: Source;
}

/** The header of a grid that names the fields best; undefined where none names two, or the only one. */
export function headedBy(grid: Grid, asked: Asked): Headed | undefined {
  let best: Headed | undefined;
  const last = Math.min(grid.rows.length - 1, HEADER_ROWS_MAX);
  for (let header = 0; header < last; header += 1) {
    if (!mayBeHeader(grid.rows[header])) continue;
    for (let depth = 1; depth <= Math.min(DEPTH_MAX, header + 1); depth += 1) {
      const headed = headedAt(grid, { header, depth, least: best?.score ?? 0 }, asked);
      if (headed !== undefined && headed.score > (best?.score ?? 0)) best = headed;
    }
  }
  return best;
}

interface HeaderPlace {
  readonly header: number;
  readonly depth: number;
  /** A header that says less is not looked at further. */
  readonly least: number;
}

function headedAt(
  grid: Grid,
  { header, depth, least }: HeaderPlace,
  { fields, matcher, source }: Asked,
): Headed | undefined {
  const texts = headerTexts(grid, header, depth);
  const named = namedColumns(texts, fields, matcher);
  const enough = Math.min(2, fields.length);
  const scoreOf = (places: ReadonlyMap<Field, Place>): number =>
    ([...places.values()].reduce((sum, { score }) => sum + score, 0) - DEEPER * (depth - 1)) / fields.length;
  if (named.size < enough || scoreOf(named) <= least) return undefined;
  const mapped = withTypes(named, { grid, header, fields, source, texts });
  return mapped.size < enough ? undefined : { grid, header, depth, mapped, score: scoreOf(mapped) };
}

/** Words rather than values: a header has letters in half of its cells at least. */
function mayBeHeader(row: GridRow | undefined): boolean {
  const cells = cellsIn(row ?? []);
  const named = cells.filter(({ text }) => /\p{L}/u.test(text) || YEAR.test(text.trim()));
  return cells.length > 0 && 2 * named.length >= cells.length;
}

const YEAR = /^(?:19|20)\d{2}$/;

/** The header of each column, its rows together. */
export function headerTexts(grid: Grid, header: number, depth: number): readonly string[] {
  const first = header - depth + 1;
  const rows = Array.from({ length: depth }, (_, i) =>
    i < depth - 1 ? grid.overColumns(first + i) : (grid.rows[header] ?? []),
  );
  return Array.from({ length: grid.columns }, (_, column) => {
    const cells = new Set(rows.flatMap((row) => row[column] ?? []));
    return [...cells].map(({ text }) => text).join(' ');
  });
}

interface Pair extends Place {
  readonly field: Field;
}

/** One column for each field and one field for each column, the best names first. */
function namedColumns(
  texts: readonly string[],
  fields: readonly Field[],
  matcher: HeaderMatcher,
): ReadonlyMap<Field, Place> {
  return assigned(
    fields.flatMap((field) =>
      texts.map((text, column): Pair => ({ field, column, score: matcher(field, text) })),
    ),
  );
}

function assigned(pairs: readonly Pair[]): ReadonlyMap<Field, Place> {
  const mapped = new Map<Field, Place>();
  const used = new Set<number>();
  for (const { field, column, score } of [...pairs].sort(
    (a, b) => b.score - a.score || a.column - b.column,
  )) {
    if (score < NAMED || mapped.has(field) || used.has(column)) continue;
    mapped.set(field, { column, score });
    used.add(column);
  }
  return mapped;
}

interface Typing {
  readonly grid: Grid;
  readonly header: number;
  readonly fields: readonly Field[];
  readonly source: Source;
  readonly texts: readonly string[];
}

/** Without the columns whose cells are of another type; a last field may take the only column left for it. */
function withTypes(named: ReadonlyMap<Field, Place>, typing: Typing): ReadonlyMap<Field, Place> {
  const { grid, header, source } = typing;
  const body = grid.rows.slice(header + 1);
  const profiles = new Map<number, Profile>();
  const profile = (column: number): Profile => {
    const known = profiles.get(column) ?? profileOf(columnOf(body, column), source);
    profiles.set(column, known);
    return known;
  };
  const kept = new Map<Field, Place>();
  for (const [field, { column, score }] of named) {
    const fit = typeFit(field, profile(column));
    if (fit > 0) kept.set(field, { column, score: score * fit });
  }
  const left = leftOver(kept, typing, profile);
  return left === undefined ? kept : new Map([...kept, left]);
}

const columnOf = (rows: readonly GridRow[], column: number): readonly (Cell | undefined)[] =>
  rows.map((row) => row[column]);

/**
 * The only field without a column takes the only column without a field that may hold it; the first column
 * names the rows, so a text may take it though others are left.
 */
function leftOver(
  kept: ReadonlyMap<Field, Place>,
  typing: Typing,
  profile: (column: number) => Profile,
): readonly [Field, Place] | undefined {
  const missing = typing.fields.filter((field) => !kept.has(field));
  const [field] = missing;
  if (field === undefined || missing.length > 1 || 2 * kept.size < typing.fields.length) return undefined;
  const used = new Set([...kept.values()].map(({ column }) => column));
  const free = Array.from({ length: typing.grid.columns }, (_, column) => column).filter(
    (column) => !used.has(column) && mayHold(field, profile(column)),
  );
  const [column] = free;
  if (column === undefined) return undefined;
  const isSure = free.length === 1 || (typing.texts[column] ?? '').trim() === '';
  const namesRows = field.type === 'string' && column === 0 && profile(column).distinct > 0.5;
  return isSure || namesRows ? [field, { column, score: LEFT_OVER }] : undefined;
}

/** Most cells are filled and of the type. */
const mayHold = (field: Field, profile: Profile): boolean =>
  profile.filled >= 0.6 &&
  typeFit(field, profile) >= 1 &&
  (field.type !== 'string' || (profile.words > 0.5 && profile.numbers < 0.5));
