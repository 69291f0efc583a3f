import type { Box } from '../../document/document.ts';
import {
  around,
  heightOf,
  median,
  middleY,
  widthOf,
  type PlacedWord,
  type Row,
  type Rule,
} from '../content.ts';
import { isCaption } from '../captions.ts';
import { segmentRows, segmentsOf } from '../segments.ts';

/** Rules of one table begin and end this near to each other. */
const NEAR = 3;
/** Of the font's height: words of one cell stand closer. */
const CELL_GAP = 0.6;
/** Of the table's width: a line without gaps that is longer is prose. */
const PROSE_WIDTH = 0.6;
/** Of the font's height: more empty space is no row of a table. */
const EMPTY_BAND = 1.6;

/** In points: a header of several lines is no higher. */
const HEADER_HEIGHT = 60;

/** Lines down through a table that has columns of its own. */
const GRID_LINES_MIN = 3;

/** Words of a page by height, so that a band of them is found without a look at all. */
export interface WordsByHeight {
  readonly words: readonly PlacedWord[];
  readonly size: number;
}

export const wordsByHeight = (words: readonly PlacedWord[]): WordsByHeight => ({
  words: [...words].sort((a, b) => middleY(a.box) - middleY(b.box)),
  size: median(words.map(({ size }) => size)),
});

/** The lines whose words lie in a box, by their middles. */
export function linesIn({ words }: WordsByHeight, [x0, y0, x1, y1]: Box): readonly Row[] {
  let low = 0;
  let high = words.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const word = words[middle];
    if (word !== undefined && middleY(word.box) < y0) low = middle + 1;
    else high = middle;
  }
  const inside: PlacedWord[] = [];
  for (let i = low; i < words.length; i += 1) {
    const word = words[i];
    if (word === undefined || middleY(word.box) > y1) break;
    const x = (word.box[0] + word.box[2]) / 2;
    if (x > x0 - NEAR && x < x1 + NEAR) inside.push(word);
  }
  return segmentRows(segmentsOf(inside, CELL_GAP));
}

interface Joined {
  readonly rules: Rule[];
  box: Box;
  isLoose: boolean;
  /** Something else stands below it. */
  isClosed: boolean;
}

/** Groups of rules as they were, those of one table without lines down its sides joined. */
export function withLooseRules(groups: readonly Rule[][], words: WordsByHeight): readonly Rule[][] {
  const kept: Joined[] = [];
  for (const group of [...groups].sort((a, b) => around(a)[1] - around(b)[1])) {
    const box = around(group);
    const isLoose = group.every((rule) => widthOf(rule) >= heightOf(rule));
    const host = kept.findLast(
      (other) => !other.isClosed && (isLoose || other.isLoose) && isOfOne(other, box, isLoose),
    );
    if (
      host !== undefined &&
      !kept.some((other) => isGridBetween(other, host.box, box)) &&
      isTabular(words, [Math.min(host.box[0], box[0]), host.box[3], Math.max(host.box[2], box[2]), box[1]])
    ) {
      host.rules.push(...group);
      host.box = around([host.box, box]);
      host.isLoose &&= isLoose;
      continue;
    }
    if (host !== undefined) host.isClosed = true;
    kept.push({ rules: [...group], box, isLoose, isClosed: false });
  }
  return kept.map(({ rules }) => rules);
}

/** Of one extent; or one of them shorter, as under a heading over some of the columns. */
function isOfOne({ box: host, rules }: Joined, box: Box, isLoose: boolean): boolean {
  const isLeft = Math.abs(host[0] - box[0]) < NEAR;
  const isRight = Math.abs(host[2] - box[2]) < NEAR;
  if (isLeft && isRight) return true;
  const isWithin = box[0] > host[0] - NEAR && box[2] < host[2] + NEAR;
  return (
    isLoose && box[1] - host[3] < HEADER_HEIGHT && (isWithin || ((isLeft || isRight) && rules.length <= 2))
  );
}

/** A table with lines of its own down through it, between rules that stand around it on the page. */
const isGridBetween = ({ box, rules, isLoose }: Joined, above: Box, below: Box): boolean =>
  !isLoose &&
  box[1] > above[3] - NEAR &&
  box[3] < below[1] + NEAR &&
  rules.filter((rule) => heightOf(rule) > widthOf(rule)).length >= GRID_LINES_MIN;

/** Whether what stands between two rules are rows of a table: not prose, a caption or empty space. */
function isTabular(words: WordsByHeight, band: Box): boolean {
  const lines = linesIn(words, band);
  const [first, last] = [lines[0], lines.at(-1)];
  if (first === undefined || last === undefined) return heightOf(band) <= EMPTY_BAND * words.size + NEAR;
  if (lines.some((line) => isCaption(textOf(line)))) return false;
  const single = lines.filter(({ segments }) => segments.length === 1);
  const wide = single.filter(({ box }) => widthOf(box) > PROSE_WIDTH * widthOf(band)).length;
  if (wide > 0.3 * lines.length || (single.length === lines.length && lines.length > 3)) return false;
  const space = first.box[1] - band[1] + band[3] - last.box[3];
  return space < 2 * EMPTY_BAND * words.size || lines.length > 3;
}

const textOf = ({ segments }: Row): string =>
  segments.flatMap(({ words }) => words.map(({ text }) => text)).join(' ');
