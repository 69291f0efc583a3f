import type { ParsedPage } from '../../recognition/liteparse.ts';
import type { Box } from '../../document/document.ts';
import type { Rule } from '../../layout/content.ts';

/** More lines than that are a drawing, not tables: only the longest are looked at. */
const RULES_MAX = 1500;
/** Thinner rectangles are lines. */
const THIN = 2.5;

/** The straight lines that are drawn on a page: strokes, thin rectangles, and the edges of boxes. */
export function pdfRules({ vectorGraphics, width, height }: ParsedPage): readonly Rule[] {
  if (vectorGraphics === undefined) return [];
  const lines = vectorGraphics.lines
    .filter(({ fillColor, strokeColor, stroke }) => isInk(stroke ? strokeColor : fillColor))
    .map(({ x1, y1, x2, y2 }): Rule => [
      Math.min(x1, x2),
      Math.min(y1, y2),
      Math.max(x1, x2),
      Math.max(y1, y2),
    ]);
  const thin = vectorGraphics.shapes
    .filter(({ bbox, hasCurve }) => !hasCurve && (bbox.width < THIN || bbox.height < THIN))
    .filter(({ fillColor, strokeColor, fill }) => isInk(fill ? fillColor : strokeColor))
    .map(({ bbox: { x, y, width: w, height: h } }): Rule =>
      w >= h ? [x, y + h / 2, x + w, y + h / 2] : [x + w / 2, y, x + w / 2, y + h],
    );
  const all = [...lines, ...thin].filter((rule) => isOnPage(rule, width, height));
  if (all.length <= RULES_MAX) return all;
  return all.sort((a, b) => lengthOf(b) - lengthOf(a)).slice(0, RULES_MAX);
}

const lengthOf = ([x0, y0, x1, y1]: Box): number => x1 - x0 + y1 - y0;

const isOnPage = ([x0, y0, x1, y1]: Rule, width: number, height: number): boolean =>
  x1 >= 0 && y1 >= 0 && x0 <= width && y0 <= height && (x1 - x0 < 1 || y1 - y0 < 1);

/** White and transparent lines are not seen. */
export const isInk = (color: string | undefined): boolean =>
  color === undefined || (!color.startsWith('00') && color.slice(2) !== 'ffffff');

/** A rectangle of the parser as a box. */
export const boxOf = ({ x, y, width, height }: Rectangle): Box => [x, y, x + width, y + height];

interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}
