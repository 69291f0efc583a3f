import { asObject, isList, listOf, type JsonObject } from '../../kernel/json.ts';
import { resolveLocal } from '../../kernel/schemaReference.ts';

/** Whether a schema admits null: because it says so, because nothing speaks against it, or not at all. */
export type Nullness = 'said' | 'unsaid' | 'no';

/** References and alternatives are followed this far; deeper, nothing is said. */
const HOPS_MAX = 12;

/** All of them at once: one no is a no. */
export const together = (all: readonly Nullness[]): Nullness => {
  if (all.includes('no')) return 'no';
  return all.includes('said') ? 'said' : 'unsaid';
};

/** One of them: one yes is a yes. */
const either = (all: readonly Nullness[]): Nullness => {
  if (all.includes('said')) return 'said';
  return all.includes('unsaid') ? 'unsaid' : 'no';
};

const fact = (admits: boolean): Nullness => (admits ? 'said' : 'no');

function ofType({ type, nullable }: JsonObject): Nullness {
  if (type === undefined) return 'unsaid';
  return fact(nullable === true || type === 'null' || listOf(type).includes('null'));
}

/** By `type`, `enum`, `const`, `$ref` and the alternatives of a schema, whatever stands where. */
export function nullnessOf(root: JsonObject, raw: unknown, hops = 0): Nullness {
  if (raw === false) return 'no';
  const schema = asObject(raw);
  if (schema === undefined || hops > HOPS_MAX) return 'unsaid';
  const of = (way: unknown): Nullness => nullnessOf(root, way, hops + 1);
  const { $ref, anyOf, oneOf, allOf, enum: choices } = schema;
  const ways = [anyOf, oneOf].filter(isList);
  return together([
    ofType(schema),
    ...(Array.isArray(choices) ? [fact(choices.includes(null))] : []),
    ...('const' in schema ? [fact(schema['const'] === null)] : []),
    ...(typeof $ref === 'string' ? [of(resolveLocal(root, $ref))] : []),
    ...listOf(allOf).map(of),
    ...ways.map((list) => either(list.map(of))),
  ]);
}
