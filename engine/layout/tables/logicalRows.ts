import { heightOf, median, type Row, type Rule } from '../content.ts';
import { cellsOfRow } from './alignedRows.ts';
import {
  areNumbers,
  commonOf,
  endedOf,
  haveRoomBeside,
  isLabel,
  isNumber,
  isRuledOff,
  textOf,
  widestIn,
  type CellLine,
  type Pair,
} from './cellLines.ts';
import { headerLines, withHeaderSpans } from './headerLines.ts';
import type { PlacedCell, Span } from './tableCells.ts';

interface Group {
  readonly lines: CellLine[];
  /** By column, the cell of the last line that fills it. */
  readonly last: Map<number, PlacedCell>;
  bottom: number;
}

/** Lines of one cell stand closer than this share of their height, from the bottom of one to the next top. */
const WRAPPED_GAP = 0.55;
/** A line that goes on fills at most this share of the cells above it. */
const MOST_GO_ON = 0.67;
/** Of a line's height: gaps within rows and between them differ by at least this. */
const GAP_JUMP = 0.2;

/** What is known of the table beyond its lines. */
export interface RowHints {
  readonly columns: readonly Span[];
  /** Rules across that part rows. */
  readonly rules: readonly Rule[];
}

/**
 * Lines as rows of cells. What stands below each other in one cell is told from what are two rows by three
 * principles: numbers do not wrap; a line is broken only where the next word had no room; and where the
 * table sets its rows apart by space or by rules, lines that stand closer are one row.
 */
export function logicalRows(rows: readonly Row[], { columns, rules }: RowHints): readonly PlacedCell[] {
  const placed = rows.map((row): CellLine => ({ box: row.box, cells: cellsOfRow(row, columns) }));
  const headers = headerLines(placed, rules);
  const lines = [...withHeaderSpans(placed.slice(0, headers), columns, rules), ...placed.slice(headers)];
  const widths = columns.map((_, column) => widestIn(lines, column));
  const labelsEndLevel = doLabelsEndLevel(lines);
  const place: LineSpacing = {
    widths,
    tight: labelsEndLevel ? undefined : tightGap(lines, widths),
    isRuled: isRuledByRow(lines, rules),
    rules,
    labelsEndLevel,
  };
  const groups: Group[] = [];
  for (const [index, line] of lines.entries()) {
    const group = groups.at(-1);
    const goes = index < headers ? goesOnInHeader : goesOn;
    if (group !== undefined && goes(group, line, { ...place, isFirst: groups.length === 1 }))
      add(group, line);
    else groups.push(add({ lines: [], last: new Map(), bottom: -Infinity }, line));
  }
  return groups.flatMap(({ lines: own }, row) => merged(own).map((cell) => ({ ...cell, row })));
}

interface LineSpacing {
  /** Of the widest line in each column. */
  readonly widths: readonly number[];
  /** Lines that stand closer are of one row; undefined where gaps do not tell. */
  readonly tight: number | undefined;
  /** A rule stands between most lines, so that it alone parts rows. */
  readonly isRuled: boolean;
  readonly rules: readonly Rule[];
  /** The first column's texts end level with the rest of their row, so that they begin above it. */
  readonly labelsEndLevel: boolean;
}

function add(group: Group, line: CellLine): Group {
  group.lines.push(line);
  for (const cell of line.cells) group.last.set(cell.column, cell);
  group.bottom = Math.max(group.bottom, line.box[3]);
  return group;
}

function goesOn(group: Group, line: CellLine, place: LineSpacing & { readonly isFirst: boolean }): boolean {
  const known = [...group.last.values()];
  const common = commonOf(line.cells, (column) => group.last.get(column));
  if (areSurelyTwo(group, line, { common, known, rules: place.rules })) return false;
  const ended = endedOf(common, place.widths);
  const gap = line.box[1] - group.bottom;
  const limit = place.isRuled ? Infinity : place.tight;
  if (limit !== undefined) return gap < limit && !areEnded(group, common, place);
  if (gap > WRAPPED_GAP * heightOf(line.box) || ended > 0) return false;
  return place.labelsEndLevel ? group.lines.every(isLabel) : areOneBySense(line, known, place);
}

/** One cell alone may have been broken on purpose; but a label alone that had room names the rows below it. */
function areEnded(group: Group, common: readonly Pair[], { widths, labelsEndLevel }: LineSpacing): boolean {
  const ended = endedOf(common, widths);
  return ended > 0.5 * common.length && (ended > 1 || (!labelsEndLevel && group.lines.every(isLabel)));
}

/** Lines of a header that stand close are one row of it, however they were broken. */
const goesOnInHeader = (group: Group, line: CellLine, { rules }: LineSpacing): boolean =>
  !isRuledOff(group.lines.at(-1) ?? line, line, rules) &&
  line.box[1] - group.bottom <= WRAPPED_GAP * heightOf(line.box) &&
  haveRoomBeside(line.cells, [...group.last.values()]);

interface Beside {
  readonly common: readonly Pair[];
  readonly known: readonly PlacedCell[];
  readonly rules: readonly Rule[];
}

const areSurelyTwo = (group: Group, line: CellLine, { common, known, rules }: Beside): boolean =>
  group.lines.slice(-1).some((before) => isRuledOff(before, line, rules)) ||
  !haveRoomBeside(line.cells, known) ||
  common.some(areNumbers);

/**
 * Whether lines that hold only labels begin what the line below them goes on with, rather than to go on with the
 * line above: a text goes on in lower case, and begins in upper case.
 */
function doLabelsEndLevel(lines: readonly CellLine[]): boolean {
  const goesOnLow = (line: CellLine | undefined): boolean =>
    line?.cells[0]?.column === 0 && /^[\p{Ll})\]]/u.test(textOf(line.cells[0]));
  const labels = lines.flatMap((line, index) => {
    const before = lines[index - 1];
    if (!isLabel(line) || (before !== undefined && isLabel(before))) return [];
    return [{ line, next: lines.slice(index).find((one) => !isLabel(one)) }];
  });
  const below = labels.filter(({ next }) => goesOnLow(next)).length;
  return below >= 2 && below > 2 * labels.filter(({ line }) => goesOnLow(line)).length;
}

/** A line of few cells goes on with those above it; in a header, the cells below may also be more. */
const areOneBySense = (
  line: CellLine,
  known: readonly PlacedCell[],
  { isFirst }: { readonly isFirst: boolean },
): boolean =>
  (isRest(line, known) && !beginsAnew(line)) || (isFirst && isRest({ ...line, cells: known }, line.cells));

/** A first cell that begins in upper case with another beside it: two cells seldom wrap at one word's end. */
const beginsAnew = ({ cells }: CellLine): boolean =>
  cells.length > 1 && cells[0]?.column === 0 && /^\p{Lu}/u.test(textOf(cells[0]));

/** Fewer columns do not tell rows from lines that were broken on purpose, as those of addresses are. */
const TELLING_COLUMNS = 3;

/** How many lines begin a row for sure, by what is in them alone. `bandOf`: the band between rules of a line. */
export function rowsTold(
  rows: readonly Row[],
  columns: readonly Span[],
  bandOf: (row: Row) => number,
): number {
  const lines = rows.map((row) => ({ box: row.box, cells: cellsOfRow(row, columns), band: bandOf(row) }));
  const widths = columns.map((_, column) => widestIn(lines, column));
  const last = new Map<string, PlacedCell>();
  let told = 0;
  for (const { cells, band } of lines) {
    const common = commonOf(cells, (column) => last.get(`${band}:${column}`));
    const isEnded = common.length >= TELLING_COLUMNS && endedOf(common, widths) > 0.5 * common.length;
    if (isEnded || common.some(areNumbers)) told += 1;
    for (const cell of cells) last.set(`${band}:${cell.column}`, cell);
  }
  return told;
}

/** Fewer cells, each below one of the row, and no number. */
const isRest = ({ cells }: CellLine, above: readonly PlacedCell[]): boolean =>
  cells.length <= MOST_GO_ON * above.length &&
  cells.every(
    (cell) =>
      !isNumber(cell) &&
      above.some((other) => other.column === cell.column && other.columnSpan === cell.columnSpan),
  );

/** Of the lines that rules part, most stand alone or as wrapped text does. */
function isRuledByRow(lines: readonly CellLine[], rules: readonly Rule[]): boolean {
  const pairs = lines.slice(1).map((line, index) => ({ above: lines[index], line }));
  const parted = pairs.filter(({ above, line }) => above !== undefined && isRuledOff(above, line, rules));
  const open = pairs.filter((pair) => !parted.includes(pair));
  const stacked = open.filter(({ above, line }) =>
    line.cells.some(
      (cell) => isNumber(cell) && above?.cells.some((one) => one.column === cell.column && isNumber(one)),
    ),
  );
  return parted.length >= 3 && stacked.length <= 0.25 * parted.length;
}

/**
 * Where gaps between lines are of two kinds, what parts the kinds; undefined where most lines that stand close
 * are rows, for their numbers say so.
 */
function tightGap(lines: readonly CellLine[], widths: readonly number[]): number | undefined {
  let bottom = -Infinity;
  const pairs = lines.flatMap((line, index) => {
    const gap = Math.max(0, line.box[1] - bottom);
    bottom = Math.max(bottom, line.box[3]);
    const above = lines[index - 1]?.cells;
    if (above === undefined) return [];
    const common = commonOf(line.cells, (column) => above.find((cell) => cell.column === column));
    return [{ gap, areRows: common.some(areNumbers), isOpen: endedOf(common, widths) === 0 }];
  });
  pairs.sort((a, b) => a.gap - b.gap);
  const least = GAP_JUMP * median(lines.map(({ box }) => heightOf(box)));
  const at = pairs.findIndex(({ gap }, i) => i > 0 && gap - (pairs[i - 1]?.gap ?? 0) >= least);
  const close = pairs.slice(0, Math.max(0, at));
  const telling = close.filter(({ areRows, isOpen }) => areRows || isOpen);
  if (at < 1 || telling.filter(({ areRows }) => areRows).length > 0.5 * telling.length) return undefined;
  return ((pairs[at - 1]?.gap ?? 0) + (pairs[at]?.gap ?? 0)) / 2;
}

/** Cells of several lines of one row, those of one place joined. */
function merged(lines: readonly CellLine[]): readonly PlacedCell[] {
  const cells = new Map<number, PlacedCell>();
  for (const cell of lines.flatMap((line) => line.cells)) {
    const other = cells.get(cell.column);
    cells.set(cell.column, other === undefined ? cell : { ...other, words: [...other.words, ...cell.words] });
  }
  return [...cells.values()];
}
