import type { Box } from '../../document/document.ts';
import { type PlacedWord, type Pixels, recognisedWord } from '../../layout/content.ts';
import { lineStrip, placeOf, STRIP_HEIGHT, type Strip } from './lineStrip.ts';
import { readStrip } from './readStrip.ts';
import type { Networks } from './runtime.ts';
import type { TextLine } from './textLines.ts';
import { stripWords, type StripWord } from './wordGaps.ts';

/** A line of a picture with its words. */
export interface ReadLine {
  readonly line: TextLine;
  readonly words: readonly PlacedWord[];
  /** Mean by characters; 0 without any. */
  readonly confidence: number;
}

/** Lines are found with white around them: this share of their height is that of the letters' font. */
const FONT_SHARE = 0.72;

/** A line to be read; with only those characters that are allowed, where it is known what it may hold. */
export interface LineToRead {
  readonly pixels: Pixels;
  readonly line: TextLine;
  readonly allowed?: ((character: string) => boolean) | undefined;
}

export async function readLine(networks: Networks, { pixels, line, allowed }: LineToRead): Promise<ReadLine> {
  const strip = lineStrip(pixels, line);
  const characters = await readStrip(networks, strip, allowed);
  const words = stripWords(strip, characters).map((word) => placed(word, line, strip));
  const sum = characters.reduce((total, { confidence }) => total + confidence, 0);
  return { line, words, confidence: characters.length === 0 ? 0 : sum / characters.length };
}

/** A word's box lies along the axes of the picture, whatever little the line is turned. */
function placed({ text, from, to, confidence }: StripWord, line: TextLine, { width }: Strip): PlacedWord {
  const step = line.width / width;
  const [x, y] = placeOf(line)(((from + to) / 2) * step - line.width / 2, 0);
  const [half, size] = [((to - from) * step) / 2, line.height * FONT_SHARE];
  const box: Box = [x - half, y - size / 2, x + half, y + size / 2];
  return recognisedWord({ text, box, size, confidence: Math.min(0.99, confidence), readBy: 'ppocr' });
}

/** Confidence in a line as it stands, and as it would read upside down. */
export async function bothWays(
  networks: Networks,
  pixels: Pixels,
  line: TextLine,
): Promise<readonly [upright: number, upsideDown: number]> {
  const strip = lineStrip(pixels, line);
  const turned: Strip = { ...strip, grey: strip.grey.slice().reverse() };
  const sums: number[] = [];
  for (const one of [strip, turned]) {
    const characters = await readStrip(networks, one);
    sums.push(characters.reduce((sum, { confidence }) => sum + confidence ** 2, 0));
  }
  return [sums[0] ?? 0, sums[1] ?? 0];
}

/** Pixels of width that reading a line takes. */
export const readingWidth = ({ width, height }: TextLine): number =>
  (STRIP_HEIGHT * width) / Math.max(1, height);
