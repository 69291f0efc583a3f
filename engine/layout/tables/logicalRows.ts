import type { Box } from '../../document/document.ts';
import { around, heightOf, median, middleY, widthOf, type Row, type Rule } from '../content.ts';
import { cellsOfRow } from './alignedRows.ts';
import type { PlacedCell, Span } from './tableCells.ts';

/** A line of a table with its cells. */
interface CellLine {
  readonly box: Box;
  readonly cells: readonly PlacedCell[];
}

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
  const lines = rows.map((row): CellLine => ({ box: row.box, cells: cellsOfRow(row, columns) }));
  const place: Place = {
    widths: columns.map((_, column) => widestIn(lines, column)),
    tight: tightGap(lines),
    isRuled: isRuledByRow(lines, rules),
    rules,
    labelsEndLevel: doLabelsEndLevel(lines),
  };
  const groups: Group[] = [];
  for (const line of lines) {
    const group = groups.at(-1);
    if (group !== undefined && goesOn(group, line, { ...place, isFirst: groups.length === 1 }))
      add(group, line);
    else groups.push(add({ lines: [], last: new Map(), bottom: -Infinity }, line));
  }
  return groups.flatMap(({ lines: own }, row) => merged(own).map((cell) => ({ ...cell, row })));
}

interface Place {
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

function goesOn(group: Group, line: CellLine, place: Place & { readonly isFirst: boolean }): boolean {
  const known = [...group.last.values()];
  const common = commonOf(line.cells, (column) => group.last.get(column));
  if (areSurelyTwo(group, line, { common, known, rules: place.rules })) return false;
  const ended = endedOf(common, place.widths);
  const gap = line.box[1] - group.bottom;
  const limit = place.isRuled ? Infinity : place.tight;
  if (limit !== undefined) return gap < limit && (ended < 2 || ended <= 0.5 * common.length);
  if (gap > WRAPPED_GAP * heightOf(line.box) || ended > 0) return false;
  return place.labelsEndLevel ? group.lines.every(isLabel) : areOneBySense(line, known, place);
}

interface Beside {
  readonly common: readonly Pair[];
  readonly known: readonly PlacedCell[];
  readonly rules: readonly Rule[];
}

const areSurelyTwo = (group: Group, line: CellLine, { common, known, rules }: Beside): boolean =>
  group.lines.slice(-1).some((before) => isRuledOff(before, line, rules)) ||
  !haveRoomBeside(line.cells, known) ||
  common.some(areNumbers);

/** A line with nothing but text in the first column. */
const isLabel = ({ cells }: CellLine): boolean =>
  cells.length === 1 && cells[0]?.column === 0 && cells[0].columnSpan === 1 && !isNumber(cells[0]);

/**
 * Whether lines that hold only a label begin what the next line goes on with, rather than to go on with the
 * line above: a text goes on in lower case, and begins in upper case.
 */
function doLabelsEndLevel(lines: readonly CellLine[]): boolean {
  const goesOnLow = (line: CellLine | undefined): boolean =>
    line?.cells[0]?.column === 0 && /^[\p{Ll})\]]/u.test(textOf(line.cells[0]));
  const labels = lines.flatMap((line, index) => (isLabel(line) ? [{ line, next: lines[index + 1] }] : []));
  const below = labels.filter(({ next }) => goesOnLow(next)).length;
  return below >= 2 && below > 2 * labels.filter(({ line }) => goesOnLow(line)).length;
}

/** A line of few cells goes on with those above it; in a header, the cells below may also be more. */
const areOneBySense = (
  line: CellLine,
  known: readonly PlacedCell[],
  { isFirst }: { readonly isFirst: boolean },
): boolean => isRest(line, known) || (isFirst && isRest({ ...line, cells: known }, line.cells));

interface Pair {
  readonly above: PlacedCell;
  readonly cell: PlacedCell;
}

/** Cells with those above them, of the columns that have both. */
const commonOf = (
  cells: readonly PlacedCell[],
  lastIn: (column: number) => PlacedCell | undefined,
): readonly Pair[] =>
  cells.flatMap((cell) => {
    const above = lastIn(cell.column);
    return above === undefined ? [] : [{ above, cell }];
  });

const areNumbers = ({ above, cell }: Pair): boolean => isNumber(above) && isNumber(cell);

/** How many cells were ended on purpose, though what stands below them would have had room. */
const endedOf = (pairs: readonly Pair[], widths: readonly number[]): number =>
  pairs.filter(({ above, cell }) => hadRoom(above, cell, widths)).length;

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

/** A cell that lies over others of the row is none of it. */
const haveRoomBeside = (cells: readonly PlacedCell[], known: readonly PlacedCell[]): boolean =>
  cells.every((cell) =>
    known.every(
      (other) =>
        (other.column === cell.column && other.columnSpan === cell.columnSpan) ||
        other.column + other.columnSpan <= cell.column ||
        cell.column + cell.columnSpan <= other.column,
    ),
  );

/** Fewer cells, each below one of the row, and no number. */
const isRest = ({ cells }: CellLine, above: readonly PlacedCell[]): boolean =>
  cells.length <= MOST_GO_ON * above.length &&
  cells.every(
    (cell) =>
      !isNumber(cell) &&
      above.some((other) => other.column === cell.column && other.columnSpan === cell.columnSpan),
  );

const textOf = ({ words }: PlacedCell): string => words.map(({ text }) => text).join(' ');

/** Digits without letters, and what stands for a number where there is none. */
const isNumber = (cell: PlacedCell): boolean => {
  const text = textOf(cell);
  return /^[-–—−*.]{1,3}$/.test(text) || (/\d/.test(text) && !/\p{L}/u.test(text));
};

const boxOf = ({ words }: PlacedCell): Box => around(words.map(({ box }) => box));

function widestIn(lines: readonly CellLine[], column: number): number {
  let widest = 0;
  for (const { cells } of lines)
    for (const cell of cells)
      if (cell.column === column && cell.columnSpan === 1) widest = Math.max(widest, widthOf(boxOf(cell)));
  return widest;
}

/** Of the font's height: a space between words. */
const SPACE = 0.3;

/** Whether the first word below would have fitted into the line above. */
function hadRoom(above: PlacedCell, cell: PlacedCell, widths: readonly number[]): boolean {
  const [first] = cell.words;
  if (first === undefined || cell.columnSpan > 1) return false;
  const needed = widthOf(boxOf(above)) + SPACE * first.size + widthOf(first.box);
  return needed < (widths[cell.column] ?? 0) - 0.5;
}

/** Whether a rule between two lines runs along at least half of either. */
function isRuledOff(above: CellLine, below: CellLine, rules: readonly Rule[]): boolean {
  const [top, bottom] = [middleY(above.box), middleY(below.box)];
  const box = around([above.box, below.box]);
  return rules.some((rule) => {
    const shared = Math.min(rule[2], box[2]) - Math.max(rule[0], box[0]);
    return rule[1] > top && rule[1] < bottom && shared >= 0.5 * widthOf(box);
  });
}

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

/** Where gaps between lines are of two kinds, what parts the kinds. */
function tightGap(lines: readonly CellLine[]): number | undefined {
  let bottom = -Infinity;
  const gaps: number[] = [];
  for (const { box } of lines) {
    if (bottom > -Infinity) gaps.push(box[1] - bottom);
    bottom = Math.max(bottom, box[3]);
  }
  const sorted = gaps.sort((a, b) => a - b);
  const least = GAP_JUMP * median(lines.map(({ box }) => heightOf(box)));
  let [widest, at] = [0, 0];
  for (let i = 1; i < sorted.length; i += 1) {
    const jump = (sorted[i] ?? 0) - Math.max(0, sorted[i - 1] ?? 0);
    if (jump > widest) [widest, at] = [jump, i];
  }
  return widest < least ? undefined : ((sorted[at] ?? 0) + (sorted[at - 1] ?? 0)) / 2;
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
