type ColumnType = 'text' | 'int4' | 'int8' | 'boolean' | 'jsonb';
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
