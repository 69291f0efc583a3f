import sharp from 'sharp';
import { greyImage, pixelsOf, type GreyImage } from './greyImage.ts';
import { paidForLine, paidForMap } from './allowance.ts';
import { detectLines, mapPixels } from './ppocr/detect.ts';
import { bothWays, readingWidth } from './ppocr/readLines.ts';
import type { TextLine } from './ppocr/textLines.ts';
import type { SecondReading } from './secondEngine.ts';

/** By how much a picture is turned, clockwise. */
export type Turned = 0 | 90 | 180 | 270;

export async function turn(image: GreyImage, turned: Turned): Promise<GreyImage> {
  if (turned === 0) return image;
  return greyImage(sharp(image.png).rotate(turned), image.dpi);
}

/** So many lines, the longest, are read both ways. */
const TRIED = 5;

/**
 * How a picture has to be turned to read upright: lines that run down tell that it lies on its side, and of a
 * line and the same line upside down the right one is read with more confidence. undefined: nothing tells.
 */
export async function turnByLines(
  image: GreyImage,
  { networks, allowance }: Pick<SecondReading, 'networks' | 'allowance'>,
): Promise<Turned | undefined> {
  const pixels = await pixelsOf(image);
  if (!paidForMap(allowance, mapPixels(pixels, undefined))) return undefined;
  const found = await detectLines(networks.detect, pixels, undefined);
  const onItsSide = lengthOf(found.upright) > lengthOf(found.level);
  const lines = onItsSide ? found.upright.map(levelled) : found.level;
  const longest = [...lines].sort((a, b) => b.width - a.width).slice(0, TRIED);
  let [upright, upsideDown] = [0, 0];
  for (const line of longest) {
    if (!paidForLine(allowance, 2 * readingWidth(line))) break;
    const [one, other] = await bothWays(networks, pixels, line);
    upright += one;
    upsideDown += other;
  }
  if (upright === upsideDown) return undefined;
  if (!onItsSide) return upright > upsideDown ? 0 : 180;
  return upright > upsideDown ? 270 : 90;
}

const lengthOf = (lines: readonly TextLine[]): number => lines.reduce((sum, { width }) => sum + width, 0);

/** A line that runs down, as one that is read from top to bottom. */
const levelled = (line: TextLine): TextLine => ({
  ...line,
  angle: line.angle < 0 ? line.angle + Math.PI : line.angle,
});
