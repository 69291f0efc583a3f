import type { Api } from '@quire/client';
import { kindName } from '../../texts/shell.ts';
import { usage } from '../../texts/usage.ts';

export type Pivot = Awaited<ReturnType<Api['getUsageOfTenant']>>;
export type PivotRow = Pivot['items'][number];

const { groups: texts } = usage;

/** Groups that every tenant has; tags are further ones, `tag:<name>`. */
const PLAIN = ['day', 'operation', 'project', 'task', 'key'] as const;

type Plain = (typeof PLAIN)[number];

/** Most groups at once. */
export const GROUPS_MAX = 6;

const TAG = 'tag:';
const TAG_NAME = /^[a-z][a-z0-9_.-]{0,39}$/;

const isPlain = (group: string): group is Plain => PLAIN.some((one) => one === group);

/** The group of a tag; undefined: the text is no name of a tag. */
export const tagGroup = (name: string): string | undefined =>
  TAG_NAME.test(name) ? `${TAG}${name}` : undefined;

/** What a group is called. */
export const groupName = (group: string): string =>
  isPlain(group) ? texts.names[group] : texts.tag(group.slice(TAG.length));

/** The groups of an address, as many as the API takes; those that are none are left out. Left out: by operation. */
export const groupsIn = (text: string | undefined): readonly string[] => {
  const named = [...new Set((text ?? '').split(','))].filter(
    (one) => isPlain(one) || (one.startsWith(TAG) && TAG_NAME.test(one.slice(TAG.length))),
  );
  return named.length === 0 ? ['operation'] : named.slice(0, GROUPS_MAX);
};

/** The groups with one more at the end, or without one that was there. The last one stays. */
export const toggled = (groups: readonly string[], one: string): readonly string[] => {
  if (!groups.includes(one)) return [...groups, one].slice(0, GROUPS_MAX);
  return groups.length === 1 ? groups : groups.filter((group) => group !== one);
};

/** All groups that may be chosen: the plain ones, tags that are known, and those that are chosen already. */
export const offeredGroups = (tags: readonly string[], chosen: readonly string[]): readonly string[] => [
  ...new Set([...PLAIN, ...tags.map((name) => `${TAG}${name}`).sort(), ...chosen]),
];

type Names = ReadonlyMap<string, string>;

const VALUES: Readonly<Record<Plain, (row: PivotRow, keys: Names) => string | null>> = {
  day: ({ day }) => day,
  operation: ({ operation }) => operation && kindName(operation),
  project: ({ project_id }) => project_id,
  task: ({ task_id }) => task_id,
  key: ({ api_key_id }, keys) => api_key_id && (keys.get(api_key_id) ?? api_key_id),
};

/** What a row says of a group, in words; keys by their names. */
export const groupText = (row: PivotRow, group: string, keys: Names): string => {
  if (isPlain(group)) return VALUES[group](row, keys) ?? texts.none;
  const name = group.slice(TAG.length);
  return row.tags[name] ?? (row.rest_of.includes(name) ? texts.further : texts.none);
};

/** What tells a row from the others. */
export const rowId = ({ day, operation, project_id, task_id, api_key_id, tags, rest_of }: PivotRow): string =>
  JSON.stringify([day, operation, project_id, task_id, api_key_id, tags, rest_of]);

const DAY_MS = 86_400_000;

const daysOf = ({ from_date, to_date }: Pick<Pivot, 'from_date' | 'to_date'>): readonly string[] => {
  const first = Date.parse(from_date);
  const count = Math.round((Date.parse(to_date) - first) / DAY_MS) + 1;
  return Array.from({ length: Math.max(0, count) }, (_, at) =>
    new Date(first + at * DAY_MS).toISOString().slice(0, 10),
  );
};

interface Chart {
  readonly days: readonly { readonly day: string; readonly values: Readonly<Record<string, number>> }[];
  /** The one with most credits first. */
  readonly series: readonly { readonly id: string; readonly name: string }[];
}

/** The rows with one value of a group are one series: keys of one name are not. */
const seriesOf = (row: PivotRow, group: string | undefined): string =>
  group === undefined ? 'credits' : `is ${groupText(row, group, new Map())}`;

const REST = 'rest';

/** Series of a chart: the colours are six, and the last one is of all others. */
const SERIES_MAX = 5;

interface Sum {
  readonly id: string;
  readonly name: string;
  credits: number;
}

/** Credits by the values of a group, those with most first. */
const sumsOf = (items: readonly PivotRow[], group: string | undefined, keys: Names): readonly Sum[] => {
  const sums = new Map<string, Sum>();
  for (const row of items) {
    const id = seriesOf(row, group);
    const name = group === undefined ? texts.credits : groupText(row, group, keys);
    const sum = sums.get(id) ?? { id, name, credits: 0 };
    sum.credits += row.credits;
    sums.set(id, sum);
  }
  return [...sums.values()].filter(({ credits }) => credits > 0).sort((a, b) => b.credits - a.credits);
};

/**
 * Credits by day and by the values of a group, those with most credits first; others are one series. `group`
 * undefined: one series.
 */
export const chartOf = (
  pivot: Pick<Pivot, 'items' | 'from_date' | 'to_date'>,
  group: string | undefined,
  keys: Names,
): Chart => {
  const sums = sumsOf(pivot.items, group, keys);
  const shown = sums.slice(0, SERIES_MAX);
  // A chart takes a dot in an ID for a member of a member.
  const ids = new Map(shown.map(({ id }, at) => [id, `s${String(at)}`]));
  const byDay = new Map(daysOf(pivot).map((day): [string, Record<string, number>] => [day, {}]));
  for (const row of pivot.items) {
    const day = byDay.get(row.day ?? '');
    const id = ids.get(seriesOf(row, group)) ?? REST;
    if (day !== undefined && row.credits > 0) day[id] = (day[id] ?? 0) + row.credits;
  }
  const series = shown.map(({ id, name }) => ({ id: ids.get(id) ?? REST, name }));
  if (sums.length > SERIES_MAX) series.push({ id: REST, name: texts.others });
  return { days: [...byDay].map(([day, values]) => ({ day, values })), series };
};
