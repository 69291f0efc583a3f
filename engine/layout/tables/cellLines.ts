import type { Box } from '../../document/document.ts';
import { around, middleY, widthOf, type PlacedWord, type Rule } from '../content.ts';
import type { PlacedCell } from './tableCells.ts';

/** A line of a table with its cells. */
export interface CellLine {
  readonly box: Box;
  readonly cells: readonly PlacedCell[];
}

export interface Pair {
  readonly above: PlacedCell;
  readonly cell: PlacedCell;
}

/** Cells with those above them, of the columns that have both. */
export const commonOf = (
  cells: readonly PlacedCell[],
  lastIn: (column: number) => PlacedCell | undefined,
): readonly Pair[] =>
  cells.flatMap((cell) => {
    const above = lastIn(cell.column);
    return above === undefined ? [] : [{ above, cell }];
  });

export const areNumbers = ({ above, cell }: Pair): boolean => isNumber(above) && isNumber(cell);

/** How many cells were ended on purpose, though what stands below them would have had room. */
export const endedOf = (pairs: readonly Pair[], widths: readonly number[]): number =>
  pairs.filter(({ above, cell }) => hadRoom(above, cell, widths)).length;

/** A cell that lies over others of the row is none of it. */
export const haveRoomBeside = (cells: readonly PlacedCell[], known: readonly PlacedCell[]): boolean =>
  cells.every((cell) =>
    known.every(
      (other) =>
        (other.column === cell.column && other.columnSpan === cell.columnSpan) ||
        other.column + other.columnSpan <= cell.column ||
        cell.column + cell.columnSpan <= other.column,
    ),
  );

export const textOf = ({ words }: PlacedCell): string => words.map(({ text }) => text).join(' ');

export const isNumber = (cell: PlacedCell): boolean => isNumberText(textOf(cell));

/** Digits without letters, and what stands for a number where there is none. */
export const isNumberText = (text: string): boolean =>
  /^[-–—−*.]{1,3}$/.test(text) || (/\d/.test(text) && !/\p{L}/u.test(text));

/** Of a font's height: groups of one number stand no further apart. */
const GROUPS_APART = 0.55;
const GROUPS = /^[(+]{0,2}\d{1,4}\)? \d[\d-]{1,8}(?:[.,]\d{1,3})?\D{0,2}$|^[-–−] \d/;

/** Two numbers and not groups of one: "1 -100.0", but neither "2 590,7" nor "+44 7700 900815" nor "- 590". */
export function areTwoNumbers(before: PlacedWord, word: PlacedWord): boolean {
  if (!isNumberText(before.text) || !isNumberText(word.text)) return false;
  const isNear = word.box[0] - before.box[2] < GROUPS_APART * word.size;
  return !isNear || !GROUPS.test(`${before.text} ${word.text}`);
}

/** Years alone, right of an empty corner: they head columns as words do. */
export function isYearHeader({ cells }: CellLine): boolean {
  const numbers = cells.filter(isNumber);
  const isAll = numbers.every((cell) => /^(?:19|20)\d{2}$/.test(textOf(cell)));
  return isAll && numbers.length > 1 && cells.every(({ column }) => column > 0);
}

/** The middle between the edges of a cell's words. */
export function middleX(cell: PlacedCell): number {
  const box = boxOf(cell);
  return (box[0] + box[2]) / 2;
}

export const boxOf = ({ words }: PlacedCell): Box => around(words.map(({ box }) => box));

export function widestIn(lines: readonly CellLine[], column: number): number {
  let widest = 0;
  for (const { cells } of lines)
    for (const cell of cells)
      if (cell.column === column && cell.columnSpan === 1) widest = Math.max(widest, widthOf(boxOf(cell)));
  return widest;
}

/** Of the font's height: a space between words. */
const SPACE = 0.3;

/** Whether a text was ended though the first word below would have had room, and does not go on there. */
function hadRoom(above: PlacedCell, cell: PlacedCell, widths: readonly number[]): boolean {
  const [first] = cell.words;
  if (first === undefined || cell.columnSpan > 1) return false;
  const needed = widthOf(boxOf(above)) + SPACE * first.size + widthOf(first.box);
  return needed < (widths[cell.column] ?? 0) - 0.5 && !readsOn(textOf(above), first.text);
}

/** What ends with a mark that joins goes on, and so does what begins small below what began large. */
const readsOn = (above: string, below: string): boolean =>
  /[-/,&(–—+]$/.test(above) || (/^\p{Lu}/u.test(above) && /^[\p{Ll})]/u.test(below));

/** Whether a rule between two lines runs along at least half of either. */
export function isRuledOff(above: CellLine, below: CellLine, rules: readonly Rule[]): boolean {
  const [top, bottom] = [middleY(above.box), middleY(below.box)];
  const box = around([above.box, below.box]);
  return rules.some((rule) => {
    const shared = Math.min(rule[2], box[2]) - Math.max(rule[0], box[0]);
    return rule[1] > top && rule[1] < bottom && shared >= 0.5 * widthOf(box);
  });
}

/** A line with nothing but text in the first column. */
export const isLabel = ({ cells }: CellLine): boolean =>
  cells.length === 1 && cells[0]?.column === 0 && cells[0].columnSpan === 1 && !isNumber(cells[0]);
