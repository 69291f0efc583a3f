import { memberPointer, isObject, type JsonObject } from '../../kernel/json.ts';
import { faultInExpanded, type SchemaFault } from './schemaBudget.ts';
import { schemasIn, shownPath, type PlacedSchema, type Unknowns } from './schemaParts.ts';
import { resolveLocal } from '../../kernel/schemaReference.ts';

/** Bytes of the schema's JSON. */
export const SCHEMA_BYTES_MAX = 256 * 1024;
/** Levels of objects and arrays in the schema's JSON. */
export const SCHEMA_DEPTH_MAX = 32;

export type SchemaVerdict =
  | { readonly kind: 'ok'; readonly schema: JsonObject }
  | { readonly kind: 'invalid_schema' | 'schema_beyond_limits'; readonly detail: string };

/**
 * What a caller's JSON Schema must be: an object schema with properties, small and shallow as it is sent and
 * with every reference written out, and complete in itself (local `$ref` only). Checked where a schema enters
 * the service. The details are sentences for the caller.
 */
export function checkSchemaRules(schema: unknown): SchemaVerdict {
  if (!isObject(schema)) return invalid('The schema must be a JSON object.');
  if (schema['type'] !== 'object') return invalid('The schema must have "type": "object" at its top level.');
  if (!isObject(schema['properties']))
    return invalid('The schema must have "properties" at its top level: an object of property schemas.');
  if (Object.keys(schema['properties']).length === 0)
    return invalid('The schema\'s "properties" are empty: name at least one property to extract.');
  const fault = faultIn(schema);
  if (fault?.isLimit === true) return { kind: 'schema_beyond_limits', detail: fault.detail };
  return fault === undefined ? { kind: 'ok', schema } : invalid(fault.detail);
}

const faultIn = (schema: Unknowns): SchemaFault | undefined =>
  checkBytes(schema) ?? checkTree(schema) ?? checkReferences(schema) ?? faultInExpanded(schema);

const invalid = (detail: string): SchemaVerdict => ({ kind: 'invalid_schema', detail });

/** Before anything walks it: a body may have a megabyte, and be nested so deep that it cannot be written. */
function checkBytes(schema: Unknowns): SchemaFault | undefined {
  const bytes = bytesOf(schema);
  if (bytes === undefined) return { isLimit: true, detail: tooDeep('#') };
  const detail = `The schema has ${bytes} bytes of JSON; at most ${SCHEMA_BYTES_MAX} are allowed.`;
  return bytes <= SCHEMA_BYTES_MAX ? undefined : { isLimit: true, detail };
}

function bytesOf(schema: Unknowns): number | undefined {
  try {
    return utf8Length(JSON.stringify(schema));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** A place in the schema's JSON. Its path is put together only where something is wrong there. */
interface SchemaPart {
  readonly value: object;
  readonly depth: number;
  readonly key: string;
  readonly parent: SchemaPart | undefined;
}

function pathOf(place: SchemaPart): string {
  let path = '';
  for (let at = place; at.parent !== undefined; at = at.parent) path = memberPointer('', at.key) + path;
  return `#${path}`;
}

/** The first thing wrong below the top; walks without recursion, so that depth cannot hurt it. */
function checkTree(schema: Unknowns): SchemaFault | undefined {
  const left: SchemaPart[] = [{ value: schema, depth: 1, key: '', parent: undefined }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, depth } = next;
    if (depth > SCHEMA_DEPTH_MAX) return { isLimit: true, detail: tooDeep(pathOf(next)) };
    for (const [key, child] of Object.entries(value) as [string, unknown][])
      if (child === Infinity || child === -Infinity)
        return { isLimit: false, detail: `At ${pathOf(next)} stands a number that no double can be.` };
      else if (typeof child === 'object' && child !== null)
        left.push({ value: child, depth: depth + 1, key, parent: next });
  }
  return undefined;
}

const tooDeep = (path: string): string =>
  `At ${shownPath(path)} the schema is nested deeper than ${SCHEMA_DEPTH_MAX} levels.`;

/** References stand in schemas: in an `enum`, a `const` or an example a `$ref` is a value. */
function checkReferences(root: Unknowns): SchemaFault | undefined {
  for (const placed of schemasIn(root)) {
    const detail = wrongReference(root, placed);
    if (detail !== undefined) return { isLimit: false, detail };
  }
  return undefined;
}

function wrongReference(root: Unknowns, { path, schema }: PlacedSchema): string | undefined {
  const { $ref } = schema;
  if ($ref === undefined) return undefined;
  if (typeof $ref !== 'string') return `The "$ref" at ${shownPath(path)} is no text.`;
  const at = `The "$ref" at ${shownPath(path)} points to "${$ref.slice(0, 80)}"`;
  if ($ref !== '#' && !$ref.startsWith('#/'))
    return `${at}; only local references ("#/$defs/…") are followed.`;
  return resolveLocal(root, $ref) === undefined ? `${at}, which is not in the schema.` : undefined;
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
