import type { Segment } from '../content.ts';
import { middleX, textOf, type CellLine } from './cellLines.ts';
import type { PlacedCell } from './tableCells.ts';

/** Fewer headings below a group are no repetition: one column needs no name over it. */
const PERIOD_MIN = 2;

/**
 * A line of names of groups over the columns that each heads, where the headings below come again for each
 * group in the same order: "2017 2016 %" under every name. Names differ; what is alike is a part of headings.
 * undefined where they do not.
 */
export function overRepeated(line: CellLine, below: CellLine | undefined): CellLine | undefined {
  const groups = line.cells.filter(({ column }) => column > 0);
  const names = new Set(groups.map(textOf));
  if (below === undefined || groups.length < 2 || names.size < groups.length) return undefined;
  const headings = repeatedIn(below.cells, groups.length) ?? repeatedIn(below.cells.slice(1), groups.length);
  if (headings === undefined) return undefined;
  const period = headings.length / groups.length;
  const spread = groups.map((cell, i) => over(cell, headings.slice(i * period, (i + 1) * period)));
  if (spread.some((cell) => cell === undefined)) return undefined;
  const others = line.cells.filter(({ column }) => column === 0);
  return { ...line, cells: [...others, ...spread.flatMap((cell) => cell ?? [])] };
}

/**
 * A line of names of groups in which those that stand over one column head as many as their neighbours do, where the
 * same headings stand below them.
 */
export function overLikeHeadings(line: CellLine, below: CellLine | undefined): CellLine {
  const headings = new Map(below?.cells.map((cell) => [cell.column, cell]));
  const under = ({ column, columnSpan }: Pick<PlacedCell, 'column' | 'columnSpan'>): string =>
    headingsFrom(column, columnSpan)
      .map((one) => (one === undefined ? '' : textOf(one)))
      .join('\n');
  const headingsFrom = (column: number, span: number): readonly (PlacedCell | undefined)[] =>
    Array.from({ length: span }, (_, at) => headings.get(column + at));
  const known = line.cells.filter(({ columnSpan }) => columnSpan > 1);
  const widened = (cell: PlacedCell): PlacedCell => {
    if (cell.columnSpan > 1) return cell;
    for (const like of known) {
      for (let column = cell.column - like.columnSpan + 1; column <= cell.column; column += 1) {
        const own = headingsFrom(column, like.columnSpan).flatMap((one) => one ?? []);
        const isAlike = under({ column, columnSpan: like.columnSpan }) === under(like);
        const place = own.length === like.columnSpan && isAlike ? over(cell, own) : undefined;
        if (place !== undefined && isFree(place, line)) return place;
      }
    }
    return cell;
  };
  return known.length === 0 ? line : { ...line, cells: line.cells.map(widened) };
}

/** Whether no other cell of the line stands over columns of a cell. */
const isFree = ({ words, column, columnSpan }: PlacedCell, { cells }: CellLine): boolean =>
  cells.every(
    (other) =>
      other.words === words ||
      other.column >= column + columnSpan ||
      other.column + other.columnSpan <= column,
  );

function repeatedIn(cells: readonly PlacedCell[], times: number): readonly PlacedCell[] | undefined {
  const period = cells.length / times;
  if (!Number.isInteger(period) || period < PERIOD_MIN) return undefined;
  const isRepeated = cells.every(
    (cell, i) => i < period || textOf(cell) === textOf(cells[i - period] ?? cell),
  );
  return isRepeated ? cells : undefined;
}

/** The cell over all of its headings; undefined where it stands over none of them. */
function over(cell: PlacedCell, headings: readonly PlacedCell[]): PlacedCell | undefined {
  const [first, last] = [headings[0], headings.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const middle = middleX(cell);
  const [from, to] = [edgeOf(first, 0), edgeOf(last, 2)];
  if (middle < from || middle > to) return undefined;
  return { ...cell, column: first.column, columnSpan: last.column + last.columnSpan - first.column };
}

const edgeOf = ({ words }: PlacedCell, side: 0 | 2): number => {
  const edges = words.map(({ box }) => box[side]);
  return side === 0 ? Math.min(...edges) : Math.max(...edges);
};

/** Columns before those of groups: what the rows are called. */
const LEAD_MAX = 2;
/** Points that a name may reach over the edge of its group. */
const OVER = 2;

/**
 * The columns under each of several names that head as many groups of columns alike: each stands within its own.
 * undefined where they do not. `edges`: where the columns begin, and where the last one ends.
 */
export function groupsUnder(
  names: readonly Segment[],
  edges: readonly number[],
): readonly number[] | undefined {
  for (let lead = 0; names.length > 1 && lead <= LEAD_MAX; lead += 1) {
    const span = (edges.length - 1 - lead) / names.length;
    if (!Number.isInteger(span) || span < PERIOD_MIN) continue;
    const starts = names.map((_, i) => lead + i * span);
    const isWithin = ({ box }: Segment, i: number): boolean =>
      box[0] > (edges[lead + i * span] ?? Infinity) - OVER &&
      box[2] < (edges[lead + (i + 1) * span] ?? -Infinity) + OVER;
    if (names.every(isWithin)) return [...starts, edges.length - 1];
  }
  return undefined;
}
