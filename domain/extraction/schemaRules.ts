import type { JsonObject } from '../kernel/json.ts';

/** Bytes of the schema's JSON. */
export const SCHEMA_BYTES_MAX = 256 * 1024;
/** Levels of objects and arrays in the schema's JSON. */
export const SCHEMA_DEPTH_MAX = 32;

export type SchemaVerdict =
  | { readonly kind: 'ok'; readonly schema: JsonObject }
  | { readonly kind: 'invalid_schema'; readonly detail: string };

/**
 * What a caller's JSON Schema must be: an object schema with properties, small, shallow, and complete in
 * itself (local `$ref` only). The details are sentences for the caller.
 */
export function checkSchemaRules(schema: unknown): SchemaVerdict {
  if (!isObject(schema)) return invalid('The schema must be a JSON object.');
  if (schema['type'] !== 'object') return invalid('The schema must have "type": "object" at its top level.');
  if (!isObject(schema['properties']))
    return invalid('The schema must have "properties" at its top level: an object of property schemas.');
  if (Object.keys(schema['properties']).length === 0)
    return invalid('The schema\'s "properties" are empty: name at least one property to extract.');
  const deep = checkTree(schema);
  if (deep !== undefined) return invalid(deep);
  const bytes = utf8Length(JSON.stringify(schema));
  if (bytes > SCHEMA_BYTES_MAX)
    return invalid(`The schema has ${bytes} bytes of JSON; at most ${SCHEMA_BYTES_MAX} are allowed.`);
  return { kind: 'ok', schema: schema as JsonObject };
}

const invalid = (detail: string): SchemaVerdict => ({ kind: 'invalid_schema', detail });

type Unknowns = Record<string, unknown>;
const isObject = (value: unknown): value is Unknowns =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The first thing wrong below the top; walks without recursion, so that depth cannot hurt it. */
function checkTree(schema: Unknowns): string | undefined {
  const left: { value: unknown; depth: number; path: string }[] = [{ value: schema, depth: 1, path: '#' }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, depth, path } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (depth > SCHEMA_DEPTH_MAX) return `The schema is nested deeper than ${SCHEMA_DEPTH_MAX} levels.`;
    const wrong = isObject(value) ? checkReference(schema, value['$ref'], path) : undefined;
    if (wrong !== undefined) return wrong;
    for (const [key, child] of Object.entries(value))
      left.push({ value: child, depth: depth + 1, path: `${path}/${escapeToken(key)}` });
  }
  return undefined;
}

/** A property may itself be named `$ref`; then its value is a schema and no text. */
function checkReference(schema: Unknowns, reference: unknown, path: string): string | undefined {
  if (typeof reference !== 'string') return undefined;
  if (reference !== '#' && !reference.startsWith('#/'))
    return `The "$ref" at ${path} points to "${reference.slice(0, 80)}"; only local references ("#/$defs/…") are followed.`;
  return resolveLocal(schema, reference) === undefined
    ? `The "$ref" at ${path} points to "${reference.slice(0, 80)}", which is not in the schema.`
    : undefined;
}

const escapeToken = (key: string): string => key.replace(/~/g, '~0').replace(/\//g, '~1');
const unescapeToken = (token: string): string => {
  const plain = token.replace(/~1/g, '/').replace(/~0/g, '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
};

/** What a local reference (`#`, `#/…`) points to; undefined when nothing is there. */
export function resolveLocal(schema: unknown, reference: string): unknown {
  let at = schema;
  for (const token of reference.split('/').slice(1)) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = (at as Unknowns)[unescapeToken(token)];
  }
  return at;
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff)) bytes += 2;
    else bytes += 3;
  }
  return bytes;
}
