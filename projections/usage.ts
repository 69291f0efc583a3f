import {
  dayRange,
  onlyRow,
  type Projector,
  type RowOf,
  rowReader,
  type Sum,
  table,
  textOf,
  textOrNull,
  type TimeRange,
  wholeOf,
  within,
} from './engine/table.ts';
import {
  type ProjectedEvent,
  type ProjectedEventOf,
  type SqlTx,
  type SqlValue,
  tenantOf,
} from './engine/ports.ts';
import { upserting } from './engine/bulk.ts';
import { listing } from './engine/query.ts';
import { listValueUsd } from '../domain/kernel/amounts.ts';
import {
  dayEndIn,
  dayStartIn,
  isoWeekOf,
  localDays,
  localPeriods,
  type LocalPeriod,
} from '../domain/kernel/timeZones.ts';

/**
 * What was consumed by UTC day. `credits` is what left the balance: a gift
 * counts below zero. `operations` counts an operation once, also where it has two ledger rows.
 */
export const usageDays = table({
  name: 'usage_days',
  key: ['day', 'tenant_id', 'kind', 'operation', 'category', 'extraction_mode', 'billing_type', 'task_id'],
  columns: {
    day: 'sorted',
    tenant_id: 'sorted',
    kind: 'sorted',
    operation: 'sorted',
    category: 'sorted',
    extraction_mode: 'sorted',
    billing_type: 'sorted',
    task_id: 'sorted',
    operations: 'int8 add',
    pages: 'int8 add',
    free_pages: 'int8 add',
    credits: 'int8 add',
  },
  indexes: ['(tenant_id, day)'],
  fillfactor: 50,
});

/** What was consumed by document. */
export const usageDocuments = table({
  name: 'usage_documents',
  key: ['tenant_id', 'document_id'],
  columns: {
    tenant_id: 'sorted',
    document_id: 'sorted',
    task_id: 'sorted replace',
    operations: 'int8 add',
    pages: 'int8 add',
    credits: 'int8 add',
    last_used_at: 'text replace',
    last_position: 'position replace',
  },
  indexes: ['(last_position desc)'],
  fillfactor: 80,
});

/** Key of a dimension that a movement does not have. */
const NONE = 'none';

type DaySum = Sum<typeof usageDays>;
type UsageDocument = Sum<typeof usageDocuments>;
type Burned = ProjectedEventOf<'CreditsBurned'>;
type Adjusted = ProjectedEventOf<'CreditsAdjusted' | 'CreditsTransferredOut' | 'CreditsTransferredIn'>;

/** Written out, not spread: in sparse trade there is one for nearly every burn. */
const dayOf = (event: Burned | Adjusted): DaySum => {
  const { data } = event;
  const isUsage = 'operation' in data;
  const kind = event.type === 'CreditsAdjusted' ? 'admin_adjustment' : 'transfer';
  return {
    day: data.created_at.slice(0, 10),
    tenant_id: tenantOf(event),
    kind: isUsage ? 'usage' : kind,
    operation: isUsage ? data.operation : kind,
    category: isUsage ? data.category : 'adjustment',
    extraction_mode: isUsage ? (data.extraction_mode ?? NONE) : NONE,
    billing_type: isUsage ? data.billing_type : NONE,
    task_id: isUsage ? data.task_id : NONE,
    operations: 0,
    pages: 0,
    free_pages: 0,
    credits: 0,
  };
};

const keyOfDay = (event: Burned | Adjusted): string => {
  const { data } = event;
  const place = `${event.stream} ${data.created_at.slice(0, 10)}`;
  if (!('operation' in data)) return event.type === 'CreditsAdjusted' ? place : `${place} transfer`;
  const { operation, category, extraction_mode, billing_type, task_id } = data;
  return `${place} ${operation} ${category} ${extraction_mode ?? ''} ${billing_type} ${task_id}`;
};

const isMovement = (event: ProjectedEvent): event is Burned | Adjusted =>
  event.type === 'CreditsBurned' || isAdjusted(event);

const isAdjusted = (event: ProjectedEvent): event is Adjusted =>
  event.type === 'CreditsAdjusted' ||
  event.type === 'CreditsTransferredOut' ||
  event.type === 'CreditsTransferredIn';

/** Sums of a batch by day and dimensions. */
const daySums = (events: readonly ProjectedEvent[]): readonly DaySum[] => {
  const days = new Map<string, DaySum>();
  for (const event of events.filter(isMovement)) {
    const key = keyOfDay(event);
    const day = days.get(key) ?? dayOf(event);
    days.set(key, day);
    if (isAdjusted(event)) {
      day.operations += 1;
      day.credits -= event.type === 'CreditsTransferredOut' ? 0 - event.data.credits : event.data.credits;
      continue;
    }
    const { pages, free_pages, credits } = event.data;
    day.operations += 1;
    day.pages += pages;
    day.free_pages += free_pages;
    day.credits += credits;
  }
  return [...days.values()];
};

/** Sums of a batch by document. */
const documentSums = (events: readonly ProjectedEvent[]): readonly UsageDocument[] => {
  const documents = new Map<string, UsageDocument>();
  for (const event of events) {
    if (event.type !== 'CreditsBurned') continue;
    const { document_id, task_id, pages, credits, created_at } = event.data;
    if (document_id === null) continue;
    const tenant_id = tenantOf(event);
    const key = `${tenant_id} ${document_id}`;
    const before = documents.get(key);
    documents.set(key, {
      tenant_id,
      document_id,
      task_id,
      operations: (before?.operations ?? 0) + 1,
      pages: (before?.pages ?? 0) + pages,
      credits: (before?.credits ?? 0) + credits,
      last_used_at: created_at,
      last_position: event.position,
    });
  }
  return [...documents.values()];
};

const addDays = upserting(usageDays);
const addDocuments = upserting(usageDocuments);

/** Consumption by day and dimensions, and by document. */
export const usageProjector: Projector = {
  name: 'usage',
  version: 2,
  eventTypes: ['CreditsBurned', 'CreditsAdjusted', 'CreditsTransferredOut', 'CreditsTransferredIn'],
  tables: [usageDays, usageDocuments],
  apply: async (tx, { schema, events }) => {
    await addDays(tx, schema, daySums(events));
    await addDocuments(tx, schema, documentSums(events));
  },
};

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

const COUNTED = { operations: 'int8', pages: 'int8', free_pages: 'int8', credits: 'int8' } as const;
type Counted = RowOf<typeof COUNTED>;

/** Sums of consumption. `credits`: what left the balances. */
type UsageSums = ReturnType<typeof valued>;
const valued = (sums: Counted) => ({ ...sums, list_value_usd: listValueUsd(sums.credits) });

const readStats = rowReader({ key: 'text', category: 'text', ...COUNTED });

interface UsageStatsQuery extends TimeRange {
  readonly group_by: UsageGroup;
  readonly include_adjustments: boolean;
  /** Whose days, weeks and months; left out: UTC. */
  readonly time_zone?: string | undefined;
}

/** The group of a day of a zone, where groups are times. */
const GROUP_OF_DAY: Readonly<Partial<Record<UsageGroup, (day: string) => string>>> = {
  day: (day) => day,
  day_category: (day) => day,
  week: isoWeekOf,
  month: (day) => day.slice(0, 7),
};

/** Stands for a day where nothing was used at all. */
const NEVER = '2000-01-01';

const DAY_COLUMNS = `tenant_id, kind, operation, category, extraction_mode, billing_type, task_id,
    operations, pages, free_pages, credits`;

/** The places at which the parts of UTC differ from those of other zones. */
const OF_UTC = {
  days: `day, ${DAY_COLUMNS} from read.usage_days where day between $1 and $2`,
  pieces: 'unnest($3::text[], $4::text[]) as p(from_time, to_time)',
  dayOfPiece: 'left(l.created_at, 10)',
};

/**
 * Whole days from the roll-up ($1, $2 first and last), pieces of days ($3, $4) from the ledger rows of the
 * blocks that reach into them, of tenants that were active then. $5: with adjustments.
 */
const usageParts = ({ days, pieces, dayOfPiece }: typeof OF_UTC): string => `
  select ${days} and (kind = 'usage' or ($5 and kind = 'admin_adjustment'))
  union all
  select ${dayOfPiece}, l.tenant_id, l.kind, coalesce(l.operation, l.kind), l.category,
    coalesce(l.extraction_mode, 'none'), coalesce(l.billing_type, 'none'), coalesce(l.task_id, 'none'),
    case when l.part = 0 and l.id like '%\\_free' then 0 else 1 end, l.pages, l.free_pages, -l.credits_delta
  from ${pieces}
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

/** By UTC days. */
export const USAGE_PARTS = usageParts(OF_UTC);

/** By times of a zone: $1, $2, $6 whole UTC days with the key of their group, $3, $4, $7 pieces with it. */
const ZONED_PARTS = usageParts({
  days: `w.key as day, ${DAY_COLUMNS} from unnest($1::text[], $2::text[], $6::text[]) as w(first_day, last_day, key)
    join read.usage_days on day between w.first_day and w.last_day where true`,
  pieces: 'unnest($3::text[], $4::text[], $7::text[]) as p(from_time, to_time, key)',
  dayOfPiece: 'p.key',
});

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

/** The parameters of `ZONED_PARTS`. */
const zonedParts = (periods: readonly LocalPeriod[], includeAdjustments: boolean): readonly SqlValue[] => {
  const ranges = periods.map((period) => ({ key: period.key, ...dayRange(period) }));
  const whole = ranges.filter(({ firstDay, lastDay }) => firstDay <= lastDay);
  const pieces = ranges.flatMap(({ key, pieces: own }) => own.map((piece) => ({ key, ...piece })));
  return [
    whole.map(({ firstDay }) => firstDay),
    whole.map(({ lastDay }) => lastDay),
    pieces.map(({ from }) => from),
    pieces.map(({ to }) => to),
    includeAdjustments,
    whole.map(({ key }) => key),
    pieces.map(({ key }) => key),
  ];
};

/** The part of a range in which anything was used. */
const usedWithin = async (sql: SqlTx, range: TimeRange) => {
  const row = onlyRow(await sql.query('select min(day) as first, max(day) as last from read.usage_days'));
  const first = `${textOrNull(row, 'first') ?? NEVER}T00:00:00.000Z`;
  return within(range, { from: first, to: `${textOrNull(row, 'last') ?? NEVER}T23:59:59.999Z` });
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
  async ({ group_by, include_adjustments, time_zone = 'UTC', ...range }: UsageStatsQuery) => {
    const withCategory = group_by === 'day_category';
    const keyOf = time_zone === 'UTC' ? undefined : GROUP_OF_DAY[group_by];
    const rows = await sql.query(
      `with parts as (${keyOf === undefined ? USAGE_PARTS : ZONED_PARTS})
       select ${keyOf === undefined ? KEYS[group_by] : 'day'} as key, ${withCategory ? 'category' : `''`} as category,
         sum(operations)::int8 as operations, sum(pages)::int8 as pages,
         sum(free_pages)::int8 as free_pages, sum(credits)::int8 as credits
       from parts group by 1, 2 order by 1, 2`,
      keyOf === undefined
        ? partsOf(range, include_adjustments)
        : zonedParts(localPeriods(time_zone, await usedWithin(sql, range), keyOf), include_adjustments),
    );
    return rows.map(readStats).map(({ key, category, ...sums }) => ({
      key,
      ...(withCategory && { category }),
      ...valued(sums),
    }));
  };

/** The read models that one answer is made of: its balances are shown only if all are at one position. */
const TOGETHER = ['balances', 'grants', 'ledger', 'usage'];

/**
 * Movements of a tenant ($1) from the first day until now, by day: those after the last day lead back from the
 * balance. Rows of the ledger from $4 to $2 are cut into days at the times $6, whose keys are $5; all that came after
 * $2, the end of a UTC day, is from the roll-up. One statement, so one snapshot; `at` always gives a row.
 */
const MOVED = `
  with at as (
    select count(*) = cardinality($3::text[]) and min(coalesce(position, -1)) = max(coalesce(position, -1)) as together
    from projections.registry where serves and name = any($3)
  ), moved as (
    select day, kind, category, sum(operations)::int8 as operations, sum(pages)::int8 as pages,
      sum(free_pages)::int8 as free_pages, sum(credits)::int8 as credits
    from read.usage_days where tenant_id = $1 and day > left($2, 10) group by day, kind, category
    union all
    select left(created_at, 10), 'grant', '', 0, 0, 0, -sum(credits)::int8
    from read.grants where tenant_id = $1 and created_at > $2 group by 1
    union all
    select ($5::text[])[width_bucket(created_at, $6::text[])], kind, coalesce(category, ''),
      count(*) filter (where part <> 0 or id not like '%\\_free'), sum(pages)::int8, sum(free_pages)::int8,
      -sum(credits_delta)::int8
    from read.ledger where tenant_id = $1 and created_at between $4 and $2 and ordinal between
      (select min(first_ordinal) from read.ledger_blocks where tenant_id = $1 and last_created_at >= $4) and
      (select max(last_ordinal) from read.ledger_blocks where tenant_id = $1 and first_created_at <= $2)
    group by 1, 2, 3
  )
  select moved.*, case when together then (select balance_credits from read.balances where tenant_id = $1) end
    as balance_credits
  from at left join moved on true order by day, category`;

const readBalance = rowReader({ balance_credits: 'int8?' });
const readMoved = rowReader({ day: 'text', kind: 'text', category: 'text', ...COUNTED });
type Moved = ReturnType<typeof readMoved>;

interface UsageDaysQuery {
  readonly tenant_id: string;
  /** First and last day of the zone, `YYYY-MM-DD`. */
  readonly start: string;
  readonly end: string;
  readonly time_zone: string;
}

/** What was used of one category within a day. `credits`: what left the balance. */
type CategoryOfDay = { readonly category: string } & Readonly<RowOf<typeof COUNTED>>;

/** A day of a tenant: balance = that of the day before + granted + adjusted − used. */
interface UsageDay {
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

/** Kinds of movements by the member that they are shown in: `grant` and `transfer` are sums of several kinds. */
const GRANTED: readonly string[] = ['grant', 'sale', 'refund', 'reversal'];
const ADJUSTED: readonly string[] = ['admin_adjustment', 'transfer', 'transfer_out', 'transfer_in'];

/** Credits that left the balance by movements of these kinds. */
const leftBy = (moved: readonly Moved[], kinds: readonly string[]): number =>
  moved.reduce((sum, { kind, credits }) => (kinds.includes(kind) ? sum + credits : sum), 0);

const netOf = (moved: readonly Moved[]): number => moved.reduce((sum, { credits }) => sum - credits, 0);

const categoriesOf = (moved: readonly Moved[]): readonly CategoryOfDay[] =>
  moved
    .filter(({ kind }) => kind === 'usage')
    .map(({ category, operations, pages, free_pages, credits }) => ({
      category,
      operations,
      pages,
      free_pages,
      credits,
    }));

const byDay = (moved: readonly Moved[]): ReadonlyMap<string, readonly Moved[]> => {
  const days = new Map<string, Moved[]>();
  for (const row of moved) days.set(row.day, [...(days.get(row.day) ?? []), row]);
  return days;
};

/** Credits that a tenant used from a UTC day on, by day. */
export const creditsUsedByDay = listing(
  `select day, sum(credits)::int8 as credits from read.usage_days
   where tenant_id = $1 and day >= $2 and kind = 'usage' group by day`,
  (tenantId: string, from: string) => [tenantId, from],
  (row): readonly [day: string, credits: number] => [textOf(row, 'day'), wholeOf(row, 'credits')],
);

/** The key of movements that came between the last day and the end of its UTC day. */
const LATER = 'later';

/** The parameters of `MOVED`: a zone other than UTC has its days from the ledger, as the roll-up is by UTC days. */
const movedParameters = ({ tenant_id, start, end, time_zone }: UsageDaysQuery): readonly SqlValue[] => {
  const dayBefore = new Date(Date.parse(start) - DAY_MS).toISOString().slice(0, 10);
  const none = [`${start}T00:00:00.000Z`, [], []];
  if (time_zone === 'UTC') return [tenant_id, `${dayBefore}T23:59:59.999Z`, TOGETHER, ...none];
  const never = `${NEVER}T00:00:00.000Z`;
  const first = dayStartIn(time_zone, start);
  const [from, last] = [first < never ? never : first, dayEndIn(time_zone, end)];
  const days = from < last ? localDays(time_zone, from, last) : [];
  const later = new Date(Date.parse(last) + 1).toISOString();
  return [
    tenant_id,
    `${last.slice(0, 10)}T23:59:59.999Z`,
    TOGETHER,
    from,
    [...days.map(({ day }) => day), LATER],
    [...days.map((day) => day.from), later],
  ];
};

/** Each day of a tenant with what was used by category, and the balance at its end. */
export const usageDaysOfTenant =
  (sql: SqlTx) =>
  async (query: UsageDaysQuery): Promise<readonly UsageDay[]> => {
    const rows = await sql.query(MOVED, movedParameters(query));
    const moved = rows.filter(({ day }) => day !== null).map(readMoved);
    const movedOn = byDay(moved);
    const now = rows.map(readBalance)[0]?.balance_credits ?? null;
    let balance = now === null ? null : now - netOf(moved.filter(({ day }) => day > query.end));
    const days: UsageDay[] = [];
    for (const day of [...daysBetween(query.start, query.end)].reverse()) {
      const within = movedOn.get(day) ?? [];
      days.push({
        day,
        used_credits: leftBy(within, ['usage']),
        granted_credits: 0 - leftBy(within, GRANTED),
        adjusted_credits: 0 - leftBy(within, ADJUSTED),
        balance_credits: balance,
        categories: categoriesOf(within),
      });
      if (balance !== null) balance -= netOf(within);
    }
    return days.reverse();
  };
