import { driftOf, expectedBalance } from '../domain/finding.ts';
import { bigintOrNull, onlyRow, textOrNull, wholeOf } from './engine/table.ts';
import { canPark } from './engine/parking.ts';
import type { SqlRow, SqlTx } from './engine/ports.ts';

/** One tenant's books side by side, in credits. */
interface ReconciliationRow {
  readonly tenant_id: string;
  readonly grants_credits: number;
  readonly adjustments_credits: number;
  readonly burns_credits: number;
  readonly expected_balance_credits: number;
  readonly balance_credits: number;
  readonly drift_credits: number;
}

/** All tenants' books as of one position of the log. */
export interface Reconciliation {
  readonly position: bigint | null;
  readonly tenants_checked: number;
  readonly rows: readonly ReconciliationRow[];
}

/** The read models that are compared. */
const COMPARED = ['balances', 'ledger', 'grants'];

/** The read models are at different positions: a comparison would mix two moments. */
export interface NotComparable {
  readonly behind: string;
  readonly state: string;
}

/** A tenant that one of them has parked has rows of two moments. */
const NOT_PARKED = `
    where tenant_id not in (select p.tenant_id from projections.parked p
      join projections.registry r using (name, generation) where r.serves and r.name = any($2))`;

/**
 * One statement, so one snapshot: raw rows of grants and ledger, not their counters, beside the balances.
 * `at` always gives a row. $1: also tenants without drift.
 */
const books = (which: string): string => `
  with at as (
    select min(coalesce(position, -1)) as first, max(coalesce(position, -1)) as last, count(*) as serving
    from projections.registry where serves and name = any($2)
  ), posted as (
    select tenant_id, sum(credits_delta)::int8 as posted,
      coalesce(sum(credits_delta) filter (where kind in ('admin_adjustment', 'transfer_in', 'transfer_out')), 0)::int8
        as adjustments,
      -coalesce(sum(credits_delta) filter (where kind = 'usage'), 0)::int8 as burns
    from read.ledger group by tenant_id
  ), granted as (
    select tenant_id, sum(credits)::int8 as grants from read.grants group by tenant_id
  ), books as (
    select tenant_id, coalesce(g.grants, 0) as grants, coalesce(p.adjustments, 0) as adjustments,
      coalesce(p.burns, 0) as burns, coalesce(b.balance_credits, 0) as balance, coalesce(p.posted, 0) as posted
    from read.balances b full join posted p using (tenant_id) full join granted g using (tenant_id)${which}
  )
  select at.first, at.last, at.serving, (select count(*) from books) as checked, found.*
  from at left join (
    select * from books
    where $1 or balance <> grants + adjustments - burns or posted <> grants + adjustments - burns
  ) found on true order by tenant_id`;

const rowOf = (row: SqlRow): readonly ReconciliationRow[] => {
  const tenant_id = textOrNull(row, 'tenant_id');
  if (tenant_id === null) return [];
  const found = {
    grants: wholeOf(row, 'grants'),
    adjustments: wholeOf(row, 'adjustments'),
    burns: wholeOf(row, 'burns'),
    balance: wholeOf(row, 'balance'),
    posted: wholeOf(row, 'posted'),
  };
  return [
    {
      tenant_id,
      grants_credits: found.grants,
      adjustments_credits: found.adjustments,
      burns_credits: found.burns,
      expected_balance_credits: expectedBalance(found),
      balance_credits: found.balance,
      drift_credits: driftOf(found),
    },
  ];
};

const BEHIND = `
  select name, state from projections.registry where serves and name = any($1)
  order by coalesce(position, -1), name limit 1`;

const behind = async (sql: SqlTx): Promise<NotComparable> => {
  const [row] = await sql.query(BEHIND, [COMPARED]);
  return {
    behind: row === undefined ? '' : (textOrNull(row, 'name') ?? ''),
    state: row === undefined ? '' : (textOrNull(row, 'state') ?? ''),
  };
};

/**
 * Compares grants, ledger and balances of every tenant. Gives what is behind instead, when the read
 * models do not stand at one position.
 */
export const reconciliation =
  (sql: SqlTx) =>
  async (includeOk: boolean): Promise<Reconciliation | NotComparable> => {
    const which = (await canPark(sql)) ? NOT_PARKED : '';
    const rows = await sql.query(books(which), [includeOk, COMPARED]);
    const first = rows[0] ?? onlyRow(rows);
    const [from, to] = [bigintOrNull(first, 'first'), bigintOrNull(first, 'last')];
    if (from !== to || wholeOf(first, 'serving') < COMPARED.length) return behind(sql);
    return {
      position: from === null || from < 0n ? null : from,
      tenants_checked: wholeOf(first, 'checked'),
      rows: rows.flatMap(rowOf),
    };
  };
