import type { z } from 'zod';
import { Problem } from './problems.ts';
import type { RequestIssue } from './problems.ts';

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
}

/** Checks all parts and reports everything that is wrong at once, as one `validation_error`. */
export const validate = (parts: readonly Part[]): readonly unknown[] => {
  const issues: RequestIssue[] = [];
  const values = parts.map(({ at, under = [], schema, value }) => {
    if (schema === undefined) return undefined;
    const result = schema.safeParse(value, { reportInput: true });
    if (!result.success)
      issues.push(...result.error.issues.flatMap((issue) => issuesOf(issue, [at, ...under])));
    return result.data;
  });
  if (issues.length > 0) throw new Problem('validation_error', { detail: issues.slice(0, ISSUES_MAX) });
  return values;
};
