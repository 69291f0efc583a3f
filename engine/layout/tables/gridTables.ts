import type { PlacedWord, Row, Rule, Segment } from '../content.ts';
import { heightOf, median, middleY, widthOf } from '../content.ts';
import { segmentsOf } from '../segments.ts';
import { votedColumns } from './columnVotes.ts';
import { rowsTold } from './logicalRows.ts';
import { linesOfRegion, openCells } from './openTables.ts';
import { groupsUnder } from './repeatedHeadings.ts';
import { ruledCells } from './ruledCells.ts';
import type { RuledRegion } from './ruledRegion.ts';
import { distinctPlaces } from './ruledTables.ts';
import { coveredSpans, tableBlock, type PlacedCell, type TableBlock } from './tableCells.ts';

export interface GridTable {
  readonly table: TableBlock;
  readonly words: ReadonlySet<PlacedWord>;
}

const GRID_MAX = 400;
/** A header and a body: so few bands are not rows one by one. */
const FEW_BANDS = 3;
/** Of the font's height: words of neighbouring cells stand at least so far apart. */
const WORDS_APART = 0.45;
/** Words may stand so far over the edge of their cell. */
const NEAR = 2;

/** The table that a ruled region holds, with the words in it; undefined when it is a frame or a drawing. */
export function gridTable(region: RuledRegion, words: readonly PlacedWord[]): GridTable | undefined {
  const inside = words.filter(({ box }) => isInside(box, region.box));
  if (inside.length < 4) return undefined;
  const rowEdges = edges(region.horizontal, { axis: 1, extent: widthOf(region.box), ends: region.box });
  const columnEdges = edges(region.vertical, { axis: 0, extent: heightOf(region.box), ends: region.box });
  if (rowEdges.length > GRID_MAX || columnEdges.length > GRID_MAX) return undefined;
  const cells = cellsOf(region, inside, { rowEdges, columnEdges });
  if (cells === undefined || isFrame(cells, inside.length)) return undefined;
  const table = tableBlock(cells, region.box);
  return table === undefined ? undefined : { table, words: new Set(inside) };
}

interface Edges {
  readonly rowEdges: readonly number[];
  readonly columnEdges: readonly number[];
}

function cellsOf(
  region: RuledRegion,
  words: readonly PlacedWord[],
  { rowEdges, columnEdges }: Edges,
): readonly PlacedCell[] | undefined {
  const lines = linesOfRegion(region, words);
  if (columnEdges.length <= 2) return openCells(region, lines);
  const open = isPartlyRuled(lines, rowEdges) ? openCells(region, lines) : undefined;
  if (open !== undefined) return open;
  const ruled = ruledCells({ rowEdges, columnEdges, region }, words);
  return subdivided(splitSpans(ruled, columnEdges), columnEdges.length - 1);
}

const isInside = (box: Rule, region: Rule): boolean => {
  const x = (box[0] + box[2]) / 2;
  const y = middleY(box);
  return x > region[0] - 2 && x < region[2] + 2 && y > region[1] - 2 && y < region[3] + 2;
};

interface Along {
  readonly axis: 0 | 1;
  readonly extent: number;
  readonly ends: Rule;
}

/** Where rules part the region: those along a good part of it, and its ends. */
function edges(rules: readonly Rule[], { axis, extent, ends }: Along): readonly number[] {
  const length = (rule: Rule): number => (axis === 1 ? widthOf(rule) : heightOf(rule));
  const byPlace = new Map<number, number>();
  const places = distinctPlaces(rules.map((rule) => rule[axis]));
  for (const rule of rules) {
    const place = places.findLast((one) => one <= rule[axis] + 0.01) ?? rule[axis];
    byPlace.set(place, (byPlace.get(place) ?? 0) + length(rule));
  }
  const strong = places.filter((place) => (byPlace.get(place) ?? 0) >= 0.25 * extent);
  return distinctPlaces([ends[axis], ...strong, ends[axis === 0 ? 2 : 3]]);
}

/** A ruled column that holds several columns of short cells, in most of its rows, becomes several. */
function subdivided(cells: readonly PlacedCell[], columns: number): readonly PlacedCell[] {
  let result = cells;
  for (let column = columns - 1; column >= 0; column -= 1) result = subdivide(result, column);
  return result;
}

function subdivide(cells: readonly PlacedCell[], column: number): readonly PlacedCell[] {
  const own = cells.filter(
    (cell) => cell.column === column && cell.columnSpan === 1 && cell.words.length > 0,
  );
  if (own.length < 3) return cells;
  const size = median(own.flatMap(({ words }) => words.map((word) => word.size)));
  const many = own.filter(({ words }) => segmentsOf(words, 0.9).length >= 2);
  if (many.length < 0.6 * own.length) return cells;
  const spans = coveredSpans(
    many.flatMap(({ words }) => words.map(({ box }) => box)),
    0.9 * size,
  );
  const filled = spans.map(
    (span) =>
      many.filter(({ words }) =>
        words.some(({ box }) => box[0] >= span.from - 0.5 && box[2] <= span.to + 0.5),
      ).length,
  );
  if (spans.length < 2 || filled.some((count) => count < 0.7 * many.length)) return cells;
  const more = spans.length - 1;
  return cells.flatMap((cell): readonly PlacedCell[] => {
    if (cell.column > column) return [{ ...cell, column: cell.column + more }];
    if (cell.column + cell.columnSpan <= column) return [cell];
    if (cell.column < column || cell.columnSpan > 1) return [{ ...cell, columnSpan: cell.columnSpan + more }];
    const segments = segmentsOf(cell.words, 0.9);
    if (segments.length < 2) return [{ ...cell, columnSpan: 1 + more }];
    return spans.map((span, index) => ({
      ...cell,
      column: column + index,
      words: cell.words.filter(({ box }) => {
        const x = (box[0] + box[2]) / 2;
        return x >= (spans[index - 1]?.to ?? -Infinity) && (x <= span.to || index === more);
      }),
    }));
  });
}

/** One cell with nearly all of the words is a frame around them. */
function isFrame(cells: readonly PlacedCell[], words: number): boolean {
  const filled = cells.filter((cell) => cell.words.length > 0);
  const largest = Math.max(0, ...filled.map((cell) => cell.words.length));
  return filled.length < 3 || (largest > 0.6 * words && largest > 40);
}

/** A cell over several columns without rules between, whose words stand in those columns as cells would. */
function splitSpans(cells: readonly PlacedCell[], columnEdges: readonly number[]): readonly PlacedCell[] {
  return cells.flatMap((cell): readonly PlacedCell[] => {
    if (cell.columnSpan < 2 || cell.words.length < 2) return [cell];
    const segments = segmentsOf(cell.words, WORDS_APART);
    const groups = groupsUnder(segments, columnEdges.slice(cell.column, cell.column + cell.columnSpan + 1));
    if (groups !== undefined) return overGroups(cell, segments, groups);
    const parts = new Map<number, PlacedWord[]>();
    for (const { words, box } of segments) {
      const from = columnEdges.findLastIndex((edge) => edge <= box[0] + NEAR);
      const to = columnEdges.findIndex((edge) => edge >= box[2] - NEAR);
      if (from < 0 || to !== from + 1) return [cell];
      parts.set(from, [...(parts.get(from) ?? []), ...words]);
    }
    if (parts.size < 2) return [cell];
    return [...parts].map(([column, words]) => ({ ...cell, column, columnSpan: 1, words }));
  });
}

/** Names of groups in one cell, each over the columns of its group. */
const overGroups = (
  cell: PlacedCell,
  names: readonly Segment[],
  groups: readonly number[],
): readonly PlacedCell[] =>
  names.map(({ words }, i) => ({
    ...cell,
    words,
    column: cell.column + (groups[i] ?? 0),
    columnSpan: (groups[i + 1] ?? 0) - (groups[i] ?? 0),
  }));

/** A region with more lines than this for each band between its rules may hold rows that no rule parts. */
const LINES_PER_BAND = 2.5;

/** Whether about as many rows stand between the rules as the rules part. */
function isPartlyRuled(lines: readonly Row[], rowEdges: readonly number[]): boolean {
  const bandOf = ({ box }: Row): number => rowEdges.findLastIndex((edge) => edge <= middleY(box));
  const bands = new Set(lines.map(bandOf)).size;
  if (lines.length < LINES_PER_BAND * bands && bands > FEW_BANDS) return false;
  const columns = votedColumns(lines);
  return columns.length >= 2 && rowsTold(lines, columns, bandOf) >= Math.max(2, 0.5 * bands);
}
