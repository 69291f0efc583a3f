import { sortedTags, type Tags } from '../../domain/kernel/tags.ts';
import type { DomainEvent, ProjectedEvent, SqlRow, SqlTx } from './ports.ts';

/** `sorted` is text in the order of its bytes. `position` is an int8 that is a bigint in rows too. */
type Kind = 'text' | 'sorted' | 'int2' | 'int4' | 'int8' | 'position' | 'numeric' | 'boolean' | 'jsonb';
/** What an upsert does to a column of an existing row; left out: the column stays. */
type Merge = 'add' | 'least' | 'greatest' | 'replace';

/** Its kind, `?` if it may be null, and how an upsert merges it: `text`, `int8?`, `numeric add`. */
type Column = `${Kind}${'' | '?'}${'' | ` ${Merge}`}`;
export type Columns = Readonly<Record<string, Column>>;

/** What the kinds of columns are in rows that projectors compute with. */
interface Computed {
  readonly whole: number;
  readonly big: bigint;
  readonly json: string;
}

/** What statements take: JSON is text. */
export interface Written {
  readonly whole: number | bigint;
  readonly big: number | bigint;
  readonly json: string;
}

/** Sums that may leave the range of safe numbers. */
export interface Exact {
  readonly whole: bigint;
  readonly big: bigint;
  readonly json: string;
}

type Form = Readonly<Record<keyof Computed, unknown>>;

type Value<K, F extends Form> = K extends 'text' | 'sorted'
  ? string
  : K extends 'boolean'
    ? boolean
    : K extends 'jsonb'
      ? F['json']
      : K extends 'position' | 'numeric'
        ? F['big']
        : F['whole'];
type Unmerged<C> = C extends `${infer Plain} ${Merge}` ? Plain : C;
type Cell<C, F extends Form> = C extends `${infer K}?` ? Value<K, F> | null : Value<C, F>;

/** A row of some columns. */
export type RowOf<C extends Columns, F extends Form = Computed> = {
  readonly [Name in keyof C]: Cell<Unmerged<C[Name]>, F>;
};

/** A row of a table. */
export type Row<T extends Table, F extends Form = Computed> = RowOf<T['columns'], F>;

/** A row that is being summed up: what an upsert merges can change. */
export type Sum<T extends Table, F extends Form = Computed> = {
  -readonly [Name in MergedIn<T['columns']>]: Cell<Unmerged<T['columns'][Name]>, F>;
} & Omit<Row<T, F>, MergedIn<T['columns']>>;

type MergedIn<C extends Columns> = {
  [Name in keyof C]: C[Name] extends `${string} ${Merge}` ? Name : never;
}[keyof C];

/** A table of a read model, and the columns that order its rows uniquely. */
export interface ReadTable {
  readonly name: string;
  readonly key: readonly string[];
}

/** A table of a read model: everything that is said of its columns is derived from here. */
export interface Table<C extends Columns = Columns> extends ReadTable {
  /** In the order of the table. */
  readonly columns: C;
  /** Columns of a unique constraint beside the key. */
  readonly unique?: readonly string[];
  /** What follows `on` in `create index`; `unique` may go before it. */
  readonly indexes?: readonly string[];
  /** Percent of a page that inserts fill: free room lets a row that changes often stay in its page. */
  readonly fillfactor?: number;
  /**
   * Which rows are a tenant's, as a condition with the tenant `$1` and `{schema}`; `shared`: none, all tenants read
   * them. Left out: those with its `tenant_id`. A table without that column has to say it, or its read model cannot
   * tell tenants apart.
   */
  readonly rowsOf?: string;
}

/** Describes a table. */
export const table = <const C extends Columns>(
  definition: Omit<Table<C>, 'key'> & { readonly key: readonly (keyof C & string)[] },
): Table<C> => definition;

/** Some of the columns. */
export const pick = <C extends Columns, K extends keyof C>(columns: C, ...names: readonly K[]): Pick<C, K> =>
  Object.fromEntries(Object.entries(columns).filter(([name]) => names.some((one) => one === name))) as Pick<
    C,
    K
  >;

/** All columns but some. */
export const omit = <C extends Columns, K extends keyof C>(columns: C, ...names: readonly K[]): Omit<C, K> =>
  Object.fromEntries(Object.entries(columns).filter(([name]) => !names.some((one) => one === name))) as Omit<
    C,
    K
  >;

interface Parsed {
  readonly kind: Kind;
  readonly isNullable: boolean;
  readonly merge: Merge | undefined;
}

/** The parts of a column's definition. */
export const parsed = (column: Column): Parsed => {
  const [plain, merge] = column.split(' ') as [string, Merge | undefined];
  const isNullable = plain.endsWith('?');
  return { kind: (isNullable ? plain.slice(0, -1) : plain) as Kind, isNullable, merge };
};

const TYPES: Readonly<Partial<Record<Kind, string>>> = { sorted: 'text', position: 'int8' };

/** The type that Postgres has for a column. */
export const sqlTypeOf = (column: Column): string => {
  const { kind } = parsed(column);
  return TYPES[kind] ?? kind;
};

type AddedIn<C extends Columns> = {
  [Name in keyof C]: C[Name] extends `${string} add` ? Name : never;
}[keyof C];

/** Names of the columns that an upsert adds up. */
export const sumsOf = <C extends Columns>(columns: C): readonly (AddedIn<C> & string)[] =>
  Object.keys(columns).filter((name) => columns[name]?.endsWith(' add')) as (AddedIn<C> & string)[];

const zeros = <Name extends string>(names: readonly Name[]): Record<Name, bigint> =>
  Object.fromEntries(names.map((name) => [name, 0n])) as Record<Name, bigint>;

/** Zero for each column that an upsert adds up. */
export const noSums = <C extends Columns>(columns: C) => zeros(sumsOf(columns));

/** Zero for each column. */
export const allZero = <C extends Columns>(columns: C) => zeros(Object.keys(columns) as (keyof C & string)[]);

const columnDdl = ([name, column]: readonly [string, Column]): string => {
  const { kind, isNullable } = parsed(column);
  const order = kind === 'sorted' ? ' collate "C"' : '';
  return `${name} ${sqlTypeOf(column)}${order}${isNullable ? '' : ' not null'}`;
};

const tableDdl = (
  { name, key, columns, unique, indexes = [], fillfactor }: Table,
  schema: string,
): string => {
  const lines = [
    ...Object.entries(columns).map(columnDdl),
    `primary key (${key.join(', ')})`,
    ...(unique === undefined ? [] : [`unique (${unique.join(', ')})`]),
  ];
  const room = fillfactor === undefined ? '' : ` with (fillfactor = ${String(fillfactor)})`;
  const created = indexes.map((index) =>
    index.replace(/^(unique )?/, (isUnique) => `create ${isUnique}index on ${schema}.${name} `),
  );
  return [`create table ${schema}.${name} (${lines.join(', ')})${room}`, ...created].join(';\n');
};

/** Statements that create tables in a schema. */
export const ddlOf = (tables: readonly Table[], schema: string): string =>
  tables.map((one) => tableDdl(one, schema)).join(';\n');

const wrong = (name: string, value: unknown): TypeError =>
  new TypeError(`column ${name} holds ${value === null ? 'null' : typeof value}`);

/** A text column that is never null. */
export const textOf = (row: SqlRow, name: string): string => {
  const value = row[name];
  if (typeof value !== 'string') throw wrong(name, value);
  return value;
};

export const textOrNull = (row: SqlRow, name: string): string | null =>
  row[name] === null ? null : textOf(row, name);

/** A whole number that is safe in JSON: int4, or int8 within ±2^53. */
export const wholeOf = (row: SqlRow, name: string): number => {
  const value = row[name];
  const whole = typeof value === 'bigint' ? Number(value) : value;
  if (typeof whole !== 'number' || !Number.isSafeInteger(whole)) throw wrong(name, value);
  return whole;
};

export const wholeOrNull = (row: SqlRow, name: string): number | null =>
  row[name] === null ? null : wholeOf(row, name);

export const bigintOf = (row: SqlRow, name: string): bigint => {
  const value = row[name];
  if (typeof value !== 'bigint') throw wrong(name, value);
  return value;
};

export const bigintOrNull = (row: SqlRow, name: string): bigint | null =>
  row[name] === null ? null : bigintOf(row, name);

/** A numeric column that holds a whole number. */
export const wholeNumericOf = (row: SqlRow, name: string): bigint => {
  const value = row[name];
  return typeof value === 'bigint' ? value : BigInt(textOf(row, name));
};

export const flagOf = (row: SqlRow, name: string): boolean => {
  const value = row[name];
  if (typeof value !== 'boolean') throw wrong(name, value);
  return value;
};

/** What columns are in rows that are read: JSON is not checked yet. */
interface Read {
  readonly whole: number;
  readonly big: bigint;
  readonly json: unknown;
}

type ReadColumn = (row: SqlRow, name: string) => unknown;

const READERS: Readonly<Record<ReturnType<typeof parsed>['kind'], ReadColumn>> = {
  text: textOf,
  sorted: textOf,
  int2: wholeOf,
  int4: wholeOf,
  int8: wholeOf,
  position: bigintOf,
  numeric: wholeNumericOf,
  boolean: flagOf,
  jsonb: (row, name) => row[name],
};

const readerOf = (column: Column): ReadColumn => {
  const { kind, isNullable } = parsed(column);
  const read = READERS[kind];
  return isNullable ? (row, name) => (row[name] === null ? null : read(row, name)) : read;
};

/**
 * An object with these members, of one shape. V8 keeps objects that are put together by computed names as hash
 * tables beyond a dozen members, which are slow to read and to copy; parsed ones it does not.
 */
const shapeWith = (names: readonly string[]): Record<string, unknown> =>
  JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:null`).join(',')}}`) as Record<string, unknown>;

/** Reads columns of a row as their definitions say; throws where one holds something else. */
export const rowReader = <C extends Columns>(columns: C): ((row: SqlRow) => RowOf<C, Read>) => {
  const readers = Object.entries(columns).map(([name, column]) => ({ name, read: readerOf(column) }));
  const shape = shapeWith(Object.keys(columns));
  return (row) => {
    const members = { ...shape };
    for (const { name, read } of readers) members[name] = read(row, name);
    return members as RowOf<C, Read>;
  };
};

/** Tags in a column `tags` of JSON, by name: jsonb keeps them in another order. None: an empty object. */
export const tagsOf = ({ tags }: SqlRow): Tags => sortedTags(tags as Tags | null) ?? {};

/** The only row of a result that always has one. */
export const onlyRow = (rows: readonly SqlRow[]): SqlRow => {
  const [row] = rows;
  if (row === undefined) throw new Error('the statement gave no row');
  return row;
};

/** A stretch of time, both ends included: RFC 3339 UTC with milliseconds, so that text order is time order. */
export interface TimeRange {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The part of a range that lies within another one. */
export const within = (
  { from, to }: TimeRange,
  bounds: { readonly from: string; readonly to: string },
): { readonly from: string; readonly to: string } => ({
  from: from !== undefined && from > bounds.from ? from : bounds.from,
  to: to !== undefined && to < bounds.to ? to : bounds.to,
});

/** A range of time as whole UTC days, which roll-ups have, and pieces of days, which only rows have. */
interface DayRange {
  /** First and last whole day, `YYYY-MM-DD`; none when the first comes after the last. */
  readonly firstDay: string;
  readonly lastDay: string;
  readonly pieces: readonly { readonly from: string; readonly to: string }[];
}

const DAY_START = 'T00:00:00.000Z';
const DAY_END = 'T23:59:59.999Z';
const DAY_MS = 86_400_000;
const FIRST_DAY = '0000-01-01';
const LAST_DAY = '9999-12-31';

const dayOf = (time: string): string => time.slice(0, 10);
const dayAfter = (day: string, days: number): string =>
  dayOf(new Date(Date.parse(`${day}${DAY_START}`) + days * DAY_MS).toISOString());

const least = (a: string, b: string | undefined): string => (b !== undefined && b < a ? b : a);

interface Cut {
  readonly day: string;
  readonly piece: { readonly from: string; readonly to: string } | undefined;
}

/** The first whole day of what begins at `from`, and the piece of a day before it. */
const cutStart = (from: string | undefined, to: string | undefined): Cut => {
  if (from === undefined) return { day: FIRST_DAY, piece: undefined };
  const day = dayOf(from);
  if (from.endsWith(DAY_START)) return { day, piece: undefined };
  return { day: dayAfter(day, 1), piece: { from, to: least(`${day}${DAY_END}`, to) } };
};

/** The last whole day of what ends at `to`, and the piece of a day after it. */
const cutEnd = (to: string | undefined): Cut => {
  if (to === undefined) return { day: LAST_DAY, piece: undefined };
  const day = dayOf(to);
  if (to.endsWith(DAY_END)) return { day, piece: undefined };
  return { day: dayAfter(day, -1), piece: { from: `${day}${DAY_START}`, to } };
};

/** Splits a range so that every instant of it is in exactly one of its whole days or pieces. */
export const dayRange = ({ from, to }: TimeRange): DayRange => {
  if (from !== undefined && to !== undefined && from > to)
    return { firstDay: LAST_DAY, lastDay: FIRST_DAY, pieces: [] };
  const [start, end] = [cutStart(from, to), cutEnd(to)];
  // A range that begins and ends within one day is one piece, which the start has cut already.
  const isOnePiece = start.piece !== undefined && end.piece !== undefined && start.day > dayOf(end.piece.to);
  const pieces = [start.piece, isOnePiece ? undefined : end.piece].filter((piece) => piece !== undefined);
  return { firstDay: start.day, lastDay: end.day, pieces };
};

/** Events to apply, in the order of the log, to the tables in `schema`. */
interface ProjectorBatch {
  readonly schema: string;
  readonly events: readonly ProjectedEvent[];
}

/**
 * Turns events into the rows of one read model. A changed meaning or shape of its rows raises `version`,
 * and the engine rebuilds it. `apply` runs in the transaction that moves the checkpoint, so an event
 * takes effect exactly once; it writes sets of rows, never a statement an event, and the rows must not
 * depend on how events are cut into batches.
 */
export interface Projector {
  /** snake_case; part of schema names. */
  readonly name: string;
  readonly version: number;
  readonly eventTypes: readonly DomainEvent['type'][];
  readonly tables: readonly Table[];
  readonly apply: (tx: SqlTx, batch: ProjectorBatch) => Promise<void>;
  /** Whose rows an event moves, where it is not the tenant that the event is recorded for; null: those of all. */
  readonly ownerOf?: (event: ProjectedEvent) => string | null | undefined;
}

/** The schema of the views that queries read: they point at the tables of the live generation. */
export const READ_SCHEMA = 'read';
