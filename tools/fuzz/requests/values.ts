import type { Random } from '../../../engine/test/support/random.ts';
import type { Schema } from './operations.ts';
import type { World } from './world.ts';

/** What values are made of. */
export interface Making {
  readonly random: Random;
  readonly world: World;
  readonly components: Readonly<Record<string, Schema>>;
  /** In a form all values are text. */
  readonly asText: boolean;
}

const REF = '#/components/schemas/';
/** An own key makes the service ask its provider: seldom. */
const OWN_KEY_SHARE = 0.05;
const OPTIONAL_SHARE = 0.4;
const POOL_SHARE = 0.9;
/** Whole numbers are small, for sums of large ones are soon refused; at times they are at their bounds. */
const BOUND_SHARE = 0.08;
const DEPTH_MAX = 8;

const PATTERNS: Readonly<Record<string, readonly string[]>> = {
  '^[A-Z]{3}$': ['USD', 'EUR', 'CHF'],
  '^\\d{1,9}(\\.\\d{1,6})?$': ['0', '1.25', '999999999.999999'],
  '^\\d{1,6}(\\.\\d{1,12})?$': ['0', '0.002', '999999.999999999999'],
  '^\\d{1,18}(\\.\\d{1,18})?$': ['1', '1.0825', '0.000000000000000001', '999999999999999999'],
  '^\\d{1,12}(\\.\\d{1,6})?$': ['1', '10.50', '0', '999999999999.999999'],
};
const DAYS = ['2026-01-31', '2026-11-01', '2000-01-01', '2030-02-28'];
const TIMES = ['2026-11-20T10:00:00Z', '2026-01-01T00:00:00+02:00', '2030-01-01T00:00:00Z'];
const TEXTS = ['pear', 'a', 'Ünïcode 名前 😀', 'two words', 'x-1_y.z'];

const resolved = ({ components }: Making, schema: Schema): Schema =>
  schema.$ref === undefined ? schema : (components[schema.$ref.slice(REF.length)] ?? {});

const textOf = ({ random }: Making, { format, pattern, minLength = 0, maxLength = 50 }: Schema): string => {
  if (format === 'date') return random.pick(DAYS);
  if (format === 'date-time') return random.pick(TIMES);
  const known = pattern === undefined ? undefined : PATTERNS[pattern];
  if (known !== undefined) return random.pick(known);
  if (random.next() < BOUND_SHARE) return 'x'.repeat(random.pick([minLength, maxLength]));
  return random.pick(TEXTS);
};

const numberOf = (
  { random }: Making,
  { type, minimum = -1_000, maximum = Number.MAX_SAFE_INTEGER }: Schema,
): number => {
  if (random.next() < BOUND_SHARE) return random.pick([minimum, maximum]);
  if (type === 'number') return minimum + random.next() * Math.min(1, maximum - minimum);
  return random.between(Math.max(minimum, -1_000), Math.min(maximum, Math.max(minimum, 0) + 1_000));
};

const listOf = (making: Making, schema: Schema, depth: number): unknown[] => {
  const { items = {}, minItems = 0 } = schema;
  const count = making.random.between(minItems, minItems + 2);
  return Array.from({ length: count }, () => valueOf(making, items, depth + 1));
};

const isIncluded = ({ random }: Making, name: string): boolean =>
  random.next() < (name.endsWith('api_key') ? OWN_KEY_SHARE : OPTIONAL_SHARE);

const objectOf = (making: Making, schema: Schema, depth: number): Record<string, unknown> => {
  const { properties = {}, required = [], propertyNames, additionalProperties } = schema;
  const made: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(properties))
    if (required.includes(name) || isIncluded(making, name))
      made[name] = namedValue(making, [name, member], depth);
  if (propertyNames !== undefined && typeof additionalProperties === 'object')
    for (let left = making.random.between(0, 2); left > 0; left -= 1)
      made[String(valueOf(making, propertyNames, depth))] = valueOf(making, additionalProperties, depth + 1);
  return made;
};

/** The value of a member: of what the world has under its name, or whatever its schema takes. */
export const namedValue = (making: Making, [name, schema]: readonly [string, Schema], depth = 0): unknown => {
  const { random, world, asText } = making;
  const pool = world.pools[name];
  const isChosen = pool !== undefined && schema.enum === undefined && random.next() < POOL_SHARE;
  const value = isChosen ? random.pick(pool) : valueOf(making, schema, depth);
  return asText && typeof value !== 'string' ? JSON.stringify(value) : value;
};

const ofType = (making: Making, schema: Schema, depth: number): unknown => {
  const { random } = making;
  switch (schema.type) {
    case 'string':
      return textOf(making, schema);
    case 'integer':
    case 'number':
      return numberOf(making, schema);
    case 'boolean':
      return random.next() < 0.5;
    case 'null':
      return null;
    case 'array':
      return listOf(making, schema, depth);
    case 'object':
      return objectOf(making, schema, depth);
    default:
      return random.pick(TEXTS);
  }
};

/** A value that a schema takes, mostly. */
export const valueOf = (making: Making, given: Schema, depth = 0): unknown => {
  const schema = resolved(making, given);
  const { random } = making;
  if (depth > DEPTH_MAX) return null;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return random.pick(schema.enum);
  if (schema.anyOf !== undefined) return valueOf(making, random.pick(schema.anyOf), depth + 1);
  return ofType(making, schema, depth);
};
