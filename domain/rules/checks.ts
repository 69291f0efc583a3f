import { z } from 'zod';

/** Most checks of a config. */
export const RULES_MAX = 50;
const EXPRESSION_MAX = 2_000;

/** What has to be true of a result. */
export const check = z.strictObject({
  name: z.string().trim().min(1).max(100),
  /** In the Common Expression Language; its value is true or false. */
  expression: z.string().min(1).max(EXPRESSION_MAX),
  /** For people, if it is not true. */
  message: z.string().min(1).max(500).optional(),
});
export type Check = z.output<typeof check>;

export const checks = z.array(check).max(RULES_MAX);

/** A JSON Pointer to a member of a result, outside lists. */
const memberPath = z
  .string()
  .max(200)
  .regex(/^(?:\/[^/]+)+$/, 'Expected a JSON Pointer such as /invoice_number.');

/**
 * Documents that are told to be the same: the same pages of the same file always, and those in which each of these
 * values is the same.
 */
export const duplicatesRule = z.strictObject({ values: z.array(memberPath).max(5).default([]) });
export type DuplicatesRule = z.output<typeof duplicatesRule>;

/** Most look-ups of a config. */
const LOOKUPS_MAX = 10;

/** A member, in lists too: a JSON Pointer with `*` for a place in a list, or names as in `items[].article`. */
const fieldPath = z
  .string()
  .max(200)
  .regex(
    /^(?:(?:\/[^/]+)+|[^/.[\]]+(?:\[\])?(?:\.[^/.[\]]+(?:\[\])?)*)$/,
    'Expected a member such as vendor or items[].article, or a JSON Pointer such as /items/*/article.',
  );

/** A value of a result is to be found in a column of a table. */
export const lookup = z.strictObject({
  field: fieldPath,
  table_id: z.string().min(1).max(128),
  column: z.string().min(1).max(1_000),
  /** 0 to 1: what is less like the value leaves it in doubt. */
  min_score: z.number().min(0).max(1).optional(),
});
export type Lookup = z.output<typeof lookup>;

export const lookups = z.array(lookup).max(LOOKUPS_MAX);

/** The version of its table that counts: the latest when the work was accepted. null: there was none. */
export const pinnedLookup = lookup.extend({
  version: z.int().min(1).nullable(),
  sha256: z.string().nullable(),
});
export type PinnedLookup = z.output<typeof pinnedLookup>;

/** The JSON Pointer of a field, with `*` for every place in a list. */
export const lookupPath = (field: string): string =>
  field.startsWith('/')
    ? field
    : field
        .split('.')
        .map((part) => {
          const isList = part.endsWith('[]');
          const name = (isList ? part.slice(0, -2) : part).replaceAll('~', '~0');
          return `/${name}${isList ? '/*' : ''}`;
        })
        .join('');

/** What a look-up found. */
export interface LookupFound {
  readonly table_id: string;
  /** null: there was no such table. */
  readonly table_version: number | null;
  readonly column: string;
  /** 0 to 1; null: nothing was found that is like the value at all. */
  readonly score: number | null;
  /** Of the table, from 1. */
  readonly row: number | null;
  /** What the row says in the column. */
  readonly match: string | null;
  /** The whole row, by column. */
  readonly values: Readonly<Record<string, string>> | null;
  /** How many rows say the same in the column. */
  readonly equal_rows: number;
}

/** What came of a check, or of a look-up. */
export interface CheckOutcome {
  readonly name: string;
  /** null: nobody can tell, for a value that it names is missing. */
  readonly passed: boolean | null;
  readonly message?: string;
  /** Of a look-up alone. */
  readonly lookup?: LookupFound;
  /** JSON Pointers to the members of the result that it names. */
  readonly paths: readonly string[];
}
