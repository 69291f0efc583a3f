import type { Rule } from '../content.ts';
import { around, widthOf } from '../content.ts';
import { votedColumns } from './columnVotes.ts';
import { linesIn, type WordsByHeight } from './looseRules.ts';
import type { RuledRegion } from './ruledRegion.ts';
import type { Span } from './tableCells.ts';

/** Rules stand at a place when they are this near. */
const NEAR = 3;
/** Of the width: a rule that parts two tables runs across. */
const ACROSS = 0.8;
/** A region with more rules is a drawing. */
const RULES_MAX = 800;

/**
 * The tables of a region that stand on each other: where a rule across it ends every line down through it, and
 * what is below has other lines or another width. Each has at least two rows; else the first row above the
 * columns of a table (a title, a merged header) would be one by itself.
 */
export function stackedRegions(region: RuledRegion, words: WordsByHeight): readonly RuledRegion[] {
  if (region.horizontal.length + region.vertical.length > RULES_MAX) return [region];
  const spans: Span[] = [];
  for (const group of groupsOf(region)) {
    const last = spans.at(-1);
    if (last === undefined || isNext(region, { last, group }, words)) spans.push(group);
    else spans[spans.length - 1] = { from: last.from, to: group.to };
  }
  return spans.length < 2 ? [region] : spans.map((span) => partOf(region, span));
}

interface Neighbours {
  readonly last: Span;
  readonly group: Span;
}

/** Whether a group begins another table than the one above; one row alone begins it with all that follows. */
function isNext(region: RuledRegion, { last, group }: Neighbours, words: WordsByHeight): boolean {
  const above = partOf(region, last);
  const own = partOf(region, group);
  const below = rowsOf(own) < 2 ? partOf(region, { from: group.from, to: region.box[3] }) : own;
  if (rowsOf(above) < 2 || rowsOf(below) < 2) return false;
  return areOther(above, below, isOpenBeside(above, below, words) || isOpenBeside(own, above, words));
}

/** The region between the rules across it that end every line down; what has no such lines is together. */
function groupsOf(region: RuledRegion): readonly Span[] {
  const { box, horizontal, vertical } = region;
  const inner = vertical.filter((rule) => isWithin(rule, box));
  const places = horizontal
    .filter((rule) => widthOf(rule) >= ACROSS * widthOf(box))
    .map((rule) => rule[1])
    .filter((y) => y > box[1] + NEAR && y < box[3] - NEAR)
    .filter((y) => !inner.some((rule) => rule[1] < y - NEAR && rule[3] > y + NEAR));
  const hasLines = ({ from, to }: Span): boolean =>
    inner.some((rule) => rule[3] > from + NEAR && rule[1] < to - NEAR);
  const groups: Span[] = [];
  [...places, box[3]].forEach((to, at) => {
    const span = { from: places[at - 1] ?? box[1], to };
    const last = groups.at(-1);
    if (last !== undefined && !hasLines(last) && !hasLines(span))
      groups[groups.length - 1] = { from: last.from, to };
    else groups.push(span);
  });
  return groups;
}

/** The part of a region between two of its rules, which close it. */
function partOf(region: RuledRegion, { from, to }: Span): RuledRegion {
  const horizontal = region.horizontal.filter((rule) => rule[1] > from + NEAR && rule[1] < to - NEAR);
  const vertical = region.vertical
    .map((rule): Rule => [rule[0], Math.max(rule[1], from), rule[2], Math.min(rule[3], to)])
    .filter((rule) => rule[3] - rule[1] > NEAR);
  const own: readonly Rule[] = [...horizontal, ...vertical];
  const [x0, , x1] = around(own.length === 0 ? [region.box] : own);
  const edge = (y: number): Rule => [x0, y, x1, y];
  return { box: [x0, from, x1, to], horizontal: [edge(from), ...horizontal, edge(to)], vertical };
}

const rowsOf = ({ horizontal }: RuledRegion): number => horizontal.length - 1;

/**
 * No line down through the one goes on through the other, and both have some, or one has none: for its cells are
 * parted by space alone, or it ends at other places.
 */
function areOther(above: RuledRegion, below: RuledRegion, isOpen: boolean): boolean {
  const [inAbove, inBelow] = [innerOf(above), innerOf(below)];
  if (inAbove.some((x) => inBelow.some((other) => Math.abs(x - other) <= NEAR))) return false;
  if (inAbove.length > 0 && inBelow.length > 0) return true;
  const isWider = [0, 2].some((side) => Math.abs((above.box[side] ?? 0) - (below.box[side] ?? 0)) > NEAR);
  return (isWider || isOpen) && inAbove.length + inBelow.length > 0;
}

/** So many columns that space alone parts are no accident. */
const OPEN_COLUMNS_MIN = 3;

/**
 * Whether a part has no lines down through it, yet most of its texts stand in columns, and those are other ones
 * than its neighbour's: a line down through that, made longer, would cut words.
 */
function isOpenBeside(part: RuledRegion, neighbour: RuledRegion, words: WordsByHeight): boolean {
  if (innerOf(part).length > 0) return false;
  const lines = linesIn(words, part.box);
  const multi = lines.filter(({ segments }) => segments.length >= OPEN_COLUMNS_MIN);
  if (multi.length < 2 || 2 * multi.length < lines.length) return false;
  if (votedColumns(multi).length < OPEN_COLUMNS_MIN) return false;
  const cuts = (x: number): boolean =>
    multi.some(({ segments }) => segments.some(({ box }) => box[0] + 1 < x && x < box[2] - 1));
  return innerOf(neighbour).some(cuts);
}

const innerOf = ({ box, vertical }: RuledRegion): readonly number[] =>
  vertical.filter((rule) => isWithin(rule, box)).map((rule) => rule[0]);

/** Whether a line down stands inside, not at an edge. */
const isWithin = (rule: Rule, box: Rule): boolean => rule[0] > box[0] + NEAR && rule[0] < box[2] - NEAR;
