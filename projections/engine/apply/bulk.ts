type ColumnType = 'text' | 'int4' | 'int8' | 'numeric' | 'boolean' | 'jsonb';
type Cell<Type extends ColumnType> = Type extends 'text' | 'jsonb'
  ? string | null
  : Type extends 'boolean'
    ? boolean | null
    : number | bigint | null;

type Columns = Readonly<Record<string, ColumnType>>;
type RowOf<C extends Columns> = { readonly [K in keyof C]: Cell<C[K]> };

/** A row that a bulk takes; it may have more members. */
export type BulkRow<B> = B extends Bulk<infer C> ? RowOf<C> : never;

/** A set of rows as parameters of one statement: an array a column, whatever the number of rows. */
export interface Bulk<C extends Columns> {
  /** Column names, comma-separated. */
  readonly names: string;
  /** `unnest(…) as u(…)`, with the parameters numbered from `first`. */
  readonly source: (first?: number) => string;
  /** An array literal a column: written here, it costs the drivers nothing. */
  readonly values: (rows: readonly RowOf<C>[]) => readonly string[];
}

const AWKWARD = /["\\\0]/;

/** Postgres cannot store U+0000 in text, and JSON may carry it. */
const quoted = (text: string): string => {
  if (!AWKWARD.test(text)) return `"${text}"`;
  return `"${text.replaceAll('\0', '\uFFFD').replace(/["\\]/g, '\\$&')}"`;
};

const literalOf = (rows: readonly Readonly<Record<string, unknown>>[], name: string): string => {
  let literal = '{';
  for (const row of rows) {
    const value = row[name] as string | number | bigint | boolean | null;
    if (literal.length > 1) literal += ',';
    if (value === null) literal += 'NULL';
    else literal += typeof value === 'string' ? quoted(value) : String(value);
  }
  return `${literal}}`;
};

/** Describes rows for `unnest`. Column order is that of `columns`. */
export const bulk = <const C extends Columns>(columns: C): Bulk<C> => {
  const entries = Object.entries(columns);
  const names = entries.map(([name]) => name).join(', ');
  return {
    names,
    source: (first = 1) => {
      const arrays = entries.map(([, type], i) => `$${String(first + i)}::${type}[]`);
      return `unnest(${arrays.join(', ')}) as u(${names})`;
    },
    values: (rows) => entries.map(([name]) => literalOf(rows, name)),
  };
};

/** JSON as a text parameter for a jsonb column, without what jsonb refuses. */
export const jsonText = (value: unknown): string => JSON.stringify(value).replaceAll('\\u0000', '\uFFFD');

type Scalar = string | number | bigint | boolean | null | undefined;

const SAFE = /^[A-Za-z0-9_.:@/+-]+$/;

/** A field of a record inside an array: quoted for the record, then escaped for the array. */
const recordField = (value: Scalar): string => {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  if (SAFE.test(value)) return value;
  const inRecord = `"${value.replaceAll('\0', '\uFFFD').replace(/["\\]/g, '$&$&')}"`;
  return inRecord.replace(/["\\]/g, '\\$&');
};

/** Rows that a statement takes as one array of a table's own row type. */
export interface Records<C extends Columns> {
  readonly names: string;
  /** `unnest(…) as u`, with the parameter `$1`. */
  readonly source: (table: string) => string;
  readonly values: (rows: readonly RowOf<C>[]) => readonly [string];
}

/**
 * Rows for `unnest`, like `bulk`, at half the cost where there are many columns: Postgres walks one array
 * instead of one a column. `columns` are all the columns of the table, in its order.
 */
export const records = <const C extends Columns>(columns: C): Records<C> => {
  const keys = Object.keys(columns);
  const recordOf = (row: Readonly<Record<string, Scalar>>): string =>
    `"(${keys.map((key) => recordField(row[key])).join(',')})"`;
  return {
    names: keys.join(', '),
    // A parameter of type text: a prepared statement outlives its table, the type of a parameter does not.
    source: (table) => `unnest($1::text::${table}[]) as u`,
    values: (rows) => [`{${rows.map(recordOf).join(',')}}`],
  };
};
