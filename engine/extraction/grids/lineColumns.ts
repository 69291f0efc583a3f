import type { Word } from '../../document/document.ts';
import type { Cell, GridRow } from './grid.ts';
import type { Row, Segment } from '../places/layout.ts';

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
export function commonSpans(all: readonly Span[], { lines, gap }: Lines): { x0: number; x1: number }[] {
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
