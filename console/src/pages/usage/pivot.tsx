import { useMemo, useState } from 'react';
import { csvOf, usePages, useRead } from '../../api/connection.ts';
import { useTenantId } from '../../api/session.ts';
import { usage } from '../../texts/usage.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { DayBars } from '../../ui/charts.tsx';
import { useAddressValues } from '../../ui/go.tsx';
import { Select } from '../../ui/select.tsx';
import { Empty, ProblemNote, Skeleton } from '../../ui/states.tsx';
import { CONTROL } from '../../ui/style.ts';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Credits, Money } from '../../ui/values.tsx';
import { useZone } from '../../ui/zone.ts';
import { DayFilters, useBetween } from './entries.tsx';
import {
  chartOf,
  groupName,
  GROUPS_MAX,
  groupsIn,
  groupText,
  offeredGroups,
  rowId,
  tagGroup,
  toggled,
  type Pivot,
  type PivotRow,
} from './groups.ts';

const { groups: texts, columns: names } = usage;

type Names = ReadonlyMap<string, string>;

/** What is chosen stands in the address; a tag is `<name>:<value>`. */
const useAsked = () => useAddressValues(['by', 'project', 'task', 'key', 'tag']);

/** Groups as buttons that are pressed; they stand in the table in the order in which they were pressed. */
function Groups({ groups, tags }: { groups: readonly string[]; tags: readonly string[] }) {
  const [, keep] = useAsked();
  const [name, type] = useState('');
  const isFull = groups.length >= GROUPS_MAX;
  const group = tagGroup(name.trim());
  const press = (one: string): void => keep({ by: toggled(groups, one).join(',') });
  return (
    <div role="group" aria-label={texts.by} className="flex flex-wrap items-center gap-2">
      <span className="text-soft">{texts.by}</span>
      {offeredGroups(tags, groups).map((one) => (
        <Button
          key={one}
          size="small"
          aria-pressed={groups.includes(one)}
          look={groups.includes(one) ? 'primary' : 'plain'}
          disabled={isFull && !groups.includes(one)}
          onClick={() => press(one)}
        >
          {groupName(one)}
        </Button>
      ))}
      <form
        className="flex items-center gap-1"
        onSubmit={(event) => {
          event.preventDefault();
          if (group === undefined || groups.includes(group)) return;
          press(group);
          type('');
        }}
      >
        <input
          aria-label={texts.tagName}
          placeholder={texts.tagName}
          value={name}
          onChange={({ target }) => type(target.value)}
          className={`${CONTROL} w-40`}
        />
        <Button size="small" look="quiet" type="submit" disabled={isFull || group === undefined}>
          {texts.addTag}
        </Button>
      </form>
    </div>
  );
}

interface TypedProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

/** A filter that counts once it was typed: with Enter, or when one goes on. */
function Typed({ label, value, onChange }: TypedProps) {
  const [typed, type] = useState<string>();
  const done = (): void => {
    const text = typed?.trim();
    if (text !== undefined) onChange(text === '' ? undefined : text);
    type(undefined);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        done();
      }}
    >
      <input
        aria-label={label}
        placeholder={label}
        value={typed ?? value ?? ''}
        onChange={({ target }) => type(target.value)}
        onBlur={done}
        className={`${CONTROL} w-44`}
      />
    </form>
  );
}

const ALL = 'all';

/** Which work is counted. */
function Filters({ keys }: { keys: Names }) {
  const [{ project, task, key, tag }, keep] = useAsked();
  const choices = [
    { value: ALL, name: texts.allKeys },
    ...[...keys].map(([value, name]) => ({ value, name })),
  ];
  return (
    <div className="flex flex-wrap items-center gap-3">
      <DayFilters />
      <Typed label={texts.names.project} value={project} onChange={(value) => keep({ project: value })} />
      <Typed label={texts.names.task} value={task} onChange={(value) => keep({ task: value })} />
      <span className="w-36">
        <Select
          label={texts.names.key}
          choices={choices}
          value={key ?? ALL}
          onChange={(value) => keep({ key: value === ALL ? undefined : value })}
        />
      </span>
      <Typed label={texts.tagFilter} value={tag} onChange={(value) => keep({ tag: value })} />
    </div>
  );
}

const columnsOf = (groups: readonly string[], keys: Names): readonly Column<PivotRow>[] => [
  ...groups.map((group): Column<PivotRow> => ({
    id: group,
    name: groupName(group),
    value: (row) => groupText(row, group, keys),
    share: 1.3,
  })),
  ...(['operations', 'pages', 'free_pages', 'credits'] as const).map((id): Column<PivotRow> => ({
    id,
    name: texts.sums[id],
    value: (row) => row[id],
    show: (row) => <Credits value={row[id]} />,
    isNumber: true,
  })),
  {
    id: 'value',
    name: names.value,
    value: ({ list_value_usd }) => list_value_usd,
    show: ({ list_value_usd }) => <Money amount={list_value_usd} currency="USD" />,
    isNumber: true,
    share: 1.3,
  },
];

/** The sums of all rows. */
function Totals({ totals }: Pick<Pivot, 'totals'>) {
  const { operations, pages, free_pages, credits, list_value_usd } = totals;
  const parts = { operations, pages, free_pages, credits };
  return (
    <dl
      aria-label={texts.total}
      className="flex flex-wrap items-baseline gap-x-6 gap-y-1 rounded-lg border border-line bg-sunken px-3 py-2"
    >
      <dt className="font-semibold">{texts.total}</dt>
      {Object.entries(parts).map(([id, value]) => (
        <dd key={id}>
          <Credits value={value} unit={texts.sums[id as keyof typeof parts].toLowerCase()} />
        </dd>
      ))}
      <dd>
        <Money amount={list_value_usd} currency="USD" />
      </dd>
    </dl>
  );
}

interface ChartProps {
  readonly pivot: Pivot;
  readonly group: string | undefined;
  readonly keys: Names;
}

function Chart({ pivot, group, keys }: ChartProps) {
  const { days, series } = useMemo(() => chartOf(pivot, group, keys), [pivot, group, keys]);
  const label = texts.chart(group === undefined ? undefined : groupName(group), pivot.time_zone);
  return (
    <Card title={label}>
      <DayBars label={label} days={days} series={series} format={(value) => value.toLocaleString('en')} />
    </Card>
  );
}

/** The question that the address asks, for some groups. */
const useInput = () => {
  const tenant_id = useTenantId();
  const time_zone = useZone();
  const { from, to } = useBetween();
  const [{ project, task, key, tag }] = useAsked();
  return (groups: readonly string[]) => ({
    path: { tenant_id },
    query: {
      group_by: [...groups],
      time_zone,
      ...(from === undefined ? {} : { from_date: from }),
      ...(to === undefined ? {} : { to_date: to }),
      ...(project === undefined ? {} : { project_id: project }),
      ...(task === undefined ? {} : { task_id: task }),
      ...(key === undefined ? {} : { key_id: key }),
      ...(tag === undefined ? {} : { tag: [tag] }),
    },
  });
};

/** The rows by day where the table has none: of the first group, as the chart draws it. */
const useDays = (groups: readonly string[], whole: Pivot | undefined) => {
  const input = useInput();
  const first = groups.find((one) => one !== 'day');
  const hasDays = groups.includes('day');
  const asked = input(first === undefined ? ['day'] : ['day', first]);
  const days = useRead('getUsageOfTenant', asked, { enabled: !hasDays && (whole?.items.length ?? 0) > 0 });
  return { first, pivot: hasDays ? whole : days.data };
};

/** Names of the tenant's keys, and names of tags that its keys and its latest work have. */
const useKnown = (tenant_id: string) => {
  const { items } = usePages('listApiKeys', { path: { tenant_id } });
  const { data } = useRead('listUsage', { path: { tenant_id }, query: { limit: 200 } });
  return useMemo(() => {
    const tagged = [...(items ?? []), ...(data?.items ?? [])];
    const named = (items ?? []).map(({ key_id, name, prefix, last4 }): [string, string] => [
      key_id,
      name ?? `${prefix}…${last4}`,
    ]);
    return { keys: new Map(named), tags: [...new Set(tagged.flatMap(({ tags }) => Object.keys(tags)))] };
  }, [items, data]);
};

/** What was used, by several groups at once. */
export function UsagePivot() {
  const tenant_id = useTenantId();
  const [{ by }] = useAsked();
  const groups = groupsIn(by);
  const { keys, tags } = useKnown(tenant_id);
  const input = useInput()(groups);
  const { data, error, refetch } = useRead('getUsageOfTenant', input);
  const { first, pivot } = useDays(groups, data);
  return (
    <div className="flex flex-col gap-4">
      <Groups groups={groups} tags={tags} />
      <Filters keys={keys} />
      <ProblemNote error={error} onRetry={() => void refetch()} />
      {data === undefined && error === null && <Skeleton lines={6} className="h-8" />}
      {data?.items.length === 0 && <Empty title={usage.noUsage.title} say={usage.noUsage.say} />}
      {data !== undefined && data.items.length > 0 && (
        <>
          {pivot !== undefined && <Chart pivot={pivot} group={first} keys={keys} />}
          {data.tags_at_limit.length > 0 && <p className="text-warn">{texts.atLimit(data.tags_at_limit)}</p>}
          <DataTable
            label={texts.list}
            columns={columnsOf(groups, keys)}
            items={data.items}
            idOf={rowId}
            csv={() => csvOf('getUsageOfTenant', input)}
          />
          <Totals totals={data.totals} />
        </>
      )}
    </div>
  );
}
