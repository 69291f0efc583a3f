import { resolveLocal } from '../extraction/schemaReference.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { memberSchemas, type Schemas } from './groundingSchema.ts';

/** References and alternatives are followed this far; deeper, anything is allowed. */
const HOPS_MAX = 12;

/**
 * A model's answer without the nulls that the schema does not allow, and without the optional objects that
 * are empty then. Models fill every member; callers mean "absent".
 */
export function withoutNulls(schema: JsonObject, value: JsonObject): JsonObject {
  return objectWithout({ root: schema, schemas: [schema] }, value);
}

function kept(schemas: Schemas, value: Json): Json | undefined {
  if (value === null)
    return schemas.schemas.every((schema) => allowsNull(schemas.root, schema)) ? null : undefined;
  if (typeof value !== 'object') return value;
  if (isList(value))
    return value.flatMap((item, i) => kept(memberSchemas(schemas, i), item) ?? droppedItem(schemas, i, item));
  return objectWithout(schemas, value);
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

/** `null` that may stay is no absence. */
const droppedItem = (schemas: Schemas, index: number, item: Json): readonly Json[] =>
  item === null && kept(memberSchemas(schemas, index), item) === null ? [null] : [];

function objectWithout(schemas: Schemas, value: JsonObject): JsonObject {
  const required = new Set(schemas.schemas.flatMap(requiredOf));
  const entries = Object.entries(value).flatMap(([key, member]): [string, Json][] => {
    const left = kept(memberSchemas(schemas, key), member);
    if (left === undefined || (!required.has(key) && isEmptied(member, left))) return [];
    return [[key, left]];
  });
  return Object.fromEntries(entries);
}

const isEmptied = (before: Json, after: Json): boolean =>
  hasMembers(before) && !hasMembers(after) && !isList(after);

const hasMembers = (value: Json): boolean =>
  typeof value !== 'object' || value === null || isList(value) || Object.keys(value).length > 0;

const requiredOf = (schema: unknown): readonly unknown[] => {
  const required = (schema as JsonObject | null)?.['required'];
  return Array.isArray(required) ? required : [];
};

function allowsNull(root: JsonObject, raw: unknown, hops = 0): boolean {
  if (typeof raw !== 'object' || raw === null || hops > HOPS_MAX) return raw !== false;
  const schema = raw as JsonObject;
  const { $ref, anyOf, oneOf, allOf } = schema;
  const allows = (way: unknown): boolean => allowsNull(root, way, hops + 1);
  if (!ownTypeAllowsNull(schema)) return false;
  if (typeof $ref === 'string' && !allows(resolveLocal(root, $ref))) return false;
  if (Array.isArray(allOf) && !allOf.every(allows)) return false;
  return [anyOf, oneOf].every((ways) => !Array.isArray(ways) || ways.some(allows));
}

function ownTypeAllowsNull(schema: JsonObject): boolean {
  const { type, enum: choices } = schema;
  if (schema['nullable'] !== true && typeof type === 'string' && type !== 'null') return false;
  if (schema['nullable'] !== true && Array.isArray(type) && !type.includes('null')) return false;
  if (Array.isArray(choices) && !choices.includes(null)) return false;
  return !('const' in schema) || schema['const'] === null;
}
