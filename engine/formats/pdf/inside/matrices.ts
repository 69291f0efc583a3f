import type { Box } from '../../../document/document.ts';
import type { InnerPage } from './pageTree.ts';

/** a b c d e f of the PDF: a point (x, y) goes to (ax + cy + e, bx + dy + f). */
export type Matrix = readonly [number, number, number, number, number, number];

export const SAME: Matrix = [1, 0, 0, 1, 0, 0];

/** First `a`, then `b`. */
export const times = (a: Matrix, b: Matrix): Matrix => [
  a[0] * b[0] + a[1] * b[2],
  a[0] * b[1] + a[1] * b[3],
  a[2] * b[0] + a[3] * b[2],
  a[2] * b[1] + a[3] * b[3],
  a[4] * b[0] + a[5] * b[2] + b[4],
  a[4] * b[1] + a[5] * b[3] + b[5],
];

/** By x and y. */
export const moved = (x: number, y: number): Matrix => [1, 0, 0, 1, x, y];

/** From the page's own space to points from the top left, as it is shown. */
export function shownMatrix({ box: [x0, y0, x1, y1], rotation }: InnerPage): Matrix {
  switch (rotation) {
    case 90:
      return [0, 1, 1, 0, -y0, -x0];
    case 180:
      return [-1, 0, 0, 1, x1, -y0];
    case 270:
      return [0, -1, -1, 0, y1, x1];
    default:
      return [1, 0, 0, -1, -x0, y1];
  }
}

/** The box around a box that is turned by quarters. */
export function boxIn(matrix: Matrix, [x0, y0, x1, y1]: Box): Box {
  const at = (x: number, y: number): readonly [number, number] => [
    matrix[0] * x + matrix[2] * y + matrix[4],
    matrix[1] * x + matrix[3] * y + matrix[5],
  ];
  const [a, b] = [at(x0, y0), at(x1, y1)];
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[0], b[0]), Math.max(a[1], b[1])];
}
