import type { Segment } from '../places/layout.ts';
import type { Cell, GridRow } from '../grids/grid.ts';
import { columnAt, placedWords, type PlacedCell, type Span } from '../grids/lineColumns.ts';

/** A row with the lines that go on in its cells. */
export interface TallRow {
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
