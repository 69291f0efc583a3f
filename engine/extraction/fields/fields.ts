import type { JsonObject } from '../../kernel/json.ts';
import { resolveLocal } from '../schema/schemaReference.ts';
import { conceptOf, isVague, type Naming } from './fieldConcepts.ts';
import { conceptNamed, type Concept, type ValueKind } from './lexicon.ts';
import { roleIn, type Role } from './roles.ts';
import { labelWords, nameWords } from './words.ts';
import { termsOf, type Terms } from '../matching/terms.ts';

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
  /** Whose it is, as its name, its parents' or its description say. */
  readonly role: Role | undefined;
  /** A member of a row of a list. */
  readonly inRow: boolean;
  /** Its own names: property, title, parent with property. */
  readonly phrases: readonly (readonly string[])[];
  /** Its description. */
  readonly about: readonly (readonly string[])[];
  /** All that the schema says of it, as labels may say it. */
  readonly terms: Terms;
}

/** The schema as a tree of what can be filled. */
export type SchemaNode =
  | { readonly kind: 'leaf'; readonly field: Field }
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, SchemaNode> }
  | {
      readonly kind: 'rows';
      readonly pointer: string;
      readonly columns: ReadonlyMap<string, SchemaNode>;
      readonly called: Called;
    }
  | { readonly kind: 'list'; readonly pointer: string; readonly field: Field };

/** How the schema calls a list of rows: by its names, and in its description, as written. */
export interface Called {
  readonly phrases: readonly (readonly string[])[];
  readonly description: string;
}

interface Place {
  readonly pointer: string;
  readonly name: string;
  /** Names of the objects around it, the outermost first. */
  readonly parents: readonly string[];
  readonly inRow: boolean;
  readonly depth: number;
  /** The schemas around it: one that holds itself ends there, for a row has no rows to fill. */
  readonly around: ReadonlySet<unknown>;
}

const DEPTH_MAX = 12;

/** The tree of a schema. References are followed, cycles and what cannot be filled are left out. */
export function schemaTree(schema: JsonObject): SchemaNode | undefined {
  return nodeOf(schema, schema, {
    pointer: '',
    name: '',
    parents: [],
    inRow: false,
    depth: 0,
    around: new Set(),
  });
}

function nodeOf(root: JsonObject, raw: unknown, place: Place): SchemaNode | undefined {
  if (place.depth > DEPTH_MAX) return undefined;
  const found = resolved(root, raw, place.around);
  if (found === undefined) return undefined;
  const { schema, around } = found;
  const type = typeOf(schema);
  if (type === 'object') return objectNode(root, schema, { ...place, around });
  if (type === 'array') return arrayNode(root, schema, { ...place, around });
  return { kind: 'leaf', field: fieldOf(schema, type, place) };
}

function objectNode(root: JsonObject, schema: JsonObject, place: Place): SchemaNode | undefined {
  const members = new Map<string, SchemaNode>();
  for (const [name, child] of Object.entries(asObject(schema['properties']) ?? {})) {
    const node = nodeOf(root, child, {
      pointer: `${place.pointer}/${name.replace(/~/g, '~0').replace(/\//g, '~1')}`,
      name,
      parents: place.name === '' ? place.parents : [...place.parents, place.name],
      inRow: place.inRow,
      depth: place.depth + 1,
      around: place.around,
    });
    if (node !== undefined) members.set(name, node);
  }
  return { kind: 'object', members };
}

function arrayNode(root: JsonObject, schema: JsonObject, place: Place): SchemaNode | undefined {
  const { around } = place;
  const row = { pointer: '', name: '', parents: [], inRow: true, depth: place.depth + 1, around };
  const item = nodeOf(root, schema['items'], row);
  if (item?.kind === 'object')
    return { kind: 'rows', pointer: place.pointer, columns: item.members, called: calledOf(schema, place) };
  const one = nodeOf(root, describedBy(schema, schema['items']), { ...place, depth: place.depth + 1 });
  return one?.kind === 'leaf' ? { kind: 'list', pointer: place.pointer, field: one.field } : undefined;
}

const calledOf = (schema: JsonObject, place: Place): Called => ({
  phrases: namesOf(schema, place).phrases,
  description: texts(schema['description']).join(' '),
});

/** What a list says of itself is said of its members, where they say nothing. */
function describedBy({ title, description }: JsonObject, items: unknown): unknown {
  const member = asObject(items);
  if (member === undefined) return items;
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...member,
  };
}

const asObject = (value: unknown): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

interface Resolved {
  readonly schema: JsonObject;
  /** As it was, and what was met on the way. */
  readonly around: ReadonlySet<unknown>;
}

/**
 * Follows `$ref`, takes the one way that is not null of `anyOf` and `oneOf`, and merges `allOf`. undefined
 * where that leads back to what is around it.
 */
function resolved(root: JsonObject, raw: unknown, outer: ReadonlySet<unknown>): Resolved | undefined {
  const around = new Set(outer);
  let [schema, met] = [asObject(raw), asObject(raw)];
  for (let hop = 0; hop < DEPTH_MAX && schema !== undefined; hop += 1) {
    if (met !== undefined && around.has(met)) return undefined;
    around.add(met);
    const next = onward(root, schema);
    if (next === undefined) return { schema, around };
    met = next;
    schema = { ...next, ...ownMembers(schema) };
  }
  return schema && { schema, around };
}

const FOLLOWED = new Set(['$ref', 'anyOf', 'oneOf', 'allOf']);

const ownMembers = (schema: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => !FOLLOWED.has(key)));

function onward(root: JsonObject, schema: JsonObject): JsonObject | undefined {
  const { $ref, anyOf, oneOf, allOf } = schema;
  if (typeof $ref === 'string') return asObject(resolveLocal(root, $ref)) ?? {};
  const ways = [anyOf, oneOf].find(Array.isArray) as readonly unknown[] | undefined;
  if (ways !== undefined) return asObject(ways.find((way) => asObject(way)?.['type'] !== 'null'));
  if (Array.isArray(allOf))
    return Object.fromEntries(allOf.flatMap((part) => Object.entries(asObject(part) ?? {})));
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
  const { inRow } = place;
  const named = namesOf(schema, place);
  const known = kindByFormat(schema['format'], type);
  const concept = conceptOf({ ...named, kind: known, inRow });
  const labels = named.phrases.filter((words) => concept === undefined || !isVague(words));
  return {
    pointer: place.pointer,
    kind: known ?? (choices.length > 0 ? 'text' : (concept?.kind ?? 'text')),
    type,
    withTime: schema['format'] === 'date-time',
    choices,
    concept,
    role: named.role,
    inRow,
    phrases: labels,
    about: named.about,
    terms: termsOf({ name: place.name, parents: place.parents, schema }),
  };
}

/** How the schema calls a field: its own name, that with its parent's, its title, its description. */
function namesOf(schema: JsonObject, place: Place): Omit<Naming, 'kind' | 'inRow'> {
  const name = nameWords(place.name);
  const parents = place.parents.flatMap(nameWords);
  const about = texts(schema['description']).map(labelWords);
  const around = nameWords(place.parents.at(-1) ?? '').filter((word) => word !== 'address');
  const withParent = around.length === 0 ? [] : [[...around, ...name]];
  const phrases = [name, ...withParent, ...texts(schema['title']).map(labelWords)];
  return {
    name,
    about,
    role: roleIn(name) ?? roleIn([...parents].reverse()) ?? roleIn(about.flat().slice(0, 12)),
    phrases: phrases.filter((words) => words.length > 0),
  };
}

/** What is meant where a document has nothing under the first name: a receipt's number for an invoice's. */
const STAND_INS: Readonly<Record<string, string>> = {
  tax_number: 'vat_id',
  phone: 'mobile',
  mobile: 'phone',
  invoice_number: 'receipt_number',
  receipt_number: 'invoice_number',
  account_number: 'iban',
  amount_due: 'grand_total',
  order_date: 'invoice_date',
};

/** The same field by its concept's stand-in; undefined where there is none. */
export function standIn(field: Field): Field | undefined {
  const id = STAND_INS[field.concept?.id ?? ''];
  const concept = conceptNamed(id);
  if (concept === undefined || field.inRow) return undefined;
  return { ...field, concept, kind: field.kind === 'number' ? 'number' : concept.kind, phrases: [] };
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
