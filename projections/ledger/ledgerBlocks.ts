import type { Sum } from '../engine/table.ts';
import { BLOCK_ROWS, type ledgerBlocks } from './ledger.schema.ts';
import type { LedgerRow } from './ledgerRows.ts';

type BlockCount = Sum<typeof ledgerBlocks>;

const firstOf = (
  { tenant_id, ordinal, kind, operation, created_at }: LedgerRow,
  block: number,
): BlockCount => ({
  tenant_id,
  block,
  kind,
  operation: operation ?? '',
  rows: 0,
  first_ordinal: ordinal,
  last_ordinal: ordinal,
  first_created_at: created_at,
  last_created_at: created_at,
});

/** Counts numbered rows by block, kind and operation. */
export const blocksOf = (rows: readonly LedgerRow[]): readonly BlockCount[] => {
  const counts = new Map<string, BlockCount>();
  for (const row of rows) {
    const { tenant_id, ordinal, kind, created_at } = row;
    const block = Math.floor(ordinal / BLOCK_ROWS);
    const key = `${tenant_id} ${String(block)} ${kind} ${row.operation ?? ''}`;
    let count = counts.get(key);
    if (count === undefined) {
      count = firstOf(row, block);
      counts.set(key, count);
    }
    count.rows += 1;
    count.last_ordinal = ordinal;
    if (created_at < count.first_created_at) count.first_created_at = created_at;
    if (created_at > count.last_created_at) count.last_created_at = created_at;
  }
  return [...counts.values()];
};
