import { around, heightOf, widthOf, type Rule, type Row } from '../content.ts';
import { withHeadAbove } from './headAbove.ts';
import type { RuledRegion } from './ruledRegion.ts';
import { stackedRegions } from './stackedRegions.ts';
import { withLooseRules, type WordsByHeight, linesIn } from './looseRules.ts';

/** Points that rules of one height may be off each other. */
const NEAR = 3;
/** Lines down through a strip that has at least three columns. */
const LINES_MIN = 4;
/** Of a line's height: rows of one table stand closer. */
const ROW_GAP = 0.8;

/**
 * Regions, those that are heads of tables side by side with the rows below them: boxes of headings at one height, each
 * over a body without rules. Each body ends by itself, so that rows of the one do not run on into the other.
 */
const withBodies = (regions: readonly RuledRegion[], words: WordsByHeight): readonly RuledRegion[] =>
  regions.map((region) =>
    isStrip(region) && regions.some((other) => isStrip(other) && standBeside(region, other))
      ? withBody(region, words)
      : region,
  );

/** All lines down through it end at its second rule. */
function isStrip({ horizontal, vertical }: RuledRegion): boolean {
  const bottom = horizontal[1]?.[1];
  if (bottom === undefined || vertical.length < LINES_MIN) return false;
  return vertical.every((rule) => rule[3] < bottom + NEAR);
}

const standBeside = (one: RuledRegion, other: RuledRegion): boolean =>
  (one.box[2] < other.box[0] || other.box[2] < one.box[0]) &&
  [0, 1].every((at) => Math.abs((one.horizontal[at]?.[1] ?? 0) - (other.horizontal[at]?.[1] ?? 0)) <= NEAR);

function withBody(region: RuledRegion, words: WordsByHeight): RuledRegion {
  const { box, horizontal, vertical } = region;
  const [x0, top, x1] = box;
  const head = horizontal[1]?.[1] ?? top;
  const body: Row[] = [];
  for (const line of linesIn(words, [x0, head, x1, Infinity])) {
    const bottom = body.at(-1)?.box[3] ?? head;
    const isWithin = line.box[0] > x0 - NEAR && line.box[2] < x1 + NEAR;
    if (!isWithin || line.segments.length < 2 || line.box[1] - bottom > ROW_GAP * heightOf(line.box)) break;
    body.push(line);
  }
  const edges = [top, head, ...body.map((line) => line.box[3])];
  const end = Math.max(...edges);
  return {
    box: [x0, top, x1, end],
    horizontal: edges.map((y): Rule => [x0, y, x1, y]),
    vertical: vertical.map((rule): Rule => [rule[0], top, rule[2], end]),
  };
}

/** Lines that end this near to each other touch. */
const TOUCH = 3;
/** Shorter lines are strokes of drawings or of letters. */
const SHORT = 6;

const isHorizontal = (rule: Rule): boolean => widthOf(rule) >= heightOf(rule);

/** The ruled regions of a page, by the lines that touch each other. */
export function ruledRegions(rules: readonly Rule[], words: WordsByHeight): readonly RuledRegion[] {
  const horizontal = joined(
    rules.filter((rule) => isHorizontal(rule) && widthOf(rule) >= SHORT),
    0,
  );
  const vertical = joined(
    rules.filter((rule) => !isHorizontal(rule) && heightOf(rule) >= SHORT),
    1,
  );
  const all = [...horizontal, ...vertical];
  const group = all.map((_, index) => index);
  const root = (index: number): number => {
    let at = index;
    while (group[at] !== at) at = group[at] ?? at;
    return at;
  };
  all.forEach((rule, i) => {
    for (let j = i + 1; j < all.length; j += 1) {
      const other = all[j];
      if (other !== undefined && touch(rule, other)) group[root(j)] = root(i);
    }
  });
  const regions = new Map<number, Rule[]>();
  all.forEach((rule, index) => {
    const key = root(index);
    const members = regions.get(key);
    if (members === undefined) regions.set(key, [rule]);
    else members.push(rule);
  });
  const tables = withLooseRules([...regions.values()], words).flatMap((members) =>
    stackedRegions(
      {
        box: around(members),
        horizontal: members.filter(isHorizontal).sort((a, b) => a[1] - b[1]),
        vertical: members.filter((rule) => !isHorizontal(rule)).sort((a, b) => a[0] - b[0]),
      },
      words,
    ),
  );
  return withBodies(tables, words).map((region) => withHeadAbove(region, words));
}

const touch = (a: Rule, b: Rule): boolean =>
  a[0] <= b[2] + TOUCH && b[0] <= a[2] + TOUCH && a[1] <= b[3] + TOUCH && b[1] <= a[3] + TOUCH;

/** Pieces of one line are one line. `axis` 0: horizontal, 1: vertical. */
function joined(rules: readonly Rule[], axis: 0 | 1): readonly Rule[] {
  const across = axis === 0 ? 1 : 0;
  const sorted = [...rules].sort((a, b) => a[across] - b[across] || a[axis] - b[axis]);
  const kept: Rule[] = [];
  for (const rule of sorted) {
    const index = lastJoined(kept, rule, axis);
    const other = kept[index];
    if (other === undefined) kept.push(rule);
    else kept[index] = around([other, rule]);
  }
  return kept;
}

/** Points that pieces of one line may lie off each other. */
const ONE_LINE = 1.5;

/** The last of the lines kept so far that a piece goes on with; -1 where none is. `kept` rises across the axis. */
function lastJoined(kept: readonly Rule[], rule: Rule, axis: 0 | 1): number {
  const across = axis === 0 ? 1 : 0;
  for (let index = kept.length - 1; index >= 0; index -= 1) {
    const other = kept[index];
    if (other === undefined || rule[across] - other[across] > ONE_LINE) return -1;
    const ends = axis === 0 ? ([other[2], rule[2]] as const) : ([other[3], rule[3]] as const);
    if (rule[axis] <= ends[0] + TOUCH && other[axis] <= ends[1] + TOUCH) return index;
  }
  return -1;
}

/** Places along an axis without those that repeat another. */
export function distinctPlaces(places: readonly number[], near = TOUCH): readonly number[] {
  const kept: number[] = [];
  for (const place of [...places].sort((a, b) => a - b))
    if (kept.length === 0 || place - (kept.at(-1) ?? 0) > near) kept.push(place);
  return kept;
}
