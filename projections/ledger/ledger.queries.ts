import { listValueUsd } from '../../domain/kernel/rounding.ts';
import type { RowPage } from '../balances/balances.queries.ts';
import { bigintOrNull, onlyRow, textOf, textOrNull, wholeOf, wholeOrNull } from '../engine/columns.ts';
import type { SqlRow, SqlTx, SqlValue } from '../engine/ports.ts';
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

export interface LedgerQuery {
  readonly tenant_id: string;
  readonly limit: number;
  readonly offset: number;
  /** RFC 3339 UTC with milliseconds, inclusive. */
  readonly from?: string | undefined;
  /** RFC 3339 UTC with milliseconds, inclusive. */
  readonly to?: string | undefined;
  readonly operation?: string | undefined;
  /** All kinds by default. */
  readonly kinds?: readonly LedgerKind[] | undefined;
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

/** `$1` tenant, `$2` kinds, `$3` operation, `$4` from, `$5` to: null where all are wanted. */
const MATCHES = `tenant_id = $1 and ($2::text[] is null or kind = any($2)) and ($3::text is null or operation = $3)`;

const filterOf = ({ tenant_id, kinds, operation, from, to }: LedgerQuery): readonly SqlValue[] => [
  tenant_id,
  kinds ?? null,
  operation ?? null,
  from ?? null,
  to ?? null,
];

/** What the day counts say of a filter: whole days' rows, and the span of positions that can match. */
interface Span {
  readonly wholeDays: number;
  readonly first: bigint | null;
  readonly last: bigint | null;
}

const DAY_START = 'T00:00:00.000Z';
const DAY_END = 'T23:59:59.999Z';

const spanOf = async (sql: SqlTx, query: LedgerQuery): Promise<Span> => {
  const isWhole = `($4::text is null or day || '${DAY_START}' >= $4) and ($5::text is null or day || '${DAY_END}' <= $5)`;
  const row = onlyRow(
    await sql.query(
      `select coalesce(sum(rows) filter (where ${isWhole}), 0)::int8 as whole,
         min(first_position) as first, max(last_position) as last
       from read.ledger_days where ${MATCHES}
         and ($4::text is null or day >= left($4, 10)) and ($5::text is null or day <= left($5, 10))`,
      filterOf(query),
    ),
  );
  return {
    wholeDays: wholeOf(row, 'whole'),
    first: bigintOrNull(row, 'first'),
    last: bigintOrNull(row, 'last'),
  };
};

/** Rows of the days that the range cuts; only those are counted one by one. */
const countCutDays = async (sql: SqlTx, query: LedgerQuery): Promise<number> => {
  const { from, to } = query;
  const cut = new Set<string>();
  if (from !== undefined && !from.endsWith(DAY_START)) cut.add(from.slice(0, 10));
  if (to !== undefined && !to.endsWith(DAY_END)) cut.add(to.slice(0, 10));
  if (cut.size === 0) return 0;
  const row = onlyRow(
    await sql.query(
      `with spans as (
         select day, min(first_position) as first, max(last_position) as last
         from read.ledger_days where ${MATCHES} and day = any($6::text[]) group by day
       )
       select count(*) as n from spans s join read.ledger l
         on l.tenant_id = $1 and l.position between s.first and s.last and left(l.created_at, 10) = s.day
       where ($2::text[] is null or kind = any($2)) and ($3::text is null or operation = $3)
         and ($4::text is null or created_at >= $4) and ($5::text is null or created_at <= $5)`,
      [...filterOf(query), [...cut]],
    ),
  );
  return wholeOf(row, 'n');
};

const pageOf = async <Row>(
  sql: SqlTx,
  query: LedgerQuery,
  toRow: (row: SqlRow) => Row,
): Promise<RowPage<Row>> => {
  const { first, last, wholeDays } = await spanOf(sql, query);
  if (first === null || last === null) return { items: [], total: 0 };
  const rows = await sql.query(
    `select * from read.ledger where ${MATCHES} and position between $6 and $7
       and ($4::text is null or created_at >= $4) and ($5::text is null or created_at <= $5)
     order by position desc, part desc limit $8 offset $9`,
    [...filterOf(query), first, last, query.limit, query.offset],
  );
  return { items: rows.map(toRow), total: wholeDays + (await countCutDays(sql, query)) };
};

/** Postings of all kinds, newest first. */
export const ledgerOfTenant =
  (sql: SqlTx) =>
  (query: LedgerQuery): Promise<RowPage<LedgerItem>> =>
    pageOf(sql, query, ledgerItemOf);

export interface UsageQuery extends Omit<LedgerQuery, 'kinds' | 'operation'> {
  readonly include_adjustments: boolean;
}

/** Usage, newest first; adjustments only when asked for. Purchases are in the grants. */
export const usageOfTenant =
  (sql: SqlTx) =>
  ({ include_adjustments, ...query }: UsageQuery): Promise<RowPage<UsageRow>> => {
    const kinds: readonly LedgerKind[] = include_adjustments ? ['usage', 'admin_adjustment'] : ['usage'];
    return pageOf(sql, { ...query, kinds }, usageRowOf);
  };
