import {
  dayRange,
  omit,
  onlyRow,
  pick,
  type Projector,
  type Row,
  type RowOf,
  rowReader,
  type Sum,
  table,
  textOf,
  type TimeRange,
} from './engine/table.ts';
import {
  only,
  type ProjectedEventOf,
  type SqlRow,
  type SqlTx,
  type SqlValue,
  tenantOf,
} from './engine/ports.ts';
import { listing } from './engine/query.ts';
import { modelPriceMembers, picoOf, picoPerToken } from '../domain/modelPrices.ts';
import { inserting, jsonText, upserting } from './engine/bulk.ts';

type CountedCall = Omit<Row<typeof llmCosts>, 'created_at'>;
type CostDay = Sum<typeof llmCostDays>;

const keyOf = (call: CountedCall, day: string): string =>
  JSON.stringify([
    day,
    call.tenant_id,
    call.operation,
    call.provider,
    call.model_name,
    call.billing_type,
    call.free_tier,
  ]);

/** Sums of a batch's calls that have a cost of their own. */
export const costDays = (logged: readonly CountedCall[]): readonly CostDay[] => {
  const sums = new Map<string, CostDay>();
  for (const call of logged) {
    if (call.cost_pico === null) continue;
    const day = call.occurred_at.slice(0, 10);
    const key = keyOf(call, day);
    const { tenant_id, operation, provider, model_name, billing_type, free_tier } = call;
    const sum = sums.get(key) ?? {
      day,
      tenant_id,
      operation,
      provider,
      model_name,
      billing_type,
      free_tier,
      calls: 0,
      input_tokens: 0,
      output_tokens: 0,
      cost_pico: 0n,
    };
    sum.calls += 1;
    sum.input_tokens += call.input_tokens;
    sum.output_tokens += call.output_tokens;
    sum.cost_pico += call.cost_pico;
    sums.set(key, sum);
  }
  return [...sums.values()];
};

/** Calls `c` with `cost`, by the prices that fulfil a condition. */
const pricedCalls = (isKnown: string): string => `
  select c.*, coalesce(c.cost_pico, p.cost) as cost
  from read.llm_costs c left join lateral (
    select (c.input_tokens - c.cached_input_tokens)::numeric * p.input_pico
      + c.cached_input_tokens::numeric * coalesce(p.cached_input_pico, p.input_pico)
      + c.output_tokens::numeric * p.output_pico
      + coalesce(c.pages, 0)::numeric * coalesce(p.page_pico, 0) as cost
    from read.model_prices p
    where c.cost_pico is null and ${isKnown} and (
      (p.provider = c.provider and p.model_name = c.model_name)
      or (p.provider is null and p.model_name in (c.provider || '/' || c.model_name, c.model_name)))
    order by (p.provider is not null) desc,
      (p.model_name = c.provider || '/' || c.model_name) desc,
      (p.provider is not null and p.effective_from <= c.occurred_at) desc,
      case when p.provider is not null and p.effective_from <= c.occurred_at then p.effective_from end
        desc nulls last,
      case when p.provider is not null then p.effective_from end nulls last,
      p.position desc
    limit 1
  ) p on true`;

/**
 * Calls `c` with `cost`: their own, or what the price in force makes of them, in pico-USD; null while there
 * is no price. The order of prices is that of `priceFor` (domain/modelPrices.ts).
 */
export const PRICED_CALLS = pricedCalls('true');

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
    return periodCostsOf(
      onlyRow(
        await sql.query(
          `select coalesce(sum(cost), 0)::numeric as cost, coalesce(sum(unpriced), 0)::int8 as unpriced,
             coalesce((select sum(cost) from (${FREE_CALLS}) free), 0)::numeric as free
           from (${ALL_CALLS}) calls`,
          [from, to, firstDay, lastDay, pieces.map((piece) => piece.from), pieces.map((piece) => piece.to)],
        ),
      ),
    );
  };

/** Sums of full-service calls that fulfil a condition, as the log was at the position `$1`: call by call. */
const sumsAt = (condition: string): string => `
  select coalesce(sum(c.cost), 0)::numeric as cost, coalesce(sum((c.cost is null)::int), 0)::int8 as unpriced,
    coalesce(sum(case when c.free_tier then c.cost else div(c.cost * f.free_pages, f.pages) end), 0)::numeric as free
  from (${pricedCalls('p.position <= $1')}
    where c.position <= $1 and c.billing_type = 'full_service' and ${condition}) c
  left join read.free_operations f
    on f.tenant_id = c.tenant_id and f.operation_id = c.job_id and f.position <= $1`;

const periodCostsOf = (row: SqlRow): PeriodCosts => {
  const { cost, unpriced, free } = readPeriod(row);
  return { billed_pico_usd: cost - free, free_tier_pico_usd: free, unpriced_calls: unpriced };
};

interface CostsAt {
  readonly from: string;
  readonly to: string;
  /** What came later in the log is left out: calls, prices, and which pages were free. */
  readonly position: bigint;
}

/** As `modelCostOfPeriod`, as the log was at a position. */
export const modelCostAt =
  (sql: SqlTx) =>
  async ({ from, to, position }: CostsAt): Promise<PeriodCosts> =>
    periodCostsOf(onlyRow(await sql.query(sumsAt('c.occurred_at between $2 and $3'), [position, from, to])));

/** Calls until `$2` that may cost something else than they did at the position `$3`. */
const MAY_DIFFER = `c.cost_id in (
    select cost_id from read.llm_costs where position > $3 and occurred_at <= $2
    union select cost_id from read.llm_costs where cost_pico is null and occurred_at <= $2
    union select l.cost_id from read.free_operations o
      join read.llm_costs l on l.job_id = o.operation_id and l.tenant_id = o.tenant_id
      where o.position > $3 and l.occurred_at <= $2)`;

/** The end of every log. */
const END = 2n ** 63n - 1n;

interface LateCosts {
  /** Costs of all calls up to this time. */
  readonly to: string;
  readonly after: bigint;
  /** Left out: now. */
  readonly until?: bigint | undefined;
}

/** What became known of model costs between two positions of the log; exact, and negative where they fell. */
export const lateModelCosts =
  (sql: SqlTx) =>
  async ({ to, after, until = END }: LateCosts) => {
    const sumAt = async (position: bigint) =>
      periodCostsOf(onlyRow(await sql.query(sumsAt(MAY_DIFFER), [position, to, after])));
    const [before, now] = [await sumAt(after), await sumAt(until)];
    return {
      billed_pico_usd: now.billed_pico_usd - before.billed_pico_usd,
      free_tier_pico_usd: now.free_tier_pico_usd - before.free_tier_pico_usd,
    };
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

/**
 * Calls of models and their costs in pico-USD (10⁻¹² USD). A call without a cost in its event (`cost_pico`
 * null) is priced when it is read, by `model_prices`.
 */
export const llmCosts = table({
  name: 'llm_costs',
  key: ['cost_id'],
  columns: {
    cost_id: 'sorted',
    position: 'position',
    tenant_id: 'sorted',
    job_id: 'sorted',
    operation: 'text',
    provider: 'text',
    model_name: 'text',
    input_tokens: 'int8',
    output_tokens: 'int8',
    cached_input_tokens: 'int8',
    pages: 'int8?',
    cost_pico: 'numeric?',
    cost_source: 'text?',
    document_id: 'sorted?',
    task_id: 'text?',
    billing_type: 'text',
    free_tier: 'boolean',
    occurred_at: 'sorted',
    created_at: 'text',
  },
  indexes: [
    '(job_id)',
    '(tenant_id, occurred_at)',
    '(document_id) where document_id is not null',
    '(occurred_at)',
    '(occurred_at) where cost_pico is null',
    '(position)',
  ],
});

/** Sums of the calls that have a cost. */
export const llmCostDays = table({
  name: 'llm_cost_days',
  key: ['day', 'tenant_id', 'operation', 'provider', 'model_name', 'billing_type', 'free_tier'],
  columns: {
    day: 'sorted',
    tenant_id: 'sorted',
    operation: 'sorted',
    provider: 'sorted',
    model_name: 'sorted',
    billing_type: 'sorted',
    free_tier: 'boolean',
    calls: 'int8 add',
    input_tokens: 'int8 add',
    output_tokens: 'int8 add',
    cost_pico: 'numeric add',
  },
  fillfactor: 50,
});

/** Prices of models, each in force from `effective_from` on. */
export const modelPrices = table({
  name: 'model_prices',
  rowsOf: 'shared',
  key: ['price_id'],
  columns: {
    price_id: 'sorted',
    position: 'position',
    provider: 'text?',
    model_name: 'text',
    input_pico: 'int8',
    output_pico: 'int8',
    cached_input_pico: 'int8?',
    page_pico: 'int8?',
    prices: 'jsonb',
    effective_from: 'sorted',
    created_at: 'text',
  },
});

/** Operations with free pages: the platform pays the model cost of those pages itself. */
export const freeOperations = table({
  name: 'free_operations',
  key: ['tenant_id', 'operation_id'],
  columns: {
    tenant_id: 'sorted',
    operation_id: 'sorted',
    position: 'position',
    pages: 'int8',
    free_pages: 'int8',
    created_at: 'sorted',
  },
  indexes: ['(position)'],
});

const log = inserting(llmCosts);
const addDays = upserting(llmCostDays);
const publish = inserting(modelPrices);
const free = inserting(freeOperations);

const callOf = ({ data, position }: ProjectedEventOf<'LlmCostLogged'>) => ({
  ...data,
  position,
  cost_pico: data.cost_usd === null ? null : picoOf(data.cost_usd),
});

type Priced = ProjectedEventOf<'ProviderPricePublished' | 'ModelPriceSet'>;

const priceOf = ({ type, data, position }: Priced) => {
  const cached = data.cached_input_usd_per_million_tokens;
  return {
    price_id: data.price_id,
    position,
    provider: type === 'ModelPriceSet' ? null : data.provider,
    model_name: data.model_name,
    input_pico: picoPerToken(data.input_usd_per_million_tokens),
    output_pico: picoPerToken(data.output_usd_per_million_tokens),
    cached_input_pico: cached === null ? null : picoPerToken(cached),
    page_pico: data.usd_per_page === null ? null : picoOf(data.usd_per_page),
    prices: jsonText({
      input_usd_per_million_tokens: data.input_usd_per_million_tokens,
      output_usd_per_million_tokens: data.output_usd_per_million_tokens,
      cached_input_usd_per_million_tokens: cached,
      usd_per_page: data.usd_per_page,
    }),
    effective_from: type === 'ModelPriceSet' ? data.updated_at : data.effective_from,
    created_at: type === 'ModelPriceSet' ? data.updated_at : data.created_at,
  };
};

/** What models cost: calls, prices, and the operations whose pages were free in part or whole. */
export const llmCostsProjector: Projector = {
  name: 'llm_costs',
  version: 2,
  eventTypes: ['LlmCostLogged', 'ProviderPricePublished', 'ModelPriceSet', 'CreditsBurned'],
  tables: [llmCosts, llmCostDays, modelPrices, freeOperations],
  apply: async (tx, { schema, events }) => {
    const logged = only(events, 'LlmCostLogged').map(callOf);
    const freed = only(events, 'CreditsBurned').filter(({ data }) => data.free_pages > 0);
    await log(tx, schema, logged);
    await addDays(tx, schema, costDays(logged));
    await publish(tx, schema, only(events, 'ProviderPricePublished', 'ModelPriceSet').map(priceOf));
    await free(
      tx,
      schema,
      freed.map((event) => ({ ...event.data, tenant_id: tenantOf(event), position: event.position })),
    );
  },
};

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
      query.tenant_id ?? null,
      query.operation ?? null,
      query.provider ?? null,
      query.job_id ?? null,
      query.from ?? null,
      query.to ?? null,
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

const readPrice = rowReader(
  pick(modelPrices.columns, 'price_id', 'provider', 'model_name', 'prices', 'effective_from', 'created_at'),
);

/** All prices that providers' models ever had, newest first. */
export const providerPrices = listing(
  'select * from read.model_prices where provider is not null order by position desc',
  () => [],
  (row) => {
    const { prices, ...price } = readPrice(row);
    return { ...price, ...modelPriceMembers.parse(prices) };
  },
);

/** Models with calls since `since` for which no provider's price was ever published, busiest first. */
export const missingPrices = listing(
  `select c.provider, c.model_name, count(*) as calls, sum(c.input_tokens)::int8 as input_tokens,
     sum(c.output_tokens)::int8 as output_tokens, min(c.occurred_at) as first_seen_at,
     max(c.occurred_at) as last_seen_at
   from read.llm_costs c
   where c.occurred_at >= $1 and not exists (select 1 from read.model_prices p
     where p.provider = c.provider and p.model_name = c.model_name)
   group by c.provider, c.model_name order by calls desc, c.provider, c.model_name`,
  (since: string) => [since],
  rowReader({
    ...pick(llmCosts.columns, 'provider', 'model_name', 'input_tokens', 'output_tokens'),
    calls: 'int8',
    first_seen_at: 'text',
    last_seen_at: 'text',
  }),
);
