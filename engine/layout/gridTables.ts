import type { PlacedWord, Rule } from './content.ts';
import { around, heightOf, median, middleY, widthOf } from './content.ts';
import { alignedCells } from './alignedRows.ts';
import { ruledCells } from './ruledCells.ts';
import { distinctPlaces, type RuledRegion } from './ruledTables.ts';
import { segmentRows, segmentsOf } from './segments.ts';
import { columnsOfRows, coveredSpans, tableBlock, type PlacedCell, type TableBlock } from './tableCells.ts';

export interface GridTable {
  readonly table: TableBlock;
  readonly words: ReadonlySet<PlacedWord>;
}

const GRID_MAX = 400;

/** The table that a ruled region holds, with the words in it; undefined when it is a frame or a drawing. */
export function gridTable(region: RuledRegion, words: readonly PlacedWord[]): GridTable | undefined {
  const inside = words.filter(({ box }) => isInside(box, region.box));
  if (inside.length < 4) return undefined;
  const rowEdges = edges(region.horizontal, { axis: 1, extent: widthOf(region.box), ends: region.box });
  const columnEdges = edges(region.vertical, { axis: 0, extent: heightOf(region.box), ends: region.box });
  if (rowEdges.length > GRID_MAX || columnEdges.length > GRID_MAX) return undefined;
  const cells =
    columnEdges.length > 2
      ? splitBands(
          subdivided(ruledCells({ rowEdges, columnEdges, region }, inside), columnEdges.length - 1),
          inside,
        )
      : openCells(rowEdges, inside);
  if (cells === undefined || isFrame(cells, inside.length)) return undefined;
  const table = tableBlock(cells, region.box);
  return table === undefined ? undefined : { table, words: new Set(inside) };
}

const isInside = (box: Rule, region: Rule): boolean => {
  const x = (box[0] + box[2]) / 2;
  const y = middleY(box);
  return x > region[0] - 2 && x < region[2] + 2 && y > region[1] - 2 && y < region[3] + 2;
};

interface Edges {
  readonly axis: 0 | 1;
  readonly extent: number;
  readonly ends: Rule;
}

/** Where rules part the region: those along a good part of it, and its ends. */
function edges(rules: readonly Rule[], { axis, extent, ends }: Edges): readonly number[] {
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

/** A ruled band that holds several rows of the table, as where only the header is underlined, is split. */
function splitBands(cells: readonly PlacedCell[], words: readonly PlacedWord[]): readonly PlacedCell[] {
  const bands = new Set(cells.map(({ row }) => row)).size;
  if (bands > 3) return cells;
  let shift = 0;
  const result: PlacedCell[] = [];
  for (let row = 0; row <= Math.max(...cells.map((cell) => cell.row)); row += 1) {
    const band = cells.filter((cell) => cell.row === row);
    const rows = band.every(({ rowSpan }) => rowSpan === 1) ? bandRows(band, words) : undefined;
    if (rows === undefined) result.push(...band.map((cell) => ({ ...cell, row: row + shift })));
    else {
      result.push(...rows.map((cell) => ({ ...cell, row: cell.row + row + shift })));
      shift += Math.max(...rows.map((cell) => cell.row));
    }
  }
  return result;
}

function bandRows(
  band: readonly PlacedCell[],
  words: readonly PlacedWord[],
): readonly PlacedCell[] | undefined {
  const filled = band.filter((cell) => cell.words.length > 0);
  const inBand = new Set(filled.flatMap((cell) => cell.words));
  const rows = segmentRows(
    segmentsOf(
      words.filter((word) => inBand.has(word)),
      0.6,
    ),
  );
  if (filled.length < 2 || rows.length < 3) return undefined;
  const columns = band.map((cell) => {
    const box = cell.words.length === 0 ? undefined : around(cell.words.map((word) => word.box));
    return { cell, box };
  });
  const spans = columns.flatMap(({ box }) => (box === undefined ? [] : [{ from: box[0], to: box[2] }]));
  const aligned = alignedCells(rows, spans);
  const rowCount = new Set(aligned.map(({ row }) => row)).size;
  if (rowCount < 2) return undefined;
  const places = columns.flatMap(({ cell, box }) => (box === undefined ? [] : [cell.column]));
  return aligned.map((cell) => ({ ...cell, column: places[cell.column] ?? cell.column }));
}

/** Rules across only: columns are where words leave gaps, rows are the bands or the lines in them. */
function openCells(
  rowEdges: readonly number[],
  words: readonly PlacedWord[],
): readonly PlacedCell[] | undefined {
  const size = median(words.map((word) => word.size));
  const rows = segmentRows(segmentsOf(words, 0.7));
  const multi = rows.filter(({ segments }) => segments.length >= 2);
  if (multi.length < 2 || multi.length < 0.5 * rows.length) return undefined;
  const columns = columnsOfRows(multi, 0.5 * size);
  if (columns.length < 2) return undefined;
  const bandAt = (y: number): number => rowEdges.findLastIndex((edge) => edge <= y);
  const bands = new Set(rows.map(({ box }) => bandAt(middleY(box))));
  const cells = alignedCells(rows, columns);
  if (bands.size < 4) return cells;
  const perBand = [...bands].map(
    (band) =>
      new Set(
        cells
          .filter(({ words: own }) => own.some(({ box }) => bandAt(middleY(box)) === band))
          .map(({ row }) => row),
      ).size,
  );
  if (median(perBand) < 2) return cells;
  const placed = new Map<string, PlacedCell>();
  for (const cell of cells) {
    const [first] = cell.words;
    if (first === undefined) continue;
    const row = bandAt(middleY(first.box));
    const key = `${row}:${cell.column}`;
    const other = placed.get(key);
    placed.set(key, { ...cell, row, words: [...(other?.words ?? []), ...cell.words] });
  }
  return [...placed.values()];
}

/** One cell with nearly all of the words is a frame around them. */
function isFrame(cells: readonly PlacedCell[], words: number): boolean {
  const filled = cells.filter((cell) => cell.words.length > 0);
  const largest = Math.max(0, ...filled.map((cell) => cell.words.length));
  return filled.length < 3 || (largest > 0.6 * words && largest > 40);
}
