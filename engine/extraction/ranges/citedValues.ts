import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Citation } from '../../ports/extractionEngine.ts';

/** Citations by the JSON Pointers of the values that they are of. */
export type CitationsByPath = ReadonlyMap<string, readonly Citation[]>;

export function citationsByPath(citations: readonly Citation[]): CitationsByPath {
  const byPath = new Map<string, Citation[]>();
  for (const citation of citations) {
    const known = byPath.get(citation.path);
    if (known === undefined) byPath.set(citation.path, [citation]);
    else known.push(citation);
  }
  return byPath;
}

export const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);
export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !isList(value);

export const memberPath = (path: string, name: string): string =>
  `${path}/${name.replace(/~/g, '~0').replace(/\//g, '~1')}`;

/** The citations of a value and of all that is in it. */
export function citationsOf(value: Json, path: string, citations: CitationsByPath): readonly Citation[] {
  const own = citations.get(path) ?? [];
  if (isList(value))
    return [...own, ...value.flatMap((item, i) => citationsOf(item, `${path}/${i}`, citations))];
  if (!isObject(value)) return own;
  return [
    ...own,
    ...Object.entries(value).flatMap(([name, member]) =>
      citationsOf(member, memberPath(path, name), citations),
    ),
  ];
}
