import type { SqlTx } from './ports.ts';
import { type Columns, parsed, pick, type RowOf, sqlTypeOf, type Table, type Written } from './table.ts';

/** A row that a bulk takes; it may have more members. */
export type BulkRow<B> = B extends Bulk<infer C> ? RowOf<C, Written> : never;

/** A set of rows as parameters of one statement: an array a column, whatever the number of rows. */
interface Bulk<C extends Columns> {
  /** Column names, comma-separated. */
  readonly names: string;
  /** `unnest(…) as u(…)`, with the parameters numbered from `first`. */
  readonly source: (first?: number) => string;
  /** An array literal a column: written here, it costs the drivers nothing. */
  readonly values: (rows: readonly RowOf<C, Written>[]) => readonly string[];
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
      const arrays = entries.map(([, column], i) => `$${String(first + i)}::${sqlTypeOf(column)}[]`);
      return `unnest(${arrays.join(', ')}) as u(${names})`;
    },
    values: (rows) => entries.map(([name]) => literalOf(rows, name)),
  };
};

/** Of several rows of one key the last: one statement must not meet a row twice. */
export const lastOf = <Row>(rows: readonly Row[], keyOf: (row: Row) => string): readonly Row[] => [
  ...new Map(rows.map((row) => [keyOf(row), row])).values(),
];

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
interface Records<C extends Columns> {
  readonly names: string;
  /** `unnest(…) as u`, with the parameter `$1`. */
  readonly source: (table: string) => string;
  readonly values: (rows: readonly RowOf<C, Written>[]) => readonly [string];
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

/** Writes rows to the tables of one generation; no rows, no statement. */
type Write<Taken> = (tx: SqlTx, schema: string, rows: readonly Taken[]) => Promise<void>;

const writing = <const C extends Columns>(
  columns: C,
  statement: (schema: string, rows: Bulk<C>) => string,
): Write<RowOf<C, Written>> => {
  const rows = bulk(columns);
  return async (tx, schema, taken) => {
    if (taken.length > 0) await tx.query(statement(schema, rows), rows.values(taken));
  };
};

interface InsertOptions<C extends Columns> {
  /** Columns to fill from the rows; all by default. The others are null, or set by `constants`. */
  readonly columns?: C;
  /** SQL by column, the same for all rows. */
  readonly constants?: Readonly<Record<string, string>>;
  /** Keeps the existing row where the key exists. */
  readonly firstStands?: boolean;
}

/** Inserts rows of a table. */
export const inserting = <T extends Table, const C extends Columns = T['columns']>(
  { name, key, columns: all }: T,
  { columns, constants = {}, firstStands = false }: InsertOptions<C> = {},
): Write<RowOf<C, Written>> =>
  writing((columns ?? all) as C, (schema, { names, source }) => {
    const into = [names, ...Object.keys(constants)].join(', ');
    const conflict = firstStands ? ` on conflict (${key.join(', ')}) do nothing` : '';
    return `insert into ${schema}.${name} (${into})
      select ${[names, ...Object.values(constants)].join(', ')} from ${source()}${conflict}`;
  });

const mergeOf = (name: string, column: Columns[string]): readonly string[] => {
  const { merge, isNullable } = parsed(column);
  const [is, comes] = [`there.${name}`, `excluded.${name}`];
  if (merge === 'add') return [`${name} = ${is} + ${comes}`];
  if (merge === 'replace') return [`${name} = ${isNullable ? `coalesce(${comes}, ${is})` : comes}`];
  return merge === undefined ? [] : [`${name} = ${merge}(${is}, ${comes})`];
};

/** The end of an upsert into a table that the statement calls `there`. Null replaces nothing. */
export const onConflict = ({ key, columns }: Table): string =>
  `on conflict (${key.join(', ')}) do update set ${Object.entries(columns)
    .flatMap(([name, column]) => mergeOf(name, column))
    .join(', ')}`;

/** Inserts rows; a row whose key exists is merged as the table's columns say. */
export const upserting = <T extends Table>(into: T): Write<RowOf<T['columns'], Written>> =>
  writing(
    into.columns as T['columns'],
    (schema, { names, source }) =>
      `insert into ${schema}.${into.name} as there (${names}) select ${names} from ${source()} ${onConflict(into)}`,
  );

/** Sets columns of the rows that are there, which the key among `names` finds; no key twice in one call. */
export const updating = <T extends Table, K extends keyof T['columns'] & string>(
  { name, key, columns }: T,
  ...names: readonly K[]
): Write<RowOf<Pick<T['columns'], K>, Written>> =>
  writing(pick(columns as T['columns'], ...names), (schema, { source }) => {
    const assigned = names.filter((one) => !key.includes(one)).map((column) => `${column} = u.${column}`);
    const found = key.map((column) => `there.${column} = u.${column}`).join(' and ');
    return `update ${schema}.${name} there set ${assigned.join(', ')} from ${source()} where ${found}`;
  });
