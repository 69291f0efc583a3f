import { memberPointer, type Json, type JsonObject } from '../../kernel/json.ts';
import { nameWords } from '../words/labelWords.ts';
import { isChoice, memberSchemas, type Schemas } from './groundingSchema.ts';

/** A value of an answer that is neither an object, an array nor null. */
export interface Leaf {
  /** JSON Pointer. */
  readonly path: string;
  /** JSON Pointer of the object or array that holds it: leaves of one stand near each other. */
  readonly parent: string;
  readonly value: string | number | boolean;
  /** Words of its name; of an item, of its array's. */
  readonly label: readonly string[];
  /** Picked, not read: a boolean, or one of an enumeration. */
  readonly isJudgement: boolean;
}

const LEAVES_MAX = 50_000;
const DEPTH_MAX = 200;

interface ValueAt {
  readonly path: string;
  readonly parent: string;
  readonly name: string;
  readonly schemas: Schemas;
  readonly depth: number;
}

/** The leaves of a value, in its order; bounded in number and depth. */
export function leavesOf(schema: JsonObject, value: JsonObject): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const top: ValueAt = {
    path: '',
    parent: '',
    name: '',
    schemas: { root: schema, schemas: [schema] },
    depth: 0,
  };
  collect(value, top, leaves);
  return leaves;
}

function collect(value: Json, place: ValueAt, leaves: Leaf[]): void {
  if (value === null || leaves.length >= LEAVES_MAX || place.depth > DEPTH_MAX) return;
  if (typeof value !== 'object') {
    leaves.push(leafOf(value, place));
    return;
  }
  const isArray = Array.isArray(value);
  for (const [key, member] of Object.entries<Json>(value))
    collect(
      member,
      {
        path: memberPointer(place.path, key),
        parent: place.path,
        name: isArray ? place.name : key,
        schemas: memberSchemas(place.schemas, isArray ? Number(key) : key),
        depth: place.depth + 1,
      },
      leaves,
    );
}

const leafOf = (value: Leaf['value'], { path, parent, name, schemas }: ValueAt): Leaf => ({
  path,
  parent,
  value,
  label: nameWords(name.slice(0, 100)),
  isJudgement: typeof value === 'boolean' || isChoice(schemas),
});
