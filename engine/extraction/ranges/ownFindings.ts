import type { Document } from '../../document/document.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Citation } from '../../ports/extractionEngine.ts';
import type { LocalExtraction } from '../extract.ts';
import {
  citationsByPath,
  citationsOf,
  isList,
  isObject,
  memberPath,
  type CitationsByPath,
} from './citedValues.ts';

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
  readonly citations: Citation[];
}

/** JSON Pointers of a value, before and after. */
interface Place {
  readonly was: string;
  readonly is: string;
}

function membersOf(value: JsonObject, { was, is }: Place, own: Own): JsonObject {
  const entries: [string, Json][] = [];
  for (const [name, member] of Object.entries(value)) {
    const kept = keptOf(member, { was: memberPath(was, name), is: memberPath(is, name) }, own);
    if (kept !== undefined) entries.push([name, kept]);
  }
  return Object.fromEntries(entries);
}

function keptOf(value: Json, place: Place, own: Own): Json | undefined {
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
function itemsOf(items: readonly Json[], { was, is }: Place, own: Own): Json | undefined {
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

const isEarlier = (cited: readonly Citation[], { from }: Own): boolean =>
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
  return Object.entries(value).flatMap(([name, member]) => listsIn(member, memberPath(path, name)));
}

const pageOf = (cited: readonly Citation[]): number | undefined =>
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
