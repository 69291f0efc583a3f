import type { Field } from '../fields/fields.ts';
import type { Source } from '../source.ts';
import { mayBeUnnamed, profileOf, typeFit, type Profile } from './cellValues.ts';
import { type Cell, cellsIn, type Grid, type GridRow, type Headed, isEmpty, type Place } from './grid.ts';
import { asksBothSides, withSides } from './apart.ts';
import type { HeaderMatcher } from '../words/says.ts';
import { byContent } from './byContent.ts';
import { beginsWithValues, byOrder } from './byOrder.ts';
import { byProduct } from './goods.ts';
import { remembered } from '../../kernel/once.ts';

/** Tables with more columns are no registers that a schema asks for. */
const COLUMNS_MAX = 300;
/** Rows of a grid in which its header is looked for. */
const HEADER_ROWS_MAX = 60;
const DEPTH_MAX = 3;
/** A deeper header must say more. */
const DEEPER = 0.015;
/** Below this a header does not name a field. */
const NAMED = 0.45;
/** A column that no header names, taken because nothing else is left for the field. */
const LEFT_OVER = 0.3;
const LEFT_COSTS = 0.08;

/** What a header is looked for with. */
export interface Asked {
  readonly fields: readonly Field[];
  /** Of rows that hold rows: what one value may serve many rows for, without a column. */
  readonly outer: ReadonlySet<Field>;
  readonly matcher: HeaderMatcher;
  readonly source: Source;
  /** Columns are told by arithmetic too, and amounts begin the rows. */
  readonly ofGoods: boolean;
}

/** The header of a grid that names the fields best; undefined where none names two, or the only one. */
export function headedBy(grid: Grid, asked: Asked): Headed | undefined {
  const apart = bestNamed(grid, asked);
  const joined = (apart?.mapped.size ?? 0) < asked.fields.length ? underSpans(grid) : undefined;
  const sided = asksBothSides(asked.fields) ? withSides(grid) : undefined;
  const [plain, told] = [joined, sided].map((one) => (one === undefined ? undefined : bestNamed(one, asked)));
  const best = better(told, better(apart, plain));
  const named = best?.mapped.size ?? 0;
  if (named === asked.fields.length) return best;
  const ordered = inOrder(grid, asked);
  return ordered !== undefined && ordered.mapped.size > named ? ordered : best;
}

/** The header that names more fields; of equals the first. */
const better = (one: Headed | undefined, other: Headed | undefined): Headed | undefined =>
  (other?.mapped.size ?? 0) > (one?.mapped.size ?? 0) ? other : one;

/** Columns that one cell of a header may stand over, and be the header of them as one. */
const SPAN_MAX = 3;
const TEXTS_MIN = 3;
const JOINED_ROWS_MAX = 2000;

/** The grid with the columns as one that one cell of its header stands over: a date and a time of one column. */
function underSpans(grid: Grid): Grid | undefined {
  if (grid.columns > COLUMNS_MAX || grid.rows.length > JOINED_ROWS_MAX || grid.isTurned) return undefined;
  const header = grid.rows
    .slice(0, TOP_ROWS)
    .findLast((row) => cellsIn(row).length >= TEXTS_MIN && mayBeHeader(row) && spansIn(row));
  if (header === undefined) return undefined;
  const body = grid.rows.slice(grid.rows.indexOf(header) + 1);
  const starts = header.flatMap((cell, i) =>
    i > 0 && cell !== undefined && cell === header[i - 1] && !areAmounts(body, i) ? [] : [i],
  );
  const rows = grid.rows.map((row) =>
    starts.map((start, i) => cellOver(row.slice(start, starts[i + 1] ?? grid.columns))),
  );
  return { ...grid, rows, columns: starts.length };
}

const AMOUNT = /^[^\p{L}\d]{0,3}\d[\d.,'\s]*[^\p{L}\d]{0,3}$/u;

/** Amounts beside amounts are columns of their own, whatever stands over both: of two years, or of plan and outcome. */
function areAmounts(body: readonly GridRow[], column: number): boolean {
  const both = body.filter((row) => !isEmpty(row[column - 1]) && !isEmpty(row[column]));
  const amounts = both.filter((row) => [column - 1, column].every((at) => AMOUNT.test(row[at]?.text ?? '')));
  return 2 * amounts.length > both.length;
}

/** Whether a cell of the row stands over several columns, but not over many. */
const spansIn = (row: GridRow): boolean =>
  cellsIn(row).some((cell) => {
    const count = row.filter((other) => other === cell).length;
    return count > 1 && count <= SPAN_MAX;
  });

/** Several cells of a row as one. */
function cellOver(cells: GridRow): Cell | undefined {
  const [first, ...others] = cellsIn(cells);
  if (first === undefined || others.length === 0) return first;
  const all = [first, ...others];
  return { ...first, text: all.map(({ text }) => text).join(' '), words: all.flatMap(({ words }) => words) };
}

function bestNamed(grid: Grid, asked: Asked): Headed | undefined {
  let best: Headed | undefined;
  for (const header of headersIn(grid)) {
    for (let depth = 1; depth <= Math.min(DEPTH_MAX, header + 1); depth += 1) {
      const headed = headedAt(grid, { header, depth, least: best?.score ?? 0 }, asked);
      if (headed !== undefined && headed.score > (best?.score ?? 0)) best = headed;
    }
  }
  return best;
}

/** The table whose header says too little, or that has none, by what stands in its columns and their order. */
function inOrder(grid: Grid, asked: Asked): Headed | undefined {
  if (grid.isTurned || asked.outer.size > 0 || grid.columns > COLUMNS_MAX) return undefined;
  const { fields, source } = asked;
  const bare = byOrder(grid, { fields, source, named: NONE, header: -1 });
  if (bare !== undefined && beginsWithValues(bare, source)) return bare;
  if (!mayBeHeader(grid.rows[0])) return undefined;
  const { mapped } = namedColumns(grid, { header: 0, depth: 1 }, asked);
  return byOrder(grid, { fields, source, named: mapped, header: 0 });
}

const NONE: ReadonlyMap<Field, Place> = new Map();

/** The rows that may be headers. */
function headersIn(grid: Grid): readonly number[] {
  if (grid.columns > COLUMNS_MAX) return [];
  if (grid.isTurned) return [0];
  const rows = grid.rows.slice(0, Math.max(0, Math.min(grid.rows.length - 1, HEADER_ROWS_MAX)));
  return rows.flatMap((row, at) => (beginsTable(grid, at) && mayBeHeader(row) ? [at] : []));
}

interface HeaderPlace {
  readonly header: number;
  readonly depth: number;
  /** A header that says less is not looked at further. */
  readonly least: number;
}

function headedAt(grid: Grid, { header, depth, least }: HeaderPlace, asked: Asked): Headed | undefined {
  const columns = toldColumns(grid, { header, depth }, asked);
  const fields = asked.fields.filter((field) => !asked.outer.has(field) || columns.mapped.has(field));
  const enough = Math.min(2, fields.length);
  const said = [...columns.mapped.values()].reduce((sum, { score }) => sum + score, 0) - DEEPER * (depth - 1);
  if (columns.mapped.size < enough || !hasInner(columns.mapped, asked)) return undefined;
  if (said / Math.max(1, fields.length - 1) <= least) return undefined;
  const left = leftOver(columns, fields, grid.columns);
  const mapped = left === undefined ? columns.mapped : new Map([...columns.mapped, left]);
  const score = said / (fields.length - (left === undefined ? 0 : 1)) - (left === undefined ? 0 : LEFT_COSTS);
  return { grid, header, depth, mapped, score };
}

/** A table that has only what one value serves many rows for has no rows. */
const hasInner = (mapped: Named['mapped'], { outer }: Asked): boolean =>
  outer.size === 0 || [...mapped.keys()].some((field) => !outer.has(field));

/** Rows at the top, where headers stand. */
const TOP_ROWS = 8;

/** A header stands at the top of its table, or below a title, what is white, or a head of labels and values. */
const beginsTable = ({ rows }: Grid, at: number): boolean =>
  at < TOP_ROWS || rows.slice(at - DEPTH_MAX, at).some((row) => cellsIn(row).length <= 2);

/** Words rather than values: half of its cells at least have letters and no number, or are years. */
export function mayBeHeader(row: GridRow | undefined): boolean {
  const cells = cellsIn(row ?? []);
  const named = cells.filter(
    ({ text }) => (/\p{L}/u.test(text) && !/\d{2}/.test(text)) || YEAR.test(text.trim()),
  );
  return cells.length > 0 && 2 * named.length >= cells.length;
}

const YEAR = /^(?:19|20)\d{2}$/;

/** The header of each column, its rows together. */
export function headerTexts(grid: Grid, header: number, depth: number): readonly string[] {
  const first = header - depth + 1;
  const rows = Array.from({ length: depth }, (_, i) =>
    i < depth - 1
      ? withoutTitles(grid.overColumns(first + i), grid.rows[first + i + 1])
      : (grid.rows[header] ?? []),
  );
  return Array.from({ length: grid.columns }, (_, column) => {
    const cells = new Set(rows.flatMap((row) => row[column] ?? []));
    return [...cells].map(({ text }) => text).join(' ');
  });
}

/** A name of a group heads each column of the groups below it: what stands over a part of one is a title. */
const withoutTitles = (row: GridRow, below: GridRow = []): GridRow =>
  row.map((cell) => {
    if (cell === undefined) return undefined;
    const [from, to] = [row.indexOf(cell), row.lastIndexOf(cell)];
    const isCut = [from, to + 1].some((at) => below[at] !== undefined && below[at] === below[at - 1]);
    return isCut ? undefined : cell;
  });

interface Pair extends Place {
  readonly field: Field;
}

/** The columns that a header names for the fields, with what it says and what stands below it. */
interface Named {
  readonly mapped: ReadonlyMap<Field, Place>;
  readonly texts: readonly string[];
  readonly profile: (column: number) => Profile;
}

/** One column for each field and one field for each column, the best names first, by words and types. */
function namedColumns(
  grid: Grid,
  { header, depth }: Pick<HeaderPlace, 'header' | 'depth'>,
  { fields, matcher, source, ofGoods }: Asked,
): Named {
  const texts = headerTexts(grid, header, depth);
  const body = grid.rows.slice(header + 1);
  const profiles = new Map<number, Profile>();
  const profile = (column: number): Profile =>
    remembered(profiles, column, () => profileOf(columnOf(body, column), source));
  const pairs = fields.flatMap((field) =>
    texts.flatMap((text, column): readonly Pair[] => {
      const named = matcher(field, text);
      return named < NAMED ? [] : [{ field, column, score: named * typeFit(field, profile(column)) }];
    }),
  );
  if (!ofGoods) return { mapped: assigned(withoutDoubtful(pairs, texts)), texts, profile };
  const multiplied = byProduct(body, texts, { fields, matcher, source });
  return { mapped: assigned(pairs.toReversed(), multiplied), texts, profile };
}

/** With the columns of fields that no header names, told by what stands in them. */
function toldColumns(grid: Grid, place: Pick<HeaderPlace, 'header' | 'depth'>, asked: Asked): Named {
  const named = namedColumns(grid, place, asked);
  if (named.mapped.size === asked.fields.length) return named;
  const inner = asked.fields.filter((field) => !asked.outer.has(field));
  const body = grid.rows.slice(place.header + 1);
  const columns = named.texts.map((text, column) => ({
    text,
    cells: columnOf(body, column),
    profile: named.profile(column),
  }));
  return { ...named, mapped: new Map([...named.mapped, ...byContent(inner, named.mapped, columns)]) };
}

const columnOf = (rows: readonly GridRow[], column: number): readonly (Cell | undefined)[] =>
  rows.map((row) => row[column]);

/** A header that stands over more columns than there are fields that it names tells none of them apart. */
function withoutDoubtful(pairs: readonly Pair[], texts: readonly string[]): readonly Pair[] {
  const fitting = pairs.filter(({ score }) => score >= NAMED);
  const best = new Map<Field, Pair>();
  for (const pair of fitting) if (pair.score > (best.get(pair.field)?.score ?? 0)) best.set(pair.field, pair);
  const claims = counted([...best.values()].map(({ column }) => texts[column] ?? ''));
  const columns = counted(fitting.map(({ field, column }) => keyOf(field, texts[column])));
  return fitting.flatMap((pair) => {
    const text = texts[pair.column];
    const count = columns.get(keyOf(pair.field, text)) ?? 0;
    if (count === 1) return [pair];
    return count <= (claims.get(text ?? '') ?? 0) ? [{ ...pair, score: OVER_SEVERAL * pair.score }] : [];
  });
}

/** Columns under one name are told apart by their order alone. */
const OVER_SEVERAL = 0.9;

const keyOf = ({ pointer }: Field, text: string | undefined): string => `${pointer} ${text ?? ''}`;

function counted(keys: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

function assigned(
  pairs: readonly Pair[],
  known: ReadonlyMap<Field, Place> = NONE,
): ReadonlyMap<Field, Place> {
  const mapped = new Map(known);
  const used = new Set([...known.values()].map(({ column }) => column));
  const ordered = [...pairs].sort((a, b) => b.score - a.score);
  for (const { field, column, score } of ordered) {
    if (mapped.has(field) || used.has(column)) continue;
    mapped.set(field, { column, score });
    used.add(column);
  }
  return mapped;
}

/**
 * The only field without a column takes the only column without a field that may hold it; the first column
 * names the rows, so a text may take it though others are left.
 */
function leftOver(
  { mapped, texts, profile }: Named,
  fields: readonly Field[],
  columns: number,
): readonly [Field, Place] | undefined {
  const [field, ...others] = fields.filter((one) => !mapped.has(one));
  if (field === undefined || others.length > 0 || 2 * mapped.size < fields.length) return undefined;
  const used = new Set([...mapped.values()].map(({ column }) => column));
  const unused = Array.from({ length: columns }, (_, column) => column).filter((one) => !used.has(one));
  const free = unused.filter((one) => mayHold(field, profile(one)));
  const [column = marksOf(field, unused, { texts, profile })] = free;
  if (column === undefined) return undefined;
  const isUnnamed = free.length === 1 || (texts[column] ?? '').trim() === '';
  const isSure = isUnnamed || namesRows(field, column, profile(column));
  return isSure ? [field, { column, score: LEFT_OVER }] : undefined;
}

/** The only column without a header, of marks that few rows have: it is the only text's that has no column. */
function marksOf(
  { type }: Field,
  free: readonly number[],
  { texts, profile }: Pick<Named, 'texts' | 'profile'>,
): number | undefined {
  const [column, ...more] = free.filter((one) => (texts[one] ?? '').trim() === '' && profile(one).filled > 0);
  const isMarked = type === 'string' && column !== undefined && more.length === 0;
  return isMarked && profile(column).words > 0.5 ? column : undefined;
}

/** Texts in the first column that differ. */
const namesRows = ({ type }: Field, column: number, { distinct }: Profile): boolean =>
  type === 'string' && column === 0 && distinct > 0.5;

/** Most cells are filled and of the type. */
const mayHold = (field: Field, profile: Profile): boolean =>
  profile.filled >= 0.6 &&
  mayBeUnnamed(field, profile) &&
  (field.type !== 'string' || isTyped(field) || (profile.words > 0.5 && profile.numbers < 0.5));

const isTyped = ({ kind }: Field): boolean => kind === 'date' || kind === 'email' || kind === 'url';
