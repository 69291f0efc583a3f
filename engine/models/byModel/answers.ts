import { canonicalJson } from '../../kernel/canonicalJson.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { GroundedValue } from '../../ports/documentTools.ts';

type Evidence = Pick<GroundedValue, 'value' | 'citations'>;

/** What one part of the document says at one place. */
interface Said {
  readonly value: Json;
  /** JSON Pointer into the answer of the part. */
  readonly path: string;
  readonly places: Places;
}

/** Where the values of an answer stand: by their pointers, and by all pointers above them. */
interface Places {
  readonly confidenceAt: (path: string) => number | undefined;
  readonly cited: (path: string) => readonly string[];
}

/**
 * One answer from those to the parts of a document. Of several values for one place the one that stands on the
 * pages is taken, of these the surest, then the first. Lists are joined in the order of the parts; a row that two
 * parts read at the same place, for they overlap, is one row. Linear in the answers.
 */
export function mergedAnswers(answers: readonly Evidence[]): JsonObject {
  const all = answers.map(({ value, citations }): Said => ({ value, path: '', places: placesOf(citations) }));
  const merged = mergedValue(all);
  return isObject(merged) ? merged : {};
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

function placesOf(citations: GroundedValue['citations']): Places {
  const confidences = new Map(citations.map(({ path, confidence }) => [path, confidence]));
  const above = new Map<string, string[]>();
  for (const { path, page, bbox, text } of citations) {
    const place = `${page} ${bbox === null ? text : bbox.join(' ')}`;
    for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
      const places = above.get(at);
      if (places === undefined) above.set(at, [place]);
      else places.push(place);
    }
  }
  return {
    confidenceAt: (path) => confidences.get(path),
    cited: (path) => above.get(path) ?? [],
  };
}

function mergedValue(said: readonly Said[]): Json | undefined {
  const objects = said.filter(({ value }) => isObject(value));
  if (objects.length > 0) return mergedObject(objects);
  const lists = said.filter(({ value }) => isList(value));
  return lists.length > 0 ? mergedList(lists) : bestOf(said);
}

function mergedObject(said: readonly Said[]): JsonObject {
  const members = new Map<string, Said[]>();
  for (const { value, path, places } of said)
    for (const [key, member] of Object.entries(isObject(value) ? value : {})) {
      const one = { value: member, path: `${path}/${pointerPart(key)}`, places };
      const same = members.get(key);
      if (same === undefined) members.set(key, [one]);
      else same.push(one);
    }
  return Object.fromEntries(
    [...members].flatMap(([key, all]) => {
      const value = mergedValue(all);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

const pointerPart = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

const saysNothing = (value: Json): boolean => value === null || value === '';

/** The surest of those that say something. */
function bestOf(said: readonly Said[]): Json | undefined {
  let best: { readonly value: Json; readonly weight: number } | undefined;
  for (const { value, path, places } of said) {
    const weight = saysNothing(value) ? -1 : (places.confidenceAt(path) ?? 0);
    if (best === undefined || weight > best.weight) best = { value, weight };
  }
  return best?.value;
}

interface Item {
  readonly value: Json;
  readonly places: readonly string[];
  readonly part: number;
}

/**
 * Items in order. Where some stand on the pages, rows of which nothing does are left out: what a part does not
 * hold, a model that is asked for rows may make up.
 */
function mergedList(said: readonly Said[]): readonly Json[] {
  const items = said.flatMap(({ value, path, places }, part) =>
    (isList(value) ? value : []).map((one, at): Item => ({
      value: one,
      places: places.cited(`${path}/${at}`),
      part,
    })),
  );
  const someStand = items.some(({ places }) => places.length > 0);
  const kept = new Map<string, Item[]>();
  return items
    .filter((item) => {
      if (someStand && isObject(item.value) && item.places.length === 0) return false;
      const key = canonicalJson(item.value);
      const same = kept.get(key) ?? [];
      if (same.some((other) => isSame(other, item))) return false;
      kept.set(key, [...same.slice(-SAME_MAX), item]);
      return true;
    })
    .map(({ value }) => value);
}

/** Equal items that a new one is compared with: those of the parts just before it. */
const SAME_MAX = 8;

/** Of equal items of two parts: whether they are one, which was read twice. Texts and numbers are, wherever. */
function isSame(a: Item, b: Item): boolean {
  if (a.part === b.part) return false;
  if (!isObject(a.value) || a.places.length === 0 || b.places.length === 0) return true;
  return a.places.some((place) => b.places.includes(place));
}

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
