import type { z } from 'zod';
import { currentVersionOf, EVENT_CATALOGUE } from './catalogue.ts';
import type { RecordedEvent } from './kernel/recorded.ts';
import type { JsonObject } from './kernel/json.ts';

/** The canonical JSON of what a schema allows, or of a part of that, as a pattern. undefined: none that tells it. */
type Pattern = string | undefined;
type Def = z.core.$ZodTypes['_zod']['def'];
type DefOf<Type extends Def['type']> = Extract<Def, { type: Type }>;
type Check = z.core.$ZodChecks['_zod']['def'];

/** No character that JSON escapes, and no half of a surrogate pair. */
const CHARACTER = '[^"\\\\\\u0000-\\u001f\\ud800-\\udfff]';

/** A pattern for whole texts, of parts that match no character that JSON escapes. */
const WHOLE = /^\^((?:[\w:-]|\\[d.]|\[[\w.:@-]+\]|\{\d+(?:,\d+)?\}|[?()|])+)\$$/;

const checksOf = ({ checks = [] }: Pick<Def, 'checks'>): readonly Check[] =>
  checks.map((check) => (check as z.core.$ZodChecks)._zod.def);

interface Formatted {
  readonly pattern?: RegExp | undefined;
}

const formatOf = ({ pattern }: Formatted): Pattern => {
  const inner = pattern?.flags === '' ? WHOLE.exec(pattern.source)?.[1] : undefined;
  return inner === undefined ? undefined : `"(?:${inner})"`;
};

const stringOf = (def: DefOf<'string'>): Pattern => {
  const checks = checksOf(def);
  if ('format' in def) return checks.length === 0 ? formatOf(def as Formatted) : undefined;
  const [check, ...others] = checks;
  if (check === undefined) return `"${CHARACTER}*"`;
  if (others.length > 0) return undefined;
  if (check.check === 'max_length') return `"${CHARACTER}{0,${String(check.maximum)}}"`;
  return check.check === 'string_format' ? formatOf(check) : undefined;
};

/** Whole numbers of at most this many digits are exact, and have one notation. */
const DIGITS = 15;
const MOST = 10 ** DIGITS - 1;
/** By the least of them. */
const WHOLE_NUMBERS: ReadonlyMap<number, string> = new Map([
  [-MOST, `(?:0|-?[1-9]\\d{0,${DIGITS - 1}})`],
  [0, `(?:0|[1-9]\\d{0,${DIGITS - 1}})`],
  [1, `[1-9]\\d{0,${DIGITS - 1}}`],
]);

const isWholeFormat = (def: object): boolean => 'format' in def && def.format === 'safeint';

/** What a check leaves as the least; undefined of a check that a pattern cannot make. */
const leastAfter = (check: Check, least: number): number | undefined => {
  if (check.check === 'number_format') return least;
  if (check.check === 'greater_than' && check.inclusive) return Math.max(least, Number(check.value));
  return check.check === 'less_than' && check.inclusive && Number(check.value) >= MOST ? least : undefined;
};

const numberOf = (def: DefOf<'number'>): Pattern => {
  const checks = checksOf(def);
  let least: number | undefined = -MOST;
  for (const check of checks) least = least === undefined ? undefined : leastAfter(check, least);
  return least !== undefined && [def, ...checks].some(isWholeFormat) ? WHOLE_NUMBERS.get(least) : undefined;
};

const literally = (value: unknown): string => JSON.stringify(value).replace(/[^\w"]/g, '\\$&');

/** How a member looks; null: a text that has it is read the long way. */
const memberOf = (name: string, schema: z.core.$ZodType | undefined) => {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const isOptional = def.type === 'optional';
  const value = patternOf(isOptional ? def.innerType : schema);
  if (value === undefined) return isOptional ? null : undefined;
  return { text: `${literally(name)}:${value}`, isOptional };
};

/** Members in canonical order. One has to be there: those before it end with a comma, those behind begin with one. */
const objectOf = ({ shape }: DefOf<'object'>): Pattern => {
  let text = '';
  let hasOne = false;
  for (const name of Object.keys(shape).sort()) {
    const member = memberOf(name, shape[name]);
    if (member === undefined) return undefined;
    if (member === null) continue;
    const one = hasOne ? `,${member.text}` : `${member.text}${member.isOptional ? ',' : ''}`;
    text += member.isOptional ? `(?:${one})?` : one;
    hasOne ||= !member.isOptional;
  }
  return hasOne ? `\\{${text}\\}` : undefined;
};

/** Names and values, in a group: their order is looked at apart, which no pattern can. */
const recordOf = ({ keyType, valueType }: DefOf<'record'>): Pattern => {
  const [name, value] = [patternOf(keyType), patternOf(valueType)];
  if (name === undefined || value === undefined) return undefined;
  return `(\\{(?:${name}:${value}(?:,${name}:${value})*)?\\})`;
};

const NAMES = /"([^"]*)":"[^"]*"/g;

/** Names that objects order, or take, in a way of their own. */
const UNUSUAL = /^(?:\d|__proto__$)/;

/** Whether the names of a record of texts are in canonical order, each once. */
const isInOrder = (record: string): boolean => {
  const names = Array.from(record.matchAll(NAMES), ([, name = '']) => name);
  const isUsual = names.every((name) => !UNUSUAL.test(name));
  return isUsual && names.every((name, at) => at === 0 || (names[at - 1] ?? '') < name);
};

const anyOf = (patterns: readonly Pattern[]): Pattern =>
  patterns.includes(undefined) ? undefined : `(?:${patterns.join('|')})`;

const patternOf = (schema: z.core.$ZodType | undefined): Pattern => {
  const def = (schema as z.core.$ZodTypes)._zod.def;
  if (def.type === 'string') return stringOf(def);
  if (def.type === 'number') return numberOf(def);
  if (checksOf(def).length > 0) return undefined;
  switch (def.type) {
    case 'object':
      return objectOf(def);
    case 'record':
      return recordOf(def);
    case 'nullable':
      return anyOf(['null', patternOf(def.innerType)]);
    case 'enum':
      return anyOf(Object.values(def.entries).map(literally));
    case 'literal':
      return anyOf(def.values.map(literally));
    case 'boolean':
      return anyOf(['true', 'false']);
    default:
      return undefined;
  }
};

/** A group that is remembered: records alone have one. */
const GROUP = /(?<!\\)\((?!\?)/;

/** How events of a type look in the log. */
interface Plain {
  readonly category: string;
  readonly version: number;
  readonly pattern: RegExp;
  /** Its groups are records of texts. */
  readonly hasRecord: boolean;
}

const PLAIN_TYPES: ReadonlyMap<string, Plain> = new Map(
  Object.entries(EVENT_CATALOGUE).flatMap(([category, { options }]) =>
    options.flatMap(({ shape }): [string, Plain][] => {
      const [{ value: type }, pattern] = [shape.type, patternOf(shape.data)];
      const version = currentVersionOf(category, type);
      return pattern === undefined
        ? []
        : [
            [
              type,
              { category, version, pattern: new RegExp(`^${pattern}$`), hasRecord: GROUP.test(pattern) },
            ],
          ];
    }),
  ),
);

/** Types whose events are told by their text. */
export const plainTypes = (): readonly string[] => [...PLAIN_TYPES.keys()];

const isOf = (category: string, stream: string): boolean =>
  stream.startsWith(category) && (stream.length === category.length || stream[category.length] === '-');

/**
 * Whether the text of an event's data is canonical JSON, which the log stores as it is, of what the schema of its
 * type allows in its current form: then it needs neither be written nor decoded to be checked. A pattern a
 * type, made of its schema. false: it has to be checked as any other.
 */
export const isPlainData = ({ type, stream, metadata, stored }: RecordedEvent): boolean => {
  const plain = PLAIN_TYPES.get(type);
  return (
    plain !== undefined &&
    stored !== undefined &&
    isOf(plain.category, stream) &&
    metadata['schema_version'] === plain.version &&
    isWritten(plain, stored.data)
  );
};

const isWritten = ({ pattern, hasRecord }: Plain, text: string): boolean => {
  if (!hasRecord) return pattern.test(text);
  const [, ...records] = pattern.exec(text) ?? [''];
  return (
    records.length > 0 &&
    records.every((record: string | undefined) => record === undefined || isInOrder(record))
  );
};

/** Metadata of an event, read from text that the service writes for most events. */
interface PlainMetadata {
  readonly metadata: JsonObject;
  /** The text without `hash`: what the event's hash covers of it. */
  readonly covered: string;
}

/** No character that JSON escapes, and no half of a surrogate pair. */
const TEXT = '([^"\\\\\\u0000-\\u001f\\ud800-\\udfff]*)';
const HASH = '[0-9a-f]{64}';
const DAY =
  '(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))';
const TIME = `\\d{4}-${DAY}T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z`;

const BEFORE_HASH =
  `{"actor":{"key_id":"${TEXT}","role":"(tenant|service|admin|system)"},` +
  `"causation_id":"${TEXT}","correlation_id":"${TEXT}",`;
const AFTER_HASH =
  `"hash_version":2,"prev_hash":(?:null|"(${HASH})"),"recorded_at":"(${TIME})",` +
  `"schema_version":([1-9]\\d{0,8}),"tenant_id":(?:null|"${TEXT}")` +
  `(?:,"traceparent":"(00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2})")?}`;

/** Members in canonical order, each once, none but these, and each as the schema has it. */
const PLAIN_METADATA = new RegExp(`^(${BEFORE_HASH})"hash":"(${HASH})",(${AFTER_HASH})$`);

/** What the pattern finds. */
type Found = readonly [
  whole: string,
  before: string,
  key_id: string,
  role: string,
  causation_id: string,
  correlation_id: string,
  hash: string,
  after: string,
  prev_hash: string | undefined,
  recorded_at: string,
  schema_version: string,
  tenant_id: string | undefined,
  traceparent: string | undefined,
];

/**
 * Metadata of hash version 2, from text in canonical form. What this reads fits the schema of metadata
 * and is as the log writes it. undefined: it has to be read, and checked, as any JSON.
 */
export const plainMetadata = (text: string): PlainMetadata | undefined => {
  const found = PLAIN_METADATA.exec(text) as unknown as Found | null;
  if (found === null) return undefined;
  const [, before, key_id, role, causation_id, correlation_id, hash, after, prev_hash = null, recorded_at] =
    found;
  const [schema_version, tenant_id = null, traceparent] = [found[10], found[11], found[12]];
  return {
    covered: before + after,
    metadata: {
      actor: { key_id, role },
      causation_id,
      correlation_id,
      hash,
      hash_version: 2,
      prev_hash,
      recorded_at,
      schema_version: Number(schema_version),
      tenant_id,
      ...(traceparent !== undefined && { traceparent }),
    },
  };
};
