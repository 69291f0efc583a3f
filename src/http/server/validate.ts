import type { z } from 'zod';
import { withHalvesAt, type JsonPath } from './jsonAsWritten.ts';
import { Problem } from '../problems.ts';
import type { RequestIssue } from '../problems.ts';

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
  /** Whole numbers in it that were written with a fraction or an exponent. */
  readonly oddIntegers?: readonly JsonPath[] | undefined;
}

/** All issues with their whole paths, those of alternatives too. */
const flat = (issues: readonly ZodIssue[], at: readonly PropertyKey[] = []): readonly ZodIssue[] =>
  issues.flatMap((issue) => {
    const path = [...at, ...issue.path];
    const inner = issue.code === 'invalid_union' ? issue.errors.flatMap((errors) => flat(errors, path)) : [];
    return [{ ...issue, path }, ...inner];
  });

const isIntWanted = (issue: ZodIssue): boolean => issue.code === 'invalid_type' && issue.expected === 'int';

const samePath = (a: readonly PropertyKey[], b: JsonPath): boolean =>
  a.length === b.length && a.every((step, index) => step === b[index]);

/** Integers are read as written: where the schema wants one, `5.0` is none. */
const oddIssues = ({ at, under = [], schema, value, oddIntegers = [] }: Part): readonly RequestIssue[] => {
  if (schema === undefined || oddIntegers.length === 0) return [];
  const result = schema.safeParse(withHalvesAt(value, oddIntegers), { reportInput: true });
  const wanted = flat(result.error?.issues ?? []).filter(isIntWanted);
  const isWanted = (path: JsonPath) => wanted.some((issue) => samePath(issue.path, path));
  return oddIntegers
    .slice(0, ISSUES_MAX)
    .filter(isWanted)
    .map((path) => ({ loc: [at, ...under, ...path], msg: ODD_INTEGER, type: 'invalid_type' }));
};

const ODD_INTEGER = 'Expected a whole number, written without a fraction or an exponent.';

/** Checks all parts and reports everything that is wrong at once, as one `validation_error`. */
export const validate = (parts: readonly Part[]): readonly unknown[] => {
  const issues: RequestIssue[] = [];
  const values = parts.map((part) => {
    const { at, under = [], schema, value } = part;
    if (schema === undefined) return undefined;
    const result = schema.safeParse(value, { reportInput: true });
    if (!result.success)
      issues.push(...result.error.issues.flatMap((issue) => issuesOf(issue, [at, ...under])));
    issues.push(...oddIssues(part));
    return result.data;
  });
  if (issues.length > 0) throw new Problem('validation_error', { detail: issues.slice(0, ISSUES_MAX) });
  return values;
};
