import { resolveLocal } from '../schema/schemaReference.ts';
import type { JsonObject } from '../../kernel/json.ts';

/** The schemas that speak about one place of a value: its own and those of every way it may take. */
export interface Schemas {
  readonly root: JsonObject;
  readonly schemas: readonly unknown[];
}

const WAYS = ['anyOf', 'oneOf', 'allOf'] as const;
const HOPS_MAX = 12;
const SCHEMAS_MAX = 64;

export const asSchema = (value: unknown): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

/** A schema with all that it refers to or chooses from; bounded, for references may go round. */
export function unfolded(root: JsonObject, raw: unknown): readonly JsonObject[] {
  const all = new Set<JsonObject>();
  let level: readonly unknown[] = [raw];
  for (let hop = 0; hop < HOPS_MAX && level.length > 0; hop += 1) {
    const fresh = level.map(asSchema).filter((one): one is JsonObject => one !== undefined && !all.has(one));
    for (const one of fresh.slice(0, SCHEMAS_MAX - all.size)) all.add(one);
    level = all.size >= SCHEMAS_MAX ? [] : fresh.flatMap((one) => waysOf(root, one));
  }
  return [...all];
}

function waysOf(root: JsonObject, schema: JsonObject): readonly unknown[] {
  const { $ref } = schema;
  const ways = WAYS.flatMap((name): readonly unknown[] => {
    const list = schema[name];
    return Array.isArray(list) ? list : [];
  });
  return typeof $ref === 'string' ? [resolveLocal(root, $ref), ...ways] : ways;
}

/**
 * A schema with all that must hold beside it: what it refers to, all parts of `allOf`, and the only way of
 * `anyOf` or `oneOf` that is not null. Which of several ways a value takes is not known.
 */
export function definitely(root: JsonObject, raw: unknown): readonly JsonObject[] {
  const all = new Set<JsonObject>();
  let level: readonly unknown[] = [raw];
  for (let hop = 0; hop < HOPS_MAX && level.length > 0; hop += 1) {
    const fresh = level.map(asSchema).filter((one): one is JsonObject => one !== undefined && !all.has(one));
    for (const one of fresh) all.add(one);
    level = fresh.flatMap((one) => partsOf(root, one));
  }
  return [...all];
}

function partsOf(root: JsonObject, { $ref, allOf, anyOf, oneOf }: JsonObject): readonly unknown[] {
  const only = [anyOf, oneOf].flatMap((list): readonly unknown[] => {
    const ways = Array.isArray(list) ? list.filter((way) => asSchema(way)?.['type'] !== 'null') : [];
    return ways.length === 1 ? ways : [];
  });
  const parts: readonly unknown[] = Array.isArray(allOf) ? allOf : [];
  return typeof $ref === 'string' ? [resolveLocal(root, $ref), ...parts, ...only] : [...parts, ...only];
}

/** The schemas of a member of an object, or of an item of an array. */
export function memberSchemas({ root, schemas }: Schemas, key: string | number): Schemas {
  const all = schemas.flatMap((schema) => unfolded(root, schema));
  const found =
    typeof key === 'number'
      ? all.flatMap((one) => itemOf(one, key))
      : all.flatMap((one) => propertyOf(one, key));
  return { root, schemas: found };
}

function itemOf(schema: JsonObject, index: number): readonly unknown[] {
  const { items, prefixItems } = schema;
  const places: unknown = prefixItems ?? items;
  if (Array.isArray(places) && index < places.length) return [places[index]];
  const rest = Array.isArray(items) ? schema['additionalItems'] : items;
  return rest === undefined ? [] : [rest];
}

function propertyOf(schema: JsonObject, name: string): readonly unknown[] {
  const properties = asSchema(schema['properties']);
  if (properties !== undefined && Object.hasOwn(properties, name)) return [properties[name]];
  const rest = schema['additionalProperties'];
  return rest === undefined ? [] : [rest];
}

/** Whether the value of such a place is picked from a list, not read: an enumeration or a constant. */
export const isChoice = ({ root, schemas }: Schemas): boolean =>
  schemas
    .flatMap((schema) => unfolded(root, schema))
    .some((schema) => Array.isArray(schema['enum']) || 'const' in schema);
