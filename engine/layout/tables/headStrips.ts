import { heightOf, type Row, type Rule } from '../content.ts';
import { linesIn, type WordsByHeight } from './looseRules.ts';
import type { RuledRegion } from './ruledRegion.ts';

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
export const withBodies = (regions: readonly RuledRegion[], words: WordsByHeight): readonly RuledRegion[] =>
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
