import canonicalize from 'canonicalize';
import type { Json } from './json.ts';

/**
 * Canonical JSON by RFC 8785: one text for one value, whatever the order of its members. Every event is
 * hashed over it, so flat objects of plain values, which events are, take a short way: their sorted
 * members are remembered by shape. All else goes through the reference implementation.
 */
export const canonicalJson = (value: Json): string => {
  const text = shortWay(value) ?? canonicalize(value);
  if (text === undefined) throw new TypeError('only JSON values have a canonical form');
  return text;
};

/**
 * The canonical form of a value, where `JSON.stringify` makes the same text of what `JSON.parse` reads from it:
 * so it may be stored as it is. undefined: it may differ.
 */
export const storableJson = (value: Json): string | undefined => shortWay(value);

/** A character that JSON escapes, or half of a surrogate pair, which the reference refuses. */
const NOT_VERBATIM = /["\\\u0000-\u001f\ud800-\udfff]/;

/** undefined: not for the short way. */
const shortWay = (value: unknown): string | undefined => {
  switch (typeof value) {
    case 'string':
      return NOT_VERBATIM.test(value) ? undefined : `"${value}"`;
    case 'number':
      return Number.isSafeInteger(value) ? String(value) : undefined;
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      return value === null ? 'null' : shortObject(value);
    default:
      return undefined;
  }
};

const shortObject = (value: object): string | undefined => {
  if (Array.isArray(value) || 'toJSON' in value) return undefined;
  const members = value as Readonly<Record<string, unknown>>;
  const shape = knownShapeOf(members);
  if (shape === undefined) return undefined;
  const { keys, prefixes } = shape;
  let text = '';
  for (let n = 0; n < keys.length; n += 1) {
    const member = shortWay(members[keys[n] ?? '']);
    if (member === undefined) return undefined;
    text += (prefixes[n] ?? '') + member;
  }
  return `{${text}}`;
};

/** The members of an object in their canonical order, and what stands before each value. */
interface KnownShape {
  readonly keys: readonly string[];
  /** `"first":`, then `,"next":`. */
  readonly prefixes: readonly string[];
}

const SHAPES_MAX = 8;
/** By number of members: the shapes met last. */
const shapes = new Map<number, readonly KnownShape[]>();

/** A name that may be a number: objects give such members first, in the order of the numbers. */
const NUMBER = /^\d/;

const knownShapeOf = (members: Readonly<Record<string, unknown>>): KnownShape | undefined => {
  const keys = Object.keys(members);
  const known = shapes.get(keys.length) ?? [];
  for (const shape of known) if (hasAll(members, shape.keys)) return shape;
  if (keys.some((key) => NUMBER.test(key))) return undefined;
  keys.sort();
  const prefixes = keys.map((key, n) => `${n === 0 ? '' : ','}${JSON.stringify(key)}:`);
  const shape = { keys, prefixes };
  // Names that every object inherits would make other objects look like this one.
  if (keys.some((key) => key in Object.prototype)) return shape;
  shapes.set(keys.length, [shape, ...known].slice(0, SHAPES_MAX));
  return shape;
};

/** With as many members as there are keys, none of them undefined: exactly these. */
const hasAll = (members: Readonly<Record<string, unknown>>, keys: readonly string[]): boolean => {
  for (const key of keys) if (members[key] === undefined) return false;
  return true;
};
