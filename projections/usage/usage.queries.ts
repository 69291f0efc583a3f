import { listValueUsd } from '../../domain/kernel/rounding.ts';
import { rowReader } from '../engine/apply/columns.ts';
import type { TimeRange } from '../engine/dayRange.ts';
import { dayRange } from '../engine/dayRange.ts';
import type { SqlTx } from '../engine/ports.ts';
import type { RowOf } from '../engine/table.ts';

/** How usage is grouped; `day_category` is by both. */
export const USAGE_GROUPS = [
  'operation',
  'billing_type',
  'extraction_mode',
  'tenant_id',
  'category',
  'day',
  'week',
  'month',
  'day_category',
] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** SQL of a group's key over the columns of `usage_days`. Weeks are those of ISO 8601. */
const KEYS: Readonly<Record<UsageGroup, string>> = {
  operation: 'operation',
  billing_type: 'billing_type',
  extraction_mode: 'extraction_mode',
  tenant_id: 'tenant_id',
  category: 'category',
  day: 'day',
  week: `to_char(day::date, 'IYYY"-W"IW')`,
  month: 'left(day, 7)',
  day_category: 'day',
};

export const COUNTED = { operations: 'int8', pages: 'int8', free_pages: 'int8', credits: 'int8' } as const;
type Counted = RowOf<typeof COUNTED>;

/** Sums of consumption. `credits`: what left the balances. */
type UsageSums = ReturnType<typeof valued>;
const valued = (sums: Counted) => ({ ...sums, list_value_usd: listValueUsd(sums.credits) });

const readStats = rowReader({ key: 'text', category: 'text', ...COUNTED });

interface UsageStatsQuery extends TimeRange {
  readonly group_by: UsageGroup;
  readonly include_adjustments: boolean;
}

/**
 * Whole days from the roll-up ($1, $2 first and last), pieces of days ($3, $4) from the ledger rows of the
 * blocks that reach into them, of tenants that were active then. $5: with adjustments.
 */
export const USAGE_PARTS = `
  select day, tenant_id, kind, operation, category, extraction_mode, billing_type, task_id,
    operations, pages, free_pages, credits
  from read.usage_days where day between $1 and $2 and ($5 or kind = 'usage')
  union all
  select left(l.created_at, 10), l.tenant_id, l.kind, coalesce(l.operation, l.kind), l.category,
    coalesce(l.extraction_mode, 'none'), coalesce(l.billing_type, 'none'), coalesce(l.task_id, 'none'),
    case when l.part = 0 and l.id like '%\\_free' then 0 else 1 end, l.pages, l.free_pages, -l.credits_delta
  from unnest($3::text[], $4::text[]) as p(from_time, to_time)
  join (
    select tenant_id, block, min(first_ordinal) as first_ordinal, max(last_ordinal) as last_ordinal,
      min(first_created_at) as first_created_at, max(last_created_at) as last_created_at
    from read.ledger_blocks where kind in ('usage', 'admin_adjustment') and tenant_id in (
      select tenant_id from read.usage_days where day = any(array(select left(unnest($3::text[]), 10))))
    group by tenant_id, block
  ) b on b.last_created_at >= p.from_time and b.first_created_at <= p.to_time
  join read.ledger l on l.tenant_id = b.tenant_id
    and l.ordinal between b.first_ordinal and b.last_ordinal
    and l.created_at between p.from_time and p.to_time
  where l.kind = 'usage' or ($5 and l.kind = 'admin_adjustment')`;

/** The parameters of `USAGE_PARTS`. */
export const partsOf = (range: TimeRange, includeAdjustments: boolean) => {
  const { firstDay, lastDay, pieces } = dayRange(range);
  return [
    firstDay,
    lastDay,
    pieces.map(({ from }) => from),
    pieces.map(({ to }) => to),
    includeAdjustments,
  ] as const;
};

/** Adds up sums. */
export const totalsOf = (items: readonly Counted[]): UsageSums => {
  const sum = (name: keyof Counted) => items.reduce((total, item) => total + item[name], 0);
  return valued({
    operations: sum('operations'),
    pages: sum('pages'),
    free_pages: sum('free_pages'),
    credits: sum('credits'),
  });
};

/** Consumption of all tenants by one grouping, in the order of its key. */
export const usageStats =
  (sql: SqlTx) =>
  async ({ group_by, include_adjustments, ...range }: UsageStatsQuery) => {
    const withCategory = group_by === 'day_category';
    const rows = await sql.query(
      `with parts as (${USAGE_PARTS})
       select ${KEYS[group_by]} as key, ${withCategory ? 'category' : `''`} as category,
         sum(operations)::int8 as operations, sum(pages)::int8 as pages,
         sum(free_pages)::int8 as free_pages, sum(credits)::int8 as credits
       from parts group by 1, 2 order by 1, 2`,
      partsOf(range, include_adjustments),
    );
    return rows.map(readStats).map(({ key, category, ...sums }) => ({
      key,
      ...(withCategory && { category }),
      ...valued(sums),
    }));
  };
