import { asObject, listOf, type Json, type JsonObject } from '../../kernel/json.ts';
import { resolveLocal } from '../../kernel/schemaReference.ts';

/** One way to read a schema: without references and alternatives, and with the schemas that it was met in. */
export interface Way {
  readonly schema: JsonObject;
  /** All that was met on the way to it: a schema that holds itself ends there. */
  readonly around: ReadonlySet<unknown>;
}

/** Alternatives of one place; more are left out, for those of parts multiply. */
const WAYS_MAX = 12;
const HOPS_MAX = 24;

/**
 * The ways to read a schema, in its order: `$ref` followed, `allOf` put together, each of `anyOf` and `oneOf` that is
 * not null by itself, and a list of types as one way for each that is built otherwise. None where only null may
 * stand, or where the schema leads back to what is around it. Words that are not known are passed over.
 */
export function waysOf(asked: SchemaWithin): readonly Way[] {
  return byReference({ ...asked, hops: 0 })
    .flatMap(byType)
    .slice(0, WAYS_MAX);
}

interface SchemaWithin {
  readonly root: JsonObject;
  readonly raw: unknown;
  /** The schemas around it. */
  readonly around: ReadonlySet<unknown>;
  /** Called where a schema is left out because it holds itself. */
  readonly cut: () => void;
}

interface Step extends SchemaWithin {
  /** References and alternatives that were followed. */
  readonly hops: number;
}

const ANYTHING: JsonObject = {};

function byReference({ root, raw, around, cut, hops }: Step): readonly Way[] {
  const schema = raw === true ? ANYTHING : asObject(raw);
  if (schema === undefined || hops > HOPS_MAX) return [];
  if (around.has(schema)) {
    cut();
    return [];
  }
  const met = new Set(around).add(schema);
  const of = (next: unknown): readonly Way[] =>
    byReference({ root, raw: next, around: met, cut, hops: hops + 1 });
  const { $ref, allOf, anyOf, oneOf } = schema;
  let ways: readonly Way[] = [{ schema: ownMembers(schema), around: met }];
  const parts = typeof $ref === 'string' ? [resolveLocal(root, $ref) ?? ANYTHING] : [];
  for (const part of [...parts, ...listOf(allOf)]) ways = crossed(ways, of(part));
  for (const list of [anyOf, oneOf].map(listOf)) if (list.length > 0) ways = crossed(ways, list.flatMap(of));
  return ways.filter((way) => !isNullAlone(way.schema));
}

/** Every way with each that stands beside it; what asks for the same members in the same way is one. */
function crossed(ways: readonly Way[], beside: readonly Way[]): readonly Way[] {
  const all: Way[] = [];
  for (const way of ways)
    for (const other of beside) {
      const schema = together(other.schema, way.schema);
      if (all.length >= WAYS_MAX || all.some((one) => isAlike(one.schema, schema))) continue;
      all.push({ schema, around: new Set([...way.around, ...other.around]) });
    }
  return all;
}

/** Two ways may differ in what they call for alone: either of two members is required. */
const isAlike = (one: JsonObject, other: JsonObject): boolean => {
  const [a, b] = [one, other].map((schema) => Object.keys(schema).filter((key) => key !== 'required'));
  return a !== undefined && a.length === b?.length && a.every((key) => one[key] === other[key]);
};

const FOLLOWED = new Set(['$ref', 'anyOf', 'oneOf', 'allOf']);

const ownMembers = (schema: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => !FOLLOWED.has(key)));

/** Two schemas that hold at once; where both say the same thing, what stands nearer is asked. */
function together(other: JsonObject, near: JsonObject): JsonObject {
  const both: JsonObject = { ...other, ...near };
  return Object.fromEntries(
    Object.entries(both).map(([key, value]): [string, Json] => {
      const [a, b] = [Object.hasOwn(other, key) ? other[key] : undefined, Object.hasOwn(near, key)];
      return a === undefined || !b ? [key, value] : [key, JOINED.get(key)?.(a, value) ?? value];
    }),
  );
}

type Joined = (other: Json, near: Json) => Json | undefined;

/** Both hold: what is below them is put together when it is its turn. */
const allOfBoth: Joined = (other, near) => ({ allOf: [other, near] });

const mapOfBoth: Joined = (other, near) => {
  const [a, b] = [asObject(other), asObject(near)];
  if (a === undefined || b === undefined) return undefined;
  const members = new Map<string, Json>(Object.entries(a));
  for (const [name, value] of Object.entries(b)) {
    const before = members.get(name);
    members.set(name, before === undefined ? value : { allOf: [before, value] });
  }
  return Object.fromEntries(members);
};

const JOINED: ReadonlyMap<string, Joined> = new Map<string, Joined>([
  ['properties', mapOfBoth],
  ['patternProperties', mapOfBoth],
  ['items', allOfBoth],
  ['required', (other, near) => [...new Set([...listOf(other), ...listOf(near)])] as Json],
  ['enum', (other, near) => inBoth(listOf(other), listOf(near)) as Json],
  ['type', (other, near) => narrowed(other, near)],
]);

const inBoth = (other: readonly unknown[], near: readonly unknown[]): readonly unknown[] => {
  const known = new Set(other.map((one) => JSON.stringify(one)));
  return near.filter((one) => known.has(JSON.stringify(one)));
};

/** Types that both allow: an integer is a number. */
function narrowed(other: Json, near: Json): Json {
  const [a, b] = [typesIn(other), typesIn(near)];
  const both = b.flatMap((one) => {
    if (a.includes(one)) return [one];
    if (one === 'number' && a.includes('integer')) return ['integer'];
    return one === 'integer' && a.includes('number') ? ['integer'] : [];
  });
  return both.length === 0 ? near : both;
}

const typesIn = (type: unknown): readonly string[] =>
  (Array.isArray(type) ? (type as unknown[]) : [type]).filter((one) => typeof one === 'string');

const isNullAlone = ({ type, enum: choices, const: fixed }: JsonObject): boolean =>
  fixed === null ||
  (type !== undefined && typesIn(type).every((one) => one === 'null')) ||
  (Array.isArray(choices) && choices.length > 0 && choices.every((one) => one === null));

const BUILT = ['object', 'array'] as const;

/** A list of types as ways of one build each: an object, a list, or a value of any of the types that are left. */
function byType({ schema, around }: Way): readonly Way[] {
  if (!Array.isArray(schema['type'])) return [{ schema, around }];
  const types = typesIn(schema['type']).filter((one) => one !== 'null');
  const isBuilt = (one: string): boolean => BUILT.some((built) => built === one);
  const values = types.filter((one) => !isBuilt(one));
  return [...types.filter(isBuilt), ...(values.length > 0 ? [values] : [])].map((type) => ({
    schema: { ...schema, type: typeof type === 'string' ? type : oneOrAll(type) },
    around,
  }));
}

const oneOrAll = (types: readonly string[]): Json => (types.length === 1 ? (types[0] ?? 'string') : types);

/** The types that a value of a schema may have that is no object and no list; `string` where none is said. */
export function valueTypes({ type, enum: choices, const: fixed }: JsonObject): readonly string[] {
  const said = typesIn(type).filter((one) => one !== 'null');
  if (said.length > 0) return said;
  const values = Array.isArray(choices) ? (choices as readonly Json[]) : fixed === undefined ? [] : [fixed];
  const told = values.map((value) => (value === null ? 'null' : typeof value));
  const kinds = [...new Set(told)].filter((one) => one === 'string' || one === 'number' || one === 'boolean');
  return kinds.length > 0 ? kinds : ['string'];
}

/** How a way is built. Without a type the words tell: `properties` of an object, `items` of a list. */
export function buildOf({ type, ...schema }: JsonObject): 'object' | 'array' | 'value' {
  if (type === 'object' || type === 'array') return type;
  if (type !== undefined) return 'value';
  const has = (words: readonly string[]): boolean => words.some((word) => schema[word] !== undefined);
  if (has(['properties', 'patternProperties', 'additionalProperties'])) return 'object';
  return has(['items', 'prefixItems']) ? 'array' : 'value';
}
