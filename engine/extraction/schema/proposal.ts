import { readThrough } from '../../document/wholeBlocks.ts';
import type { Document } from '../../document/document.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { Citation } from '../../ports/extractionEngine.ts';
import { extract } from '../extract.ts';
import probes from './proposals.json' with { type: 'json' };
import { sourceOf } from '../source.ts';
import { addParts, addSections } from './proposedParts.ts';
import {
  addBlocks,
  FIELDS_MAX,
  LISTS_MAX,
  isPaid,
  Properties as Named,
  proposedSchema,
  withIssuer,
} from './proposedSchema.ts';

/** Longer documents are proposed for by their first pages: each look at one costs as an extraction. */
const PAGES_MAX = 60;
const FIRST_PAGES = 20;
/** A field that documents do not name themselves must be found so surely. */
const SURE = 0.6;

/** What stands elsewhere than beside its label must be found so surely. */
const SURE_ELSEWHERE = 0.75;

type Properties = Readonly<Record<string, JsonObject>>;

/**
 * The schema that a document suggests: the fields that it names itself, and those that documents of its kind have, as
 * far as an extraction finds them; in the order in which they stand there. Nothing that is found under one name is
 * proposed under another, and nothing that an extraction by the schema would leave out, or would find elsewhere than
 * beside its label. Where no time is left, what was told until then is proposed.
 */
export function proposalFor(whole: Document, isLate: () => boolean = () => false): JsonObject {
  const isLong = whole.pages.length > PAGES_MAX;
  const document = readThrough(isLong ? { ...whole, pages: whole.pages.slice(0, FIRST_PAGES) } : whole);
  const blocks = document.pages.flatMap((page) => page.blocks);
  if (isLate()) return proposedSchema(blocks);
  const source = sourceOf(document);
  const named = new Named(source.labels);
  const isTold = addSections(source, named);
  const isOfRecord = addBlocks(blocks, named, { labels: source.labels, isTold });
  addParts(source, named, (text) => isTold(text) || isOfRecord(text));
  const look = (properties: Properties): Found => {
    const { value, citations } = extract(document, schemaOf(properties), { isLate });
    return foundOf(properties, { value, citations });
  };
  const all = withIssuer(blocks, named.asObject(), source.labels);
  const own = withoutTables(distinct(look(all), (name) => named.valuesOf(name)));
  const paid = isPaid(own.properties, source.labels);
  // Beside many other fields these are found in fewer documents.
  const [heads, probed] = parted(probesFor(own, paid), (name) => IN_HEADS.has(name));
  const more = newOf(own, joined(look(probed), look(heads)), paid);
  const rest = more.isPaid && !paid ? probesFor(own, true) : {};
  // What a paper names before a colon are the headings of its paragraphs.
  const isHeading = (_name: string, { type, format }: JsonObject): boolean =>
    type === 'string' && format === undefined;
  const said = more.isPaper ? parted(own.properties, isHeading)[1] : own.properties;
  const asked = { ...said, ...rest, ...more.properties };
  if (isLate()) return ordered(own);
  // Lists do not depend on what else is asked for: they were found.
  const known = { ...said, ...more.properties };
  const isFound = (name: string, property: JsonObject): boolean =>
    isList(property) && known[name] !== undefined;
  const [lists, singles] = parted(asked, isFound);
  const last = distinct(look(singles), (name) => named.valuesOf(name));
  const sure = parted(last.properties, (name) => rest[name] === undefined || isSure(name, last))[0];
  return ordered({
    properties: { ...sure, ...lists },
    value: { ...own.value, ...more.value, ...last.value },
    citations: [...last.citations, ...own.citations, ...more.citations],
  });
}

const joined = (one: Found, other: Found): Found => ({
  properties: { ...one.properties, ...other.properties },
  value: { ...one.value, ...other.value },
  citations: [...one.citations, ...other.citations],
});

const schemaOf = (properties: Properties): JsonObject => ({ type: 'object', properties });

interface Found {
  readonly properties: Properties;
  readonly value: JsonObject;
  readonly citations: readonly Citation[];
}

const isList = ({ type }: JsonObject): boolean => type === 'array';

function parted(
  properties: Properties,
  test: (name: string, property: JsonObject) => boolean,
): readonly [are: Properties, others: Properties] {
  const all = Object.entries(properties);
  const of = (is: boolean): Properties => Object.fromEntries(all.filter((one) => test(...one) === is));
  return [of(true), of(false)];
}

/** The properties that an extraction found, of lists the members that some row has. */
function foundOf(properties: Properties, { value, citations }: Omit<Found, 'properties'>): Found {
  const kept = Object.entries(properties).flatMap(([name, property]): readonly [string, JsonObject][] => {
    const found = value[name];
    if (found === undefined) return [];
    return [[name, Array.isArray(found) ? withMembers(property, found) : property]];
  });
  return { properties: Object.fromEntries(kept), value, citations };
}

function withMembers(property: JsonObject, rows: readonly Json[]): JsonObject {
  const { items } = property;
  if (!isObject(items) || !isObject(items['properties'])) return property;
  const names = new Set(rows.flatMap((row) => (isObject(row) ? Object.keys(row) : [])));
  const members = Object.entries(items['properties']).filter(([name]) => names.has(name));
  return { ...property, items: { ...items, properties: Object.fromEntries(members) } };
}

/** Of fields found in one place the first, and of lists with the same rows; what its label says is found there. */
function distinct(found: Found, valuesOf: (name: string) => readonly string[]): Found {
  const places = new Set<string>();
  const kept = Object.entries(found.properties).filter(([name, property]) => {
    const place = placeOf(found, name);
    const isNew =
      !places.has(place) && (isList(property) || isBeside(citationOf(found, name), valuesOf(name)));
    if (isNew) places.add(place);
    return isNew;
  });
  return { ...found, properties: Object.fromEntries(kept) };
}

/** Of a list all that it has: two lists may begin in one place. */
function placeOf(found: Found, name: string): string {
  const { type, format } = found.properties[name] ?? {};
  const cited = citationOf(found, name);
  if (type === 'array' || cited === undefined) return JSON.stringify(found.value[name]);
  return JSON.stringify([cited.page, cited.bbox ?? cited.text, format, type]);
}

function isBeside(cited: Citation | undefined, values: readonly string[]): boolean {
  const { text = '', confidence = 0 } = cited ?? {};
  return confidence >= SURE_ELSEWHERE || values.length === 0 || values.some((one) => isPart(one, text));
}

/** The tables of a document whose figures are told by line and period say nothing more. */
function withoutTables(found: Found): Found {
  if (found.properties['figures'] === undefined) return found;
  return { ...found, properties: parted(found.properties, (name) => /^items(?:_\d+)?$/.test(name))[1] };
}

/** Either text has the other, but for marks and white. */
function isPart(one: string, other: string): boolean {
  const [a, b] = [textOf(one), textOf(other)];
  return b.includes(a) || (a.includes(b) && 2 * b.length >= a.length);
}

const citationOf = ({ citations }: Found, name: string): Citation | undefined =>
  citations.find(({ path }) => path === `/${name}` || path.startsWith(`/${name}/`));

/**
 * No names that the document has itself, and no list of items where it has one. Who sells and what a paper is called
 * stand in the same place: a document that asks for money is asked for the one, others for the other.
 */
const probesFor = ({ properties }: Found, paid: boolean): Properties =>
  parted(
    probes,
    (name) =>
      properties[name] === undefined &&
      name !== (Object.values(properties).some(isOfEntries) ? 'title' : 'name') &&
      !(paid ? HEADS : PAID).has(name) &&
      (properties['figures'] === undefined || !KINDS.some(({ names }) => names.has(name))) &&
      (name !== 'items' || !Object.values(properties).some(hasRows)),
  )[0];

const hasRows = ({ items }: JsonObject): boolean => isObject(items) && items['properties'] !== undefined;

/** What documents of one kind have: proposed where enough of it is found that shows the kind. */
interface Kind {
  readonly names: ReadonlySet<string>;
  readonly shown: readonly string[];
  readonly least: number;
}

const TOTALS = ['net_total', 'tax_total', 'grand_total', 'amount_due'];
const PAID: ReadonlySet<string> = new Set([
  'invoice_date',
  'due_date',
  'seller',
  'seller_address',
  'buyer',
  'items',
  'currency',
]);
const HEADS: ReadonlySet<string> = new Set([
  'title',
  'authors',
  'abstract',
  'keywords',
  'references',
  'name',
]);
const ENTRIES = ['organization', 'from', 'to'];

const KINDS: readonly Kind[] = [
  {
    names: new Set(['invoice_number', ...PAID, ...TOTALS]),
    shown: ['paid', 'invoice_number', ...TOTALS, 'seller_vat_id', 'iban'],
    least: 2,
  },
  {
    names: new Set(['parties', 'effective_date', 'governing_law', 'term']),
    shown: ['parties', 'governing_law'],
    least: 1,
  },
  {
    names: new Set(['authors', 'abstract', 'keywords', 'references']),
    shown: ['abstract', 'keywords', 'references'],
    least: 1,
  },
];

const isOfEntries = ({ items }: JsonObject): boolean =>
  isObject(items) &&
  isObject(items['properties']) &&
  ENTRIES.some((name) => isObject(items['properties']) && items['properties'][name] !== undefined);

/** Works that are cited, and abstracts, are longer than names. */
const LONG = 40;
const LONG_ONES = new Set(['references', 'abstract']);
/** The head of a paper or of a CV, where it is one, needs less to be sure. */
const IN_HEADS = new Set(['title', 'abstract', 'name']);
const SURE_IN_HEADS = 0.5;

function isSure(name: string, found: Found): boolean {
  const { confidence = 0 } = citationOf(found, name) ?? {};
  const value = found.value[name];
  const texts = Array.isArray(value) ? value : [value];
  if (LONG_ONES.has(name) && !texts.some((text) => typeof text === 'string' && text.length > LONG))
    return false;
  if (name === 'parties' && texts.length < 2) return false;
  return confidence >= (IN_HEADS.has(name) ? SURE_IN_HEADS : SURE);
}

/** What was found besides, surely and with a value that no field has yet. */
function newOf(
  own: Found,
  probed: Found,
  paid: boolean,
): Found & Readonly<Record<'isPaid' | 'isPaper', boolean>> {
  const said = new Set(Object.keys(own.properties).map((name) => textOf(own.value[name] ?? null)));
  const sure = new Set(Object.keys(probed.properties).filter((name) => isSure(name, probed)));
  if (paid) sure.add('paid');
  const isOfKind = (name: string): boolean =>
    KINDS.every(
      ({ names, shown, least }) => !names.has(name) || shown.filter((one) => sure.has(one)).length >= least,
    );
  const kept = Object.entries(probed.properties).filter(([name]) => {
    const text = textOf(probed.value[name] ?? null);
    const isNew = sure.has(name) && isOfKind(name) && !said.has(text);
    if (isNew) said.add(text);
    return isNew;
  });
  return {
    ...probed,
    properties: Object.fromEntries(kept),
    isPaid: isOfKind('seller'),
    isPaper: isOfKind('authors'),
  };
}

const textOf = (value: Json): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)).replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();

/** As they stand in the document; no more than a reader can use, the surest. */
function ordered(found: Found): JsonObject {
  const at = new Map(Object.keys(found.properties).map((name) => [name, citationOf(found, name)]));
  const sureOf = (name: string): number => at.get(name)?.confidence ?? 0;
  const surest = (properties: Properties, most: number): readonly string[] =>
    Object.keys(properties)
      .sort((a, b) => sureOf(b) - sureOf(a))
      .slice(0, most);
  const [lists, singles] = parted(found.properties, (_name, property) => isList(property));
  const kept = [...surest(singles, FIELDS_MAX), ...surest(lists, LISTS_MAX)];
  const topOf = (name: string): readonly [number, number] => [
    at.get(name)?.page ?? 0,
    at.get(name)?.bbox?.[1] ?? 0,
  ];
  const before = (a: string, b: string): number => topOf(a)[0] - topOf(b)[0] || topOf(a)[1] - topOf(b)[1];
  return schemaOf(Object.fromEntries(kept.sort(before).map((name) => [name, found.properties[name] ?? {}])));
}
