import { visit } from 'jsonc-parser';

/** What `JSON.parse` does not tell of a text: how numbers were written, and members that stand twice. */

/** Deeper than any body of the interface: a schema of depth 32 takes 2 levels a depth. */
export const DEPTH_MAX = 128;

/**
 * More values than any body of the interface: a thousand examples of fifty fields. What is done with a body at a
 * stretch (parsing, counting, checking) takes some 50 ms for so many, and ten times that for a megabyte of them.
 */
export const VALUES_MAX = 50_000;

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

export interface Shape {
  /** Of all objects together. */
  readonly members: number;
  /** Of all objects and lists together; an empty one counts as one of one. */
  readonly values: number;
}

/** Told before it is parsed: what walks a value afterwards calls itself once a level. */
export const shapeOf = (text: string): Shape | 'too_deep' | 'too_many_values' => {
  let [depth, members, values, at] = [0, 0, 0, 0];
  while (at < text.length) {
    const code = text.charCodeAt(at);
    at = code === QUOTE ? afterString(text, at) : at + 1;
    if (code === COLON) members += 1;
    if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
    const isOpening = code === OPEN_LIST || code === OPEN_OBJECT;
    if (isOpening) depth += 1;
    if (isOpening || code === COMMA) values += 1;
    if (depth > DEPTH_MAX) return 'too_deep';
    if (values > VALUES_MAX) return 'too_many_values';
  }
  return { members, values };
};

/**
 * How many members all objects of a value have together: of a name that stood twice one is left. Throws for a
 * number such as `1e400`, which parsed is infinite: no event can carry it.
 */
export const membersOf = (value: unknown): number => {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new SyntaxError('no double has this number');
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) for (const item of value) members += membersOf(item);
  else
    for (const name of Object.keys(value)) {
      members += 1 + membersOf((value as Readonly<Record<string, unknown>>)[name]);
    }
  return members;
};

/** A member that stands twice in one object of a text that is JSON. */
export const memberTwiceIn = (text: string): string | undefined => {
  const open: Set<string>[] = [];
  let twice: string | undefined;
  visit(text, {
    onObjectBegin: () => {
      open.push(new Set());
    },
    onObjectProperty: (name) => {
      const names = open.at(-1);
      if (names?.has(name) === true) twice ??= name;
      names?.add(name);
    },
    onObjectEnd: () => {
      open.pop();
    },
  });
  return twice;
};

/** May be in a string, too; then the text is looked at for nothing. */
const MAYBE_ODD = /[:,[]\s*-?\d+[.eE]/;
const ODD = /[.eE]/;

/**
 * A text that is JSON with 0.5 in the place of each whole number that has a fraction or an exponent: `5.0`, `1e3`,
 * and `9007199254740991.4`, which is whole once it is parsed. A schema for whole numbers refuses them there.
 * undefined: it has none.
 */
export const withHalves = (text: string): string | undefined => {
  if (!MAYBE_ODD.test(text)) return undefined;
  const pieces: string[] = [];
  let from = 0;
  visit(text, {
    onLiteralValue: (value, offset, length) => {
      if (!Number.isInteger(value) || !ODD.test(text.slice(offset, offset + length))) return;
      pieces.push(text.slice(from, offset), '0.5');
      from = offset + length;
    },
  });
  return from === 0 ? undefined : pieces.join('') + text.slice(from);
};
