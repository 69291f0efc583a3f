import { resolveLocal } from '../../kernel/schemaReference.ts';
import { asObject, listOf, type JsonObject } from '../../kernel/json.ts';

/** The schemas that speak about one place of a value: its own and those of every way it may take. */
export interface Schemas {
  readonly root: JsonObject;
  readonly schemas: readonly unknown[];
}

const WAYS = ['anyOf', 'oneOf', 'allOf'] as const;
const HOPS_MAX = 12;
const SCHEMAS_MAX = 64;

/** Schemas with those that each leads to, and those lead to; bounded, for references may go round. */
function followed(
  raw: unknown,
  leadsTo: (schema: JsonObject) => readonly unknown[],
  most = Infinity,
): readonly JsonObject[] {
  const all = new Set<JsonObject>();
  let level: readonly unknown[] = [raw];
  for (let hop = 0; hop < HOPS_MAX && level.length > 0 && all.size < most; hop += 1) {
    const fresh = level.map(asObject).filter((one): one is JsonObject => one !== undefined && !all.has(one));
    for (const one of fresh.slice(0, most - all.size)) all.add(one);
    level = fresh.flatMap(leadsTo);
  }
  return [...all];
}

const referredTo = (root: JsonObject, { $ref }: JsonObject): readonly unknown[] =>
  typeof $ref === 'string' ? [resolveLocal(root, $ref)] : [];

/** A schema with all that it refers to or chooses from. */
export const unfolded = (root: JsonObject, raw: unknown): readonly JsonObject[] =>
  followed(
    raw,
    (schema) => [...referredTo(root, schema), ...WAYS.flatMap((name) => listOf(schema[name]))],
    SCHEMAS_MAX,
  );

/**
 * A schema with all that must hold beside it: what it refers to, all parts of `allOf`, and the only way of
 * `anyOf` or `oneOf` that is not null. Which of several ways a value takes is not known.
 */
export const definitely = (root: JsonObject, raw: unknown): readonly JsonObject[] =>
  followed(raw, (schema) => [
    ...referredTo(root, schema),
    ...listOf(schema['allOf']),
    ...[schema['anyOf'], schema['oneOf']].flatMap((list) => {
      const ways = listOf(list).filter((way) => asObject(way)?.['type'] !== 'null');
      return ways.length === 1 ? ways : [];
    }),
  ]);

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
  const properties = asObject(schema['properties']);
  if (properties !== undefined && Object.hasOwn(properties, name)) return [properties[name]];
  const rest = schema['additionalProperties'];
  return rest === undefined ? [] : [rest];
}

/** Whether the value of such a place is picked from a list, not read: an enumeration or a constant. */
export const isChoice = ({ root, schemas }: Schemas): boolean =>
  schemas
    .flatMap((schema) => unfolded(root, schema))
    .some((schema) => Array.isArray(schema['enum']) || 'const' in schema);
