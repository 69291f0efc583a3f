import type { Listed } from './cursor.ts';
import { COMPOSED, type SqlTx, type SqlValue } from './ports.ts';
import { type Columns, parsed, textOf, flagOf, onlyRow } from './table.ts';

/** The SQL by which a list is sorted, and its type. Rows without a value come last in both directions. */
interface Sorted {
  readonly by: string;
  readonly as: 'int8' | 'numeric' | 'text';
  readonly isNullable?: boolean;
  /** SQL of the text that a filter compares, where rows are sorted by what it says. */
  readonly equals?: string;
  /** The order is that of the member, the values are others: no filter takes them. */
  readonly isOrderOnly?: boolean;
}

/** How a list can be sorted, by the names of members of its items. */
export type Sorts = Readonly<Record<string, Sorted>>;

/** The way to sort by a column; `alias` of its table ends in a dot. */
export const sortBy = <C extends Columns>(columns: C, name: keyof C & string, alias = ''): Sorted => {
  const { kind, isNullable } = parsed(columns[name] ?? 'text');
  const by = `${alias}${name}`;
  if (kind === 'boolean') return { by: `(${by}::text collate "C")`, as: 'text', isNullable };
  if (kind === 'text') return { by: `(${by} collate "C")`, as: 'text', isNullable };
  if (kind === 'jsonb') throw new Error(`no cursor has a value of ${name}`);
  if (kind === 'numeric') return { by, as: kind, isNullable };
  return { by, as: kind === 'sorted' ? 'text' : 'int8', isNullable };
};

/** The ways to sort by some columns, which answers name as the table does. */
export const sortsBy = <C extends Columns>(
  columns: C,
  ...names: readonly (keyof C & string)[]
): Readonly<Record<string, Sorted>> => Object.fromEntries(names.map((name) => [name, sortBy(columns, name)]));

const NO_VALUE = { int8: '0', numeric: '0', text: "''" } as const;

/** The order of a list by `sort`, the name of a member, `-` before it: descending. Nothing: the list has its own. */
export const orderOf = (sorts: Sorts, sort: string | undefined): Listed['order'] => {
  if (sort === undefined) return [];
  const isAscending = !sort.startsWith('-');
  const sorted = sorts[isAscending ? sort : sort.slice(1)];
  if (sorted === undefined) return [];
  const { by, as, isNullable } = sorted;
  if (isNullable !== true) return [{ by, as, isAscending }];
  return [
    { by: `(${by} is null)::int`, as: 'int8', isAscending: true },
    { by: `coalesce(${by}, ${NO_VALUE[as]})`, as, isAscending },
  ];
};

/** Members by which a list is filtered, and whether they are whole numbers or texts. */
export const filtersOf = (sorts: Sorts): Readonly<Record<string, 'int8' | 'text'>> =>
  Object.fromEntries(
    Object.entries(sorts).flatMap(([name, { as, equals, isOrderOnly }]) => {
      const compared = equals === undefined ? as : 'text';
      return compared === 'numeric' || isOrderOnly === true ? [] : [[name, compared] as const];
    }),
  );

/** Values that members of the items have, by their names. */
export type Filter = Readonly<Record<string, string>>;

/** Conditions of the rows whose members have these values, with parameters from `$first` on. */
export const filterIn = (
  sorts: Sorts,
  filter: Filter | undefined,
  first: number,
): { readonly where: string; readonly values: readonly SqlValue[] } => {
  const asked = Object.entries(filter ?? {}).flatMap(([name, value]) => {
    const sorted = sorts[name];
    return sorted === undefined ? [] : [{ ...sorted, value }];
  });
  return {
    where: asked
      .map(({ by, as, equals }, at) => {
        const [compared, type] = equals === undefined ? [by, as] : [equals, 'text'];
        return `and ${compared} = $${String(first + at)}::${type}`;
      })
      .join(' '),
    values: asked.map(({ as, value }) => (as === 'int8' ? BigInt(value) : value)),
  };
};

/** Where `q` looks: SQL that gives texts. Those of `written` may be tokens in the place of what people wrote. */
export interface Searched {
  readonly columns: readonly string[];
  readonly written?: readonly string[];
}

/** Opens tokens: the texts by token, of one tenant alone if it is named. */
export type TextsOf = (tokens: readonly string[], of?: string) => Promise<ReadonlyMap<string, string>>;

/** What people wrote is searched in so many of the newest rows: each text is opened for it. */
export const WRITTEN_ROWS_MAX = 10_000;

/** The pattern of all texts with the part: `%`, `_` and `\` mean themselves. */
export const patternOf = (search: string): string => `%${search.replace(/[\\%_]/g, '\\$&')}%`;

const IS_TOKEN = "like 'quire:text:%'";

/** A condition of rows, with the values of its parameters, from `$first` on. */
export interface Condition {
  readonly where: string;
  readonly values: readonly SqlValue[];
  /** There were more rows than those whose written text was searched. */
  readonly isPartial: boolean;
}

/** The rows that a list would have without a search. */
interface Unsearched {
  readonly chosen: string;
  readonly values: readonly SqlValue[];
  readonly order: string;
}

const tokensAmong = async (sql: SqlTx, written: readonly string[], { chosen, values, order }: Unsearched) => {
  const most = `$${String(values.length + 1)}::int8`;
  const row = onlyRow(
    await sql.query(
      `${COMPOSED}with newest as materialized (
         select array[${written.join(', ')}] as texts ${chosen} order by ${order} limit ${most} + 1
       )
       select coalesce((select string_agg(distinct text, ' ') from newest, unnest(texts) as text
           where text ${IS_TOKEN}), '') as tokens,
         (select count(*) from newest) > ${most} as is_partial`,
      [...values, WRITTEN_ROWS_MAX],
    ),
  );
  return { tokens: textOf(row, 'tokens'), isPartial: flagOf(row, 'is_partial') };
};

/** The tokens whose text has the part, in any case. */
const matching = async (tokens: string, q: string, texts: () => ReturnType<TextsOf>): Promise<string[]> => {
  if (tokens === '') return [];
  const part = q.toLowerCase();
  return [...(await texts())].flatMap(([token, text]) => (text.toLowerCase().includes(part) ? [token] : []));
};

/** What is searched for, and by whose texts. */
interface Search {
  readonly q: string;
  readonly tenant_id?: string | undefined;
  readonly texts: TextsOf | undefined;
}

/** The condition of the rows in which one of the columns has the part `q`, in any case. */
export const searchIn = async (
  sql: SqlTx,
  { columns, written = [] }: Searched,
  { search, list }: { readonly search: Search; readonly list: Unsearched },
): Promise<Condition> => {
  const { q, tenant_id, texts } = search;
  const first = list.values.length + 1;
  const among = written.length === 0 ? undefined : await tokensAmong(sql, written, list);
  const { tokens = '', isPartial = false } = among ?? {};
  const found = await matching(
    tokens,
    q,
    () => texts?.(tokens.split(' '), tenant_id) ?? Promise.resolve(new Map()),
  );
  const pattern = `$${String(first)}`;
  const conditions = [
    ...columns.map((one) => `${one} ilike ${pattern}`),
    ...written.map((one) => `(${one} not ${IS_TOKEN} and ${one} ilike ${pattern})`),
    ...(found.length === 0 ? [] : written.map((one) => `${one} = any($${String(first + 1)}::text[])`)),
  ];
  return {
    where: `and (${conditions.join(' or ')})`,
    values: [patternOf(q), ...(found.length === 0 ? [] : [found])],
    isPartial,
  };
};
