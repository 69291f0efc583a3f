import { heightOf, median, widthOf, type PlacedWord, type Row, type Segment } from '../content.ts';
import { segmentOf, segmentRows, segmentsOf } from '../segments.ts';
import { votedColumns } from './columnVotes.ts';
import { logicalRows } from './logicalRows.ts';
import { recordCells } from './recordLines.ts';
import type { RuledRegion } from './ruledRegion.ts';
import type { PlacedCell } from './tableCells.ts';

/** Of the font's height: words of one cell stand closer. */
const CELL_GAP = 0.6;
/** Of the region's height: a shorter line down the page parts no columns. */
const STRONG = 0.25;

/** The lines of a region, parted at the rules that run down through it. */
export function linesOfRegion({ box, vertical }: RuledRegion, words: readonly PlacedWord[]): readonly Row[] {
  const strong = vertical.filter((rule) => heightOf(rule) >= STRONG * heightOf(box)).map((rule) => rule[0]);
  const segments = segmentsOf(words, CELL_GAP);
  if (strong.length === 0) return segmentRows(segments);
  return segmentRows(segments.flatMap((segment) => partedAt(segment, strong)));
}

function partedAt(segment: Segment, places: readonly number[]): readonly Segment[] {
  const [x0, , x1] = segment.box;
  const within = places.filter((x) => x > x0 && x < x1);
  if (within.length === 0) return [segment];
  const parts = new Map<number, PlacedWord[]>();
  for (const word of segment.words) {
    const middle = (word.box[0] + word.box[2]) / 2;
    const part = within.filter((x) => x < middle).length;
    parts.set(part, [...(parts.get(part) ?? []), word]);
  }
  return [...parts.values()].map(segmentOf);
}

/**
 * Cells of a region that rules do not close: columns are where lines leave gaps, rows are lines or groups of
 * them. undefined where its lines have no columns.
 */
export function openCells(region: RuledRegion, lines: readonly Row[]): readonly PlacedCell[] | undefined {
  const multi = lines.filter(({ segments }) => segments.length >= 2);
  if (multi.length < 2 || multi.length < 0.3 * lines.length) return undefined;
  const records = recordCells(lines);
  if (records !== undefined) return records;
  const columns = votedColumns(withoutTitles(lines));
  if (columns.length < 2) return undefined;
  const size = median(lines.map(({ box }) => heightOf(box)));
  const inner = region.horizontal.filter(
    (rule) =>
      rule[1] > region.box[1] + 0.5 * size && rule[1] < region.box[3] - 0.5 * size && widthOf(rule) > size,
  );
  return logicalRows(lines, { columns, rules: inner });
}

/** Of the cells that lines usually have: lines with fewer at the top are titles, and tell no columns. */
const TITLE_CELLS = 0.5;
const BELOW_TITLES_MIN = 3;

function withoutTitles(lines: readonly Row[]): readonly Row[] {
  const usual = median(lines.map(({ segments }) => segments.length));
  const first = lines.findIndex(({ segments }) => segments.length >= TITLE_CELLS * usual);
  return lines.length - first < BELOW_TITLES_MIN ? lines : lines.slice(first);
}
