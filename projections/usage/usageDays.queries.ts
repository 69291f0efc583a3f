import { rowReader } from '../engine/apply/columns.ts';
import type { SqlTx } from '../engine/ports.ts';
import type { RowOf } from '../engine/table.ts';
import { COUNTED } from './usage.queries.ts';

/** The read models that one answer is made of: its balances are told only where all stand at one position. */
const TOGETHER = ['balances', 'grants', 'usage'];

/**
 * Movements from the first day ($2) until now, by day: those after the last day lead back from the balance.
 * One statement, so one snapshot; `at` always gives a row. $1: the tenant.
 */
const MOVED = `
  with at as (
    select count(*) = cardinality($3::text[]) and min(coalesce(position, -1)) = max(coalesce(position, -1)) as together
    from projections.registry where serves and name = any($3)
  ), moved as (
    select day, kind, category, sum(operations)::int8 as operations, sum(pages)::int8 as pages,
      sum(free_pages)::int8 as free_pages, sum(credits)::int8 as credits
    from read.usage_days where tenant_id = $1 and day >= $2 group by day, kind, category
    union all
    select left(created_at, 10), 'grant', '', 0, 0, 0, sum(credits)::int8
    from read.grants where tenant_id = $1 and created_at >= $2 group by 1
  )
  select moved.*, case when together then (select balance_credits from read.balances where tenant_id = $1) end
    as balance_credits
  from at left join moved on true order by day, category`;

const readBalance = rowReader({ balance_credits: 'int8?' });
const readMoved = rowReader({ day: 'text', kind: 'text', category: 'text', ...COUNTED });
type Moved = ReturnType<typeof readMoved>;

interface UsageDaysQuery {
  readonly tenant_id: string;
  /** First and last UTC day, `YYYY-MM-DD`. */
  readonly start: string;
  readonly end: string;
}

/** What was used of one category within a day. `credits`: what left the balance. */
type CategoryOfDay = { readonly category: string } & Readonly<RowOf<typeof COUNTED>>;

/** A UTC day of a tenant: balance = that of the day before + granted + adjusted − used. */
export interface UsageDay {
  readonly day: string;
  readonly used_credits: number;
  readonly granted_credits: number;
  readonly adjusted_credits: number;
  /** When the day ended; null while the read models stand at different positions. */
  readonly balance_credits: number | null;
  readonly categories: readonly CategoryOfDay[];
}

const DAY_MS = 86_400_000;

/** Days from the first to the last, both included. */
const daysBetween = (start: string, end: string): readonly string[] => {
  const first = Date.parse(start);
  const count = Math.round((Date.parse(end) - first) / DAY_MS) + 1;
  return Array.from({ length: count }, (_, n) => new Date(first + n * DAY_MS).toISOString().slice(0, 10));
};

const creditsOf = (moved: readonly Moved[], kind: string): number =>
  moved.reduce((sum, row) => (row.kind === kind ? sum + row.credits : sum), 0);

/** What movements add to the balance: of grants the table has what came, of all else what left. */
const netOf = (moved: readonly Moved[]): number =>
  moved.reduce((sum, { kind, credits }) => (kind === 'grant' ? sum + credits : sum - credits), 0);

const categoriesOf = (moved: readonly Moved[]): readonly CategoryOfDay[] =>
  moved
    .filter(({ kind }) => kind === 'usage')
    .map(({ category, operations, pages, free_pages, credits }) => ({
      ...{ category, operations, pages, free_pages, credits },
    }));

const byDay = (moved: readonly Moved[]): ReadonlyMap<string, readonly Moved[]> => {
  const days = new Map<string, Moved[]>();
  for (const row of moved) days.set(row.day, [...(days.get(row.day) ?? []), row]);
  return days;
};

/** Each day of a tenant with what was used by category, and the balance at its end. */
export const usageDaysOfTenant =
  (sql: SqlTx) =>
  async ({ tenant_id, start, end }: UsageDaysQuery): Promise<readonly UsageDay[]> => {
    const rows = await sql.query(MOVED, [tenant_id, start, TOGETHER]);
    const moved = rows.filter(({ day }) => day !== null).map(readMoved);
    const movedOn = byDay(moved);
    const now = rows.map(readBalance)[0]?.balance_credits ?? null;
    let balance = now === null ? null : now - netOf(moved.filter(({ day }) => day > end));
    const days: UsageDay[] = [];
    for (const day of [...daysBetween(start, end)].reverse()) {
      const within = movedOn.get(day) ?? [];
      days.push({
        day,
        used_credits: creditsOf(within, 'usage'),
        granted_credits: creditsOf(within, 'grant'),
        adjusted_credits: 0 - creditsOf(within, 'admin_adjustment'),
        balance_credits: balance,
        categories: categoriesOf(within),
      });
      if (balance !== null) balance -= netOf(within);
    }
    return days.reverse();
  };
