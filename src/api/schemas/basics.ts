import { closest } from 'fastest-levenshtein';
import { z } from 'zod';
import { minorUnitDigits } from '../../../domain/kernel/amounts.ts';
import { actor } from '../../../domain/kernel/decider.ts';
import { sortedTags, TAG_NAME, TAG_VALUE_MAX, type Tags, TAGS_MAX } from '../../../domain/kernel/tags.ts';
import { dayEndIn, dayStartIn, isTimeZone, timeZoneNames } from '../../../domain/kernel/timeZones.ts';
import type { Askable, Page, RowPage } from '../../../projections/engine/query.ts';
import type { Queries } from '../../queries/queries.ts';
import { problem } from '../../server/problems.ts';

/**
 * A text of a URL or a form that stands for another type. `documented` is what the reference shows for
 * it (`openapi.ts` reads `x-wire`).
 */
const spelled = <Output>(
  schema: z.ZodType<Output, string>,
  documented: Readonly<Record<string, unknown>>,
): z.ZodType<Output, string> => schema.meta({ 'x-wire': documented });

const digits = z.string().regex(/^-?\d{1,16}$/, 'Expected a whole number.');

/** `limit=100`: digits only, so neither `1e2` nor an empty text is a number. */
export const wholeNumberText = (min: number, max: number) =>
  spelled(digits.transform(Number).pipe(z.int().min(min).max(max)), {
    type: 'integer',
    minimum: min,
    ...(max === Number.MAX_SAFE_INTEGER ? {} : { maximum: max }),
  });

export const numberText = (min: number, max: number) =>
  spelled(
    z
      .string()
      .regex(/^-?\d{1,9}(\.\d{1,9})?$/, 'Expected a decimal number.')
      .transform(Number)
      .pipe(z.number().min(min).max(max)),
    { type: 'number', minimum: min, maximum: max },
  );

export const booleanText = spelled(
  z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1'),
  { type: 'boolean' },
);

const TENANT_ID = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;

export const tenantIdText = z.string().regex(TENANT_ID).meta({
  description: '1 to 128 of letters, digits and `. _ : @ -`, the first one alphanumeric.',
});

/** Free text: no NUL, which no database keeps. */
export const plainText = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .regex(/^[^\0]*$/, 'Must not contain NUL.');

const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?$/i;

/** Why a text is not a time, as a message. */
const timeComplaint = (input: unknown, expected: string): string =>
  typeof input === 'string' && WITHOUT_ZONE.test(input)
    ? 'The time has no zone: add Z for UTC, or an offset such as +02:00.'
    : `Expected ${expected}.`;

/** A time in UTC whose year has four digits: an offset may take it out of them. */
const kept = z.iso.datetime({ precision: 3, error: 'Beyond the years 0000 to 9999.' });

/** An empty text counts as absent, as in a form. */
export const orAbsent = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional()).meta({ 'x-or-empty': true });

/** Any RFC 3339 time; kept in UTC with milliseconds. */
export const instantIn = z.iso
  .datetime({
    offset: true,
    error: ({ input }) => timeComplaint(input, 'a time of RFC 3339, such as 2026-01-31T08:00:00Z'),
  })
  .transform((text) => new Date(text).toISOString())
  .pipe(kept)
  .meta({ 'x-wire': { type: 'string', format: 'date-time' } });

/** Who acted. */
export const whoOut = z
  .string()
  .nullable()
  .meta({
    description:
      'The ID of a key, `oidc:` and the subject of a sign-in, or a part of the service; null: the person who signed ' +
      'in was erased with the tenant.',
  });

export const actorOut = actor.extend({ key_id: whoOut });

export const instantOut = z.iso.datetime({ precision: 3 }).meta({
  'x-wire': { type: 'string', format: 'date-time' },
  description: 'RFC 3339 UTC with milliseconds.',
});

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The earliest that anything is booked at: a time before it is some client's default, not a time. */
const EARLIEST = '2000-01-01T00:00:00.000Z';

/** When a movement, a model call or a price happened. That it is not ahead is for the route, which has a clock. */
export const occurredIn = instantIn
  .refine((at) => at >= EARLIEST, { error: 'Lies before 2000-01-01.' })
  .meta({
    'x-wire': { type: 'string', format: 'date-time' },
    description: 'RFC 3339 with a zone, from 2000-01-01 to one day ahead.',
  });

/** A day of `time_zone`, inclusive at both ends, or a time in UTC: `zoned` makes a time of the day. */
export const dayOrTime = spelled(
  z
    .union([z.iso.date(), z.iso.datetime({ offset: true })], {
      error: ({ input }) =>
        timeComplaint(input, 'a day, like 2026-01-31, or an RFC 3339 time, like 2026-01-31T08:00:00Z'),
    })
    .transform((text) => (DAY.test(text) ? text : new Date(text).toISOString()))
    .pipe(z.union([z.iso.date(), kept])),
  { type: 'string', description: '`YYYY-MM-DD` (a day of `time_zone`, inclusive) or RFC 3339.' },
);

/** Whose days are meant; left out: UTC. */
export const timeZoneIn = plainText(1, 64)
  .refine(isTimeZone, {
    error: ({ input }) =>
      `Not a time zone of IANA; do you mean \`${closest(String(input), [...timeZoneNames()])}\`?`,
  })
  .default('UTC');

const BEGINS: readonly string[] = ['from', 'from_date', 'start'];
const ENDS: readonly string[] = ['to', 'to_date', 'end'];

/** A query with a zone, whose days are times in the answer's schema. */
export const zoned = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object({ ...shape, time_zone: timeZoneIn }).transform((query) => {
    const zone = String((query as { readonly time_zone: unknown }).time_zone);
    const times = Object.entries(query).flatMap(([name, value]): readonly (readonly [string, string])[] => {
      if (typeof value !== 'string' || !DAY.test(value)) return [];
      if (BEGINS.includes(name)) return [[name, dayStartIn(zone, value)]];
      return ENDS.includes(name) ? [[name, dayEndIn(zone, value)]] : [];
    });
    return { ...query, ...(Object.fromEntries(times) as object) };
  });

/** A UTC day, inclusive at both ends, or a time. */
const boundary = (endOfDay: boolean) =>
  spelled(
    z
      .union([z.iso.date(), z.iso.datetime({ offset: true })], {
        error: ({ input }) =>
          timeComplaint(input, 'a day, like 2026-01-31, or an RFC 3339 time, like 2026-01-31T08:00:00Z'),
      })
      .transform((text) =>
        DAY.test(text)
          ? `${text}T${endOfDay ? '23:59:59.999' : '00:00:00.000'}Z`
          : new Date(text).toISOString(),
      )
      .pipe(kept),
    { type: 'string', description: '`YYYY-MM-DD` (a UTC day, inclusive) or RFC 3339.' },
  );

export const fromBoundary = boundary(false);
export const toBoundary = boundary(true);

/** JSON that is the text of a form's field. */
export const jsonOf = (text: string, context: z.RefinementCtx): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'Expected JSON.' });
    return z.NEVER;
  }
};

/** No control characters and no halves of characters: no table keeps them. */
const TAG_VALUE = /^[^\p{Cc}\p{Cs}]+$/u;

/** What is wrong with a tag; undefined: nothing. */
const tagComplaint = (name: string, value: string): string | undefined => {
  if (!TAG_NAME.test(name))
    return 'Name it with 1 to 40 of lower-case letters, digits and _ . -, the first one a letter.';
  if (value === '') return 'Leave the tag out, or give it a value.';
  if (value.length > TAG_VALUE_MAX)
    return `Shorten the value: it may have ${String(TAG_VALUE_MAX)} characters.`;
  return TAG_VALUE.test(value) ? undefined : 'Take control characters out of the value.';
};

const TAGS =
  'Names and values by which you sort your costs, such as `{"team": "claims"}`: at most 16. A name has 1 to 40 of ' +
  'lower-case letters, digits and `_ . -`, the first one a letter; a value has up to 200 characters. They stay in ' +
  'the log permanently, as project and task do: use IDs, not names of people.';

/** Tags of a request, sorted; undefined for none. */
const checkedTags = z
  .record(z.string(), z.string({ error: 'Send a text as the value of a tag.' }), {
    error: 'Send an object of names and texts, such as {"team": "claims"}.',
  })
  .superRefine((tags, context) => {
    const given = Object.entries(tags);
    if (given.length > TAGS_MAX)
      context.addIssue({ code: 'custom', message: `Send at most ${String(TAGS_MAX)} tags.` });
    for (const [name, value] of given.slice(0, TAGS_MAX)) {
      const message = tagComplaint(name, value);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
    }
  })
  .transform(sortedTags);

const TAGS_SHOWN = {
  type: 'object',
  maxProperties: TAGS_MAX,
  propertyNames: { pattern: TAG_NAME.source },
  additionalProperties: { type: 'string', minLength: 1, maxLength: TAG_VALUE_MAX },
};

/** Tags of a body that is JSON. */
export const tagsIn = checkedTags.meta({ description: TAGS, 'x-wire': TAGS_SHOWN });

/** Default tags of a key or a config. */
export const defaultTagsIn = checkedTags.meta({
  description:
    'Tags of all work that does not name others; those of a request win by name, then those of its config. ' +
    TAGS,
  'x-wire': TAGS_SHOWN,
});

/** The same in a form: their JSON as text. An empty field has none. */
export const tagsText = z
  .string()
  .max(20_000)
  .transform((text, context) => (text === '' ? {} : jsonOf(text, context)))
  .pipe(checkedTags)
  .meta({ 'x-wire': { type: 'string', maxLength: 20_000, description: `JSON of an object. ${TAGS}` } });

/** Tags in an answer; none: an empty object. */
export const tagsOut = z.record(z.string(), z.string()).meta({ description: 'Its tags; `{}`: it has none.' });

/** Most times that a parameter may come. */
export const SEVERAL_MAX = 6;

/** A parameter that may come several times. */
export const several = (documented: Readonly<Record<string, unknown>>, description: string) =>
  z
    .union([z.string(), z.array(z.string())], { error: 'Send it several times instead.' })
    .transform((given) => [given].flat())
    .meta({
      description,
      'x-wire': { type: 'array', maxItems: SEVERAL_MAX, items: { type: 'string', ...documented } },
    });

/** Tags that work must have. */
export const tagFilter = several(
  { pattern: '^[a-z][a-z0-9_.-]{0,39}:.+$' },
  'Only work with this tag, as `<name>:<value>`; send it several times for work that has all of several tags.',
).transform((given, context): Tags => {
  const pairs = given.map((text): [string, string] => {
    const [name = '', ...rest] = text.split(':');
    return [name, rest.join(':')];
  });
  const isWrong = pairs.some(([name, value]) => !TAG_NAME.test(name) || value === '' || value.includes('\0'));
  const isTwice = new Set(pairs.map(([name]) => name)).size < pairs.length;
  if (!isWrong && !isTwice && pairs.length <= SEVERAL_MAX) return Object.fromEntries(pairs);
  context.addIssue({
    code: 'custom',
    message: `Send <name>:<value>, such as team:claims, at most ${String(SEVERAL_MAX)} times and each name once.`,
  });
  return z.NEVER;
});

export const creditsOut = z.int().meta({ description: 'Whole credits.' });
export const minorIn = z.int().min(0).meta({ description: 'Money in minor units of `currency`.' });
export const minorOut = z.int();
export const usdOut = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/)
  .meta({ description: 'US dollars as exact decimal text.' });

export const currencyIn = z
  .string()
  .regex(/^[A-Z]{3}$/)
  .meta({ description: 'ISO 4217 code.' });
export const knownCurrencyIn = currencyIn.refine((code) => minorUnitDigits(code) !== undefined, {
  error: 'Not a currency of ISO 4217.',
});

export const decimalOut = z
  .string()
  .regex(/^\d+(\.\d+)?$/)
  .meta({ description: 'Exact decimal text.' });

/** Cursors have the values that a list is sorted by: two texts of 300 characters, each of several bytes. */
const CURSOR_MAX = 4_096;

/** Members of every paged list's query. */
export const pagingQuery = {
  limit: wholeNumberText(1, 1000).default(100),
  offset: wholeNumberText(0, Number.MAX_SAFE_INTEGER).default(0),
  cursor: plainText(1, CURSOR_MAX).optional(),
};

/** `created_at`, or `-created_at` for descending; another name is told the nearest one. */
const sortIn = (sorts: readonly string[]) => {
  const names = sorts.flatMap((name) => [name, `-${name}`]);
  return z
    .string()
    .refine((name) => names.includes(name), {
      error: ({ input }) => `The list cannot be sorted so; do you mean \`${closest(String(input), names)}\`?`,
    })
    .optional()
    .meta({
      'x-wire': {
        type: 'string',
        pattern: `^-?(${sorts.join('|')})$`,
        description: 'A member of the items; `-` before it: descending.',
      },
    });
};

const WHOLE = /^-?\d{1,16}$/;

/** `filter[status]=queued`: values of members, in the order of their names. */
const filterText = (filters: Askable['filters']) => {
  const names = Object.keys(filters);
  const wrong = (name: string, value: string): string | undefined => {
    if (!names.includes(name)) return `The list has no such filter; do you mean \`${closest(name, names)}\`?`;
    return filters[name] === 'int8' && !WHOLE.test(value) ? 'Expected a whole number.' : undefined;
  };
  return z
    .record(z.string(), plainText(1, 300))
    .superRefine((asked, context) => {
      for (const [name, value] of Object.entries(asked)) {
        const message = wrong(name, value);
        if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
      }
    })
    .transform((asked) => Object.fromEntries(Object.entries(asked).sort(([a], [b]) => (a < b ? -1 : 1))))
    .optional()
    .meta({
      'x-wire': {
        type: 'object',
        propertyNames: { enum: names },
        additionalProperties: { type: 'string', minLength: 1, maxLength: 300 },
        description: 'Values of members: `filter[status]=queued`.',
      },
    });
};

const SEARCHES = {
  columns: 'Part of a short text, in any case.',
  written: 'Part of a short text, in any case; of names and notes in the 10,000 newest items.',
} as const;

/** Members of the query of a list that can be sorted and searched. */
export const listQuery = ({ sorts, filters, searches }: Askable) => ({
  ...pagingQuery,
  sort: sortIn(sorts),
  filter: filterText(filters),
  q: plainText(1, 200).optional().meta({ description: SEARCHES[searches] }),
});

/** Of a paged list's query: which page, of what order and search. */
export const pageIn = ({ limit, offset, cursor, sort, filter, q }: Page): Page => ({
  limit,
  offset,
  cursor,
  sort,
  filter,
  q,
});

/** Members of every paged list's answer, beside `items`. */
export const pageMembers = {
  total: z.int(),
  total_is_at_least: z
    .literal(true)
    .optional()
    .meta({ description: '`q` did not look at all names and notes.' }),
  limit: z.int(),
  offset: z.int(),
  next_cursor: z.string().nullable(),
};

/** The members of a page's answer that say which page it is. */
export const pageFacts = (
  { limit, offset }: Page,
  { total, next_cursor, isPartial }: Omit<RowPage<never>, 'items'>,
) => ({ total, ...(isPartial === true && { total_is_at_least: true as const }), limit, offset, next_cursor });

/** Which log a report is of: two that differ in it are of different books. */
export const logIdOut = z
  .uuid()
  .nullable()
  .meta({ description: 'Identity of the event log from which the figures come.' });

/** A page of a list, newest first. */
export const pageOf = <Item extends z.ZodType>(item: Item, id: string) =>
  z.strictObject({ items: z.array(item), ...pageMembers }).meta({ id });

export const tenantParams = z.object({ tenant_id: tenantIdText });

export const tenantNotFound = () => problem('tenant_not_found', 'There is no such tenant.');

/** 404 for an answer that is empty since nobody has ever heard of the tenant. */
export const checkKnown = async (
  { queries }: { readonly queries: Pick<Queries, 'balanceOfTenant'> },
  tenantId: string,
  { isEmpty }: { readonly isEmpty: boolean },
): Promise<void> => {
  if (isEmpty && (await queries.balanceOfTenant(tenantId)) === undefined) throw tenantNotFound();
};

/** A place on a page. */
export const bbox = z
  .array(z.number())
  .length(4)
  .nullable()
  .meta({ description: 'Points, from the top left.' });
