import type { z } from 'zod';
import { invalid } from '../problems.ts';
import type { RequestIssue } from '../../problemTable.ts';

const ISSUES_MAX = 50;

type ZodIssue = z.core.$ZodIssue;

const keyText = (key: PropertyKey): string | number => (typeof key === 'symbol' ? String(key) : key);

/** What zod found, as it is told to callers. */
export const issuesOf = (issue: ZodIssue, at: readonly string[]): readonly RequestIssue[] => {
  const loc = [...at, ...issue.path.map(keyText)];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ loc: [...loc, key], msg: 'Unknown member.', type: 'extra_forbidden' }));
  if (issue.code === 'invalid_type' && issue.input === undefined)
    return [{ loc, msg: 'Required.', type: 'missing' }];
  return [{ loc, msg: issue.message, type: issue.code }];
};

/** One part of a request to check: where it stands, its schema, and what came. */
export interface Part {
  readonly at: 'path' | 'query' | 'header' | 'body';
  readonly schema: z.ZodType | undefined;
  readonly value: unknown;
  /** Where the part stands inside of `at`. */
  readonly under?: readonly string[];
  /** The value with 0.5 for each whole number that was written with a fraction or an exponent, if it has any. */
  readonly halves?: unknown;
}

/** All issues with their whole paths, those of alternatives too. */
const flat = (issues: readonly ZodIssue[], at: readonly PropertyKey[] = []): readonly ZodIssue[] =>
  issues.flatMap((issue) => {
    const path = [...at, ...issue.path];
    const inner = issue.code === 'invalid_union' ? issue.errors.flatMap((errors) => flat(errors, path)) : [];
    return [{ ...issue, path }, ...inner];
  });

const isIntWanted = (issue: ZodIssue): boolean => issue.code === 'invalid_type' && issue.expected === 'int';

const ODD_INTEGER = 'Expected a whole number, written without a fraction or an exponent.';

const pathsOfNoInt = (issues: readonly ZodIssue[]): readonly (readonly PropertyKey[])[] =>
  flat(issues)
    .filter(isIntWanted)
    .map(({ path }) => path);

const placeOf = (path: readonly PropertyKey[]): string => JSON.stringify(path.map(keyText));

/** Integers are read as written: where the schema wants one, `5.0` is none. `told` is wrong with the value itself. */
const oddIssues = (
  { at, under = [], schema, halves }: Part,
  told: readonly ZodIssue[],
): readonly RequestIssue[] => {
  if (schema === undefined || halves === undefined) return [];
  const result = schema.safeParse(halves, { reportInput: true });
  const known = new Set(pathsOfNoInt(told).map(placeOf));
  return pathsOfNoInt(result.error?.issues ?? [])
    .filter((path) => !known.has(placeOf(path)))
    .map((path) => ({ loc: [at, ...under, ...path.map(keyText)], msg: ODD_INTEGER, type: 'invalid_type' }));
};

/** Checks all parts and reports everything that is wrong at once, as one `validation_error`. */
export const validate = (parts: readonly Part[]): readonly unknown[] => {
  const issues: RequestIssue[] = [];
  const values = parts.map((part) => {
    const { at, under = [], schema, value } = part;
    if (schema === undefined) return undefined;
    const result = schema.safeParse(value, { reportInput: true });
    const wrong = result.error?.issues.slice(0, ISSUES_MAX) ?? [];
    issues.push(...wrong.flatMap((issue) => issuesOf(issue, [at, ...under])));
    issues.push(...oddIssues(part, result.error?.issues ?? []));
    return result.data;
  });
  if (issues.length > 0) throw invalid(...issues.slice(0, ISSUES_MAX));
  return values;
};
