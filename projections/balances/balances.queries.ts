import type { Plan } from '../../domain/account/words.ts';
import { plan } from '../../domain/account/words.ts';
import { textOf, textOrNull, wholeOf, onlyRow } from '../engine/apply/columns.ts';
import type { SqlRow, SqlTx } from '../engine/ports.ts';

/** A tenant's account. Free pages are counted here; how many a tenant has in all, its config says. */
export interface BalanceRow {
  readonly tenant_id: string;
  readonly plan: Plan;
  readonly balance_credits: number;
  readonly held_credits: number;
  readonly available_credits: number;
  /** Net of refunds. */
  readonly total_credits_purchased: number;
  readonly total_credits_used: number;
  readonly total_credits_adjusted: number;
  readonly free_pages_used: number;
  readonly free_pages_held: number;
  readonly grants_count: number;
  readonly created_at: string;
  readonly last_activity_at: string;
}

/** A hold that is neither settled nor released. */
export interface OpenHoldRow {
  readonly hold_id: string;
  readonly credits: number;
  readonly operation: string;
  readonly created_at: string;
  readonly expires_at: string;
}

/** A page of rows and how many there are in all. */
export interface RowPage<Row> {
  readonly items: readonly Row[];
  readonly total: number;
}

/** What a row of `balanceRows` says. */
export const balanceOf = (row: SqlRow): BalanceRow => {
  const balance_credits = wholeOf(row, 'balance_credits');
  const held_credits = wholeOf(row, 'held_credits');
  return {
    tenant_id: textOf(row, 'tenant_id'),
    plan: plan.parse(row['plan'] ?? 'free'),
    balance_credits,
    held_credits,
    available_credits: balance_credits - held_credits,
    total_credits_purchased: wholeOf(row, 'purchased_credits'),
    total_credits_used: wholeOf(row, 'used_credits'),
    total_credits_adjusted: wholeOf(row, 'adjusted_credits'),
    free_pages_used: wholeOf(row, 'free_pages_used'),
    free_pages_held: wholeOf(row, 'free_pages_held'),
    grants_count: wholeOf(row, 'grants_count'),
    created_at: textOf(row, 'created_at'),
    last_activity_at: textOf(row, 'last_activity_at'),
  };
};

const holdOf = (row: SqlRow): OpenHoldRow => ({
  hold_id: textOf(row, 'hold_id'),
  credits: wholeOf(row, 'credits'),
  operation: textOf(row, 'operation'),
  created_at: textOf(row, 'created_at'),
  expires_at: textOf(row, 'expires_at'),
});

/** A tenant's account; undefined for a tenant that does not exist. */
export const balanceOfTenant =
  (sql: SqlTx) =>
  async (tenantId: string): Promise<BalanceRow | undefined> =>
    (await sql.query('select * from read.balances where tenant_id = $1', [tenantId])).map(balanceOf)[0];

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
export const openHoldsOfTenant =
  (sql: SqlTx) =>
  async (tenantId: string): Promise<readonly OpenHoldRow[]> =>
    (
      await sql.query('select * from read.open_holds where tenant_id = $1 order by created_at, hold_id', [
        tenantId,
      ])
    ).map(holdOf);

/** Holds of all tenants that expired before `now`, oldest first, for the sweeper. */
export const expiredHolds =
  (sql: SqlTx) =>
  async (now: string, limit: number): Promise<readonly (OpenHoldRow & { readonly tenant_id: string })[]> => {
    const rows = await sql.query(
      'select * from read.open_holds where expires_at <= $1 order by expires_at, hold_id limit $2',
      [now, limit],
    );
    return rows.map((row) => ({ ...holdOf(row), tenant_id: textOf(row, 'tenant_id') }));
  };

export interface TenantsQuery {
  readonly limit: number;
  readonly offset: number;
  /** Part of a tenant ID, in any case. */
  readonly search?: string | undefined;
}

/** `%`, `_` and `\` mean themselves in a search. */
const patternOf = (search: string): string => `%${search.replace(/[\\%_]/g, '\\$&')}%`;

/** All tenants, newest first. */
export const tenants =
  (sql: SqlTx) =>
  async ({ limit, offset, search }: TenantsQuery): Promise<RowPage<BalanceRow>> => {
    const pattern = search === undefined || search === '' ? null : patternOf(search);
    const matches = '$1::text is null or tenant_id ilike $1';
    const rows = await sql.query(
      `select * from read.balances where ${matches}
       order by created_at desc, tenant_id collate "C" limit $2 offset $3`,
      [pattern, limit, offset],
    );
    const total = onlyRow(
      await sql.query(`select count(*) as n from read.balances where ${matches}`, [pattern]),
    );
    return { items: rows.map(balanceOf), total: wholeOf(total, 'n') };
  };

/** All holds that are open, of all tenants. */
export interface OpenHoldsSummary {
  readonly count: number;
  /** When the oldest was placed; null when none is open. */
  readonly oldest_at: string | null;
  /** How many had expired at `now`: a sweeper releases them within minutes. */
  readonly expired: number;
}

/** The open holds, which are few beside the history: those of work that runs now. */
export const openHoldsSummary =
  (sql: SqlTx) =>
  async (now: string): Promise<OpenHoldsSummary> => {
    const row = onlyRow(
      await sql.query(
        `select count(*) as n, min(created_at) as oldest,
           count(*) filter (where expires_at <= $1) as expired from read.open_holds`,
        [now],
      ),
    );
    return {
      count: wholeOf(row, 'n'),
      oldest_at: textOrNull(row, 'oldest'),
      expired: wholeOf(row, 'expired'),
    };
  };
