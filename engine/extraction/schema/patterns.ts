import { RegExpParser, type AST } from '@eslint-community/regexpp';
import { RE2JS } from 're2js';
import { schemasIn, shownPath, type Unknowns } from './schemaParts.ts';
import { isObject } from '../../kernel/json.ts';

/** A caller's pattern, looked for in time that grows with the text, whatever pattern and text are. */
export interface LinearPattern {
  readonly test: (text: string) => boolean;
  /** By which Ajv tells one pattern from another. */
  readonly toString: () => string;
  /** Instructions of its program: what each character of a text may cost. */
  readonly steps: number;
}

/** Why a pattern cannot be looked for in linear time: a sentence without its subject. */
export class PatternRefused extends Error {
  override readonly name = 'PatternRefused';
}

const PATTERN_CHARS_MAX = 10_000;
const PATTERN_STEPS_MAX = 5_000;
/** All patterns of a schema together. */
const SCHEMA_STEPS_MAX = 50_000;
const REPEATS_MAX = 1_000;

const TOO_LARGE = 'is too large: use fewer or smaller repeats';

/**
 * Patterns are read as ECMAScript has them, with the flag `u`, and looked for by an engine without backtracking
 * (RE2). Throws `PatternRefused` for what has no linear engine.
 */
export function linearPattern(pattern: string): LinearPattern {
  if (pattern.length > PATTERN_CHARS_MAX)
    throw new PatternRefused(`has more than ${PATTERN_CHARS_MAX} characters`);
  const compiled = compiledOf(pattern);
  const steps = compiled.programSize();
  if (steps > PATTERN_STEPS_MAX) throw new PatternRefused(TOO_LARGE);
  return { test: (text) => compiled.test(text), toString: () => `/${pattern}/u`, steps };
}

function compiledOf(pattern: string): RE2JS {
  const translated = anyOf(treeOf(pattern).alternatives);
  try {
    return RE2JS.compile(translated);
  } catch {
    // its form is right: what is refused now are repeats in repeats, and nesting
    throw new PatternRefused(TOO_LARGE);
  }
}

function treeOf(pattern: string): AST.Pattern {
  try {
    return new RegExpParser({ ecmaVersion: 2024 }).parsePattern(pattern, 0, pattern.length, {
      unicode: true,
    });
  } catch (error) {
    if (error instanceof RangeError) throw new PatternRefused(TOO_LARGE);
    throw new PatternRefused(`is no regular expression: ${(error as Error).message.slice(0, 200)}`);
  }
}

const anyOf = (alternatives: readonly AST.Alternative[]): string =>
  alternatives.map(({ elements }) => elements.map(elementOf).join('')).join('|');

function elementOf(element: AST.Element): string {
  switch (element.type) {
    case 'Group':
    case 'CapturingGroup':
      return `(?:${anyOf(element.alternatives)})`;
    case 'Quantifier':
      return repeated(element);
    case 'Assertion':
      return boundaryOf(element);
    case 'Backreference':
      throw new PatternRefused('has a backreference, which cannot be looked for in linear time');
    case 'Character':
    case 'CharacterSet':
    case 'CharacterClass':
      return classOf(rangesOf(element));
    case 'ExpressionCharacterClass':
      throw new PatternRefused('has set operations, which the flag "u" does not know');
  }
}

/** Greedy or not, what is asked is whether a text has it. */
function repeated({ element, min, max }: AST.Quantifier): string {
  const most = max === Infinity ? min : max;
  if (most > REPEATS_MAX) throw new PatternRefused(`repeats something more than ${REPEATS_MAX} times`);
  return `(?:${elementOf(element)}){${min},${max === Infinity ? '' : max}}`;
}

function boundaryOf(assertion: AST.Assertion): string {
  switch (assertion.kind) {
    case 'start':
      return '^';
    case 'end':
      return '$';
    case 'word':
      return assertion.negate ? String.raw`\B` : String.raw`\b`;
    case 'lookahead':
    case 'lookbehind':
      throw new PatternRefused('has a lookaround, which cannot be looked for in linear time');
  }
}

/** Code points, the first and the last of each. */
type Ranges = readonly (readonly [number, number])[];

const LAST = 0x10ffff;
const ALL: Ranges = [[0, LAST]];

/** A class of none matches nothing. */
const classOf = (ranges: Ranges): string =>
  ranges.length === 0 ? `[^${classBody(ALL)}]` : `[${classBody(ranges)}]`;

const hex = (point: number): string => String.raw`\x{${point.toString(16)}}`;
const classBody = (ranges: Ranges): string =>
  ranges.map(([from, to]) => (from === to ? hex(from) : `${hex(from)}-${hex(to)}`)).join('');

function rangesOf(
  element:
    | AST.Character
    | AST.CharacterSet
    | AST.CharacterClassRange
    | AST.ClassRangesCharacterClass
    | AST.CharacterClass
    | AST.CharacterClassElement,
): Ranges {
  switch (element.type) {
    case 'Character':
      return [[element.value, element.value]];
    case 'CharacterClassRange':
      return [[element.min.value, element.max.value]];
    case 'CharacterSet':
      return setOf(element);
    case 'CharacterClass': {
      const ranges = (element.elements as readonly AST.CharacterClassElement[]).flatMap(rangesOf);
      return element.negate ? without(ranges) : ranges;
    }
    default:
      throw new PatternRefused('has set operations, which the flag "u" does not know');
  }
}

/** All code points that are in none of the ranges. */
function without(ranges: Ranges): Ranges {
  const rest: (readonly [number, number])[] = [];
  let next = 0;
  for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
    if (from > next) rest.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  return next > LAST ? rest : [...rest, [next, LAST]];
}

const sets = new Map<string, Ranges>();

/** What ECMAScript counts to `.`, `\s`, `\p{…}` and the like: asked of its own engine, once a process. */
function setOf(set: AST.CharacterSet): Ranges {
  const known = sets.get(set.raw) ?? read(set);
  sets.set(set.raw, known);
  return known;
}

const BASIC_LAST = 0xffff;

/** All but properties are, or leave out, few code points of the basic plane. */
function read(set: AST.CharacterSet): Ranges {
  if (set.kind === 'property') return scanned(set.raw, LAST);
  if (set.kind === 'any') return without(scanned(String.raw`[\n\r\u2028\u2029]`, BASIC_LAST));
  const ranges = scanned(set.raw.toLowerCase(), BASIC_LAST);
  return set.negate ? without(ranges) : ranges;
}

const CHUNK = 0x800;
const HALVES = 0xd800;

/** The code points up to `last` that are in a set. Halves of pairs are looked at one by one: two would be a whole. */
function scanned(raw: string, last: number): Ranges {
  const set = new RegExp(`(?:${raw})+`, 'gu');
  const found: [number, number][] = [];
  const add = (from: number, to: number): void => {
    const before = found.at(-1);
    if (before !== undefined && before[1] === from - 1) before[1] = to;
    else found.push([from, to]);
  };
  for (let start = 0; start <= last; start += CHUNK) {
    const size = start === HALVES ? 1 : CHUNK;
    for (let from = start; from < start + CHUNK; from += size) {
      const units = from > BASIC_LAST ? 2 : 1;
      const text = String.fromCodePoint(...Array.from({ length: size }, (_, at) => from + at));
      for (const { 0: run, index } of text.matchAll(set))
        add(from + index / units, from + (index + run.length) / units - 1);
    }
  }
  return found;
}

/** A pattern of a schema that is refused, and where it stands. */
export interface PatternFault {
  readonly kind: 'refused';
  /** A sentence for the caller. */
  readonly detail: string;
}

/** The patterns of a schema, each compiled once; or the first that is refused. */
export function patternsIn(
  schema: Unknowns,
): { readonly kind: 'compiled'; readonly patterns: ReadonlyMap<string, LinearPattern> } | PatternFault {
  const patterns = new Map<string, LinearPattern>();
  let steps = 0;
  for (const { path, schema: one } of schemasIn(schema))
    for (const pattern of patternsOf(one)) {
      if (patterns.has(pattern)) continue;
      const compiled = attempted(pattern);
      if (typeof compiled === 'string') return refused(path, pattern, compiled);
      steps += compiled.steps;
      if (steps > SCHEMA_STEPS_MAX)
        return refused(path, pattern, `and those before it are too large together`);
      patterns.set(pattern, compiled);
    }
  return { kind: 'compiled', patterns };
}

const PATTERN_SHOWN = 80;

const refused = (path: string, pattern: string, why: string): PatternFault => ({
  kind: 'refused',
  detail: `The pattern "${pattern.slice(0, PATTERN_SHOWN)}" at ${shownPath(path)} ${why}.`,
});

const patternsOf = ({ pattern, patternProperties }: Unknowns): readonly string[] => [
  ...(typeof pattern === 'string' ? [pattern] : []),
  ...(isObject(patternProperties) ? Object.keys(patternProperties) : []),
];

function attempted(pattern: string): LinearPattern | string {
  try {
    return linearPattern(pattern);
  } catch (error) {
    if (error instanceof PatternRefused) return error.message;
    throw error;
  }
}
