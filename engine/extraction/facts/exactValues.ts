import type { DocumentWarning } from '../../document/document.ts';
import { canonicalJson } from '../../kernel/canonicalJson.ts';
import { isList, isObject, memberPointer, ownMember, type Json, type JsonObject } from '../../kernel/json.ts';
import { folded } from '../../kernel/text.ts';
import type { LocalCitation, ValueCitation } from '../../ports/extractionEngine.ts';

/** The ways that know a value, where others read it. */
const EXACT: ReadonlySet<string> = new Set(['codes', 'embedded_xml']);

/** The pointers of values that are known exactly, items of lists excepted: a reading may have other rows. */
export const exactPaths = ({
  citations,
}: {
  readonly citations: readonly LocalCitation[];
}): ReadonlySet<string> =>
  new Set(citations.flatMap(({ path, by }) => (EXACT.has(by) && !/\/\d+(?:\/|$)/.test(path) ? [path] : [])));

/** A value with those of another one at the pointers; objects around them are made where they lack. */
export const withExact = (value: JsonObject, exact: JsonObject, paths: ReadonlySet<string>): JsonObject =>
  exactBelow(value, exact, { paths, at: '' });

function exactBelow(
  value: JsonObject,
  exact: JsonObject,
  { paths, at }: { readonly paths: ReadonlySet<string>; readonly at: string },
): JsonObject {
  const members = Object.entries(exact).flatMap(([name, member]): [string, Json][] => {
    const path = memberPointer(at, name);
    if (paths.has(path)) return [[name, member]];
    const isAround = isObject(member) && [...paths].some((one) => one.startsWith(`${path}/`));
    const own = ownMember(value, name);
    return isAround ? [[name, exactBelow(isObject(own) ? own : {}, member, { paths, at: path })]] : [];
  });
  return Object.fromEntries([...Object.entries(value), ...members]);
}

/** Differences that are told, and letters of each value. */
const [DIFFERENCES_MAX, LETTERS_MAX] = [100, 100];

const saysSame = (one: Json, other: Json): boolean =>
  typeof one === 'string' && typeof other === 'string'
    ? folded(one) === folded(other)
    : canonicalJson(one) === canonicalJson(other);

const quoted = (value: Json): string => JSON.stringify(value).slice(0, LETTERS_MAX);

/** A reading with what was cited for it. */
interface Read {
  readonly value: Json;
  readonly citations: readonly ValueCitation[];
}

/** Where the pages or a model say something else at the pointers than what is known, which is the answer. */
export function saidOtherwise(
  answer: { readonly value: Json; readonly paths: ReadonlySet<string> },
  read: Read,
  who: 'page' | 'model',
): readonly DocumentWarning[] {
  const [exact, others] = [leavesOf(answer.value, ''), leavesOf(read.value, '')];
  const placed = new Map(read.citations.map((one) => [one.path, one]));
  return [...answer.paths]
    .flatMap((path): DocumentWarning[] => {
      const [own, other] = [exact.get(path), others.get(path)];
      if (own === undefined || other === undefined || other === null || saysSame(own, other)) return [];
      const message = `The file itself says ${quoted(own)}, which is the answer; the ${who} says ${quoted(other)}.`;
      return [{ code: 'readings_differ', message, path, value: other, ...placeIn(placed.get(path)) }];
    })
    .slice(0, DIFFERENCES_MAX);
}

const placeIn = (cited: ValueCitation | undefined) => {
  if (cited === undefined || cited.page === null) return {};
  const { text, page, bbox, confidence } = cited;
  return { text, page, bbox, confidence };
};

/** The values of a result by their JSON Pointers. */
function leavesOf(value: Json, path: string): ReadonlyMap<string, Json> {
  if (isList(value))
    return new Map(value.flatMap((item, at) => [...leavesOf(item, `${path}/${String(at)}`)]));
  if (isObject(value))
    return new Map(
      Object.entries(value).flatMap(([name, member]) => [...leavesOf(member, memberPointer(path, name))]),
    );
  return new Map([[path, value]]);
}
