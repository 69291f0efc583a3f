import { z } from 'zod';

/** A piece of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

/** Schemas that have an `id`, gathered from all routes. */
export type Components = Record<string, unknown>;

/** Where named schemas live. */
export const COMPONENT = '#/components/schemas/';

/** JSON Schema's `$defs` become components; references follow. */
const rehomed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(rehomed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === '$ref' && typeof member === 'string' ? member.replace('#/$defs/', COMPONENT) : rehomed(member),
    ]),
  );
};

interface Converted {
  readonly zodSchema: z.core.$ZodTypes;
  readonly jsonSchema: Record<string, unknown>;
}

/** An empty text is taken too, and counts as absent. */
const orEmpty = (jsonSchema: Record<string, unknown>): void => {
  const { 'x-or-empty': _, description, ...rest } = jsonSchema;
  for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
  Object.assign(jsonSchema, description === undefined ? {} : { description }, {
    anyOf: [rest, { type: 'string', enum: [''] }],
  });
};

/**
 * What a member is documented as, where its own schema is about text of a URL or form. zod leaves out the
 * default of such a member, for it is given in what the text becomes.
 */
const asDocumented = ({ zodSchema, jsonSchema }: Converted): void => {
  const documented = jsonSchema['x-wire'];
  const { description } = jsonSchema;
  if (typeof documented === 'object' && documented !== null) {
    for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
    Object.assign(jsonSchema, description === undefined ? {} : { description }, documented);
  }
  if (jsonSchema['x-or-empty'] === true) orEmpty(jsonSchema);
  const { def } = zodSchema._zod;
  if (def.type === 'union' && 'discriminator' in def)
    jsonSchema['discriminator'] = { propertyName: def.discriminator };
  if (def.type === 'default') jsonSchema['default'] = def.defaultValue;
};

/** A zod schema as OpenAPI 3.1 has it; named ones go to `components` and leave a reference. */
export const schemaOf = (schema: z.ZodType, io: 'input' | 'output', components: Components): Json => {
  const { $defs = {}, ...top } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: asDocumented,
  }) as Record<string, unknown>;
  for (const [id, definition] of Object.entries($defs as Record<string, unknown>))
    components[id] = rehomed(definition);
  const { $schema: _, id, ...plain } = rehomed(top) as Record<string, unknown>;
  if (typeof id !== 'string') return plain;
  components[id] = plain;
  return { $ref: `${COMPONENT}${id}` };
};
