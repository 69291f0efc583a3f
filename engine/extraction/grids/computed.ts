import type { Computation } from '../fields/computation.ts';
import type { Field } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';
import { once } from '../../kernel/once.ts';
import type { Source } from '../source.ts';
import { phraseSimilarity } from '../words/alike.ts';
import { headerWords, labelWords } from '../words/labelWords.ts';
import { lexicon } from '../words/lexicon.ts';
import { cellValue } from './cellValues.ts';
import { cellsIn, isEmpty, type Cell, type Grid, type GridRow } from './grid.ts';
import { mayBeHeader } from './headerRows.ts';
import { gridsOf } from './tableGrids.ts';

/** A figure that comes out of cells that are read well is right unless the table goes on elsewhere. */
const CONFIDENCE = 0.85;
/** Rows of a table in which its header is looked for. */
const HEADER_ROWS = 4;
const TEXTS_MIN = 2;
const EVIDENCE = { label: 0.9, margin: 0.3, agreement: 0 };

/** A table with the row that heads it. */
interface Table {
  readonly header: GridRow;
  readonly body: readonly GridRow[];
}

/** The figure that the rows of the document's only table of such columns come to; undefined where none does. */
export function computedFigure(field: Field, { by, text }: Computation, source: Source): Finding | undefined {
  const tables = tablesIn(source);
  if (by === 'count') return tables.length === 1 ? countOf(tables[0]) : undefined;
  const told = tables.flatMap((table) => {
    const column = columnIn(table.header, text);
    return column === undefined ? [] : [{ table, column }];
  });
  const [only, ...others] = told;
  if (only === undefined || others.length > 0) return undefined;
  return figureOf(field, by, { ...only, source });
}

/** The tables of a document, those that go on with the one before as one. */
const tablesIn = once((source: Source): readonly Table[] => {
  const tables: Table[] = [];
  for (const grid of gridsOf(source.document)) {
    const at = headerAt(grid);
    const before = tables.at(-1);
    const header = grid.rows[at];
    if (before !== undefined && (grid.continues || isSameHeader(before.header, header)))
      tables[tables.length - 1] = { ...before, body: [...before.body, ...bodyOf(grid, before.header)] };
    else if (header !== undefined) tables.push({ header, body: rowsOf(grid.rows.slice(at + 1)) });
  }
  return tables;
});

const headerAt = (grid: Grid): number =>
  grid.rows.slice(0, HEADER_ROWS).findIndex((row) => cellsIn(row).length >= TEXTS_MIN && mayBeHeader(row));

const textsOf = (row: GridRow): string => row.map((cell) => cell?.text ?? '').join('\n');
const isSameHeader = (one: GridRow, other: GridRow | undefined): boolean =>
  other !== undefined && textsOf(one) === textsOf(other);

const bodyOf = (grid: Grid, header: GridRow): readonly GridRow[] =>
  rowsOf(grid.rows.filter((row) => !isSameHeader(header, row)));

/** Rows that say something and sum no others. */
const rowsOf = (rows: readonly GridRow[]): readonly GridRow[] =>
  rows.filter((row) => {
    const first = row.find((cell) => !isEmpty(cell));
    return first !== undefined && cellsIn(row).length > 1 && !isTotal(first.text);
  });

const isTotal = (label: string): boolean => lexicon.rows.totals.has(labelWords(label)[0] ?? '');

/** The column whose header the text says, of several the one that says most. */
function columnIn(header: GridRow, text: string): number | undefined {
  const [best] = headersIn(header, text);
  return best?.column;
}

interface Said {
  readonly column: number;
  readonly from: number;
  readonly to: number;
}

/** Tables with more columns are no registers that a schema asks for. */
const COLUMNS_MAX = 300;

/** A header without what it says in brackets, its unit mostly. */
const named = (header: string): string => header.replace(/\([^()]*\)/gu, ' ').trim();

const escaped = (word: string): string => word.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&');

/** Where a text says headers of columns, word for word; the longest first. */
function headersIn(header: GridRow, text: string): readonly Said[] {
  const all = header.slice(0, COLUMNS_MAX).flatMap((cell, column): readonly Said[] => {
    const words = named(cell?.text ?? '').split(/[\s_]+/);
    if (!words.some((word) => /\p{L}{2}/u.test(word))) return [];
    const shape = new RegExp(
      `(?<![\\p{L}\\p{N}])${words.map(escaped).join('\\s+')}(?![\\p{L}\\p{N}])`,
      'giu',
    );
    return [...text.matchAll(shape)].map(({ index, 0: said }) => ({
      column,
      from: index,
      to: index + said.length,
    }));
  });
  return all.toSorted((a, b) => b.to - b.from - (a.to - a.from));
}

function countOf(table: Table | undefined): Finding | undefined {
  if (table === undefined || table.body.length === 0) return undefined;
  return findingOf(table.body.length, [cellsIn(table.header)[0], ...table.body.flatMap(cellsIn)]);
}

function figureOf(
  field: Field,
  by: Computation['by'],
  { table, column, source }: { readonly table: Table; readonly column: number; readonly source: Source },
): Finding | undefined {
  const cells = table.body.map((row) => row[column]).filter((cell) => !isEmpty(cell));
  const numbers = cells.flatMap((cell) => numberIn(field, cell, source) ?? []);
  if (numbers.length === 0 || numbers.length < cells.length) return undefined;
  const sum = numbers.reduce((a, b) => a + b, 0);
  return findingOf(exact(by === 'sum' ? sum : sum / numbers.length), [table.header[column], ...cells]);
}

function numberIn(field: Field, cell: Cell | undefined, source: Source): number | undefined {
  const value = cellValue({ ...field, kind: 'number', type: 'number' }, cell, { source, evidence: EVIDENCE });
  return typeof value?.value === 'number' ? value.value : undefined;
}

/** Sums of decimals, without what floating point adds. */
const exact = (value: number): number => Number(value.toPrecision(12));

/** A value that is worked out stands nowhere: it is cited by the first of the cells, and all of them are its place. */
function findingOf(value: number, cells: readonly (Cell | undefined)[]): Finding | undefined {
  const own = cells.filter((cell) => cell !== undefined);
  const [first] = own;
  if (first === undefined) return undefined;
  const words = own.filter(({ page }) => page === first.page).flatMap((cell) => cell.words);
  return { value, text: first.text, page: first.page, words, confidence: CONFIDENCE, by: 'computed' };
}

/** What stands beside a label on its line. */
const FIGURES = /[:\d.,€$£%-]+/gu;
/** So well a text calls a field by its name. */
const CALLED = 0.8;
const HEADER_CHARACTERS_MAX = 60;

/** Whether a text that is no part of a field's formula is called as the field: such a column is read. */
export const isPrinted = ({ terms, computed }: Field, { layout }: Source): boolean =>
  layout.segments.some(
    ({ text }) =>
      text.length <= HEADER_CHARACTERS_MAX &&
      computed?.text.includes(text) === false &&
      phraseSimilarity(terms.name, headerWords(text.replace(FIGURES, ' '))) >= CALLED,
  );

/** For a row of a table the values that formulas of its columns come to. */
export type Formulas = (row: GridRow) => readonly (readonly [pointer: string, finding: Finding])[];

/** The formulas of fields below a header, of those whose columns it names. */
export function formulasBelow(header: GridRow, fields: readonly Field[], source: Source): Formulas {
  const known = fields.flatMap((field) => {
    const tokens = field.computed === undefined ? undefined : tokensOf(header, field.computed.text);
    return tokens === undefined ? [] : [{ field, tokens, digits: digitsOf(field.computed?.text ?? '') }];
  });
  return (row) =>
    known.flatMap(({ field, tokens, digits }) => {
      const columns = tokens.flatMap((token) => (typeof token === 'object' ? [token.column] : []));
      const value = valueOf(tokens, (column) => numberIn(field, row[column], source));
      if (value === undefined) return [];
      const rounded = digits === undefined ? exact(value) : Number(value.toFixed(digits));
      const finding = findingOf(
        rounded,
        columns.map((column) => row[column]),
      );
      return finding === undefined ? [] : [[field.pointer, finding] as const];
    });
}

const { times, parts, plus, minus } = lexicon.computed;
type Sign = '+' | '-' | '*' | '/' | '(' | ')';
type Token = Sign | number | { readonly column: number };

const SIGNS: readonly (readonly [RegExp, Sign])[] = [
  [new RegExp(`^(?:${times.pattern}(?!\\p{L})|[*×·])`, 'iu'), '*'],
  [new RegExp(`^(?:${parts.pattern}(?!\\p{L})|[/÷])`, 'iu'), '/'],
  [new RegExp(`^(?:${plus.pattern}(?!\\p{L})|\\+)`, 'iu'), '+'],
  [new RegExp(`^(?:${minus.pattern}(?!\\p{L})|[-−–])`, 'iu'), '-'],
  [/^\(/, '('],
  [/^\)/, ')'],
];
const ARTICLE = /^(?:the|die|der|das|le|la|el)\s/iu;
const NUMBER = /^\d+(?:\.\d+)?/;
const TOKENS_MAX = 40;

/** The tokens of the formula that a text begins with; undefined where it names a column that is not there. */
function tokensOf(header: GridRow, text: string): readonly Token[] | undefined {
  const said = headersIn(header, text);
  const tokens: Token[] = [];
  for (let at = 0; at < text.length && tokens.length < TOKENS_MAX;) {
    const column = said.find(({ from }) => from === at);
    const next = column === undefined ? nextIn(text.slice(at)) : { token: column, length: column.to - at };
    if (next === undefined) break;
    if (next.token !== undefined) tokens.push(next.token);
    at += next.length;
  }
  const columns = tokens.filter((token) => typeof token === 'object');
  return columns.length > 1 && valueOf(tokens, (column) => column + 2.5) !== undefined ? tokens : undefined;
}

interface Next {
  /** undefined for what stands between tokens. */
  readonly token: Token | undefined;
  readonly length: number;
}

/** What a formula goes on with, columns apart; undefined where it ends. */
function nextIn(rest: string): Next | undefined {
  const space = /^[\s=:]+/.exec(rest) ?? ARTICLE.exec(rest);
  if (space !== null) return { token: undefined, length: space[0].length };
  for (const [shape, sign] of SIGNS) {
    const length = shape.exec(rest)?.[0].length ?? 0;
    if (length > 0) return { token: sign, length };
  }
  const number = NUMBER.exec(rest)?.[0];
  return number === undefined ? undefined : { token: Number(number), length: number.length };
}

/** What a formula comes to; undefined where it is none, or a column has no number. */
function valueOf(tokens: readonly Token[], of: (column: number) => number | undefined): number | undefined {
  let at = 0;
  const chain = (signs: readonly Sign[], next: () => number | undefined): number | undefined => {
    let left = next();
    for (let sign = tokens[at]; left !== undefined && isOneOf(sign, signs); sign = tokens[at]) {
      at += 1;
      const right = next();
      left = right === undefined ? undefined : applied(sign, left, right);
    }
    return left;
  };
  const sum = (): number | undefined => chain(['+', '-'], () => chain(['*', '/'], single));
  const single = (): number | undefined => {
    const token = tokens[at];
    at += 1;
    if (typeof token === 'number') return token;
    if (typeof token === 'object') return of(token.column);
    if (token !== '(') return undefined;
    const within = sum();
    at += 1;
    return tokens[at - 1] === ')' ? within : undefined;
  };
  const value = sum();
  return at === tokens.length && value !== undefined && Number.isFinite(value) ? value : undefined;
}

const isOneOf = (token: Token | undefined, signs: readonly Sign[]): token is Sign =>
  signs.some((sign) => sign === token);

function applied(sign: Sign, left: number, right: number): number {
  if (sign === '+') return left + right;
  if (sign === '-') return left - right;
  return sign === '*' ? left * right : left / right;
}

/** "rounded to one decimal place". */
const DECIMALS = /(?<!\p{L})(\d|\p{L}{2,8}) (?:decimals?|places)/iu;
const COUNTED = ['no', 'one', 'two', 'three', 'four'];

function digitsOf(text: string): number | undefined {
  const [, count = ''] = DECIMALS.exec(text) ?? [];
  if (/^\d$/.test(count)) return Number(count);
  const at = COUNTED.indexOf(count.toLowerCase());
  return at < 0 ? undefined : at;
}
