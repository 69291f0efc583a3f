import { ownMember, type Json, type JsonObject } from '../../kernel/json.ts';
import type { Citation } from '../../ports/extractionEngine.ts';
import {
  citationsByPath,
  citationsOf,
  isList,
  isObject,
  memberPath,
  type CitationsByPath,
} from './citedValues.ts';

/** What one range of pages says. */
export interface RangeFindings {
  readonly value: JsonObject;
  readonly citations: readonly Citation[];
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
  const citations: Citation[] = [];
  const parts = ranges.map(({ value, citations: own }): Part => ({ value, byPath: citationsByPath(own) }));
  const value = joined(parts, '', citations);
  return { value: isObject(value) ? value : {}, citations };
}

function joined(parts: readonly Part[], path: string, citations: Citation[]): Json | undefined {
  if (parts.some(({ value }) => isList(value))) return joinedList(parts, path, citations);
  const objects = parts.filter((part): part is Part & { value: JsonObject } => isObject(part.value));
  return objects.length > 0 ? joinedObject(objects, path, citations) : surest(parts, path, citations);
}

function joinedObject(
  parts: readonly (Part & { readonly value: JsonObject })[],
  path: string,
  citations: Citation[],
): JsonObject {
  const names = new Set(parts.flatMap(({ value }) => Object.keys(value)));
  const entries = [...names].flatMap((name): [string, Json][] => {
    const members = parts.flatMap(({ value, byPath }) => {
      const member = ownMember(value, name);
      return member === undefined ? [] : [{ value: member, byPath }];
    });
    const member = joined(members, memberPath(path, name), citations);
    return member === undefined ? [] : [[name, member]];
  });
  return Object.fromEntries(entries);
}

const meanOf = (cited: readonly Citation[]): number =>
  cited.length === 0 ? 0 : cited.reduce((sum, { confidence }) => sum + confidence, 0) / cited.length;

function surest(parts: readonly Part[], path: string, citations: Citation[]): Json | undefined {
  let best: { readonly value: Json; readonly cited: readonly Citation[]; readonly sure: number } | undefined;
  for (const { value, byPath } of parts) {
    if (value === null) continue;
    const cited = byPath.get(path) ?? [];
    const sure = meanOf(cited);
    if (best === undefined || sure > best.sure + AS_SURE) best = { value, cited, sure };
  }
  citations.push(...(best?.cited ?? []));
  return best?.value;
}

function joinedList(parts: readonly Part[], path: string, citations: Citation[]): Json {
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
