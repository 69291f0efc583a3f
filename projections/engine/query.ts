import { onlyRow, wholeOf } from './table.ts';
import { COMPOSED, type SqlRow, type SqlTx, type SqlValue } from './ports.ts';
import {
  behindKey,
  cursorBehind,
  filterOf,
  keyColumns,
  keyNames,
  NEWEST_FIRST,
  orderBy,
  placeOf,
  type Listed,
  type Place,
  withKeys,
} from './cursor.ts';
import { EXPORTED_ROWS, keptKeys, WALK_MAX } from './keptKeys.ts';
import {
  type Condition,
  type Filter,
  filterIn,
  filtersOf,
  orderOf,
  type Searched,
  searchIn,
  type Sorts,
  type TextsOf,
} from './sorts.ts';

/** A page of rows and how many there are in all. */
export interface RowPage<Row> {
  readonly items: readonly Row[];
  /** Of a page with a cursor: how many there were when the walk began. */
  readonly total: number;
  /** Leads to the rows behind these; null: there are none. */
  readonly next_cursor: string | null;
  /** There may be more than `total`: the search did not look at all of what people wrote. */
  readonly isPartial?: boolean | undefined;
}

/** Which rows of a list to give. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** The `next_cursor` of the page before: the page begins behind it, whatever came in front meanwhile. */
  readonly cursor?: string | undefined;
  /** The member of the items to sort by, `-` before it: descending; left out: the order of the list. */
  readonly sort?: string | undefined;
  /** Values of members: only such rows are in the list. */
  readonly filter?: Filter | undefined;
  /** Part of a text that a row is found by, in any case. */
  readonly q?: string | undefined;
}

/** The parameters of a statement, made of what its caller asks. */
type Values<Asked extends readonly unknown[]> = (...asked: Asked) => readonly SqlValue[];
type Read<Row> = (row: SqlRow) => Row;

/** All rows of a statement. */
export const listing =
  <Asked extends readonly unknown[], Row>(text: string, values: Values<Asked>, read: Read<Row>) =>
  (sql: SqlTx) =>
  async (...asked: Asked): Promise<readonly Row[]> =>
    (await sql.query(text, values(...asked))).map(read);

/** The first row of a statement; undefined where it gives none. */
export const finding =
  <Asked extends readonly unknown[], Row>(text: string, values: Values<Asked>, read: Read<Row>) =>
  (sql: SqlTx) =>
  async (...asked: Asked): Promise<Row | undefined> =>
    (await sql.query(text, values(...asked))).map(read)[0];

/** The row of a statement that always gives one. */
export const telling =
  <Asked extends readonly unknown[], Row>(text: string, values: Values<Asked>, read: Read<Row>) =>
  (sql: SqlTx) =>
  async (...asked: Asked): Promise<Row> =>
    read(onlyRow(await sql.query(text, values(...asked))));

/** The rows of a page and one more, if there is one, with how many there are in all. */
export interface Found {
  readonly rows: readonly SqlRow[];
  readonly total: number;
}

/** How a list is walked: by `offset`, or from the place of a cursor on. */
interface Steps {
  /** `limit` is one more than the page has. */
  readonly find: (page: { readonly limit: number; readonly place: Place | undefined }) => Promise<Found>;
}

/** A page of a list that `find` reads: every list of the interface is walked through here. */
export const walked = async <Row>(
  list: Listed,
  asked: Page,
  { find, read }: Steps & { readonly read: Read<Row> },
): Promise<RowPage<Row>> => {
  const place = placeOf(list, asked);
  const { rows, total } = await find({ limit: asked.limit + 1, place });
  const shown = rows.slice(0, asked.limit);
  const row = rows.length > shown.length ? shown.at(-1) : undefined;
  const next_cursor = row === undefined ? null : cursorBehind(list, { asked, row, total });
  return { items: shown.map(read), total, next_cursor };
};

export interface Paged extends Partial<Listed> {
  readonly name: string;
  readonly columns?: string;
  /** Follows the columns in `select`, up to `order by`; ends in conditions that `and` may follow. */
  readonly chosen: string;
  readonly sorts: Sorts;
  /** Left out: the conditions look for `q` themselves, as they do for sums beside the list. */
  readonly searched?: Searched;
  /** Gives `total` of a list without filter and search, where counting its rows would be slower. */
  readonly counted?: string;
}

/** The rows of a list that a filter and a search leave. */
interface Chosen {
  readonly chosen: string;
  readonly values: readonly SqlValue[];
  /** Gives `total`, the number of them. */
  readonly count: string;
  readonly isPartial: boolean;
}

const counting = (chosen: string): string => `select count(*) as total ${chosen}`;

/** Whose rows are asked for, where the question names a tenant. */
const tenantOf = (asked: object): string | undefined => {
  const { tenant_id }: { readonly tenant_id?: unknown } = asked;
  return typeof tenant_id === 'string' ? tenant_id : undefined;
};

/** Sets where texts come from. */
interface Asking {
  readonly sql: SqlTx;
  readonly lately: ReturnType<typeof foundLately>;
  readonly texts: TextsOf | undefined;
}

/** A page of a walk finds what the one before it found; after this time it looks again, ms. */
const FOUND_FOR_MS = 60_000;
const WALKS_MAX = 20;

/** What searches found lately, by what was asked: the pages of a walk need not open the same texts again. */
const foundLately = () => {
  const found = new Map<string, { readonly condition: Condition; readonly atMs: number }>();
  return async (asked: Page, search: () => Promise<Condition>): Promise<Condition> => {
    const walk = filterOf(asked);
    const known = asked.cursor === undefined ? undefined : found.get(walk);
    if (known !== undefined && performance.now() - known.atMs < FOUND_FOR_MS) return known.condition;
    const condition = await search();
    found.delete(walk);
    found.set(walk, { condition, atMs: performance.now() });
    const [oldest] = found.keys();
    if (found.size > WALKS_MAX && oldest !== undefined) found.delete(oldest);
    return condition;
  };
};

/** Rows that are read by their keys. */
interface Wanted {
  readonly list: Listed;
  /** The part of its order that tells rows apart. */
  readonly order: Listed['order'];
  readonly columns: string;
  readonly chosen: string;
  readonly filter: readonly SqlValue[];
  readonly limit: number;
}

interface Question {
  readonly asked: Page;
  readonly values: readonly SqlValue[];
}

const filteredRows = ({ chosen: all, sorts, counted }: Paged, { asked, values: given }: Question): Chosen => {
  const { where, values } = filterIn(sorts, asked.filter, given.length + 1);
  const chosen = `${all} ${where}`;
  const count = values.length === 0 ? (counted ?? counting(chosen)) : counting(chosen);
  return { chosen, values: [...given, ...values], count, isPartial: false };
};

const chosenRows = async (
  { sql, texts, lately }: Asking,
  paged: Paged,
  question: Question,
): Promise<Chosen> => {
  const filtered = filteredRows(paged, question);
  const { order = NEWEST_FIRST, searched } = paged;
  const { asked } = question;
  const { q } = asked;
  if (q === undefined || searched === undefined) return filtered;
  const found = await lately(asked, () =>
    searchIn(sql, searched, {
      search: { q, tenant_id: tenantOf(asked), texts },
      list: { ...filtered, order: orderBy({ order }) },
    }),
  );
  const chosen = `${filtered.chosen} ${found.where}`;
  const values = [...filtered.values, ...found.values];
  return { chosen, values, count: counting(chosen), isPartial: found.isPartial };
};

/** How a list may be asked for, for the descriptions of its query. */
export interface Askable {
  /** Members of its items by which it can be sorted. */
  readonly sorts: readonly string[];
  /** Those by whose values it can be filtered: whole numbers or texts. */
  readonly filters: Readonly<Record<string, 'int8' | 'text'>>;
  /** Where `q` looks: into what people wrote, too, or into columns alone. */
  readonly searches: 'columns' | 'written';
}

/** What a list says of itself. */
export const askableOf = ({ sorts, searched }: Pick<Paged, 'sorts' | 'searched'>): Askable => ({
  sorts: Object.keys(sorts),
  filters: filtersOf(sorts),
  searches: searched?.written === undefined ? 'columns' : 'written',
});

/** The first rows of these keys that are in the list still, in the order of the keys. */
const rowsOf = async (
  sql: SqlTx,
  rest: readonly SqlRow[],
  { list, order, columns, chosen, filter, limit }: Wanted,
): Promise<readonly SqlRow[]> => {
  const apart = keyNames(list).slice(list.order.length - order.length);
  const nameOf = (row: SqlRow): string => JSON.stringify(apart.map((one) => String(row[one])));
  const found: SqlRow[] = [];
  for (let at = 0; at < rest.length && found.length < limit; at += limit) {
    const next = rest.slice(at, at + limit);
    const rows = await sql.query(
      `${COMPOSED}select ${columns}, ${keyColumns(list)} ${chosen} and ${withKeys({ order }, filter.length + 1)}`,
      [...filter, ...apart.map((one) => next.map((row) => String(row[one])))],
    );
    const byName = new Map(rows.map((row) => [nameOf(row), row]));
    for (const key of next) {
      const row = byName.get(nameOf(key));
      if (row !== undefined) found.push({ ...row, ...key });
    }
  }
  return found.slice(0, limit);
};

/** Rows of an export behind a place, by their keys; undefined: there are too many to keep. */
const exporting = (sql: SqlTx, of: Pick<Wanted, 'columns' | 'order'>) => {
  const keys = keptKeys();
  return async (
    list: Listed,
    { chosen, values: filter }: Chosen,
    { asked, place, limit }: { readonly asked: Page; readonly place: Place; readonly limit: number },
  ): Promise<readonly SqlRow[] | undefined> => {
    const rest = await keys.behind(list, { asked, place }, () => {
      const given = [...filter, ...place.key];
      return sql.query(
        `${COMPOSED}select ${keyColumns(list)} ${chosen} and ${behindKey(list, filter.length + 1)}
         order by ${orderBy(list)} limit $${String(given.length + 1)}`,
        [...given, WALK_MAX + 1],
      );
    });
    return rest && rowsOf(sql, rest, { ...of, list, chosen, filter, limit });
  };
};

/** A page of rows, by default newest first. */
export const paging = <Asked extends Page, Row>(paged: Paged, values: Values<[Asked]>, read: Read<Row>) => {
  const { name, columns = '*', order = NEWEST_FIRST, sorts } = paged;
  const pageOf = (sql: SqlTx, texts?: TextsOf) => {
    const lately = foundLately();
    const exported = exporting(sql, { columns, order });
    return async (asked: Asked): Promise<RowPage<Row>> => {
      const list = { name, order: [...orderOf(sorts, asked.sort), ...order] };
      const isComposed = [asked.sort, asked.filter, asked.q].some((one) => one !== undefined);
      const start = isComposed ? COMPOSED : '';
      const rows = await chosenRows({ sql, texts, lately }, paged, { asked, values: values(asked) });
      const { chosen, values: filter, count, isPartial } = rows;
      const behindIn: Steps['find'] = async ({ limit, place }) => {
        const given = [...filter, ...(place?.key ?? [])];
        const behind = place === undefined ? '' : `and ${behindKey(list, filter.length + 1)}`;
        const [most, skipped] = [given.length + 1, given.length + 2].map((at) => `$${String(at)}`);
        const found = await sql.query(
          `${start}select ${columns}, ${keyColumns(list)} ${chosen} ${behind}
           order by ${orderBy(list)} limit ${most ?? ''} offset ${skipped ?? ''}`,
          [...given, limit, place === undefined ? asked.offset : 0],
        );
        if (place !== undefined) return { rows: found, total: place.total };
        return { rows: found, total: wholeOf(onlyRow(await sql.query(`${start}${count}`, filter)), 'total') };
      };
      const find: Steps['find'] = async ({ limit, place }) => {
        const isExport = place !== undefined && asked.sort !== undefined && limit > EXPORTED_ROWS;
        const kept = isExport ? await exported(list, rows, { asked, place, limit }) : undefined;
        return isExport && kept !== undefined
          ? { rows: kept, total: place.total }
          : behindIn({ limit, place });
      };
      return { ...(await walked(list, asked, { find, read })), ...(isPartial && { isPartial }) };
    };
  };
  return Object.assign(pageOf, askableOf(paged));
};
