import type { Box } from '../../document/document.ts';
import { heightOf, median, type Row, type Rule, type Segment } from '../content.ts';
import { linesIn, type WordsByHeight } from './looseRules.ts';

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

/**
 * A region without lines down its sides whose rules stand below each row has its first row above its first
 * rule: it begins there where that line has the cells of the rows below it, at their edges.
 */
export function withHeadAbove(region: Region, words: WordsByHeight): Region {
  const { box, horizontal, vertical } = region;
  const [top] = horizontal;
  if (top === undefined || vertical.length > 0 || horizontal.length < RULES_MIN) return region;
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
