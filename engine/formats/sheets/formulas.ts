/*
 * Programs write workbooks whose formulas were never computed: a cell has what to compute and no value. What a person
 * sees after opening such a file is computed here, where it needs arithmetic alone; the rest is named.
 */

/** What a cell has: an empty one has nothing, and one that no formula can count with is `undefined`. */
export type CellValue = number | string | null | undefined;

/** A workbook while its formulas are computed: by sheet and address (`B2`). */
export interface FormulaCells {
  readonly valueAt: (sheet: string, address: string) => CellValue;
  readonly formulaAt: (sheet: string, address: string) => string | undefined;
}

const FORMULAS_MAX = 100_000;
const CELLS_MAX = 2_000_000;
const DEPTH_MAX = 200;

const NO_VALUE = String.raw`(?:<(?:\w+:)?v\s*/>\s*|<(?:\w+:)?v>\s*</(?:\w+:)?v>\s*)?`;
const FORMULA = String.raw`<(?:\w+:)?f\b(?:[^<>]*/>|[^<>]*>([^<]*)</(?:\w+:)?f>)`;
const UNCOMPUTED = new RegExp(
  String.raw`<(?:\w+:)?c\s([^<>]*)>\s*${FORMULA}\s*${NO_VALUE}</(?:\w+:)?c>`,
  'g',
);
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
]);

/** The formulas of a sheet's part that have no value, by address; '' where it stands elsewhere. */
export function uncomputedFormulas(part: Uint8Array): ReadonlyMap<string, string> {
  const formulas = new Map<string, string>();
  const xml = Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('utf8');
  for (const [, head = '', formula = ''] of xml.matchAll(UNCOMPUTED)) {
    const address = /(?:^|\s)r="([A-Z]{1,3}\d{1,7})"/.exec(head)?.[1];
    // A formula whose value is an empty text was computed.
    if (address === undefined || /(?:^|\s)t="str"/.test(head)) continue;
    formulas.set(
      address,
      formula.replace(/&(?:amp|lt|gt|quot|apos);/g, (sign) => ENTITIES.get(sign) ?? sign),
    );
    if (formulas.size >= FORMULAS_MAX) break;
  }
  return formulas;
}

class NotComputed extends Error {}

const fail = (): never => {
  throw new NotComputed();
};

type Value = number | string | boolean | null;
/** Of an argument: one value, or those of a range. */
type Operand = Value | readonly Value[];

/** Computes formulas by sheet and address; undefined is what cannot be computed. */
export function formulaReader(
  cells: FormulaCells,
): (sheet: string, address: string) => number | string | undefined {
  const known = new Map<string, Value>();
  const open = new Set<string>();
  let visits = 0;
  const valueAt = (sheet: string, address: string): Value => {
    visits += 1;
    if (visits > CELLS_MAX) fail();
    const key = `${sheet}!${address}`;
    const done = known.get(key);
    if (done !== undefined) return done;
    const formula = cells.formulaAt(sheet, address);
    if (formula === undefined) {
      const value = cells.valueAt(sheet, address);
      return value === undefined ? fail() : value;
    }
    if (open.has(key) || open.size > DEPTH_MAX) fail();
    open.add(key);
    try {
      const value = single(compute({ tokens: tokensOf(formula), at: 0, sheet, valueAt }));
      known.set(key, value);
      return value;
    } finally {
      open.delete(key);
    }
  };
  return (sheet, address) => {
    try {
      const value = valueAt(sheet, address);
      if (typeof value === 'number')
        return Number.isFinite(value) ? Number(value.toPrecision(15)) : undefined;
      return typeof value === 'boolean' ? String(value).toUpperCase() : (value ?? 0);
    } catch (error) {
      if (error instanceof NotComputed) return undefined;
      throw error;
    }
  };
}

const CELL = String.raw`\$?[A-Z]{1,3}\$?\d{1,7}`;
const SHEET = String.raw`(?:'(?:[^']|'')+'|[\p{L}_][\p{L}\p{N}_.]*)!`;
const TOKENS = [
  String.raw`(?<number>\d+(?:\.\d+)?(?:E[+-]?\d+)?)`,
  String.raw`"(?<text>(?:[^"]|"")*)"`,
  String.raw`(?<ref>(?:${SHEET})?${CELL}(?::${CELL})?(?![\p{L}\p{N}(.]))`,
  String.raw`(?<name>[A-Z][A-Z0-9.]*)(?=\()`,
  String.raw`(?<sign><>|<=|>=|[-+*/^&=<>(),;%])`,
];
const TOKEN = new RegExp(String.raw`\s*(?:${TOKENS.join('|')})`, 'uy');

interface Token {
  readonly kind: 'number' | 'text' | 'ref' | 'name' | 'sign';
  readonly text: string;
}

const KINDS = ['number', 'text', 'ref', 'name', 'sign'] as const;
const TOKENS_MAX = 2_000;

function tokensOf(formula: string): readonly Token[] {
  const tokens: Token[] = [];
  const text = formula.trim();
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length;) {
    const groups = TOKEN.exec(text)?.groups;
    const kind = KINDS.find((one) => groups?.[one] !== undefined);
    if (kind === undefined || tokens.length > TOKENS_MAX) return fail();
    tokens.push({ kind, text: groups?.[kind] ?? '' });
  }
  return tokens;
}

/** A formula while it is computed. */
interface Computation {
  readonly tokens: readonly Token[];
  at: number;
  readonly sheet: string;
  readonly valueAt: (sheet: string, address: string) => Value;
}

function compute(reading: Computation): Operand {
  const value = expression(reading, 0);
  return reading.at === reading.tokens.length ? value : fail();
}

const isOperand = (value: Operand): value is readonly Value[] => Array.isArray(value);
const single = (value: Operand): Value => (isOperand(value) ? fail() : value);

function numberOf(value: Operand): number {
  const one = single(value);
  if (one === null) return 0;
  return typeof one === 'number' ? one : typeof one === 'boolean' ? Number(one) : fail();
}

const textOf = (value: Operand): string => String(single(value) ?? '');

type Operator = (left: Operand, right: Operand) => Value;
const compared =
  (holds: (order: number) => boolean): Operator =>
  (left, right) => {
    const [a, b] = [single(left), single(right)];
    if (typeof a === 'string' && typeof b === 'string')
      return holds(a.localeCompare(b, 'en', { sensitivity: 'accent' }));
    return holds(numberOf(a) - numberOf(b));
  };

/** Operators from the loosest to the tightest. */
const LEVELS: readonly ReadonlyMap<string, Operator>[] = [
  new Map([
    ['=', compared((order) => order === 0)],
    ['<>', compared((order) => order !== 0)],
    ['<', compared((order) => order < 0)],
    ['>', compared((order) => order > 0)],
    ['<=', compared((order) => order <= 0)],
    ['>=', compared((order) => order >= 0)],
  ]),
  new Map([['&', (left, right) => textOf(left) + textOf(right)]]),
  new Map([
    ['+', (left, right) => numberOf(left) + numberOf(right)],
    ['-', (left, right) => numberOf(left) - numberOf(right)],
  ]),
  new Map([
    ['*', (left, right) => numberOf(left) * numberOf(right)],
    ['/', (left, right) => (numberOf(right) === 0 ? fail() : numberOf(left) / numberOf(right))],
  ]),
  new Map([['^', (left, right) => numberOf(left) ** numberOf(right)]]),
];

function expression(reading: Computation, level: number): Operand {
  const operators = LEVELS[level];
  if (operators === undefined) return unary(reading);
  let value = expression(reading, level + 1);
  for (;;) {
    const operator = signAt(reading, (sign) => operators.get(sign));
    if (operator === undefined) return value;
    reading.at += 1;
    value = operator(value, expression(reading, level + 1));
  }
}

function signAt<T>({ tokens, at }: Computation, found: (sign: string) => T | undefined): T | undefined {
  const token = tokens[at];
  return token?.kind === 'sign' ? found(token.text) : undefined;
}

function took(reading: Computation, ...signs: readonly string[]): boolean {
  const isThere = signAt(reading, (sign) => signs.includes(sign) || undefined) === true;
  if (isThere) reading.at += 1;
  return isThere;
}

function unary(reading: Computation): Operand {
  if (took(reading, '-')) return -numberOf(unary(reading));
  if (took(reading, '+')) return unary(reading);
  let value = primary(reading);
  while (took(reading, '%')) value = numberOf(value) / 100;
  return value;
}

function primary(reading: Computation): Operand {
  if (took(reading, '(')) {
    const value = expression(reading, 0);
    return took(reading, ')') ? value : fail();
  }
  const token = reading.tokens[reading.at];
  reading.at += 1;
  switch (token?.kind) {
    case 'number':
      return Number(token.text);
    case 'text':
      return token.text.replaceAll('""', '"');
    case 'ref':
      return referred(reading, token.text);
    case 'name':
      return called(reading, token.text);
    default:
      return fail();
  }
}

function referred({ sheet, valueAt }: Computation, reference: string): Operand {
  const mark = reference.lastIndexOf('!');
  const named = reference.slice(0, Math.max(0, mark));
  const own = mark < 0 ? sheet : named.startsWith("'") ? named.slice(1, -1).replaceAll("''", "'") : named;
  const [first = '', last] = reference
    .slice(mark + 1)
    .replaceAll('$', '')
    .split(':');
  if (last === undefined) return valueAt(own, first);
  const [from, to] = [placeOf(first), placeOf(last)];
  const values: Value[] = [];
  for (let row = Math.min(from.row, to.row); row <= Math.max(from.row, to.row); row += 1)
    for (
      let column = Math.min(from.column, to.column);
      column <= Math.max(from.column, to.column);
      column += 1
    )
      values.push(valueAt(own, `${lettersOf(column)}${row}`));
  return values;
}

/** From 1. */
function placeOf(address: string): { readonly row: number; readonly column: number } {
  const letters = address.replace(/\d/g, '');
  const column = Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
  return { row: Number(address.slice(letters.length)), column };
}

const lettersOf = (column: number): string =>
  column <= 26
    ? String.fromCharCode(64 + column)
    : lettersOf(Math.floor((column - 1) / 26)) + String.fromCharCode(65 + ((column - 1) % 26));

/** Numbers of ranges and arguments; texts in ranges count for nothing. */
const numbersOf = (operands: readonly Operand[]): readonly number[] =>
  operands.flatMap((operand) =>
    isOperand(operand) ? operand.filter((value) => typeof value === 'number') : [numberOf(operand)],
  );

const total = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

/** Half away from zero, by the digits that are shown: `1.005` is what was typed. */
function rounded(value: number, places: number): number {
  const size = Number(`${Number(Math.abs(value).toPrecision(15))}e${places}`);
  return Math.sign(value) * Number(`${Math.round(size)}e${-places}`);
}

const FUNCTIONS: ReadonlyMap<string, (operands: readonly Operand[]) => Value> = new Map([
  ['SUM', (operands) => total(numbersOf(operands))],
  ['PRODUCT', (operands) => numbersOf(operands).reduce((product, number) => product * number, 1)],
  ['COUNT', (operands) => numbersOf(operands).length],
  ['MIN', (operands) => numbersOf(operands).reduce((least, number) => Math.min(least, number), Infinity)],
  ['MAX', (operands) => numbersOf(operands).reduce((most, number) => Math.max(most, number), -Infinity)],
  ['AVERAGE', (operands) => total(numbersOf(operands)) / (numbersOf(operands).length || fail())],
  ['ABS', ([value = null]) => Math.abs(numberOf(value))],
  ['ROUND', ([value = null, places = null]) => rounded(numberOf(value), Math.trunc(numberOf(places)))],
  ['IF', ([test = null, yes = true, no = false]) => single(numberOf(test) === 0 ? no : yes)],
]);

function called(reading: Computation, name: string): Value {
  const apply = FUNCTIONS.get(name);
  if (apply === undefined || !took(reading, '(')) return fail();
  const operands: Operand[] = [];
  if (!took(reading, ')'))
    do operands.push(expression(reading, 0));
    while (took(reading, ',', ';'));
  return operands.length === 0 || took(reading, ')') ? apply(operands) : fail();
}
