import type { Json, JsonObject } from '../../kernel/json.ts';
import type { PageRanks, RankedField } from '../../ports/documentTools.ts';

/** A page of a document's text, as models are shown it. */
export interface TextPage {
  /** From 1. */
  readonly page: number;
  readonly text: string;
}

const PAGE_MARK = /^<!-- page (\d+) -->$/gm;

/** The pages of a text with marks between them; a text without marks is one page. */
export function pagesOfText(text: string): readonly TextPage[] {
  const marks = [...text.matchAll(PAGE_MARK)];
  if (marks.length === 0) return [{ page: 1, text }];
  return marks.map((mark, at) => ({
    page: Number(mark[1]),
    text: text.slice(mark.index, marks[at + 1]?.index ?? text.length).trim(),
  }));
}

/** A letter is a word where words are not parted. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{M}]+|\p{N}+(?:[.,]\p{N}+)*/gu;
const FIGURE = '#';

/** Lower case, without the plural; any figure is the same word. */
const wordsOf = (text: string): readonly string[] =>
  (text.normalize('NFKC').toLowerCase().match(WORD) ?? []).map((word) => {
    if (/^\p{N}/u.test(word)) return FIGURE;
    return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
  });

/** Of a field: its words, and how much each counts. */
type Query = ReadonlyMap<string, number>;

interface AskedField extends Pick<RankedField, 'path' | 'isList' | 'isRequired'> {
  readonly query: Query;
}

/** Fields that pages are ranked for; a schema may have thousands. */
const FIELDS_MAX = 256;
const DEPTH_MAX = 12;
/** What words count: of a field's name, of what is said of it, of the object that it is in. */
const WEIGHTS = { name: 2, said: 1, above: 0.5 };

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** A schema with what it refers to and its alternatives beneath it: what may be there, not what must. */
function opened(root: JsonObject, schema: Json | undefined, depth = 0): readonly JsonObject[] {
  if (!isObject(schema) || depth > DEPTH_MAX) return [];
  const ref = schema['$ref'];
  const referred = typeof ref === 'string' ? referredBy(root, ref) : undefined;
  const others = [referred, ...['allOf', 'anyOf', 'oneOf'].flatMap((name) => listOf(schema[name]))];
  return [schema, ...others.flatMap((one) => opened(root, one, depth + 1))];
}

function referredBy(root: JsonObject, ref: string): Json | undefined {
  let at: Json | undefined = root;
  for (const part of ref.split('/').slice(1)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

const allowsNull = (all: readonly JsonObject[]): boolean =>
  all.some(({ type, enum: choices }) => [...listOf(type), type, ...listOf(choices)].some(isNull));
const isNull = (value: Json | undefined): boolean => value === 'null' || value === null;

/** What a schema says in words. */
const saidIn = (all: readonly JsonObject[]): string =>
  all
    .flatMap(({ title, description, enum: choices, const: only }) => [
      title,
      description,
      ...listOf(choices),
      only,
    ])
    .filter((one) => typeof one === 'string')
    .join(' ');

const nameWords = (name: string): string => name.replace(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ');

function addWords(query: Map<string, number>, text: string, weight: number): void {
  for (const word of wordsOf(text))
    if (word !== FIGURE) query.set(word, Math.max(query.get(word) ?? 0, weight));
}

/** All that is named and said in an item of a list. */
function addDeep(query: Map<string, number>, { root, schema }: Opening, depth = 0): void {
  const all = opened(root, schema);
  addWords(query, saidIn(all), WEIGHTS.said);
  if (depth > DEPTH_MAX || query.size > 400) return;
  for (const { properties, items, additionalProperties } of all) {
    for (const [name, member] of Object.entries(isObject(properties) ? properties : {})) {
      addWords(query, nameWords(name), WEIGHTS.said);
      addDeep(query, { root, schema: member }, depth + 1);
    }
    for (const inside of [items, additionalProperties])
      if (isObject(inside)) addDeep(query, { root, schema: inside }, depth + 1);
  }
}

interface Opening {
  readonly root: JsonObject;
  readonly schema: Json | undefined;
}

interface FieldAt extends Pick<RankedField, 'path' | 'isRequired'> {
  readonly name: string;
  readonly above: string;
}

const hasItems = (all: readonly JsonObject[]): boolean =>
  all.some(({ items, additionalProperties }) => items !== undefined || isObject(additionalProperties));

/** The fields of a schema: its single values, and its lists and maps as wholes. */
function fieldsOf({ root, schema }: Opening, place: FieldAt, depth = 0): readonly AskedField[] {
  const all = opened(root, schema);
  const members = all.flatMap(({ properties, required }) =>
    Object.entries(isObject(properties) ? properties : {}).map(([name, member]) => ({
      name,
      member,
      isRequired: listOf(required).includes(name),
    })),
  );
  if (members.length === 0 || depth > DEPTH_MAX) return [fieldAt({ root, schema }, place, all)];
  const above = `${place.above} ${nameWords(place.name)} ${saidIn(all)}`;
  const isOpen = place.isRequired && !allowsNull(all);
  return members.flatMap(({ name, member, isRequired }) => {
    const path = `${place.path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return fieldsOf(
      { root, schema: member },
      { path, name, above, isRequired: isOpen && isRequired },
      depth + 1,
    );
  });
}

function fieldAt({ root, schema }: Opening, place: FieldAt, all: readonly JsonObject[]): AskedField {
  const query = new Map<string, number>();
  const isList = hasItems(all);
  if (isList) addDeep(query, { root, schema });
  addWords(query, place.above, WEIGHTS.above);
  addWords(query, saidIn(all), WEIGHTS.said);
  addWords(query, nameWords(place.name), WEIGHTS.name);
  const { path } = place;
  return { path, isList, isRequired: place.isRequired && !allowsNull(all), query };
}

/** Which pages have a word, and how often. */
interface TextIndex {
  readonly count: number;
  readonly averageWords: number;
  readonly lengths: readonly number[];
  readonly places: ReadonlyMap<string, ReadonlyMap<number, number>>;
}

function indexOf(pages: readonly TextPage[]): TextIndex {
  const places = new Map<string, Map<number, number>>();
  const lengths = pages.map(({ text }, at) => {
    const words = wordsOf(text);
    for (const word of words) {
      const at1 = places.get(word);
      if (at1 === undefined) places.set(word, new Map([[at, 1]]));
      else at1.set(at, (at1.get(at) ?? 0) + 1);
    }
    return words.length;
  });
  const averageWords = Math.max(1, lengths.reduce((sum, length) => sum + length, 0) / (pages.length || 1));
  return { count: pages.length, averageWords, lengths, places };
}

/** Okapi BM25 as Robertson and Zaragoza give it (2009): saturation of a word, and share of length that counts. */
const BM25 = { k1: 1.2, b: 0.5 };

const rarity = ({ count, places }: TextIndex, word: string): number => {
  const having = places.get(word)?.size ?? 0;
  return Math.log(1 + (count - having + 0.5) / (having + 0.5));
};

/** The places of pages that have words of the query, the best first. */
function rankedBy(index: TextIndex, query: Query): readonly number[] {
  const scores = new Map<number, number>();
  for (const [word, weight] of query) {
    const value = weight * rarity(index, word);
    for (const [at, times] of index.places.get(word) ?? []) {
      const length = (index.lengths[at] ?? 0) / index.averageWords;
      const part = (times * (BM25.k1 + 1)) / (times + BM25.k1 * (1 - BM25.b + BM25.b * length));
      scores.set(at, (scores.get(at) ?? 0) + value * part);
    }
  }
  return [...scores].sort(([a, x], [b, y]) => y - x || a - b).map(([at]) => at);
}

/** Words by which the look of a page is told, and how much of them two pages of one look share (cosine). */
const LOOK_WORDS = 24;
const SAME_LOOK = 0.6;

type Look = ReadonlyMap<string, number>;

/** The words that make up a page, of length 1 together. */
function looksOf(pages: readonly TextPage[], index: TextIndex): readonly Look[] {
  return pages.map(({ text }) => {
    const counts = new Map<string, number>();
    for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
    const weighed = [...counts]
      .filter(([word]) => (index.places.get(word)?.size ?? 0) > 1)
      .map(([word, times]) => [word, (1 + Math.log(times)) * rarity(index, word)] as const)
      .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
      .slice(0, LOOK_WORDS);
    const length = Math.hypot(...weighed.map(([, weight]) => weight)) || 1;
    return new Map(weighed.map(([word, weight]) => [word, weight / length]));
  });
}

const likeness = (a: Look, b: Look): number => {
  let sum = 0;
  for (const [word, weight] of a) sum += weight * (b.get(word) ?? 0);
  return sum;
};

/** Looks that a page is compared with: those that began last. */
const LOOKS_OPEN = 400;

/** For each page the number of its look. */
function lookNumbers(looks: readonly Look[]): readonly number[] {
  const firsts: { readonly number: number; readonly look: Look }[] = [];
  return looks.map((look, number) => {
    const same = firsts.findLast((first) => likeness(first.look, look) >= SAME_LOOK);
    if (same !== undefined) return same.number;
    firsts.push({ number, look });
    if (firsts.length > LOOKS_OPEN) firsts.shift();
    return number;
  });
}

/** A row of a table, in either form of the text. */
const ROW = /^(?:\||<tr>)|\S {3,}\S/;
/** Characters of a line that is no prose. */
const SHORT = 60;

/** Half of its characters at the least are in rows or short lines. */
function isRecords({ text }: TextPage): boolean {
  let all = 0;
  let inRecords = 0;
  for (const line of text.split('\n')) {
    all += line.length;
    if (line.length < SHORT || ROW.test(line)) inRecords += line.length;
  }
  return inRecords >= all / 2;
}

/** Of a field: no choice asks for more. */
const RANKED_MAX = 60;

/**
 * Ranks the pages of a text for each field of a schema, by the words that name and describe it, and tells which pages
 * look alike. Nothing is learned: words that the document has for another name of a field find nothing.
 */
export function pageRanks(text: string, schema: JsonObject): PageRanks {
  const pages = pagesOfText(text);
  const index = indexOf(pages);
  const looks = lookNumbers(looksOf(pages, index));
  const top = { path: '', name: '', above: '', isRequired: true };
  const fields = fieldsOf({ root: schema, schema }, top).slice(0, FIELDS_MAX);
  return {
    pages: pages.map((page, at) => ({
      page: page.page,
      characters: page.text.length,
      look: looks[at] ?? at,
      isRecords: isRecords(page),
    })),
    fields: fields.map(({ query, ...field }) => ({
      ...field,
      pages: rankedBy(index, query)
        .slice(0, RANKED_MAX)
        .flatMap((at) => pages[at]?.page ?? []),
    })),
  };
}
