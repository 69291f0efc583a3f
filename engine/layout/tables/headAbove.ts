import type { Box } from '../../document/document.ts';
import { heightOf, median, type Row, type Rule, type Segment } from '../content.ts';
import { linesIn, type WordsByHeight } from './looseRules.ts';
import { groupsUnder } from './repeatedHeadings.ts';

interface Region {
  readonly box: Box;
  readonly horizontal: readonly Rule[];
  readonly vertical: readonly Rule[];
}

/** So many rules below each other show that each row ends with one. */
const RULES_MIN = 3;
/** Points that a heading may be off the edge or the middle of the cell below it. */
const OFF = 4;
/** So many of the headings must stand over a cell so. */
const LEVEL_SHARE = 0.7;

/** A header without rules stands over at least so many columns. */
const COLUMNS_MIN = 3;
/** So many rows of a table show where its cells stand: single ones may be empty. */
const ROWS_LOOKED_AT = 3;

/** A region with its first row, where that stands above its first rule. */
export const withHeadAbove = (region: Region, words: WordsByHeight): Region =>
  region.vertical.length === 0 ? withOpenHead(region, words) : withHeadOverGrid(region, words);

/**
 * A grid whose headings stand above it without rules: each in a column of its own, at the edge or in the middle
 * of what stands in that column.
 */
function withHeadOverGrid(region: Region, words: WordsByHeight): Region {
  const { box, horizontal, vertical } = region;
  const edges = distinctEdges(vertical.filter((rule) => heightOf(rule) >= 0.5 * heightOf(box)));
  const pitch = heightBetween(horizontal[0], horizontal[1]);
  if (edges.length <= COLUMNS_MIN || pitch <= 0) return region;
  const head = linesIn(words, [box[0], box[1] - pitch, box[2], box[1]]).at(-1);
  if (head === undefined || box[1] - head.box[3] > pitch - heightOf(head.box)) return region;
  const shown = heightBetween(horizontal[0], horizontal[ROWS_LOOKED_AT]) || heightOf(box);
  const below = linesIn(words, [box[0], box[1], box[2], box[1] + shown]);
  const isHead = hasOwnColumns(head, edges) && standsLevel(head, below);
  return isHead || headsGroups(head, below[0], distinct([box[0], ...edges, box[2]]))
    ? { ...region, box: [box[0], head.box[1] - 1, box[2], box[3]] }
    : region;
}

/** Points from one rule down to another; 0 where one of them is not there. */
const heightBetween = (one: Rule | undefined, other: Rule | undefined): number =>
  one === undefined || other === undefined ? 0 : other[1] - one[1];

/** Whether each cell lies in a column of its own, and few columns have none. */
function hasOwnColumns({ segments }: Row, edges: readonly number[]): boolean {
  const columns = segments.map(({ box: [x0, , x1] }) =>
    edges.findIndex((edge, at) => edge <= x0 && x1 <= (edges[at + 1] ?? -Infinity)),
  );
  const distinct = new Set(columns).size;
  return (
    !columns.includes(-1) &&
    distinct === columns.length &&
    distinct >= Math.max(COLUMNS_MIN, edges.length - 2)
  );
}

function standsLevel({ segments }: Row, below: readonly Row[]): boolean {
  const cells = below.flatMap((row) => row.segments);
  const level = segments.filter((one) => cells.some((other) => areLevel(one, other)));
  return level.length >= LEVEL_SHARE * segments.length;
}

const distinctEdges = (rules: readonly Rule[]): readonly number[] => distinct(rules.map((rule) => rule[0]));

const distinct = (places: readonly number[]): readonly number[] =>
  places.filter((x, at, all) => at === 0 || x - (all[at - 1] ?? 0) > OFF);

/** Names of groups of columns, below each of which the same headings come again. */
function headsGroups({ segments }: Row, below: Row | undefined, edges: readonly number[]): boolean {
  const from = edges[groupsUnder(segments, edges)?.[0] ?? edges.length] ?? Infinity;
  const words = (below?.segments ?? []).flatMap((segment) =>
    segment.words.filter(({ box }) => box[0] > from - OFF),
  );
  const span = words.length / segments.length;
  return words.length > 0 && words.every(({ text }, at) => text === words[at % span]?.text);
}

/**
 * A region without lines down its sides whose rules stand below each row has its first row above its first
 * rule: it begins there where that line has the cells of the rows below it, at their edges.
 */
function withOpenHead(region: Region, words: WordsByHeight): Region {
  const { box, horizontal } = region;
  const [top] = horizontal;
  if (top === undefined || horizontal.length < RULES_MIN) return region;
  const pitch = median(horizontal.slice(1).map((rule, i) => rule[1] - (horizontal[i]?.[1] ?? 0)));
  const [first] = linesIn(words, [box[0], box[1], box[2], horizontal[1]?.[1] ?? box[3]]);
  const head = linesIn(words, [box[0], box[1] - pitch, box[2], box[1]]).at(-1);
  if (first === undefined || head === undefined || !isHeadOf(head, first)) return region;
  if (box[1] - head.box[3] > pitch - heightOf(head.box)) return region;
  return { ...region, box: [box[0], head.box[1] - 1, box[2], box[3]] };
}

function isHeadOf({ segments }: Row, below: Row): boolean {
  const least = Math.max(2, below.segments.length - 1);
  if (segments.length < least || segments.length > below.segments.length + 1) return false;
  const level = segments.filter((one) => below.segments.some((other) => areLevel(one, other)));
  return level.length >= LEVEL_SHARE * segments.length;
}

const areLevel = ({ box: a }: Segment, { box: b }: Segment): boolean =>
  Math.abs(a[0] - b[0]) <= OFF ||
  Math.abs(a[2] - b[2]) <= OFF ||
  Math.abs(a[0] + a[2] - b[0] - b[2]) <= 2 * OFF;
