/** `sorted` is text in the order of its bytes. `position` is an int8 that is a bigint in rows too. */
type Kind = 'text' | 'sorted' | 'int2' | 'int4' | 'int8' | 'position' | 'numeric' | 'boolean' | 'jsonb';
/** What an upsert does to a column of a row that is there; without a word it leaves the column. */
type Merge = 'add' | 'least' | 'greatest' | 'replace';

/** Its kind, `?` if it may be null, and how an upsert merges it: `text`, `int8?`, `numeric add`. */
export type Column = `${Kind}${'' | '?'}${'' | ` ${Merge}`}`;
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
