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
