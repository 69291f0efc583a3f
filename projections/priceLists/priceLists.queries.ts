import type { PriceListEntry } from '../../domain/priceList/events.ts';
import { priceListEntry } from '../../domain/priceList/events.ts';
import { textOf, textOrNull, wholeOf } from '../engine/apply/columns.ts';
import type { SqlRow, SqlTx } from '../engine/ports.ts';

/** A published price list, as `CreditPriceListResponse`. */
export interface PriceListRow {
  readonly version: number;
  readonly entries: readonly PriceListEntry[];
  readonly published_at: string;
  readonly published_by: string;
  readonly note: string | null;
}

const entriesOf = (row: SqlRow): readonly PriceListEntry[] => {
  const entries: unknown = row['entries'];
  return Array.isArray(entries) ? entries.map((entry) => priceListEntry.parse(entry)) : [];
};

const rowOf = (row: SqlRow): PriceListRow => ({
  version: wholeOf(row, 'version'),
  entries: entriesOf(row),
  published_at: textOf(row, 'published_at'),
  published_by: textOf(row, 'published_by'),
  note: textOrNull(row, 'note'),
});

/** The active price list; undefined before the first is published. */
export const activePriceList = (sql: SqlTx) => async (): Promise<PriceListRow | undefined> => {
  const rows = await sql.query('select * from read.price_lists order by version desc limit 1');
  return rows.map(rowOf)[0];
};
