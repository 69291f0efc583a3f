import type { Json, JsonObject } from '../../kernel/json.ts';

/** Members of a schema that hold schemas by name, and those that hold one or a list of them. */
const BY_NAME = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const INSIDE = new Set([
  ...[
    'items',
    'prefixItems',
    'additionalItems',
    'additionalProperties',
    'contains',
    'allOf',
    'anyOf',
    'oneOf',
  ],
  ...['if', 'then', 'else'],
]);
/** What a part of a document need not have, for another may. */
const OF_THE_WHOLE = new Set(['required', 'minItems', 'minProperties', 'contains', 'dependentRequired']);

const isObjectSchema = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema of what one part of a document says: nothing is required of it. */
export const relaxedSchema = (schema: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([name]) => !OF_THE_WHOLE.has(name))
      // Ways that differ in what they require are all open now.
      .map(([name, value]) => [name === 'oneOf' ? 'anyOf' : name, relaxedMember(name, value)]),
  );

function relaxedMember(name: string, value: Json): Json {
  if (BY_NAME.has(name) && isObjectSchema(value))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, relaxed(one)]));
  return INSIDE.has(name) ? relaxed(value) : value;
}

function relaxed(value: Json): Json {
  if (Array.isArray(value)) return value.map((one: Json) => relaxed(one));
  return isObjectSchema(value) ? relaxedSchema(value) : value;
}
