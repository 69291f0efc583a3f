import type { JsonObject } from '../kernel/json.ts';
import { resolveLocal } from '../extraction/schemaRules.ts';
import { isOnlyRowConcept, isRowConcept } from './labels.ts';
import { CONCEPTS, type Concept, type ValueKind } from './lexicon.ts';
import { roleIn, withoutRole, type Role } from './roles.ts';
import { vocabulary, type Vocabulary } from './vocabulary.ts';
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
  /** Whose it is, as its name, its parents' or its description say. */
  readonly role: Role | undefined;
  /** A member of a row of a list. */
  readonly inRow: boolean;
  /** Its own names: property, title, parent with property. */
  readonly phrases: readonly (readonly string[])[];
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
  /** Names of the objects around it, the outermost first. */
  readonly parents: readonly string[];
  readonly inRow: boolean;
  readonly depth: number;
}

const DEPTH_MAX = 12;

/** The tree of a schema. References are followed, cycles and what cannot be filled are left out. */
export function schemaTree(schema: JsonObject): SchemaNode | undefined {
  const top = { pointer: '', name: '', parents: [], inRow: false, depth: 0 };
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
      parents: place.name === '' ? place.parents : [...place.parents, place.name],
      inRow: place.inRow,
      depth: place.depth + 1,
    });
    if (node !== undefined) members.set(name, node);
  }
  return { kind: 'object', members };
}

function arrayNode(root: JsonObject, schema: JsonObject, place: Place): SchemaNode | undefined {
  const row = { pointer: '', name: '', parents: [], inRow: true, depth: place.depth + 1 };
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
  const name = nameWords(place.name);
  const parents = place.parents.flatMap(nameWords);
  const titles = texts(schema['title']).map(labelWords);
  const about = texts(schema['description']).map(labelWords);
  const role = roleIn(name) ?? roleIn([...parents].reverse()) ?? roleIn(about.flat().slice(0, 12));
  const known = kindByFormat(schema['format'], type);
  const around = nameWords(place.parents.at(-1) ?? '').filter((word) => word !== 'address');
  const withParent = around.length === 0 ? [] : [[...around, ...name]];
  const phrases = [...withParent, name, ...titles];
  const concept =
    namedParty(name, role, known) ?? conceptOf({ phrases, about, kind: known, inRow: place.inRow });
  return {
    pointer: place.pointer,
    kind: known ?? (choices.length > 0 ? 'text' : (concept?.kind ?? 'text')),
    type,
    withTime: schema['format'] === 'date-time',
    choices,
    concept,
    role,
    inRow: place.inRow,
    phrases: [name, ...withParent, ...titles].filter(
      (words) => words.length > 0 && (concept === undefined || !words.every((word) => VAGUE.has(word))),
    ),
  };
}

/** `name` inside of `customer` is the customer. */
function namedParty(
  name: readonly string[],
  role: Role | undefined,
  kind: ValueKind | undefined,
): Concept | undefined {
  const bare = withoutRole(name);
  const isName = bare.length === 0 || (bare.length === 1 && bare[0] === 'name');
  return isName && kind === undefined ? CONCEPTS.find(({ id }) => id === role) : undefined;
}

/** What is meant where a document has nothing under the first name: a receipt's number for an invoice's. */
const STAND_INS: Readonly<Record<string, string>> = {
  tax_number: 'vat_id', phone: 'mobile', mobile: 'phone', invoice_number: 'receipt_number', receipt_number: 'invoice_number', account_number: 'iban', amount_due: 'grand_total', order_date: 'invoice_date',
}; // prettier-ignore

/** The same field by its concept's stand-in; undefined where there is none. */
export function standIn(field: Field): Field | undefined {
  const id = STAND_INS[field.concept?.id ?? ''];
  const concept = CONCEPTS.find((one) => one.id === id);
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

interface Naming {
  readonly phrases: readonly (readonly string[])[];
  readonly about: readonly (readonly string[])[];
  readonly kind: ValueKind | undefined;
  readonly inRow: boolean;
}

const UNITS = new Set(
  'kwh kg eur usd gbp chf km m2 sqm cm mm percent pct days hours months years excl incl iso'.split(' '),
);

/** A name may end in the unit of its value. */
const withoutUnit = (words: readonly string[]): readonly string[] =>
  UNITS.has(words.at(-1) ?? '') ? words.slice(0, -1) : words;

const KNOWN: Vocabulary = vocabulary();
const NAMES_ENOUGH = 0.6;
/** A name without the words of its role counts a little less: `vendor_email` is an email. */
const WITHOUT_ROLE = 0.95;
const BY_DESCRIPTION = 0.9;
/** A name that says next to nothing leaves the word to the description. */
const VAGUE = new Set('nr name date code type value amount text data id number'.split(' '));
const VAGUE_WEIGHT = 0.7;
/** A number is seldom asked for as text. */
const NUMBER_AS_TEXT = 0.8;

/** The concept that the field's names mean best; the description counts a little less than a name. */
function conceptOf({ phrases, about, kind, inRow }: Naming): Concept | undefined {
  const named = likeness(phrases);
  const bare = likeness(
    phrases.map((words) => withoutUnit(withoutRole(words))).filter((words) => words.length > 0),
  );
  const told = likeness(about);
  const vague = phrases.every((words) => words.every((word) => VAGUE.has(word))) ? VAGUE_WEIGHT : 1;
  let best: { concept: Concept; score: number } | undefined;
  for (const concept of CONCEPTS) {
    if (!fits(concept, kind, inRow)) continue;
    const own = vague * Math.max(named.get(concept) ?? 0, WITHOUT_ROLE * (bare.get(concept) ?? 0));
    const said = Math.max(own, BY_DESCRIPTION * (told.get(concept) ?? 0)) + 0.1 * own;
    const score = kind === undefined && isNumeric(concept) ? NUMBER_AS_TEXT * said : said;
    if (score >= NAMES_ENOUGH && score > (best?.score ?? 0)) best = { concept, score };
  }
  return best?.concept;
}

function fits(concept: Concept, kind: ValueKind | undefined, inRow: boolean): boolean {
  if (inRow ? !isRowConcept(concept) : isOnlyRowConcept(concept)) return false;
  if (kind === 'number') return isNumeric(concept);
  return kind === undefined || concept.kind === kind;
}

const isNumeric = ({ kind }: Concept): boolean =>
  kind === 'number' || kind === 'integer' || kind === 'percent';

/** How well each concept is said by the best of the names, both ways: no word of either is left over. */
function likeness(names: readonly (readonly string[])[]): ReadonlyMap<Concept, number> {
  const best = new Map<Concept, number>();
  for (const name of names) {
    for (const { concept, words, score } of KNOWN.phrasesFor(name)) {
      if (score < 0.5) continue;
      const both = Math.min(score, phraseSimilarity(name, words));
      if (both > (best.get(concept) ?? 0)) best.set(concept, both);
    }
  }
  return best;
}
