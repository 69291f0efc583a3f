import { onlyRow, wholeOf } from './table.ts';
import type { SqlRow, SqlTx, SqlValue } from './ports.ts';

/** A page of rows and how many there are in all. */
export interface RowPage<Row> {
  readonly items: readonly Row[];
  readonly total: number;
}

/** Which rows of a list to give. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
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

/** A page of rows. `chosen` is what follows the columns in `select`, up to `order by`. */
export const paging =
  <Asked extends Page, Row>(
    {
      columns = '*',
      chosen,
      order,
    }: { readonly columns?: string; readonly chosen: string; readonly order: string },
    values: Values<[Asked]>,
    read: Read<Row>,
  ) =>
  (sql: SqlTx) =>
  async (asked: Asked): Promise<RowPage<Row>> => {
    const filter = values(asked);
    const [limit, offset] = [filter.length + 1, filter.length + 2].map((at) => `$${String(at)}`);
    const page = `select ${columns} ${chosen} order by ${order} limit ${limit ?? ''} offset ${offset ?? ''}`;
    const rows = await sql.query(page, [...filter, asked.limit, asked.offset]);
    const count = onlyRow(await sql.query(`select count(*) as total ${chosen}`, filter));
    return { items: rows.map(read), total: wholeOf(count, 'total') };
  };
