import { plan } from '../../domain/account/words.ts';
import { rowReader, textOf, wholeOf } from '../engine/apply/columns.ts';
import type { SqlRow, SqlTx } from '../engine/ports.ts';
import { finding, listing, paging, telling, type Page } from '../engine/query.ts';
import { omit, pick } from '../engine/table.ts';
import { balances, openHolds } from './balances.schema.ts';

const readBalance = rowReader(
  omit(balances.columns, 'plan', 'purchased_credits', 'used_credits', 'adjusted_credits'),
);

/**
 * A tenant's account. Purchases are net of refunds. Free pages are counted here; how many a tenant has in all,
 * its config says.
 */
export type BalanceRow = ReturnType<typeof balanceOf>;

/** What a row of `balanceRows` says. */
export const balanceOf = (row: SqlRow) => {
  const balance = readBalance(row);
  return {
    ...balance,
    plan: plan.parse(row['plan'] ?? 'free'),
    available_credits: balance.balance_credits - balance.held_credits,
    total_credits_purchased: wholeOf(row, 'purchased_credits'),
    total_credits_used: wholeOf(row, 'used_credits'),
    total_credits_adjusted: wholeOf(row, 'adjusted_credits'),
  };
};

/** A tenant's account; undefined for a tenant that does not exist. */
export const balanceOfTenant = finding(
  'select * from read.balances where tenant_id = $1',
  (tenantId: string) => [tenantId],
  balanceOf,
);

/** As `balanceOfTenant` for several tenants: their rows as they are stored, by tenant. */
export const balanceRows =
  (sql: SqlTx) =>
  async (tenantIds: readonly string[]): Promise<ReadonlyMap<string, SqlRow>> => {
    const rows = await sql.query('select * from read.balances where tenant_id = any($1::text[])', [
      tenantIds,
    ]);
    return new Map(rows.map((row) => [textOf(row, 'tenant_id'), row]));
  };

/** A tenant's open holds, oldest first. */
export const openHoldsOfTenant = listing(
  'select * from read.open_holds where tenant_id = $1 order by created_at, hold_id',
  (tenantId: string) => [tenantId],
  rowReader(omit(openHolds.columns, 'tenant_id', 'operation_id', 'free_pages')),
);

/**
 * Holds of all tenants that expired before `now`, oldest first, for the sweeper. The holds of accepted work have no
 * end; those that older releases gave one are closed by the work's own end.
 */
export const expiredHolds = listing(
  `select * from read.open_holds h where expires_at <= $1
     and not exists (select 1 from read.operations o where o.work_id = h.operation_id)
     and not exists (select 1 from read.training_jobs j where j.job_id = h.operation_id)
   order by expires_at, hold_id limit $2`,
  (now: string, limit: number) => [now, limit],
  rowReader(pick(openHolds.columns, 'tenant_id', 'hold_id')),
);

interface TenantsQuery extends Page {
  /** Part of a tenant ID, in any case. */
  readonly search?: string | undefined;
}

/** `%`, `_` and `\` mean themselves in a search. */
const patternOf = (search: string): string => `%${search.replace(/[\\%_]/g, '\\$&')}%`;

/** All tenants, newest first. */
export const tenants = paging(
  {
    chosen: 'from read.balances where $1::text is null or tenant_id ilike $1',
    order: 'created_at desc, tenant_id collate "C"',
  },
  ({ search = '' }: TenantsQuery) => [search === '' ? null : patternOf(search)],
  balanceOf,
);

/** All holds that are open, of all tenants; `oldest_at` is null when none is. */
export type OpenHoldsSummary = ReturnType<typeof readSummary>;
const readSummary = rowReader({ count: 'int8', oldest_at: 'text?', expired: 'int8' });

/**
 * The open holds, which are few beside the history: those of work that runs now. A sweeper releases the expired
 * ones within minutes.
 */
export const openHoldsSummary = telling(
  `select count(*) as count, min(created_at) as oldest_at,
     count(*) filter (where expires_at <= $1) as expired from read.open_holds`,
  (now: string) => [now],
  readSummary,
);
