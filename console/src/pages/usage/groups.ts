import type { Api } from '@quire/client';
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

/** What a row says of a group, in words; keys by their names. */
export const groupText = (row: PivotRow, group: string, keys: Names): string => {
  const { none } = texts;
  if (group === 'day') return row.day ?? none;
  if (group === 'operation') return row.operation?.replaceAll('_', ' ') ?? none;
  if (group === 'project') return row.project_id ?? none;
  if (group === 'task') return row.task_id ?? none;
  if (group === 'key') return row.api_key_id === null ? none : (keys.get(row.api_key_id) ?? row.api_key_id);
  const name = group.slice(TAG.length);
  return row.tags[name] ?? (row.rest_of.includes(name) ? texts.further : none);
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

/**
 * Credits by day and by the values of a group, those with most credits first; others are one series. `group`
 * undefined: one series.
 */
export const chartOf = (
  pivot: Pick<Pivot, 'items' | 'from_date' | 'to_date'>,
  group: string | undefined,
  keys: Names,
): Chart => {
  const sums = new Map<string, { readonly name: string; credits: number }>();
  for (const row of pivot.items) {
    const name = group === undefined ? texts.credits : groupText(row, group, keys);
    const sum = sums.get(seriesOf(row, group)) ?? { name, credits: 0 };
    sum.credits += row.credits;
    sums.set(seriesOf(row, group), sum);
  }
  const values = [...sums]
    .filter(([, { credits }]) => credits > 0)
    .sort(([, a], [, b]) => b.credits - a.credits);
  const shown = values.slice(0, SERIES_MAX);
  // A chart takes a dot in an ID for a member of a member.
  const ids = new Map(shown.map(([value], at) => [value, `s${String(at)}`]));
  const byDay = new Map(daysOf(pivot).map((day): [string, Record<string, number>] => [day, {}]));
  for (const row of pivot.items) {
    const day = byDay.get(row.day ?? '');
    const id = ids.get(seriesOf(row, group)) ?? REST;
    if (day !== undefined && row.credits > 0) day[id] = (day[id] ?? 0) + row.credits;
  }
  const series = shown.map(([value, { name }]) => ({ id: ids.get(value) ?? REST, name }));
  if (values.length > SERIES_MAX) series.push({ id: REST, name: texts.others });
  return { days: [...byDay].map(([day, ofDay]) => ({ day, values: ofDay })), series };
};
