import { listValueUsd } from '../../domain/kernel/rounding.ts';
import { rowReader, textOf } from '../engine/apply/columns.ts';
import type { SqlRow, SqlTx } from '../engine/ports.ts';
import type { RowPage } from '../engine/query.ts';
import { omit } from '../engine/table.ts';
import type { LedgerQuery } from './ledgerPages.ts';
import { itemColumns, ledgerPage } from './ledgerPages.ts';
import type { LedgerKind } from './ledgerRows.ts';

const readUsage = rowReader(omit(itemColumns, 'kind', 'details'));

/** A row of the usage history, as an item of `UsageHistoryResponse`. */
type UsageRow = ReturnType<typeof usageRowOf>;

/** A row of the ledger: a usage row, and the members of its kind. */
export type LedgerItem = ReturnType<typeof ledgerItemOf>;

const kindOf = (row: SqlRow): LedgerKind => {
  const kind = textOf(row, 'kind');
  return kind === 'sale' || kind === 'refund' || kind === 'usage' ? kind : 'admin_adjustment';
};

const usageRowOf = (row: SqlRow) => {
  const kind = kindOf(row);
  const usage = readUsage(row);
  // At list price 1,000 credits are 1 USD.
  const total_cost_usd = listValueUsd(kind === 'usage' ? Math.abs(usage.credits_delta) : 0);
  // A copy comes last: members that are added to one make V8 describe them all anew.
  return { kind, total_cost_usd, ...usage };
};

/** The members of its kind lie beside those that all rows have. */
const ledgerItemOf = (row: SqlRow) => ({
  ...usageRowOf(row),
  ...(row['details'] as Readonly<Record<string, unknown>> | null),
});

/** Postings of all kinds, newest first. */
export const ledgerOfTenant =
  (sql: SqlTx) =>
  (query: LedgerQuery): Promise<RowPage<LedgerItem>> =>
    ledgerPage(sql, query, ledgerItemOf);

interface UsageQuery extends Omit<LedgerQuery, 'kinds' | 'operation'> {
  readonly include_adjustments: boolean;
}

/** Usage, newest first; adjustments only when asked for. Purchases are in the grants. */
export const usageOfTenant =
  (sql: SqlTx) =>
  ({ include_adjustments, ...query }: UsageQuery): Promise<RowPage<UsageRow>> => {
    const kinds: readonly LedgerKind[] = include_adjustments ? ['usage', 'admin_adjustment'] : ['usage'];
    return ledgerPage(sql, { ...query, kinds }, usageRowOf);
  };
