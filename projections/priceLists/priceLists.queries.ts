import { z } from 'zod';
import { priceListEntry } from '../../domain/priceList/events.ts';
import { rowReader } from '../engine/apply/columns.ts';
import type { SqlRow } from '../engine/ports.ts';
import { finding } from '../engine/query.ts';
import { priceLists } from './priceLists.schema.ts';

const readList = rowReader(priceLists.columns);
const entries = z.array(priceListEntry);

/** A published price list, as `CreditPriceListResponse`. */
const rowOf = (row: SqlRow) => {
  const list = readList(row);
  return { ...list, entries: entries.parse(list.entries) };
};

/** The active price list; undefined before the first is published. */
export const activePriceList = finding(
  'select * from read.price_lists order by version desc limit 1',
  () => [],
  rowOf,
);
