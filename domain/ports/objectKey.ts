/** Letters, digits, `.`, `_`, `-` in parts of at most 128, joined by `/`; no part is only dots. */
const PART = /^(?!\.+$)[A-Za-z0-9._-]{1,128}$/;
const KEY_CHARACTERS_MAX = 512;

/** Throws for a key that could leave the store or mean two objects: keys are made by us, never by a caller. */
export function checkObjectKey(key: string): string {
  const parts = key.split('/');
  if (key.length > KEY_CHARACTERS_MAX || !parts.every((part) => PART.test(part)))
    throw new Error(`not an object key: ${JSON.stringify(key.slice(0, 80))}`);
  return key;
}

/** Throws for a prefix that is neither '' nor whole parts of a key, each with its `/`. */
export function checkKeyPrefix(prefix: string): string {
  if (prefix === '') return prefix;
  if (!prefix.endsWith('/'))
    throw new Error(`not the prefix of object keys: ${JSON.stringify(prefix.slice(0, 80))}`);
  checkObjectKey(prefix.slice(0, -1));
  return prefix;
}
