import type { SqlValue } from './ports.ts';

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
  readonly values: (rows: readonly RowOf<C>[]) => readonly (readonly SqlValue[])[];
}

/** Postgres cannot store U+0000 in text, and JSON may carry it. */
const storable = (value: SqlValue): SqlValue =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;

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
    values: (rows) => entries.map(([name]) => rows.map((row) => storable(row[name] as SqlValue))),
  };
};

/** JSON as a text parameter for a jsonb column, without what jsonb refuses. */
export const jsonText = (value: unknown): string => JSON.stringify(value).replaceAll('\\u0000', '\uFFFD');
