import { priceListEntry } from '../../domain/priceList/events.ts';
import { rowReader } from '../engine/apply/columns.ts';
import type { SqlRow } from '../engine/ports.ts';
import { finding } from '../engine/query.ts';
import { priceLists } from './priceLists.schema.ts';

const readList = rowReader(priceLists.columns);

/** A published price list, as `CreditPriceListResponse`. */
const rowOf = (row: SqlRow) => {
  const list = readList(row);
  const entries: readonly unknown[] = Array.isArray(list.entries) ? list.entries : [];
  return { ...list, entries: entries.map((entry) => priceListEntry.parse(entry)) };
};

/** The active price list; undefined before the first is published. */
export const activePriceList = finding(
  'select * from read.price_lists order by version desc limit 1',
  () => [],
  rowOf,
);
