/** What JSON can carry exactly: no bigint, no Date, no NaN, no undefined. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/**
 * A member that an object has itself. Names of strangers are looked up by this alone: plain indexing finds
 * `constructor` and `toString` in every object.
 */
export const ownMember = <Value>(
  object: Readonly<Record<string, Value>> | undefined,
  name: string,
): Value | undefined => (object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined);

export const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value, where it is an object. */
export const asObject = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined);

/** The items of a list; none of what is no list. */
export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : [];

/** The JSON Pointer of a member: `/a~1b` for `a/b` of the whole value, whose own pointer is empty. */
export const memberPointer = (at: string, name: string | number): string =>
  `${at}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** One part of a JSON Pointer as the name that it stands for. */
export const pointedName = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');
