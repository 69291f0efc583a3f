import { inSegment } from '../candidates.ts';
import type { Field } from '../fields/fields.ts';
import type { Row } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { once } from '../../kernel/once.ts';
import { labelWords } from '../words/labelWords.ts';
import { wholeScore, type HeaderMatcher } from '../words/says.ts';
import { isNumeric } from './lineColumns.ts';
import { segmentOf, type Cell, type GridRow, type Headed, type Place } from './grid.ts';

/** Amounts of goods, the factors first: their columns are told by arithmetic too. */
const FACTORS = ['quantity', 'unit_price', 'line_total'] as const;

/** The members of a list that are amounts of goods. */
const amountsIn = (fields: readonly Field[]): readonly Field[] =>
  fields.filter(({ concept }) => FACTORS.some((id) => id === concept?.id));

/** A list of goods asks for two of their amounts. */
export const areGoods = (fields: readonly Field[]): boolean => amountsIn(fields).length >= 2;

/** 0..1: a header of goods says the field, or a run of its words does: headers stand in several lines. */
export const goodsMatcher: (labels: Source['labels']) => HeaderMatcher = once((labels) => (field, text) => {
  const header = labelWords(text);
  const runs = header.flatMap((_, i) => [1, 2, 3].map((length) => header.slice(i, i + length)));
  const parts = runs.reduce((best, run) => Math.max(best, labels.score(field, run)), 0);
  return Math.max(labels.score(field, header), 0.9 * parts);
});

/** The places of three columns that multiply in most rows: quantity × price = amount. */
type Product = readonly [quantity: number, price: number, amount: number];

const ROWS_SHARE = 0.6;
/** What rounding of the price or of the amount may leave, relative and absolute. */
const RELATIVE = 0.002;
const ABSOLUTE = 0.011;

/** Values of the columns of a table, row by row; undefined where a cell has no number. */
type Numbers = readonly (readonly (number | undefined)[])[];

/** All triples of columns that multiply in most of the rows that have all three. */
export function productsOf(rows: Numbers, columns: number): readonly Product[] {
  const places = Array.from({ length: columns }, (_, place) => place).filter((place) =>
    rows.some((row) => row[place] !== undefined),
  );
  return places
    .flatMap((quantity) => places.map((price) => [quantity, price] as const))
    .flatMap((pair) => places.map((amount): Product => [...pair, amount]))
    .filter((product) => new Set(product).size === 3 && multiplies(rows, product));
}

/** Whether the three columns multiply in most of the rows that have all three. */
function multiplies(rows: Numbers, [quantity, price, amount]: Product): boolean {
  let [complete, agreeing] = [0, 0];
  for (const row of rows) {
    const [q, p, a] = [row[quantity], row[price], row[amount]];
    if (q === undefined || p === undefined || a === undefined) continue;
    complete += 1;
    if (Math.abs(q * p - a) <= ABSOLUTE + RELATIVE * Math.abs(a)) agreeing += 1;
  }
  return complete > 0 && complete * 2 >= rows.length && agreeing >= ROWS_SHARE * complete;
}

/** Headers must say at least so much of the columns that multiply. */
const LEAST_SAID = 0.7;
/** What a column that multiplies is worth beside one that its header names. */
const MULTIPLIED = 0.9;
const COLUMNS_MAX = 20;

interface Naming {
  readonly fields: readonly Field[];
  readonly matcher: HeaderMatcher;
  readonly source: Source;
}

/** Quantity, price and amount where three columns multiply; of several ways, the one that headers say best. */
export function byProduct(
  body: readonly GridRow[],
  texts: readonly string[],
  { fields, matcher, source }: Naming,
): ReadonlyMap<Field, Place> {
  if (texts.length > COLUMNS_MAX) return new Map();
  const rows = body
    .map((row) => row.map((cell) => numberIn(cell, source)))
    .filter((row) => row.filter((value) => value !== undefined).length >= 2);
  let [best, most]: [ReadonlyMap<Field, Place>, number] = [new Map(), LEAST_SAID];
  for (const places of productsOf(rows, texts.length)) {
    const chosen = fields.flatMap((field): readonly (readonly [Field, Place])[] => {
      const column = places[FACTORS.findIndex((id) => id === field.concept?.id)];
      return column === undefined ? [] : [[field, { column, score: matcher(field, texts[column] ?? '') }]];
    });
    const isInOrder = places[2] > places[1];
    const score = chosen.reduce((sum, [, place]) => sum + place.score, isInOrder ? 0.1 : 0);
    if (score > most) [best, most] = [new Map(chosen), score];
  }
  return new Map(
    [...best].map(([field, { column, score }]) => [field, { column, score: Math.max(score, MULTIPLIED) }]),
  );
}

/** A number in the middle of a sentence is no cell's value. */
function numberIn(cell: Cell | undefined, { conventions }: Source): number | undefined {
  if (cell === undefined) return undefined;
  const segment = segmentOf(cell);
  const found = inSegment(segment, conventions).find(
    ({ kind, from }) =>
      kind === 'number' && segment.text.slice(0, from).replace(/[^\p{L}]/gu, '').length <= 4,
  );
  return typeof found?.value === 'number' ? found.value : undefined;
}

/** The columns one of which has something wherever a row of goods begins: its amounts, else its prices. */
export function keyColumns(mapped: Headed['mapped']): readonly number[] {
  for (const id of ['line_total', 'unit_price', 'quantity']) {
    const own = [...mapped].filter(([{ concept }]) => concept?.id === id);
    if (own.length > 0) return own.map(([, { column }]) => column);
  }
  return [];
}

/** Lines of one cell stand closer than this share of their height from top to top. */
const WRAPPED = 1.65;
const SAME_LEFT = 12;
/** A number at its end closes a text. */
const ENDED = /\s[\d.,]+$/;

/** Whether the text of a cell goes on in a line below it. */
export const goesOn = (cell: Cell, next: Cell): boolean =>
  cell.page === next.page && !ENDED.test(cell.text) && !/[:()]/.test(next.text) && isWrapped(cell, next);

function isWrapped({ words }: Cell, next: Cell): boolean {
  const [left, last, first] = [words[0], words.at(-1), next.words[0]].map((word) => word?.box ?? null);
  if (!left || !last || !first) return false;
  const isClose = first[1] - last[1] <= WRAPPED * (last[3] - last[1]) + 1;
  return isClose && Math.abs(first[0] - left[0]) < SAME_LEFT;
}

const TOTALS = ['grand_total', 'net_total', 'tax_total', 'line_sum'];

/** A total's label, with an amount on its right and little else. */
export function isTotalRow(row: Row, { labels, endsRows }: Source): boolean {
  if (endsRows?.(row) === true) return true;
  const { segments } = row;
  const texts = segments.filter(({ text }) => /\p{L}{3,}/u.test(text) && !isNumeric(text));
  if (segments.length - texts.length > 3 || !segments.some(({ text }) => /\d/.test(text))) return false;
  return texts.some(({ text }) => {
    const label = text.replace(/[:\d.,€$£%-]+/g, ' ');
    return TOTALS.some((id) => wholeScore(label, (words) => labels.concept(id, words)) >= 0.8);
  });
}
