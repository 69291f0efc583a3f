/** For each pixel how likely it is part of a line of text. */
export interface TextMap {
  readonly data: Float32Array;
  readonly width: number;
  readonly height: number;
}

/** A line of text on a picture: a rectangle around its middle, turned by `angle` (radians, clockwise). */
export interface TextLine {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly angle: number;
}

/** From here on a pixel belongs to a text: the network's authors' own value. */
const TEXT = 0.3;
/** A spot whose pixels are less likely than this in the mean is no text. */
const SPOT = 0.55;
/** Spots thinner than this, in pixels of the map, are dirt. */
const THIN = 3;
/** The network marks the kernel of a line; it grows by area x this / circumference on each side. */
const GROWTH = 1.6;
/** A picture holds no more lines than this that are worth reading: the largest. */
export const LINES_MAX = 800;
/** A spot this many times longer than high tells its own angle; a shorter one lies as the page does. */
const LONG = 3;
/** Steeper lines are not level text. */
const STEEP = Math.PI / 6;

interface Spot {
  readonly count: number;
  readonly likely: number;
  readonly x: number;
  readonly y: number;
  /** Of the longer axis. */
  readonly angle: number;
  readonly pixels: Int32Array;
}

/** The lines of text that a map shows, and of these the ones that run from top to bottom. */
export interface FoundLines {
  readonly level: readonly TextLine[];
  readonly upright: readonly TextLine[];
}

/** Linear in the size of the map. */
export function textLines(map: TextMap): FoundLines {
  const spots = spotsOf(map);
  const boxes = spots.map((spot) => ({ spot, own: boxAround(spot, map.width, spot.angle) }));
  const long = boxes.filter(({ own }) => own.width > LONG * own.height);
  const isLevel = (angle: number): boolean => Math.abs(angle) < STEEP;
  const lie = middleBy(long.filter(({ own }) => isLevel(own.angle)).map(({ own }) => own));
  const level: TextLine[] = [];
  const upright: TextLine[] = [];
  for (const { spot, own } of boxes) {
    if (own.width > LONG * own.height && !isLevel(own.angle)) upright.push(grown(own));
    else level.push(grown(own.width > LONG * own.height ? own : boxAround(spot, map.width, lie)));
  }
  return { level: level.filter(isThick), upright: upright.filter(isThick) };
}

const isThick = ({ width, height }: TextLine): boolean => Math.min(width, height) >= THIN;

/** The angle that half of the lines' length lies below. */
function middleBy(lines: readonly TextLine[]): number {
  const sorted = [...lines].sort((a, b) => a.angle - b.angle);
  let left = sorted.reduce((sum, { width }) => sum + width, 0) / 2;
  for (const { angle, width } of sorted) {
    left -= width;
    if (left <= 0) return angle;
  }
  return 0;
}

function grown(line: TextLine): TextLine {
  const by = (GROWTH * line.width * line.height) / (line.width + line.height);
  return { ...line, width: line.width + by, height: line.height + by };
}

/** Pixels that touch and are all likely text, the largest spots first. */
function spotsOf({ data, width, height }: TextMap): readonly Spot[] {
  const seen = new Uint8Array(width * height);
  const queue = new Int32Array(width * height);
  const spots: Spot[] = [];
  for (let start = 0; start < data.length; start += 1) {
    if (seen[start] === 1 || (data[start] ?? 0) < TEXT) continue;
    const count = flood(start, { data, width, seen, queue });
    if (count < THIN * THIN) continue;
    const spot = measured(queue.slice(0, count), data, width);
    if (spot.likely >= SPOT) spots.push(spot);
  }
  return spots.sort((a, b) => b.count - a.count).slice(0, LINES_MAX);
}

interface Flooding {
  readonly data: Float32Array;
  readonly width: number;
  readonly seen: Uint8Array;
  readonly queue: Int32Array;
}

function flood(start: number, { data, width, seen, queue }: Flooding): number {
  let count = 0;
  const add = (at: number): void => {
    if (seen[at] !== 0 || (data[at] ?? 0) < TEXT) return;
    seen[at] = 1;
    queue[count] = at;
    count += 1;
  };
  add(start);
  for (let next = 0; next < count; next += 1) {
    const at = queue[next] ?? 0;
    const x = at % width;
    if (x > 0) add(at - 1);
    if (x < width - 1) add(at + 1);
    add(at - width);
    add(at + width);
  }
  return count;
}

function measured(pixels: Int32Array, data: Float32Array, width: number): Spot {
  const count = pixels.length;
  let [x, y, likely] = [0, 0, 0];
  for (const at of pixels) {
    x += at % width;
    y += Math.floor(at / width);
    likely += data[at] ?? 0;
  }
  const [middleX, middleY] = [x / count, y / count];
  let [xx, yy, xy] = [0, 0, 0];
  for (const at of pixels) {
    const dx = (at % width) - middleX;
    const dy = Math.floor(at / width) - middleY;
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  }
  const angle = 0.5 * Math.atan2(2 * xy, xx - yy);
  return { count, likely: likely / count, x: middleX, y: middleY, angle, pixels };
}

/** The smallest rectangle of an angle around a spot. */
function boxAround({ pixels, x, y }: Spot, width: number, angle: number): TextLine {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const at of pixels) {
    const dx = (at % width) - x;
    const dy = Math.floor(at / width) - y;
    const along = dx * cos + dy * sin;
    const across = dy * cos - dx * sin;
    left = Math.min(left, along);
    right = Math.max(right, along);
    top = Math.min(top, across);
    bottom = Math.max(bottom, across);
  }
  const [along, across] = [(left + right) / 2, (top + bottom) / 2];
  return {
    x: x + along * cos - across * sin + 0.5,
    y: y + along * sin + across * cos + 0.5,
    width: right - left + 1,
    height: bottom - top + 1,
    angle,
  };
}
