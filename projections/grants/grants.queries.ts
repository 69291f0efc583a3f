import type { RowPage } from '../balances/balances.queries.ts';
import { onlyRow, textOf, textOrNull, wholeOf, wholeOrNull } from '../engine/apply/columns.ts';
import type { SqlRow, SqlTx } from '../engine/ports.ts';

/** A sale or refund, as an item of `GrantHistoryResponse`. */
export interface GrantRow {
  readonly grant_id: string;
  readonly kind: 'sale' | 'refund';
  /** Negative for a refund. */
  readonly credits: number;
  readonly original_grant_id: string | null;
  readonly refunded_credits: number;
  readonly refunded_amount_minor: number;
  readonly currency: string;
  readonly gross_amount_minor: number | null;
  readonly vat_amount_minor: number;
  readonly provider_fee_minor: number;
  readonly net_amount_minor: number | null;
  readonly price_list_version: number | null;
  readonly fx_rate_to_usd: string | null;
  readonly provider: string;
  readonly provider_txn_id: string;
  readonly invoice_ref: string | null;
  readonly occurred_at: string;
  readonly created_at: string;
}

const rowOf = (row: SqlRow): GrantRow => ({
  grant_id: textOf(row, 'grant_id'),
  kind: textOf(row, 'kind') === 'refund' ? 'refund' : 'sale',
  credits: wholeOf(row, 'credits'),
  original_grant_id: textOrNull(row, 'original_grant_id'),
  refunded_credits: wholeOf(row, 'refunded_credits'),
  refunded_amount_minor: wholeOf(row, 'refunded_amount_minor'),
  currency: textOf(row, 'currency'),
  gross_amount_minor: wholeOrNull(row, 'gross_amount_minor'),
  vat_amount_minor: wholeOf(row, 'vat_amount_minor'),
  provider_fee_minor: wholeOf(row, 'provider_fee_minor'),
  net_amount_minor: wholeOrNull(row, 'net_amount_minor'),
  price_list_version: wholeOrNull(row, 'price_list_version'),
  fx_rate_to_usd: textOrNull(row, 'fx_rate_to_usd'),
  provider: textOf(row, 'provider'),
  provider_txn_id: textOf(row, 'provider_txn_id'),
  invoice_ref: textOrNull(row, 'invoice_ref'),
  occurred_at: textOf(row, 'occurred_at'),
  created_at: textOf(row, 'created_at'),
});

export interface GrantsQuery {
  readonly tenant_id: string;
  readonly limit: number;
  readonly offset: number;
}

/** A tenant's sales and refunds, newest first. */
export const grantsOfTenant =
  (sql: SqlTx) =>
  async ({ tenant_id, limit, offset }: GrantsQuery): Promise<RowPage<GrantRow>> => {
    const rows = await sql.query(
      'select * from read.grants where tenant_id = $1 order by position desc limit $2 offset $3',
      [tenant_id, limit, offset],
    );
    const total = onlyRow(
      await sql.query(
        'select coalesce((select grants_count from read.balances where tenant_id = $1), 0) as n',
        [tenant_id],
      ),
    );
    return { items: rows.map(rowOf), total: wholeOf(total, 'n') };
  };
