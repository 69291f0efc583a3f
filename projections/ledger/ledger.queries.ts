import { listValueUsd } from '../../domain/kernel/rounding.ts';
import type { RowPage } from '../balances/balances.queries.ts';
import { textOf, textOrNull, wholeOf, wholeOrNull } from '../engine/apply/columns.ts';
import type { SqlRow, SqlTx } from '../engine/ports.ts';
import type { LedgerQuery } from './ledgerPages.ts';
import { ledgerPage } from './ledgerPages.ts';
import type { LedgerKind } from './ledgerRows.ts';

/** A row of the usage history, as an item of `UsageHistoryResponse`. */
export interface UsageRow {
  readonly id: string;
  readonly kind: LedgerKind;
  readonly operation: string | null;
  readonly category: string | null;
  readonly extraction_mode: string | null;
  readonly billing_type: string | null;
  readonly pages: number;
  readonly free_pages: number;
  readonly credits_per_page: number | null;
  readonly credits_delta: number;
  /** List value: credits / 1000, as decimal text. */
  readonly total_cost_usd: string;
  readonly balance_after: number;
  readonly billing_config_version: number | null;
  readonly project_id: string | null;
  readonly task_id: string | null;
  readonly document_id: string | null;
  readonly job_id: string | null;
  readonly api_key_id: string | null;
  readonly created_at: string;
}

/** A row of the ledger: a usage row, and the members of its kind in `details`. */
export interface LedgerItem extends UsageRow {
  readonly details: Readonly<Record<string, unknown>> | null;
}

const kindOf = (row: SqlRow): LedgerKind => {
  const kind = textOf(row, 'kind');
  return kind === 'sale' || kind === 'refund' || kind === 'usage' ? kind : 'admin_adjustment';
};

const usageRowOf = (row: SqlRow): UsageRow => {
  const kind = kindOf(row);
  const credits_delta = wholeOf(row, 'credits_delta');
  return {
    id: textOf(row, 'id'),
    kind,
    operation: textOrNull(row, 'operation'),
    category: textOrNull(row, 'category'),
    extraction_mode: textOrNull(row, 'extraction_mode'),
    billing_type: textOrNull(row, 'billing_type'),
    pages: wholeOf(row, 'pages'),
    free_pages: wholeOf(row, 'free_pages'),
    credits_per_page: wholeOrNull(row, 'credits_per_page'),
    credits_delta,
    total_cost_usd: listValueUsd(kind === 'usage' ? Math.abs(credits_delta) : 0),
    balance_after: wholeOf(row, 'balance_after'),
    billing_config_version: wholeOrNull(row, 'billing_config_version'),
    project_id: textOrNull(row, 'project_id'),
    task_id: textOrNull(row, 'task_id'),
    document_id: textOrNull(row, 'document_id'),
    job_id: textOrNull(row, 'job_id'),
    api_key_id: textOrNull(row, 'api_key_id'),
    created_at: textOf(row, 'created_at'),
  };
};

const ledgerItemOf = (row: SqlRow): LedgerItem => ({
  ...usageRowOf(row),
  details: row['details'] as Readonly<Record<string, unknown>> | null,
});

/** Postings of all kinds, newest first. */
export const ledgerOfTenant =
  (sql: SqlTx) =>
  (query: LedgerQuery): Promise<RowPage<LedgerItem>> =>
    ledgerPage(sql, query, ledgerItemOf);

export interface UsageQuery extends Omit<LedgerQuery, 'kinds' | 'operation'> {
  readonly include_adjustments: boolean;
}

/** Usage, newest first; adjustments only when asked for. Purchases are in the grants. */
export const usageOfTenant =
  (sql: SqlTx) =>
  ({ include_adjustments, ...query }: UsageQuery): Promise<RowPage<UsageRow>> => {
    const kinds: readonly LedgerKind[] = include_adjustments ? ['usage', 'admin_adjustment'] : ['usage'];
    return ledgerPage(sql, { ...query, kinds }, usageRowOf);
  };
