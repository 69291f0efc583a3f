import { rowReader, textOf } from '../engine/apply/columns.ts';
import type { TimeRange } from '../engine/dayRange.ts';
import { dayRange } from '../engine/dayRange.ts';
import type { SqlRow, SqlTx, SqlValue } from '../engine/ports.ts';
import { listing } from '../engine/query.ts';
import { omit, type RowOf } from '../engine/table.ts';
import { llmCosts } from './llmCosts.schema.ts';
import { PRICED_CALLS } from './pricedCalls.ts';

/** How model costs are grouped. */
export const COST_GROUPS = ['provider', 'model_name', 'operation', 'tenant_id', 'job_id', 'day'] as const;
type CostGroup = (typeof COST_GROUPS)[number];

const SUMS = {
  calls: 'int8',
  input_tokens: 'int8',
  output_tokens: 'int8',
  cost_pico: 'numeric',
  unpriced_calls: 'int8',
} as const;

/** Sums of calls; calls without a price are counted and cost nothing. */
export type CostSums = RowOf<typeof SUMS>;

interface LlmCostsQuery extends TimeRange {
  readonly group_by: CostGroup;
  readonly tenant_id?: string | undefined;
  readonly job_id?: string | undefined;
  readonly operation?: string | undefined;
  readonly provider?: string | undefined;
}

/** `$1` tenant, `$2` operation, `$3` provider, `$4` job: null where all are wanted. */
const FILTER = `($1::text is null or tenant_id = $1) and ($2::text is null or operation = $2)
  and ($3::text is null or provider = $3)`;

const OF_CALLS = `left(occurred_at, 10) as day, tenant_id, operation, provider, model_name, job_id,
  1 as calls, input_tokens, output_tokens, cost as cost_pico, (cost is null)::int as unpriced_calls`;

/** Call by call; `$5` from, `$6` to. */
const BY_CALL = `
  select ${OF_CALLS} from (${PRICED_CALLS} where ($4::text is null or c.job_id = $4)
    and ($5::text is null or c.occurred_at >= $5) and ($6::text is null or c.occurred_at <= $6)) c
  where ${FILTER}`;

/** As `BY_CALL`, but whole days `$7` to `$8` from the roll-up, and pieces of days `$9`, `$10` call by call. */
const BY_DAY = `
  select day, tenant_id, operation, provider, model_name, null as job_id, calls, input_tokens, output_tokens,
    cost_pico, 0 as unpriced_calls
  from read.llm_cost_days where day between $7 and $8 and ${FILTER}
  union all
  select left(occurred_at, 10), tenant_id, operation, provider, model_name, job_id, 1, input_tokens,
    output_tokens, cost_pico, 0
  from read.llm_costs join unnest($9::text[], $10::text[]) as piece(from_time, to_time)
    on occurred_at between from_time and to_time
  where cost_pico is not null and ${FILTER}
  union all
  select ${OF_CALLS} from (${PRICED_CALLS} where c.cost_pico is null and $4::text is null
    and ($5::text is null or c.occurred_at >= $5) and ($6::text is null or c.occurred_at <= $6)) c
  where ${FILTER}`;

const rangeOf = (range: TimeRange): readonly SqlValue[] => {
  const { firstDay, lastDay, pieces } = dayRange(range);
  return [firstDay, lastDay, pieces.map(({ from }) => from), pieces.map(({ to }) => to)];
};

const readGroup = rowReader({ key: 'text', ...SUMS });

/** Model costs by one grouping, in the order of its key. */
export const findLlmCosts =
  (sql: SqlTx) =>
  async ({ group_by, ...query }: LlmCostsQuery) => {
    const byCall = group_by === 'job_id' || query.job_id !== undefined;
    const filter = [
      ...[query.tenant_id ?? null, query.operation ?? null, query.provider ?? null, query.job_id ?? null],
      ...[query.from ?? null, query.to ?? null],
    ];
    const rows = await sql.query(
      `select ${group_by} as key, sum(calls)::int8 as calls, sum(input_tokens)::int8 as input_tokens,
         sum(output_tokens)::int8 as output_tokens, coalesce(sum(cost_pico), 0)::text as cost_pico,
         sum(unpriced_calls)::int8 as unpriced_calls
       from (${byCall ? BY_CALL : BY_DAY}) parts group by 1 order by 1`,
      byCall ? filter : [...filter, ...rangeOf(query)],
    );
    return rows.map(readGroup);
  };

const readCall = rowReader({
  ...omit(llmCosts.columns, 'position', 'cost_id', 'cost_pico', 'cost_source'),
  cost: 'numeric?',
});

/** One call, with what it costs now. */
export type LlmCall = ReturnType<typeof listedCall>;
const listedCall = (row: SqlRow) => {
  const { cost: cost_pico, ...call } = readCall(row);
  return { id: textOf(row, 'cost_id'), ...call, cost_pico };
};

/** The calls of one job, oldest first. */
export const llmCostsOfJob = listing(
  `select c.* from (${PRICED_CALLS} where c.job_id = $1) c order by c.occurred_at, c.position`,
  (jobId: string) => [jobId],
  listedCall,
);
