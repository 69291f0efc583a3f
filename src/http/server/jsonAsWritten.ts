import { visit } from 'jsonc-parser';
import type { ShapeLimits } from '../../../domain/kernel/json.ts';

/** What `JSON.parse` does not tell of a text: how numbers were written, and members that stand twice. */

export const BODY_LIMITS = {
  /** Deeper than any body of the interface: a schema of depth 32 takes 2 levels a depth. */
  depthMax: 128,
  /**
   * More than any body of the interface has: a thousand examples of fifty fields. What is done with a body at a
   * stretch (parsing, counting, checking) takes some 50 ms for so many, and ten times that for a megabyte of them.
   */
  valuesMax: 50_000,
} satisfies ShapeLimits;

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
