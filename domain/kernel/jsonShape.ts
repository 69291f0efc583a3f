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

export interface Shape {
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
