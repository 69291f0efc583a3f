import { onlyRow, wholeOf } from './table.ts';
import type { SqlRow, SqlTx, SqlValue } from './ports.ts';
import {
  behindKey,
  cursorBehind,
  keyColumns,
  NEWEST_FIRST,
  orderBy,
  placeOf,
  type Listed,
  type Place,
} from './cursor.ts';
import {
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
  readonly texts: TextsOf | undefined;
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

const chosenRows = async ({ sql, texts }: Asking, paged: Paged, question: Question): Promise<Chosen> => {
  const filtered = filteredRows(paged, question);
  const { order = NEWEST_FIRST, searched } = paged;
  const { asked } = question;
  if (asked.q === undefined || searched === undefined) return filtered;
  const found = await searchIn(sql, searched, {
    search: { q: asked.q, tenant_id: tenantOf(asked), texts },
    list: { ...filtered, order: orderBy({ order }) },
  });
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

/** A page of rows, by default newest first. */
export const paging = <Asked extends Page, Row>(paged: Paged, values: Values<[Asked]>, read: Read<Row>) => {
  const { name, columns = '*', order = NEWEST_FIRST, sorts } = paged;
  const pageOf =
    (sql: SqlTx, texts?: TextsOf) =>
    async (asked: Asked): Promise<RowPage<Row>> => {
      const list = { name, order: [...orderOf(sorts, asked.sort), ...order] };
      const rows = await chosenRows({ sql, texts }, paged, { asked, values: values(asked) });
      const { chosen, values: filter, count, isPartial } = rows;
      const find: Steps['find'] = async ({ limit, place }) => {
        const given = [...filter, ...(place?.key ?? [])];
        const behind = place === undefined ? '' : `and ${behindKey(list, filter.length + 1)}`;
        const [most, skipped] = [given.length + 1, given.length + 2].map((at) => `$${String(at)}`);
        const found = await sql.query(
          `select ${columns}, ${keyColumns(list)} ${chosen} ${behind}
           order by ${orderBy(list)} limit ${most ?? ''} offset ${skipped ?? ''}`,
          [...given, limit, place === undefined ? asked.offset : 0],
        );
        if (place !== undefined) return { rows: found, total: place.total };
        return { rows: found, total: wholeOf(onlyRow(await sql.query(count, filter)), 'total') };
      };
      return { ...(await walked(list, asked, { find, read })), ...(isPartial && { isPartial }) };
    };
  return Object.assign(pageOf, askableOf(paged));
};
