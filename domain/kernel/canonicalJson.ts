import canonicalize from 'canonicalize';

/**
 * Canonical JSON (RFC 8785): keys sorted by UTF-16 code units, no white space, numbers and strings as
 * ECMAScript writes them. Members that are undefined are left out. Throws on what JSON cannot carry.
 *
 * The common shapes are written here, since this runs for every event appended or verified; whatever
 * they do not cover goes through the reference implementation, and a spec holds the two together.
 */
export const canonicalJson = (value: unknown): string => {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : byReference(value);
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (value === null) return 'null';
  if (Array.isArray(value)) return arrayText(value);
  if (isPlain(value)) return objectText(value);
  return byReference(value);
};

/** Nothing in it that JSON escapes: no quote, backslash or control character, and only ASCII. */
const PLAIN_TEXT = /^[ !#-[\]-~]*$/;

/** With the `u` flag a pair is one character, so only a half without its other half matches. */
const LONE_SURROGATE = /\p{Surrogate}/u;

const quoted = (text: string): string => {
  if (PLAIN_TEXT.test(text)) return `"${text}"`;
  if (LONE_SURROGATE.test(text)) throw new TypeError('a lone surrogate has no canonical JSON');
  return JSON.stringify(text);
};

const arrayText = (items: readonly unknown[]): string => {
  let text = '[';
  for (let at = 0; at < items.length; at += 1)
    text += (at === 0 ? '' : ',') + canonicalJson(items[at] === undefined ? null : items[at]);
  return `${text}]`;
};

const objectText = (value: Readonly<Record<string, unknown>>): string => {
  let text = '{';
  let separator = '';
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member === undefined) continue;
    text += `${separator}${quoted(key)}:${canonicalJson(member)}`;
    separator = ',';
  }
  return `${text}}`;
};

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

const byReference = (value: unknown): string => {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError(`a ${typeof value} has no canonical JSON`);
  return text;
};
