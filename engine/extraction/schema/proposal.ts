import type { Document } from '../../document/document.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { extract, type LocalExtraction } from '../extract.ts';
import probes from '../lexicon/proposals.json' with { type: 'json' };
import { proposedSchema } from './proposedSchema.ts';

/** Longer documents are proposed for by the names in their blocks alone: each look at one costs as an extraction. */
const PAGES_MAX = 60;
/** A field that documents do not name themselves must be found so surely. */
const SURE = 0.6;

type Properties = Readonly<Record<string, JsonObject>>;

/**
 * The schema that a document suggests: the fields that it names itself, and those that documents often have, as far
 * as an extraction finds them. Nothing that is found under one name is proposed under another, and nothing that an
 * extraction by the schema would leave out. Where no time is left, what was told until then is proposed.
 */
export function proposalFor(document: Document, isLate: () => boolean = () => false): JsonObject {
  const named = proposedSchema(document.pages.flatMap(({ blocks }) => blocks));
  if (document.pages.length > PAGES_MAX) return named;
  const own = foundOf(named.properties, extract(document, named, { isLate }));
  if (isLate()) return named;
  const probed: Properties = probes;
  const more = newOf(own, extract(document, schemaOf(probed), { isLate }), probed);
  if (Object.keys(more).length === 0 || isLate()) return schemaOf(own.properties);
  const all = { ...own.properties, ...more };
  const last = foundOf(all, extract(document, schemaOf(all), { isLate }));
  return schemaOf(isLate() ? own.properties : last.properties);
}

const schemaOf = (properties: Properties): JsonObject => ({ type: 'object', properties });

interface Found {
  readonly properties: Properties;
  readonly value: JsonObject;
}

/** The properties that an extraction found, of lists the members that some row has. */
function foundOf(properties: Properties, { value }: LocalExtraction): Found {
  const kept = Object.entries(properties).flatMap(([name, property]): readonly [string, JsonObject][] => {
    const found = value[name];
    if (found === undefined) return [];
    return [[name, Array.isArray(found) ? withMembers(property, found) : property]];
  });
  return { properties: Object.fromEntries(kept), value };
}

function withMembers(property: JsonObject, rows: readonly Json[]): JsonObject {
  const { items } = property;
  if (!isObject(items) || !isObject(items['properties'])) return property;
  const names = new Set(rows.flatMap((row) => (isObject(row) ? Object.keys(row) : [])));
  const members = Object.entries(items['properties']).filter(([name]) => names.has(name));
  return { ...property, items: { ...items, properties: Object.fromEntries(members) } };
}

/** What was found besides, surely and with a value that no field has yet; a list where there is none. */
function newOf(own: Found, { value, citations }: LocalExtraction, probed: Properties): Properties {
  const said = new Set(Object.values(own.value).map(textOf));
  const hasRows = Object.values(own.value).some((one) => Array.isArray(one));
  const found = Object.entries(value).filter(([name, one]) => {
    if (own.properties[name] !== undefined || said.has(textOf(one))) return false;
    if (Array.isArray(one) && one.some(isObject)) return !hasRows;
    const sure = citations.some(({ path, confidence }) => path.startsWith(`/${name}`) && confidence >= SURE);
    if (sure) said.add(textOf(one));
    return sure;
  });
  return Object.fromEntries(
    found.flatMap(([name]) => (probed[name] === undefined ? [] : [[name, probed[name]]])),
  );
}

const textOf = (value: Json): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)).replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();
