import type { Box } from '../../document/document.ts';
import { around, heightOf, median, middleY, widthOf, type Rule } from '../content.ts';
import { boxOf, isLabel, isNumber, isYearHeader, type CellLine } from './cellLines.ts';
import { overLikeHeadings, overRepeated } from './repeatedHeadings.ts';
import type { PlacedCell, Span } from './tableCells.ts';

/** A header has no more lines. */
const LINES_MAX = 8;

/**
 * How many lines at the top are the table's header: those above the first line with a number, where a rule
 * across follows them or they are parted from it otherwise; a label alone before that line names a group.
 * None where no line has numbers.
 */
export function headerLines(lines: readonly CellLine[], rules: readonly Rule[]): number {
  const top = lines.findIndex(
    ({ cells }) => 2 * cells.length >= median(lines.map((line) => line.cells.length)),
  );
  const first = lines.findIndex(
    (line, at) =>
      at >= top &&
      line.cells.filter(isNumber).length >= Math.max(1, 0.3 * line.cells.length) &&
      !isYearHeader(line),
  );

  if (first < 2 || first > LINES_MAX) return 0;
  const all = around(lines.map(({ box }) => box));
  const edges = rules.filter((rule) => widthOf(rule) >= 0.8 * widthOf(all)).map((rule) => rule[1]);
  const last = lines[first - 1];
  const edge = edges.findLast((y) => last !== undefined && y < middleY(last.box) + 2 * heightOf(last.box));
  const isWhole = edge === undefined || (last !== undefined && isYearHeader(last));
  let count = isWhole ? first : lines.filter(({ box }) => middleY(box) < edge).length;
  count = Math.min(count, first);
  while (count > 0 && edge === undefined && lines.slice(count - 1, count).some(isLabel)) count -= 1;
  return count < 2 ? 0 : count;
}

/** Points that the middle of a heading may be off the middle of the columns that it stands over. */
const OFF_CENTRE = 4;
/** The same where each column below has a heading of its own: texts do not fill their columns to both edges. */
export const OFF_GROUP = 8;

/**
 * Header lines whose cells stand over all the columns that they head: those whose headings come again below,
 * those above a rule of their own, and where one is wider than its column, or each is centred over several, all of its
 * line. They are centred over columns that have headings below.
 */
export function withHeaderSpans(
  lines: readonly CellLine[],
  columns: readonly Span[],
  rules: readonly Rule[],
): readonly CellLine[] {
  return lines.map((line, index) => {
    const repeated = overRepeated(line, lines[index + 1]);
    if (repeated !== undefined) return repeated;
    const headed = new Set(lines.slice(index + 1).flatMap(({ cells }) => cells.map(({ column }) => column)));
    const taken = new Set(line.cells.flatMap(placesOf));
    const spread = (off: number): readonly PlacedCell[] =>
      line.cells.map((cell) => widened(cell, { columns, below: headed, taken, off }));
    const isOver = line.cells.some((cell) => isWiderThanColumn(cell, columns) || isUnderlined(cell, rules));
    if (isOver) return { ...line, cells: spread(OFF_CENTRE) };
    const groups = spread(OFF_GROUP);
    const below = lines[index + 1];
    return areGroups(groups, below) ? { ...line, cells: groups } : overLikeHeadings(line, below);
  });
}

/** Each over several columns, none over those of another, and a heading of its own below each of them. */
function areGroups(cells: readonly PlacedCell[], below: CellLine | undefined): boolean {
  const places = cells.flatMap(placesOf);
  const headed = new Set(
    below?.cells.filter(({ columnSpan }) => columnSpan === 1).map(({ column }) => column),
  );
  return (
    cells.every(({ columnSpan }) => columnSpan > 1) &&
    new Set(places).size === places.length &&
    places.every((place) => headed.has(place))
  );
}

const placesOf = ({ column, columnSpan }: PlacedCell): readonly number[] =>
  Array.from({ length: columnSpan }, (_, index) => column + index);

/** It reaches over more than half of the gaps on either side of its column. */
function isWiderThanColumn(cell: PlacedCell, columns: readonly Span[]): boolean {
  const [before, own, after] = [-1, 0, 1].map((step) => columns[cell.column + step]);
  if (cell.columnSpan > 1 || before === undefined || own === undefined || after === undefined) return false;
  const box = boxOf(cell);
  return box[0] < (before.to + own.from) / 2 && box[2] > (own.to + after.from) / 2;
}

/** A rule of its own runs closely below it, and farther than it. */
function isUnderlined(cell: PlacedCell, rules: readonly Rule[]): boolean {
  const box = boxOf(cell);
  return rules.some(
    (rule) =>
      rule[1] > middleY(box) &&
      rule[1] < box[3] + heightOf(box) &&
      rule[0] < box[0] - OFF_CENTRE &&
      rule[2] > box[2] + OFF_CENTRE &&
      Math.abs((rule[0] + rule[2] - box[0] - box[2]) / 2) < OFF_CENTRE,
  );
}

interface Header {
  readonly columns: readonly Span[];
  /** Columns with a heading in a line below. */
  readonly below: ReadonlySet<number>;
  /** Columns that a cell of the line covers. */
  readonly taken: ReadonlySet<number>;
  /** Points that its middle may be off theirs. */
  readonly off: number;
}

/** The cell over as many columns on either side as it is centred over. */
function widened(cell: PlacedCell, { columns, below, taken, off }: Header): PlacedCell {
  const box = boxOf(cell);
  const isFree = (column: number): boolean => below.has(column) && !taken.has(column);
  let span = { from: cell.column, to: cell.column + cell.columnSpan };
  let best = span;
  for (let step = 0; step < columns.length; step += 1) {
    const sides = [isFree(span.from - 1) ? 'left' : '', isFree(span.to) ? 'right' : ''];
    const wanted = offCentre(span, columns, box) > 0 ? 'left' : 'right';
    const side = sides.includes(wanted) ? wanted : sides.find((one) => one !== '');
    if (side === undefined) break;
    span = side === 'left' ? { ...span, from: span.from - 1 } : { ...span, to: span.to + 1 };
    if (Math.abs(offCentre(span, columns, box)) < off) best = span;
  }
  return { ...cell, column: best.from, columnSpan: best.to - best.from };
}

/** How far the middle of columns lies to the right of that of a box. */
const offCentre = ({ from, to }: Span, columns: readonly Span[], box: Box): number =>
  ((columns[from]?.from ?? 0) + (columns[to - 1]?.to ?? 0) - box[0] - box[2]) / 2;
