import { median, type PlacedWord, type Pixels } from '../layout/content.ts';
import { paidForLine, paidForMap, type Allowance } from './allowance.ts';
import { ALONE, bestReading, meanConfidence, withPoints } from './bestReading.ts';
import { ownLines, sharedLines, type SharedLine } from './sharedLines.ts';
import { detectLines, mapPixels } from './ppocr/detect.ts';
import { readingWidth, readLine } from './ppocr/readLines.ts';
import type { Networks } from './ppocr/runtime.ts';

/** A page that the first engine read with this confidence is left to it, but for single lines. */
export const SURE = 0.9;
/** On a page that it is sure of, a line below this is in doubt all the same. */
const DOUBTFUL = 0.8;
/** In print of fewer pixels than this Tesseract leaves out decimal points, and does not doubt it. */
const SMALL = 20;
/** Fewer words tell nothing of the usual height of letters. */
const WORDS_MIN = 5;

export interface SecondReading {
  readonly networks: Networks;
  readonly allowance: Allowance;
  /** Whether lines are read again that are not in doubt. */
  readonly all: boolean;
}

/** The words of a picture, where the second engine reads better than the first; lines most in doubt come first. */
export async function withSecondEngine(
  pixels: Pixels,
  words: readonly PlacedWord[],
  { networks, allowance, all }: SecondReading,
): Promise<readonly PlacedWord[]> {
  const height = letterHeight(words);
  if (!paidForMap(allowance, mapPixels(pixels, height))) return words;
  const { level } = await detectLines(networks.detect, pixels, height);
  const { lines, apart } = sharedLines(level, words);
  const read = await readAgain(pixels, lines, { networks, allowance, all });
  return [...read, ...apart.filter(({ confidence }) => confidence >= ALONE)];
}

/** The words of a picture that the first engine reads well, but for single lines: only these are read again. */
export async function withDoubtfulLines(
  pixels: Pixels,
  words: readonly PlacedWord[],
  reading: SecondReading,
): Promise<readonly PlacedWord[]> {
  return readAgain(pixels, ownLines(words), reading);
}

async function readAgain(
  pixels: Pixels,
  lines: readonly SharedLine[],
  { networks, allowance, all }: SecondReading,
): Promise<readonly PlacedWord[]> {
  const isSmall = (letterHeight(lines.flatMap(({ words }) => words)) ?? Infinity) < SMALL;
  const doubtful = lines
    .map((shared) => ({ shared, sure: meanConfidence(shared.words) }))
    .filter(({ shared, sure }) => all || sure < DOUBTFUL || (isSmall && hasDigits(shared)))
    .sort((a, b) => a.sure - b.sure);
  const isSpelled = spelledWith(networks);
  const read = new Map<SharedLine, readonly PlacedWord[]>();
  for (const { shared, sure } of doubtful) {
    if (!paidForLine(allowance, readingWidth(shared.line))) break;
    const line = await readLine(networks, { pixels, line: shared.line });
    const isDoubted = all || sure < DOUBTFUL;
    read.set(shared, isDoubted ? bestReading(shared.words, line, isSpelled) : withPoints(shared.words, line));
  }
  return lines.flatMap((shared) => read.get(shared) ?? shared.words);
}

const hasDigits = ({ words }: SharedLine): boolean => words.some(({ text }) => /\p{Nd}/u.test(text));

/** Usual height of words on a picture; undefined when too few are there. */
export function letterHeight(words: readonly PlacedWord[]): number | undefined {
  const sure = words.filter(({ confidence, text }) => confidence >= 0.6 && text.length > 1);
  return sure.length < WORDS_MIN ? undefined : median(sure.map(({ box }) => box[3] - box[1]));
}

const spelled = new WeakMap<readonly string[], ReadonlySet<string>>();

function spelledWith({ characters }: Networks): (letter: string) => boolean {
  const known = spelled.get(characters) ?? new Set(characters);
  spelled.set(characters, known);
  return (letter) => known.has(letter);
}
