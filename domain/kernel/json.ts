import canonicalize from 'canonicalize';

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

/** The message of an error; any other thrown value as text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Of several errors in one, as of a host with many addresses, what each says; of a fetch, which fails by a
 * TypeError, its cause.
 */
export const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0)
    return [...new Set(error.errors.map(reasonOf))].join('; ');
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const own = error.message === '' ? error.name : error.message;
  return error instanceof TypeError && cause instanceof Error ? reasonOf(cause) : own;
};

/** The code of an error of the system, of a driver (SQLSTATE) or of a program; '' where it has none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** undefined where there is no such file. */
export const absentAsUndefined = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
};

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The index after a JSON string that begins at `start`. */
const afterString = (text: string, start: number): number => {
  let at = start + 1;
  for (let code = text.charCodeAt(at); at < text.length && code !== QUOTE; code = text.charCodeAt(at))
    at += code === BACKSLASH ? 2 : 1;
  return at + 1;
};

const isOpener = (code: number): boolean => code === OPEN_LIST || code === OPEN_OBJECT;
const isCloser = (code: number): boolean => code === CLOSE_LIST || code === CLOSE_OBJECT;

const levelsBy = (code: number): number => {
  if (isOpener(code)) return 1;
  return isCloser(code) ? -1 : 0;
};

interface Shape {
  /** Of all objects together. */
  readonly members: number;
  /** In all objects and lists together; an empty one counts as if it had one. */
  readonly values: number;
}

export interface ShapeLimits {
  readonly depthMax: number;
  readonly valuesMax: number;
}

/**
 * Told before a text of JSON is parsed: parsing cannot be interrupted, and what walks a value afterwards calls
 * itself once a level.
 */
export const shapeOf = (
  text: string,
  { depthMax, valuesMax }: ShapeLimits,
): Shape | 'too_deep' | 'too_many_values' => {
  let [depth, members, values, at] = [0, 0, 0, 0];
  while (at < text.length) {
    const code = text.charCodeAt(at);
    at = code === QUOTE ? afterString(text, at) : at + 1;
    depth += levelsBy(code);
    if (code === COLON) members += 1;
    if (code === COMMA || isOpener(code)) values += 1;
    if (depth > depthMax) return 'too_deep';
    if (values > valuesMax) return 'too_many_values';
  }
  return { members, values };
};

/** Says which log this is: its first event is `LogOpened`. */
export const LOG_STREAM = '$quire';

/** Every seal of the log, chained over all earlier ones. */
export const SEALS_STREAM = '$seals';

/** Snapshots of accounts on EventStoreDB are kept in streams `accountSnapshot-<tenant>`. */
export const SNAPSHOT_CATEGORY = 'accountSnapshot';

/** Streams that tell about the log itself; the audit reads them too. */
export const OWN_STREAMS: readonly string[] = [LOG_STREAM, SEALS_STREAM];

/** True for a stream about the log itself. */
export const isOwn = (stream: string): boolean => OWN_STREAMS.includes(stream);

/** True for a stream that a feed leaves out unless it is asked for: of a server, about the log, of snapshots. */
export const isHidden = (stream: string): boolean =>
  stream.startsWith('$') || stream === SNAPSHOT_CATEGORY || stream.startsWith(`${SNAPSHOT_CATEGORY}-`);

/** True for a stream that a feed with these options leaves out, whatever the categories. */
export const isLeftOut = (stream: string, { own = false }: { readonly own?: boolean }): boolean =>
  isHidden(stream) && !(own && isOwn(stream));

/** What JSON can carry exactly: no bigint, no Date, no NaN, no undefined. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** The value of a JSON text; undefined if it is not JSON. */
export const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
