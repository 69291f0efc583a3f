import { memberPointer, asObject, type Json, type JsonObject, listOf } from '../../kernel/json.ts';
import { nullnessOf } from '../schema/nullness.ts';
import { conceptNamed, type Concept, type ValueKind } from '../words/concepts.ts';
import { conceptOf, isVague, type Naming, roleIn, type Role } from './fieldConcepts.ts';
import { labelWords, nameWords } from '../words/labelWords.ts';
import { lexicon } from '../words/lexicon.ts';
import { printedLabels, termsOf, type Terms } from './terms.ts';
import { computationIn, type Computation } from './computation.ts';
import { exampleScripts, type Script, withoutExamples } from './examples.ts';
import { buildOf, valueTypes, waysOf, type Way } from './ways.ts';
import { wantsOf, type Wants } from './wants.ts';

/** A leaf of the schema: what to look for, and how it is called. */
export interface Field {
  /** JSON Pointer; of a row's member, the part below the row. */
  readonly pointer: string;
  readonly kind: ValueKind;
  /** JSON type of the value. */
  readonly type: 'string' | 'number' | 'integer' | 'boolean';
  readonly withTime: boolean;
  /** The texts of `enum` or `const`. */
  readonly choices: readonly string[];
  /** All values of `enum` or `const`; left out where the schema has neither. */
  readonly allowed?: readonly Json[];
  readonly format?: string;
  /** The same field as it is read where this way finds nothing: by its other types, in the schema's order. */
  readonly others?: readonly Field[];
  readonly concept: Concept | undefined;
  /** Whose it is, as its name, its parents' or its description say. */
  readonly role: Role | undefined;
  /** The schema wants the text as the document has it, also where it is a date. */
  readonly asPrinted?: boolean | undefined;
  /** It is to be worked out of the rows of a table. */
  readonly computed?: Computation | undefined;
  /** A member of a row of a list. */
  readonly inRow: boolean;
  /** Its own names: property, title, parent with property; and the labels that its description says are printed. */
  readonly phrases: readonly (readonly string[])[];
  /** The scripts of the examples of values that the schema gives; left out where a value is no text. */
  readonly examples?: ReadonlySet<Script>;
  /** Its description. */
  readonly about: readonly (readonly string[])[];
  /** All that the schema says of it, as labels may say it. */
  readonly terms: Terms;
  /** What its words ask for. */
  readonly wants: Wants;
}

/** The schema as a tree of what can be filled. */
export type SchemaNode =
  | { readonly kind: 'leaf'; readonly field: Field }
  | ObjectNode
  | {
      readonly kind: 'rows';
      readonly pointer: string;
      readonly columns: ReadonlyMap<string, SchemaNode>;
      readonly called: Called;
      /** Of rows that have several shapes; `columns` are those of them all. */
      readonly shapes?: readonly ObjectNode[];
    }
  | { readonly kind: 'list'; readonly pointer: string; readonly field: Field }
  /** A value that the schema gives itself: it stands where anything else of its object does. */
  | { readonly kind: 'fixed'; readonly value: Json }
  /** Shapes of one place: the one that is filled best. */
  | { readonly kind: 'ways'; readonly ways: readonly SchemaNode[] }
  /** Members whose names the document gives: each is `item`, or a row that `key` names. */
  | {
      readonly kind: 'map';
      readonly pointer: string;
      /** How the map itself is called. */
      readonly field: Field;
      readonly item: Extract<SchemaNode, { readonly kind: 'leaf' | 'list' }> | RowsByName;
    }
  /** Lists in a list; `item` has the pointer of the list itself. */
  | { readonly kind: 'nested'; readonly pointer: string; readonly item: SchemaNode; readonly called: Called };

/** Rows that stand under the name that each has in a column of its own. */
export interface RowsByName {
  readonly kind: 'named_rows';
  readonly key: Field;
  readonly columns: ReadonlyMap<string, SchemaNode>;
  readonly called: Called;
}

export interface ObjectNode {
  readonly kind: 'object';
  readonly members: ReadonlyMap<string, SchemaNode>;
  readonly required: ReadonlySet<string>;
}

/** How the schema calls a list of rows: by its names, and in its description, as written. */
export interface Called {
  readonly phrases: readonly (readonly string[])[];
  readonly description: string;
}

interface MemberAt {
  readonly pointer: string;
  readonly name: string;
  /** Names of the objects around it, the outermost first. */
  readonly parents: readonly string[];
  /** Names of the objects beside the one that it is a member of. */
  readonly others: readonly string[];
  readonly inRow: boolean;
  readonly depth: number;
  /** The object around it must have it. */
  readonly required: boolean;
  /** The schemas around it: one that holds itself ends there, for a row has no rows to fill. */
  readonly around: ReadonlySet<unknown>;
}

/** What a tree is made of, and how many nodes it may still have. */
interface Growing {
  readonly root: JsonObject;
  left: number;
  /** Schemas that ended where they held themselves. */
  cuts: number;
  /** Rows by the JSON of their schema: lists whose rows are alike share the nodes of these. */
  readonly rows: Map<string, SchemaNode | undefined>;
}

const DEPTH_MAX = 16;
const NODES_MAX = 10_000;

const TOP: MemberAt = {
  pointer: '',
  name: '',
  parents: [],
  others: [],
  inRow: false,
  depth: 0,
  required: true,
  around: new Set(),
};

/** The tree of a schema. References are followed, cycles and what cannot be filled are left out. */
export const schemaTree = (schema: JsonObject): SchemaNode | undefined =>
  nodeOf({ root: schema, left: NODES_MAX, cuts: 0, rows: new Map() }, schema, TOP);

function nodeOf(growing: Growing, raw: unknown, place: MemberAt): SchemaNode | undefined {
  if (place.depth > DEPTH_MAX || growing.left <= 0) return undefined;
  growing.left -= 1;
  const cut = (): void => {
    growing.cuts += 1;
  };
  const nodes = waysOf({ root: growing.root, raw, around: place.around, cut }).flatMap(
    (way) => nodeByWay(growing, way, { ...place, around: way.around }) ?? [],
  );
  const node = oneNode(nodes);
  const given = place.required && node?.kind === 'leaf' ? givenIn(node.field) : undefined;
  return given === undefined || nullnessOf(growing.root, raw) === 'said'
    ? node
    : { kind: 'fixed', value: given };
}

/** The only value that a field may have; undefined where there are others. */
const givenIn = ({ allowed = [], pointer }: Field): Json | undefined =>
  allowed.length === 1 && pointer !== '' ? allowed[0] : undefined;

function nodeByWay(growing: Growing, { schema }: Way, place: MemberAt): SchemaNode | undefined {
  switch (buildOf(schema)) {
    case 'object':
      return objectNode(growing, schema, place);
    case 'array':
      return arrayNode(growing, schema, place);
    case 'value':
      return valueNode(schema, place);
  }
}

/** All values are one leaf, whatever their types are. */
function oneNode(nodes: readonly SchemaNode[]): SchemaNode | undefined {
  const fields = nodes.flatMap((node) => (node.kind === 'leaf' ? [node.field] : []));
  const [first, ...others] = fields;
  const leaf = first && { kind: 'leaf' as const, field: withOthers(first, others) };
  const at = nodes.findIndex(({ kind }) => kind === 'leaf');
  const ways = nodes.flatMap((node, i): readonly SchemaNode[] => {
    if (node.kind !== 'leaf') return [node];
    return i === at && leaf !== undefined ? [leaf] : [];
  });
  return ways.length > 1 ? { kind: 'ways', ways } : ways[0];
}

function withOthers(field: Field, others: readonly Field[]): Field {
  const all = [field, ...others].flatMap(({ others: more = [], ...one }): readonly Field[] => [one, ...more]);
  const choices = all.every((one) => one.type === 'string' && one.choices.length > 0)
    ? all.flatMap((one) => one.choices)
    : undefined;
  if (choices !== undefined) return { ...field, choices, allowed: choices };
  const [first = field, ...rest] = all;
  return rest.length === 0 ? first : { ...first, others: rest };
}

function objectNode(growing: Growing, schema: JsonObject, place: MemberAt): SchemaNode | undefined {
  const required = new Set(namesIn(schema['required']));
  const properties = Object.entries(asObject(schema['properties']) ?? {});
  if (properties.length === 0) return mapNode(growing, schema, place);
  const members = new Map<string, SchemaNode>();
  const objects = properties.flatMap(([name, child]) => (hasMembers(child) ? [name] : []));
  for (const [name, child] of properties) {
    const node = nodeOf(growing, child, {
      pointer: memberPointer(place.pointer, name),
      name,
      parents: place.name === '' ? place.parents : [...place.parents, place.name],
      others: hasMembers(child) ? objects.filter((other) => other !== name) : place.others,
      inRow: place.inRow,
      depth: place.depth + 1,
      required: required.has(name),
      around: place.around,
    });
    if (node !== undefined) members.set(name, node);
  }
  return { kind: 'object', members, required };
}

const hasMembers = (schema: unknown): boolean =>
  asObject(schema)?.['properties'] !== undefined || asObject(schema)?.['$ref'] !== undefined;

const namesIn = (value: unknown): readonly string[] => listOf(value).filter((one) => typeof one === 'string');

/** The pointer of the name of a row: no member has it, for `~` stands only in `~0` and `~1`. */
const KEY = '/~key';

/** An object that names no members of its own, but says what they are. Its entries have no place in a row. */
function mapNode(growing: Growing, schema: JsonObject, place: MemberAt): SchemaNode | undefined {
  const { pointer, depth: above, around } = place;
  const said = valuesIn(schema);
  if (said === undefined || place.inRow || place.name === '')
    return { kind: 'object', members: new Map(), required: new Set() };
  const field = fieldOf(schema, 'string', place);
  const depth = above + 1;
  const one = waysIn(nodeOf(growing, said, { ...place, required: false, depth }))[0];
  if (one?.kind === 'leaf' || one?.kind === 'list') return { kind: 'map', pointer, field, item: one };
  const item = rowsByName(waysIn(rowOf(growing, said, { depth, around }))[0], schema, place);
  return item && { kind: 'map', pointer, field, item };
}

/** The schema of members that are not named; undefined where there can be none, or nothing is said of them. */
function valuesIn({ patternProperties, additionalProperties }: JsonObject): Json | undefined {
  const [pattern] = Object.values(asObject(patternProperties) ?? {});
  const said = pattern ?? additionalProperties;
  return said === false ? undefined : said;
}

function rowsByName(
  row: SchemaNode | undefined,
  schema: JsonObject,
  place: MemberAt,
): RowsByName | undefined {
  if (row?.kind !== 'object') return undefined;
  const named = { ...TOP, pointer: KEY, name: place.name, inRow: true };
  const key = fieldOf(asObject(schema['propertyNames']) ?? {}, 'string', named);
  return { kind: 'named_rows', key, columns: row.members, called: calledOf(schema, place) };
}

function arrayNode(growing: Growing, schema: JsonObject, place: MemberAt): SchemaNode | undefined {
  const { around, pointer } = place;
  const items = schema['items'] ?? (schema['prefixItems'] === undefined ? true : undefined);
  if (items === undefined || Array.isArray(items)) return undefined;
  const depth = place.depth + 1;
  const rows = rowsNode(rowOf(growing, items, { depth, around }), calledOf(schema, place), pointer);
  const one = nodeOf(growing, describedBy(schema, items), { ...place, required: false, depth });
  const lists = waysIn(one).flatMap((node) => listNode(node, schema, place) ?? []);
  return oneNode([...(rows === undefined ? [] : [rows]), ...lists]);
}

/** A row is the same wherever its list stands, unless it ends where it would hold itself. */
function rowOf(
  growing: Growing,
  items: unknown,
  place: Pick<MemberAt, 'depth' | 'around'>,
): SchemaNode | undefined {
  const key = JSON.stringify(items);
  const known = growing.rows.get(key);
  if (known !== undefined) return known;
  const before = growing.cuts;
  const row = nodeOf(growing, items, { ...TOP, inRow: true, ...place });
  if (growing.cuts === before) growing.rows.set(key, row);
  return row;
}

const waysIn = (node: SchemaNode | undefined): readonly SchemaNode[] => {
  if (node === undefined) return [];
  return node.kind === 'ways' ? node.ways : [node];
};

const LISTS: ReadonlySet<SchemaNode['kind']> = new Set(['list', 'rows', 'nested'] as const);

/** A list of values, or of lists: these have no place in a row. */
function listNode(item: SchemaNode, schema: JsonObject, place: MemberAt): SchemaNode | undefined {
  const { pointer, inRow } = place;
  if (item.kind === 'leaf') return { kind: 'list', pointer, field: item.field };
  if (inRow || !LISTS.has(item.kind)) return undefined;
  return { kind: 'nested', pointer, item, called: calledOf(schema, place) };
}

/** A list of objects; of several shapes, each row has that which it fills best. */
function rowsNode(item: SchemaNode | undefined, called: Called, pointer: string): SchemaNode | undefined {
  const shapes = waysIn(item).filter((way) => way.kind === 'object');
  const [shape, ...others] = shapes;
  if (shape === undefined) return undefined;
  if (others.length === 0) return { kind: 'rows', pointer, columns: shape.members, called };
  return { kind: 'rows', pointer, columns: columnsOf(shapes), called, shapes };
}

/** The members of all shapes of a list's rows. */
function columnsOf(shapes: readonly ObjectNode[]): ReadonlyMap<string, SchemaNode> {
  const columns = new Map<string, SchemaNode>();
  for (const { members } of shapes)
    for (const [name, node] of members) {
      const before = columns.get(name);
      const both = before === undefined ? node : oneNode([before, node]);
      columns.set(name, both?.kind === 'leaf' ? both : (before ?? node));
    }
  return columns;
}

const calledOf = (schema: JsonObject, place: MemberAt): Called => ({
  phrases: [...namesOf(schema, place).phrases, ...printedIn(schema)],
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

function valueNode(schema: JsonObject, place: MemberAt): SchemaNode {
  const [type = 'string', ...others] = valueTypes(schema);
  const field = fieldOf(schema, type, place);
  const also = others.map((one) => fieldOf(schema, one, place));
  return { kind: 'leaf', field: withOthers(field, also) };
}

/** The labels that a description says are printed. */
const printedIn = ({ description }: JsonObject): readonly (readonly string[])[] =>
  texts(description)
    .flatMap(printedLabels)
    .map(labelWords)
    .filter(({ length }) => length > 0);

const texts = (value: unknown): readonly string[] => (typeof value === 'string' ? [value] : []);

function fieldOf(schema: JsonObject, rawType: string, place: MemberAt): Field {
  const type = rawType === 'number' || rawType === 'integer' || rawType === 'boolean' ? rawType : 'string';
  const { inRow } = place;
  const limits = limitsOf(schema, type);
  const named = namesOf(schema, place);
  const known = kindByFormat(limits.format ?? saidFormat(schema), type);
  const concept = conceptOf({ ...named, kind: known, inRow });
  const own = named.phrases.filter((words) => concept === undefined || !isVague(words));
  const labels = [...own, ...printedIn(schema)];
  const { name, parents, others } = place;
  const terms = termsOf({ name, parents, others, schema: withoutExamples(schema) });
  return {
    pointer: place.pointer,
    kind: known ?? (limits.choices.length > 0 ? 'text' : (concept?.kind ?? 'text')),
    type,
    ...limits,
    concept,
    role: named.role,
    asPrinted: isAsPrinted(schema, known ?? type),
    computed: computedBy(schema, type, inRow),
    inRow,
    phrases: labels,
    about: named.about,
    terms,
    wants: { name: wantsOf(terms.name), all: wantsOf(terms.all) },
  };
}

const computedBy = ({ description }: JsonObject, type: Field['type'], inRow: boolean): Field['computed'] =>
  type === 'number' || type === 'integer' ? computationIn(texts(description).join(' '), inRow) : undefined;

/** How the schema calls a field: its own name, that with its parent's, its title, its description. */
function namesOf(schema: JsonObject, place: MemberAt): Omit<Naming, 'kind' | 'inRow'> {
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

/** The same field by its concept's stand-in; undefined where there is none. */
export function standIn(field: Field): Field | undefined {
  const concept = conceptNamed(field.concept?.standIn);
  if (concept === undefined || field.inRow) return undefined;
  return { ...field, concept, kind: field.kind === 'number' ? 'number' : concept.kind, phrases: [] };
}

/** The values that `enum` or `const` allow but null; undefined where the schema has neither. */
function allowedBy({ enum: listed, const: fixed }: JsonObject): readonly Json[] | undefined {
  const all = fixed === undefined ? listed : [fixed];
  return Array.isArray(all) ? (all as readonly Json[]).filter((one) => one !== null) : undefined;
}

/** What values a schema takes, beside their type. */
function limitsOf(
  schema: JsonObject,
  type: Field['type'],
): Pick<Field, 'withTime' | 'choices' | 'allowed' | 'format' | 'examples'> {
  const { format } = schema;
  const allowed = allowedBy(schema);
  const texts = (allowed ?? []).filter((one) => typeof one === 'string');
  return {
    withTime: format === 'date-time',
    choices: type === 'string' ? texts : [],
    ...(allowed !== undefined && { allowed }),
    ...(typeof format === 'string' && { format }),
    ...(type === 'string' && { examples: exampleScripts(schema) }),
  };
}

const KINDS_BY_FORMAT: ReadonlyMap<unknown, ValueKind> = new Map<unknown, ValueKind>([
  ['date', 'date'],
  ['date-time', 'date'],
  ['email', 'email'],
  ['idn-email', 'email'],
  ['uri', 'url'],
  ['url', 'url'],
  ['iri', 'url'],
]);

const AS_PRINTED = new RegExp(`(?<!\\p{L})${lexicon.forms.as_printed.pattern}(?!\\p{L})`, 'iu');

const isAsPrinted = ({ description }: JsonObject, as: string): boolean =>
  as === 'string' && typeof description === 'string' && AS_PRINTED.test(description);

/** A description may say the format: "Return in YYYY-MM-DD format". */
const saidFormat = ({ description }: JsonObject): string | undefined =>
  typeof description === 'string' && /(?<![\w-])YYYY-MM-DD(?![\w-])/u.test(description) ? 'date' : undefined;

function kindByFormat(format: unknown, type: string): ValueKind | undefined {
  if (type === 'boolean') return 'boolean';
  return type === 'number' || type === 'integer' ? 'number' : KINDS_BY_FORMAT.get(format);
}
