import {
  pick,
  type Projector,
  rowReader,
  type Sum,
  table,
  textOf as nameIn,
  wholeOf,
} from './engine/table.ts';
import { listing } from './engine/query.ts';
import { bulk, inserting, jsonText, upserting } from './engine/bulk.ts';
import {
  only,
  type ProjectedEventOf,
  type SqlRow,
  type SqlTx,
  type SqlValue,
  tenantOf,
} from './engine/ports.ts';
import { listValueUsd } from '../domain/kernel/amounts.ts';
import { sha256 } from '../domain/kernel/chain.ts';
import { localPeriods, type LocalPeriod } from '../domain/kernel/timeZones.ts';
import { sortedTags, type Tags } from '../domain/tags.ts';

/** Values of one name and tenant that are told apart. Work with further ones is counted as the rest of the name. */
export const TAG_VALUES_MAX = 10_000;

/**
 * What burns consumed by quarter of an hour (`2026-01-31T08:15`, UTC) and by what they were for. The offsets of all
 * zones since 1972 are whole quarters, so the days of any zone are made of these. A key of '' is none; `tags` of
 * `tags_key` has null for a value beyond `TAG_VALUES_MAX`.
 */
export const usageQuarters = table({
  name: 'usage_quarters',
  key: ['tenant_id', 'quarter', 'operation', 'project_id', 'task_id', 'api_key_id', 'tags_key'],
  columns: {
    tenant_id: 'sorted',
    quarter: 'sorted',
    operation: 'sorted',
    project_id: 'sorted',
    task_id: 'sorted',
    api_key_id: 'sorted',
    /** Digest of the tags: as they are they may be too long for an index. */
    tags_key: 'sorted',
    tags: 'jsonb?',
    operations: 'int8 add',
    pages: 'int8 add',
    free_pages: 'int8 add',
    credits: 'int8 add',
  },
  fillfactor: 80,
});

/** The values of tags that are told apart: the first ones in the log. */
export const tagValues = table({
  name: 'tag_values',
  key: ['tenant_id', 'name', 'value'],
  columns: { tenant_id: 'sorted', name: 'sorted', value: 'sorted' },
});

/** How many those are. */
export const tagNames = table({
  name: 'tag_names',
  key: ['tenant_id', 'name'],
  columns: { tenant_id: 'sorted', name: 'sorted', known: 'int8 add' },
  fillfactor: 50,
});

type Burned = ProjectedEventOf<'CreditsBurned'>;
type Quarter = Sum<typeof usageQuarters>;
/** Tags as they are counted; null: the rest of the name. */
type CountedTags = Readonly<Record<string, string | null>>;

/** The quarter of an hour of an instant, UTC. */
export const quarterOf = (instant: string): string => {
  const minutes = Math.floor(Number(instant.slice(14, 16)) / 15) * 15;
  return `${instant.slice(0, 14)}${String(minutes).padStart(2, '0')}`;
};

interface TagValue {
  readonly tenant_id: string;
  readonly name: string;
  readonly value: string;
}

const textOf = ({ tenant_id, name, value }: TagValue): string => JSON.stringify([tenant_id, name, value]);
const nameOf = ({ tenant_id, name }: Pick<TagValue, 'tenant_id' | 'name'>): string =>
  JSON.stringify([tenant_id, name]);

const valuesIn = (burn: Burned): readonly TagValue[] =>
  Object.entries(burn.data.tags ?? {}).map(([name, value]) => ({ tenant_id: tenantOf(burn), name, value }));

const asked = bulk(tagValues.columns);
const askedNames = bulk(pick(tagNames.columns, 'tenant_id', 'name'));
const readValue = rowReader(tagValues.columns);
const readName = rowReader(tagNames.columns);
const noteValues = inserting(tagValues, { firstStands: true });
const noteNames = upserting(tagNames);

/** Which of some values are told apart, and how many of their names are. */
const knownOf = async (tx: SqlTx, schema: string, values: readonly TagValue[]) => {
  const names = [...new Map(values.map((one) => [nameOf(one), one])).values()];
  const known = await tx.query(
    `select v.* from ${asked.source()} join ${schema}.tag_values v
       on v.tenant_id = u.tenant_id and v.name = u.name and v.value = u.value`,
    asked.values(values),
  );
  const counts = await tx.query(
    `select n.* from ${askedNames.source()} join ${schema}.tag_names n
       on n.tenant_id = u.tenant_id and n.name = u.name`,
    askedNames.values(names),
  );
  return {
    known: new Set(known.map((row) => textOf(readValue(row)))),
    counts: new Map(counts.map((row) => [nameOf(readName(row)), wholeOf(row, 'known')])),
  };
};

/** The values that are told apart from now on, in the order of the log, and whether a value is. */
const toldApart = async (tx: SqlTx, schema: string, burns: readonly Burned[]) => {
  const values = new Map(burns.flatMap(valuesIn).map((one) => [textOf(one), one]));
  if (values.size === 0) return () => true;
  const { known, counts } = await knownOf(tx, schema, [...values.values()]);
  const fresh: TagValue[] = [];
  for (const [text, value] of values) {
    const count = counts.get(nameOf(value)) ?? 0;
    if (known.has(text) || count >= TAG_VALUES_MAX) continue;
    known.add(text);
    counts.set(nameOf(value), count + 1);
    fresh.push(value);
  }
  const added = new Map<string, Sum<typeof tagNames>>();
  for (const { tenant_id, name } of fresh) {
    const row = added.get(nameOf({ tenant_id, name })) ?? { tenant_id, name, known: 0 };
    row.known += 1;
    added.set(nameOf(row), row);
  }
  await noteValues(tx, schema, fresh);
  await noteNames(tx, schema, [...added.values()]);
  return (value: TagValue): boolean => known.has(textOf(value));
};

/** Written out, not spread: in sparse trade there is one for nearly every burn. */
const quarterRow = (burn: Burned, tags: CountedTags | null): Quarter => {
  const { data } = burn;
  const text = tags === null ? null : jsonText(tags);
  return {
    tenant_id: tenantOf(burn),
    quarter: quarterOf(data.created_at),
    operation: data.operation,
    project_id: data.project_id,
    task_id: data.task_id,
    api_key_id: data.api_key_id ?? '',
    tags_key: text === null ? '' : sha256(text),
    tags: text,
    operations: 0,
    pages: 0,
    free_pages: 0,
    credits: 0,
  };
};

const keyOf = (row: Quarter): string =>
  JSON.stringify([
    row.tenant_id,
    row.quarter,
    row.operation,
    row.project_id,
    row.task_id,
    row.api_key_id,
    row.tags_key,
  ]);

/** Sums of a batch. */
const quarterSums = (
  burns: readonly Burned[],
  isToldApart: (value: TagValue) => boolean,
): readonly Quarter[] => {
  const quarters = new Map<string, Quarter>();
  for (const burn of burns) {
    const counted = valuesIn(burn).map((one): [string, string | null] => [
      one.name,
      isToldApart(one) ? one.value : null,
    ]);
    const fresh = quarterRow(burn, counted.length === 0 ? null : Object.fromEntries(counted));
    const key = keyOf(fresh);
    const row = quarters.get(key) ?? fresh;
    quarters.set(key, row);
    row.operations += 1;
    row.pages += burn.data.pages;
    row.free_pages += burn.data.free_pages;
    row.credits += burn.data.credits;
  }
  return [...quarters.values()];
};

const addQuarters = upserting(usageQuarters);

/** Consumption of tenants by what it was for. */
export const usageStatsProjector: Projector = {
  name: 'usage_stats',
  version: 1,
  eventTypes: ['CreditsBurned'],
  tables: [usageQuarters, tagNames, tagValues],
  apply: async (tx, { schema, events }) => {
    const burns = only(events, 'CreditsBurned');
    await addQuarters(tx, schema, quarterSums(burns, await toldApart(tx, schema, burns)));
  },
};

/** How a tenant's usage is grouped, beside tags. */
export const PIVOT_GROUPS = ['day', 'operation', 'project', 'task', 'key'] as const;
type PivotGroup = (typeof PIVOT_GROUPS)[number];

/** Where a group stands in an answer, and its SQL. */
const GROUPS = {
  day: { member: 'day', sql: 'w.key' },
  operation: { member: 'operation', sql: 'u.operation' },
  project: { member: 'project_id', sql: 'u.project_id' },
  task: { member: 'task_id', sql: 'u.task_id' },
  key: { member: 'api_key_id', sql: `nullif(u.api_key_id, '')` },
} as const satisfies Readonly<Record<PivotGroup, { readonly member: string; readonly sql: string }>>;

/** A group: one of `PIVOT_GROUPS`, or a tag by its name. */
export type Pivot = PivotGroup | { readonly tag: string };

const isTag = (pivot: Pivot): pivot is { readonly tag: string } => typeof pivot === 'object';

/** Most rows of an answer. */
export const PIVOT_ROWS_MAX = 5_000;

/** What of a tenant's usage to add up, and how. */
export interface PivotQuery {
  readonly tenant_id: string;
  readonly groups: readonly Pivot[];
  /** First and last instant of local days, both included. */
  readonly from: string;
  readonly to: string;
  readonly time_zone: string;
  readonly project_id?: string | undefined;
  readonly task_id?: string | undefined;
  readonly api_key_id?: string | undefined;
  /** Values that the tags must have; left out: any. */
  readonly tags?: Tags | undefined;
}

const SUMS = { operations: 'int8', pages: 'int8', free_pages: 'int8', credits: 'int8' } as const;
const readSums = rowReader(SUMS);

/** `$1` tenant, `$2`–`$4` times with their keys, `$5`–`$7` project, task and key, `$8` tags; then names of tags. */
const pivotSql = (columns: readonly string[], groupCount: number): string => {
  const groups = Array.from({ length: groupCount }, (_, at) => String(at + 1)).join(', ');
  return `
  select ${[...columns, ...Object.keys(SUMS).map((name) => `sum(u.${name})::int8 as ${name}`)].join(', ')}
  from unnest($2::text[], $3::text[], $4::text[]) as w(first_quarter, last_quarter, key)
  join read.usage_quarters u on u.tenant_id = $1
    and u.quarter between w.first_quarter and w.last_quarter
  where ($5::text is null or u.project_id = $5) and ($6::text is null or u.task_id = $6)
    and ($7::text is null or u.api_key_id = $7) and ($8::jsonb is null or u.tags @> $8)
  ${groupCount === 0 ? 'having count(*) > 0' : `group by ${groups} order by ${groups}`}
  limit ${String(PIVOT_ROWS_MAX + 1)}`;
};

/** Columns of the groups: of a tag its value, and whether it is the rest of the name. */
const columnsOf = (groups: readonly Pivot[], first: number) => {
  const names = groups.flatMap((group) => (isTag(group) ? [group.tag] : []));
  const place = (name: string) => `$${String(first + names.indexOf(name))}::text`;
  const columns = groups.flatMap((group) =>
    isTag(group)
      ? [`u.tags ->> ${place(group.tag)}`, `coalesce(u.tags -> ${place(group.tag)} = 'null'::jsonb, false)`]
      : [GROUPS[group].sql],
  );
  return { names, columns: columns.map((sql, at) => `${sql} as g${String(at)}`) };
};

/** The members of a row that say its groups; those that are not grouped by are null. */
const groupsIn = (row: SqlRow, groups: readonly Pivot[]) => {
  const members: Record<string, string | null> = {};
  const tags: Record<string, string | null> = {};
  const rest_of: string[] = [];
  let at = 0;
  const next = () => row[`g${String((at += 1) - 1)}`];
  for (const group of groups) {
    const value = next() as string | null;
    if (isTag(group)) {
      tags[group.tag] = value;
      if (next() === true) rest_of.push(group.tag);
    } else members[GROUPS[group].member] = value;
  }
  const { day = null, operation = null, project_id = null, task_id = null, api_key_id = null } = members;
  return { day, operation, project_id, task_id, api_key_id, tags, rest_of };
};

const periodsOf = ({ groups, time_zone, from, to }: PivotQuery): readonly LocalPeriod[] =>
  groups.includes('day') ? localPeriods(time_zone, { from, to }, (day) => day) : [{ key: '', from, to }];

const valuesOf = (query: PivotQuery): readonly SqlValue[] => {
  const periods = periodsOf(query);
  const tags = sortedTags(query.tags);
  return [
    query.tenant_id,
    periods.map(({ from }) => quarterOf(from)),
    periods.map(({ to }) => quarterOf(to)),
    periods.map(({ key }) => key),
    query.project_id ?? null,
    query.task_id ?? null,
    query.api_key_id ?? null,
    tags === undefined ? null : jsonText(tags),
  ];
};

/**
 * A tenant's consumption within local days by several groups at once, in their order. `undefined`: it has more than
 * `PIVOT_ROWS_MAX` rows. `rest_of`: names of which a row has the work with values beyond `TAG_VALUES_MAX`.
 */
export const usageOfTenantBy = (sql: SqlTx) => async (query: PivotQuery) => {
  const values = valuesOf(query);
  const { names, columns } = columnsOf(query.groups, values.length + 1);
  const rows = await sql.query(pivotSql(columns, columns.length), [...values, ...names]);
  if (rows.length > PIVOT_ROWS_MAX) return undefined;
  return rows.map((row) => {
    const sums = readSums(row);
    return { ...groupsIn(row, query.groups), ...sums, list_value_usd: listValueUsd(sums.credits) };
  });
};

/** Names of a tenant's tags that have as many values as are told apart. */
export const fullTags = listing(
  `select name from read.tag_names where tenant_id = $1 and known >= ${String(TAG_VALUES_MAX)} order by name`,
  (tenantId: string) => [tenantId],
  (row) => nameIn(row, 'name'),
);
