import type { ParsedPage } from '../../recognition/liteparse.ts';
import type { Box } from '../../document/document.ts';
import { heightOf, middleY } from '../../layout/content.ts';
import { inkIn, SIDE_MAX, SIDE_MIN, squaresOf, type Graphics } from './drawnSquares.ts';
import { boxOf, isInk } from './pdfRules.ts';
import type { InkedWord } from './pdfWords.ts';

/** More of them on a page are a pattern, or a drawing. */
const BOXES_MAX = 300;

/** A small square or circle, and whether something is drawn in it. */
interface Drawn {
  readonly box: Box;
  readonly isRound: boolean;
  readonly isTicked: boolean;
  /** Filled from side to side. */
  readonly isSolid: boolean;
}

/**
 * A page's words with the check boxes that are drawn by lines: small squares beside a text with a cross, a tick or an
 * X in them, or nothing.
 */
export function withDrawnBoxes(
  { vectorGraphics }: ParsedPage,
  words: readonly InkedWord[],
): readonly InkedWord[] {
  const drawn = vectorGraphics === undefined ? [] : drawnIn(vectorGraphics);
  if (drawn.length > BOXES_MAX) return words;
  const found = drawn.flatMap((one) => markFor(one, words) ?? []);
  const marks = found.filter((one) => !isBullet(one, found));
  if (marks.length === 0) return words;
  const replaced = new Set(marks.flatMap(({ inside }) => inside));
  return [...words.filter((word) => !replaced.has(word)), ...marks.map(({ word }) => word)];
}

/**
 * Lists begin with circles and with full squares too: among boxes one is ticked and one is not, or some stand in one
 * line.
 */
function isBullet(mark: Mark, all: readonly Mark[]): boolean {
  const { box, isRound, isSolid, isTicked } = mark;
  if (!isRound && !isSolid) return false;
  const isAlike = (one: Mark): boolean =>
    one !== mark &&
    one.isRound === isRound &&
    Math.abs(heightOf(box) - heightOf(one.box)) < 0.15 * heightOf(box);
  return !all.some(
    (one) =>
      isAlike(one) && (one.isTicked !== isTicked || (!isTicked && Math.abs(one.box[1] - box[1]) < IN_LINE)),
  );
}

/** Points. */
const IN_LINE = 2;

/** Squares and circles; of those around each other the outer one. */
function drawnIn(graphics: Graphics): readonly Drawn[] {
  const circles = graphics.shapes.flatMap(({ bbox, hasCurve, stroke, strokeColor }) => {
    const { width, height } = bbox;
    const isRing = hasCurve && stroke && isInk(strokeColor) && Math.abs(width - height) < 0.1 * height;
    return isRing && height >= SIDE_MIN && height <= SIDE_MAX ? [boxOf(bbox)] : [];
  });
  const all = [
    ...squaresOf(graphics).map((box) => ({ box, isRound: false })),
    ...circles.map((box) => ({ box, isRound: true })),
  ].sort((a, b) => heightOf(b.box) - heightOf(a.box));
  const outer: Pick<Drawn, 'box' | 'isRound'>[] = [];
  for (const one of all.slice(0, 2 * BOXES_MAX))
    if (!outer.some(({ box }) => isAround(box, one.box))) outer.push(one);
  return outer.flatMap((one) => {
    const ink = inkIn(one.box, graphics);
    return ink === undefined ? [] : [{ ...one, ...ink }];
  });
}

interface Mark extends Drawn {
  readonly word: InkedWord;
  /** The letters that tick it. */
  readonly inside: readonly InkedWord[];
}

const TICK = /^[xX✓✔✕✖✗✘×•●■]$/u;

/** The mark as a word of the line of its caption; undefined where it has none, or something else stands in it. */
function markFor(drawn: Drawn, words: readonly InkedWord[]): Mark | undefined {
  const inside = words.filter(({ box }) => isAround(drawn.box, box));
  if (inside.some(({ text }) => !TICK.test(text))) return undefined;
  const caption = words.find((word) => !inside.includes(word) && isCaption(word, drawn.box));
  if (caption === undefined) return undefined;
  const isTicked = drawn.isTicked || inside.length > 0;
  const box: Box = [drawn.box[0], caption.box[1], drawn.box[2], caption.box[3]];
  const look = { bold: false, italic: false, link: null, isSpaced: true };
  return { ...drawn, isTicked, inside, word: { ...caption, ...look, text: isTicked ? '☒' : '☐', box } };
}

/** Whether the middle of a word, or of another box, lies in a box. */
const isAround = (box: Box, other: Box): boolean => {
  const [x, y] = [(other[0] + other[2]) / 2, middleY(other)];
  return x > box[0] && x < box[2] && y > box[1] && y < box[3];
};

/** Of its side: no further from a box stands its caption. */
const GAP_MAX = 2;
/** Of the size of its caption's letters: the side of a box. */
const SIDES = [0.45, 2.2] as const;

function isCaption({ text, box, size, rotation }: InkedWord, drawn: Box): boolean {
  const side = heightOf(drawn);
  const gap = Math.max(box[0] - drawn[2], drawn[0] - box[2]);
  return (
    rotation === 0 &&
    gap > -1 &&
    gap <= GAP_MAX * side &&
    Math.abs(middleY(box) - middleY(drawn)) < 0.5 * Math.max(side, size) &&
    side > SIDES[0] * size &&
    side < SIDES[1] * size &&
    /[\p{L}\p{N}]/u.test(text)
  );
}
