import { nullnessOf, together, type Nullness } from '../schema/nullness.ts';
import { linearPattern, PatternRefused, type LinearPattern } from '../schema/patterns.ts';
import { isList, asObject, type Json, type JsonObject, listOf } from '../../kernel/json.ts';
import { definitely, memberSchemas, type Schemas } from './groundingSchema.ts';
import { once } from '../../kernel/once.ts';

/** What is said of one place of a value. */
interface SaidOfValue {
  /** By every way that the value may take. */
  readonly any: Schemas;
  /** Whichever way it takes. */
  readonly sure: Schemas;
  /** The object around it must have it. */
  readonly required: boolean;
}

/**
 * A value as answers have it, whoever found it. What the document does not say is `null` where the schema
 * says that null may stand; where it does not, it is left out, and a required one is for validation to
 * complain of. Members outside a schema that is closed are left out.
 */
export function withAbsence(schema: JsonObject, value: JsonObject): JsonObject {
  const schemas = { root: schema, schemas: [schema] };
  return objectOf({ any: schemas, sure: schemas, required: true }, value);
}

const memberOf = ({ any, sure }: SaidOfValue, key: string | number, required: boolean): SaidOfValue => ({
  any: memberSchemas(any, key),
  sure: memberSchemas({ ...sure, schemas: sure.schemas.flatMap((one) => definitely(sure.root, one)) }, key),
  required,
});

function kept(place: SaidOfValue, value: Json): Json | undefined {
  if (value === null) return unsaid(place);
  if (typeof value !== 'object') return value;
  if (isList(value)) return value.flatMap((item, index) => itemOf(memberOf(place, index, true), item));
  const left = objectOf(place, value);
  return hasMembers(value) && saysNothing(left) ? unsaid(place) : left;
}

/** A list keeps its places: only a null that may not stand goes. */
function itemOf(place: SaidOfValue, item: Json): readonly Json[] {
  if (item === null) return nullness(place) === 'no' ? [] : [null];
  if (typeof item !== 'object' || isList(item)) return [kept(place, item) ?? item];
  return [objectOf(place, item)];
}

const hasMembers = (value: JsonObject): boolean => Object.keys(value).length > 0;

const saysNothing = (value: Json): boolean =>
  value === null || (typeof value === 'object' && !isList(value) && Object.values(value).every(saysNothing));

const nullness = ({ any }: SaidOfValue): Nullness =>
  together(any.schemas.map((schema) => nullnessOf(any.root, schema)));

/** What stands for a member of which the document says nothing; undefined: it is left out. */
function unsaid(place: SaidOfValue): Json | undefined {
  const admits = nullness(place);
  if (admits === 'said') return null;
  if (!place.required) return undefined;
  return emptyObject(place) ?? (admits === 'unsaid' ? null : undefined);
}

/** A required object whose members may all be null, or be left out. */
function emptyObject(place: SaidOfValue): JsonObject | undefined {
  const schemas = place.sure.schemas.flatMap((one) => definitely(place.sure.root, one));
  if (!schemas.some((schema) => asObject(schema['properties']) !== undefined)) return undefined;
  const empty = objectOf(place, {});
  return [...requiredOf(schemas)].every((name) => typeof name === 'string' && Object.hasOwn(empty, name))
    ? empty
    : undefined;
}

const requiredOf = (schemas: readonly JsonObject[]): ReadonlySet<unknown> =>
  new Set(schemas.flatMap(({ required }) => listOf(required)));

const namesOf = (schemas: readonly JsonObject[]): readonly string[] => [
  ...new Set(schemas.flatMap(({ properties }) => Object.keys(asObject(properties) ?? {}))),
];

function objectOf(place: SaidOfValue, value: JsonObject): JsonObject {
  const schemas = place.sure.schemas.flatMap((one) => definitely(place.sure.root, one));
  const required = requiredOf(schemas);
  const entries: [string, Json][] = [];
  const add = (key: string, left: Json | undefined): void => {
    if (left !== undefined) entries.push([key, left]);
  };
  for (const [key, member] of Object.entries(value)) {
    if (schemas.every((schema) => admitsMember(schema, key)))
      add(key, kept(memberOf(place, key, required.has(key)), member));
  }
  for (const name of namesOf(schemas)) {
    if (!Object.hasOwn(value, name)) add(name, unsaid(memberOf(place, name, required.has(name))));
  }
  return Object.fromEntries(entries);
}

/** A closed schema speaks about its own properties and patterns alone. */
function admitsMember(
  { properties, patternProperties, additionalProperties }: JsonObject,
  key: string,
): boolean {
  if (additionalProperties !== false) return true;
  if (Object.hasOwn(asObject(properties) ?? {}, key)) return true;
  const patterns = asObject(patternProperties);
  return patterns !== undefined && namesIn(patterns).some(({ test }) => test(key));
}

type NamePattern = Pick<LinearPattern, 'test'>;

/** By the `patternProperties` that they are of: each is compiled once, whatever number of names it is asked about. */
const namesIn = once((patterns: JsonObject) => Object.keys(patterns).map(namePattern));

/** A pattern that cannot be used is for the schema's check to complain of. */
function namePattern(pattern: string): NamePattern {
  try {
    return linearPattern(pattern);
  } catch (error) {
    if (error instanceof PatternRefused) return { test: () => true };
    throw error;
  }
}
