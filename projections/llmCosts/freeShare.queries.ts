import { onlyRow, rowReader } from '../engine/apply/columns.ts';
import type { TimeRange } from '../engine/dayRange.ts';
import { dayRange } from '../engine/dayRange.ts';
import type { SqlTx } from '../engine/ports.ts';
import { listing } from '../engine/query.ts';
import { PRICED_CALLS } from './pricedCalls.ts';

/** Model costs of the platform in a period, in pico-USD. Calls with the tenant's own key are in neither. */
export interface PeriodCosts {
  readonly billed_pico_usd: bigint;
  readonly free_tier_pico_usd: bigint;
  readonly unpriced_calls: number;
}

/** Full-service calls between `$1` and `$2`. */
const OWN = `c.billing_type = 'full_service' and c.occurred_at between $1 and $2`;

/** The share of a call that its operation's free pages have: ⌊cost × free pages ÷ pages⌋; all of a free call. */
const FREE_SHARE = `case when c.free_tier then c.cost else div(c.cost * f.free_pages, f.pages) end`;

const FREE_CALLS = `
  select left(c.occurred_at, 10) as day, ${FREE_SHARE} as cost
  from (${PRICED_CALLS} where ${OWN} and (c.free_tier or exists (
    select 1 from read.free_operations o where o.tenant_id = c.tenant_id and o.operation_id = c.job_id))) c
  left join read.free_operations f on f.tenant_id = c.tenant_id and f.operation_id = c.job_id`;

/**
 * Sums of all full-service calls: whole days `$3` to `$4` from the roll-up, pieces of days `$5`, `$6` and
 * calls without a cost of their own call by call.
 */
const ALL_CALLS = `
  select cost_pico as cost, 0 as unpriced from read.llm_cost_days
  where billing_type = 'full_service' and day between $3 and $4
  union all
  select c.cost_pico, 0 from read.llm_costs c join unnest($5::text[], $6::text[]) as piece(from_time, to_time)
    on c.occurred_at between from_time and to_time
  where c.cost_pico is not null and c.billing_type = 'full_service'
  union all
  select c.cost, (c.cost is null)::int from (${PRICED_CALLS} where c.cost_pico is null and ${OWN}) c`;

const readPeriod = rowReader({ cost: 'numeric', unpriced: 'int8', free: 'numeric' });

/** What models cost the platform by `occurred_at`, both ends included; exact. */
export const modelCostOfPeriod =
  (sql: SqlTx) =>
  async ({ from, to }: { readonly from: string; readonly to: string }): Promise<PeriodCosts> => {
    const { firstDay, lastDay, pieces } = dayRange({ from, to });
    const { cost, unpriced, free } = readPeriod(
      onlyRow(
        await sql.query(
          `select coalesce(sum(cost), 0)::numeric as cost, coalesce(sum(unpriced), 0)::int8 as unpriced,
             coalesce((select sum(cost) from (${FREE_CALLS}) free), 0)::numeric as free
           from (${ALL_CALLS}) calls`,
          [from, to, firstDay, lastDay, pieces.map((piece) => piece.from), pieces.map((piece) => piece.to)],
        ),
      ),
    );
    return { billed_pico_usd: cost - free, free_tier_pico_usd: free, unpriced_calls: unpriced };
  };

/** One day's free work and what models cost the platform for it. */
const readDay = rowReader({
  day: 'text',
  operations: 'int8',
  pages: 'int8',
  tenants: 'int8',
  cost_pico: 'numeric',
});

const MIN_TIME = '0000-01-01T00:00:00.000Z';
const MAX_TIME = '9999-12-31T23:59:59.999Z';

/** By day, oldest first: operations with free pages by their burn, costs by their call. */
export const freeTierSubsidy = listing(
  `with work as (
     select left(created_at, 10) as day, count(*) as operations, sum(free_pages)::int8 as pages,
       count(distinct tenant_id) as tenants
     from read.free_operations where created_at between $1 and $2 group by 1
   ), costs as (select day, sum(cost)::numeric as cost from (${FREE_CALLS}) free group by 1)
   select day, coalesce(operations, 0) as operations, coalesce(pages, 0) as pages,
     coalesce(tenants, 0) as tenants, coalesce(cost, 0) as cost_pico
   from work full join costs using (day) order by day`,
  ({ from = MIN_TIME, to = MAX_TIME }: TimeRange) => [from, to],
  readDay,
);
