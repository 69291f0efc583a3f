import { z } from 'zod';
import { dayEndIn, dayIn, dayStartIn } from '../../../domain/kernel/timeZones.ts';
import { TAG_NAME, type Tags } from '../../../domain/tags.ts';
import { totalsOf } from '../../../projections/usage.ts';
import { type Pivot, PIVOT_GROUPS, PIVOT_ROWS_MAX, TAG_VALUES_MAX } from '../../../projections/usageStats.ts';
import type { Queries } from '../../queries/queries.ts';
import { invalid } from '../../server/problems.ts';
import { routesOver } from '../../server/routes.ts';
import {
  checkKnown,
  creditsOut,
  logIdOut,
  plainText,
  tenantParams,
  usdOut,
  zoned,
} from '../schemas/basics.ts';

/** What this route needs. */
export interface UsageStatsDeps {
  readonly queries: Pick<Queries, 'balanceOfTenant' | 'fullTags' | 'usageOfTenantBy'>;
  /** Which log the read models are of; null: not known yet. */
  readonly logId: () => string | null;
}

const { get } = routesOver<UsageStatsDeps>();

/** Most groups, and most tags to choose by, at once. */
const GROUPS_MAX = 6;
const TAG = 'tag:';

/** Which group a text names; undefined: none. */
const pivotOf = (text: string): Pivot | undefined => {
  const plain = PIVOT_GROUPS.find((one) => one === text);
  if (plain !== undefined) return plain;
  const tag = text.slice(TAG.length);
  return text.startsWith(TAG) && TAG_NAME.test(tag) ? { tag } : undefined;
};

/** A parameter that may come several times. */
const several = (documented: Readonly<Record<string, unknown>>, description: string) =>
  z
    .union([z.string(), z.array(z.string())], { error: 'Send it several times instead.' })
    .transform((given) => [given].flat())
    .meta({
      description,
      'x-wire': { type: 'array', maxItems: GROUPS_MAX, items: { type: 'string', ...documented } },
    });

const GROUP_PATTERN = `^(${PIVOT_GROUPS.join('|')}|${TAG}[a-z][a-z0-9_.-]{0,39})$`;

const groupsIn = several(
  { pattern: GROUP_PATTERN },
  'By what to group, in this order; send it several times for several groups. `tag:<name>` groups by the values of a ' +
    'tag.',
).transform((given, context): readonly Pivot[] => {
  const groups = given.map(pivotOf);
  const isTwice = new Set(given).size < given.length;
  if (!groups.includes(undefined) && !isTwice && groups.length <= GROUPS_MAX)
    return groups.filter((one) => one !== undefined);
  context.addIssue({
    code: 'custom',
    message: `Choose at most ${String(GROUPS_MAX)} of ${PIVOT_GROUPS.join(', ')} and tag:<name>, each once.`,
  });
  return z.NEVER;
});

const tagFilter = several(
  { pattern: '^[a-z][a-z0-9_.-]{0,39}:.+$' },
  'Only work with this tag, as `<name>:<value>`; send it several times for work that has all of several tags.',
).transform((given, context): Tags => {
  const pairs = given.map((text): [string, string] => {
    const [name = '', ...rest] = text.split(':');
    return [name, rest.join(':')];
  });
  const isWrong = pairs.some(([name, value]) => !TAG_NAME.test(name) || value === '' || value.includes('\0'));
  const isTwice = new Set(pairs.map(([name]) => name)).size < pairs.length;
  if (!isWrong && !isTwice && pairs.length <= GROUPS_MAX) return Object.fromEntries(pairs);
  context.addIssue({
    code: 'custom',
    message: `Send <name>:<value>, such as team:claims, at most ${String(GROUPS_MAX)} times and each name once.`,
  });
  return z.NEVER;
});

const sums = {
  operations: z.int(),
  pages: z.int(),
  free_pages: z.int(),
  credits: creditsOut,
  list_value_usd: usdOut,
};

const NOT_GROUPED = 'null if it is not grouped by';

const usagePivot = z
  .strictObject({
    log_id: logIdOut,
    tenant_id: z.string(),
    group_by: z.array(z.string()),
    from_date: z.iso.date(),
    to_date: z.iso.date(),
    time_zone: z.string(),
    tags_at_limit: z.array(z.string()).meta({
      description:
        `Names of tags with more than ${TAG_VALUES_MAX.toLocaleString('en')} values: further values are counted ` +
        'together, in rows that name the tag in `rest_of`.',
    }),
    items: z.array(
      z
        .strictObject({
          day: z.iso
            .date()
            .nullable()
            .meta({ description: `A day of \`time_zone\`; ${NOT_GROUPED}.` }),
          operation: z
            .string()
            .nullable()
            .meta({ description: `Kind of work; ${NOT_GROUPED}.` }),
          project_id: z
            .string()
            .nullable()
            .meta({ description: `Project; ${NOT_GROUPED}.` }),
          task_id: z
            .string()
            .nullable()
            .meta({ description: `Task; ${NOT_GROUPED}.` }),
          api_key_id: z
            .string()
            .nullable()
            .meta({ description: `ID of the key; ${NOT_GROUPED}, or of none.` }),
          tags: z.record(z.string(), z.string().nullable()).meta({
            description:
              'Values of the tags that it is grouped by; null: work without the tag, unless in `rest_of`.',
          }),
          rest_of: z.array(z.string()).meta({
            description: 'Names of tags of which this row has all values beyond the limit.',
          }),
          ...sums,
        })
        .meta({ id: 'UsagePivotItem' }),
    ),
    totals: z.strictObject(sums).meta({ id: 'UsagePivotTotals' }),
  })
  .meta({ id: 'UsagePivot' });

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DEFAULT_DAYS = 30;
const DAYS_MAX = 366;

interface Days {
  readonly from_date?: string | undefined;
  readonly to_date?: string | undefined;
  readonly time_zone: string;
}

/** The first and last instant of the days that are asked for; by default the last 30 until today. */
const timesOf = ({ from_date, to_date, time_zone }: Days, now: string) => {
  const to = to_date ?? dayEndIn(time_zone, dayIn(time_zone, now));
  const from = from_date ?? dayStartIn(time_zone, dayBefore(dayIn(time_zone, to), DEFAULT_DAYS - 1));
  const wrong = (msg: string) => invalid({ loc: ['query', 'to_date'], msg, type: 'value_error' });
  if (from > to) throw wrong('Lies before `from_date`.');
  // An hour more, for days that a change of clocks made longer.
  if (Date.parse(to) - Date.parse(from) > DAYS_MAX * DAY_MS + HOUR_MS)
    throw wrong(`At most ${String(DAYS_MAX)} days from \`from_date\`.`);
  return { from, to };
};

const dayBefore = (day: string, days: number): string =>
  new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, 10);

const nameOf = (pivot: Pivot): string => (typeof pivot === 'string' ? pivot : `${TAG}${pivot.tag}`);

export const getUsageOfTenant = get(
  '/v1/billing/usage-stats/{tenant_id}',
  {
    summary: "A tenant's consumption, by several groups at once",
    description:
      'By day, operation, project, task, key and tags, in the days of `time_zone`, at most 366; the last 30 if ' +
      `they are left out. An answer has at most ${PIVOT_ROWS_MAX.toLocaleString('en')} rows. Adjustments and ` +
      'transfers are no consumption. Its sums are those of the ledger.',
    access: 'any',
    tenant: 'path',
    bucket: 'heavy',
    params: tenantParams,
    query: zoned({
      group_by: groupsIn.default(['operation']),
      from_date: z.iso.date().optional().meta({ description: 'First day of `time_zone`.' }),
      to_date: z.iso.date().optional().meta({ description: 'Last day of `time_zone`.' }),
      project_id: plainText(1, 128).optional().meta({ description: 'Only work of this project.' }),
      task_id: plainText(1, 128).optional().meta({ description: 'Only work of this task.' }),
      key_id: plainText(1, 128).optional().meta({ description: 'Only work that this key asked for.' }),
      tag: tagFilter.optional(),
    }),
    reply: { status: 200, schema: usagePivot },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async ({ params: { tenant_id }, query, meta }, { queries, logId }) => {
    const { group_by: groups, time_zone, project_id, task_id, key_id: api_key_id, tag: tags } = query;
    const times = timesOf(query, meta.now);
    await checkKnown({ queries }, tenant_id, { isEmpty: true });
    const asked = { tenant_id, groups, time_zone, project_id, task_id, api_key_id, tags, ...times };
    const items = await queries.usageOfTenantBy(asked);
    if (items === undefined)
      throw invalid({
        loc: ['query', 'group_by'],
        msg: `More than ${String(PIVOT_ROWS_MAX)} rows: choose fewer days or groups, or work by project, key or tag.`,
        type: 'value_error',
      });
    return {
      log_id: logId(),
      tenant_id,
      group_by: groups.map(nameOf),
      time_zone,
      from_date: dayIn(time_zone, times.from),
      to_date: dayIn(time_zone, times.to),
      tags_at_limit: [...(await queries.fullTags(tenant_id))],
      items,
      totals: totalsOf(items),
    };
  },
);
