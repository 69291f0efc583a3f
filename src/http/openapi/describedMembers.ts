import members from './members.json' with { type: 'json' };
import type { Json } from './openapiSchemas.ts';

/** A sentence by the name of a member; `Schema.member` goes before `member`, for a name means one thing mostly. */
const SENTENCES: Readonly<Record<string, string>> = members;

/** Keywords of a schema that hold schemas of the same place. */
const INSIDE = ['items', 'additionalProperties', 'anyOf', 'oneOf', 'allOf'] as const;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The sentence that a member gets which says nothing of itself. */
export const sentenceOf = (owner: string, name: string): string | undefined =>
  SENTENCES[`${owner}.${name}`] ?? SENTENCES[name];

const describedMember = (owner: string, name: string, member: unknown): unknown => {
  const inner = described(member, `${owner}.${name}`);
  const sentence = sentenceOf(owner, name);
  if (!isObject(inner) || 'description' in inner || sentence === undefined) return inner;
  return { description: sentence, ...inner };
};

/**
 * A schema whose members all say what they are. `owner` is the schema's name, or the operation's, with the
 * members on the way. What a schema says of itself stays.
 */
export const described = (schema: unknown, owner: string): unknown => {
  if (Array.isArray(schema)) return schema.map((one) => described(one, owner));
  if (!isObject(schema)) return schema;
  const { properties } = schema;
  const inside = INSIDE.filter((keyword) => keyword in schema).map((keyword) => [
    keyword,
    described(schema[keyword], owner),
  ]);
  return {
    ...schema,
    ...(isObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, member]) => [name, describedMember(owner, name, member)]),
      ),
    }),
    ...(Object.fromEntries(inside) as Json),
  };
};
