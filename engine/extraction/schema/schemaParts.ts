import { resolveLocal } from '../../kernel/schemaReference.ts';
import { memberPointer, isObject } from '../../kernel/json.ts';

export type Unknowns = Readonly<Record<string, unknown>>;

/** A schema inside another one: where it stands there, and whether it speaks about items of an array. */
export interface Part {
  readonly at: string;
  readonly schema: Unknowns;
  readonly ofArray: boolean;
}

export type Holding = 'one' | 'list' | 'map' | 'either' | 'shelf' | 'name';

const each = (words: readonly string[], holding: Holding): readonly (readonly [string, Holding])[] =>
  words.map((word) => [word, holding]);

const SHELVES = ['$defs', 'definitions'];

/**
 * What each word of a schema holds, in any draft; all others hold values, whatever these look like. A shelf holds
 * schemas that count where they are referred to.
 */
export const HOLDING: ReadonlyMap<string, Holding> = new Map<string, Holding>([
  ...each(
    ['additionalProperties', 'propertyNames', 'unevaluatedProperties', 'not', 'if', 'then', 'else'],
    'one',
  ),
  ...each(['additionalItems', 'contains', 'unevaluatedItems'], 'one'),
  ...each(['anyOf', 'oneOf', 'allOf', 'prefixItems'], 'list'),
  ...each(['properties', 'patternProperties', 'dependentSchemas', 'dependencies'], 'map'),
  ...each(['items'], 'either'),
  ...each(SHELVES, 'shelf'),
  ...each(['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor'], 'name'),
]);
const OF_ARRAY: ReadonlySet<string> = new Set([
  'items',
  'additionalItems',
  'contains',
  'unevaluatedItems',
  'prefixItems',
]);

const PATH_SHOWN = 200;

/** A place as it is told to callers. */
export const shownPath = (path: string): string =>
  path.length <= PATH_SHOWN ? path : `${path.slice(0, PATH_SHOWN)}…`;

const partsIn = (word: string, map: Unknowns, ofArray = false): readonly Part[] =>
  Object.entries(map).flatMap(([name, schema]) =>
    isObject(schema) ? [{ at: memberPointer(word, name), schema, ofArray }] : [],
  );

/** The schemas that stand under a word. */
export function partsUnder(word: string, value: unknown): readonly Part[] {
  const ofArray = OF_ARRAY.has(word);
  const holding = HOLDING.get(word);
  if (isObject(value) && holding === 'map') return partsIn(word, value, ofArray);
  if (isObject(value))
    return holding === 'one' || holding === 'either' ? [{ at: word, schema: value, ofArray }] : [];
  if (!Array.isArray(value) || (holding !== 'list' && holding !== 'either')) return [];
  return value.flatMap((schema: unknown, index) =>
    isObject(schema) ? [{ at: `${word}/${String(index)}`, schema, ofArray }] : [],
  );
}

/** A schema of a caller, and where it stands (`#/…`). */
export interface PlacedSchema {
  readonly path: string;
  readonly schema: Unknowns;
}

function partsOf(root: Unknowns, { path, schema }: PlacedSchema): readonly PlacedSchema[] {
  const parts = Object.entries(schema).flatMap(([word, value]): readonly Part[] => {
    if (SHELVES.includes(word) && isObject(value)) return partsIn(word, value);
    const target = word === '$ref' && typeof value === 'string' ? resolveLocal(root, value) : undefined;
    return isObject(target) ? [{ at: word, schema: target, ofArray: false }] : partsUnder(word, value);
  });
  return parts.map(({ at, schema: part }) => ({ path: `${path}/${at}`, schema: part }));
}

/**
 * A schema and all that stand in it, on its shelves, and where it refers to: each once. Without recursion, so that
 * depth cannot exhaust the stack; linear in the schema as it is sent, which has bounded depth.
 */
export function schemasIn(root: Unknowns): readonly PlacedSchema[] {
  const top: PlacedSchema = { path: '#', schema: root };
  const found: PlacedSchema[] = [];
  const seen = new Set<Unknowns>();
  const left = [top];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (seen.has(next.schema)) continue;
    seen.add(next.schema);
    found.push(next);
    for (const part of [...partsOf(root, next)].reverse()) left.push(part);
  }
  return found;
}
