import { textOf, textOrNull, wholeOf } from '../engine/apply/columns.ts';
import type { TimeRange } from '../engine/dayRange.ts';
import { dayRange } from '../engine/dayRange.ts';
import type { SqlRow, SqlTx, SqlValue } from '../engine/ports.ts';
import { PRICED_CALLS } from './pricedCalls.ts';

/** How model costs are grouped. */
export const COST_GROUPS = ['provider', 'model_name', 'operation', 'tenant_id', 'job_id', 'day'] as const;
export type CostGroup = (typeof COST_GROUPS)[number];

/** Sums of calls; calls without a price are counted and cost nothing. */
export interface CostSums {
  readonly calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_pico: bigint;
  readonly unpriced_calls: number;
}

export interface LlmCostsQuery extends TimeRange {
  readonly group_by: CostGroup;
  readonly tenant_id?: string | undefined;
  readonly job_id?: string | undefined;
  readonly operation?: string | undefined;
  readonly provider?: string | undefined;
}

/** Pico-USD of a numeric column. */
export const picoIn = (row: SqlRow, name: string): bigint => {
  const value = row[name];
  return value === null ? 0n : BigInt(typeof value === 'bigint' ? value : textOf(row, name));
};

export const costSumsOf = (row: SqlRow): CostSums => ({
  calls: wholeOf(row, 'calls'),
  input_tokens: wholeOf(row, 'input_tokens'),
  output_tokens: wholeOf(row, 'output_tokens'),
  cost_pico: picoIn(row, 'cost_pico'),
  unpriced_calls: wholeOf(row, 'unpriced_calls'),
});

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

/** Model costs by one grouping, in the order of its key. */
export const llmCosts =
  (sql: SqlTx) =>
  async ({
    group_by,
    ...query
  }: LlmCostsQuery): Promise<readonly (CostSums & { readonly key: string })[]> => {
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
    return rows.map((row) => ({ key: textOf(row, 'key'), ...costSumsOf(row) }));
  };

/** One call, with what it costs now. */
export interface LlmCall {
  readonly id: string;
  readonly tenant_id: string;
  readonly job_id: string;
  readonly operation: string;
  readonly provider: string;
  readonly model_name: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_input_tokens: number;
  readonly pages: number | null;
  readonly cost_pico: bigint | null;
  readonly document_id: string | null;
  readonly task_id: string | null;
  readonly billing_type: string;
  readonly free_tier: boolean;
  readonly occurred_at: string;
  readonly created_at: string;
}

const callOf = (row: SqlRow): LlmCall => ({
  id: textOf(row, 'cost_id'),
  tenant_id: textOf(row, 'tenant_id'),
  job_id: textOf(row, 'job_id'),
  operation: textOf(row, 'operation'),
  provider: textOf(row, 'provider'),
  model_name: textOf(row, 'model_name'),
  input_tokens: wholeOf(row, 'input_tokens'),
  output_tokens: wholeOf(row, 'output_tokens'),
  cached_input_tokens: wholeOf(row, 'cached_input_tokens'),
  pages: row['pages'] === null ? null : wholeOf(row, 'pages'),
  cost_pico: row['cost'] === null ? null : picoIn(row, 'cost'),
  document_id: textOrNull(row, 'document_id'),
  task_id: textOrNull(row, 'task_id'),
  billing_type: textOf(row, 'billing_type'),
  free_tier: row['free_tier'] === true,
  occurred_at: textOf(row, 'occurred_at'),
  created_at: textOf(row, 'created_at'),
});

/** The calls of one job, oldest first. */
export const llmCostsOfJob =
  (sql: SqlTx) =>
  async (jobId: string): Promise<readonly LlmCall[]> => {
    const rows = await sql.query(
      `select c.* from (${PRICED_CALLS} where c.job_id = $1) c
       order by c.occurred_at, c.position`,
      [jobId],
    );
    return rows.map(callOf);
  };
