import { visit } from 'jsonc-parser';

/** What `JSON.parse` does not tell of a text: how numbers were written, and members that stand twice. */

/** Where a value stands. */
export type JsonPath = readonly (string | number)[];

/** Deeper than any body of the interface: a schema of depth 32 takes 2 levels a depth. */
export const DEPTH_MAX = 128;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPENERS = new Set([0x5b, 0x7b]);
const CLOSERS = new Set([0x5d, 0x7d]);

/** The index after a JSON string that begins at `start`. */
const afterString = (text: string, start: number): number => {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
};

/**
 * How many members all objects of a text have together. Told before it is parsed: what walks a value
 * afterwards calls itself once a level.
 */
export const shapeOf = (text: string): { readonly members: number } | 'too_deep' => {
  let [depth, members, at] = [0, 0, 0];
  while (at < text.length && depth <= DEPTH_MAX) {
    const code = text.charCodeAt(at);
    if (OPENERS.has(code)) depth += 1;
    else if (CLOSERS.has(code)) depth -= 1;
    else if (code === COLON) members += 1;
    at = code === QUOTE ? afterString(text, at) : at + 1;
  }
  return depth > DEPTH_MAX ? 'too_deep' : { members };
};

/** How many members all objects of a value have together: of a name that stood twice one is left. */
export const membersOf = (value: unknown): number => {
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
 * Where a text that is JSON has whole numbers with a fraction or an exponent: `5.0`, `1e3`, and
 * `9007199254740991.4`, which is whole once it is parsed.
 */
export const oddIntegersIn = (text: string): readonly JsonPath[] => {
  if (!MAYBE_ODD.test(text)) return [];
  const found: JsonPath[] = [];
  visit(text, {
    // eslint-disable-next-line max-params -- the visitor gets its parameters by place
    onLiteralValue: (value, offset, length, _line, _character, pathOf) => {
      if (!Number.isInteger(value)) return;
      if (ODD.test(text.slice(offset, offset + length))) found.push(pathOf());
    },
  });
  return found;
};

/** A copy in which these numbers are no whole numbers, so that a schema for whole numbers refuses them. */
export const withHalvesAt = (value: unknown, paths: readonly JsonPath[]): unknown => {
  const copy = { root: structuredClone(value) };
  for (const path of paths) {
    let at: Record<string | number, unknown> = copy;
    let last: string | number = 'root';
    for (const step of path) {
      at = at[last] as Record<string | number, unknown>;
      last = step;
    }
    at[last] = 0.5;
  }
  return copy.root;
};
