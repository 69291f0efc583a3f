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

/** A page of rows and how many there are in all. */
export interface RowPage<Row> {
  readonly items: readonly Row[];
  /** Of a page with a cursor: how many there were when the walk began. */
  readonly total: number;
  /** Leads to the rows behind these; null: there are none. */
  readonly next_cursor: string | null;
}

/** Which rows of a list to give. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** The `next_cursor` of the page before: the page begins behind it, whatever came in front meanwhile. */
  readonly cursor?: string | undefined;
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

interface Paged extends Partial<Listed> {
  readonly name: string;
  readonly columns?: string;
  /** Follows the columns in `select`, up to `order by`; ends in conditions that `and` may follow. */
  readonly chosen: string;
}

/** A page of rows, by default newest first. */
export const paging =
  <Asked extends Page, Row>(
    { name, columns = '*', chosen, order = NEWEST_FIRST }: Paged,
    values: Values<[Asked]>,
    read: Read<Row>,
  ) =>
  (sql: SqlTx) =>
  (asked: Asked): Promise<RowPage<Row>> => {
    const list = { name, order };
    const filter = values(asked);
    const find: Steps['find'] = async ({ limit, place }) => {
      const given = [...filter, ...(place?.key ?? [])];
      const behind = place === undefined ? '' : `and ${behindKey(list, filter.length + 1)}`;
      const [most, skipped] = [given.length + 1, given.length + 2].map((at) => `$${String(at)}`);
      const rows = await sql.query(
        `select ${columns}, ${keyColumns(list)} ${chosen} ${behind}
         order by ${orderBy(list)} limit ${most ?? ''} offset ${skipped ?? ''}`,
        [...given, limit, place === undefined ? asked.offset : 0],
      );
      if (place !== undefined) return { rows, total: place.total };
      const count = onlyRow(await sql.query(`select count(*) as total ${chosen}`, filter));
      return { rows, total: wholeOf(count, 'total') };
    };
    return walked(list, asked, { find, read });
  };
