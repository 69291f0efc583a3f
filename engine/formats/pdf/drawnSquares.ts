import type { ParsedPage } from '../../recognition/liteparse.ts';
import type { Box } from '../../document/document.ts';
import { addTo } from '../../kernel/lists.ts';
import { heightOf, widthOf } from '../../layout/content.ts';
import { boxOf, isInk } from './pdfRules.ts';

export type Graphics = NonNullable<ParsedPage['vectorGraphics']>;
type Drawing = Graphics['shapes'][number];

/** Points that the side of a check box has. */
export const SIDE_MIN = 4.5;
export const SIDE_MAX = 20;
/** Points by which sides miss each other. */
const MISS = 1.2;
const isNear = (a: number, b: number): boolean => Math.abs(a - b) < MISS;

/** Level or upright lines by where they begin. */
type Rules = Map<number, Box[]>;

const near = (rules: Rules, x: number): readonly Box[] =>
  [-1, 0, 1].flatMap((step) => rules.get(Math.round(x) + step) ?? []);

/** The small squares that straight lines make, but for those that touch each other: these are places of letters. */
export function squaresOf({ lines }: Graphics): readonly Box[] {
  const { level, upright } = shortRules(lines);
  const squares = new Map<string, Box>();
  for (const top of [...level.values()].flat()) {
    const bottom = bottomOf(top, level);
    if (bottom === undefined) continue;
    const stands = (x: number): boolean =>
      near(upright, x).some(([, y0, , y1]) => isNear(y0, top[1]) && isNear(y1, bottom[1]));
    const key = `${String(Math.round(top[0]))} ${String(Math.round(top[1]))}`;
    if (stands(top[0]) && stands(top[2])) squares.set(key, [top[0], top[1], top[2], bottom[3]]);
  }
  const all = [...squares.values()];
  return all.filter((one) => !all.some((other) => doTouch(one, other)));
}

function shortRules(lines: Graphics['lines']): { readonly level: Rules; readonly upright: Rules } {
  const [level, upright]: readonly [Rules, Rules] = [new Map(), new Map()];
  for (const { x1, y1, x2, y2, stroke, strokeColor, fillColor } of lines) {
    if (!isInk(stroke ? strokeColor : fillColor)) continue;
    const rule: Box = [Math.min(x1, x2), Math.min(y1, y2), Math.max(x1, x2), Math.max(y1, y2)];
    const [width, height] = [widthOf(rule), heightOf(rule)];
    const isShort = Math.max(width, height) >= SIDE_MIN && Math.max(width, height) <= SIDE_MAX;
    if (isShort && Math.min(width, height) <= MISS)
      addTo(width > height ? level : upright, Math.round(rule[0]), rule);
  }
  return { level, upright };
}

/** The line below another that is as far from it as it is long. */
function bottomOf(top: Box, level: Rules): Box | undefined {
  const side = widthOf(top);
  return near(level, top[0]).find(
    ([, y, x1]) => Math.abs(y - top[1] - side) < 0.2 * side && isNear(x1, top[2]),
  );
}

/** Whether two squares of a size have a side in common. */
const doTouch = (a: Box, b: Box): boolean =>
  (isNear(a[1], b[1]) && (isNear(a[2], b[0]) || isNear(b[2], a[0]))) ||
  (isNear(a[0], b[0]) && (isNear(a[3], b[1]) || isNear(b[3], a[1])));

/** Of its side: as far a tick may reach out of its box, and as large it is at least. */
const REACH = 0.5;
const TICK_MIN = 0.25;

/**
 * Whether something dark is drawn in a box that is no outline, and whether it fills all of the box; undefined of a
 * coloured one, as legends of charts have.
 */
export function inkIn(
  box: Box,
  { shapes, lines }: Graphics,
): { readonly isTicked: boolean; readonly isSolid: boolean } | undefined {
  const side = heightOf(box);
  const within = shapes.filter(({ bbox }) => {
    const [x0, y0, x1, y1] = boxOf(bbox);
    const out = Math.max(box[0] - x0, box[1] - y0, x1 - box[2], y1 - box[3]);
    return out < REACH * side && Math.min(bbox.width, bbox.height) > TICK_MIN * side && isOn(box, bbox);
  });
  const fills = (one: Drawing): boolean =>
    one.bbox.height > WHOLE * side && (one.hasCurve || isOutline(one, lines));
  if (within.some((one) => one.fill && fills(one) && isColoured(one.fillColor))) return undefined;
  const isCovered = within.some(
    ({ fill, fillColor, bbox }) => fill && !isInk(fillColor) && 2 * bbox.height > side,
  );
  const filled = within.filter(({ fill, fillColor }) => fill && isDark(fillColor));
  const isSolid = !isCovered && filled.some(fills);
  const isTicked =
    isSolid || filled.some((one) => !fills(one)) || within.some((one) => !one.fill && isStroke(one, lines));
  return { isTicked, isSolid };
}

/** Of the side of a box: a filling from side to side. */
const WHOLE = 0.9;

const isStroke = (shape: Drawing, lines: Graphics['lines']): boolean =>
  shape.stroke && isInk(shape.strokeColor) && (shape.hasCurve ? !isRing(shape) : !isOutline(shape, lines));

const isOn = (box: Box, { x, y, width, height }: Drawing['bbox']): boolean => {
  const [midX, midY] = [x + width / 2, y + height / 2];
  return midX > box[0] && midX < box[2] && midY > box[1] && midY < box[3];
};

/** An inner circle, or a square with round corners. */
const isRing = ({ bbox: { width, height } }: Drawing): boolean => Math.abs(width - height) < 0.1 * height;

/** Points by which the edge of a shape may miss the line that it is of. */
const EXACT = 0.06;

/** Whether a straight line goes along a shape's whole width: level and upright lines draw it, and it is no cross. */
function isOutline({ bbox: { x, y, width, height } }: Drawing, lines: Graphics['lines']): boolean {
  return lines.some(({ x1, x2, y1, y2, strokeWidth = 0 }) => {
    if (Math.abs(y1 - y2) > MISS || y1 < y - EXACT || y1 > y + height + EXACT) return false;
    return [0, 0.5, 1].some(
      (share) =>
        Math.abs(Math.min(x1, x2) - share * strokeWidth - x) < EXACT &&
        Math.abs(Math.max(x1, x2) + share * strokeWidth - x - width) < EXACT,
    );
  });
}

/** Brightness, 0 to 255: lighter fillings are the ground of a box. */
const DARK = 140;
/** Between the most and the least of red, green and blue. */
const COLOURED = 60;

const partsOf = (color = ''): readonly [number, number, number] => {
  const part = (at: number): number => Number.parseInt(color.slice(at, at + 2), 16) || 0;
  return [part(2), part(4), part(6)];
};

function isDark(color: string | undefined): boolean {
  const [red, green, blue] = partsOf(color);
  return isInk(color) && 0.3 * red + 0.6 * green + 0.1 * blue < DARK;
}

const isColoured = (color: string | undefined): boolean =>
  Math.max(...partsOf(color)) - Math.min(...partsOf(color)) > COLOURED;
