import type { Word } from '../../document/document.ts';
import type { Cell, GridRow } from './grid.ts';
import { overlap, type Row, type Segment } from '../places/layout.ts';
import { labelWords } from '../words/labelWords.ts';

/** The breadth of a column, points. */
export interface Span {
  readonly x0: number;
  readonly x1: number;
}

/** A word of a row with its place. */
interface PlacedWord extends Span {
  readonly word: Word;
}

/** Of the rows, few may reach over the gap between two columns. */
const OVER_GAP = 0.12;
/** White between columns is broader than between words, as a share of the letters' height. */
const GAP = 0.55;

/** The words of a row from left to right; those of rows without geometry stand where their segment does. */
export const placedWords = ({ segments }: Row): readonly PlacedWord[] =>
  segments.flatMap(({ words, x0, x1 }) =>
    words.map((word) => ({ word, x0: word.box?.[0] ?? x0, x1: word.box?.[2] ?? x1 })),
  );

/**
 * Columns are parted by white that goes down through nearly all rows, and is broader than a space. A head that stands
 * over white is one too, with the few values below it: of credits among many debits, or of none at all where the
 * nearest column has a head of its own.
 */
export function columnSpans(rows: readonly Row[], heads: readonly Segment[]): readonly Span[] {
  const spans = spansOf(rows);
  const isApart = (one: Span): boolean => spans.every((span) => !meet(span, one));
  const under = rows.flatMap(({ segments }) => segments.filter(isApart));
  const added = heads.filter(isApart).flatMap((head): readonly Span[] => {
    const own = [head, ...under.filter((segment) => meet(segment, head))];
    const column = { x0: Math.min(...own.map(({ x0 }) => x0)), x1: Math.max(...own.map(({ x1 }) => x1)) };
    if (heads.filter((other) => meet(other, column)).length > 1 || !isApart(column)) return [];
    const nearest = spans[columnAt(spans, head)];
    const isHeaded = nearest !== undefined && heads.some((other) => meet(other, nearest));
    return own.length > 1 || isHeaded ? [column] : [];
  });
  return added.length === 0 ? spans : [...spans, ...added].sort((a, b) => a.x0 - b.x0);
}

const meet = (one: Span, other: Span): boolean => one.x0 < other.x1 && other.x0 < one.x1;

const spansOf = (rows: readonly Row[]): readonly Span[] =>
  commonSpans(rows.flatMap(placedWords), { lines: rows.length, gap: GAP * medianHeight(rows) });

interface Lines {
  /** How many lines the spans are of. */
  readonly lines: number;
  /** Points of white that do not part columns. */
  readonly gap: number;
}

/** Where most of some lines have something. */
function commonSpans(all: readonly Span[], { lines, gap }: Lines): { x0: number; x1: number }[] {
  const edges = all
    .flatMap(({ x0, x1 }) => [
      { x: x0, step: 1 },
      { x: Math.max(x0, x1), step: -1 },
    ])
    .sort((a, b) => a.x - b.x || b.step - a.step);
  const least = Math.floor(OVER_GAP * lines) + 1;
  const spans: { x0: number; x1: number }[] = [];
  let depth = 0;
  for (const { x, step } of edges) {
    const last = spans.at(-1);
    if (step > 0 && depth === least - 1) {
      if (last === undefined || x - last.x1 > gap) spans.push({ x0: x, x1: x });
    }
    depth += step;
    const open = spans.at(-1);
    if (open !== undefined && step < 0 && depth === least - 1) open.x1 = Math.max(open.x1, x);
  }
  return spans;
}

function medianHeight(rows: readonly Row[]): number {
  const heights = rows.flatMap(({ segments }) => segments.map(({ y0, y1 }) => y1 - y0)).sort((a, b) => a - b);
  return heights[Math.floor(heights.length / 2)] ?? 0;
}

/** The column that a span lies in most, else the nearest. */
function columnAt(columns: readonly Span[], { x0, x1 }: Span): number {
  let best = 0;
  let most = Number.NEGATIVE_INFINITY;
  for (const [index, column] of columns.entries()) {
    const common = Math.min(column.x1, x1) - Math.max(column.x0, x0);
    if (common > most) [best, most] = [index, common];
  }
  return best;
}

/** A cell with its place. */
export interface PlacedCell extends Span {
  readonly cell: Cell;
}

/**
 * Each column with the text that stands nearest to it: groups are named in the middle of their columns. The
 * first column names the rows, and is in no group; a text alone in its row is no group's name.
 */
export function nearestOver(cells: readonly PlacedCell[], columns: readonly Span[]): GridRow {
  const away = (column: Span, { x0, x1 }: Span): number => Math.max(x0 - column.x1, column.x0 - x1);
  return columns.map((column, index): Cell | undefined => {
    const near = cells.reduce<PlacedCell | undefined>(
      (best, one) => (best === undefined || away(column, one) < away(column, best) ? one : best),
      undefined,
    );
    if (near === undefined) return undefined;
    return away(column, near) <= 0 || (index > 0 && cells.length > 1) ? near.cell : undefined;
  });
}

/** A row with the lines that go on in its cells. */
interface TallRow {
  readonly segments: readonly Segment[];
  readonly page: number;
}

/** The texts of a row with their places. */
export const placedCells = (row: TallRow | undefined): readonly PlacedCell[] =>
  (row?.segments ?? []).map(({ text, words, page, x0, x1 }) => ({
    cell: { text, words, page, columnSpan: 1 },
    x0,
    x1,
  }));

/** A row of lines as the cells of columns. */
export function gridRow({ segments, page }: TallRow, columns: readonly Span[]): GridRow {
  const alone = aloneOver(segments, columns);
  if (alone !== undefined) return alone;
  const cells = columns.map((): { text: string; words: Cell['words'] } => ({ text: '', words: [] }));
  for (const { word, x0, x1 } of placedWords({ segments, page, index: 0 })) {
    const cell = cells[columnAt(columns, { x0, x1 })];
    if (cell === undefined) continue;
    cell.text = `${cell.text} ${word.text}`.trimStart();
    cell.words = [...cell.words, word];
  }
  return cells.map((cell) => (cell.text === '' ? undefined : { ...cell, page, columnSpan: 1 }));
}

/** A text alone in its row that reaches over several columns names the rows below: it is one cell, in the first. */
function aloneOver(segments: readonly Segment[], columns: readonly Span[]): GridRow | undefined {
  const [only, ...others] = segments;
  const second = columns[1];
  if (only === undefined || others.length > 0 || second === undefined) return undefined;
  if (columnAt(columns, { x0: only.x0, x1: only.x0 }) > 0 || only.x1 <= second.x0) return undefined;
  const { text, words, page } = only;
  return columns.map((_, column) =>
    column === 0 ? { text, words, page, columnSpan: columns.length } : undefined,
  );
}

/** A column of goods: where it lies, and what its header says. */
interface Column extends Span {
  readonly header: readonly string[];
}

/** A number, with little beside it. */
export const isNumeric = (text: string): boolean => /\d/.test(text) && !/\p{L}{4,}/u.test(text);

/** Columns are where the rows with several numbers have their segments; headers go to the nearest. */
export function columnsOf(band: readonly Row[], body: readonly Row[]): readonly Column[] {
  const full = body.filter((row) => row.segments.filter(({ text }) => isNumeric(text)).length >= 2);
  const most = full.reduce((count, row) => Math.max(count, row.segments.length), 0);
  const chosen = (full.length > 0 ? full : body).filter((row) => row.segments.length >= most - 1);
  const spans = chosen.flatMap(({ segments }) => segments.map(({ x0, x1 }) => ({ x0, x1: x1 - 1 })));
  const columns = commonSpans(spans, { lines: chosen.length, gap: Number.NEGATIVE_INFINITY }).map(
    ({ x0, x1 }) => ({ x0, x1: x1 + 1, words: [] as HeaderWord[] }),
  );
  for (const segment of band.flatMap(({ segments }) => segments)) {
    if (isOfEmptyColumn(segment, columns, band)) columns.push({ x0: segment.x0, x1: segment.x1, words: [] });
    for (const word of headerWords(segment)) nearest(columns, word)?.words.push(word);
  }
  columns.sort((a, b) => a.x0 - b.x0);
  return joined(columns).map(({ x0, x1, words }) => ({ x0, x1, header: labelWords(inOrder(words)) }));
}

/** No row has a value under this header, and the column that is nearest has a header of its own beside it. */
function isOfEmptyColumn(segment: Segment, columns: readonly Span[], band: readonly Row[]): boolean {
  const column = nearest(columns, segment);
  if (column === undefined || overlap(column, segment) > 0) return false;
  const others = band.flatMap(({ segments }) => segments).filter((other) => other.row === segment.row);
  return others.some((other) => other !== segment && overlap(column, other) > 0);
}

interface HeaderWord extends Span {
  readonly text: string;
  readonly y: number;
}

/** Points between a column without a header and the text that it belongs to. */
const TOUCHING = 9;

/** A column without a header that touches its left neighbour is a part of it: numbers that end a text. */
function joined<C extends { x0: number; x1: number } & { readonly words: readonly unknown[] }>(
  columns: readonly C[],
): readonly C[] {
  const kept: C[] = [];
  for (const column of columns) {
    const last = kept.at(-1);
    const touches = last !== undefined && column.x0 - last.x1 < TOUCHING;
    if (touches && column.words.length === 0) last.x1 = column.x1;
    else if (touches && last.words.length === 0) {
      column.x0 = last.x0;
      kept[kept.length - 1] = column;
    } else kept.push(column);
  }
  return kept;
}

const inOrder = (words: readonly HeaderWord[]): string =>
  [...words]
    .sort((a, b) => a.y - b.y || a.x0 - b.x0)
    .map(({ text }) => text)
    .join(' ')
    .replace(/- (?=\p{Ll})/gu, '');

function headerWords(segment: Segment): readonly HeaderWord[] {
  return segment.words.map(({ text, box }) =>
    box === null
      ? { text, x0: segment.x0, x1: segment.x1, y: segment.y0 }
      : { text, x0: box[0], x1: box[2], y: box[1] },
  );
}

/** The column that a span lies in or is nearest to, by the smaller distance of its edges. */
function nearest<C extends { readonly x0: number; readonly x1: number }>(
  columns: readonly C[],
  span: { readonly x0: number; readonly x1: number },
): C | undefined {
  const distance = (column: C): number => {
    if (overlap(column, span) > 0) return -overlap(column, span);
    return Math.min(Math.abs(column.x0 - span.x1), Math.abs(column.x1 - span.x0));
  };
  return columns.reduce<C | undefined>(
    (best, column) => (best === undefined || distance(column) < distance(best) ? column : best),
    undefined,
  );
}
