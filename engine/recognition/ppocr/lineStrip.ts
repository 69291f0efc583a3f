import type { Pixels } from '../../layout/content.ts';
import type { TextLine } from './textLines.ts';

/** The network reads lines of this height, in pixels. */
export const STRIP_HEIGHT = 48;
/** A line longer than this many heights is squeezed: no usual line is. */
const LONGEST = 80;

/** A line cut out of its picture, level and of the height that is read. */
export interface Strip {
  readonly grey: Uint8Array;
  readonly width: number;
}

export const stripWidth = ({ width, height }: TextLine): number =>
  Math.max(8, Math.round(STRIP_HEIGHT * Math.min(LONGEST, width / Math.max(1, height))));

/** Samples that a pixel of the strip is the mean of, along each axis: large letters would lose thin strokes else. */
const SAMPLES_MAX = 3;

export function lineStrip(pixels: Pixels, line: TextLine): Strip {
  const width = stripWidth(line);
  const grey = new Uint8Array(width * STRIP_HEIGHT);
  const [stepX, stepY] = [line.width / width, line.height / STRIP_HEIGHT];
  const samples = Math.max(1, Math.min(SAMPLES_MAX, Math.round(stepY)));
  const place = placeOf(line);
  for (let y = 0; y < STRIP_HEIGHT; y += 1)
    for (let x = 0; x < width; x += 1) {
      let sum = 0;
      for (let i = 0; i < samples * samples; i += 1) {
        const along = (x + ((i % samples) + 0.5) / samples) * stepX - line.width / 2;
        const across = (y + (Math.floor(i / samples) + 0.5) / samples) * stepY - line.height / 2;
        sum += greyAt(pixels, ...place(along, across));
      }
      grey[y * width + x] = sum / (samples * samples);
    }
  return { grey, width };
}

/** The place on the picture of a place in a line, both from the line's middle. */
export const placeOf = ({ x, y, angle }: TextLine) => {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return (along: number, across: number): readonly [number, number] => [
    x + along * cos - across * sin,
    y + along * sin + across * cos,
  ];
};

/** Between the middles of four pixels; beyond the picture its edge goes on. */
function greyAt({ data, width, height }: Pixels, x: number, y: number): number {
  const [left, top] = [Math.floor(x - 0.5), Math.floor(y - 0.5)];
  const [right, down] = [x - 0.5 - left, y - 0.5 - top];
  const at = (dx: number, dy: number): number =>
    data[within(top + dy, height) * width + within(left + dx, width)] ?? 255;
  const above = at(0, 0) * (1 - right) + at(1, 0) * right;
  const below = at(0, 1) * (1 - right) + at(1, 1) * right;
  return above * (1 - down) + below * down;
}

const within = (value: number, count: number): number => Math.max(0, Math.min(count - 1, value));
