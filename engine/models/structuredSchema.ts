import type { Json, JsonObject } from '../kernel/json.ts';
import { resolveLocal } from '../kernel/schemaReference.ts';

/** What a provider's way of holding a model to a schema understands. */
export type SchemaDialect = 'openai' | 'openai_like' | 'anthropic' | 'google';

interface DialectRules {
  /** Optional properties are listed as required, and may be null. */
  readonly allRequired: boolean;
  readonly closed: boolean;
  readonly stringEnumsOnly: boolean;
  readonly formats: ReadonlySet<string>;
  /** Properties that may be left out, and values of several types: beyond these a schema is refused. */
  readonly optionalMax: number;
  readonly unionsMax: number;
}

const NO_FORMATS: ReadonlySet<string> = new Set();
const OPENAI_LIKE: DialectRules = {
  allRequired: true,
  closed: true,
  stringEnumsOnly: false,
  formats: NO_FORMATS,
  optionalMax: Infinity,
  unionsMax: Infinity,
};

/** What each dialect understands. */
const RULES: Record<SchemaDialect, DialectRules> = {
  openai: { ...OPENAI_LIKE, formats: new Set(['date-time', 'time', 'date', 'duration', 'email', 'uuid']) },
  openai_like: OPENAI_LIKE,
  anthropic: { ...OPENAI_LIKE, allRequired: false, optionalMax: 24, unionsMax: 16 },
  google: { ...OPENAI_LIKE, allRequired: false, closed: false, stringEnumsOnly: true },
};

/** Limits of the strictest provider. */
const DEPTH_MAX = 10;
const PROPERTIES_MAX = 5_000;
const ENUM_VALUES_MAX = 1_000;
/** Steps of the translation, references included: a schema within the service's own limits takes fewer. */
const NODES_MAX = 10_000;

interface Walk {
  readonly root: JsonObject;
  readonly rules: DialectRules;
  readonly counts: { nodes: number; properties: number; enums: number; optional: number; unions: number };
}

/** Where the walk is: how deep, and by which references it came. */
interface WalkPosition {
  readonly depth: number;
  readonly refs: readonly string[];
}

/**
 * A caller's JSON Schema in the words of a provider: constraints that it does not know go into descriptions,
 * references are written out. What it accepts is never narrower than the caller's schema, but for nulls in
 * place of properties that are left out. undefined: the provider cannot be held to this schema (recursion,
 * open maps, tuples, more than its limits).
 */
export const structuredSchema = (schema: JsonObject, dialect: SchemaDialect): JsonObject | undefined => {
  const counts = { nodes: 0, properties: 0, enums: 0, optional: 0, unions: 0 };
  const rules = RULES[dialect];
  const converted = convert(schema, { root: schema, rules, counts }, { depth: 0, refs: [] });
  if (converted === undefined || converted['type'] !== 'object') return undefined;
  const fits =
    counts.properties <= PROPERTIES_MAX &&
    counts.enums <= ENUM_VALUES_MAX &&
    counts.optional <= rules.optionalMax &&
    counts.unions <= rules.unionsMax;
  return fits ? converted : undefined;
};

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);

function convert(node: Json | undefined, walk: Walk, place: WalkPosition): JsonObject | undefined {
  walk.counts.nodes += 1;
  if (!isObject(node) || place.depth > DEPTH_MAX || walk.counts.nodes > NODES_MAX) return undefined;
  const ref = node['$ref'];
  if (typeof ref === 'string') return convertRef(node, ref, { walk, place });
  const whole = withOnlyPart(node);
  if (whole === undefined) return undefined;
  const types = typesOf(whole);
  if (types.length === 0) return convertUnion(whole, walk, place);
  return convertTyped(whole, types, { walk, place });
}

interface At {
  readonly walk: Walk;
  readonly place: WalkPosition;
}

/** Written out in its place; what stands beside a reference adds to it. */
function convertRef(node: JsonObject, ref: string, { walk, place }: At): JsonObject | undefined {
  if (place.refs.includes(ref)) return undefined;
  const target = resolveLocal(walk.root, ref) as Json | undefined;
  if (!isObject(target)) return undefined;
  const beside = Object.fromEntries(Object.entries(node).filter(([word]) => word !== '$ref'));
  return convert({ ...target, ...beside }, walk, { ...place, refs: [...place.refs, ref] });
}

/** `allOf` of one part is that part; of more, it has no counterpart. */
function withOnlyPart(node: JsonObject): JsonObject | undefined {
  const parts = listOf(node['allOf']);
  const [part] = parts;
  if (parts.length === 0) return node;
  if (parts.length > 1 || !isObject(part) || '$ref' in part) return undefined;
  return { ...part, ...Object.fromEntries(Object.entries(node).filter(([word]) => word !== 'allOf')) };
}

const typeOfValue = (value: Json): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
};

/** As the schema says, or as its properties, items or values show. */
function typesOf(node: JsonObject): readonly string[] {
  const { type } = node as { readonly type?: Json };
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return (type as Json[]).filter((one): one is string => typeof one === 'string');
  if (isObject(node['properties'])) return ['object'];
  if (isObject(node['items'])) return ['array'];
  return [...new Set(valuesOf(node)?.map(typeOfValue) ?? [])];
}

/** The values of `enum` or `const`. */
const valuesOf = (node: JsonObject): readonly Json[] | undefined => {
  if (Array.isArray(node['enum'])) return listOf(node['enum']);
  const only = node['const'];
  return only === undefined ? undefined : [only];
};

function convertUnion(node: JsonObject, walk: Walk, place: WalkPosition): JsonObject | undefined {
  const choices = [...listOf(node['anyOf']), ...listOf(node['oneOf'])];
  if (choices.length === 0 || place.depth === 0) return undefined;
  walk.counts.unions += 1;
  const converted: JsonObject[] = [];
  for (const choice of choices) {
    const one = convert(choice, walk, { ...place, depth: place.depth + 1 });
    if (one === undefined) return undefined;
    converted.push(one);
  }
  return { ...described(node, []), anyOf: converted };
}

function convertTyped(
  node: JsonObject,
  types: readonly string[],
  { walk, place }: At,
): JsonObject | undefined {
  if (types.length > 1) walk.counts.unions += 1;
  const inside = { ...place, depth: place.depth + 1 };
  const object = types.includes('object') ? objectPart(node, walk, inside) : {};
  const array = types.includes('array') ? arrayPart(node, walk, inside) : {};
  if (object === undefined || array === undefined) return undefined;
  const values = valuePart(node, walk);
  const format = node['format'];
  const known = typeof format === 'string' && walk.rules.formats.has(format) ? { format } : {};
  return {
    ...described(node, Object.keys({ ...known, ...values })),
    type: types.length === 1 ? (types[0] ?? null) : types,
    ...values,
    ...known,
    ...object,
    ...array,
  };
}

function valuePart(node: JsonObject, { rules, counts }: Walk): JsonObject {
  const values = valuesOf(node);
  if (values === undefined) return {};
  counts.enums += values.length;
  const strings = values.every((value) => typeof value === 'string');
  return strings || !rules.stringEnumsOnly ? { enum: values } : {};
}

function objectPart(node: JsonObject, walk: Walk, place: WalkPosition): JsonObject | undefined {
  const properties = node['properties'];
  if (!isObject(properties) || isObject(node['additionalProperties']) || 'patternProperties' in node)
    return undefined;
  const required = new Set(listOf(node['required']));
  const names = Object.keys(properties);
  walk.counts.properties += names.length;
  walk.counts.optional += names.filter((name) => !required.has(name)).length;
  const converted: [string, JsonObject][] = [];
  for (const name of names) {
    const property = convert(properties[name], walk, place);
    if (property === undefined) return undefined;
    converted.push([name, walk.rules.allRequired && !required.has(name) ? orNull(property) : property]);
  }
  return {
    properties: Object.fromEntries(converted),
    required: walk.rules.allRequired ? names : names.filter((name) => required.has(name)),
    ...(walk.rules.closed && { additionalProperties: false }),
  };
}

function arrayPart(node: JsonObject, walk: Walk, place: WalkPosition): JsonObject | undefined {
  if ('prefixItems' in node) return undefined;
  const items = convert(node['items'], walk, place);
  return items === undefined ? undefined : { items };
}

/** The same, or null: what a property that must be there says when it is not in the document. */
function orNull(node: JsonObject): JsonObject {
  const type = node['type'];
  if (type === undefined) return { ...node, anyOf: [...listOf(node['anyOf']), { type: 'null' }] };
  const types = Array.isArray(type) ? (type as Json[]) : [type];
  if (types.includes('null')) return node;
  const values = Array.isArray(node['enum']) ? { enum: [...listOf(node['enum']), null] } : {};
  return { ...node, type: [...types, 'null'], ...values };
}

/** Constraints that a model can follow though its provider does not enforce them. */
const HINTS = [
  'format',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'enum',
  'const',
] as const;

function described(node: JsonObject, kept: readonly string[]): JsonObject {
  const own = [node['description'], node['title']].find((text) => typeof text === 'string');
  const hints = HINTS.filter((word) => node[word] !== undefined && !kept.includes(word))
    .filter((word) => word !== 'const' || !kept.includes('enum'))
    .map((word) => `${word}: ${JSON.stringify(node[word])}`);
  const text = [own, hints.length === 0 ? undefined : `(${hints.join(', ')})`].filter(
    (part) => part !== undefined,
  );
  return text.length === 0 ? {} : { description: text.join(' ') };
}
