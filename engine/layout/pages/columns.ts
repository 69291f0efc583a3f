import type { Box } from '../../document/document.ts';
import { around, heightOf, median, widthOf } from '../content.ts';
import { rowsOf } from '../segments.ts';
import { readsRightToLeft } from '../direction.ts';

/** What is put in order: a segment of a line, or a table as a whole. */
export interface Atom {
  readonly box: Box;
  /** Characters; of a table, none. */
  readonly characters: number;
  readonly size: number;
  readonly text: string;
}

/** A gutter is at least this wide, in points and in heights of the font. */
const GUTTER_POINTS = 7;
const GUTTER_EMS = 0.9;
const DEPTH_MAX = 12;

interface Gutter {
  readonly x0: number;
  readonly x1: number;
}

interface Band<T> {
  readonly left: readonly T[];
  readonly right: readonly T[];
}

/**
 * Atoms in groups in reading order: each group reads from top to bottom, columns one after the other.
 * A gutter that parts columns of prose splits the rows that it does not cross; rows across it (titles,
 * wide tables) part what is above from what is below. Rows of short cells that stand level are no
 * columns but a table, and stay together.
 */
export function readingGroups<T extends Atom>(atoms: readonly T[], depth = 0): readonly (readonly T[])[] {
  if (atoms.length < 4 || depth > DEPTH_MAX) return atoms.length === 0 ? [] : [atoms];
  for (const gutter of guttersOf(atoms)) {
    const groups = splitAt(atoms, gutter, depth);
    if (groups !== undefined) return groups;
  }
  return [atoms];
}

/** Gaps between neighbours on a row, those that most rows share first. */
function guttersOf(atoms: readonly Atom[]): readonly Gutter[] {
  const size = median(atoms.map((atom) => atom.size));
  const wide = Math.max(GUTTER_POINTS, GUTTER_EMS * size);
  const edges = [...new Set(atoms.map(({ box }) => Math.round(box[2])))].sort((a, b) => a - b);
  const lefts = atoms.map(({ box }) => box[0]).sort((a, b) => a - b);
  const scored = edges.flatMap((edge) => {
    const { right, next } = freeFrom(lefts, edge);
    if (right < 2 || next - edge < wide) return [];
    let crossing = 0;
    for (const { box } of atoms) if (box[0] < next - 0.5 && box[2] > edge + 0.5) crossing += 1;
    const left = atoms.length - right - crossing;
    return left < 2 ? [] : [{ x0: edge, x1: next, crossing, balance: Math.min(left, right) }];
  });
  return scored
    .sort((a, b) => b.balance - b.crossing - (a.balance - a.crossing) || b.x1 - b.x0 - (a.x1 - a.x0))
    .slice(0, 6);
}

interface Free {
  /** Atoms to the right of an edge. */
  readonly right: number;
  /** The left margin of the first of them; the edge itself where there are none. */
  readonly next: number;
}

/** What lies to the right of an edge. `lefts`: the left margins of all, which rise. */
function freeFrom(lefts: readonly number[], edge: number): Free {
  let [from, to] = [0, lefts.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((lefts[middle] ?? Infinity) < edge - 0.5) from = middle + 1;
    else to = middle;
  }
  return { right: lefts.length - from, next: lefts[from] ?? edge };
}

function splitAt<T extends Atom>(
  atoms: readonly T[],
  { x0, x1 }: Gutter,
  depth: number,
): readonly (readonly T[])[] | undefined {
  const middle = (x0 + x1) / 2;
  const runs: { crosses: boolean; atoms: T[] }[] = [];
  for (const row of rowsOf(atoms)) {
    const crosses = row.some(({ box }) => box[0] < middle && box[2] > middle);
    const last = runs.at(-1);
    if (last?.crosses === crosses) last.atoms.push(...row);
    else runs.push({ crosses, atoms: [...row] });
  }
  const groups = runs.map((run) => {
    const band = run.crosses ? undefined : bandOf(run.atoms, middle);
    return { band: band !== undefined && areColumns(band) ? band : undefined, atoms: run.atoms };
  });
  if (groups.every(({ band }) => band === undefined)) return undefined;
  return merged(groups).flatMap(({ band, atoms: rest }) => {
    if (band === undefined) return readingGroups(rest, depth + 1);
    const sides = [band.left, band.right];
    const turned = readsRightToLeft(rest.map(({ text }) => text).join('')) ? sides.reverse() : sides;
    return turned.flatMap((side) => readingGroups(side, depth + 1));
  });
}

/** Neighbouring runs without columns are one again. */
function merged<T>(
  groups: readonly { readonly band: Band<T> | undefined; readonly atoms: readonly T[] }[],
): readonly { readonly band: Band<T> | undefined; readonly atoms: readonly T[] }[] {
  const all: { band: Band<T> | undefined; atoms: readonly T[] }[] = [];
  for (const group of groups) {
    const last = all.at(-1);
    if (last !== undefined && last.band === undefined && group.band === undefined)
      last.atoms = [...last.atoms, ...group.atoms];
    else all.push({ ...group });
  }
  return all;
}

const bandOf = <T extends Atom>(atoms: readonly T[], x: number): Band<T> => ({
  left: atoms.filter(({ box }) => box[2] <= x),
  right: atoms.filter(({ box }) => box[2] > x),
});

/** Columns of prose, or blocks that do not stand level; rows of short level cells are a table. */
function areColumns({ left, right }: Band<Atom>): boolean {
  const leftRows = rowsOf(left);
  const rightRows = rowsOf(right);
  const fewer = Math.min(leftRows.length, rightRows.length);
  if (fewer < 2) return false;
  const prose = [left, right].filter(isProse).length;
  if (prose > 0 && standInRows(left, right)) return false;
  if (prose === 2) return true;
  if (prose === 1) {
    const sides = isProse(left) ? ([rightRows, leftRows] as const) : ([leftRows, rightRows] as const);
    if (wrapsByRow(...sides)) return false;
  }
  const level = levelRows(leftRows, rightRows) / fewer;
  return prose === 1 ? level < 0.75 || fewer > 5 : level < 0.34;
}

/** Of a line's height: a wider gap across both sides parts rows of a table, or paragraphs. */
const ROW_GAP = 0.4;
/** Paragraphs of two columns begin level by chance, but not so often. */
const LEVEL_ROWS_MIN = 4;

/** Whether both sides are parted at the same heights again and again, as the rows of a table are. */
function standInRows(left: readonly Atom[], right: readonly Atom[]): boolean {
  const gap = ROW_GAP * median([...left, ...right].map(({ box }) => heightOf(box)));
  const blocks = blocksOf([...left, ...right], gap);
  if (blocks.length < LEVEL_ROWS_MIN) return false;
  const level = blocks.filter((block) => {
    const tops = [left, right].map((side) =>
      Math.min(...side.filter((atom) => block.has(atom)).map(({ box }) => box[1])),
    );
    return Math.abs((tops[0] ?? 0) - (tops[1] ?? 0)) < 1.5;
  });
  return level.length >= 0.8 * blocks.length;
}

type Line = readonly Atom[];

/** So many cells at least show that the text beside them begins anew with each. */
const CELLS_MIN = 3;
/** Of the cells' lines, those before which the text has ended; of its other lines, those before which it has not. */
const BEGUN_SHARE = 0.7;

/**
 * Whether lines of text are the wrapped cells of rows that other cells begin: each cell stands level with a line, and
 * the line before such a one had room for its first word, while those within a cell were broken for want of room.
 */
function wrapsByRow(cells: readonly Line[], lines: readonly Line[]): boolean {
  if (cells.length < CELLS_MIN || lines.length <= cells.length) return false;
  const isLevel = levelWith(cells, lines);
  if (lines.filter(isLevel).length < 0.9 * cells.length) return false;
  const right = Math.max(...lines.map((line) => around(line.map(({ box }) => box))[2]));
  const breaks = lines.slice(1).map((line, i) => ({
    begins: isLevel(line),
    hadRoom: endOf(lines[i]) + firstWordWidth(line) <= right,
  }));
  const begun = breaks.filter(({ begins }) => begins);
  const within = breaks.filter(({ begins }) => !begins);
  return (
    begun.length >= CELLS_MIN - 1 &&
    begun.filter(({ hadRoom }) => hadRoom).length >= BEGUN_SHARE * begun.length &&
    within.filter(({ hadRoom }) => !hadRoom).length >= BEGUN_SHARE * within.length
  );
}

const bottomOf = (line: Line): number => around(line.map(({ box }) => box))[3];
const endOf = (line: Line | undefined): number => Math.max(...(line ?? []).map(({ box }) => box[2]));

/** With the space before it. */
function firstWordWidth([first]: Line): number {
  if (first === undefined) return 0;
  const letters = first.text.split(' ', 1)[0]?.length ?? 0;
  return (widthOf(first.box) / Math.max(1, first.characters)) * (letters + 1);
}

/** What stands between gaps that cross the page. */
function blocksOf(atoms: readonly Atom[], gap: number): readonly ReadonlySet<Atom>[] {
  const blocks: Set<Atom>[] = [];
  let bottom = -Infinity;
  for (const atom of [...atoms].sort((a, b) => a.box[1] - b.box[1])) {
    if (atom.box[1] - bottom > gap) blocks.push(new Set());
    blocks.at(-1)?.add(atom);
    bottom = Math.max(bottom, atom.box[3]);
  }
  return blocks;
}

/** Points that lines of one row may differ by. */
const LEVEL = 1.5;
/** The share of its size that a line reaches below its baseline. */
const DESCENT = 0.21;

const sizeOf = (line: Line): number => Math.max(...line.map(({ size }) => size));
const baselineOf = (line: Line): number => bottomOf(line) - DESCENT * sizeOf(line);

/**
 * Tells whether a line stands level with one of others: by its foot, or by its baseline, since letters of two sizes
 * have their feet at two heights. Whichever more of the lines share counts for all of them.
 */
function levelWith(others: readonly Line[], lines: readonly Line[]): (line: Line) => boolean {
  const [byFoot, byBaseline] = [levelBy(bottomOf, others), levelBy(baselineOf, others)] as const;
  return lines.filter(byBaseline).length > lines.filter(byFoot).length ? byBaseline : byFoot;
}

const levelBy = (heightIn: (line: Line) => number, others: readonly Line[]): ((line: Line) => boolean) => {
  const heights = others.map(heightIn);
  return (line) => heights.some((height) => Math.abs(height - heightIn(line)) < LEVEL);
};

/** How many rows of one side stand level with one of the other. */
const levelRows = (left: readonly Line[], right: readonly Line[]): number =>
  right.filter(levelWith(left, right)).length;

/** Lines of many characters that mostly fill their column. */
function isProse(atoms: readonly Atom[]): boolean {
  if (atoms.length < 3) return false;
  const width = widthOf(around(atoms.map(({ box }) => box)));
  const rows = rowsOf(atoms);
  const filled = rows.filter(
    (row) => row.reduce((sum, { box }) => sum + widthOf(box), 0) > 0.7 * width,
  ).length;
  return median(atoms.map(({ characters }) => characters)) >= 18 && filled >= 0.5 * rows.length;
}
