import type { Box } from '../document/document.ts';
import { around, type Pixels } from '../layout/content.ts';

/** Darker is ink. */
const INK = 150;
/** Larger pictures are posters and plans; looking for spots takes five bytes a pixel. */
const PIXELS_MAX = 16_000_000;
/** A picture with more spots is a photograph or a drawing. */
const SPOTS_MAX = 20_000;
/** Heights of letters and digits, and the width that one may have, in usual heights of words. */
const HEIGHT_MIN = 0.4;
const HEIGHT_MAX = 1.3;
const WIDTH_MAX = 1.6;
/** Spots of one line that stand nearer than this are one mark, which is no longer than a number is. */
const TOGETHER = 0.5;
const MARK_MAX = 5;

/** Ink of the size of letters that lies in none of the boxes, as short pieces of lines. Linear in the pixels. */
export function marksBeside(pixels: Pixels, boxes: readonly Box[], height: number): readonly Box[] {
  if (pixels.data.length > PIXELS_MAX) return [];
  const spots = spotsOf(inkBeside(pixels, boxes), pixels.width).filter(
    ([x0, y0, x1, y1]) =>
      y1 - y0 >= HEIGHT_MIN * height && y1 - y0 <= HEIGHT_MAX * height && x1 - x0 <= WIDTH_MAX * height,
  );
  return joined(spots, height).filter(([x0, , x1]) => x1 - x0 <= MARK_MAX * height);
}

/** Where there is ink: 1. */
function inkBeside({ data, width, height }: Pixels, boxes: readonly Box[]): Uint8Array {
  const ink = new Uint8Array(width * height);
  for (let at = 0; at < ink.length; at += 1) ink[at] = (data[at] ?? 255) < INK ? 1 : 0;
  for (const [x0, y0, x1, y1] of boxes) {
    const [from, to] = [Math.max(0, Math.floor(x0) - 2), Math.min(width, Math.ceil(x1) + 2)];
    for (let y = Math.max(0, Math.floor(y0) - 1); y < Math.min(height, Math.ceil(y1) + 1); y += 1)
      ink.fill(0, y * width + from, y * width + to);
  }
  return ink;
}

/** Boxes around ink that touches; none when there is too much of it. Takes the ink away. */
function spotsOf(ink: Uint8Array, width: number): readonly Box[] {
  const queue = new Int32Array(ink.length);
  const spots: Box[] = [];
  for (let start = ink.indexOf(1); start >= 0; start = ink.indexOf(1, start + 1)) {
    if (spots.length === SPOTS_MAX) return [];
    spots.push(spotFrom(start, { ink, width, queue }));
  }
  return spots;
}

interface Flooding {
  readonly ink: Uint8Array;
  readonly width: number;
  readonly queue: Int32Array;
}

function spotFrom(start: number, { ink, width, queue }: Flooding): Box {
  let count = 0;
  const add = (at: number): void => {
    if (ink[at] !== 1) return;
    ink[at] = 0;
    queue[count] = at;
    count += 1;
  };
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  add(start);
  for (let next = 0; next < count; next += 1) {
    const at = queue[next] ?? 0;
    const [x, y] = [at % width, Math.floor(at / width)];
    [x0, y0, x1, y1] = [Math.min(x0, x), Math.min(y0, y), Math.max(x1, x + 1), Math.max(y1, y + 1)];
    for (let down = -width; down <= width; down += width) {
      if (x > 0) add(at + down - 1);
      add(at + down);
      if (x < width - 1) add(at + down + 1);
    }
  }
  return [x0, y0, x1, y1];
}

/** Neighbours on one line are one mark. Lines are bands of the usual height, so that few spots are compared. */
function joined(spots: readonly Box[], height: number): readonly Box[] {
  const marks: Box[] = [];
  const last = new Map<number, number>();
  for (const spot of [...spots].sort((a, b) => a[0] - b[0])) {
    const middle = (spot[1] + spot[3]) / 2;
    const band = Math.floor(middle / height);
    const index = [band - 1, band, band + 1]
      .map((one) => last.get(one) ?? -1)
      .find((at) => isNextTo(marks[at], spot, height));
    const mark = index === undefined ? undefined : marks[index];
    if (index === undefined || mark === undefined) {
      last.set(band, marks.length);
      marks.push(spot);
    } else marks[index] = around([mark, spot]);
  }
  return marks;
}

const isNextTo = (mark: Box | undefined, spot: Box, height: number): boolean =>
  mark !== undefined &&
  spot[0] - mark[2] < TOGETHER * height &&
  Math.min(mark[3], spot[3]) - Math.max(mark[1], spot[1]) >
    0.5 * Math.min(mark[3] - mark[1], spot[3] - spot[1]);
