import { digestOf } from './chain.ts';

/**
 * Digest of what a caller asked for. Members that are null or undefined count as left out, at any depth
 * of objects, so that an explicit null and an absent member are one payload. Only what the caller sent
 * belongs in it: IDs and times made here would make an honest retry look different.
 */
export const fingerprint = (payload: Readonly<Record<string, unknown>>): string =>
  digestOf(withoutNulls(payload));

const withoutNulls = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutNulls);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null && member !== undefined)
      .map(([key, member]) => [key, withoutNulls(member)]),
  );
};
