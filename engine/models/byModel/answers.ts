import type { DocumentWarning } from '../../document/document.ts';
import { canonicalJson } from '../../kernel/canonicalJson.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { GroundedValue } from '../../ports/documentTools.ts';
import type { ValueCitation } from '../../ports/extractionEngine.ts';

type Evidence = Pick<GroundedValue, 'value' | 'citations'>;

/** One answer, and what of the others is not in it. */
export interface Merged {
  readonly value: JsonObject;
  /** Where its values come from, as the parts told. */
  readonly citations: readonly ValueCitation[];
  /** `merged`: what was said more than once; `contradicted`: what was said against what is in it. */
  readonly warnings: readonly DocumentWarning[];
}

/** What one part of the document says at one place. */
interface Said {
  readonly value: Json;
  /** JSON Pointer into the answer of the part. */
  readonly path: string;
  readonly part: Part;
}

interface Part {
  readonly number: number;
  /** By their pointers. */
  readonly cited: ReadonlyMap<string, ValueCitation>;
  /** Pointers of the values in an object or a list. */
  readonly inside: ReadonlyMap<string, readonly string[]>;
}

/**
 * One answer from those to the parts of a document. Nothing is lost: of several values for one place the one that
 * stands on the pages is taken, of these the surest, then the first, and the others are told. Lists are joined in
 * the order of the parts; an item that two parts tell, with the same content or from the same place, is kept once.
 * Linear in the answers.
 */
export function mergedAnswers(answers: readonly Evidence[]): Merged {
  const all = answers.map(({ value, citations }, number): Said => ({
    value,
    path: '',
    part: partOf(number, citations),
  }));
  const notes: Notes = { log: [], taken: [] };
  const merged = mergedValue(all, '', notes);
  const { log, taken } = notes;
  const rest = log.length - WARNINGS_MAX;
  const more: DocumentWarning[] =
    rest > 0 ? [{ code: 'merged', message: `${rest} more places were said by several parts.` }] : [];
  return {
    value: isObject(merged) ? merged : {},
    citations: taken.flatMap(({ at, said: { path, part } }) =>
      (part.inside.get(path) ?? []).flatMap((inside) => {
        const cited = part.cited.get(inside);
        return cited === undefined ? [] : [{ ...cited, path: `${at}${inside.slice(path.length)}` }];
      }),
    ),
    warnings: [...log.slice(0, WARNINGS_MAX), ...more],
  };
}

/** What is noted while answers are merged. */
interface Notes {
  readonly log: DocumentWarning[];
  /** What is taken as one part tells it, and where it is in the merged answer. */
  readonly taken: { readonly at: string; readonly said: Said }[];
}

const WARNINGS_MAX = 100;

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

function partOf(number: number, citations: readonly ValueCitation[]): Part {
  const inside = new Map<string, string[]>();
  for (const { path } of citations)
    for (let at = path; ; at = at.slice(0, at.lastIndexOf('/'))) {
      const paths = inside.get(at);
      if (paths === undefined) inside.set(at, [path]);
      else paths.push(path);
      if (at === '') break;
    }
  return { number, cited: new Map(citations.map((one) => [one.path, one])), inside };
}

function mergedValue(said: readonly Said[], at: string, notes: Notes): Json | undefined {
  const [only, ...others] = said;
  if (only !== undefined && others.length === 0) {
    notes.taken.push({ at, said: only });
    return only.value;
  }
  const objects = said.filter(({ value }) => isObject(value));
  if (objects.length > 0) return mergedObject(objects, at, notes);
  const lists = said.filter(({ value }) => isList(value));
  return lists.length > 0 ? mergedList(lists, at, notes) : bestOf(said, at, notes);
}

function mergedObject(said: readonly Said[], at: string, notes: Notes): JsonObject {
  const members = new Map<string, Said[]>();
  for (const { value, path, part } of said)
    for (const [key, member] of Object.entries(isObject(value) ? value : {})) {
      const one = { value: member, path: `${path}/${pointerPart(key)}`, part };
      const same = members.get(key);
      if (same === undefined) members.set(key, [one]);
      else same.push(one);
    }
  return Object.fromEntries(
    [...members].flatMap(([key, all]) => {
      const value = mergedValue(all, `${at}/${pointerPart(key)}`, notes);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

const pointerPart = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

const saysNothing = (value: Json): boolean => value === null || value === '';

/** What stands on the pages says more than what follows from them, and that more than what stands nowhere. */
function weightOf({ value, path, part }: Said): number {
  if (saysNothing(value)) return -1;
  const citation = part.cited.get(path);
  if (citation === undefined || citation.grounding === 'none') return 0;
  return citation.page === null ? citation.confidence : 1 + citation.confidence;
}

/** The surest of those that say something; what others say is told. */
function bestOf(said: readonly Said[], path: string, notes: Notes): Json | undefined {
  let best: { readonly said: Said; readonly value: Json; readonly weight: number } | undefined;
  for (const one of said) {
    const weight = weightOf(one);
    if (best === undefined || weight > best.weight) best = { said: one, value: one.value, weight };
  }
  if (best !== undefined) notes.taken.push({ at: path, said: best.said });
  const others = new Map(said.map(({ value }) => [plain(value), value]));
  if (best !== undefined) others.delete(plain(best.value));
  for (const value of others.values())
    if (!saysNothing(value))
      notes.log.push({
        code: 'contradicted',
        message: 'Another part of the document says this.',
        path,
        value,
      });
  return best?.value;
}

const plain = (value: Json): string =>
  typeof value === 'string' ? value.toLowerCase().replace(/\s+/g, ' ').trim() : canonicalJson(value);

/** An item of a list, by all parts that tell it. */
interface Item {
  readonly said: [Said, ...Said[]];
  readonly places: ReadonlyMap<string, string>;
  /** It stands on one line of a page, all of it: where another like it stands, there is another. */
  readonly isRow: boolean;
}

/** Items in the order in which they are told first. */
function mergedList(said: readonly Said[], at: string, notes: Notes): readonly Json[] {
  const items: Item[] = [];
  const known: Known = { byContent: new Map(), byPlace: new Map() };
  const dropped: Json[] = [];
  for (const { value, path, part } of said)
    for (const [index, one] of (isList(value) ? value : []).entries()) {
      const item = itemOf({ value: one, path: `${path}/${index}`, part });
      const same = sameAs(item, known);
      if (same === undefined) {
        items.push(item);
        remember(item, known);
      } else {
        same.said.push(item.said[0]);
        dropped.push(one);
      }
    }
  if (dropped.length > 0) notes.log.push(mergedWarning(at, dropped));
  const merged: Json[] = [];
  for (const { said: all } of items) {
    const value = mergedValue(all, `${at}/${merged.length}`, notes);
    if (value !== undefined && value !== null) merged.push(value);
  }
  return merged;
}

/** Items that a warning shows. */
const SHOWN_MAX = 20;

const mergedWarning = (path: string, dropped: readonly Json[]): DocumentWarning => ({
  code: 'merged',
  message: `${dropped.length} items were told by several parts of the document, and are kept once.`,
  path,
  value: dropped.slice(0, SHOWN_MAX),
});

function itemOf(said: Said): Item {
  const { path, part } = said;
  const citations = (part.inside.get(path) ?? []).flatMap((at) => part.cited.get(at) ?? []);
  const placed = citations.filter(({ page }) => page !== null);
  const places = placed.map((one) => [one.path.slice(path.length), placeOf(one)] as const);
  return {
    said: [said],
    places: new Map(places),
    isRow: placed.length >= ROW_MIN && placed.length === citations.length && isOneLine(placed),
  };
}

const ROW_MIN = 2;

const placeOf = ({ page, bbox, text }: ValueCitation): string => `${page} ${bbox?.join(' ') ?? text}`;

function isOneLine([first, ...others]: readonly ValueCitation[]): boolean {
  const box = first?.bbox;
  return others.every(
    ({ page, bbox }) =>
      box != null && bbox !== null && page === first?.page && bbox[1] < box[3] && box[1] < bbox[3],
  );
}

interface Known {
  readonly byContent: Map<string, Item[]>;
  readonly byPlace: Map<string, Item[]>;
}

const keysOfPlaces = ({ places }: Item): readonly string[] =>
  [...places].map(([at, place]) => `${at} ${place}`);

function remember(item: Item, { byContent, byPlace }: Known): void {
  const add = (map: Map<string, Item[]>, key: string): void => {
    const same = map.get(key);
    if (same === undefined) map.set(key, [item]);
    else if (same.length < SAME_MAX) same.push(item);
  };
  add(byContent, canonicalJson(item.said[0].value));
  if (isObject(item.said[0].value)) for (const key of keysOfPlaces(item)) add(byPlace, key);
}

/** Items with something in common that a new one is compared with. */
const SAME_MAX = 200;

/** The item of another part that a new one is, told twice. */
function sameAs(item: Item, { byContent, byPlace }: Known): Item | undefined {
  const { value, part } = item.said[0];
  const open = (other: Item): boolean => other.said.every((one) => one.part !== part);
  const equal = (byContent.get(canonicalJson(value)) ?? []).filter(open);
  const near = equal.find((other) => sharedPlaces(item, other) > 0);
  if (near !== undefined) return near;
  const alike = equal.find((other) => !isObject(value) || !item.isRow || !other.isRow);
  if (alike !== undefined || !isObject(value)) return alike;
  const candidates = new Set(keysOfPlaces(item).flatMap((key) => byPlace.get(key) ?? []));
  return [...candidates].find((other) => open(other) && isSamePlace(item, other));
}

function sharedPlaces(a: Item, b: Item): number {
  let shared = 0;
  for (const [at, place] of a.places) if (b.places.get(at) === place) shared += 1;
  return shared;
}

/** They are read from the same place: most of one is there, and nothing of both is elsewhere. */
function isSamePlace(a: Item, b: Item): boolean {
  const shared = sharedPlaces(a, b);
  const both = [...a.places.keys()].filter((at) => b.places.has(at)).length;
  return shared === both && shared * 2 > Math.max(a.places.size, b.places.size);
}

/** Members of a schema that hold schemas by name, and those that hold one or a list of them. */
const BY_NAME = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const INSIDE = new Set([
  'items',
  'prefixItems',
  'additionalItems',
  'additionalProperties',
  'contains',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'then',
  'else',
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
