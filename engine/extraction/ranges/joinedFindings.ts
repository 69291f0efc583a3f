import type { Document } from '../../document/document.ts';
import type { LocalExtraction } from '../extract.ts';
import { isList, memberPointer, isObject, ownMember, type Json, type JsonObject } from '../../kernel/json.ts';
import type { LocalCitation } from '../../ports/extractionEngine.ts';
import { groupedBy } from '../../kernel/lists.ts';

/** Citations by the JSON Pointers of the values that they are of. */
type CitationsByPath = ReadonlyMap<string, readonly LocalCitation[]>;

const citationsByPath = (citations: readonly LocalCitation[]): CitationsByPath =>
  groupedBy(citations, ({ path }) => path);

/** The citations of a value and of all that is in it. */
function citationsOf(value: Json, path: string, citations: CitationsByPath): readonly LocalCitation[] {
  const own = citations.get(path) ?? [];
  if (isList(value))
    return [...own, ...value.flatMap((item, i) => citationsOf(item, `${path}/${i}`, citations))];
  if (!isObject(value)) return own;
  return [
    ...own,
    ...Object.entries(value).flatMap(([name, member]) =>
      citationsOf(member, memberPointer(path, name), citations),
    ),
  ];
}

/** What one range of pages says. */
export interface RangeFindings {
  readonly value: JsonObject;
  readonly citations: readonly LocalCitation[];
}

/** Values that are so near in confidence are as sure: the first stands. */
const AS_SURE = 0.1;
/** A list that is so much less sure than the surest answers something else. */
const LIST_AS_SURE = 0.2;

interface Part {
  readonly value: Json;
  readonly byPath: CitationsByPath;
}

/**
 * One answer from those of the ranges of a document, in its order: a single value is the first of the surest, a
 * list goes on from range to range.
 */
export function joinedFindings(ranges: readonly RangeFindings[]): RangeFindings {
  const citations: LocalCitation[] = [];
  const parts = ranges.map(({ value, citations: own }): Part => ({ value, byPath: citationsByPath(own) }));
  const value = joined(parts, '', citations);
  return { value: isObject(value) ? value : {}, citations };
}

function joined(parts: readonly Part[], path: string, citations: LocalCitation[]): Json | undefined {
  if (parts.some(({ value }) => isList(value))) return joinedList(parts, path, citations);
  const objects = parts.filter((part): part is Part & { value: JsonObject } => isObject(part.value));
  return objects.length > 0 ? joinedObject(objects, path, citations) : surest(parts, path, citations);
}

function joinedObject(
  parts: readonly (Part & { readonly value: JsonObject })[],
  path: string,
  citations: LocalCitation[],
): JsonObject {
  const names = new Set(parts.flatMap(({ value }) => Object.keys(value)));
  const entries = [...names].flatMap((name): [string, Json][] => {
    const members = parts.flatMap(({ value, byPath }) => {
      const member = ownMember(value, name);
      return member === undefined ? [] : [{ value: member, byPath }];
    });
    const member = joined(members, memberPointer(path, name), citations);
    return member === undefined ? [] : [[name, member]];
  });
  return Object.fromEntries(entries);
}

const meanOf = (cited: readonly LocalCitation[]): number =>
  cited.length === 0 ? 0 : cited.reduce((sum, { confidence }) => sum + confidence, 0) / cited.length;

function surest(parts: readonly Part[], path: string, citations: LocalCitation[]): Json | undefined {
  let best:
    | { readonly value: Json; readonly cited: readonly LocalCitation[]; readonly sure: number }
    | undefined;
  for (const { value, byPath } of parts) {
    if (value === null) continue;
    const cited = byPath.get(path) ?? [];
    const sure = meanOf(cited);
    if (best === undefined || sure > best.sure + AS_SURE) best = { value, cited, sure };
  }
  citations.push(...(best?.cited ?? []));
  return best?.value;
}

function joinedList(parts: readonly Part[], path: string, citations: LocalCitation[]): Json {
  const lists = parts.flatMap(({ value, byPath }) =>
    isList(value) ? [{ items: value, byPath, sure: meanOf(citationsOf(value, path, byPath)) }] : [],
  );
  const least = Math.max(...lists.map(({ sure }) => sure)) - LIST_AS_SURE;
  const all: Json[] = [];
  const known = new Set<Json>();
  for (const { items, byPath, sure } of lists) {
    if (sure < least) continue;
    for (const [index, item] of items.entries()) {
      // Rows may be alike; the values of a list are each said once.
      if (!isObject(item) && known.has(item)) continue;
      known.add(item);
      const [before, after] = [`${path}/${index}`, `${path}/${all.length}`];
      for (const citation of citationsOf(item, before, byPath))
        citations.push({ ...citation, path: after + citation.path.slice(before.length) });
      all.push(item);
    }
  }
  return all;
}

/** Pages before a range that it is read with: the one right before it, and those on which its lists begin. */
const LEAD_PAGES_MAX = 4;

/**
 * What a range of pages says by itself. It is read with pages that lead to it, so that a list goes on with the
 * header that it has there: what stands on those alone was said by the ranges before. `from`: its first page.
 */
export function ownFindings(
  { value, citations, seen, left }: LocalExtraction,
  from: number,
): LocalExtraction {
  const own: Own = { from, byPath: citationsByPath(citations), citations: [] };
  const kept = membersOf(value, { was: '', is: '' }, own);
  return {
    value: kept,
    citations: own.citations,
    seen: seen.filter(({ page }) => (page ?? from) >= from),
    left,
  };
}

interface Own {
  readonly from: number;
  readonly byPath: CitationsByPath;
  readonly citations: LocalCitation[];
}

/** JSON Pointers of a value, before and after. */
interface MovedPointer {
  readonly was: string;
  readonly is: string;
}

function membersOf(value: JsonObject, { was, is }: MovedPointer, own: Own): JsonObject {
  const entries: [string, Json][] = [];
  for (const [name, member] of Object.entries(value)) {
    const kept = keptOf(member, { was: memberPointer(was, name), is: memberPointer(is, name) }, own);
    if (kept !== undefined) entries.push([name, kept]);
  }
  return Object.fromEntries(entries);
}

function keptOf(value: Json, place: MovedPointer, own: Own): Json | undefined {
  if (isList(value)) return itemsOf(value, place, own);
  if (isObject(value)) {
    const left = membersOf(value, place, own);
    return Object.keys(left).length === 0 ? undefined : left;
  }
  const cited = own.byPath.get(place.was) ?? [];
  if (isEarlier(cited, own)) return undefined;
  own.citations.push(...cited.map((citation) => ({ ...citation, path: place.is })));
  return value;
}

/** An item stays whole, or goes: a row that goes over the break has its last words on a page of the range. */
function itemsOf(items: readonly Json[], { was, is }: MovedPointer, own: Own): Json | undefined {
  const left: Json[] = [];
  for (const [index, item] of items.entries()) {
    const [before, after] = [`${was}/${index}`, `${is}/${left.length}`];
    const cited = citationsOf(item, before, own.byPath);
    if (isEarlier(cited, own)) continue;
    own.citations.push(
      ...cited.map((citation) => ({ ...citation, path: after + citation.path.slice(before.length) })),
    );
    left.push(item);
  }
  return left.length === 0 ? undefined : left;
}

const isEarlier = (cited: readonly LocalCitation[], { from }: Own): boolean =>
  cited.length > 0 && cited.every(({ page }) => page < from);

/**
 * The pages that lead to the next range: the last one, and for each list that goes on to the end of it the page
 * on which it began, where its header stands.
 */
export function leadPages({ value, citations }: LocalExtraction, { pages }: Document): ReadonlySet<number> {
  const numbers = pages.map(({ page }) => page);
  const last = numbers.at(-1);
  if (last === undefined) return new Set();
  const byPath = citationsByPath(citations);
  const starts = listsIn(value, '').map(({ items, path }) =>
    startOf(
      items.map((item, i) => pageOf(citationsOf(item, `${path}/${i}`, byPath))),
      numbers,
    ),
  );
  return new Set([last, ...starts.filter((page) => page !== undefined)].slice(0, LEAD_PAGES_MAX));
}

interface List {
  readonly path: string;
  readonly items: readonly Json[];
}

function listsIn(value: Json, path: string): readonly List[] {
  if (isList(value)) return [{ path, items: value }];
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => listsIn(member, memberPointer(path, name)));
}

const pageOf = (cited: readonly LocalCitation[]): number | undefined =>
  cited.length === 0 ? undefined : Math.max(...cited.map(({ page }) => page));

/** The page of the first of the items that follow each other, page by page, to the last page; undefined: none do. */
function startOf(itemPages: readonly (number | undefined)[], numbers: readonly number[]): number | undefined {
  const indexOf = new Map(numbers.map((page, index) => [page, index]));
  let start = numbers.length;
  for (const page of [...itemPages].reverse()) {
    const at = page === undefined ? undefined : indexOf.get(page);
    if (at === undefined) continue;
    if (at < start - 1 || at > start) break;
    start = at;
  }
  return numbers[start];
}
