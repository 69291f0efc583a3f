import { middleY, type PlacedWord, type Rule } from '../content.ts';
import type { RuledRegion } from './ruledRegion.ts';
import type { PlacedCell, Span } from './tableCells.ts';

/** Where the rules of a region part it, its ends included. */
export interface Grid {
  readonly rowEdges: readonly number[];
  readonly columnEdges: readonly number[];
  readonly region: RuledRegion;
}

interface GrowingCell extends PlacedCell {
  readonly words: PlacedWord[];
}

/** Rules stand at a place when they are this near. */
const NEAR = 3;

/** Cells between rules of both directions; places that no rule parts are one cell. Every word goes into one. */
export function ruledCells(grid: Grid, words: readonly PlacedWord[]): readonly PlacedCell[] {
  const rows = grid.rowEdges.length - 1;
  const columns = grid.columnEdges.length - 1;
  const owners = new Map<number, GrowingCell>();
  const cells: GrowingCell[] = [];
  for (let place = 0; place < rows * columns; place += 1) {
    if (owners.has(place)) continue;
    const row = Math.floor(place / columns);
    const column = place % columns;
    const isFree = (at: number): boolean => !owners.has(row * columns + at);
    const columnSpan = spanAcross(grid, { row, column }, isFree);
    const rowSpan = spanDown(grid, { row, column }, columnSpan);
    const cell = { row, column, rowSpan, columnSpan, words: [] };
    cells.push(cell);
    for (let r = row; r < row + rowSpan; r += 1)
      for (let c = column; c < column + columnSpan; c += 1) owners.set(r * columns + c, cell);
  }
  for (const word of words) {
    const row = indexAt(grid.rowEdges, middleY(word.box));
    const column = indexAt(grid.columnEdges, (word.box[0] + word.box[2]) / 2);
    owners.get(row * columns + column)?.words.push(word);
  }
  return cells;
}

/** The band in which a place lies; outside it is the first or the last. */
function indexAt(edges: readonly number[], place: number): number {
  const index = edges.findLastIndex((edge) => edge <= place);
  return Math.min(edges.length - 2, Math.max(0, index));
}

interface GridCorner {
  readonly row: number;
  readonly column: number;
}

function spanAcross(
  { rowEdges, columnEdges, region }: Grid,
  { row, column }: GridCorner,
  isFree: (column: number) => boolean,
): number {
  const height = { from: rowEdges[row] ?? 0, to: rowEdges[row + 1] ?? 0 };
  const verticals = { rules: region.vertical, axis: 0 } as const;
  let span = 1;
  while (
    column + span < columnEdges.length - 1 &&
    isFree(column + span) &&
    !isParted(verticals, columnEdges[column + span] ?? 0, height)
  )
    span += 1;
  return span;
}

function spanDown(
  { rowEdges, columnEdges, region }: Grid,
  { row, column }: GridCorner,
  columnSpan: number,
): number {
  const width = { from: columnEdges[column] ?? 0, to: columnEdges[column + columnSpan] ?? 0 };
  const horizontals = { rules: region.horizontal, axis: 1 } as const;
  let span = 1;
  while (row + span < rowEdges.length - 1 && !isParted(horizontals, rowEdges[row + span] ?? 0, width))
    span += 1;
  return span;
}

interface Direction {
  readonly rules: readonly Rule[];
  /** 0: the rules are vertical and stand at an x; 1: they are horizontal. */
  readonly axis: 0 | 1;
}

/** Whether rules stand at the place along at least half of the span. */
function isParted({ rules, axis }: Direction, place: number, span: Span): boolean {
  const along = axis === 0 ? 1 : 0;
  let covered = 0;
  for (const rule of rules) {
    if (Math.abs(rule[axis] - place) > NEAR) continue;
    covered += Math.max(0, Math.min(rule[along + 2] ?? 0, span.to) - Math.max(rule[along], span.from));
  }
  return covered >= 0.5 * (span.to - span.from);
}
