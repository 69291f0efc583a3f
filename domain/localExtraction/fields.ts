import type { JsonObject } from '../kernel/json.ts';
import { resolveLocal } from '../extraction/schemaRules.ts';
import { CONCEPTS, type Concept, type ValueKind } from './lexicon.ts';
import { labelWords, nameWords, phraseSimilarity } from './words.ts';

/** A leaf of the schema: what to look for, and how it is called. */
export interface Field {
  /** JSON Pointer; of a row's member, the part below the row. */
  readonly pointer: string;
  readonly kind: ValueKind;
  /** JSON type of the value. */
  readonly type: 'string' | 'number' | 'integer' | 'boolean';
  readonly withTime: boolean;
  readonly choices: readonly string[];
  readonly concept: Concept | undefined;
  /** Its own names: property, title, parent with property. */
  readonly phrases: readonly (readonly string[])[];
  /** Its description. */
  readonly about: readonly (readonly string[])[];
}

/** The schema as a tree of what can be filled. */
export type SchemaNode =
  | { readonly kind: 'leaf'; readonly field: Field }
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, SchemaNode> }
  | { readonly kind: 'rows'; readonly pointer: string; readonly columns: ReadonlyMap<string, SchemaNode> }
  | { readonly kind: 'list'; readonly pointer: string; readonly field: Field };

interface Place {
  readonly pointer: string;
  readonly name: string;
  readonly parent: string;
  readonly inRow: boolean;
  readonly depth: number;
}

const DEPTH_MAX = 12;
const ROW_CONCEPTS = new Set(
  'description quantity unit_price line_total line_number article_number unit tax_rate discount delivery_date order_number'.split(
    ' ',
  ),
);
const ONLY_ROWS = new Set(
  'quantity unit_price line_total line_number article_number unit description'.split(' '),
);

/** The tree of a schema. References are followed, cycles and what cannot be filled are left out. */
export function schemaTree(schema: JsonObject): SchemaNode | undefined {
  const top = { pointer: '', name: '', parent: '', inRow: false, depth: 0 };
  return nodeOf(schema, schema, top);
}

function nodeOf(root: JsonObject, raw: unknown, place: Place): SchemaNode | undefined {
  if (place.depth > DEPTH_MAX) return undefined;
  const schema = resolved(root, raw);
  if (schema === undefined) return undefined;
  const type = typeOf(schema);
  if (type === 'object') return objectNode(root, schema, place);
  if (type === 'array') return arrayNode(root, schema, place);
  return { kind: 'leaf', field: fieldOf(schema, type, place) };
}

function objectNode(root: JsonObject, schema: JsonObject, place: Place): SchemaNode | undefined {
  const members = new Map<string, SchemaNode>();
  for (const [name, child] of Object.entries(asObject(schema['properties']) ?? {})) {
    const node = nodeOf(root, child, {
      pointer: `${place.pointer}/${name.replace(/~/g, '~0').replace(/\//g, '~1')}`,
      name,
      parent: place.name,
      inRow: place.inRow,
      depth: place.depth + 1,
    });
    if (node !== undefined) members.set(name, node);
  }
  return { kind: 'object', members };
}

function arrayNode(root: JsonObject, schema: JsonObject, place: Place): SchemaNode | undefined {
  const row = { pointer: '', name: place.name, parent: '', inRow: true, depth: place.depth + 1 };
  const item = nodeOf(root, schema['items'], row);
  if (item?.kind === 'object') return { kind: 'rows', pointer: place.pointer, columns: item.members };
  const one = nodeOf(root, schema['items'], { ...place, depth: place.depth + 1 });
  return one?.kind === 'leaf' ? { kind: 'list', pointer: place.pointer, field: one.field } : undefined;
}

const asObject = (value: unknown): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

/** Follows `$ref`, takes the one way that is not null of `anyOf` and `oneOf`, and merges `allOf`. */
function resolved(root: JsonObject, raw: unknown): JsonObject | undefined {
  let schema = asObject(raw);
  for (let hop = 0; hop < DEPTH_MAX && schema !== undefined; hop += 1) {
    const next = onward(root, schema);
    if (next === undefined) return schema;
    schema = { ...next, ...ownMembers(schema) };
  }
  return schema;
}

const FOLLOWED = new Set(['$ref', 'anyOf', 'oneOf', 'allOf']);

const ownMembers = (schema: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => !FOLLOWED.has(key)));

function onward(root: JsonObject, schema: JsonObject): JsonObject | undefined {
  const { $ref, anyOf, oneOf, allOf } = schema;
  if (typeof $ref === 'string') return asObject(resolveLocal(root, $ref)) ?? {};
  const ways = [anyOf, oneOf].find(Array.isArray) as readonly unknown[] | undefined;
  if (ways !== undefined) return asObject(ways.find((way) => asObject(way)?.['type'] !== 'null'));
  if (Array.isArray(allOf)) return Object.assign({}, ...allOf.map(asObject)) as JsonObject;
  return undefined;
}

function typeOf(schema: JsonObject): string {
  const { type } = schema;
  if (typeof type === 'string') return type;
  if (Array.isArray(type)) return String(type.find((one) => one !== 'null') ?? 'string');
  if (schema['properties'] !== undefined) return 'object';
  return schema['items'] === undefined ? 'string' : 'array';
}

const texts = (value: unknown): readonly string[] => (typeof value === 'string' ? [value] : []);

function fieldOf(schema: JsonObject, rawType: string, place: Place): Field {
  const type = rawType === 'number' || rawType === 'integer' || rawType === 'boolean' ? rawType : 'string';
  const choices = choicesOf(schema);
  const withParent = place.parent === '' || place.inRow ? [] : [nameWords(`${place.parent} ${place.name}`)];
  const phrases = [...withParent, nameWords(place.name), ...texts(schema['title']).map(labelWords)];
  const known = kindByFormat(schema['format'], type);
  const about = texts(schema['description']).map(labelWords);
  const concept = conceptOf({ phrases, about, kind: known, place });
  return {
    pointer: place.pointer,
    kind: known ?? (choices.length > 0 ? 'text' : (concept?.kind ?? 'text')),
    type,
    withTime: schema['format'] === 'date-time',
    choices,
    concept,
    phrases: phrases.filter((words) => words.length > 0),
    about,
  };
}

function choicesOf(schema: JsonObject): readonly string[] {
  const listed: unknown = schema['enum'] ?? [schema['const']];
  return Array.isArray(listed) ? listed.filter((one) => typeof one === 'string') : [];
}

function kindByFormat(format: unknown, type: string): ValueKind | undefined {
  if (type === 'boolean') return 'boolean';
  if (type === 'number' || type === 'integer') return 'number';
  if (format === 'date' || format === 'date-time') return 'date';
  if (format === 'email' || format === 'idn-email') return 'email';
  if (format === 'uri' || format === 'url') return 'url';
  return undefined;
}

interface Naming {
  readonly phrases: readonly (readonly string[])[];
  readonly about: readonly (readonly string[])[];
  readonly kind: ValueKind | undefined;
  readonly place: Place;
}

/** The concept that the field's names mean best; the description counts a little less than a name. */
function conceptOf({ phrases, about, kind, place }: Naming): Concept | undefined {
  let best: { concept: Concept; score: number } | undefined;
  for (const concept of CONCEPTS) {
    if (!fits(concept, kind, place.inRow)) continue;
    const named = likeness(concept, phrases);
    const score = Math.max(named, 0.9 * likeness(concept, about)) + 0.1 * named;
    if (score >= 0.6 && score > (best?.score ?? 0)) best = { concept, score };
  }
  return best?.concept;
}

function fits(concept: Concept, kind: ValueKind | undefined, inRow: boolean): boolean {
  if (inRow ? !ROW_CONCEPTS.has(concept.id) : ONLY_ROWS.has(concept.id)) return false;
  const numeric = concept.kind === 'number' || concept.kind === 'integer' || concept.kind === 'percent';
  if (kind === 'number') return numeric;
  return kind === undefined ? !numeric : concept.kind === kind;
}

const likeness = (concept: Concept, names: readonly (readonly string[])[]): number =>
  names.reduce(
    (best, name) =>
      concept.phrases.reduce(
        (most, phrase) =>
          Math.max(most, Math.min(phraseSimilarity(phrase, name), phraseSimilarity(name, phrase))),
        best,
      ),
    0,
  );
