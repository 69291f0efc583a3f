import type { Field } from '../fields/fields.ts';
import { asks } from '../fields/wants.ts';
import { lexicon } from '../words/lexicon.ts';
import { labelWords } from '../words/labelWords.ts';
import { cellsIn, fromTheLeft, isEmpty, sameText, type Cell, type Grid, type GridRow } from './grid.ts';

/** Rows at the top of a grid that may be a header. */
const TOP_ROWS = 8;
/** Lists that stand beside each other in one grid. */
const BESIDE_MAX = 4;
const COLUMNS_MAX = 60;
const ROWS_MAX = 5000;

/** A list that is printed in several columns side by side, each with the same header, one below the other. */
export const unfolded = (grid: Grid): Grid => stacked(grid) ?? grid;

function stacked(grid: Grid): Grid | undefined {
  const { rows, columns, isTurned } = grid;
  if (isTurned || columns < 4 || columns > COLUMNS_MAX || rows.length > ROWS_MAX) return undefined;
  for (const [at, row] of rows.slice(0, TOP_ROWS).entries()) {
    const starts = repeatedHeads(row);
    if (starts === undefined) continue;
    const width = starts[1] ?? columns;
    const parts = starts.flatMap((start) =>
      rows.slice(at + 1).map((one) => filledTo(one.slice(start, start + width), width)),
    );
    const head = filledTo(row.slice(0, width), width);
    const own = [head, ...parts.filter((part) => cellsIn(part).length > 0)];
    return { ...grid, rows: own, columns: width, overColumns: (i) => fromTheLeft(own[i] ?? []) };
  }
  return undefined;
}

const filledTo = (row: GridRow, width: number): GridRow =>
  Array.from({ length: width }, (_, column) => row[column]);

/** Where the same heads begin again; two texts at least come again, in the same places and all of them. */
function repeatedHeads(row: GridRow): readonly number[] | undefined {
  if (cellsIn(row).length < 4) return undefined;
  for (let count = 2; count <= BESIDE_MAX; count += 1) {
    const width = row.length / count;
    if (!Number.isInteger(width) || width < 2) continue;
    const again = row.every((cell, i) => sameText(cell?.text ?? '', row[i % width]?.text ?? ''));
    const texts = new Set(cellsIn(row.slice(0, width)).map(({ text }) => text));
    if (again && texts.size >= 2 && [...texts].every((text) => /\p{L}/u.test(text)))
      return Array.from({ length: count }, (_, i) => i * width);
  }
  return undefined;
}

const { debits, credits } = lexicon.rows;
const HEAD_WORDS_MAX = 4;

/** A list of one amount that may be in or out: neither side is asked for by its name, nor by a choice. */
export const asksBothSides = (fields: readonly Field[]): boolean =>
  fields.some((field) => field.type === 'number' && asks(field, 'figure')) &&
  fields.every(
    ({ choices, type, terms }) => choices.length === 0 && (type === 'string' || !isOfSide(terms.name)),
  );

const isOfSide = (words: readonly string[]): boolean =>
  words.some((word) => debits.has(word) || credits.has(word));

/** Whether the texts of a header name a column of debits and one of credits. */
export const hasSides = (texts: readonly string[]): boolean => {
  const heads = texts.map(labelWords).filter(({ length }) => length <= HEAD_WORDS_MAX);
  return [debits, credits].every(
    (side) => heads.filter((words) => words.some((word) => side.has(word))).length === 1,
  );
};

/**
 * A grid whose columns of debits and of credits are one column of amounts, debits below zero; undefined where it has
 * not one of each, or where a row has both.
 */
export function withSides(grid: Grid): Grid | undefined {
  if (grid.isTurned || grid.columns > COLUMNS_MAX || grid.rows.length > ROWS_MAX) return undefined;
  for (const [at, row] of grid.rows.slice(0, TOP_ROWS).entries()) {
    const out = onlyColumn(row, (words) => words.some((word) => debits.has(word)));
    const into = onlyColumn(row, (words) => words.some((word) => credits.has(word)));
    if (out === undefined || into === undefined || out === into) continue;
    const body = grid.rows.slice(at + 1);
    if (body.some((one) => !isEmpty(one[out]) && !isEmpty(one[into]) && one[out] !== one[into]))
      return undefined;
    const joined = (one: GridRow, i: number): GridRow =>
      without(one, {
        out,
        into,
        cell: i === at ? headOf(row[out]) : i < at ? one[out] : signed(one, out, into),
      });
    const rows = grid.rows.map(joined);
    return { ...grid, rows, columns: grid.columns - 1, overColumns: (i) => fromTheLeft(rows[i] ?? []) };
  }
  return undefined;
}

function onlyColumn(row: GridRow, names: (words: readonly string[]) => boolean): number | undefined {
  const own = row.flatMap((cell, column) => {
    const words = labelWords(cell?.text ?? '');
    return words.length <= HEAD_WORDS_MAX && names(words) ? [column] : [];
  });
  return own.length === 1 ? own[0] : undefined;
}

const [AMOUNT = ''] = lexicon.asks.figure.words.slice(1);

const headOf = (cell: Cell | undefined): Cell | undefined =>
  cell === undefined ? undefined : { ...cell, text: AMOUNT };

const signed = (row: GridRow, out: number, into: number): Cell | undefined => {
  const cell = row[out];
  return isEmpty(cell) || cell === undefined ? row[into] : { ...cell, isOut: true };
};

interface Joining {
  readonly out: number;
  readonly into: number;
  readonly cell: Cell | undefined;
}

const without = (row: GridRow, { out, into, cell }: Joining): GridRow =>
  row.flatMap((one, column) => (column === into ? [] : [column === out ? cell : one]));
