import sharp from 'sharp';
import type { Pixels } from '../../layout/content.ts';
import type { Network } from './runtime.ts';
import { textLines, type FoundLines, type TextLine } from './textLines.ts';

/** The network halves a picture five times. */
const STEP = 32;
/** Letters of this height, in pixels, are found well and cost little. */
const LETTER_HEIGHT = 12;
/** A picture is given to the network with at most so many pixels: its memory and time grow with them. */
const PIXELS_MAX = 1_500_000;
/** Means and deviations of the pictures that the network was trained on: red, green, blue. */
const MEANS = [0.485, 0.456, 0.406];
const DEVIATIONS = [0.229, 0.224, 0.225];

/** Where lines of text are on a picture, in its pixels. `letterHeight`: of its usual words, as far as it is known. */
export async function detectLines(
  detect: Network,
  { data, width, height }: Pixels,
  letterHeight: number | undefined,
): Promise<FoundLines> {
  const size = mapSize({ width, height }, letterHeight);
  const small = await sharp(data, { raw: { width, height, channels: 1 } })
    .resize({ ...size, fit: 'fill' })
    .extractChannel(0)
    .raw()
    .toBuffer();
  const map = await detect({ data: normalised(small), shape: [1, 3, size.height, size.width] });
  const found = textLines({ data: map.data, ...size });
  const toPicture = inPicture(width / size.width, height / size.height);
  return { level: found.level.map(toPicture), upright: found.upright.map(toPicture) };
}

interface Size {
  readonly width: number;
  readonly height: number;
}

function mapSize({ width, height }: Size, letterHeight: number | undefined): Size {
  const fitting = Math.sqrt(PIXELS_MAX / (width * height));
  const wished = letterHeight === undefined ? fitting : LETTER_HEIGHT / letterHeight;
  const scale = Math.min(1, fitting, wished);
  return { width: stepped(width * scale), height: stepped(height * scale) };
}

/** How many pixels the network is given for a picture: what finding its lines costs. */
export const mapPixels = (picture: Size, letterHeight: number | undefined): number => {
  const { width, height } = mapSize(picture, letterHeight);
  return width * height;
};

const stepped = (pixels: number): number => Math.max(STEP, Math.round(pixels / STEP) * STEP);

const inPicture =
  (across: number, down: number) =>
  (line: TextLine): TextLine => ({
    x: line.x * across,
    y: line.y * down,
    width: line.width * (Math.abs(line.angle) < 1 ? across : down),
    height: line.height * (Math.abs(line.angle) < 1 ? down : across),
    angle: line.angle,
  });

function normalised(grey: Uint8Array): Float32Array {
  const numbers = new Float32Array(3 * grey.length);
  for (const [channel, mean] of MEANS.entries()) {
    const deviation = DEVIATIONS[channel] ?? 1;
    const from = channel * grey.length;
    for (let at = 0; at < grey.length; at += 1)
      numbers[from + at] = ((grey[at] ?? 0) / 255 - mean) / deviation;
  }
  return numbers;
}
