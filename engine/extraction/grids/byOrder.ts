import { type Cell, type Grid, type Headed, isEmpty, type Place } from './grid.ts';
import type { Field } from '../fields/fields.ts';
import { mayBeUnnamed, profileOf, type Profile } from './cellValues.ts';
import { shapeOf, type Shape } from '../singles/shapes.ts';
import type { Source } from '../source.ts';
import { choiceIn, yesOrNo } from '../texts.ts';
import { timesIn } from '../values/numbers.ts';

/** A schema names the columns of a table in the order in which they are printed; fewer fields are no table. */
const FIELDS_MIN = 3;
/** Fields whose values show what they are: without a header they alone tell a table. */
const TYPED_MIN = 2;
const ROWS_MIN = 2;
/** What a column told by its type and its order is worth beside one that its header names. */
const BY_ORDER = 0.45;
/** Of a table that no header names at all. */
const UNNAMED = 0.5;

interface Column {
  readonly cells: readonly Cell[];
  readonly profile: Profile;
}

/** What the columns of a grid are told by. */
interface Ordering {
  readonly fields: readonly Field[];
  readonly source: Source;
  /** Columns that headers name. */
  readonly named: ReadonlyMap<Field, Place>;
  /** The last row of the header; −1 for none. */
  readonly header: number;
}

/**
 * The columns of all fields, where what headers do not name is told by what stands in the columns and by the
 * order of the schema. Without any name each column must be a field's.
 */
export function byOrder(grid: Grid, { fields, source, named, header }: Ordering): Headed | undefined {
  if (fields.length < FIELDS_MIN || grid.rows.length - header - 1 < ROWS_MIN) return undefined;
  if (named.size === 0 && fields.length !== grid.columns) return undefined;
  const columns = columnsOf(grid, header, source);
  if (!isFullTable(columns, grid.rows.length - header - 1)) return undefined;
  const taken = new Map([...named].map(([field, { column }]) => [column, field]));
  const may = fields.map((field) =>
    columns.map((column, i) => (taken.get(i) ?? field) === field && fits(field, { column, i, named })),
  );
  const places = columnsInOrder(may, columns.length);
  if (places === undefined || !isTold(fields, places, named)) return undefined;
  const mapped = new Map(
    fields.flatMap((field, i): readonly (readonly [Field, Place])[] => {
      const column = places[i];
      return column === undefined ? [] : [[field, named.get(field) ?? { column, score: BY_ORDER }]];
    }),
  );
  const said = [...mapped.values()].reduce((sum, { score }) => sum + score, 0) / fields.length;
  return { grid, header, depth: header < 0 ? 0 : 1, mapped, score: named.size === 0 ? UNNAMED : said };
}

/** Whether the first row holds values as the rows below it do, rather than their header. */
export const beginsWithValues = ({ grid, mapped }: Headed, source: Source): boolean =>
  [...mapped].every(([field, { column }]) => {
    const cell = grid.rows[0]?.[column];
    const own = { cells: cell === undefined ? [] : [cell], profile: profileOf([cell], source) };
    return !isTyped(shapeOf(field)) || fits(field, { column: own, i: column, named: new Map() });
  });

/** Most fields have their column for sure: two of them at least are named or show what they are. */
function isTold(
  fields: readonly Field[],
  places: readonly (number | undefined)[],
  named: ReadonlyMap<Field, Place>,
): boolean {
  const told = fields.filter((_, i) => places[i] !== undefined);
  const typed = told.filter((field) => isTyped(shapeOf(field)) && !named.has(field));
  return 3 * told.length >= 2 * fields.length && typed.length + named.size >= TYPED_MIN;
}

const columnsOf = (grid: Grid, header: number, source: Source): readonly Column[] =>
  Array.from({ length: grid.columns }, (_, i) => {
    const cells = grid.rows.slice(header + 1).map((row) => row[i]);
    return {
      cells: cells.filter((cell): cell is Cell => !isEmpty(cell)).slice(0, CELLS_MAX),
      profile: profileOf(cells, source),
    };
  });
const CELLS_MAX = 60;

/** A form's labels and blanks are no register: its columns are filled. */
const isFullTable = (columns: readonly Column[], rows: number): boolean =>
  columns.filter(({ cells }) => 2 * cells.length >= Math.min(rows, CELLS_MAX)).length >= FIELDS_MIN;

interface Standing {
  readonly column: Column;
  readonly i: number;
  readonly named: ReadonlyMap<Field, Place>;
}

const MOST = 0.8;

function fits(field: Field, { column, i, named }: Standing): boolean {
  const own = named.get(field);
  if (own !== undefined) return own.column === i;
  if (column.cells.length === 0) return false;
  if (!mayBeUnnamed(field, column.profile)) return false;
  if ((field.type !== 'string' && field.type !== 'boolean') || field.kind === 'date') return true;
  const shows = shownBy(field);
  return shows === undefined ? holdsTexts(column) : shareOf(column, shows) >= MOST;
}

const shareOf = ({ cells }: Column, is: (text: string) => boolean): number =>
  cells.filter(({ text }) => is(text)).length / cells.length;

/** Words rather than numbers, days or times. */
const holdsTexts = (column: Column): boolean =>
  column.profile.words > 0.5 &&
  column.profile.numbers < 0.5 &&
  column.profile.dates < 0.5 &&
  shareOf(column, isTime) < 0.5;

/** What a field's values look like, where that tells them from any text. */
function shownBy(field: Field): ((text: string) => boolean) | undefined {
  if (field.choices.length > 0) return (text) => choiceIn(field, text) !== undefined;
  if (field.type === 'boolean') return (text) => yesOrNo(text) !== undefined;
  return SHOWS[shapeOf(field)];
}

const isTime = (text: string): boolean => timesIn(text).some(({ from }) => from === 0);

/** Texts that show what they are. */
const SHOWS: Readonly<Partial<Record<Shape, (text: string) => boolean>>> = {
  time: (text) => isTime(text) || /^\d{4}$/.test(text),
  phone: (text) => text.replace(/\D/g, '').length >= 6 && !/\p{L}{3}/u.test(text),
  email: (text) => text.includes('@'),
  code: (text) => !/\s\S+\s\S+\s/.test(text),
  name: (text) => /\p{L}{2}/u.test(text) && !/\d/.test(text),
};

const isTyped = (shape: Shape): boolean => shape !== 'text' && shape !== 'name' && shape !== 'code';

/** What may stand in which column: an item a field, a flag a column. */
export type MayStand = readonly (readonly boolean[])[];

/** Places of fields and columns that are looked at. */
const FIELDS_MAX = 40;
const COLUMNS_MAX = 60;
/** Counts beyond it are all "many". */
const MANY = 1e12;

/**
 * The column of each field where fields and columns come in one order: those that are the same in every way to
 * place all fields. undefined where no way is there. Bounded by fields times columns.
 */
export function columnsInOrder(may: MayStand, columns: number): readonly (number | undefined)[] | undefined {
  const fields = may.length;
  if (fields === 0 || fields > FIELDS_MAX || columns > COLUMNS_MAX || fields > columns) return undefined;
  const after = waysAfter(may, columns);
  const all = at(after, 0, 0);
  if (all === 0) return undefined;
  const before = waysBefore(may, columns);
  return may.map((row, field) => {
    const column = row.findIndex(
      (fits, one) => fits && at(before, field, one) * at(after, field + 1, one + 1) === all,
    );
    return column < 0 || all >= MANY ? undefined : column;
  });
}

const at = (ways: readonly (readonly number[])[], field: number, column: number): number =>
  ways[field]?.[column] ?? 0;

/** [f][c]: ways to place the fields from f on in the columns from c on. */
function waysAfter(may: MayStand, columns: number): readonly (readonly number[])[] {
  const ways: number[][] = Array.from({ length: may.length + 1 }, () => Array<number>(columns + 2).fill(0));
  ways[may.length]?.fill(1, 0, columns + 1);
  for (let field = may.length - 1; field >= 0; field -= 1)
    for (let column = columns - 1; column >= 0; column -= 1) {
      const own = may[field]?.[column] === true ? at(ways, field + 1, column + 1) : 0;
      (ways[field] ?? [])[column] = Math.min(MANY, own + at(ways, field, column + 1));
    }
  return ways;
}

/** [f][c]: ways to place the fields before f in the columns before c. */
function waysBefore(may: MayStand, columns: number): readonly (readonly number[])[] {
  const ways: number[][] = Array.from({ length: may.length + 1 }, () => Array<number>(columns + 1).fill(0));
  ways[0]?.fill(1);
  for (let field = 1; field <= may.length; field += 1)
    for (let column = 1; column <= columns; column += 1) {
      const own = may[field - 1]?.[column - 1] === true ? at(ways, field - 1, column - 1) : 0;
      (ways[field] ?? [])[column] = Math.min(MANY, own + at(ways, field, column - 1));
    }
  return ways;
}
