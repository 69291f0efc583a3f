import { HOLDING, partsUnder, shownPath, type Part, type Unknowns } from './schemaParts.ts';
import { resolveLocal } from '../../kernel/schemaReference.ts';
import { isObject } from '../../kernel/json.ts';
import { remembered } from '../../kernel/once.ts';

/** Schemas in a schema, every `$ref` and every alternative written out in its place. */
export const SCHEMA_NODES_MAX = 5_000;
/** Levels of schemas in each other, every `$ref` written out. */
export const SCHEMA_EXPANDED_DEPTH_MAX = 32;
/** Bytes of the schema's JSON, every `$ref` written out. */
export const SCHEMA_EXPANDED_BYTES_MAX = 1024 * 1024;

/** What is wrong with a schema: it passes a limit, or says what is not understood here. */
export interface SchemaFault {
  readonly isLimit: boolean;
  /** A sentence for the caller. */
  readonly detail: string;
}

/** A schema without what it holds. */
interface Node {
  /** Bytes of the JSON, roughly: its schemas are left out. */
  readonly bytes: number;
  readonly parts: readonly Part[];
  /** A word by which it names itself or refers in a way that is not followed here. */
  readonly namedBy: string | undefined;
}

/** Bytes of what is written out with each copy: names of properties and all that is no schema. */
function bytesUnder(word: string, value: unknown): number {
  const holding = HOLDING.get(word);
  if (holding === 'map' && isObject(value))
    return Object.keys(value).reduce((sum, name) => sum + name.length, 0);
  return holding === undefined ? word.length + JSON.stringify(value).length : 0;
}

function readNode(root: unknown, schema: Unknowns): Node {
  const parts: Part[] = [];
  let [bytes, namedBy]: [number, string | undefined] = [2, undefined];
  for (const [word, value] of Object.entries(schema)) {
    if (word === '$ref' && typeof value === 'string') {
      const target = resolveLocal(root, value);
      if (isObject(target)) parts.push({ at: word, schema: target, ofArray: false });
    } else if (HOLDING.get(word) === 'name' && typeof value === 'string') namedBy = word;
    else for (const part of partsUnder(word, value)) parts.push(part);
    bytes += bytesUnder(word, value);
  }
  return { bytes, parts, namedBy };
}

interface Walk {
  readonly root: unknown;
  /** By the schema as it stands: what is referred to often is looked at once. */
  readonly known: Map<Unknowns, Node>;
  /** The schemas around the place, with how many arrays were around each. */
  readonly around: Map<Unknowns, number>;
  readonly counts: { nodes: number; bytes: number };
}

interface SchemaAt {
  readonly path: string;
  readonly depth: number;
  readonly arrays: number;
}

const nodeOf = ({ root, known }: Walk, schema: Unknowns): Node =>
  remembered(known, schema, () => readNode(root, schema));

/** The first limit that this place passes by itself. */
function passed(schema: Unknowns, walk: Walk, { path, depth, arrays }: SchemaAt): SchemaFault | undefined {
  const { around, counts } = walk;
  const limit = (what: string): SchemaFault => ({
    isLimit: true,
    detail: `At ${shownPath(path)} the schema ${what}.`,
  });
  if (around.get(schema) === arrays)
    return limit('holds itself without a list between: only items of a list may be recursive');
  counts.nodes += 1;
  if (counts.nodes > SCHEMA_NODES_MAX)
    return limit(`has more than ${SCHEMA_NODES_MAX} nodes, every $ref and every alternative written out`);
  if (depth > SCHEMA_EXPANDED_DEPTH_MAX)
    return limit(`is nested deeper than ${SCHEMA_EXPANDED_DEPTH_MAX} levels, every $ref written out`);
  counts.bytes += nodeOf(walk, schema).bytes;
  if (counts.bytes > SCHEMA_EXPANDED_BYTES_MAX)
    return limit(`has more than ${SCHEMA_EXPANDED_BYTES_MAX} bytes, every $ref written out`);
  return undefined;
}

/** The first fault at this place or below it. A list of what is around it ends there. */
function faultAt(schema: Unknowns, walk: Walk, place: SchemaAt): SchemaFault | undefined {
  const { around } = walk;
  const own = passed(schema, walk, place);
  if (own !== undefined || around.has(schema)) return own;
  const { path, depth, arrays } = place;
  const { parts, namedBy } = nodeOf(walk, schema);
  if (namedBy !== undefined && depth > 1)
    return {
      isLimit: false,
      detail: `At ${shownPath(path)} the schema has "${namedBy}": only "$ref" to "#/…" is followed.`,
    };
  around.set(schema, arrays);
  for (const { at, schema: part, ofArray } of parts) {
    const below = { path: `${path}/${at}`, depth: depth + 1, arrays: arrays + Number(ofArray) };
    const wrong = faultAt(part, walk, below);
    if (wrong !== undefined) return wrong;
  }
  around.delete(schema);
  return undefined;
}

/**
 * What is wrong with a schema once it is expanded, and where. The walk ends at the limits, so its time grows
 * with them and with the schema's bytes, however the references go round.
 */
export const faultInExpanded = (schema: Unknowns): SchemaFault | undefined =>
  faultAt(
    schema,
    { root: schema, known: new Map(), around: new Map(), counts: { nodes: 0, bytes: 0 } },
    { path: '#', depth: 1, arrays: 0 },
  );
