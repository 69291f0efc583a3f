import { onlyRow, rowReader, wholeOf } from '../engine/apply/columns.ts';
import type { SqlRow, SqlTx } from '../engine/ports.ts';
import type { Page, RowPage } from '../engine/query.ts';
import { omit } from '../engine/table.ts';
import { grants } from './grants.schema.ts';

const readGrant = rowReader(omit(grants.columns, 'tenant_id', 'position'));

/** A sale or refund, as an item of `GrantHistoryResponse`; a refund has negative credits. */
type GrantRow = Omit<ReturnType<typeof readGrant>, 'kind'> & { readonly kind: 'sale' | 'refund' };

const rowOf = (row: SqlRow): GrantRow => {
  const grant = readGrant(row);
  return { ...grant, kind: grant.kind === 'refund' ? 'refund' : 'sale' };
};

interface GrantsQuery extends Page {
  readonly tenant_id: string;
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
